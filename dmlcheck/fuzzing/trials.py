"""Trials: descs with inputs that an implementation runs, and the reference judges, here or in a process of their own.

A bench takes a unit of work (a draw, a case or a trial) and returns an answer. A process that crashes or does not end
is the trial's answer, and another goes on after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from dmlcheck.cases.prepare import Prepared, prepare
from dmlcheck.cases.records import Case
from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.descs.write import notation
from dmlcheck.diagnostics.record import Finding
from dmlcheck.drawing.units import Unit, drawn_broken, drawn_desc, drawn_unit
from dmlcheck.formats.registry import read_file
from dmlcheck.fuzzing.answers import TrialAnswer, answer_of
from dmlcheck.implementations import Unavailable, make
from dmlcheck.processes.body import questions, tell
from dmlcheck.processes.child import SHUTDOWN_TIME, Child, LostChild
from dmlcheck.processes.cluster import Cluster, Lost
from dmlcheck.processes.kept import kept
from dmlcheck.processes.pool import Job, Pool
from dmlcheck.running.one_case import Run, run_case
from dmlcheck.running.results import ERRORED, SKIPPED, CaseResult
from dmlcheck.running.settings import Settings
from dmlcheck.specs.load import load_spec
from dmlcheck.specs.names import level_of_release
from dmlcheck.validation.deviations import is_accepted

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_START_TIME = 120.0  # seconds for a process to make its implementation: devices and runtimes take their time
NO_DRAW = "no valid draw"  # why a unit has no answer


class Trial(NamedTuple):
    """A valid desc with its inputs, or the fields of an invalid one with the findings about it.

    A desc without its inputs is only put to a library that answers. `is_explained` asks for the likely cause of what is
    wrong, which takes longer than the trial.
    """

    operator: str
    fields: Mapping[str, Any]
    inputs: Mapping[str, Any]
    level: str
    invalid: tuple[str, ...] | None = None
    is_explained: bool = False

    @classmethod
    def of(cls, desc: OperatorDesc, inputs: Mapping[str, Any], level: str, *, is_explained: bool = False) -> Trial:
        """Return a trial of a valid desc."""
        return cls(desc.spec.operator, notation(desc), inputs, level, None, is_explained)


def trial_of(unit: Unit) -> Trial | None:
    """Return the trial that is drawn for a unit, None where there is none."""
    if unit.is_invalid:
        broken = drawn_broken(unit)
        return None if broken is None else Trial(unit.operator, broken.fields, {}, unit.level, (broken.entry,))
    if unit.is_of_desc:
        desc = drawn_desc(unit)
        return None if desc is None else Trial.of(desc, {}, unit.level)
    drawn = drawn_unit(unit)
    return None if drawn is None else Trial.of(drawn.desc, drawn.inputs, unit.level, is_explained=True)


class CaseOfFile(NamedTuple):
    """A case of a file: its path, and its name."""

    path: str
    name: str


Work = Unit | Trial | CaseOfFile


class Bench(Protocol):
    """The interface of a bench, which runs units of work on an implementation."""

    def answer(self, work: Work) -> TrialAnswer:
        """Return the answer of the implementation to a unit of work."""

    def answers(self, units: Iterable[Unit]) -> Iterator[tuple[Unit, TrialAnswer]]:
        """Yield the answer to each of many draws, in their order; several may run at a time."""

    def close(self) -> None:
        """End the implementation, or the process that runs it."""


def bench(implementation: str, settings: Settings, timeout: float | None, jobs: int = 1) -> Bench:
    """Return the bench for the implementation of a name: one job runs in this process if it cannot crash or hang."""
    made = make(implementation, timeout)
    is_timed = timeout is None or made.keeps_time
    if jobs == 1 and is_timed and not made.may_crash:
        return BenchHere(made, settings)
    shutdown_time = SHUTDOWN_TIME if made.keeps_time else 0.0
    made.close()
    return BenchApart(implementation, settings, timeout, shutdown_time, jobs)


# ---- in this process


class BenchHere:
    """Runs trials in this process."""

    def __init__(self, implementation: Any, settings: Settings) -> None:
        """Begin with an implementation, which `close` ends."""
        self.run = Run(implementation, settings)
        self.quick = Run(implementation, settings._replace(guesses=False))

    def answer(self, work: Work) -> TrialAnswer:
        """Return the answer of the implementation to a unit of work."""
        try:
            answer = self._answer_to_case(work) if isinstance(work, CaseOfFile) else self._answer_to_draw(work)
            return answer._replace(is_of_directml=self.run.directml is not None)
        except Exception as error:  # noqa: BLE001 - a draw that shows a mistake of dmlcheck's own ends no campaign
            return TrialAnswer(SKIPPED, f"dmlcheck itself failed: {type(error).__name__}: {error}; please report it")

    def _answer_to_case(self, work: CaseOfFile) -> TrialAnswer:
        case = next((case for case in read_file(work.path).cases if case.name == work.name), None)
        return TrialAnswer(ERRORED, "the case cannot be read") if case is None else answer_of(run_case(case, self.run))

    def _answer_to_draw(self, work: Unit | Trial) -> TrialAnswer:
        trial = work if isinstance(work, Trial) else trial_of(work)
        if trial is None:
            return TrialAnswer(SKIPPED, NO_DRAW)
        return answer_of(result_of(trial, self.run if trial.is_explained else self.quick))

    def answers(self, units: Iterable[Unit]) -> Iterator[tuple[Unit, TrialAnswer]]:
        """Yield the answer to each draw, one after the other."""
        return ((unit, self.answer(unit)) for unit in units)

    def close(self) -> None:
        """End the implementation."""
        self.run.implementation.close()


def result_of(trial: Trial, run: Run) -> CaseResult:
    """Return the result of a trial in a run."""
    is_of_desc = trial.invalid is not None or run.is_only_asked or _is_of_desc(trial) or _is_refused(trial, run)
    case = Case(
        "trial",
        "trial",
        trial.operator,  # of a file, the first wrong outputs are looked at most closely
        trial.operator,
        trial.level,
        trial.fields,
        inputs=None if is_of_desc else trial.inputs,
        invalid=trial.invalid,
    )
    if is_of_desc:
        return run_case(case, run)
    desc, findings = run.descs.validated(case)
    return run_case(case, run, Prepared(desc, dict(trial.inputs), findings=tuple(findings)))


def _is_of_desc(trial: Trial) -> bool:
    """Whether a trial has no inputs, although its operator has some."""
    return not trial.inputs and bool(load_spec(trial.operator).inputs)


def _is_refused(trial: Trial, run: Run) -> bool:
    """Whether a trial is of another level than DirectML's library has, which refuses the desc as foreseen."""
    if run.foreseen is None or trial.level == level_of_release(run.foreseen):
        return False
    return not is_accepted(read_desc(trial.operator, trial.fields), run.foreseen)


