"""The elements of an output on the page."""

from __future__ import annotations

import re

import pytest
from html_pages import INFINITE, case, check, wrong_output

from dmlcheck.comparison.records import Element
from dmlcheck.reports.html.output import bits_text, output_text, picture, worst_element
from dmlcheck.reports.html.report import OperatorRow
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


# ---- pictures


def bars(text: str, kind: str) -> list[tuple[float, float]]:
    """Return the place and the height of the bars of a kind."""
    found = re.search(f'class="{kind}" d="([^"]*)"', text)
    assert found
    return [(float(x), float(y)) for x, y in re.findall(r"M([\d.]+) [\d.]+v-([\d.]+)h", found[1])]


def test_the_picture_has_a_bar_for_each_stretch_that_is_wrong() -> None:
    profile = (0.0, 1.0, 10.0, 100.0)
    text = picture("Out", wrong_output((4,), profile=profile, worst=Element((3,), 1.0, 2.0, 100.0, None)))
    check(text)
    (first, least), (_, middle), (last, most) = bars(text, "bars")
    assert bars(text, "beyond") == []
    assert first < last
    assert least < middle < most
    # On a logarithmic scale equal ratios are equal steps.
    assert middle * 2 == pytest.approx(most, abs=0.2)
    assert '<svg class="picture" role="img"' in text
    assert "<title>The largest error over Out, by position, in ULP on a logarithmic scale</title>" in text


def test_infinite_errors_stand_apart_in_the_picture() -> None:
    text = picture("Out", wrong_output(profile=(0.0, 2.0, INFINITE, 0.0)))
    ((_, finite),) = bars(text, "bars")
    ((_, infinite),) = bars(text, "beyond")
    assert finite < infinite
    assert "∞" in text
    only = picture("Out", wrong_output(profile=(INFINITE, 0.0)))
    assert (bars(only, "bars"), len(bars(only, "beyond"))) == ([], 1)


def test_there_is_no_picture_of_one_element_or_of_nothing() -> None:
    assert picture("Out", wrong_output(profile=(3.0,))) == ""
    assert picture("Out", wrong_output(profile=(0.0, 0.0))) == ""


@pytest.mark.parametrize("profile", [(1e-300, 1e300), (0.5, 0.5), (1e-12, 2.0), (INFINITE, INFINITE)])
def test_bars_stay_inside_the_picture(profile: tuple[float, ...]) -> None:
    text = picture("Out", wrong_output(profile=profile))
    heights = [height for kind in ("bars", "beyond") for _, height in bars(text, kind)]
    assert len(heights) == 2
    assert all(2 < height <= 90 for height in heights)
