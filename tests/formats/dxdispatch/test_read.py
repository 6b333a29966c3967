"""Reading DxDispatch models: which parts become cases, and what is wrong with the form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from dxdispatch_models import ARGMAX, DESC, DISPATCH, RESOURCES, TEXT, model_of, problems_of

from dmlcheck.files import yaml
from dmlcheck.formats.dxdispatch.read import read_model
from dmlcheck.formats.registry import read_document, read_file
from dmlcheck.specs.load import load_spec
from dmlcheck.validation import validate


def test_a_model_is_read_with_all_its_parts(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(TEXT, encoding="utf-8")
    model = read_model(yaml.read(str(path)))
    assert model.problems == ()
    assert dict(model.resources) == RESOURCES
    assert dict(model.others) == {"shader": "HLSL"}
    assert list(model.operators) == ["the first"]
    assert [(command.kind, command.target, command.path) for command in model.commands] == [
        ("dispatch", "the first", ("commands", 0)),
        ("print", "out", ("commands", 1)),
        ("writefile", "out", ("commands", 2)),
    ]
    assert model.commands[0].raw["bindings"] == {"InputTensor": "in", "OutputTensor": "out"}
    assert model.commands[2].raw["dimensions"] == [1, 3]


@pytest.mark.parametrize("kind", ["hlsl", "HLSL", "onnx", "Onnx", "dmlSerializedGraph", "DMLSERIALIZEDGRAPH"])
def test_a_kind_of_dispatchable_may_be_in_any_case(kind: str) -> None:
    model = model_of(dispatchables={"argmax": {"type": kind, "sourcePath": "x"}})
    assert model.problems == ()
    assert (dict(model.operators), dict(model.others)) == ({}, {"argmax": kind})


@pytest.mark.parametrize(
    "dispatchable",
    [
        {"type": "DML_OPERATOR_ARGMAX", "desc": DESC},
        {"type": "DML_OPERATOR_ARGMAX", "Desc": DESC},
        {"Type": "DML_OPERATOR_ARGMAX", "Desc": DESC},
        {"type": "ARGMAX", "desc": DESC},
        {"type": "DML_OPERATOR_ARGMAX", **DESC},
        {"type": "ARGMAX", **DESC, "bindings": {}, "dmlCompileType": "DmlCompileOp", "executionFlags": []},
        {"desc": DESC, "bindings": {"InputTensor": "in"}, "type": "ARGMAX"},
    ],
)
def test_a_desc_may_stand_below_desc_or_beside_the_type(dispatchable: dict[str, Any]) -> None:
    model = model_of(dispatchables={"argmax": dispatchable})
    case = model.operators["argmax"]
    assert model.problems == ()
    assert case.operator in ("ARGMAX", "DML_OPERATOR_ARGMAX")
    assert case.desc == DESC
    assert validate(case.operator, case.desc, "6_4")[1] == []


@pytest.mark.parametrize(
    ("dispatchable", "path", "line", "column"),
    [
        ('{"type":\n"ARGMAX",\n"desc": {"Axes": [0,\n 7]}}', ("desc", "Axes", 1), 6, 2),
        ('{"type":\n"ARGMAX",\n"Desc": {"Axes": [0,\n 7]}}', ("desc", "Axes", 1), 6, 2),
        ('{"type": "ARGMAX",\n"Axes": [0,\n 7]}', ("desc", "Axes", 1), 5, 2),
        ('{"type":  "ARGMAX",\n"desc": {}}', ("operator",), 3, 21),
        ('{"Type":  "ARGMAX",\n"Desc": {}}', ("operator",), 3, 21),
        ('{"type": "ARGMAX",\n "desc": {}}', ("desc", "Axes"), 4, 2),
        ('{"type": "ARGMAX"}', ("desc", "Axes"), 3, 11),
        ('{"type": "ARGMAX"}', (), 3, 11),
    ],
)
def test_a_part_of_a_desc_stands_in_its_dispatchable(
    dispatchable: str, path: tuple[str | int, ...], line: int, column: int
) -> None:
    text = f'{{"resources": {{}}, "commands": [],\n"dispatchables": {{\n"argmax": {dispatchable}}}}}'
    model = read_model(yaml.parse(text.encode(), "model.json", is_json=True))
    assert model.operators["argmax"].origin.locate(path)[:2] == (line, column)


def test_a_model_may_be_yaml() -> None:
    text = """\
resources: {in: {initialValues: [1]}}
dispatchables:
  argmax: {type: ARGMAX, desc: {Axes: [0]}}
