"""`merge` on the command line: shards written together again, and how it ends."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commandline import DESC, GOOD, dmlcheck, json_of, many, write
from results import failed, summary_of

from dmlcheck.cli.merge import WholeRun, whole_run
from dmlcheck.reference.limits.precision import Precision
from dmlcheck.reports.accuracy import Compared
from dmlcheck.reports.json import JsonReport
from dmlcheck.reports.reading import ReportError
from dmlcheck.reports.records import Earlier, RunInfo
from dmlcheck.running.events import digest, digest_of
from dmlcheck.running.results import CaseResult
from dmlcheck.running.settings import Settings


def shards(text: str) -> list[str]:
    """Run a file in two shards and return their reports."""
    write("a.yaml", text)
    names = ["1.json", "2.json"]
    for number, name in enumerate(names, 1):
        dmlcheck("run", "a.yaml", "--shard", f"{number}/2", "--json", name)
    return names


@pytest.mark.parametrize(
    ("text", "code", "last"),
    [(many(6), 0, "6 passed in "), (many(6).replace("[6]}}", "[7]}}", 1), 1, "5 passed, 1 failed in ")],
)
def test_merged_shards_end_as_the_whole_run_does(text: str, code: int, last: str) -> None:
    result = dmlcheck("merge", *shards(text), "--json", "all.json")
    assert (result.exit_code, dmlcheck("run", "a.yaml").exit_code) == (code, code)
    assert result.stdout.splitlines()[-1].startswith(last)
    assert json_of("all.json")["summary"]["total"] == 6


def test_shards_of_nothing_are_nothing_collected() -> None:
    assert dmlcheck("merge", *shards("cases: []\n")).exit_code == 5


def test_shards_that_skip_every_case_have_checked_nothing() -> None:
    without_outputs = many(6).replace(", outputs: {OutputTensor: [6]}", "")
    assert dmlcheck("merge", *shards(without_outputs)).exit_code == 5


def test_a_report_does_not_take_the_place_of_a_shard() -> None:
    names = shards(many(2))
    before = Path(names[0]).read_text(encoding="utf-8")
    assert dmlcheck("merge", *names, "--json", names[0]).exit_code == 2
    assert Path(names[0]).read_text(encoding="utf-8") == before


def test_what_is_no_shard_is_wrong_usage() -> None:
    write("a.yaml", GOOD)
    dmlcheck("run", "a.yaml", "--json", "r.json")
    result = dmlcheck("merge", "r.json")
    assert (result.exit_code, "r.json: not a shard of a run; run with --shard I/N" in result.stderr) == (2, True)


@pytest.mark.parametrize(("word", "ids"), [("-v", 3), ("-q", 0)])
def test_as_much_is_printed_as_of_a_run(word: str, ids: int) -> None:
    lines = dmlcheck("merge", *shards(many(3)), word).stdout.splitlines()
    assert len([line for line in lines if line.startswith("PASSED a.yaml::c")]) == ids
    assert any(line.startswith("operator") for line in lines) is (word == "-v")


DESCS = (
    DESC
    + """\
