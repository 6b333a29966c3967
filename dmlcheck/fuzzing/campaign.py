"""A campaign: draws of operators one after the other, judged on a bench; each distinct fault is found once, reduced."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dmlcheck.descs.read import read_desc
from dmlcheck.drawing.units import Unit, drawn_desc
from dmlcheck.drawing.where import Where, all_hold
from dmlcheck.fuzzing.answers import FailureKind, TrialAnswer
from dmlcheck.fuzzing.finding_files import FindingFiles, FindingSource, KnownFindings
from dmlcheck.fuzzing.reducing import Failing, Taken, cause_of, reduced
from dmlcheck.fuzzing.trials import NO_DRAW, Bench, CaseOfFile, Trial, trial_of
from dmlcheck.running.results import SKIPPED
from dmlcheck.specs.names import NEWEST_LEVEL

_REDUCING = 10.0  # seconds for one finding
_TRIES = 1000  # draws in which one that meets the conditions is looked for
_MOST = 10  # findings of an operator; later ones are counted


class CampaignRequest(NamedTuple):
    """The draws of a campaign, and its end.

    `with_invalid` makes every second draw an invalid one, `is_exhaustive` draws all inputs that there are,
    `is_of_graphs` graphs of the operators, `is_of_descs` descs without inputs, for a library that is only asked;
    `where` has the conditions that their descs meet.
    """

    operators: Sequence[str]
    implementation: str
    seed: int = 0
    examples: int | None = None
    seconds: float | None = None
    level: str = NEWEST_LEVEL
    with_invalid: bool = False
    is_exhaustive: bool = False
    is_of_graphs: bool = False
    is_of_descs: bool = False
    where: Sequence[Where] = ()


class CampaignFinding(NamedTuple):
    """A distinct fault: the unit that showed it, the answer when it was reduced, and the file of the case.

    `is_flaky` says that it did not show again, `is_whole` that nothing more can be left out of it.
    """

    operator: str
    work: str
    answer: TrialAnswer
    path: str
    trials: int = 0
    is_whole: bool = True
    is_flaky: bool = False


class CampaignTally:
    """The counts of a campaign so far.

    `is_interrupted` says that it was interrupted during a reduction: it ends when that finding is written.
    """

    def __init__(self) -> None:
        self.draws = 0
        self.outcomes: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.invalid = 0  # draws of invalid descs that had an answer
        self.undrawn = 0
        self.unmet: list[str] = []  # operators without a further draw that meets the conditions
        self.findings: list[CampaignFinding] = []
        self.repeated: Counter[str] = Counter()  # failures by a known fault, by operator
        self.is_interrupted = False
        self.now = ""
        self.start = time.monotonic()

    @property
    def compared(self) -> int:
        """The number of draws that the implementation had a part in."""
        return sum(count for outcome, count in self.outcomes.items() if outcome != SKIPPED)

    @property
    def seconds(self) -> float:
        """The seconds since the start."""
        return time.monotonic() - self.start

    def stop_if_interrupted(self) -> None:
        """End a campaign that was interrupted: KeyboardInterrupt."""
        if self.is_interrupted:
            raise KeyboardInterrupt

    def take(self, answer: TrialAnswer, *, is_invalid: bool = False) -> None:
        """Count an answer."""
        self.draws += 1
        self.outcomes[answer.outcome] += 1
        self.undrawn += answer.reason == NO_DRAW
        if answer.outcome == SKIPPED and answer.reason and answer.reason != NO_DRAW:
            self.reasons[answer.reason] += 1
        self.invalid += is_invalid and answer.is_compared


class Campaign:
    """Draws, judges, reduces and writes, until the draws or the time are over."""

    def __init__(
        self, asked: CampaignRequest, bench: Bench, files: FindingFiles, expected: KnownFindings | None = None
    ) -> None:
        self.asked = asked
        self.bench = bench
        self.files = files
        self.expected = expected or KnownFindings(None, files.path)
        self.tally = CampaignTally()
        self._known: set[tuple[str, FailureKind | None, str]] = set()

    def units(self) -> Iterator[Unit]:
        """Yield the draws, until the draws or the time are over."""
        asked = self.asked
        for count, unit in enumerate(self._all() if asked.is_exhaustive else self._in_turn()):
            if asked.examples is not None and count >= asked.examples:
                return
            if asked.seconds is not None and self.tally.seconds > asked.seconds:
                return
            self.tally.now = unit.operator
            yield unit

    def _in_turn(self) -> Iterator[Unit]:
        """Yield draws without end, one of each operator in turn."""
        numbers = {operator: itertools.count() for operator in self.asked.operators}
        while numbers:
            for operator in list(numbers):
                unit = next(
                    filter(self._meets, itertools.islice(self._units_of(operator, numbers[operator]), _TRIES)), None
                )
                if unit is None:
                    del numbers[operator]
                    self.tally.unmet.append(operator)
                else:
                    yield unit

    def _units_of(self, operator: str, numbers: Iterator[int]) -> Iterator[Unit]:
        asked = self.asked
        for number in numbers:
            is_invalid = asked.with_invalid and number % 2 == 1
            yield Unit(operator, asked.seed, number, asked.level, is_invalid, is_of_desc=asked.is_of_descs)

    def _meets(self, unit: Unit) -> bool:
        """Whether the desc of a draw meets the conditions, or the valid desc that an invalid one is made of."""
        if not self.asked.where:
            return True
        desc = drawn_desc(unit)
        return desc is not None and all_hold(self.asked.where, desc)

    def _all(self) -> Iterator[Unit]:
        """Yield the draws of all inputs that there are, operator by operator."""
        from dmlcheck.drawing.exhaustive import count

        asked = self.asked
        for operator in asked.operators:
            for number in range(count(operator, asked.level)):
                yield Unit(operator, asked.seed, number, asked.level, is_exhaustive=True)

    def events(self) -> Iterator[Unit | CampaignFinding]:
        """Yield each draw when it is judged, and after it the finding that it shows first.

        An interrupt during a reduction takes effect when the finding is written, as simple as it is by then.
        """
        for unit, answer in self.bench.answers(self.units()):
            self.tally.take(answer, is_invalid=unit.is_invalid)
            yield unit
            found = self._found(unit, answer) if answer.is_finding else None
            if found is not None:
                yield found
            self.tally.stop_if_interrupted()

    def _found(self, unit: Unit, answer: TrialAnswer) -> CampaignFinding | None:
        """Return the finding of a draw that is the first to show its fault; None if the fault is known."""
        trial = trial_of(unit)
        if trial is not None and self.expected.is_known(failing_of(trial, answer).desc, answer):
            return None
        number = sum(found.operator == unit.operator for found in self.tally.findings)
        if trial is None or not self._is_new(unit.operator, answer) or number >= _MOST:
            self.tally.repeated[unit.operator] += 1
            return None
        found, trials, is_whole, is_flaky = self._reduced(trial, answer)
        if found.answer.fault != answer.fault and not self._is_new(unit.operator, found.answer):
            self.tally.repeated[unit.operator] += 1
            return None
        kind = "--exhaustive " if unit.is_exhaustive else "--invalid " if unit.is_invalid else ""
        source = f"drawn by dmlcheck fuzz {kind}--seed {unit.seed}, draw {unit.number} of {found.desc.spec.short}"
        about = FindingSource(source, unit.level, self.asked.implementation, cause_of(answer, found.answer))
        path, name = self.files.write(found, about)
        if not self.tally.is_interrupted:
            again = self.bench.answer(CaseOfFile(path, name))
            is_flaky = is_flaky or again.difference != found.answer.difference
        answer = found.answer._replace(cause=about.cause)
        finding = CampaignFinding(unit.operator, source, answer, path, trials, is_whole, is_flaky)
        self.tally.findings.append(finding)
        return finding

    def _is_new(self, operator: str, answer: TrialAnswer) -> bool:
        """Whether a fault of an operator is new; it is known from now on."""
        key = operator, *answer.fault
        is_new = key not in self._known
        self._known.add(key)
        return is_new

    def _reduced(self, trial: Trial, answer: TrialAnswer) -> tuple[Failing | Taken, int, bool, bool]:
        """Return the simplest trial that fails alike, how many ran for it, and whether all is done and it is flaky."""
        failing = failing_of(trial, answer)
        try:
            again = self.bench.answer(trial._replace(is_explained=False))
        except KeyboardInterrupt:
            self.tally.is_interrupted = True
            return failing, 0, False, False
        if again.difference != answer.difference:
            return failing, 1, False, True
        found = reduced(self.bench, failing, trial.level, _REDUCING)
        self.tally.is_interrupted = found.is_interrupted
        return found.failing, found.trials, found.is_whole, False


def failing_of(trial: Trial, answer: TrialAnswer) -> Failing | Taken:
    """Return a trial with its answer; ValueError where its desc cannot be read."""
    desc = read_desc(trial.operator, trial.fields).desc
    if desc is None:
        raise ValueError(trial.operator)
    if trial.invalid is None:
        return Failing(desc, trial.inputs, answer)
    return Taken(desc, trial.invalid[0], answer)
