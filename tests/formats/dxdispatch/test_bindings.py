"""What is bound to the tensors of a dispatch: its form, names, and bytes that are shared."""

from __future__ import annotations

from typing import Any

import pytest
from dxdispatch_models import ARGMAX, DESC, DISPATCH, RESOURCES, model_of, problems_of

from dmlcheck.specs.load import load_spec


@pytest.mark.parametrize(
    ("bindings", "expected"),
    [
        ({"InputTensor": "in", "OutputTensor": "out"}, []),
        ({"InputTensor": {"name": "in"}, "OutputTensor": ["out"]}, []),
        ({"InputTensor": {"name": "in", "elementCount": 9, "elementSizeInBytes": 4, "elementOffset": 0}}, []),
        ({"InputTensor": {"name": "in", "format": "R32_FLOAT", "elementStride": 4, "shape": [3, 3]}}, []),
        ({}, []),
        ({"Input": "in"}, [("unknown-key", ".Input")]),
        ({"Axes": "in"}, [("unknown-key", ".Axes")]),
        ({"InputTensor": "inn"}, [("unknown-key", ".InputTensor")]),
        ({"InputTensor": {"name": "inn"}}, [("unknown-key", ".InputTensor.name")]),
        ({"InputTensor": ["in", "inn"]}, [("unknown-key", ".InputTensor[1]"), ("wrong-type", ".InputTensor")]),
        ({"InputTensor": ["in", "out"]}, [("wrong-type", ".InputTensor")]),
        ({"InputTensor": []}, [("wrong-type", ".InputTensor")]),
        ({"InputTensor": None}, [("wrong-type", ".InputTensor")]),
        ({"InputTensor": 3}, [("wrong-type", ".InputTensor")]),
        ({"InputTensor": {"elementCount": 9}}, [("wrong-type", ".InputTensor")]),
        ({"InputTensor": {"name": 3}}, [("wrong-type", ".InputTensor")]),
        ({"InputTensor": {"name": "in", "elementCounts": 9}}, [("unknown-key", ".InputTensor.elementCounts")]),
        ({"InputTensor": {"name": "in", "elementCount": "9"}}, [("wrong-type", ".InputTensor.elementCount")]),
        ({"InputTensor": {"name": "in", "elementOffset": -1}}, [("wrong-type", ".InputTensor.elementOffset")]),
        ({"InputTensor": {"name": "in", "elementOffset": 1.5}}, [("wrong-type", ".InputTensor.elementOffset")]),
    ],
)
def test_bindings_are_checked_against_the_operator(bindings: Any, expected: list[tuple[str, str]]) -> None:
    model = model_of(commands=[{**DISPATCH, "bindings": bindings}])
    assert problems_of(model) == [(rule, f"commands[0].bindings{below}") for rule, below in expected]


@pytest.mark.parametrize(
    ("input", "output", "is_refused"),
    [
        ("big", "big", True),
        ({"name": "big"}, {"name": "big", "elementOffset": 8}, True),
        ({"name": "big"}, {"name": "big", "elementOffset": 9}, False),
        ({"name": "big", "elementOffset": 3}, {"name": "big"}, False),
        ({"name": "big", "elementOffset": 2}, {"name": "big"}, True),
        ({"name": "big"}, {"name": "big", "elementOffset": 5, "elementSizeInBytes": 8}, False),
        ({"name": "big"}, {"name": "big", "elementOffset": 4, "elementSizeInBytes": 8}, True),
        ("big", "out", False),
    ],
)
def test_a_resource_may_be_read_and_written_in_different_places_only(input: Any, output: Any, is_refused: bool) -> None:
    big = {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 100, "value": 0}}
    bindings = {"InputTensor": input, "OutputTensor": output}
    model = model_of(resources={**RESOURCES, "big": big}, commands=[{**DISPATCH, "bindings": bindings}])
    assert problems_of(model) == [("wrong-type", "commands[0].bindings.OutputTensor")] * is_refused
    if is_refused:
        assert model.problems[0].message == (
            "the binding OutputTensor is resource 'big', where it overlaps InputTensor; it must be a resource, or a "
            "part of one, that no other tensor is bound to"
        )
        assert model.problems[0].help == "ARGMAX cannot run in place: bind OutputTensor to another resource"


def test_an_operator_that_works_in_place_may_write_exactly_what_it_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = load_spec("DML_OPERATOR_ARGMAX")
    monkeypatch.setattr("dmlcheck.formats.dxdispatch.read.load_spec", lambda _: spec._replace(in_place=True))
    desc = {**DESC, "InputTensor": DESC["OutputTensor"]}
    for offset, expected in ((0, []), (1, ["wrong-type"]), (3, [])):
        bindings = {"InputTensor": "big", "OutputTensor": {"name": "big", "elementOffset": offset}}
        model = model_of(
            resources={"big": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 100, "value": 0}}},
            dispatchables={"argmax": {"type": "ARGMAX", "desc": desc}},
            commands=[{**DISPATCH, "bindings": bindings}],
        )
        assert [rule for rule, _ in problems_of(model)] == expected


DEFERRED = {"initialValuesDataType": "FLOAT32", "initialValues": "deferred"}


def test_a_deferred_resource_is_one_that_only_onnx_can_fill() -> None:
    resources = {**RESOURCES, "later": DEFERRED}
    dispatchables = {"argmax": ARGMAX, "concat": {"type": "onnx", "sourcePath": "concat.onnx"}}
    onnx = {"type": "dispatch", "dispatchable": "concat", "bindings": {"y": {"name": "later"}}}
    printed = {"type": "print", "resource": "later"}
    model = model_of(resources=resources, dispatchables=dispatchables, commands=[onnx, printed, DISPATCH])
    assert problems_of(model) == []
    assert model.resources["later"] == DEFERRED
    bindings = {"InputTensor": "later", "OutputTensor": "out"}
    model = model_of(resources=resources, commands=[{**DISPATCH, "bindings": bindings}])
    assert problems_of(model) == [("wrong-type", "commands[0].bindings.InputTensor")]
    assert "ONNX" in model.problems[0].message
