"""The JSON Schema of case files, against the shipped cases and against files with mistakes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import jsonschema
import pytest

from dmlcheck.cases.form import CASE_KEYS
from dmlcheck.files import yaml
from dmlcheck.inspection.schema import case_file_schema, schema_text
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.names import ENUMS

ROOT = Path(__file__).parent.parent.parent
SCHEMA = case_file_schema()
CHECKER = jsonschema.Draft202012Validator(SCHEMA)
FOLDERS = sorted(path for path in (ROOT / "cases").iterdir() if path.is_dir())

GOOD = {
    "operator": "DML_OPERATOR_ARGMAX",
    "desc": {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [3, 3]},
        "OutputTensor": {"DataType": "UINT32", "Sizes": [1, 3]},
        "Axes": [0],
        "AxisDirection": "INCREASING",
    },
    "inputs": {"InputTensor": [[1, 2, 3], [3, 0, 4], [2, 5, 2]]},
    "outputs": {"OutputTensor": [[1, 2, 1]]},
}


def changed(**parts: Any) -> dict[str, Any]:
    """Return the good file with some keys replaced."""
    return {**GOOD, **parts}


def with_field(name: str, value: Any) -> dict[str, Any]:
    """Return the good file with a field of its desc replaced."""
    desc: Any = GOOD["desc"]
    return changed(desc={**desc, name: value})


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_shipped_files_agree_with_the_schema(folder: Path) -> None:
    """A negative case may break the schema where it is about the form of a desc; whole files must not."""
    files = [path for path in folder.glob("*.yaml") if path.stem != "rejects"]
    errors = {path.name: list(CHECKER.iter_errors(yaml.read(str(path)).value)) for path in files}
    assert {name: [error.message for error in found] for name, found in errors.items() if found} == {}


@pytest.mark.slow
def test_the_schema_is_small_and_says_which_it_is() -> None:
    text = schema_text()
    assert json.loads(text) == SCHEMA
    assert len(text.encode()) < 200_000
    assert urlsplit(SCHEMA["$id"]).scheme == "urn"
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_every_reference_has_its_definition_and_every_definition_is_used() -> None:
    used = set(re.findall(r'"#/\$defs/(\w+)"', schema_text()))
    assert used == SCHEMA["$defs"].keys()


def test_a_definition_that_a_described_field_refers_to_has_no_description_of_its_own() -> None:
    """Editors show the description of a definition in place of the one beside the reference."""
    for spec in map(load_spec, operator_names()):
        fields = SCHEMA["$defs"][spec.short]["properties"]["desc"]["properties"]
        for name, field in spec.fields.items():
            shown = fields[name]
            while "description" not in shown:
                shown = SCHEMA["$defs"][shown["$ref"].removeprefix("#/$defs/")]
            assert shown["description"] == field.about
            if "$ref" in shown:
                assert "description" not in SCHEMA["$defs"][shown["$ref"].removeprefix("#/$defs/")]


def test_there_are_files_to_check() -> None:
    assert len(FOLDERS) == len(operator_names())
    assert all(any(folder.glob("*.yaml")) for folder in FOLDERS)


@pytest.mark.parametrize(
    ("value", "where"),
    [
        (changed(tolerence="exact"), []),
        (changed(operator="DML_OPERATOR_ARGMAXX"), ["operator"]),
        (changed(inputs=[1, 2]), ["inputs"]),
        (changed(outputs={"OutputTensor": {"filled": 1}}), ["outputs", "OutputTensor"]),
        (changed(tolerance={"ulps": 2}), ["tolerance"]),
        (changed(tolerance={"reason": "no limit"}), ["tolerance"]),
        (changed(tolerance={"ulp": 1, "reason": 5}), ["tolerance"]),
        (changed(invalid="size-mismatch"), ["invalid"]),
        (with_field("AxisDirection", "UPWARD"), ["desc", "AxisDirection"]),
        (with_field("Axis", [0]), ["desc"]),
        (with_field("Axes", "0"), ["desc", "Axes"]),
        (with_field("InputTensor", {"DataType": "FLOAT31", "Sizes": [3, 3]}), ["desc", "InputTensor"]),
        (with_field("InputTensor", None), ["desc", "InputTensor"]),
        (changed(operator=5), ["operator"]),
        (changed(desc=None), ["desc"]),
        ({"operator": "ARGMAX", "cases": [{**GOOD, "name": "one", "desc": {"Axis": [0]}}]}, ["cases", 0, "desc"]),
        ({"operator": "ARGMAX", "cases": [{"name": "one", "desc": {"Axis": [0]}}]}, ["cases", 0, "desc"]),
        (
            {"operator": "GEMM", "cases": [{"name": "one", "operator": "ARGMAX", "desc": {"Beta": 1}}]},
            ["cases", 0, "desc"],
        ),
        ({"operator": "GEMM", "cases": [{"desc": {}}]}, ["cases", 0]),
        ({"operator": "SCATTER_ELEMENTS", "desc": {"Axes": 0}}, ["desc"]),
    ],
)
def test_a_mistake_is_found_where_it_is(value: Any, where: list[Any]) -> None:
    errors = list(CHECKER.iter_errors(value))
    assert errors
    assert where in [list(error.absolute_path)[: len(where)] for error in errors]


def test_the_good_file_agrees() -> None:
    CHECKER.validate(GOOD)
    CHECKER.validate({"operator": "ARGMAX", "cases": [{**GOOD, "name": "one"}]})


@pytest.mark.parametrize(
    "value",
    [
        {"operator": "GEMM", "cases": [{**GOOD, "name": "one"}]},
        {"operator": "ARGMAX", "cases": [{"name": "one", "desc": {"Beta": 1}, "invalid": ["unknown-field"]}]},
        {"operator": "ARGMAX", "desc": {"Beta": 1}, "invalid": ["unknown-field"]},
        {"operator": "NO_SUCH", "desc": {}, "invalid": ["unknown-operator"]},
        {"operator": "SCATTER_ELEMENTS", "desc": {"Axis": 0}},
        {"operator": "DML_OPERATOR_SCATTER_ELEMENTS", "cases": [{"name": "one", "desc": {"Axis": 0}}]},
        {"operator": "${Operator}", "desc": {"Beta": 1}, "matrix": {"Operator": ["GEMM"]}},
        with_field("AxisCount", None),
        with_field("AxisDirection", "DML_AXIS_DIRECTION_DECREASING"),
        changed(outputs={"OutputTensor": [["any", 2, 1]]}),
        changed(outputs={"OutputTensor": {"fill": "any"}}),
    ],
)
def test_what_dmlcheck_takes_agrees_with_the_schema(value: Any) -> None:
    CHECKER.validate(value)


def test_the_schema_knows_every_operator_field_and_value() -> None:
    text = json.dumps(SCHEMA)
    for operator in operator_names():
        assert f'"{operator}"' in text
        for field in load_spec(operator).fields.values():
            assert f'"{field.name}"' in text
            assert all(f'"{value}"' in text for value in ENUMS.get(field.enum or "", ()))
    assert all(f'"{key}"' in text for key in CASE_KEYS)
