"""Descs as plain values: what is written of a desc is JSON, is valid, and reads back as the same desc."""

from __future__ import annotations

import json
from typing import Any

import pytest
from shipped import FOLDERS, cases_in

from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.descs.write import notation
from dmlcheck.validation import validate


def valid_descs(folder: str) -> list[tuple[Any, str, OperatorDesc]]:
    """Return the cases of a folder whose descs are valid, each with its level and its desc."""
    found = []
    for case in cases_in(folder):
        level = case.level
        desc, findings = validate(case.operator, case.desc, level)
        if desc is not None and not findings:
            found.append((case, level, desc))
    return found


def as_read(desc: OperatorDesc) -> str:
    """Return all that a desc says, whichever of its two forms an inner operator had and whoever counted."""
    values = {name: as_read(value) if isinstance(value, OperatorDesc) else value for name, value in desc.values.items()}
    for name, value in values.items():
        if isinstance(value, tuple) and any(isinstance(part, OperatorDesc) for part in value):
            values[name] = [as_read(part) for part in value]
    return f"{desc.spec.operator} {sorted(values.items())}"  # as text, in which NaN is NaN


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS)
def test_the_notation_of_a_valid_desc_is_json_and_reads_back_as_the_same_desc(folder: str) -> None:
    valid = valid_descs(folder)
    assert valid
    for case, level, desc in valid:
        text = json.dumps(notation(desc), allow_nan=False)
        again, findings = validate(case.operator, json.loads(text), level)
        assert (case.id, findings) == (case.id, [])
        assert again is not None
        assert as_read(again) == as_read(desc)


def read(operator: str, raw: Any) -> OperatorDesc:
    desc, findings = read_desc(operator, raw)
    assert findings == ()
    assert desc is not None
    return desc


def test_counts_are_filled_in_and_prefixes_dropped() -> None:
    tensor = {"DataType": "DML_TENSOR_DATA_TYPE_FLOAT32", "Sizes": [2, 3], "DimensionCount": 2}
    raw = {
        "Function": "DML_REDUCE_FUNCTION_SUM",
        "InputTensor": {**tensor, "Strides": [4, 1], "TotalTensorSizeInBytes": 64, "Flags": "OWNED_BY_DML"},
        "OutputTensor": {"Type": "BUFFER", "Desc": {**tensor, "Sizes": [2, 1], "GuaranteedBaseOffsetAlignment": 16}},
        "Axes": [1],
    }
    assert notation(read("REDUCE", raw)) == {
        "Function": "SUM",
        "InputTensor": {
            "DataType": "FLOAT32",
            "Sizes": [2, 3],
            "Strides": [4, 1],
            "TotalTensorSizeInBytes": 64,
            "Flags": "OWNED_BY_DML",
        },
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [2, 1], "GuaranteedBaseOffsetAlignment": 16},
        "AxisCount": 1,
        "Axes": [1],
    }


@pytest.mark.parametrize("inner", [{"Alpha": 0.5}, {"Desc": {"Alpha": 0.5}}])
def test_an_inner_operator_has_its_full_name_and_the_short_form(inner: dict[str, Any]) -> None:
    tensor = {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2]}
    raw = {
        "ATensor": tensor,
        "BTensor": tensor,
        "OutputTensor": tensor,
        "FusedActivation": {"Type": "ACTIVATION_LEAKY_RELU", **inner},
    }
    written = notation(read("ELEMENT_WISE_ADD1", raw))
    assert written["FusedActivation"] == {"Type": "DML_OPERATOR_ACTIVATION_LEAKY_RELU", "Alpha": 0.5}


@pytest.mark.parametrize(
    ("data_type", "value", "written"),
    [
        ("UINT64", 2**64 - 1, 2**64 - 1),
        ("INT64", -(2**63), -(2**63)),
        ("FLOAT32", float("inf"), "inf"),
        ("FLOAT32", "-inf", "-inf"),
        ("FLOAT32", float("nan"), "nan"),
        ("FLOAT32", 0.1, 0.1),
    ],
)
def test_scalars_keep_every_digit_and_what_json_has_no_number_for_is_a_text(
    data_type: str, value: Any, written: Any
) -> None:
    tensor = {"DataType": data_type, "Sizes": [1, 4]}
    raw = {"OutputTensor": tensor, "ValueDataType": data_type, "Value": value}
    assert notation(read("FILL_VALUE_CONSTANT", raw))["Value"] == written


def test_structs_and_arrays_of_tensors_are_written_in_full() -> None:
    tensor = {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 2]}
    joined = {"InputTensors": [tensor, tensor], "OutputTensor": {**tensor, "Sizes": [1, 1, 1, 4]}, "Axis": 3}
    assert notation(read("JOIN", joined)) == {**joined, "InputCount": 2}
    scaled = {"InputTensor": tensor, "OutputTensor": tensor, "ScaleBias": {"Scale": 2.0, "Bias": float("-inf")}}
    assert notation(read("ELEMENT_WISE_IDENTITY", scaled))["ScaleBias"] == {"Scale": 2.0, "Bias": "-inf"}
