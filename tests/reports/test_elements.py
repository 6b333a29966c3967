"""The elements of an output that are wrong, in words and figures."""

from __future__ import annotations

import math

import pytest
from results import failed

from dmlcheck.comparison.records import Element, OutputResult
from dmlcheck.reports.elements import decimal, hexadecimal, mismatch_lines, open_lines, value_text

FIRST = (Element((0,), 21.0, 22.0, 5.0, 2.5), Element((7,), 1.0, math.nan, 1.0, None))
OUTPUT = OutputResult(9, mismatches=2, first=FIRST, data_type="FLOAT32", bound="2 ULP")


def test_each_element_has_its_values_its_difference_and_its_error() -> None:
    assert mismatch_lines("Out", OUTPUT) == [
        "tolerance of Out: 2 ULP",
        "  [0]  expected 21 (0x1.5p+4)  got 22 (0x1.6p+4)  off by 1: 5 ULP, 2.5 times the tolerance",
        "  [7]  expected 1 (0x1p+0)     got nan            1 ULP",
    ]


def test_an_error_says_where_it_is_measured_from_the_unrounded_result() -> None:
    element = Element((0,), 1.0, 1.0009765625, 0.5, 1.5, is_unrounded=True)
    assert mismatch_lines("Out", OUTPUT._replace(first=(element,), mismatches=1, data_type="FLOAT16"))[1] == (
        "  [0]  expected 1 (0x1p+0)  got 1.001 (0x1.004p+0)  off by 0.000977: "
        "0.5 ULP from the unrounded result, 1.5 times the tolerance"
    )


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


def test_outputs_with_undefined_elements_are_told_with_their_number() -> None:
    outputs = {
        "A": OUTPUT._replace(elements=1200, undefined=1100),
        "B": OUTPUT,
        "C": OUTPUT._replace(elements=3, undefined=1),
    }
    assert list(open_lines(failed(outputs=outputs, uncompared=("D", "E")))) == [
        "not compared, as the case gives no values: D, E",
        "A: 1,100 of 1,200 elements are undefined, and not compared",
        "C: 1 of 3 elements is undefined, and not compared",
    ]


def test_of_an_output_that_is_right_or_of_another_shape_there_are_no_elements() -> None:
    assert mismatch_lines("Out", OUTPUT._replace(mismatches=0)) == []
    assert mismatch_lines("Out", OUTPUT._replace(shape="is float32 {2} instead of float32 {1}")) == []


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


def test_the_digits_are_as_few_as_tell_a_number_of_its_type() -> None:
    assert decimal(0.0999755859375, "FLOAT16") == "0.1"
    assert hexadecimal(0.0) == "0x0p+0"
    assert hexadecimal(1.5) == "0x1.8p+0"
