"""The page as a whole: what stands where, and how much of it there may be."""

from __future__ import annotations

import re
import tracemalloc
from pathlib import Path

import pytest
from html_pages import case, check, many, report, wrong_output

from dmlcheck import __version__
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.reference.limits.precision import Precision
from dmlcheck.reports.html.report import Assets, HtmlReport
from dmlcheck.reports.records import RunInfo, Summary
from dmlcheck.running.results import CaseResult
from dmlcheck.running.settings import Settings


def test_the_page_is_whole_and_names_the_run(page: str) -> None:
    assert page.startswith('<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n')
    read = check(page)
    title = "5 failed, 2 errors and 1 passed against expectation in 12 cases"
    assert f"<title>{title} - dmlcheck {__version__}, reference</title>" in page
    assert f'<h1 class="bad">{title}</h1>' in page
    assert f"dmlcheck {__version__} Implementation reference" in read.text


def test_a_run_of_nothing_is_a_page_too(tmp_path: Path) -> None:
    assert '<h1 class="none">Nothing ran</h1>' in report(tmp_path / "a.html", [])


@pytest.mark.slow
def test_passing_cases_take_little_room(tmp_path: Path) -> None:
    text = report(tmp_path / "a.html", many("passed", 20_000))
    assert len(text) < 20_000 * 65  # so that 100,000 stay well below 20 MB
    assert "<li>corner[Type=FLOAT16,Sizes=1x19999x3x64,Axes=2]\n" in text
    assert "only counted" not in text
    check(text)


def error(number: int, message: str = "no device was found") -> CaseResult:
    one = case(f"case-{number}", operator=f"DML_OPERATOR_{'GEMM' if number % 2 else 'REDUCE'}")
    return CaseResult(
        one, "error", None, (Diagnostic("implementation-error", message, file="a.yaml", line=number + 1),)
    )


def test_equal_messages_are_told_once(tmp_path: Path) -> None:
    text = report(tmp_path / "a.html", [*map(error, range(323)), error(400, "another one"), error(401)])
    check(text)
    assert text.count('class="case error"') == 2
    assert "<summary>323 more cases with the same message</summary>" in text
    assert '<li data-operator="GEMM">some.yaml::case-1\n' in text
    assert 'Failures <span class="count">325</span>' in text
    assert '<h1 class="bad">325 errors in 325 cases</h1>' in text


def test_failures_by_numbers_are_told_one_by_one(tmp_path: Path) -> None:
    message = (Diagnostic("output-mismatch", "wrong", file="some.yaml", line=3, column=1),)
    results = many("failed", 10, diagnostics=message, outputs={"OutputTensor": wrong_output()})
    text = report(tmp_path / "a.html", results)
    assert text.count('class="case failed"') == 10
    assert "with the same message" not in text


@pytest.mark.slow
def test_results_are_not_kept(tmp_path: Path) -> None:
    tracemalloc.start()
    try:
        report_file = HtmlReport(str(tmp_path / "a.html"), RunInfo("reference"))
        before = tracemalloc.get_traced_memory()[0]
        for result in many("passed", 20_000):
            report_file.case(result)
        report_file.finish(Summary({"passed": 20_000}, 1.0))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak - before < 2_500_000


@pytest.mark.slow
def test_a_page_of_failures_has_an_end(tmp_path: Path) -> None:
    found = {"OutputTensor": wrong_output()}
    message = (Diagnostic("output-mismatch", "wrong " * 20, file="some.yaml", line=3, column=1),)
    late = CaseResult(case("late", operator="DML_OPERATOR_GEMM"), "failed", None, message, found)
    text = report(tmp_path / "a.html", [*many("failed", 24_000, diagnostics=message, outputs=found), *[late] * 6])
    assert len(text) < 11_000_000
    assert "more cases are only counted, to keep this page of a size that opens" in text
    # An operator that fails late is told of in full all the same.
    assert (
        len(re.findall(r'<details id="c\d+" class="case failed" data-outcome="failed" data-operator="GEMM"', text)) == 5
    )
    check(text)


def test_names_and_reasons_without_end_are_put_together(tmp_path: Path) -> None:
    skipped = (CaseResult(case(operator=f"NONE{index}"), "skipped", f"reason {index}") for index in range(1000))
    text = report(tmp_path / "a.html", skipped)
    assert text.count("<option>") == 401
    assert "<option>(others)</option>" in text
    assert "<li><b>960</b> other reasons</li>" in text


def test_a_page_that_cannot_be_kept_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.SpooledTemporaryFile", full)
    page = HtmlReport(str(tmp_path / "a.html"), RunInfo("reference"))
    for result in many("passed", 3):
        page.case(result)
    page.finish(Summary({"passed": 3}, 1.0))
    assert page.file.problem is not None
    assert "No space left on device" in page.file.problem
    assert list(tmp_path.iterdir()) == []


# ---- the page


def test_the_page_asks_for_nothing(page: str) -> None:
    read = check(page)
    assert "http" not in page.replace("http-equiv", "")
    assert "@import" not in page
    assert "url(" not in page
    links = [value for _, name, value in read.attributes if name in ("src", "href", "action", "srcset", "style")]
    assert [link for link in links if not link.startswith("#") and link != "data:,"] == []
    assert "default-src 'none'; style-src 'sha256-" in page
    assert "unsafe" not in page


def test_the_head_tells_implementation_level_shard_and_interruption(tmp_path: Path) -> None:
    text = report(
        tmp_path / "a.html",
        [CaseResult(case(), "passed")],
        interrupted=True,
        settings=Settings("4_1", Precision("FLOAT16", "TF32")),
        shard=(2, 3),
        version="1.2",
        device="GPU 0",
    )
    read = check(text)
    assert "No failures in 1 case" in read.text
    assert "DML_FEATURE_LEVEL_4_1 (DirectML 1.7.0)" in read.text
    assert "Shard 2 of 3" in read.text
    assert "Implementation reference 1.2 (GPU 0)" in read.text
    assert "Cases 1 Accumulation FLOAT16 Inputs of products TF32" in read.text
    assert "Interrupted: the run ended before all its cases had run." in read.text


def colours(block: str) -> dict[str, str]:
    return dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", block))


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour, as WCAG 2 has it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    wide = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * wide[0] + 0.7152 * wide[1] + 0.0722 * wide[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable_in_both_schemes(scheme: str) -> None:
    light, dark = Assets().style.split("@media (prefers-color-scheme: dark)")
    known = {**colours(light), **(colours(dark) if scheme == "dark" else {})}
    for ink in ("ink", "quiet", "link", "red", "orange", "green", "purple"):
        for paper in ("page", "card", "inset", "hit"):
            low, high = sorted((luminance(known[ink]), luminance(known[paper])))
            assert (high + 0.05) / (low + 0.05) >= 4.5, (ink, paper)
    low, high = sorted((luminance(known["ink"]), luminance(known["mark"])))
    assert (high + 0.05) / (low + 0.05) >= 4.5
