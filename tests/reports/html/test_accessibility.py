"""The page as axe judges it: light and dark, as wide as a telephone and as a screen, with everything unfolded."""

from __future__ import annotations

from pathlib import Path

import pytest
from axe import axe_script, violations
from html_pages import Browser, case, chromium, every_outcome, report, wrong_output

from dmlcheck.comparison.records import OutputResult
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.running.results import CaseResult


@pytest.fixture(scope="session")
def browser() -> str:
    return chromium()


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    return axe_script(tmp_path_factory.mktemp("npm"))


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
@pytest.mark.parametrize("is_dark", [False, True])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing(browser: str, axe: str, full_page: str, tmp_path: Path, width: int, is_dark: bool) -> None:
    assert violations(Browser(browser, tmp_path), full_page, axe, width=width, is_dark=is_dark) == []


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_what_is_wrong(browser: str, axe: str, full_page: str, tmp_path: Path, width: int) -> None:
    page = full_page.replace("<main>", '<main><a href="#c1"></a><p style="color: #ddd; background: #fff">pale</p>')
    found = violations(Browser(browser, tmp_path), page, axe, width=width, is_dark=False)
    assert {rule for rule, _ in found} == {"color-contrast", "link-name"}
