"""The JSON Schema of case files, against the shipped cases and against files with mistakes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dmlcheck.cases.form import CASE_KEYS
from dmlcheck.files import yaml
from dmlcheck.inspection.schema import case_file_schema
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.names import ENUMS

ROOT = Path(__file__).parent.parent.parent
SCHEMA = case_file_schema()
CHECKER = jsonschema.Draft202012Validator(SCHEMA)
FILES = sorted((ROOT / "cases").rglob("*.yaml"))

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
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_shipped_file_agrees_with_the_schema(path: Path) -> None:
    errors = [error.message for error in CHECKER.iter_errors(yaml.read(str(path)).value)]
    # A negative case may break the schema where it is about the form of a desc; whole files must not.
    assert errors == [] or path.stem == "rejects"


def test_there_are_files_to_check() -> None:
    assert len(FILES) > 15


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
    ],
)
def test_a_mistake_is_found_where_it_is(value: Any, where: list[str]) -> None:
    errors = list(CHECKER.iter_errors(value))
    assert errors
    assert where in [list(error.absolute_path)[: len(where)] for error in errors]


def test_the_good_file_agrees() -> None:
    CHECKER.validate(GOOD)
    CHECKER.validate({"operator": "ARGMAX", "cases": [{**GOOD, "name": "one"}]})


def test_the_schema_knows_every_operator_field_and_value() -> None:
    text = json.dumps(SCHEMA)
    for operator in operator_names():
        assert f'"{operator}"' in text
        for field in load_spec(operator).fields.values():
            assert f'"{field.name}"' in text
            assert all(f'"{value}"' in text for value in ENUMS.get(field.enum or "", ()))
    assert all(f'"{key}"' in text for key in CASE_KEYS)