commands:
- {type: print, resource: in}
"""
    file = read_document(yaml.parse(text.encode(), "model.yaml", is_json=False))
    assert (file.problems, [case.id for case in file.cases]) == ((), ["model.yaml::argmax"])


def test_an_empty_model_is_a_model() -> None:
    model = model_of(resources={}, dispatchables={}, commands=[])
    assert (model.problems, model.commands) == ((), ())
    assert (dict(model.resources), dict(model.operators), dict(model.others)) == ({}, {}, {})


@pytest.mark.parametrize("section", ["resources", "dispatchables", "commands"])
def test_a_section_is_needed_and_has_its_type(section: str) -> None:
    others: dict[str, Any] = {"resources": {}, "dispatchables": {}, "commands": []}
    assert problems_of(model_of(**{**others, section: None})) == [("missing-key", section)]
    for wrong in ("text", 3, True, {} if section == "commands" else []):
        assert problems_of(model_of(**{**others, section: wrong})) == [("wrong-type", section)]


@pytest.mark.parametrize(
    ("dispatchable", "rule", "below"),
    [
        (None, "wrong-type", ""),
        ("ARGMAX", "wrong-type", ""),
        ([], "wrong-type", ""),
        ({}, "missing-key", ".type"),
        ({"desc": DESC}, "missing-key", ".type"),
        ({"type": None, "desc": DESC}, "missing-key", ".type"),
        ({"type": 3, "desc": DESC}, "wrong-type", ".type"),
        ({"type": "", "desc": DESC}, "wrong-type", ".type"),
        ({"type": ["ARGMAX"], "desc": DESC}, "wrong-type", ".type"),
        ({"type": "ARGMAX", "desc": []}, "wrong-type", ".desc"),
        ({"type": "ARGMAX", "desc": "x"}, "wrong-type", ".desc"),
        ({"type": "ARGMAX", "Desc": 3}, "wrong-type", ".Desc"),
        ({"type": "ARGMAX", "desc": None}, "wrong-type", ".desc"),
    ],
)
def test_a_dispatchable_of_the_wrong_form_is_reported_and_the_others_are_read(
    dispatchable: Any, rule: str, below: str
) -> None:
    model = model_of(dispatchables={"wrong": dispatchable, "argmax": ARGMAX})
    assert problems_of(model) == [(rule, f"dispatchables.wrong{below}")]
    assert list(model.operators) == ["argmax"]
    assert len(model.commands) == 1


@pytest.mark.parametrize(
    ("resource", "rule", "below"),
    [
        (None, "wrong-type", ""),
        ([1, 2, 3], "wrong-type", ""),
        ("x.npy", "wrong-type", ""),
        ({}, "missing-key", ".initialValues"),
        ({"initialValuesDataType": "FLOAT32"}, "missing-key", ".initialValues"),
        ({"initialValues": None}, "missing-key", ".initialValues"),
        ({"initialValues": [1], "initialValuesDataType": "FLOAT31"}, "unknown-enum-value", ".initialValuesDataType"),
        ({"initialValues": [1], "initialValuesDataType": "float32"}, "unknown-enum-value", ".initialValuesDataType"),
        ({"initialValues": [1], "initialValuesDataType": 3}, "unknown-enum-value", ".initialValuesDataType"),
        ({"initialValues": "x.npy"}, "wrong-type", ".initialValues"),
        ({"initialValues": 3}, "wrong-type", ".initialValues"),
        ({"initialValues": {"sourcePath": "a\0.npy"}}, "wrong-type", ".initialValues.sourcePath"),
        ({"initialValues": {"sourcePath": 3}}, "wrong-type", ".initialValues.sourcePath"),
        ({"initialValues": {"sourcePath": ""}}, "wrong-type", ".initialValues.sourcePath"),
        ({"initialValues": {"valueCount": 0, "value": 0}}, "wrong-type", ".initialValues.valueCount"),
        ({"initialValues": {"valueCount": 2**32, "value": 0}}, "wrong-type", ".initialValues.valueCount"),
        ({"initialValues": {"valueCount": 3.0, "value": 0}}, "wrong-type", ".initialValues.valueCount"),
        ({"initialValues": {"valueCount": True, "value": 0}}, "wrong-type", ".initialValues.valueCount"),
        ({"initialValues": [1], "sizeInBytes": -4}, "wrong-type", ".sizeInBytes"),
        ({"initialValues": [1], "sizeInBytes": 2**64}, "wrong-type", ".sizeInBytes"),
        ({"initialValues": [1], "initialValuesOffsetInBytes": "4"}, "wrong-type", ".initialValuesOffsetInBytes"),
    ],
)
def test_a_resource_of_the_wrong_form_is_reported_and_the_others_are_read(resource: Any, rule: str, below: str) -> None:
    model = model_of(resources={"wrong": resource, **RESOURCES})
    assert problems_of(model) == [(rule, f"resources.wrong{below}")]
    assert dict(model.resources) == RESOURCES


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (None, [("wrong-type", "")]),
        ("print", [("wrong-type", "")]),
        ([], [("wrong-type", "")]),
        ({}, [("missing-key", ".type")]),
        ({"type": None}, [("missing-key", ".type")]),
        ({"type": "draw"}, [("wrong-type", ".type")]),
        ({"type": 3}, [("wrong-type", ".type")]),
        ({"type": ["print"]}, [("wrong-type", ".type")]),
        ({"type": "print"}, [("missing-key", ".resource")]),
        ({"type": "print", "resource": 3}, [("wrong-type", ".resource")]),
        ({"type": "print", "resource": "argmax"}, [("unknown-key", ".resource")]),
        ({"type": "dispatch", "bindings": {}}, [("missing-key", ".dispatchable")]),
        ({"type": "dispatch", "dispatchable": {}, "bindings": {}}, [("wrong-type", ".dispatchable")]),
        ({"type": "dispatch", "dispatchable": "in", "bindings": {}}, [("unknown-key", ".dispatchable")]),
        ({"type": "dispatch", "dispatchable": "argmax"}, [("missing-key", ".bindings")]),
        ({"type": "dispatch", "dispatchable": "argmax", "bindings": None}, [("missing-key", ".bindings")]),
        ({"type": "dispatch", "dispatchable": "argmax", "bindings": ["in"]}, [("wrong-type", ".bindings")]),
        ({"type": "writeFile", "resource": "out"}, [("missing-key", ".targetPath")]),
        ({"type": "writeFile", "resource": "out", "targetPath": 3}, [("wrong-type", ".targetPath")]),
        ({"type": "writeFile", "resource": "out", "targetPath": "a\0.npy"}, [("wrong-type", ".targetPath")]),
        ({"type": "writeFile", "resource": "out", "targetPath": ""}, [("wrong-type", ".targetPath")]),
        ({"type": "dispatch"}, [("missing-key", ".dispatchable"), ("missing-key", ".bindings")]),
        ({"type": "writeFile", "resource": "x"}, [("unknown-key", ".resource"), ("missing-key", ".targetPath")]),
    ],
)
def test_a_command_of_the_wrong_form_is_reported_and_the_others_are_read(
    command: Any, expected: list[tuple[str, str]]
) -> None:
    model = model_of(commands=[DISPATCH, command, {"type": "print", "resource": "out"}])
    assert problems_of(model) == [(rule, f"commands[1]{below}") for rule, below in expected]
    assert [command.path for command in model.commands] == [("commands", 0), ("commands", 2)]


@pytest.mark.parametrize(
    "parts",
    [
        {"dispatchables": {"argmax": 3}},
        {"dispatchables": {"argmax": {"desc": DESC}}},
        {"dispatchables": {"argmax": {"type": "ARGMAX", "desc": 3}}},
    ],
)
def test_a_name_of_something_broken_is_not_an_unknown_name(parts: dict[str, Any]) -> None:
    assert len(problems_of(model_of(**parts))) == 1
    broken = {"in": [1, 2, 3], "out": RESOURCES["out"]}
    prints = [{"type": "print", "resource": "in"}, {"type": "print", "resource": "out"}]
    assert problems_of(model_of(resources=broken, commands=prints)) == [("wrong-type", "resources.in")]
    assert problems_of(model_of(resources=broken)) == [("wrong-type", "resources.in")]
    assert problems_of(model_of(resources=3)) == [("wrong-type", "resources")]
    assert problems_of(model_of(dispatchables=None)) == [("missing-key", "dispatchables")]


def test_a_sequence_without_a_delta_says_what_is_missing() -> None:
    resource = {"initialValues": {"valueCount": 3, "valueStart": 1, "valueStep": 1}, "initialValuesDataType": "FLOAT32"}
    (problem,) = model_of(resources={**RESOURCES, "x": resource}).problems
    assert (problem.rule, problem.message) == (
        "missing-key",
        "a sequence of initialValues of x needs the key valueDelta",
    )


def test_a_duplicate_key_of_a_model_is_among_its_problems() -> None:
    text = '{"resources": {}, "dispatchables": {"a": {"type": "hlsl"}, "a": 3}, "commands": []}'
    model = read_model(yaml.parse(text.encode(), "model.json", is_json=True))
    assert problems_of(model) == [("duplicate-key", None)]
    assert dict(model.others) == {"a": "hlsl"}


def test_a_model_that_is_not_json_is_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(TEXT.replace('"commands"', "commands"), encoding="utf-8")
    file = read_file(str(path))
    assert [(problem.rule, problem.line, problem.column) for problem in file.problems] == [("yaml-syntax", 21, 5)]
    assert (file.cases, file.notes) == ((), ())


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
