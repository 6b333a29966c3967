"""What a GitHub workflow shows: its commands read as the runner reads them, and the job summary."""

from __future__ import annotations

import re
import tracemalloc
from pathlib import Path

import pytest
from click.testing import CliRunner
from results import MISMATCH, case, every_outcome, failed, report, summary_of

from dmlcheck.cli import main
from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.reports.github import GithubReport, annotate
from dmlcheck.reports.job_summary import MOST_BYTES, markdown
from dmlcheck.running.legality import Validated
from dmlcheck.running.results import CaseResult

FILES = Path(__file__).parent.parent / "snapshots" / "files"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run every test in an empty folder, outside any workflow."""
    for name in ("GITHUB_WORKSPACE", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


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
    report(GithubReport(lines.append, None), results)
    return lines


def summary(path: Path, results: list[CaseResult], *, interrupted: bool = False) -> str:
    lines: list[str] = []
    report(GithubReport(lines.append, str(path)), results, interrupted=interrupted)
    assert not any("summary" in line for line in lines)
    return path.read_text(encoding="utf-8")


# ---- annotations


def test_an_annotation_has_the_place_and_the_message() -> None:
    (line,) = printed([failed()])
    assert line == (
        "::error file=cases/sum.yaml,line=10,col=29,endColumn=31,title=output-mismatch%3A sum"
        "::OutputTensor FLOAT32 {1}: 1 of 1 element is outside the tolerance"
    )


def test_an_annotation_says_all() -> None:
    found = MISMATCH._replace(constraint="REDUCE/C2", note="all axes", help="write [0]")
    _, _, message = command(printed([failed(diagnostics=(found,))])[0])
    assert message == f"{MISMATCH.message} (REDUCE/C2)\nall axes\nhelp: write [0]"


def test_a_long_message_is_cut() -> None:
    (line,) = printed([failed("y" * 1000, diagnostics=(MISMATCH._replace(message="x" * 100_000),))])
    _, properties, message = command(line)
    assert (len(properties["title"]), len(message)) == (255, 4000)


def test_what_is_expected_is_not_annotated() -> None:
    found = [command(line) for line in printed(every_outcome())]
    assert [(kind, properties["title"], properties["line"]) for kind, properties, _ in found] == [
        ("error", "output-mismatch: failed", "10"),
        ("error", "field-type: error", "4"),
        ("error", "xpassed: xpassed", "8"),
    ]


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


def test_a_problem_without_a_place_is_annotated_at_its_case() -> None:
    _, properties, _ = command(printed([failed(diagnostics=(Diagnostic("timeout", "slow"),))])[0])
    assert properties == {"file": "cases/sum.yaml", "line": "8", "title": "timeout: sum"}


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


def test_ten_errors_are_all_there_are() -> None:
    assert len(printed([failed(str(number)) for number in range(10)])) == 10


def test_an_annotation_comes_with_its_case() -> None:
    lines: list[str] = []
    reporter = GithubReport(lines.append, None)
    reporter.case(failed())
    assert len(lines) == 1


def test_in_a_workflow_paths_start_at_the_root_of_the_repository(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "tests").mkdir()
    monkeypatch.chdir(folder / "tests")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(folder))
    _, properties, _ = command(printed([failed()])[0])
    assert properties["file"] == "tests/cases/sum.yaml"


def validation(*paths: str) -> list[str]:
    """Return the lines that `validate` prints for files."""
    words = ["validate", *paths, "--format", "github"]
    return CliRunner().invoke(main, words, catch_exceptions=False).stdout.splitlines()


def test_descs_are_annotated_where_the_text_report_shows_them() -> None:
    path = (FILES / "bad.yaml").as_posix()
    found = [command(line) for line in validation(path)]
    places = [f"{at['file']}:{at['line']}:{at['col']}: {kind}[{at['title'].split(':')[0]}]" for kind, at, _ in found]
    text = CliRunner().invoke(main, ["validate", path]).stdout
    assert places == [line.partition("]: ")[0] + "]" for line in text.split("\n") if line.startswith(path)]
    assert len(places) > 1


def test_notes_of_descs_are_notices_and_listed_problems_nothing(folder: Path) -> None:
    (folder / "model.json").write_text(RULES["not-directml"].wrong, encoding="utf-8")
    wrong = RULES["axis-out-of-range"].wrong
    (folder / "negative.yaml").write_text(wrong + "invalid: [axis-out-of-range]\n", encoding="utf-8")
    lines = validation("model.json", "negative.yaml")
    assert [(kind, at["file"]) for kind, at, _ in map(command, lines)] == [("notice", "model.json")]


def test_of_many_descs_ten_are_annotated() -> None:
    descs = [Validated("a.yaml", str(number), "ARGMAX", "6_4", None, (MISMATCH,)) for number in range(13)]
    lines: list[str] = []
    annotate(iter(descs), lines.append)
    assert len(lines) == 11
    assert "3 more errors" in lines[-1]


# ---- the job summary


def test_the_summary_has_the_totals_the_table_and_the_failures(folder: Path) -> None:
    text = summary(folder / "summary.md", every_outcome())
    lines = text.split("\n")
    assert lines[0] == "## dmlcheck: 1 passed, 1 failed, 1 error, 1 skipped, 1 xfailed, 1 xpassed"
    assert lines[2:5] == [
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


def test_an_interrupted_run_says_so(folder: Path) -> None:
    assert summary(folder / "summary.md", [], interrupted=True) == "## dmlcheck: interrupted after nothing ran\n\n\n"


def test_the_summary_is_appended(folder: Path) -> None:
    path = folder / "summary.md"
    path.write_text("# of another command", encoding="utf-8")
    assert summary(path, [failed()]).startswith("# of another command\n## dmlcheck: 1 failed\n")


def test_of_many_failures_fifty_are_shown(folder: Path) -> None:
    text = summary(folder / "summary.md", [failed(f"case {number}") for number in range(53)])
    assert text.count("<details>") == 50
    assert "case 49<" in text
    assert "case 50" not in text
    assert text.endswith("\n3 more failures: see the log.\n")


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
    report(GithubReport(lines.append, str(path)), results)
    assert MOST_BYTES - 10_000 < path.stat().st_size <= MOST_BYTES
    text = path.read_text(encoding="utf-8")
    shown = text.count("<details>")
    assert 0 < shown == text.count("</details>") < 50
    assert text.endswith(f"\n{60 - shown} more failures: see the log.\n")


def test_a_full_summary_is_left_as_it_is(folder: Path) -> None:
    path = folder / "summary.md"
    path.write_text("x" * (MOST_BYTES - 50), encoding="utf-8")
    lines: list[str] = []
    report(GithubReport(lines.append, str(path)), [failed()])
    assert path.stat().st_size == MOST_BYTES - 50
    assert lines[-1].startswith(f"dmlcheck: no job summary: {path}: full")


def test_a_summary_that_cannot_be_written_is_said(folder: Path) -> None:
    lines: list[str] = []
    report(GithubReport(lines.append, str(folder / "nowhere" / "summary.md")), [failed()])
    assert lines[1:] == [f"dmlcheck: no job summary: {folder}/nowhere/summary.md: No such file or directory"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("cases/a_b.yaml::columns[DataType=FLOAT32,Axis=0]", "cases/a_b.yaml::columns[DataType=FLOAT32,Axis=0]"),
        ("a|b`c", "a&#124;b&#96;c"),
        ("_a_ *b* <i> &amp; \\", "&#95;a&#95; &#42;b&#42; &#60;i&#62; &#38;amp; &#92;"),
        ("[a](http://b)", "[a]&#40;http://b)"),
        ("a\n\nb\tc\x00", "a b c\ufffd"),
    ],
)
def test_markdown_shows_a_text_as_it_is(text: str, shown: str) -> None:
    assert markdown(text) == shown


def test_names_cannot_leave_their_place_in_the_summary(folder: Path) -> None:
    odd = "x|y`z```\n\n</details>\n```\n<script>"
    result = CaseResult(case(odd, operator=odd), "failed", odd, (Diagnostic(odd, odd),))
    skipped = CaseResult(case(odd, operator=odd), "skipped", odd)
    text = summary(folder / "summary.md", [result, skipped])
    head, fence, rest = text.partition("\n````text\n")
    assert fence
    block, _, tail = rest.partition("\n````\n")
    assert odd in block
    assert tail == "\n</details>\n"
    assert "<script>" not in head
    assert "`" not in head
    (row,) = [line for line in head.split("\n") if "x&#124;y" in line and line.startswith("|")]
    assert row.count("|") == head.split("\n")[2].count("|")


def test_many_failures_take_little_memory(folder: Path) -> None:
    tracemalloc.start()
    reporter = GithubReport(lambda _: None, str(folder / "summary.md"))
    for index in range(10_000):
        reporter.case(failed(f"case {index}", diagnostics=(MISMATCH._replace(message="x" * 2000),)))
    reporter.finish(summary_of([]))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2_000_000


def test_a_run_in_a_workflow_annotates_and_sums_up(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "summary.md"))
    path = (FILES / "case.yaml").as_posix()
    output = CliRunner().invoke(main, ["run", path], catch_exceptions=False).stdout
    found = [command(line)[1] for line in output.split("\n") if line.startswith("::error")]
    places = [f"  {at['file']}:{at['line']}:{at['col']}: error[{at['title'].split(':')[0]}]" for at in found]
    assert places == re.findall(r"^  \S+:\d+:\d+: error\[[a-z-]+\]", output, re.MULTILINE)
    assert places
    text = (folder / "summary.md").read_text(encoding="utf-8")
    assert text.startswith(f"## dmlcheck: {output.rstrip().splitlines()[-1].rpartition(' in ')[0]}\n")