cases:
- {name: plain}
- {name: axis, desc: {Axes: [1]}, invalid: [axis-out-of-range]}
- {name: sum, inputs: {InputTensor: [1, 2, 3]}, outputs: {OutputTensor: [6]}}
"""
)


@pytest.mark.slow
def test_the_whole_run_of_an_implementation_counts_what_it_computed() -> None:
    write("a.yaml", DESCS)
    misbehaving = ["--implementation", "python:misbehaving:Misbehaving"]
    for number in (1, 2):
        dmlcheck("run", "a.yaml", *misbehaving, "--shard", f"{number}/2", "--json", f"{number}.json")
    result = dmlcheck("merge", "1.json", "2.json", "--json", "all.json")
    assert (result.exit_code, result.stdout.splitlines()[-1].partition(" in ")[0]) == (0, "1 passed, 2 descs checked")
    summary = json_of("all.json")["summary"]
    assert (summary["passed"], summary["computed"], summary["legal"]) == (3, 1, 1)


@pytest.mark.slow
def test_the_whole_run_of_an_implementation_that_computed_nothing_has_checked_nothing() -> None:
    write("a.yaml", DESCS)
    misbehaving = ["--implementation", "python:misbehaving:Misbehaving", "-k", "not sum"]
    for number in (1, 2):
        dmlcheck("run", "a.yaml", *misbehaving, "--shard", f"{number}/2", "--json", f"{number}.json")
    result = dmlcheck("merge", "1.json", "2.json")
    told = "dmlcheck: nothing was checked: the implementation computed nothing; 2 descs checked without it\n"
    assert (result.exit_code, result.stderr) == (5, told)


# ---- the shards of one run put together


pytestmark = pytest.mark.usefixtures("folder")

INFO = RunInfo(
    "onnxruntime",
    Settings("4_1", Precision("FLOAT16"), directml_version="1.8.0"),
    version="1.2",
    device="CPU",
    warn_above=0.5,
    compared_to=Earlier("old.json", "1.1", 2.0, "onnxruntime"),
)
Change = Callable[[dict[str, Any]], Any]


def shard(number: int, of: int, *results: CaseResult, seconds: float = 1.0) -> str:
    """Write the report of a shard and return its name."""
    path = f"{number}-{of}.json"
    reporter = JsonReport(path, INFO._replace(shard=(number, of)))
    for result in results:
        reporter.case(result)
    summary = summary_of(results)
    reporter.finish(summary._replace(digest="d", seconds=seconds, compared=Compared(len(results), number)))
    return path


def settled(names: list[str]) -> None:
    """Write into reports the digest of the cases that they hold together."""
    reports = {name: json_of(name) for name in names}
    whole = digest_of([digest(case["id"] for case in report["cases"]) for report in reports.values()])
    for name, report in reports.items():
        Path(name).write_text(json.dumps({**report, "digest": whole}), encoding="utf-8")


def merged(names: list[str]) -> WholeRun:
    settled(names)
    return whole_run(names)


def numbered(name: str, ordinal: int, **fields: Any) -> CaseResult:
    return failed(name, **fields)._replace(ordinal=ordinal)


def test_the_whole_is_what_one_run_would_have_been() -> None:
    second = shard(2, 2, numbered("b", 1), numbered("d", 3), seconds=2.0)
    first = shard(1, 2, numbered("a", 0, outcome="passed"), numbered("c", 2))
    whole = merged([second, first])
    assert [result.case.name for result in whole.results] == ["a", "b", "c", "d"]
    assert whole.info == INFO
    assert (whole.summary.counts["failed"], whole.summary.counts["passed"], whole.summary.seconds) == (3, 1, 3.0)
    assert whole.summary.compared == Compared(4, 3)
    assert not whole.summary.interrupted


def test_shards_of_different_versions_and_devices_are_told_with_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    first = shard(1, 2, numbered("a", 0))
    monkeypatch.setitem(globals(), "INFO", INFO._replace(version="1.3", device="GPU 0"))
    assert merged([first, shard(2, 2, numbered("b", 1))]).info[3:5] == ("1.2 and 1.3", "CPU and GPU 0")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda report: report.pop("shard"), "2-2.json: not a shard of a run; run with --shard I/N"),
        (lambda report: report["shard"].update(index="2"), "2-2.json: not a shard of a run"),
        (lambda report: report.update(digest=None), "2-2.json: a run that did not get to its end"),
        (lambda report: report.update(digest="e"), "2-2.json: a shard of another case set than 1-2.json"),
        (lambda report: report["shard"].update(count=3), "2-2.json: one of 3 shards, and 1-2.json one of 2"),
        (lambda report: report["shard"].update(index=1), "2-2.json: shard 1 again, as 1-2.json"),
        (lambda report: report["shard"].update(index=3), "2-2.json: not a shard of a run; run with --shard I/N"),
        (lambda report: report.update(feature_level="5_0"), "2-2.json: another feature level than 1-2.json: 5_0, 4_1"),
        (
            lambda report: report.update(feature_level="5" * 10_000),
            "2-2.json: another feature level than 1-2.json: " + "5" * 157 + "..., 4_1",
        ),
        (
            lambda report: report.update(compared_to={"file": "a\nb", "is_strict": True}),
            "2-2.json: another --compare-to than 1-2.json: {file: a\\nb, is_strict: true}, {file: old.json, ",
        ),
        (lambda report: report.update(warn_above=1.0), "another --warn-above than 1-2.json"),
        (lambda report: report["cases"][0].update(ordinal="x"), "2-2.json: its cases are not as `dmlcheck run` writes"),
        (lambda report: report["cases"][0].update(seconds="x"), "not a case as `dmlcheck run` reports it"),
        (lambda report: report["summary"].update(seconds="x"), "2-2.json: its end is not as `dmlcheck run` writes it"),
        (
            lambda report: report["cases"].clear(),
            "2-2.json: its summary says total: 1, and its cases 0; it is not as `dmlcheck run` wrote it",
        ),
        (
            lambda report: report["cases"][0].update(outcome="passed"),
            "2-2.json: its summary says passed: 0, and its cases 1; it is not as",
        ),
        (
            lambda report: (report["cases"].clear(), report["summary"].update(total=0, failed=0)),
            "1-2.json, 2-2.json: not the cases of the run: their ids do not add up to its digest",
        ),
        (lambda report: report["cases"][0].update(id="x"), "their ids do not add up to its digest"),
        (lambda report: report["cases"][0].update(id="a.yaml::a"), "their ids do not add up to its digest"),
        (lambda report: report.pop("summary"), "2-2.json: its summary is not as `dmlcheck run` writes it"),
        (lambda report: report.update(interrupted=True), "2-2.json: a run that did not get to its end"),
        (lambda report: report.update(not_run=1), "2-2.json: a run that did not get to its end"),
        (lambda report: report.update(compared={"more": 1}), "2-2.json: its end is not as `dmlcheck run` writes it"),
    ],
)
def test_shards_that_are_not_one_run_are_refused(change: Change, words: str) -> None:
    names = [shard(1, 2, numbered("a", 0)), shard(2, 2, numbered("b", 1))]
    settled(names)
    spoilt = json_of(names[1])
    change(spoilt)
    Path(names[1]).write_text(json.dumps(spoilt), encoding="utf-8")
    with pytest.raises(ReportError) as refused:
        whole_run(names)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    "change",
    [
        {"feature_level": 4},
        {"warn_above": "x"},
        {"accumulate": 16},
        {"inputs": 32},
        {"implementation_version": 1},
        {"compared_to": {"file": 3}},
        {"compared_to": {"file": "a", "more": 1}},
        {"compared_to": "a"},
    ],
)
def test_a_head_that_somebody_changed_is_refused(change: dict[str, Any]) -> None:
    name = shard(1, 1, numbered("a", 0))
    spoilt = json_of(name)
    Path(name).write_text(json.dumps({**spoilt, **change}), encoding="utf-8")
    with pytest.raises(ReportError, match=r"1-1\.json: its head is not as `dmlcheck run` writes it"):
        merged([name])


def test_of_very_many_missing_shards_the_first_are_named() -> None:
    path = shard(2, 9_000_000_000_000_000_000, numbered("a", 0))
    with pytest.raises(ReportError) as refused:
        merged([path])
    named = ", ".join(map(str, [1, *range(3, 22)]))
    assert str(refused.value) == (f"shard {named} and 8,999,999,999,999,999,979 more of 9000000000000000000 is missing")
