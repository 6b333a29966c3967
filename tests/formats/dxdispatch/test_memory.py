"""The bytes of resources that are bound to tensors, and what is wrong with them."""

from __future__ import annotations

from typing import Any

import pytest
from dxdispatch_models import DISPATCH, model_of
from valid_descs import tensor

from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import Finding, collected
from dmlcheck.diagnostics.wording import pointer
from dmlcheck.formats.dxdispatch.model import ModelCommand
from dmlcheck.formats.dxdispatch.read import Resources, read_bindings
from dmlcheck.formats.dxdispatch.resources import Resource, bound_bytes, filled_resources, unknown_bindings
from dmlcheck.graphs.compute import step_inputs
from dmlcheck.graphs.records import GraphFile
from dmlcheck.specs.records import INPUT

RESOURCES = {
    "numbers": {"initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3, 4, 5, 6]},
    "bytes": {"initialValuesDataType": "UINT8", "initialValues": [0, 0, 128, 63]},
    "later": {"initialValuesDataType": "FLOAT32", "initialValues": "deferred"},
    "out": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 6, "value": 0}},
}


def desc_of(operator: str = "ACTIVATION_IDENTITY", **fields: Any) -> OperatorDesc:
    desc, findings = read_desc(operator, fields)
    assert desc is not None
    assert findings == ()
    return desc


def bound(bindings: dict[str, Any], given: dict[str, Any] = RESOURCES) -> tuple[ModelCommand, dict[str, Resource]]:
    """Return a dispatch with its bindings, and the resources."""
    resources, findings = collected(filled_resources(model_of(resources=given, commands=[])))
    assert findings == []
    read, _ = collected(read_bindings(bindings, ("commands", 0, "bindings"), Resources(given, given)))
    return ModelCommand("dispatch", "argmax", DISPATCH, ("commands", 0), read or {}), resources


def inputs_of(desc: OperatorDesc, dispatched: tuple[ModelCommand, dict[str, Resource]]) -> Any:
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


def test_what_is_bound_to_no_name_of_a_graph_is_told() -> None:
    graph = GraphFile("g.bin", ("x", ""), (), (), ("y",))
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


def test_everything_that_is_wrong_with_bindings_is_told() -> None:
    desc = desc_of(InputTensor=tensor(2), OutputTensor=tensor(2))
    _, findings = collected(bound_bytes(desc.tensors(), *bound({"OutputTensor": "later"})))
    assert places(findings) == [
        ("missing-tensor", "commands[0].bindings.InputTensor"),
        ("unknown-key", "commands[0].bindings.OutputTensor"),
    ]
