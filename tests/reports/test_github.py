"""What a GitHub workflow shows: its commands read as the runner reads them, and the job summary."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from commandline import dmlcheck
from results import MISMATCH, failed, report

from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.reports.github import GithubReport, annotate
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
