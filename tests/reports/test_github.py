"""What a GitHub workflow shows: its commands read as the runner reads them, and the job summary."""

from __future__ import annotations

import re
import tracemalloc
from pathlib import Path

import pytest
from commandline import dmlcheck
from results import MISMATCH, case, every_outcome, failed, report, summary_of

from dmlcheck import __version__
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.diagnostics.wording import visible
from dmlcheck.reports.github import MOST_BYTES, GithubReport, annotate
from dmlcheck.reports.records import RunInfo
from dmlcheck.running.legality import Validated
from dmlcheck.running.results import CaseResult

FILES = Path(__file__).parent.parent / "snapshots" / "files"

INFO = RunInfo("onnxruntime", version="1.31.1", device="GPU *0*")


pytestmark = pytest.mark.usefixtures("folder")


def command(line: str) -> tuple[str, dict[str, str], str]:
    """Return the kind, the properties and the message of a workflow command, as the runner reads it."""
    assert "\n" not in line
    assert "\r" not in line
    found = re.fullmatch(r"::(\w+) (.*?)::(.*)", line)
    assert found, line
    properties = {}
    for part in found[2].split(","):
        key, _, value = part.partition("=")
        for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
            value = value.replace(code, character)
        properties[key] = value
    message = found[3]
    for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        message = message.replace(code, character)
    return found[1], properties, message


def printed(results: list[CaseResult]) -> list[str]:
    lines: list[str] = []
    report(GithubReport(lines.append, None, INFO), results)
    return lines


# ---- annotations


def test_no_name_or_message_is_printed_as_it_is() -> None:
    lines: list[str] = []
    wrong = Diagnostic("onnx-syntax", "a\x1b[31mb\u202ec\nd\x07", file="m.onnx")
    annotate([Validated("m.onnx", "n\x1b\u202e", None, None, None, (wrong,), is_plain=False)], lines.append)
    (line,) = lines
    assert line == r"::error file=m.onnx,title=onnx-syntax%3A n\x1b\u202e::a\x1b[31mb\u202ec%0Ad\x07"


def test_an_annotation_has_the_place_and_the_message() -> None:
    (line,) = printed([failed()])
    assert line == (
        "::error file=cases/sum.yaml,line=10,col=29,endColumn=31,title=output-mismatch%3A sum"
        "::OutputTensor FLOAT32 {1}: 1 of 1 element is outside the tolerance"
    )


def test_a_long_message_is_cut() -> None:
    (line,) = printed([failed("y" * 1000, diagnostics=(MISMATCH._replace(message="x" * 100_000),))])
    _, properties, message = command(line)
    assert (len(properties["title"]), len(message)) == (255, 4000)


@pytest.mark.parametrize("odd", ["a,b:c=d", "100%", "%25%0A", "a\nb\r\nc", "x::y", "日本語"])
def test_texts_are_escaped(odd: str) -> None:
    found = MISMATCH._replace(file=f"{odd}.yaml", message=odd)
    kind, properties, message = command(printed([failed(odd, diagnostics=(found,))])[0])
    assert (kind, message) == ("error", odd)
    assert properties == {
        "file": f"{odd}.yaml",
        "line": "10",
        "col": "29",
        "endColumn": "31",
        "title": f"output-mismatch: {odd}",
    }


def test_ten_of_each_kind_are_printed_and_the_others_counted() -> None:
    kinds = {"error": 12, "warning": 10, "note": 11}
    found = tuple(
        MISMATCH._replace(severity=severity, line=number)
        for severity, count in kinds.items()
        for number in range(1, count + 1)
    )
    *lines, last = printed([failed(diagnostics=found[:5]), failed(diagnostics=found[5:])])
    read = [command(line) for line in lines]
    assert [(kind, int(properties["line"])) for kind, properties, _ in read] == [
        (kind, number) for kind in ("error", "warning", "notice") for number in range(1, 11)
    ]
    assert last == "dmlcheck: 2 more errors, 1 more notice; GitHub shows 10 of each kind for a step"


def test_in_a_workflow_paths_start_at_the_root_of_the_repository(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "tests").mkdir()
    monkeypatch.chdir(folder / "tests")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(folder))
    _, properties, _ = command(printed([failed()])[0])
    assert properties["file"] == "tests/cases/sum.yaml"


def test_of_many_descs_ten_are_annotated() -> None:
    descs = [Validated("a.yaml", str(number), "ARGMAX", "6_4", None, (MISMATCH,)) for number in range(13)]
    lines: list[str] = []
    annotate(iter(descs), lines.append)
    assert len(lines) == 11
    assert "3 more errors" in lines[-1]


# ---- a run in a workflow


def test_a_run_in_a_workflow_annotates_and_sums_up(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "summary.md"))
    path = (FILES / "case.yaml").as_posix()
    output = dmlcheck("run", path).stdout
    found = [command(line)[1] for line in output.split("\n") if line.startswith("::error")]
    places = [f"  {at['file']}:{at['line']}:{at['col']}: error[{at['title'].split(':')[0]}]" for at in found]
    assert places == re.findall(r"^  \S+:\d+:\d+: error\[[a-z-]+\]", output, re.MULTILINE)
    assert places
    text = (folder / "summary.md").read_text(encoding="utf-8")
    assert text.startswith(f"## dmlcheck: {output.rstrip().splitlines()[-1].rpartition(' in ')[0]}\n")


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
