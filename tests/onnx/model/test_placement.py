"""Nodes that ONNX Runtime computes when it loads a model, or on the CPU."""

from __future__ import annotations

from typing import Any

import pytest
from whole_models import FLOAT, FLOAT16, INT64, model, node, save

from dmlcheck.onnx.model.file import read_whole
from dmlcheck.onnx.model.nodes import UnusableNode, nodes_of
from dmlcheck.onnx.model.values import CONSTANT, GIVEN, HOST, Value
from dmlcheck.onnx.provider.cpu_kernels import origin_of_outputs, place_of
from dmlcheck.onnx.provider.registrations import registration_of

helper = pytest.importorskip("onnx.helper")
ADD = node("Add", "a b", "y")


def value(origin: str, *sizes: int, kind: int = FLOAT) -> Value:
    return Value(helper.make_tensor_type_proto(kind, list(sizes)), None, origin)


@pytest.mark.parametrize(
    ("first", "second", "place"),
    [
        (value(CONSTANT, 2), value(CONSTANT, 9000), CONSTANT),
        (value(HOST, 2), value(HOST, 2), HOST),
        (value(HOST, 2), value(CONSTANT, 100), HOST),
        (value(HOST, 2), value(CONSTANT, 101), ""),  # a large constant
        (value(HOST, 2), value(GIVEN, 9000), HOST),
        (value(GIVEN, 2), value(GIVEN, 2), ""),
        (value(CONSTANT, 2), value(GIVEN, 2), ""),
        (value(HOST, 2), value("", 2), ""),  # what the provider makes
        (value(HOST, 2), value(CONSTANT, 2, kind=FLOAT16), ""),
        (value(HOST, 2), value(CONSTANT, 2, kind=16), ""),  # BFLOAT16
        (value(HOST, 2), value(CONSTANT, 2, kind=17), ""),  # FLOAT8E4M3FN
        (value(HOST, 2), value(CONSTANT, 2, kind=3), HOST),  # INT8
    ],
)
def test_a_node_stays_on_the_cpu_if_nothing_keeps_it_from_there(first: Value, second: Value, place: str) -> None:
    assert place_of(ADD, [first, second], ()) == place_of(ADD, [second, first], ()) == place


def origin(made: Any, inputs: list[Value], place: str = "", *, is_taken: bool = True, is_static: bool = False) -> str:
    return origin_of_outputs(made, inputs, place, is_taken=is_taken, is_static=is_static)


def test_sizes_that_the_provider_does_not_give_keep_nothing_on_the_cpu() -> None:
    """As it does not from opset 23 on: ONNX Runtime 1.24.4 with DirectML 1.15.4, 2026-11-29."""
    shape = node("Shape", "x", "y")
    assert origin(shape, [value("", 2)], is_taken=False) == ""
    assert origin(shape, [value(HOST, 2)], is_taken=False) == HOST
    assert origin(shape, [value("", 2)], is_taken=False, is_static=True) == CONSTANT


@pytest.mark.parametrize(("opset", "made"), [(21, None), (23, "ELEMENT_WISE_ADD")])
def test_arithmetic_of_sizes_is_computed_by_the_provider_from_opset_23_on(
    tmp_path: Any, opset: int, made: str | None
) -> None:
    nodes = [node("Shape", "x", "s", "shape"), node("Add", "s one", "y", "add")]
    constants = [helper.make_tensor("one", INT64, [2], [1, 1])]
    of = model(nodes, {"x": ["n", 4]}, {"y": [2]}, constants)
    of.opset_import[0].version = opset
    of.graph.output[0].type.tensor_type.elem_type = INT64
    found = list(nodes_of(read_whole(save(of, str(tmp_path / "model.onnx")), {"n": 3})))[-1].found
    assert (None if isinstance(found, UnusableNode) else found[0].operator) == made


def test_the_provider_reads_the_inputs_on_the_cpu_that_onnx_runtime_lists() -> None:
    listed = {  # typed in from OperatorRegistration.cpp of ONNX Runtime 1.17, requiredConstantCpuInputs
        ("Slice", 13): (1, 2, 3, 4),
        ("Pad", 18): (1, 2, 3),
        ("ConstantOfShape", 9): (0,),
        ("Resize", 13): (1, 2, 3),
        ("Range", 11): (0, 1, 2),
        ("MaxUnpool", 11): (2,),
        ("TopK", 11): (1,),
        ("Gather", 13): (),
    }
    rows = {key: registration_of(*key) for key in listed}
    assert {key: row.on_cpu for key, row in rows.items() if row} == listed
