"""A case on the page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from html_pages import FILE, case, check, report, wrong_output

from dmlcheck.cases.records import DetachedOrigin
from dmlcheck.comparison.records import OutputResult
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.files.document import Position
from dmlcheck.reports.html.report import HtmlReport
from dmlcheck.reports.records import RunInfo, Summary
from dmlcheck.running.results import OUTCOMES, CaseResult
from dmlcheck.running.settings import Settings
from dmlcheck.specs.records import Deviation


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
