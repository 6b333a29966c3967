"""The outcome of a run: its results, judged by expectations and limits of accuracy, passed on to the reports."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

from dmlcheck.cases.records import Case
from dmlcheck.formats.find import Target
from dmlcheck.reports.accuracy import Watch
from dmlcheck.reports.records import Reporter, Summary, Tally
from dmlcheck.running.events import Done, Ended, Event, NotRun, digest_of, is_named
from dmlcheck.running.expectations import (
    Entry,
    Expectations,
    Names,
    UnmatchedEntries,
    expected_result,
    names_of,
    unless_flaky,
    unless_skipped,
)
from dmlcheck.running.results import Bisected, CaseResult


class Outcome:
    """The results of a run as they come in, each judged by the expectations and the limits of accuracy."""

    def __init__(
        self,
        reporters: list[Reporter],
        *,
        watch: Watch,
        known: Expectations | None,
        known_against: Expectations | None = None,
        max_failures: int | None,
        is_shard: bool,
        fails_skipped: bool = False,
        fails_flaky: bool = False,
        is_of_reference: bool = True,
        single: Mapping[str, str] = {},
        files: Iterable[Target] = (),
        total: Callable[[], int] = lambda: 0,
    ) -> None:
        """Begin; the time runs from here.

        `fails_skipped` makes a skipped case that no entry expects a failure, `fails_flaky` one that passes after it has
        failed; `is_of_reference` says that the reference engine is under test: another implementation must have a part
        in the run. `single` has the ids of the cases that were named one by one, each with the message if it is not
        there; `files` are those that the run reads, and `total` returns the number of cases.
        """
        self.reporters = reporters
        self.watch = watch
        self.known = known
        self.known_against = known_against
        self.unmatched = None if known is None else UnmatchedEntries(known)
        self.max_failures = max_failures
        self.is_shard = is_shard
        self.fails_skipped = fails_skipped
        self.fails_flaky = fails_flaky
        self.missing = dict(single)
        self.files = list(files)
        self.paths = {target.name: target.file for target in self.files}
        self.total = total
        self.tally = Tally(is_of_reference=is_of_reference)
        self.digests: list[bytes | None] = []
        self.empty: list[str] = []  # files without cases
        self.seen = 0
        self.has_wrong_file = False
        self.is_interrupted = False
        self.running: tuple[str, float] | None = None
        self.bisected: Bisected | None = None
        self.start = time.perf_counter()

    @property
    def summary(self) -> Summary:
        """How the run stands."""
        has_digest = self.is_whole and None not in self.digests
        return self.tally.summary(
            time.perf_counter() - self.start,
            is_interrupted=self.is_interrupted,
            digest=digest_of(filter(None, self.digests)) if has_digest else None,
            compared=None if self.watch.baseline is None else self.watch.compared,
            not_run=max(0, self.total() - self.tally.total) if self.is_over and not self.is_interrupted else 0,
        )._replace(running=self.running, bisected=self.bisected)

    @property
    def is_over(self) -> bool:
        """Whether there were as many failures as end the run."""
        return self.max_failures is not None and self.tally.failures >= self.max_failures

    @property
    def is_whole(self) -> bool:
        """Whether nothing has ended the run before its time."""
        return not self.is_interrupted and not self.is_over

    def take(self, event: Event) -> None:
        """Take an event of a run."""
        if isinstance(event, Done):
            self._add(event.result)
        elif isinstance(event, NotRun):
            self._see(event.id)
            if self.unmatched is not None:
                self.unmatched.see(names_of(event.id, event.file, self.paths.get(event.file)))
        elif isinstance(event, Ended):
            self.digests.append(event.digest)
            self.bisected = event.bisected
            self.empty.extend([] if event.empty is None else [event.empty])

    def _see(self, case_id: str) -> None:
        self.seen += 1
        if self.missing:
            self.missing = {asked: why for asked, why in self.missing.items() if not is_named(case_id, asked)}

    def _add(self, result: CaseResult) -> None:
        if self.known is not None or self.fails_skipped or self.fails_flaky:
            entry = self._entry(result.case)
            result = expected_result(result, entry)
            if self.fails_skipped:
                result = unless_skipped(result, entry)
            result = unless_flaky(result) if self.fails_flaky else result
        if result.against is not None and self.known_against is not None:
            other = expected_result(result.against.result, self.known_against.of(self._names(result.case)))
            result = result._replace(against=result.against._replace(result=other))
        result = self.watch.judged(result, self.paths.get(result.case.file))
        if self.is_shard:
            result = result._replace(ordinal=self.seen)
        self._see(result.case.id)
        self.tally.add(result)
        self.has_wrong_file = self.has_wrong_file or result.is_malformed
        for reporter in self.reporters:
            reporter.case(result)

    def _entry(self, case: Case) -> Entry | None:
        """Return the expectation of a case, and record that the case exists."""
        if self.known is None or self.unmatched is None:
            return None
        names = self._names(case)
        self.unmatched.see(names)
        return self.known.of(names)

    def _names(self, case: Case) -> Names:
        return names_of(case.id, case.file, self.paths.get(case.file))
