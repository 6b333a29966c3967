"""One file has what the report of a run and the site look like; each adds what it alone has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dmlcheck.reports.html.report import Assets
from dmlcheck.reports.html.templates import file_text as of_the_report
from dmlcheck.reports.site.build import file_text as of_the_site
from dmlcheck.reports.site.build import site_files
from dmlcheck.reports.style import styled

SHARED = (Path(__file__).parents[2] / "dmlcheck/reports/style.css").read_text(encoding="utf-8")


def test_the_shared_style_comes_first() -> None:
    assert styled("p { margin: 0; }\n") == SHARED + "p { margin: 0; }\n"


@pytest.mark.slow
def test_the_report_and_the_site_begin_with_the_shared_style() -> None:
    assert Assets().style == "\n" + SHARED + of_the_report("style.css")
    written = next(file for file in site_files([], {}) if file.name == "style.css")
    assert written.text == SHARED + of_the_site("style.css")


@pytest.mark.parametrize("own", [of_the_report("style.css"), of_the_site("style.css")])
def test_a_colour_has_one_place(own: str) -> None:
    shared = set(re.findall(r"(--\w+):", SHARED))
    assert {"--page", "--ink", "--link", "--mono"} <= shared
    assert shared & set(re.findall(r"(--\w+):", own)) == set()


@pytest.mark.parametrize("own", [of_the_report("style.css"), of_the_site("style.css")])
def test_every_colour_that_is_used_has_a_value(own: str) -> None:
    text = SHARED + own
    assert set(re.findall(r"var\((--\w+)\)", text)) <= set(re.findall(r"(--\w+):", text))
