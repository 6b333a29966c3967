"""The tensors of a dispatch in the bytes that are bound to them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dxdispatch_models import DISPATCH, model_of

from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import Finding, collected
from dmlcheck.diagnostics.wording import pointer
from dmlcheck.formats.dxdispatch.dispatch import bound_inputs, bound_outputs
from dmlcheck.formats.dxdispatch.model import Command, Model
from dmlcheck.formats.dxdispatch.resources import Resource, filled_resources

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
    inputs, findings = collected(bound_inputs(desc, *bound({"InputTensor": binding})))
    assert findings == []
    assert inputs["InputTensor"].tolist() == values


def test_an_array_of_tensors_is_bound_to_a_list() -> None:
    desc = desc_of("JOIN", InputTensors=[tensor(1), tensor(2)], OutputTensor=tensor(3), Axis=0)
    bindings = {"InputTensors": ["bytes", {"name": "numbers", "elementOffset": 1}]}
    inputs, findings = collected(bound_inputs(desc, *bound(bindings)))
    assert findings == []
    assert [values.tolist() for values in inputs["InputTensors"]] == [[1], [2, 3]]
    _, findings = collected(bound_inputs(desc, *bound({"InputTensors": ["bytes"]})))
    assert places(findings) == [("missing-tensor", "commands[0].bindings.InputTensors")]


def test_what_the_dispatchable_binds_itself_is_bound_unless_the_dispatch_binds_another() -> None:
    desc = desc_of(InputTensor=tensor(1), OutputTensor=tensor(1))
    for bindings, expected in (({}, [1]), ({"InputTensor": {"name": "numbers", "elementOffset": 2}}, [3])):
        inputs, _ = collected(bound_inputs(desc, *bound(bindings, InputTensor="bytes")))
        assert inputs["InputTensor"].tolist() == expected


def test_what_is_written_to_an_output_is_in_its_resource() -> None:
    desc = desc_of(InputTensor=tensor(2, 2), OutputTensor=tensor(2, 2, Strides=[3, 1]))
    dispatch, model, resources = bound({"OutputTensor": "out"})
    outputs, findings = collected(bound_outputs(desc, dispatch, model, resources))
    assert findings == []
    outputs["OutputTensor"][...] = [[1, 2], [3, 4]]
    assert resources["out"].data.view(np.float32).tolist() == [1, 2, 0, 3, 4, 0]


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
    inputs, findings = collected(bound_inputs(desc, *bound({"InputTensor": binding})))
    assert (inputs, places(findings)) == ({}, [(rule, "commands[0].bindings.InputTensor")])
