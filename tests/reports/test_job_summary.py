"""The job summary of a GitHub workflow: a run as Markdown, as much as fits."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from results import MISMATCH, case, every_outcome, failed, report, summary_of

from dmlcheck import __version__
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.diagnostics.wording import visible
from dmlcheck.reports.github import GithubReport
from dmlcheck.reports.job_summary import MOST_BYTES
from dmlcheck.reports.records import RunInfo
from dmlcheck.running.results import CaseResult

INFO = RunInfo("onnxruntime", version="1.31.1", device="GPU *0*")


pytestmark = pytest.mark.usefixtures("folder")


def summary(path: Path, results: list[CaseResult], *, interrupted: bool = False) -> str:
    lines: list[str] = []
    report(GithubReport(lines.append, str(path), INFO), results, interrupted=interrupted)
    assert not any("summary" in line for line in lines)
    return path.read_text(encoding="utf-8")


def test_the_summary_has_the_totals_the_table_and_the_failures(folder: Path) -> None:
    text = summary(folder / "summary.md", every_outcome())
    lines = text.split("\n")
    assert lines[0] == "## dmlcheck: 1 passed, 1 failed, 1 error, 1 skipped, 1 xfailed, 1 xpassed"
    assert lines[2] == (
        f"dmlcheck {__version__}, onnxruntime 1.31.1 (GPU &#42;0&#42;): 6 cases at the feature "
        "levels of their files; tolerances assume sums in FLOAT32"
    )
    assert lines[4:7] == [
        "| operator | passed | failed | error | skipped | xfailed | xpassed | worst ULP | seconds |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        "| REDUCE | 1 | 1 | 1 | 1 | 1 | 1 | 0 | 1.12 |",
    ]
    assert "- skipped 1: nothing to run" in lines
    shown = [line for line in lines if line.startswith("<details>")]
    assert shown == [
        "<details><summary><code>cases/sum.yaml::failed</code> output-mismatch</summary>",
        "<details><summary><code>cases/sum.yaml::error</code> field-type</summary>",
        "<details><summary><code>cases/sum.yaml::xpassed</code> xpassed</summary>",
    ]
    assert "    10 |   outputs: {OutputTensor: [[21]]}\n" in text
    assert text.count("</details>") == 3
    assert text.count("again: dmlcheck run cases/sum.yaml::failed\n") == 1
    assert "more failure" not in text


def test_of_many_operators_the_summary_has_those_with_something_to_see(folder: Path) -> None:
    passed = [CaseResult(case(operator=f"OPERATOR_{number:02}"), "passed") for number in range(12)]
    text = summary(folder / "summary.md", [*passed, failed()])
    assert [line.split()[1] for line in text.split("\n") if line.startswith("| ")] == ["operator", "---", "REDUCE"]
    assert "- 12 other operators: nothing failed" in text


def test_failures_that_rounded_inputs_explain_are_counted(folder: Path) -> None:
    results = [failed(consistent="TF32"), failed(), failed(consistent="BFLOAT16")]
    lines = summary(folder / "summary.md", results).split("\n")
    assert "- 1 failure is consistent with TF32 inputs: &#96;--input-precision tf32&#96; allows that" in lines
    assert "- 1 failure is consistent with BFLOAT16 inputs: &#96;--input-precision bfloat16&#96; allows that" in lines


def test_of_many_failures_fifty_are_shown(folder: Path) -> None:
    text = summary(folder / "summary.md", [failed(f"case {number}") for number in range(53)])
    assert text.count("<details>") == 50
    assert "case 49<" in text
    assert "case 50" not in text
    assert text.endswith("\n3 more failures: see the log.\n")


@pytest.mark.slow
@pytest.mark.parametrize("before", range(44_000, 60_000, 900))
def test_a_summary_is_never_larger_than_github_takes(folder: Path, before: int) -> None:
    path = folder / "summary.md"
    path.write_text("x" * (MOST_BYTES - before), encoding="utf-8")
    short, long = (Diagnostic("timeout", "é" * length) for length in (50, 100_000))
    lines: list[str] = []
    results = [
        CaseResult(
            case(str(number), operator=f"OPERATOR_{number}"), "failed", diagnostics=(long if number < 6 else short,)
        )
        for number in range(60)
    ]
    report(GithubReport(lines.append, str(path), INFO), results)
    assert MOST_BYTES - 10_000 < path.stat().st_size <= MOST_BYTES
    text = path.read_text(encoding="utf-8")
    shown = text.count("<details>")
    assert 0 < shown == text.count("</details>") < 50
    assert text.endswith(f"\n{60 - shown} more failures: see the log.\n")


def test_a_full_summary_is_left_as_it_is(folder: Path) -> None:
    path = folder / "summary.md"
    path.write_text("x" * (MOST_BYTES - 50), encoding="utf-8")
    lines: list[str] = []
    report(GithubReport(lines.append, str(path), INFO), [failed()])
    assert path.stat().st_size == MOST_BYTES - 50
    assert lines[-1].startswith(f"dmlcheck: no job summary: {path}: full")


def test_names_cannot_leave_their_place_in_the_summary(folder: Path) -> None:
    odd = "x|y`z```\n\n</details>\n```\n<script>"
    result = CaseResult(case(odd, operator=odd), "failed", odd, (Diagnostic(odd, odd),))
    skipped = CaseResult(case(odd, operator=odd), "skipped", odd)
    text = summary(folder / "summary.md", [result, skipped])
    head, fence, rest = text.partition("\n````text\n")
    assert fence
    block, _, tail = rest.partition("\n````\n")
    assert visible(odd) in block
    assert tail == "\n</details>\n"
    assert "<script>" not in head
    assert "`" not in head
    (row,) = [line for line in head.split("\n") if "x&#124;y" in line and line.startswith("|")]
    assert row.count("|") == head.split("\n")[4].count("|")


@pytest.mark.slow
def test_many_failures_take_little_memory(folder: Path) -> None:
    GithubReport(lambda _: None, str(folder / "first.md"), INFO).case(failed("first"))  # loads what a failure needs
    tracemalloc.start()
    reporter = GithubReport(lambda _: None, str(folder / "summary.md"), INFO)
    for index in range(10_000):
        reporter.case(failed(f"case {index}", diagnostics=(MISMATCH._replace(message="x" * 2000),)))
    reporter.finish(summary_of([]))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2_000_000
