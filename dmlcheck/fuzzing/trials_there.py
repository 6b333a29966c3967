"""Trials on the workers of a cluster: draws in batches, and the trials of a reduction one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from typing import NamedTuple

from dmlcheck.cases.prepare import prepare
from dmlcheck.diagnostics.record import Finding
from dmlcheck.drawing.units import Unit
from dmlcheck.formats.registry import read_file
from dmlcheck.fuzzing.answers import TrialAnswer
from dmlcheck.fuzzing.trials import CaseOfFile, Trial, Work, bench, lost_trial
from dmlcheck.implementations import make
from dmlcheck.processes.cluster import Cluster, Lost
from dmlcheck.processes.kept import kept
from dmlcheck.running.results import ERRORED
from dmlcheck.running.settings import Settings

_TOGETHER = 32  # draws of a batch


class Judge(NamedTuple):
    """The implementation that runs trials, the settings of the run, and the time limit of a trial."""

    implementation: str
    settings: Settings
    timeout: float | None


class BenchThere:
    """Runs trials on the workers of a cluster, where the implementation is."""

    def __init__(self, cluster: Cluster, judge: Judge) -> None:
        """Take a connected cluster, which its opener closes."""
        self.cluster = cluster
        self.judge = judge

    def answer(self, work: Work) -> TrialAnswer:
        """Return the answer of a worker to a unit of work; an error if the workers that had it died."""
        sent = _without_file(work) if isinstance(work, CaseOfFile) else work
        if isinstance(sent, TrialAnswer):
            return sent
        for _, found in self.cluster.map(partial(answers_there, self.judge), [[sent]]):
            return self._lost(found) if isinstance(found, Lost) else found[0]
        raise ValueError(work)

    def answers(self, units: Iterable[Unit]) -> Iterator[tuple[Unit, TrialAnswer]]:
        """Yield the answer to each draw, in their order; a batch whose worker died is run draw by draw."""
        for batch, found in self.cluster.map(partial(answers_there, self.judge), _batches(units)):
            if isinstance(found, Lost):
                yield from ((unit, self.answer(unit)) for unit in batch)
            else:
                yield from zip(batch, found, strict=True)

    def _lost(self, lost: Lost) -> TrialAnswer:
        params = {"implementation": self.judge.implementation, "problem": f"was lost with its worker: {lost.problem}"}
        return lost_trial("the worker died", Finding("implementation-error", (), params))

    def close(self) -> None:
        """Do nothing: the workers end what they started."""


def _batches(units: Iterable[Unit]) -> Iterator[list[Unit]]:
    left = iter(units)
    while batch := list(islice(left, _TOGETHER)):
        yield batch


def _without_file(written: CaseOfFile) -> Trial | TrialAnswer:
    """Return a case of a file as a trial, since a worker may not see the file."""
    case = next((case for case in read_file(written.path).cases if case.name == written.name), None)
    if case is None:
        return TrialAnswer(ERRORED, "the case cannot be read")
    if case.invalid:
        return Trial(case.operator, case.desc, {}, case.level, case.invalid)
    prepared = prepare(case)
    if prepared.desc is None or prepared.findings:
        return TrialAnswer(ERRORED, "the case cannot be read")
    return Trial.of(prepared.desc, prepared.inputs, case.level)


# ---- on a worker


def answers_there(judge: Judge, works: list[Work]) -> list[TrialAnswer]:
    """Return the answers to units of work, on a worker."""
    with kept(("fuzz", judge), lambda: bench(*judge)) as here:
        return [here.answer(work) for work in works]


def validates_there(name: str) -> bool:
    """Whether the implementation of a name says that it refuses descs, on a worker."""
    made = make(name)
    try:
        return made.validates
    finally:
        made.close()