# ---- in other processes


class BenchApart:
    """Runs trials in processes, each of which is started again after a trial that ended it.

    Draws are answered in their order, as by one process.
    """

    def __init__(
        self, implementation: str, settings: Settings, timeout: float | None, shutdown_time: float, jobs: int = 1
    ) -> None:
        """Prepare; processes are started for the first trials."""
        self.implementation = implementation
        self.timeout = timeout
        self._limit = None if timeout is None else timeout + shutdown_time
        start = partial(Child, __name__, implementation, settings, timeout)
        start = partial(start, start_time=_START_TIME, shutdown_time=shutdown_time)
        self._pool: Pool[Job] = Pool(start, jobs)
        self._most = 2 * jobs - 1  # one job has no other draw begun than the one that is answered

    def answer(self, work: Work) -> TrialAnswer:
        """Return the answer of the implementation to a unit of work, or the error that ended the process."""
        answer: TrialAnswer = self._pool.answer(self._job(work))
        return answer

    def answers(self, units: Iterable[Unit]) -> Iterator[tuple[Unit, TrialAnswer]]:
        """Yield the answer to each draw; some of the next ones run meanwhile."""
        for job, answer in self._pool.through(map(self._job, units), self._most):
            yield job.question, answer

    def _job(self, work: Work) -> Job:
        return Job(work, self._limit, self._lost)

    def _lost(self, loss: LostChild) -> TrialAnswer:
        """Return the answer of a trial that lost its process; Unavailable if that did not make the implementation."""
        if not loss.was_ready:
            raise Unavailable(f"{self.implementation} cannot be made in a process of its own: it {loss.problem}")
        return lost_trial(*loss.result(self.implementation, self.timeout))

    def close(self) -> None:
        """End the processes: at once during a trial, unless the implementation has something to end."""
        self._pool.close()


def lost_trial(reason: str, finding: Finding) -> TrialAnswer:
    """Return the answer of a trial that lost its process."""
    case = Case("trial", "trial", "", "", None, {})
    return answer_of(CaseResult(case, ERRORED, reason, (finding.diagnostic(),)))


def serve(connection: Connection, implementation: str, settings: Settings, timeout: float | None) -> None:
    """Answer units of work."""
    here = BenchHere(make(implementation, timeout), settings)
    try:
        for work in questions(connection):
            tell(connection, here.answer(work))
    finally:
        here.close()


# ---- trials on the workers of a cluster


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
