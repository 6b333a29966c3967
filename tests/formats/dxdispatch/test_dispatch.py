"""A dispatch computed from the bytes that are bound to its tensors, into others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dxdispatch_models import DISPATCH, model_of

from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import Finding, collected
from dmlcheck.diagnostics.wording import pointer
from dmlcheck.formats.dxdispatch.dispatch import bound_bytes, dispatch, of_graph, of_operator, unknown_bindings
from dmlcheck.formats.dxdispatch.model import Command, Model
from dmlcheck.formats.dxdispatch.resources import Resource, filled_resources
from dmlcheck.graphs.compute import step_inputs
from dmlcheck.graphs.records import Graph, Node
from dmlcheck.specs.records import INPUT

RESOURCES = {
    "numbers": {"initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3, 4, 5, 6]},
    "bytes": {"initialValuesDataType": "UINT8", "initialValues": [0, 0, 128, 63]},
    "out": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 6, "value": 0}},
}


def tensor(*sizes: int, **more: Any) -> dict[str, Any]:
    return {"DataType": "FLOAT32", "Sizes": list(sizes), **more}


def desc_of(operator: str = "ACTIVATION_IDENTITY", **fields: Any) -> OperatorDesc:
    desc, findings = read_desc(operator, fields)
    assert desc is not None
    assert findings == ()
    return desc


def bound(bindings: dict[str, Any], **own: Any) -> tuple[Command, Model, dict[str, Resource]]:
    """Return a dispatch with its bindings, in a model whose dispatchable binds others itself."""
    dispatchable = {"type": "ACTIVATION_IDENTITY", "desc": {}, "bindings": own}
    model = model_of(resources=RESOURCES, dispatchables={"argmax": dispatchable}, commands=[])
    resources, findings = collected(filled_resources(model))
    assert findings == []
    return Command("dispatch", "argmax", {**DISPATCH, "bindings": bindings}, ("commands", 0)), model, resources


def inputs_of(desc: OperatorDesc, dispatched: tuple[Command, Model, dict[str, Resource]]) -> Any:
    """Return the inputs of a dispatch by field, and what is wrong with what is bound to them."""
    data, findings = collected(bound_bytes(desc.tensors(INPUT), *dispatched))
    return {} if findings else step_inputs(desc, data), findings


def places(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(finding.rule, pointer(finding.path)) for finding in findings]


@pytest.mark.parametrize(
    ("binding", "input_tensor", "values"),
    [
        ("numbers", tensor(6), [1, 2, 3, 4, 5, 6]),
        ("numbers", tensor(2, 2), [[1, 2], [3, 4]]),
        ("numbers", tensor(2, 2, Strides=[3, 1]), [[1, 2], [4, 5]]),
        ("numbers", tensor(2, 2, Strides=[0, 1]), [[1, 2], [1, 2]]),
        ({"name": "numbers", "elementOffset": 4}, tensor(2), [5, 6]),
        ({"name": "numbers", "elementOffset": 1, "elementSizeInBytes": 8}, tensor(2), [3, 4]),
        ("bytes", tensor(1), [1]),
    ],
)
def test_an_input_is_what_lies_in_the_bytes_that_are_bound(binding: Any, input_tensor: Any, values: Any) -> None:
    desc = desc_of(InputTensor=input_tensor, OutputTensor=tensor(*input_tensor["Sizes"]))
    inputs, findings = inputs_of(desc, bound({"InputTensor": binding}))
    assert findings == []
    assert inputs["InputTensor"].tolist() == values


def test_an_array_of_tensors_is_bound_to_a_list() -> None:
    desc = desc_of("JOIN", InputTensors=[tensor(1), tensor(2)], OutputTensor=tensor(3), Axis=0)
    bindings = {"InputTensors": ["bytes", {"name": "numbers", "elementOffset": 1}]}
    inputs, findings = inputs_of(desc, bound(bindings))
    assert findings == []
    assert [values.tolist() for values in inputs["InputTensors"]] == [[1], [2, 3]]
    _, findings = inputs_of(desc, bound({"InputTensors": ["bytes"]}))
    assert places(findings) == [("missing-tensor", "commands[0].bindings.InputTensors")]


def test_what_the_dispatchable_binds_itself_is_bound_unless_the_dispatch_binds_another() -> None:
    desc = desc_of(InputTensor=tensor(1), OutputTensor=tensor(1))
    for bindings, expected in (({}, [1]), ({"InputTensor": {"name": "numbers", "elementOffset": 2}}, [3])):
        inputs, _ = inputs_of(desc, bound(bindings, InputTensor="bytes"))
        assert inputs["InputTensor"].tolist() == expected


def test_what_is_written_to_an_output_is_in_its_resource() -> None:
    """What lies between the elements of a strided output stays as it was."""
    desc = desc_of(InputTensor=tensor(2, 2), OutputTensor=tensor(2, 2, Strides=[3, 1]))
    command, model, resources = bound({"InputTensor": {"name": "numbers", "elementOffset": 1}, "OutputTensor": "out"})
    resources["out"].data.view(np.float32)[:] = 9
    assert collected(dispatch(of_operator(desc), command, model, resources)) == (None, [])
    assert resources["out"].data.view(np.float32).tolist() == [2, 3, 9, 4, 5, 9]


def test_an_operator_may_write_to_what_it_reads() -> None:
    desc = desc_of("ELEMENT_WISE_NEGATE", InputTensor=tensor(3), OutputTensor=tensor(3))
    command, model, resources = bound({"InputTensor": "numbers", "OutputTensor": "numbers"})
    assert collected(dispatch(of_operator(desc), command, model, resources)) == (None, [])
    assert resources["numbers"].data.view(np.float32).tolist() == [-1, -2, -3, 4, 5, 6]


def test_everything_that_is_wrong_with_bindings_is_told_and_nothing_is_written() -> None:
    desc = desc_of(InputTensor=tensor(2), OutputTensor=tensor(2))
    _, findings = collected(dispatch(of_operator(desc), *bound({"OutputTensor": "none"})))
    assert places(findings) == [
        ("missing-tensor", "commands[0].bindings.InputTensor"),
        ("unknown-key", "commands[0].bindings.OutputTensor"),
    ]


def test_halves_of_bytes_lie_two_in_a_byte() -> None:
    """The low half comes first, and a negative number has its sign in the upper bit of its half."""
    four = {"DataType": "INT4", "Sizes": [1, 1, 1, 4]}
    desc = desc_of("ELEMENT_WISE_IDENTITY", InputTensor=four, OutputTensor=four)
    halves = {"initialValuesDataType": "INT4", "initialValues": [1, -2, 3, 4]}
    model = model_of(resources={"in": halves, "out": {**halves, "initialValues": [0] * 8}}, commands=[])
    resources, _ = collected(filled_resources(model))
    assert resources["in"].data[:2].tolist() == [0xE1, 0x43]
    command = Command("dispatch", "argmax", DISPATCH, ("commands", 0))
    assert collected(dispatch(of_operator(desc), command, model, resources)) == (None, [])
    assert resources["out"].data.tolist() == [0xE1, 0x43, 0, 0]


# ---- graphs

RELU = "DML_OPERATOR_ACTIVATION_RELU"


def relu(name: str, size: int, reads: str, writes: str) -> Node:
    fields = {"InputTensor": tensor(size), "OutputTensor": tensor(size)}
    return Node(name, RELU, fields, {"InputTensor": reads}, {"OutputTensor": writes})


def test_a_graph_is_bound_as_its_largest_reader_takes_each_input() -> None:
    graph = Graph("g.bin", ("x", "unread"), (), (relu("a", 2, "x", "y"), relu("b", 3, "x", "z")), ("y",))
    made, findings = collected(of_graph(graph))
    assert findings == []
    assert {name: part.tensor.sizes for name, part in made.inputs.items()} == {"x": (3,)}
    assert {name: part.tensor.sizes for name, part in made.outputs.items()} == {"y": (2,)}
    command, model, resources = bound({"x": "numbers", "y": "out"})
    assert collected(dispatch(made, command, model, resources)) == (None, [])
    assert resources["out"].data.view(np.float32).tolist() == [1, 2, 0, 0, 0, 0]


def test_what_is_bound_to_no_name_of_a_graph_is_told() -> None:
    graph = Graph("g.bin", ("x", ""), (), (relu("a", 2, "x", "y"),), ("y",))
    command, model, _ = bound({"x": "numbers", "y": "out", "z": "out"})
    _, findings = collected(unknown_bindings(graph, command, model))
    assert places(findings) == [("unknown-key", "commands[0].bindings.z")]


@pytest.mark.parametrize(
    ("binding", "rule"),
    [
        (None, "missing-tensor"),
        ("none", "unknown-key"),
        (3, "unknown-key"),
        ({"elementOffset": 1}, "unknown-key"),
        ("bytes", "element-count"),
        ({"name": "numbers", "elementOffset": 5}, "element-count"),
        ({"name": "numbers", "elementOffset": 2**62}, "element-count"),
    ],
)
def test_what_is_not_bound_to_enough_bytes_is_told(binding: Any, rule: str) -> None:
    desc = desc_of(InputTensor=tensor(2), OutputTensor=tensor(2))
    inputs, findings = inputs_of(desc, bound({"InputTensor": binding}))
    assert (inputs, places(findings)) == ({}, [(rule, "commands[0].bindings.InputTensor")])
