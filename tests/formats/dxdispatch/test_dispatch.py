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
from dmlcheck.formats.dxdispatch.bindings import Resources, read_bindings
from dmlcheck.formats.dxdispatch.dispatch import bound_bytes, dispatch, of_graph, of_operator, unknown_bindings
from dmlcheck.formats.dxdispatch.model import Command
from dmlcheck.formats.dxdispatch.resources import Resource, filled_resources
from dmlcheck.graphs.compute import step_inputs
from dmlcheck.graphs.records import GraphFile, Node
from dmlcheck.specs.records import INPUT

RESOURCES = {
    "numbers": {"initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3, 4, 5, 6]},
    "bytes": {"initialValuesDataType": "UINT8", "initialValues": [0, 0, 128, 63]},
    "later": {"initialValuesDataType": "FLOAT32", "initialValues": "deferred"},
    "out": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 6, "value": 0}},
}


def tensor(*sizes: int, **more: Any) -> dict[str, Any]:
    return {"DataType": "FLOAT32", "Sizes": list(sizes), **more}


def desc_of(operator: str = "ACTIVATION_IDENTITY", **fields: Any) -> OperatorDesc:
    desc, findings = read_desc(operator, fields)
    assert desc is not None
    assert findings == ()
    return desc


def bound(bindings: dict[str, Any], given: dict[str, Any] = RESOURCES) -> tuple[Command, dict[str, Resource]]:
    """Return a dispatch with its bindings, and the resources."""
    resources, findings = collected(filled_resources(model_of(resources=given, commands=[])))
    assert findings == []
    read, _ = collected(read_bindings(bindings, ("commands", 0, "bindings"), Resources(given, given)))
    return Command("dispatch", "argmax", DISPATCH, ("commands", 0), read or {}), resources


def inputs_of(desc: OperatorDesc, dispatched: tuple[Command, dict[str, Resource]]) -> Any:
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


def test_what_is_written_to_an_output_is_in_its_resource() -> None:
    """What lies between the elements of a strided output stays as it was."""
    desc = desc_of(InputTensor=tensor(2, 2), OutputTensor=tensor(2, 2, Strides=[3, 1]))
    command, resources = bound({"InputTensor": {"name": "numbers", "elementOffset": 1}, "OutputTensor": "out"})
    resources["out"].data.view(np.float32)[:] = 9
    assert collected(dispatch(of_operator(desc), command, resources)) == (None, [])
    assert resources["out"].data.view(np.float32).tolist() == [2, 3, 9, 4, 5, 9]


def test_an_operator_may_write_to_what_it_reads() -> None:
    desc = desc_of("ELEMENT_WISE_NEGATE", InputTensor=tensor(3), OutputTensor=tensor(3))
    command, resources = bound({"InputTensor": "numbers", "OutputTensor": "numbers"})
    assert collected(dispatch(of_operator(desc), command, resources)) == (None, [])
    assert resources["numbers"].data.view(np.float32).tolist() == [-1, -2, -3, 4, 5, 6]


def test_everything_that_is_wrong_with_bindings_is_told_and_nothing_is_written() -> None:
    desc = desc_of(InputTensor=tensor(2), OutputTensor=tensor(2))
    _, findings = collected(dispatch(of_operator(desc), *bound({"OutputTensor": "later"})))
    assert places(findings) == [
        ("missing-tensor", "commands[0].bindings.InputTensor"),
        ("unknown-key", "commands[0].bindings.OutputTensor"),
    ]


def test_halves_of_bytes_lie_two_in_a_byte() -> None:
    """The low half comes first, and a negative number has its sign in the upper bit of its half."""
    four = {"DataType": "INT4", "Sizes": [1, 1, 1, 4]}
    desc = desc_of("ELEMENT_WISE_IDENTITY", InputTensor=four, OutputTensor=four)
    halves = {"initialValuesDataType": "INT4", "initialValues": [1, -2, 3, 4]}
    given = {"in": halves, "out": {**halves, "initialValues": [0] * 8}}
    command, resources = bound({"InputTensor": "in", "OutputTensor": "out"}, given)
    assert resources["in"].data[:2].tolist() == [0xE1, 0x43]
    assert collected(dispatch(of_operator(desc), command, resources)) == (None, [])
    assert resources["out"].data.tolist() == [0xE1, 0x43, 0, 0]


# ---- graphs

RELU = "DML_OPERATOR_ACTIVATION_RELU"


def relu(name: str, size: int, reads: str, writes: str) -> Node:
    fields = {"InputTensor": tensor(size), "OutputTensor": tensor(size)}
    return Node(name, RELU, fields, {"InputTensor": reads}, {"OutputTensor": writes})


def test_a_graph_is_bound_as_its_largest_reader_takes_each_input() -> None:
    graph = GraphFile("g.bin", ("x", "unread"), (), (relu("a", 2, "x", "y"), relu("b", 3, "x", "z")), ("y",))
    made, findings = collected(of_graph(graph))
    assert findings == []
    assert {name: part.tensor.sizes for name, part in made.inputs.items()} == {"x": (3,)}
    assert {name: part.tensor.sizes for name, part in made.outputs.items()} == {"y": (2,)}
    command, resources = bound({"x": "numbers", "y": "out"})
    assert collected(dispatch(made, command, resources)) == (None, [])
    assert resources["out"].data.view(np.float32).tolist() == [1, 2, 0, 0, 0, 0]


def test_outputs_are_written_once_all_is_computed() -> None:
    """Two tensors that are swapped come out swapped."""
    graph = GraphFile("g.bin", ("a", "b"), (), (relu("first", 2, "b", "x"), relu("second", 2, "a", "y")), ("x", "y"))
    graph = graph._replace(nodes=tuple(node._replace(operator="ACTIVATION_IDENTITY") for node in graph.nodes))
    made, _ = collected(of_graph(graph))
    second = {"name": "numbers", "elementOffset": 2}
    command, resources = bound({"a": "numbers", "b": second, "x": "numbers", "y": second})
    assert collected(dispatch(made, command, resources)) == (None, [])
    assert resources["numbers"].data.view(np.float32).tolist() == [3, 4, 1, 2, 5, 6]


def test_what_is_bound_to_no_name_of_a_graph_is_told() -> None:
    graph = GraphFile("g.bin", ("x", ""), (), (relu("a", 2, "x", "y"),), ("y",))
    command, _ = bound({"x": "numbers", "y": "out", "z": "out"})
    findings = list(unknown_bindings(graph, command))
    assert places(findings) == [("unknown-key", "commands[0].bindings.z")]


@pytest.mark.parametrize(
    ("binding", "rule"),
    [
        (None, "missing-tensor"),
        ("later", "unknown-key"),
        ("bytes", "element-count"),
        ({"name": "numbers", "elementOffset": 5}, "element-count"),
        ({"name": "numbers", "elementOffset": 2**62}, "element-count"),
    ],
)
def test_what_is_not_bound_to_enough_bytes_is_told(binding: Any, rule: str) -> None:
    desc = desc_of(InputTensor=tensor(2), OutputTensor=tensor(2))
    inputs, findings = inputs_of(desc, bound({"InputTensor": binding}))
    assert (inputs, places(findings)) == ({}, [(rule, "commands[0].bindings.InputTensor")])
