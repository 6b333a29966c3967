"""The elements of an output that are wrong, in words and figures."""

from __future__ import annotations

import math

import pytest

from dmlcheck.comparison.records import Element, OutputResult
from dmlcheck.reports.elements import mismatch_lines, value_text

FIRST = (Element((0,), 21.0, 22.0, 5.0, 2.5), Element((7,), 1.0, math.nan, 1.0, None))
OUTPUT = OutputResult(9, mismatches=2, first=FIRST, data_type="FLOAT32", bound="2 ULP")


def test_the_worst_is_marked_where_it_is_not_among_the_first_and_the_others_are_counted() -> None:
    worst = Element((8,), 3, 1, 2.0, None)
    output = OUTPUT._replace(data_type="INT32", first=(Element((0,), 1, 2, 1.0, None),), worst=worst, mismatches=1002)
    lines = mismatch_lines("Out", output)
    assert lines[1:] == [
        "  [0]  expected 1  got 2  off by 1",
        "  [8]  expected 3  got 1  off by 2   (worst)",
        "  and 1,000 more",
    ]
    assert not any("worst" in line for line in mismatch_lines("Out", OUTPUT._replace(worst=FIRST[0])))


def test_whose_tolerance_it_is_is_said_and_what_differs_where_anything_may() -> None:
    lines = mismatch_lines("Out", OUTPUT._replace(decided_by="the case's own tolerance", undefined=3))
    assert lines[1] == "  from the case's own tolerance"
    assert lines[-1] == "  (3 are undefined, and not compared)"


@pytest.mark.parametrize(
    ("value", "data_type", "text"),
    [
        (0.1, "FLOAT64", "0.1 (0x1.999999999999ap-4)"),
        (0.10000000149011612, "FLOAT32", "0.1 (0x1.99999ap-4)"),
        (2.0, "FLOAT16", "2 (0x1p+1)"),
        (-7, "INT8", "-7"),
        (math.inf, "FLOAT32", "inf"),
    ],
)
def test_a_float_stands_in_decimal_and_in_hex_which_leaves_no_digit_open(
    value: float, data_type: str, text: str
) -> None:
    assert value_text(value, data_type) == text
