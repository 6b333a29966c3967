"""The page as axe judges it: light and dark, as wide as a telephone and as a screen, with everything unfolded."""

from __future__ import annotations

import pytest
from axe import Axe
from browser import Page
from html_pages import case, every_outcome, report, wrong_output

from dmlcheck.comparison.records import OutputResult
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.running.results import CaseResult


@pytest.fixture(scope="module")
def full_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a page with everything that a page may have."""
    message = Diagnostic("implementation-error", "no device", file="a.yaml", line=3, column=1, help="add one", note="n")
    alike = [CaseResult(case(f"e{number}"), "error", "raised", (message,)) for number in range(3)]
    wrong = CaseResult(case("wrong"), "failed", None, (message,), {"A": wrong_output(), "B": wrong_output()})
    shape = CaseResult(case("shape"), "failed", None, (message,), {"A": OutputResult(1, 1, shape="{1} is no {2}")})
    crashed = CaseResult(case("crashed"), "error", "crashed", (message,), traceback="Traceback:\n  a\n")
    passed = [CaseResult(case(operator=f"DML_OPERATOR_N{number}"), "passed") for number in range(15)]
    results = [*every_outcome(), *alike, wrong, shape, crashed, *passed]
    return report(tmp_path_factory.mktemp("full") / "a.html", results, interrupted=True)


@pytest.mark.slow
def test_axe_finds_nothing(window: Page, axe: str, full_page: str) -> None:
    assert Axe(window, axe, "about:blank").findings("report", full_page, (320, 390, 1280)) == []


@pytest.mark.slow
def test_axe_finds_what_is_wrong(window: Page, axe: str, full_page: str) -> None:
    pale = '<a href="#c1"></a><p style="color: light-dark(#ddd, #fff); background: light-dark(#fff, #000)">pale</p>'
    dim = '<p style="color: light-dark(#000, #222); background: light-dark(#fff, #000)">dim</p>'
    page = full_page.replace("<main>", f"<main>{pale}{dim}")
    found = Axe(window, axe, "about:blank").findings("report", page)
    assert [(width, scheme, rule, len(elements)) for _, width, scheme, rule, elements in found] == [
        (1280, "light", "link-name", 1),
        (1280, "light", "color-contrast", 1),
        (1280, "dark", "color-contrast", 1),
    ]
