"""The results of a run, judged and passed on."""

from __future__ import annotations

import datetime as dt
from typing import Any

from results import case, every_outcome, failed

from dmlcheck.files.yaml import parse
from dmlcheck.reports.accuracy import Watch
from dmlcheck.reports.outcome import Outcome
from dmlcheck.reports.records import Summary
from dmlcheck.running.events import Done, Ended, NotRun
from dmlcheck.running.expectations import read_expectations
from dmlcheck.running.results import CaseResult


class Listening:
    """A reporter that keeps the results it is given."""

    def __init__(self) -> None:
        self.results: list[CaseResult] = []

    def case(self, result: CaseResult) -> None:
        self.results.append(result)

    def finish(self, summary: Summary) -> None:
        """Take the end of the run."""


def outcome(*events: Any, **terms: Any) -> tuple[Outcome, list[CaseResult]]:
    """Return the outcome of some events, and the results that a reporter was given."""
    reporter = Listening()
    found = Outcome([reporter], **{"watch": Watch(), "known": None, "max_failures": None, "is_shard": False, **terms})
    for event in events:
        found.take(event)
    return found, reporter.results


def passed() -> CaseResult:
    return CaseResult(case(), "passed")


def test_every_result_is_passed_on_and_counted() -> None:
    found, results = outcome(*map(Done, every_outcome()), Ended(b"a file"))
    assert [result.outcome for result in results] == [result.outcome for result in every_outcome()]
    assert found.summary.counts == dict.fromkeys(("passed", "failed", "error", "skipped", "xfailed", "xpassed"), 1)
    assert found.summary.digest is not None


def test_a_run_without_the_digest_of_a_file_has_none() -> None:
    found, _ = outcome(Ended(b"a file"), Ended(None))
    assert found.summary.digest is None


def test_of_a_run_that_is_not_ended_by_failures_no_case_is_left_out() -> None:
    found, _ = outcome(Done(passed()), Done(failed("a")), total=lambda: 10)
    assert found.summary.not_run == 0


def test_a_case_that_does_not_run_is_there_all_the_same() -> None:
    document = parse(b"- {cases: '*::other', expect: failed, reason: known}\n", "known.yaml")
    known = read_expectations(document, "reference", None, dt.date.min)
    found, _ = outcome(NotRun("a.yaml::other"), Done(passed()), known=known, is_shard=True)
    assert found.unmatched is not None
    assert found.unmatched.waiting == {}
    assert found.seen == 2


def test_the_results_of_a_shard_are_numbered_among_all_cases() -> None:
    _, results = outcome(NotRun("a.yaml::before"), Done(passed()), is_shard=True)
    assert [result.ordinal for result in results] == [1]
    assert [result.ordinal for result in outcome(Done(passed()))[1]] == [None]
