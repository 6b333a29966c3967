"""Which reports a command writes, and where it may not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from commandline import GOOD, WRONG, dmlcheck, json_of, write
from results import case, failed

from dmlcheck.cli import main
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.cli.reporters import finish
from dmlcheck.files.yaml import parse
from dmlcheck.formats.find import Target
from dmlcheck.reports.accuracy import Baseline, Watch
from dmlcheck.reports.outcome import Outcome
from dmlcheck.reports.records import Summary, has_drifted
from dmlcheck.running.events import Done, Ended, NotRun
from dmlcheck.running.expectations import Expectations, read_expectations
from dmlcheck.running.results import FOR_IMPLEMENTATIONS, CaseResult

KINDS = ["json", "junitxml", "html", "sarif"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
@pytest.mark.parametrize("kind", KINDS)
def test_a_report_goes_through_no_link(folder: Path, kind: str) -> None:
    write("a.yaml", GOOD)
    write("mine", "")
    (folder / "link").symlink_to("mine")
    result = dmlcheck("run", "a.yaml", f"--{kind}", "link")
    assert (result.exit_code, "link: is a link; name the file that it leads to" in result.stderr) == (2, True)
    assert ((folder / "link").is_symlink(), (folder / "mine").read_text("utf-8")) == (True, "")


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_takes_the_place_of_an_earlier_one_and_of_no_other_file(folder: Path, kind: str) -> None:
    write("a.yaml", WRONG)
    for code in (1, 1):
        assert dmlcheck("run", "a.yaml", f"--{kind}", "report").exit_code == code
    for number, other in enumerate(other for other in KINDS if other != kind):
        dmlcheck("run", "a.yaml", f"--{other}", f"other{number}")
    write("other3", '{"mine": 1}')
    write("other4", "<p>mine</p>")
    write("other5", GOOD)
    write("other6", "\0")
    for number in range(7):
        before = (folder / f"other{number}").read_bytes()
        result = dmlcheck("run", "a.yaml", f"--{kind}", f"other{number}")
        assert (result.exit_code, "is no earlier report of this kind; remove it" in result.stderr) == (2, True)
        assert (folder / f"other{number}").read_bytes() == before


def test_an_empty_file_and_the_null_device_take_a_report() -> None:
    write("a.yaml", GOOD)
    write("r.json", "")
    result = dmlcheck("run", "a.yaml", "--json", "r.json", "--html", os.devnull, "--sarif", os.devnull)
    assert result.exit_code == 0
    assert json_of("r.json")["summary"]["passed"] == 1


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="named pipes are other things there")
def test_a_report_may_go_into_a_pipe(folder: Path) -> None:
    write("a.yaml", GOOD)
    os.mkfifo(folder / "pipe")
    with subprocess.Popen([sys.executable, "-m", "dmlcheck", "run", "a.yaml", "--json", "pipe"]) as process:
        report = json_of(folder / "pipe")
        assert process.wait(timeout=60) == 0
    assert report["summary"]["passed"] == 1
    assert (folder / "pipe").is_fifo()


@pytest.mark.parametrize("path", ["", ".", "missing/report.json"])
def test_a_report_that_cannot_be_written_is_refused_before_the_run(path: str) -> None:
    write("a.yaml", GOOD)
    result = dmlcheck("run", "a.yaml", "--json", path)
    assert result.exit_code == 2
    assert "passed" not in result.stdout
    assert "--json" in result.stderr


@pytest.mark.parametrize(
    "words", [["--json", "a.yaml"], ["--json", "x", "--junitxml", "x"], ["--sarif", "x", "--html", "./x"]]
)
def test_a_report_takes_the_place_of_nothing_that_is_needed(words: list[str]) -> None:
    write("a.yaml", GOOD)
    result = dmlcheck("run", "a.yaml", *words)
    assert result.exit_code == 2
    assert Path("a.yaml").read_text(encoding="utf-8") == GOOD


@pytest.mark.parametrize("actions", ["", "true"])
@pytest.mark.parametrize(
    ("form", "begins"),
    [
        ("concise", ["wrong.yaml:", "1 failed in "]),
        ("github", ["::error file=wrong.yaml,line=", "1 failed in "]),
    ],
)
def test_a_run_prints_in_the_form_that_is_asked_for(
    form: str, begins: list[str], actions: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", actions)
    write("wrong.yaml", WRONG)
    result = dmlcheck("run", "wrong.yaml", "--format", form)
    lines = [line for line in result.stdout.splitlines() if form == "github" or not line.startswith("::")]
    assert (result.exit_code, len(lines)) == (1, 2)
    assert [line.startswith(start) for line, start in zip(lines, begins, strict=True)] == [True, True]
    assert "output-mismatch" in lines[0]


def test_one_of_its_formats_is_asked_for() -> None:
    result = dmlcheck("run", "--format", "xml")
    assert (result.exit_code, "'full', 'concise', 'github'" in result.stderr) == (2, True)


@pytest.mark.slow
def test_long_words_about_a_case_are_cut_in_every_report(folder: Path) -> None:
    """A megabyte in each of 20 cases, which fail."""
    text = "s" * 1_000_000
    cases = "".join(f"- {{name: c{index}}}\n" for index in range(20))
    write("a.yaml", WRONG + f"source: {text}\ntolerance: {{absolute: 0.5, reason: {text}}}\ncases:\n{cases}")
    result = dmlcheck("run", "a.yaml", *(word for kind in KINDS for word in (f"--{kind}", f"r.{kind}")))
    assert result.exit_code == 1
    for written in (result.output, *((folder / f"r.{kind}").read_text("utf-8") for kind in KINDS)):
        assert "s" * 1000 not in written
        assert len(written) < 250_000


class Listening:
    """A reporter that keeps what it is told."""

    def __init__(self) -> None:
        self.results: list[CaseResult] = []
        self.summary: Summary | None = None

    def case(self, result: CaseResult) -> None:
        self.results.append(result)

    def finish(self, summary: Summary) -> None:
        self.summary = summary


def passed(name: str = "sum") -> CaseResult:
    return CaseResult(case(name), "passed")


def ended(*results: CaseResult, **terms: Any) -> tuple[Exit, Listening, Outcome]:
    """Return how a run with some results ends, and what a reporter is told of it."""
    reporter = Listening()
    known: dict[str, Any] = {"watch": Watch(), "known": None, "max_failures": None, "is_shard": False}
    outcome = Outcome([reporter], **{**known, **terms})
    for result in results:
        outcome.take(Done(result))
        if outcome.is_over:
            break
    outcome.take(Ended(b"a file"))
    with click.Context(main):
        return finish(outcome, lambda *_: ()), reporter, outcome


def expectations(text: str) -> Expectations:
    import datetime as dt

    return read_expectations(parse(text.encode(), "known.yaml"), "reference", None, dt.date.min)


@pytest.mark.parametrize(
    ("results", "code"),
    [
        ([], Exit.NOTHING_CHECKED),
        ([passed()], Exit.GOOD),
        ([passed(), failed()], Exit.FAILED),
        ([CaseResult(case(), "error")], Exit.FAILED),
        ([CaseResult(case(), "xpassed")], Exit.FAILED),
        ([CaseResult(case(), "xfailed")], Exit.GOOD),
        ([CaseResult(case(), "skipped")] * 2, Exit.NOTHING_CHECKED),
        ([CaseResult(case(), "skipped"), passed()], Exit.GOOD),
        ([CaseResult(case(), "skipped"), failed()], Exit.FAILED),
        ([failed(), CaseResult(case(), "error", is_malformed=True)], Exit.WRONG_INPUT),
    ],
)
def test_the_exit_code_is_that_of_the_worst(results: list[CaseResult], code: Exit) -> None:
    assert ended(*results)[0] == code


UNRUN = CaseResult(case(), "passed", is_unrun=True)


@pytest.mark.parametrize(
    ("results", "code", "words"),
    [
        ([UNRUN, UNRUN], Exit.NOTHING_CHECKED, "the implementation computed nothing; 2 descs checked without it"),
        ([UNRUN, CaseResult(case(), "skipped")], Exit.NOTHING_CHECKED, "computed nothing; 1 desc checked without it"),
        ([CaseResult(case(), "skipped")], Exit.NOTHING_CHECKED, "every case was skipped"),
        ([UNRUN, passed()], Exit.GOOD, ""),
        ([UNRUN, CaseResult(case(), "xfailed")], Exit.GOOD, ""),
        ([UNRUN, failed()], Exit.FAILED, ""),
        ([CaseResult(case(), "error")], Exit.FAILED, ""),
        ([UNRUN._replace(outcome="failed")], Exit.FAILED, ""),
    ],
)
def test_another_implementation_than_the_reference_has_to_have_a_part_in_its_run(
    results: list[CaseResult], code: Exit, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(*results, is_of_reference=False)[0] == code
    told = capsys.readouterr().err
    assert words in told
    assert bool(words) == bool(told)


def test_descs_alone_are_a_run_of_the_reference() -> None:
    assert ended(UNRUN)[0] == Exit.GOOD


def test_cases_for_implementations_are_no_failures_and_alone_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    skipped = CaseResult(case(), "skipped", FOR_IMPLEMENTATIONS)
    assert ended(skipped, passed(), fails_skipped=True)[0] == Exit.GOOD
    assert capsys.readouterr().err == ""
    assert ended(skipped, fails_skipped=True)[0] == Exit.NOTHING_CHECKED
    words = "every case is for implementations; choose one with --implementation NAME"
    assert capsys.readouterr().err == f"dmlcheck: nothing was checked: {words}\n"
    assert ended(CaseResult(case(), "skipped", "no kernel"), fails_skipped=True)[0] == Exit.FAILED


def test_so_many_failures_end_a_run_which_then_is_not_whole() -> None:
    code, reporter, outcome = ended(passed(), failed("a"), failed("b"), failed("c"), max_failures=2, total=lambda: 10)
    assert (code, len(reporter.results), outcome.is_whole) == (Exit.FAILED, 3, False)
    assert reporter.summary is not None
    assert (reporter.summary.digest, reporter.summary.not_run) == (None, 7)


def test_what_is_known_is_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    known = expectations("- {cases: '*::a', expect: failed, reason: known}\n")
    code, reporter, _ = ended(failed("a"), known=known)
    assert (code, reporter.results[0].outcome) == (Exit.GOOD, "xfailed")
    assert capsys.readouterr().err == ""


def test_an_entry_of_no_case_is_wrong_once_the_run_is_whole(capsys: pytest.CaptureFixture[str]) -> None:
    known = expectations("- {cases: '*::gone', expect: failed, reason: known}\n")
    files = [Target("a.yaml", "a.yaml")]
    assert ended(passed(), known=known, files=files)[0] == Exit.WRONG_INPUT
    assert "known.yaml:1:11: error[unmatched-expectation]" in capsys.readouterr().err
    assert ended(failed(), known=known, files=files, max_failures=1)[0] == Exit.FAILED
    assert capsys.readouterr().err == ""


def test_a_report_of_other_cases_is_no_comparison(capsys: pytest.CaptureFixture[str]) -> None:
    right = failed(outcome="passed", diagnostics=())
    assert ended(right, watch=Watch(None, Baseline({"elsewhere": {}})))[0] == Exit.WRONG_INPUT
    assert capsys.readouterr().err.startswith("dmlcheck: --compare-to: the earlier report has none of these cases")
    assert ended(right, watch=Watch(None, Baseline({"elsewhere": {}})), is_shard=True)[0] == Exit.GOOD
    assert ended(right, watch=Watch(None, Baseline({right.case.id: {"OutputTensor": 5.0}})))[0] == Exit.GOOD


def test_a_case_that_drifted_too_far_fails_the_run() -> None:
    right = failed(outcome="passed", diagnostics=())
    watch = Watch(None, Baseline({right.case.id: {"OutputTensor": 1.0}}, max_drift=2.0))
    code, reporter, _ = ended(right, watch=watch)
    assert (code, has_drifted(reporter.results[0])) == (Exit.FAILED, True)


def test_an_interrupted_run_says_so_whatever_failed() -> None:
    reporter = Listening()
    outcome = Outcome([reporter], watch=Watch(), known=None, max_failures=None, is_shard=False)
    outcome.take(Done(failed()))
    outcome.is_interrupted = True
    with click.Context(main):
        assert finish(outcome, lambda *_: ()) == Exit.INTERRUPTED
    assert reporter.summary is not None
    assert (reporter.summary.interrupted, reporter.summary.digest) == (True, None)


def test_an_entry_of_no_case_is_not_wrong_where_single_cases_run(capsys: pytest.CaptureFixture[str]) -> None:
    known = expectations("- {cases: '*::gone', expect: failed, reason: known}\n")
    assert (
        ended(
            passed("a"),
            known=known,
            single={case("a").id: "no a"},
            files=[Target("cases/sum.yaml", "cases/sum.yaml", "a")],
        )[0]
        == Exit.GOOD
    )
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("results", "code"),
    [([], Exit.NOTHING_CHECKED), ([passed("a")], Exit.WRONG_INPUT), ([failed("a")], Exit.WRONG_INPUT)],
)
def test_a_single_case_that_is_not_there_is_told(
    results: list[CaseResult], code: Exit, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = {case("a").id: "no a", case("b").id: "no b"}
    assert ended(*results, single=asked)[0] == code
    told = capsys.readouterr().err.splitlines()
    assert told == [f"dmlcheck: {text}" for text in ("no a", "no b")][len(results) :]


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([], "there is no case"),
        ([NotRun("a.yaml::b")], "none of 1 case is selected"),
        ([Done(CaseResult(case(), "skipped")), NotRun("a.yaml::b")], "every case was skipped"),
    ],
)
def test_a_run_that_checks_nothing_says_why(events: list[Any], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    outcome = Outcome([], watch=Watch(), known=None, max_failures=None, is_shard=False)
    for event in events:
        outcome.take(event)
    with click.Context(main):
        assert finish(outcome, lambda *_: ()) == Exit.NOTHING_CHECKED
    assert capsys.readouterr().err == f"dmlcheck: nothing was checked: {words}\n"
