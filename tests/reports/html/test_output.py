"""The elements of an output on the page."""

from __future__ import annotations

import pytest
from html_pages import case, check, wrong_output

from dmlcheck.comparison.records import Element
from dmlcheck.reports.html.operators import OperatorRow
from dmlcheck.reports.html.output import bits_text, output_text, worst_element
from dmlcheck.running.results import CaseResult

WORST = Element((4, 7), 1.5, 1.75, 2097152.0, 524288.0)
ALLOWED = Element((0, 0), 0.0, 1e-9, 6889517661.0, 0.5)  # near 0, where ULP say nothing


@pytest.mark.parametrize(
    ("value", "data_type", "bits"),
    [
        (1.0, "FLOAT16", "0x3C00"),
        (-0.0, "FLOAT32", "0x80000000"),
        (float("inf"), "FLOAT64", "0x7FF0000000000000"),
        (float("nan"), "FLOAT32", None),
        (1e300, "FLOAT32", None),
        (-8, "INT32", "0xFFFFFFF8"),
        (255, "UINT8", "0xFF"),
        (1.0, "", None),
    ],
)
def test_values_are_told_as_bits(value: float, data_type: str, bits: str | None) -> None:
    assert bits_text(value, data_type) == bits


def test_one_element_is_the_worst_everywhere() -> None:
    output = wrong_output(worst=WORST, most_off=ALLOWED, max_ulp=ALLOWED.ulp)
    text = check(output_text("Out", output)).text
    assert "[4, 7] worst 1.5" in text
    assert "\u25b2 is the worst element, [4, 7]: 2097152 ULP." in text
    row = OperatorRow()
    row.add(CaseResult(case(), "failed", outputs={"Out": output}), None)
    assert row.error == "2097152 ULP"
    assert "6889517661" not in text.replace(",", "")


def test_where_nothing_is_wrong_the_largest_error_stands_for_an_output() -> None:
    assert worst_element(wrong_output(worst=None, most_off=ALLOWED)) == ALLOWED
    assert worst_element(wrong_output(worst=WORST, most_off=ALLOWED)) == WORST
