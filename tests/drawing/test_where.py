"""Conditions on draws."""

from __future__ import annotations

import pytest

from dmlcheck.drawing.where import Where, all_hold
from dmlcheck.validation import validate

TENSOR = {"DataType": "FLOAT16", "Sizes": [1, 2]}
DESC, _ = validate(
    "ARGMAX",
    {
        "InputTensor": TENSOR,
        "OutputTensor": {"DataType": "UINT32", "Sizes": [1, 1]},
        "Axes": [1],
        "AxisDirection": "INCREASING",
    },
    "6_4",
)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("AxisDirection=INCREASING", True),
        ("AxisDirection=DML_AXIS_DIRECTION_INCREASING", True),
        ("AxisDirection=DECREASING", False),
        ("AxisDirection = DECREASING|INCREASING", True),
        ("Axes=[1]", True),
        ("Axes=[0, 1]", False),
        ("AxisCount=1", True),
        ("DataType=UINT32", True),
        ("DataType=DML_TENSOR_DATA_TYPE_FLOAT16|INT8", True),
        ("DataType=FLOAT32", False),
    ],
)
def test_a_condition_is_about_an_attribute_or_the_type_of_a_tensor(text: str, holds: bool) -> None:
    found = Where.of(text)
    assert found is not None
    assert DESC is not None
    assert found.is_for("DML_OPERATOR_ARGMAX")
    assert found.holds(DESC) is holds
    assert all_hold([found, Where("DataType", ("UINT32",))], DESC) is holds


@pytest.mark.parametrize("text", ["", "Axes", "=1", "Axes=", "Axes=1|"])
def test_what_names_no_value_is_no_condition(text: str) -> None:
    assert Where.of(text) is None


def test_an_operator_without_the_attribute_or_the_value_is_not_drawn() -> None:
    for text in ("Alpha=1", "AxisDirection=FORWARD"):
        found = Where.of(text)
        assert found is not None
        assert not found.is_for("DML_OPERATOR_ARGMAX")
