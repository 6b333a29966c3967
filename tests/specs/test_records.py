"""What the records of a spec say of themselves."""

from __future__ import annotations

import pytest

from dmlcheck.specs.load import load_spec
from dmlcheck.specs.records import SupportTable


@pytest.mark.parametrize(
    ("level", "expected"),
    [("1_0", None), ("2_0", None), ("2_1", "2_1"), ("4_1", "2_1"), ("5_0", "5_0"), ("6_4", "5_0")],
)
def test_a_row_of_a_support_table_holds_up_to_the_next_one(level: str, expected: str | None) -> None:
    assert SupportTable(None, {"5_0": {}, "2_1": {}}).heading_at(level) == expected


def test_the_fields_of_an_operator_are_tensors_or_attributes() -> None:
    spec = load_spec("DML_OPERATOR_JOIN")
    assert {name: field.is_tensor for name, field in spec.fields.items()} == {
        "InputCount": False,
        "InputTensors": True,
        "OutputTensor": True,
        "Axis": False,
    }
    assert [[field.name for field in fields] for fields in (spec.inputs, spec.outputs, spec.operators)] == [
        ["InputTensors"],
        ["OutputTensor"],
        [],
    ]


def test_an_operator_goes_by_its_short_name() -> None:
    assert load_spec("DML_OPERATOR_GEMM").short == "GEMM"
