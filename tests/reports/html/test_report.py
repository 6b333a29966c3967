"""The page as a whole: what stands where, and how much of it there may be."""

from __future__ import annotations

import re
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from html_pages import FILE, case, check, many, report, wrong_output

from dmlcheck import __version__
from dmlcheck.cases.records import DetachedOrigin
from dmlcheck.comparison.records import OutputResult
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.files.document import Position
from dmlcheck.reference.limits.precision import Precision
from dmlcheck.reports.html.report import Assets, HtmlReport
from dmlcheck.reports.records import RunInfo, Summary
from dmlcheck.running.results import OUTCOMES, CaseResult
from dmlcheck.running.settings import Settings
from dmlcheck.specs.records import Deviation


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


def test_a_failure_is_told_with_all_that_is_known_of_it(page: str) -> None:
    start = page.index('<details open id="c2"')
    told = page[start : page.index("</details>", start)] + "</details>"
    text = check(told).text
    assert f"failed {FILE}::wrong OutputTensor [1, 0] is 15, not 15.5" in text
    assert "output-mismatch OutputTensor FLOAT32 {2, 1}: 1 of 2 elements is outside the tolerance" in text
    assert f"{FILE}:15:36" in text
    assert "<mark>15.5</mark>" in told
    assert "outside the tolerance, which is 2 ULP" in text
    assert "[1, 0] worst 15.5 0x1.fp+3 0x41780000 15 0x1.ep+3 0x41700000 -0.5 524,288 262,144" in text
    assert "DML_OPERATOR_REDUCE at feature level 6_4 Function: SUM InputTensor: {DataType: FLOAT32" in text
    assert "InputTensor: [[1, 2, 3], [4, 5, 6]]" in text
    worst = "▲ is the worst element, [1, 0]: 524288 ULP."
    assert f"Wrong elements in 1 of 2 elements, in element 1. {worst}" in text


def test_the_command_that_runs_a_case_again_is_told_where_it_is_known(tmp_path: Path) -> None:
    told = HtmlReport(str(tmp_path / "a.html"), RunInfo("x"), again=lambda result: f"again '{result.case.id}'")
    told.case(CaseResult(case(), "failed"))
    told.finish(Summary({"failed": 1}, 0.0))
    assert "again &#x27;some.yaml::one&#x27;" in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_what_directml_is_known_to_get_wrong_of_such_a_desc_is_told(tmp_path: Path) -> None:
    told = HtmlReport(str(tmp_path / "a.html"), RunInfo("dxdispatch:x"))
    told.case(CaseResult(case(), "failed", known=(Deviation("Wrong for P = 2.", "before 1.9.0", "a page"),)))
    told.finish(Summary({"failed": 1}, 0.0))
    text = check((tmp_path / "a.html").read_text(encoding="utf-8")).text
    assert "known of DirectML Wrong for P = 2. (before 1.9.0; a page)" in text


EVIL = "<script>alert('x')</script>\"&\x00\x1b[31m\u202e\ud800\U000e0001"


def test_nothing_that_a_file_says_is_markup(tmp_path: Path) -> None:
    diagnostic = Diagnostic(EVIL, EVIL, "error", EVIL, 3, 2, EVIL, EVIL, EVIL, EVIL, 5)
    origin = DetachedOrigin(Position(3, 1), {3: EVIL})
    one = case(EVIL, EVIL, EVIL, desc={EVIL: [EVIL]}, inputs={EVIL: EVIL}, source=EVIL, origin=origin)
    output = wrong_output(bound=EVIL, data_type=EVIL)
    results = [
        CaseResult(one, outcome, EVIL, (diagnostic,), {EVIL: output, "b": OutputResult(1, 1, shape=EVIL)}, 0.0, EVIL)
        for outcome in OUTCOMES
    ]
    results = [result._replace(known=(Deviation(EVIL, EVIL, EVIL),)) for result in results]
    page = HtmlReport(str(tmp_path / "a.html"), RunInfo(EVIL, Settings(EVIL)), again=lambda _: EVIL)
    for result in results:
        page.case(result)
    page.finish(Summary(dict.fromkeys(OUTCOMES, 1), 0.0))
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    read = check(text)
    assert text.count("<script") == 1
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\ud800]", text)
    assert "<script>alert('x')</script>\"&\\x00\\x1b[31m\\u202e\\ud800\\U000e0001" in read.text


@pytest.mark.parametrize("values", ["{Function: SUM}", [1, 2], {}])
def test_a_desc_of_another_shape_is_told_as_it_is(tmp_path: Path, values: Any) -> None:
    one = case(desc=values, inputs=values or None)
    check(report(tmp_path / "a.html", [CaseResult(one, "failed", None, (Diagnostic("r", "m", line=3),))]))


def test_a_passed_case_tells_of_its_undefined_elements(tmp_path: Path) -> None:
    output = OutputResult(3, undefined=2, data_type="FLOAT32", sizes=(3,))
    told = HtmlReport(str(tmp_path / "a.html"), RunInfo("x"))
    told.case(CaseResult(case(), "passed", outputs={"Out": output}))
    told.finish(Summary({"passed": 1}, 0.0))
    text = check((tmp_path / "a.html").read_text(encoding="utf-8")).text
    assert "Out: 2 of 3 elements are undefined, and not compared" in text
