"""Reduction of a failing trial to the simplest that fails in the same way."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from dmlcheck.cases.prepare import value_findings
from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.descs.write import notation, without_counts
from dmlcheck.drawing.broken import broken_entry
from dmlcheck.drawing.fitted import consistent, fitted
from dmlcheck.drawing.shrink import STEPS, ShrinkStep, simpler_descs, weight
from dmlcheck.drawing.simpler_values import simpler_values, simplest, weight_of
from dmlcheck.drawing.sound import is_sound
from dmlcheck.fuzzing.answers import TrialAnswer
from dmlcheck.fuzzing.trials import Bench, Trial
from dmlcheck.specs.records import OUTPUT

Weight = tuple[tuple[int, ...], int]


class Failing(NamedTuple):
    """A valid desc that an implementation fails on, with inputs or without any, and its answer."""

    desc: OperatorDesc
    inputs: Mapping[str, Any]
    answer: TrialAnswer

    @property
    def weight(self) -> Weight:
        """Its complexity: that of the desc first."""
        return weight(self.desc), weight_of(self.inputs)

    @property
    def is_of_desc(self) -> bool:
        """Whether it is only a desc, without inputs."""
        return not self.inputs and bool(self.desc.spec.inputs)


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
    """Return the simplest trial that fails like a given one; `seconds` limits the search, None is no limit.

    An interrupt ends it with what was found so far.
    """
    reducer = Reducer(bench, start, level, seconds)
    ending = reducer.ended()
    return Reduced(reducer.now, reducer.trials, ending.is_whole, ending.is_interrupted)


class ReductionEnd(NamedTuple):
    """Whether nothing more can be left out at the end of a reduction, and whether it was interrupted."""

    is_whole: bool
    is_interrupted: bool = False


class Reducing:
    """A search for simpler trials: ever simpler ones of some kinds, then simpler values, until none is left."""

    def __init__(self, start: Any, seconds: float | None) -> None:
        """Prepare to go on from a trial that fails, with a time limit in seconds."""
        self.now = start
        self.until = None if seconds is None else time.monotonic() + seconds
        self.trials = 0
        self._tried: dict[tuple[str, bytes], Any] = {}

    def kinds(self) -> Iterator[Callable[[], Iterator[Any]]]:
        """Yield functions that yield simpler trials that fail alike, of one kind each."""
        raise NotImplementedError

    def with_inputs(self, inputs: Mapping[str, Any]) -> Any:
        """Return the trial so far with other inputs, None if it does not fail alike."""
        raise NotImplementedError

    def explain(self) -> None:
        """Search for the likely cause of the simplest trial."""

    @property
    def is_late(self) -> bool:
        """Whether the time is up."""
        return self.until is not None and time.monotonic() > self.until

    def ended(self) -> ReductionEnd:
        """Search to the end, or until an interrupt, and return how it ended."""
        is_whole = False
        try:
            self.work()
            is_whole = not self.is_late
            self.explain()
        except KeyboardInterrupt:
            return ReductionEnd(is_whole=False, is_interrupted=True)
        return ReductionEnd(is_whole)

    def work(self) -> None:
        """Take ever simpler trials, until nothing more can be left out or the time is up."""
        before = None
        while before != self.now.weight and not self.is_late:
            before = self.now.weight
            for candidates in self.kinds():
                self._take_all(candidates)
            if self.inputs:
                self._take_all(self._values)
                inputs = simplest(self.inputs, lambda inputs: self.with_inputs(inputs) is not None)
                found = None if inputs is None else self.with_inputs(inputs)
                if found is not None and weight_of(found.inputs) < weight_of(self.inputs):
                    self.now = found

    @property
    def inputs(self) -> Mapping[str, Any]:
        """The values of the trial so far."""
        return getattr(self.now, "inputs", {})

    def once(self, what: str, inputs: Mapping[str, Any], run: Callable[[], Any]) -> Any:
        """Return the result of a trial, which runs only once; None without time. `what` and its inputs identify it."""
        if self.is_late:
            return None
        digest = hashlib.blake2b(digest_size=16)
        for name, given in inputs.items():
            for values in given if isinstance(given, list) else [given]:
                digest.update(f"{name} {values.dtype} {values.shape} ".encode())
                digest.update(values.tobytes())
        key = what, digest.digest()
        if key not in self._tried:
            self.trials += 1
            self._tried[key] = run()
        return self._tried[key]

    def _take_all(self, candidates: Callable[[], Iterator[Any]]) -> None:
        """Take the first candidate, and go on from it, until there is none."""
        while (found := next(candidates(), None)) is not None:
            self.now = found

    def _values(self) -> Iterator[Any]:
        """Yield the same trial with simpler values that fails alike."""
        most = weight_of(self.inputs)
        for simpler in simpler_values(self.inputs):
            if self.is_late:
                return
            found = self.with_inputs(simpler)
            if found is not None and weight_of(found.inputs) < most:
                yield found


class Reducer(Reducing):
    """Searches for simpler descs and values that fail in the same way: the same rule, output and kind of difference."""

    now: Failing | Taken

    def __init__(self, bench: Bench, start: Failing | Taken, level: str, seconds: float | None) -> None:
        """Prepare to run trials on a bench, at a level, with a time limit in seconds."""
        super().__init__(start, seconds)
        self.bench = bench
        self.level = level

    def kinds(self) -> Iterator[Callable[[], Iterator[Failing | Taken]]]:
        """Yield functions that yield simpler descs of one kind each."""
        make = self._descs if isinstance(self.now, Failing) else self._taken
        return (partial(make, step) for step in STEPS)

    def with_inputs(self, inputs: Mapping[str, Any]) -> Failing | None:
        """Return the desc so far with other inputs, None if it does not fail alike."""
        return self._alike(self.now.desc, inputs)

    def explain(self) -> None:
        """Search for the likely cause of the simplest trial."""
        now = self.now
        if isinstance(now, Failing) and self.trials:
            answer = self.bench.answer(Trial.of(now.desc, now.inputs, self.level, is_explained=True))
            if answer.difference == now.answer.difference:
                self.now = now._replace(answer=answer)

    def _descs(self, step: ShrinkStep) -> Iterator[Failing]:
        """Yield simpler descs that fail alike, with the first or the last of the values."""
        now = self.now
        for desc in simpler_descs(now.desc, self.level, step) if isinstance(now, Failing) else ():
            for is_from_end in (False, True):
                if self.is_late or not isinstance(now, Failing):
                    return
                inputs = {} if now.is_of_desc else fitted(desc, now.inputs, is_from_end=is_from_end)
                found = self._alike(desc, inputs)
                if found is not None:
                    yield found

    def _alike(self, desc: OperatorDesc, inputs: Mapping[str, Any]) -> Failing | None:
        """Return a trial if it fails like the simplest so far; None if it does not, or the time is up."""
        inputs = consistent(desc, inputs)
        if not desc.tensors(OUTPUT) or not is_sound(desc, inputs) or value_findings(desc, inputs, self.level):
            return None
        found: Failing | None = self.once(repr(notation(desc)), inputs, lambda: self._run(desc, inputs))
        return found

    def _run(self, desc: OperatorDesc, inputs: Mapping[str, Any]) -> Failing | None:
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
                found = self.once(repr(notation(desc)), {}, partial(self._run_invalid, desc))
                if found is not None:
                    yield found

    def _run_invalid(self, desc: OperatorDesc) -> Taken | None:
        now = self.now
        entry = now.entry if isinstance(now, Taken) else ""
        answer = self.bench.answer(Trial(desc.spec.operator, notation(desc), {}, self.level, (entry,)))
        return Taken(desc, entry, answer) if answer.difference == now.answer.difference else None
