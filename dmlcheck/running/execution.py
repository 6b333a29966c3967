"""A run: the cases of files one after the other, in this process or in several, with their results in order."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from threading import Lock
from typing import TYPE_CHECKING

from dmlcheck.cases.records import Case, CaseFile
from dmlcheck.formats.find import Target
from dmlcheck.formats.registry import read_file
from dmlcheck.implementations import make_all
from dmlcheck.implementations.protocol import Implementation
from dmlcheck.running.events import DEFAULT_TIMEOUT, Done, Ended, Event, Executor, Plan, file_events, number_of_cases
from dmlcheck.running.known_failures import judged_directml
from dmlcheck.values import memory

if TYPE_CHECKING:
    from dmlcheck.processes.pool import Pool
    from dmlcheck.running.file_jobs import FileJob

_BYTES_OF_A_SECOND = 350_000  # of case files, which the reference takes about a second for


def usual_jobs(targets: list[Target], plan: Plan) -> int:
    """Return the number of processes of a run that was given none.

    The reference has all cores where there is work for more than two seconds. Other implementations may hold a device,
    or be one of a kind: they have one process.
    """
    work = sum(target.bytes for target in targets if target.case is None)
    return memory.cores() if plan.names == "reference" and work > 2 * _BYTES_OF_A_SECOND else 1


class Execution:
    """A run: its events, in the order of the files and their cases, and the case that has run longest."""

    def __init__(self, targets: list[Target], plan: Plan, jobs: int = 1, executor: Executor | None = None) -> None:
        """Prepare to run the cases of files, in this process or in as many others as `jobs` says, or by an executor."""
        self.targets = targets
        self.plan = plan
        self.jobs = jobs
        self.files = Files(targets, plan)
        self.executor = executor
        self._running: Callable[[], Iterable[tuple[Case, float]]] = lambda: ()

    @cached_property
    def total(self) -> int:
        """The number of cases of the run; all files that have not run yet are read for it.

        With several processes each file is read twice, once by the process that runs it.
        """
        return self.files.total()

    def events(self) -> Iterator[Event]:
        """Yield the events."""
        if self.executor is not None:
            self._running = self.executor.running
            yield from self.executor.events()
            return
        runner = Runner(self.plan, self.jobs)
        self._running = runner.running
        try:
            yield from runner.events(self.files)
        finally:
            runner.close()

    def slowest(self) -> tuple[str, float] | None:
        """Return the case that has been running longest, and for how many seconds."""
        since, case_id = min(((since, case.id) for case, since in self._running()), default=(0.0, ""))
        return (case_id, time.monotonic() - since) if case_id else None


class Runner:
    """Runs cases with the implementation of a plan, in this process or, if that is not possible, in others."""

    def __init__(self, plan: Plan, jobs: int = 1) -> None:
        """Make the implementation, which `close` ends; processes are started for the first cases."""
        self.plan = plan
        self.jobs = jobs
        self._case: list[tuple[Case, float]] = []  # that runs in this process
        self._jobs: list[FileJob] = []  # begun in other processes, and not over
        self._here: Implementation | None = make_all(plan.implementation, plan.against, plan.timeout)
        if not self._runs_here(self._here):
            self._pool = self._pool_for(self._here)
            self._here.close()  # each process makes its own
            self._here = None

    @property
    def _is_default_of_reference(self) -> bool:
        """Whether the reference engine runs with the default time limit.

        Then it keeps the limit itself, between tiles. A process for it would be slower.
        """
        return self.plan.names == "reference" and self.plan.timeout == DEFAULT_TIMEOUT

    @property
    def _limit(self) -> float | None:
        """The most seconds that a case may take, None for any number."""
        return None if self.jobs == 1 and self._is_default_of_reference else self.plan.timeout

    def _runs_here(self, implementation: Implementation) -> bool:
        """Whether the cases run in this process: one is enough, and no case can crash it or exceed a time limit."""
        is_timed = self._limit is None or implementation.keeps_time
        return self.jobs == 1 and is_timed and not implementation.may_crash

    def _pool_for(self, implementation: Implementation) -> Pool[FileJob]:
        """Return the processes that the cases run in; none of them is started yet."""
        from dmlcheck.processes.child import SHUTDOWN_TIME, Child
        from dmlcheck.processes.pool import Pool
        from dmlcheck.running.file_jobs import FileJob

        limit = self._limit
        shutdown_time = SHUTDOWN_TIME if implementation.keeps_time else 0.0
        self._job = partial(
            FileJob,
            plan=self.plan,
            limit=None if limit is None else limit * self.plan.runs_of_a_case + shutdown_time,
            announces=implementation.may_crash or (limit is not None and not self._is_default_of_reference),
            directml=judged_directml(implementation, self.plan.settings.directml_version),
        )
        return Pool(partial(Child, "dmlcheck.running.worker", self.plan, shutdown_time=shutdown_time), self.jobs)

    def events(self, files: Files) -> Iterator[Event]:
        """Yield the events of files, in the order of the files and their cases."""
        if self._here is not None:
            yield from self._events_here(files, self._here)
        else:
            for job, event in self._pool.through(map(self._begun, files.targets)):
                if isinstance(event, Ended):
                    self._jobs.remove(job)
                    files.ended(job.question.target, job.done)
                yield event

    def _begun(self, target: Target) -> FileJob:
        self._jobs.append(self._job(target))
        return self._jobs[-1]

    def _events_here(self, files: Files, implementation: Implementation) -> Iterator[Event]:
        def begin(case: Case) -> None:
            self._case = [(case, time.monotonic())]

        for target in files.targets:
            cases = 0
            for event in file_events(files.take(target), target, self.plan, implementation, begin):
                self._case = []
                cases += type(event) is Done
                yield event
            files.ended(target, cases)

    def running(self) -> list[tuple[Case, float]]:
        """Return the cases that run, or ran when the run was interrupted, and since when."""
        if self._here is not None:
            return self._case
        return [(job.case, job.since) for job in self._jobs if job.case is not None]

    def close(self) -> None:
        """End the implementation, or the processes."""
        if self._here is not None:
            self._here.close()
        else:
            self._pool.close()


# ---- the files of a run


MOST_KEPT = 1 << 24  # characters of the files that are read before their turn and kept: more of them are read twice


class Files:
    """The files of a run. A report asks for the number of cases while some of them run, perhaps in another thread."""

    def __init__(self, targets: Sequence[Target], plan: Plan, read: Callable[[str, str], CaseFile] = read_file) -> None:
        """Begin with nothing read; `read` returns the file at a path under its name."""
        self.targets = targets
        self.plan = plan
        self.read = read
        self._numbers: dict[Target, int] = {}
        self._kept: dict[tuple[str, str], CaseFile] = {}
        self._room = MOST_KEPT
        self._now: tuple[tuple[str, str], CaseFile] | None = None
        self._lock = Lock()

    def take(self, target: Target) -> CaseFile:
        """Return the file that runs next."""
        key = (target.file, target.name)
        with self._lock:
            if self._now is not None and self._now[0] == key:
                return self._now[1]
            file = self._kept.pop(key, None)
            if file is None:
                file = self.read(*key)
            else:
                self._room += len(file.document.text)
            self._now = (key, file)
            return file

    def ended(self, target: Target, cases: int) -> None:
        """Note how many results a file had that has run."""
        self._numbers[target] = cases

    def total(self) -> int:
        """Return how many results the run has; pending files are read now, and kept if they fit in memory."""
        return sum(map(self._number, self.targets))

    def _number(self, target: Target) -> int:
        with self._lock:
            if target not in self._numbers:
                self._numbers[target] = number_of_cases(self._counted(target), target, self.plan)
            return self._numbers[target]

    def _counted(self, target: Target) -> CaseFile:
        """Return a file that is counted: the one that runs, one that is kept, or one that is read for it."""
        key = (target.file, target.name)
        if self._now is not None and self._now[0] == key:
            return self._now[1]
        file = self._kept.get(key)
        if file is None:
            file = self.read(*key)
            size = len(file.document.text)
            if size <= self._room:
                self._room -= size
                self._kept[key] = file
        return file
