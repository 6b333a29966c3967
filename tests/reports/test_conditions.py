"""The conditions of a spec in words."""

from __future__ import annotations

from typing import Any

import pytest

from dmlcheck.reports.conditions import condition_text, constraint_text, deviation_text
from dmlcheck.specs.records import Constraint, Deviation

ROW = Constraint("C1", "A is B.", "sizes", {})


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        ({"Function": ("SUM",)}, "Function is SUM"),
        ({"Function": ("ARGMIN", "ARGMAX")}, "Function is ARGMIN or ARGMAX"),
        ({"Function": ("SUM",), "AcrossChannels": (True,)}, "Function is SUM and AcrossChannels is true"),
    ],
)
def test_a_condition_names_its_fields_and_values(condition: dict[str, tuple[Any, ...]], text: str) -> None:
    assert condition_text(condition) == text


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "A is B."),
        ({"when": {"Mode": ("X",)}}, "A is B. (when Mode is X)"),
        ({"unless": {"Mode": ("X",)}, "since": "4_1"}, "A is B. (unless Mode is X, from 4_1)"),
        ({"present": ("Bias", "Scale"), "absent": ("Output",)}, "A is B. (with Bias and Scale, without Output)"),
        ({"until": "6_4"}, "A is B. (before 6_4)"),
        # A condition that the text says is not said again.
        ({"text": "Forward, A is B.", "when": {"Direction": ("FORWARD",)}}, "Forward, A is B."),
        ({"text": "A is B before DML_FEATURE_LEVEL_6_4.", "until": "6_4"}, "A is B before DML_FEATURE_LEVEL_6_4."),
        ({"text": "Forwards, A is B.", "when": {"Mode": ("FORWARD",)}}, "Forwards, A is B. (when Mode is FORWARD)"),
    ],
)
def test_a_constraint_says_when_it_holds(fields: dict[str, Any], text: str) -> None:
    assert constraint_text(ROW._replace(**fields)) == text


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, ""),
        ({"absent": ("A", "B")}, "without A and B"),
        ({"strided": ("A", "B")}, "A or B has strides"),
        ({"when": {"P": (2,)}, "where": "len(A.Sizes) > 4"}, "P is 2, and len(A.Sizes) > 4"),
        ({"values": "x < 0"}, "elements where x < 0"),
        ({"is_of_graphs": True}, "in a compiled graph"),
    ],
)
def test_a_deviation_says_which_descs_it_is_about(fields: dict[str, Any], text: str) -> None:
    assert deviation_text(Deviation("Wrong.", "all", "a page")._replace(**fields)) == text
