"""Reduction of a failing trial to the simplest that fails in the same way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from dmlcheck.cases.prepare import value_findings
from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.descs.write import notation
from dmlcheck.drawing.broken import broken_entry
from dmlcheck.drawing.fitted import consistent, fitted
from dmlcheck.drawing.shrink import STEPS, ShrinkStep, simpler_descs, weight, without_counts
from dmlcheck.drawing.simpler_values import simpler_values, simplest, weight_of
from dmlcheck.drawing.sound import is_sound
from dmlcheck.running.answers import TrialAnswer
from dmlcheck.running.trials import Bench, Trial
from dmlcheck.specs.records import OUTPUT

Weight = tuple[tuple[int, ...], int]


class Failing(NamedTuple):
    """A valid desc and inputs that an implementation fails on, and its answer."""

    desc: OperatorDesc
    inputs: Mapping[str, Any]
    answer: TrialAnswer

    @property
    def weight(self) -> Weight:
        """Its complexity: that of the desc first."""
        return weight(self.desc), weight_of(self.inputs)


class Taken(NamedTuple):
    """An invalid desc that is accepted, the one rule or constraint that it breaks, and the implementation's answer."""

    desc: OperatorDesc
    entry: str
    answer: TrialAnswer

    @property
    def weight(self) -> Weight:
        """How complicated it is."""
        return weight(self.desc), 0


class Reduced(NamedTuple):
    """The result of a reduction: the simplest trial, the number of trials, and whether nothing more can be left out.

    `is_whole` is False where the time was up before, or where it was interrupted.
    """

    failing: Failing | Taken
    trials: int
    is_whole: bool
    is_interrupted: bool = False


def cause_of(start: TrialAnswer, end: TrialAnswer) -> str:
    """Return the likely cause of a reduced trial; without one that of the start, whose sizes may be others."""
    return end.cause or (f"{start.cause} (before it was reduced)" if start.cause else "")


def reduced(bench: Bench, start: Failing | Taken, level: str, seconds: float | None) -> Reduced:
    """Return the simplest trial that fails like a given one, after at most so many seconds; None is no limit.

    An interrupt ends it with what was found so far.
    """
    reducer = Reducer(bench, start, level, seconds)
    is_interrupted = False
    try:
        reducer.work()
        is_whole = not reducer.is_late
        reducer.explain()
    except KeyboardInterrupt:
        is_interrupted, is_whole = True, False
    return Reduced(reducer.now, reducer.trials, is_whole, is_interrupted)


class Reducer:
    """Searches for simpler trials that fail in the same way: the same rule, output and kind of difference."""

    def __init__(self, bench: Bench, start: Failing | Taken, level: str, seconds: float | None) -> None:
        """Prepare to run trials on a bench, at a level, for so many seconds in all."""
        self.bench = bench
        self.now = start
        self.level = level
        self.until = None if seconds is None else time.monotonic() + seconds
        self.trials = 0

    @property
    def is_late(self) -> bool:
        """Whether the time is up."""
        return self.until is not None and time.monotonic() > self.until

    def work(self) -> None:
        """Take ever simpler trials, until nothing more can be left out or the time is up."""
        before = None
        while before != self.now.weight and not self.is_late:
            before = self.now.weight
            for step in STEPS:
                self._take_all(partial(self._descs if isinstance(self.now, Failing) else self._taken, step))
            if isinstance(self.now, Failing):
                self._take_all(self._values)
                self._take_simplest(self.now)

    def explain(self) -> None:
        """Search for the likely cause of the simplest trial."""
        now = self.now
        if isinstance(now, Failing) and self.trials:
            answer = self.bench.answer(Trial.of(now.desc, now.inputs, self.level, is_explained=True))
            if answer.difference == now.answer.difference:
                self.now = now._replace(answer=answer)

    def _take_all(self, candidates: Callable[[], Iterator[Failing | Taken]]) -> None:
        """Take the first candidate, and go on from it, until there is none."""
        while (found := next(candidates(), None)) is not None:
            self.now = found

    def _descs(self, step: ShrinkStep) -> Iterator[Failing]:
        """Yield simpler descs that fail alike, with the first or the last of the values."""
        now = self.now
        for desc in simpler_descs(now.desc, self.level, step) if isinstance(now, Failing) else ():
            for is_from_end in (False, True):
                if self.is_late or not isinstance(now, Failing):
                    return
                found = self._alike(desc, fitted(desc, now.inputs, is_from_end=is_from_end))
                if found is not None:
                    yield found

    def _values(self) -> Iterator[Failing]:
        """Yield the same desc with simpler values that fail alike."""
        inputs = self.now.inputs if isinstance(self.now, Failing) else {}
        most = weight_of(inputs)
        for simpler in simpler_values(inputs):
            if self.is_late:
                return
            found = self._alike(self.now.desc, simpler)
            if found is not None and weight_of(found.inputs) < most:
                yield found

    def _take_simplest(self, now: Failing) -> None:
        """Take the simplest values that hypothesis finds, if those are simpler."""
        inputs = simplest(now.inputs, lambda inputs: self._alike(now.desc, inputs) is not None)
        found = None if inputs is None else self._alike(now.desc, inputs)
        if found is not None and weight_of(found.inputs) < weight_of(now.inputs):
            self.now = found

    def _alike(self, desc: OperatorDesc, inputs: Mapping[str, Any]) -> Failing | None:
        """Return a trial if it fails like the simplest so far; None if it does not, or the time is up."""
        inputs = consistent(desc, inputs)
        if self.is_late or not desc.tensors(OUTPUT) or not is_sound(desc, inputs):
            return None
        if value_findings(desc, inputs, self.level):
            return None
        self.trials += 1
        answer = self.bench.answer(Trial.of(desc, inputs, self.level))
        return Failing(desc, inputs, answer) if answer.difference == self.now.answer.difference else None

    def _taken(self, step: ShrinkStep) -> Iterator[Taken]:
        """Yield simpler descs that break the same constraint and are accepted."""
        now = self.now
        spec = now.desc.spec
        for raw in step(spec, without_counts(now.desc)):
            if self.is_late or not isinstance(now, Taken):
                return
            desc = read_desc(spec.operator, raw).desc
            if desc is None or broken_entry(spec.operator, raw, self.level) != now.entry:
                continue
            if weight(desc) < weight(now.desc):
                self.trials += 1
                answer = self.bench.answer(Trial(spec.operator, notation(desc), {}, self.level, (now.entry,)))
                if answer.difference == now.answer.difference:
                    yield Taken(desc, now.entry, answer)
