"""How a run ends."""

from __future__ import annotations

from typing import Any

import click
import pytest
from results import case, failed

from dmlcheck.cli import main
from dmlcheck.cli.ending import finish
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.files.yaml import parse
from dmlcheck.formats.find import Target
from dmlcheck.reports.accuracy import Baseline, Watch
from dmlcheck.reports.outcome import Outcome
from dmlcheck.reports.records import Summary, has_drifted
from dmlcheck.running.events import Done, Ended, NotRun
from dmlcheck.running.expectations import Expectations, read_expectations
from dmlcheck.running.results import FOR_IMPLEMENTATIONS, CaseResult


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


def test_a_case_without_results_in_one_of_the_runs_is_in_the_earlier_report() -> None:
    right = failed(outcome="passed", diagnostics=())
    before = Watch(None, Baseline({right.case.id: {}}))  # an error then
    assert ended(right, watch=before)[0] == Exit.GOOD
    wrong = failed("b")
    now = Watch(None, Baseline({wrong.case.id: {"OutputTensor": 5.0}}))
    assert ended(right, wrong, watch=now)[0] == Exit.FAILED


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
