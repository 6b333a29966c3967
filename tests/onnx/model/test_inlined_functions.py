"""Operators that ONNX defines by a function of others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from whole_models import FLOAT, FLOAT16, model, node, save

from dmlcheck.onnx.model.inlined_functions import inlined

defs = pytest.importorskip("onnx.defs")
helper = pytest.importorskip("onnx.helper")


def parts(made: Any, opset: int, *kinds: int) -> list[Any]:
    types = [helper.make_tensor_type_proto(kind, [2, 3]) for kind in kinds]
    return inlined(made, defs.get_schema(made.op_type, opset), opset, types, "p/")


def test_a_function_has_the_names_of_the_node_and_own_ones_inside() -> None:
    assert [
        (each.op_type, list(each.input), list(each.output)) for each in parts(node("HardSwish", "a", "b"), 17, FLOAT)
    ] == [
        ("HardSigmoid", ["a"], ["p/HS_X"]),
        ("Mul", ["a", "p/HS_X"], ["b"]),
    ]


@pytest.mark.parametrize(("given", "alpha"), [({}, 1.0), ({"alpha": 0.5}, 0.5)])
def test_attributes_of_a_function_are_those_of_the_node_or_their_defaults(
    given: dict[str, float], alpha: float
) -> None:
    constant = parts(node("Swish", "a", "b", **given), 24, FLOAT)[0]
    (value,) = constant.attribute
    assert (constant.op_type, value.name, value.f, value.ref_attr_name) == ("Constant", "value_float", alpha, "")


def test_a_function_that_depends_on_an_attribute_follows_it() -> None:
    types = {
        approximate: [each.op_type for each in parts(node("Gelu", "a", "b", approximate=approximate), 20, FLOAT16)]
        for approximate in ("none", "tanh")
    }
    assert ("Erf" in types["none"], "Tanh" in types["none"]) == (True, False)
    assert ("Erf" in types["tanh"], "Tanh" in types["tanh"]) == (False, True)


def test_an_operator_without_a_function_has_no_parts() -> None:
    assert parts(node("Abs", "a", "b"), 17, FLOAT) == []
    assert parts(node("Softplus", "a", "b"), 17, FLOAT) == []  # its function came with opset 18
    made = node("Gelu", "a", "b")
    assert inlined(made, defs.get_schema("Gelu", 20), 20, [None], "p/") == []


@pytest.mark.parametrize("operator", ["HardSwish", "Mish"])
def test_onnx_runtime_inlines_the_same_operators(
    operator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = pytest.importorskip("onnxruntime")
    load = pytest.importorskip("onnx").load
    monkeypatch.chdir(tmp_path)
    made = node(operator, "x", "y")
    save(model([made], {"x": [2, 3]}, {"y": [2, 3]}, opset=18))
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.optimized_model_filepath = "inlined.onnx"
    options.log_severity_level = 3
    runtime.InferenceSession("model.onnx", options, providers=["CPUExecutionProvider"])
    own = [each.op_type for each in parts(made, 18, FLOAT)]
    assert own == [each.op_type for each in load("inlined.onnx").graph.node]
