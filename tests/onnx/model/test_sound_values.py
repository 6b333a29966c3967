"""Values that dmlcheck makes up for a node: ONNX Runtime takes them for ONNX's own tests of the operators."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import numpy as np
import pytest
from whole_models import INT64, model, node, tensor

from dmlcheck.models.inputs import random_inputs
from dmlcheck.onnx.model import input_uses

onnxruntime = pytest.importorskip("onnxruntime")
TABLES: tuple[Any, ...] = (input_uses._SPANS, input_uses._RELATED, input_uses._FLOATS)
OPERATORS = {operator for table in TABLES for operator, _ in table}
LEFT_OUT = ("_expanded",)


def made_up(made: Any, seed: int = 0) -> dict[str, Any]:
    """Return inputs that dmlcheck makes up."""
    found = random_inputs(made, {one.name: one for one in made.graph.initializer}, {}, seed)
    assert not found.findings
    return dict(found.arrays)


def run(made: Any, inputs: dict[str, Any]) -> str | None:
    """Run a model, and return what ONNX Runtime has against it, or None."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    try:
        session = onnxruntime.InferenceSession(
            made.SerializeToString(), options, providers=["CPUExecutionProvider"], enable_fallback=0
        )
        session.run(None, inputs)
    except Exception as error:  # noqa: BLE001 - onnxruntime raises many types
        return str(error)
    return None


def is_about_tensors(case: Any) -> bool:
    made = case.model
    return made is not None and all(one.type.tensor_type.elem_type not in (0, 8) for one in made.graph.input)


@pytest.mark.slow
def test_onnxruntime_takes_what_is_made_up_for_each_operator_with_limits() -> None:
    collect = pytest.importorskip("onnx.backend.test.case.node").collect_testcases
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the values that onnx makes
        cases = [case for case in collect(None) if is_about_tensors(case)]
    seen: Counter[str] = Counter()
    refused = {}
    for case in cases:
        operator = case.model.graph.node[0].op_type
        is_meant = operator in OPERATORS or operator.startswith("Reduce")
        if not is_meant or any(part in case.name for part in LEFT_OUT):
            continue
        names = [one.name for one in case.model.graph.input]
        own = dict(zip(names, map(np.asarray, case.data_sets[0][0]), strict=True))
        if run(case.model, own) is None:
            seen[operator] += 1
            problem = run(case.model, made_up(case.model))
            refused.update({} if problem is None else {case.name: problem})
    assert not refused
    assert len(seen) > 30
    assert sum(seen.values()) > 250


@pytest.mark.parametrize("seed", range(5))
def test_a_count_of_the_largest_is_no_larger_than_the_axis(seed: int) -> None:
    made = model([node("TopK", "x k", "v i", axis=1)], {"x": [3, 4]}, {})
    made.graph.input.append(tensor("k", [1], INT64))
    assert 1 <= made_up(made, seed)["k"][0] <= 4
    made.graph.node[0].input[0] = "unknown"  # whose sizes nothing says
    assert made_up(made, seed)["k"].tolist() == [1]


def test_parts_of_an_axis_make_it_up() -> None:
    made = model([node("Split", "x s", "a b c", axis=-1)], {"x": [3, 8]}, {})
    made.graph.input.append(tensor("s", [3], INT64))
    assert made_up(made)["s"].tolist() == [3, 3, 2]


def test_axes_of_one_element_are_squeezed() -> None:
    made = model([node("Squeeze", "x a", "y")], {"x": [3, 1, 8, 1]}, {})
    made.graph.input.append(tensor("a", [2], INT64))
    assert made_up(made)["a"].tolist() == [1, 3]


def test_blocks_of_an_image_make_as_many_columns_as_there_are() -> None:
    columns = node("Col2Im", "x i b", "y", strides=[2, 1], pads=[0, 1, 0, 1])
    made = model([columns], {"x": [1, 6, 7]}, {"y": []}, opset=18)
    made.graph.input.extend([tensor("i", [2], INT64), tensor("b", [2], INT64)])
    found = made_up(made)  # no sizes are declared
    assert (found["i"].tolist(), found["b"].tolist()) == ([1, 5], [1, 1])
    sizes = made.graph.output[0].type.tensor_type.shape
    sizes.ClearField("dim")
    for size in (1, 1, 4, 7):
        sizes.dim.add().dim_value = size
    made.graph.input[0].type.tensor_type.shape.dim[2].dim_value = 14
    found = made_up(made)
    assert (found["i"].tolist(), found["b"].tolist()) == ([4, 7], [2, 3])
    assert run(made, {"x": np.zeros((1, 6, 14), np.float32), "i": found["i"], "b": found["b"]}) is None


def test_of_more_columns_than_a_tensor_may_have_no_factors_are_sought() -> None:
    columns = node("Col2Im", "x i b", "y")
    for index in (1, 2):
        made = input_uses.related(columns, index, {"x": [1, 4, 2**61 - 1]})
        assert made is not None
        assert list(made((2,))) == [1, 1]
