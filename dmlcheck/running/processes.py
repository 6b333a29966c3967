"""A run: the cases of files one after the other, in this process or in several, with their results in order.

No case stops the others: a case that crashes its process, or exceeds its timeout, is that case's
error, and another process goes on after it.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from dmlcheck.cases.find import Target
from dmlcheck.cases.records import Case, DetachedOrigin
from dmlcheck.descs.read import read_desc
from dmlcheck.diagnostics.record import Diagnostic, Finding
from dmlcheck.files.document import diagnostic_at
from dmlcheck.formats.read import read_file
from dmlcheck.implementations.protocol import Implementation
from dmlcheck.running.children import ending, started
from dmlcheck.running.events import (
    DEFAULT_TIMEOUT,
    Done,
    Ended,
    Event,
    Executor,
    Plan,
    case_of_file,
    file_events,
    how_it_ended,
)
from dmlcheck.running.files import Files
from dmlcheck.running.known_failures import DirectML, judged_directml, with_known
from dmlcheck.running.pair import make_all
from dmlcheck.running.results import ERRORED, CaseResult
from dmlcheck.values import memory

if TYPE_CHECKING:
    from dmlcheck.running.worker import Message, Task


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

    @property
    def is_default_of_reference(self) -> bool:
        """Whether the reference engine runs with the default time limit.

        Then it keeps the limit itself, between tiles. A process for it would be slower.
        """
        return self.plan.names == "reference" and self.plan.timeout == DEFAULT_TIMEOUT

    @property
    def limit(self) -> float | None:
        """The most seconds that a case may take, None for any number."""
        return None if self.jobs == 1 and self.is_default_of_reference else self.plan.timeout

    def events(self) -> Iterator[Event]:
        """Yield the events."""
        if self.executor is not None:
            yield from self._elsewhere(self.executor)
            return
        implementation = make_all(self.plan.implementation, self.plan.against, self.plan.timeout)
        if self.runs_here(implementation):
            yield from self._here(implementation)
            return
        crew = self.crew(implementation)
        implementation.close()
        try:
            yield from self._elsewhere(Pool(self.files, crew, self.jobs))
        finally:
            crew.close()

    def runs_here(self, implementation: Implementation) -> bool:
        """Whether the cases run in this process: one is enough, and no case can crash it or exceed a time limit."""
        is_timed = self.limit is None or implementation.keeps_time
        return self.jobs == 1 and is_timed and not implementation.may_crash

    def crew(self, implementation: Implementation) -> Crew:
        """Return the processes that the cases run in; none of them is started yet."""
        limit = self.limit
        patience = GRACE if implementation.keeps_time else 0.0
        return Crew(
            self.plan,
            limit=None if limit is None else limit * self.plan.runs_of_a_case + patience,
            patience=patience,
            announces=implementation.may_crash or (limit is not None and not self.is_default_of_reference),
            directml=judged_directml(implementation, self.plan.settings.directml_version),
        )

    def _elsewhere(self, executor: Executor) -> Iterator[Event]:
        self._running = executor.running
        yield from executor.events()

    def _here(self, implementation: Implementation) -> Iterator[Event]:
        now: list[tuple[Case, float]] = []
        self._running = lambda: now

        def begin(case: Case) -> None:
            now[:] = [(case, time.monotonic())]

        try:
            for target in self.targets:
                cases = 0
                for event in file_events(self.files.take(target), target, self.plan, implementation, begin):
                    now.clear()
                    cases += type(event) is Done
                    yield event
                self.files.ended(target, cases)
        finally:
            implementation.close()

    def slowest(self) -> tuple[str, float] | None:
        """Return the case that has been running longest, and for how many seconds."""
        since, case_id = min(((since, case.id) for case, since in self._running()), default=(0.0, ""))
        return (case_id, time.monotonic() - since) if case_id else None


# ---- several processes


class Worker:
    """A process with the file that it runs, and the case in it."""

    def __init__(self, plan: Plan, patience: float) -> None:
        """Start the process; it has some seconds more to end the work of an implementation."""
        from dmlcheck.running.worker import work

        self.child = started(work, plan)
        self.file: int | None = None
        self.announces = False
        self.done = self.skipped = 0
        self.tried: tuple[str, ...] = ()  # how the first case that runs ended before
        self.case: Case | None = None
        self.since = 0.0
        self.patience = patience

    def give(self, number: int, task: Task) -> None:
        """Have the process run the cases of a file, by the number of the file."""
        self.file, self.announces, self.done, self.case = number, task.announces, task.skip, None
        self.skipped, self.tried = task.skip, task.tried
        with contextlib.suppress(OSError):  # it may be gone already, which `receive` finds out
            self.child.connection.send(task)

    def receive(self) -> list[Event]:
        """Return the last event; EOFError or OSError if the process has ended."""
        from dmlcheck.running.worker import Started, whole

        message: Message = self.child.connection.recv()
        happened: list[Event] = []
        for event in map(whole, message):
            if isinstance(event, Started):
                self.case, self.since = event.case, time.monotonic()
                continue
            happened.append(event)
            if isinstance(event, Done):
                self.case = None
                self.done += 1
        return happened

    def dismiss(self) -> None:
        """Ask the process to end; in the middle of a file only if its implementation has something to end."""
        if self.file is None:
            with contextlib.suppress(OSError):
                self.child.connection.send(None)
        elif self.patience:
            self.child.process.terminate()

    def stop(self) -> int | None:
        """End the process and return its exit code."""
        self.dismiss()
        return self.child.stop(GRACE if self.file is None else self.patience)


_TRIES = 3  # to read on in a file at a place where no case is known to be wrong
GRACE = 5.0  # seconds more for an implementation that ends its own work when a case takes too long, or at the end
_AHEAD = 2000  # events of files that are not their turn yet, for each process


class Crew:
    """The processes of a plan: one without work is taken for a file, and left for the next one.

    With `announces` each case is named before it runs. Without it, the case that ended a process is not known. Then the
    cases without a result run again, each of them named.
    """

    def __init__(
        self,
        plan: Plan,
        *,
        limit: float | None = None,
        patience: float = 0.0,
        announces: bool = True,
        directml: DirectML | None = None,
    ) -> None:
        """Begin without a process. `limit` is the timeout of a case, `patience` the time to shut down, in seconds."""
        self.plan = plan
        self.limit = limit
        self.patience = patience
        self.announces = announces
        self.directml = directml
        self._idle: list[Worker] = []

    def take(self) -> Worker:
        """Return a process without work."""
        return self._idle.pop() if self._idle else Worker(self.plan, self.patience)

    def leave(self, workers: Iterable[Worker]) -> None:
        """Keep the processes without work, and end the others."""
        workers = list(workers)
        self._idle += [worker for worker in workers if worker.file is None]
        _end([worker for worker in workers if worker.file is not None])

    def close(self) -> None:
        """End all processes without work."""
        _end(self._idle)
        self._idle.clear()


def _end(workers: list[Worker]) -> None:
    for worker in workers:
        worker.dismiss()
    for worker in workers:
        worker.stop()


class Pool:
    """Some processes of a crew, each with a file; their events are passed on in the order of the files."""

    def __init__(self, files: Files, crew: Crew, jobs: int) -> None:
        """Prepare to run files in as many processes as `jobs` says."""
        self.files = files
        self.targets = targets = files.targets
        self.crew = crew
        self.plan = crew.plan
        self.waiting = deque(range(len(targets)))
        self.workers = [crew.take() for _ in range(max(1, min(jobs, len(targets))))] if targets else []
        self.events_of: dict[int, deque[Event]] = {}
        self.ended: set[int] = set()
        self.lost: Counter[tuple[int, int]] = Counter()
        self.tried: dict[tuple[int, int], tuple[str, ...]] = {}
        self.turn = self.cases = 0  # the file whose turn it is, and the number of its results so far

    def events(self) -> Iterator[Event]:
        """Yield the events, in the order of the files and their cases."""
        try:
            for worker in self.workers:
                self._next_file(worker)
            while self.turn < len(self.targets):
                yield from self._whose_turn_it_is()
                if self.turn < len(self.targets):
                    self._listen()
        finally:
            self.crew.leave(self.workers)

    def running(self) -> list[tuple[Case, float]]:
        """Return the cases that run, and since when."""
        return [(worker.case, worker.since) for worker in self.workers if worker.case is not None]

    def _whose_turn_it_is(self) -> Iterator[Event]:
        while self.turn < len(self.targets):
            events = self.events_of.get(self.turn)
            while events:
                event = events.popleft()
                self.cases += type(event) is Done
                yield event
            if self.turn not in self.ended:
                return
            self.events_of.pop(self.turn, None)
            self.files.ended(self.targets[self.turn], self.cases)
            self.turn, self.cases = self.turn + 1, 0

    def _next_file(self, worker: Worker) -> None:
        worker.file = None
        if self.waiting:
            number = self.waiting.popleft()
            self.events_of[number] = deque()
            self._give(worker, number, 0, announces=self.crew.announces)

    def _give(self, worker: Worker, number: int, skip: int, *, announces: bool) -> None:
        from dmlcheck.running.worker import Task

        worker.give(number, Task(self.targets[number], skip, announces, self.tried.pop((number, skip), ())))

    def _listen(self) -> None:
        """Take the events of the processes, up to a limit for pending files."""
        from multiprocessing.connection import wait

        busy = {
            worker.child.connection: worker
            for worker in self.workers
            if worker.file is not None and (worker.file == self.turn or len(self.events_of[worker.file]) < _AHEAD)
        }
        for connection in wait(list(busy), self._patience()):
            worker = busy[connection]  # type: ignore[index]
            if worker.file is not None:
                self._take(worker, worker.file)
        for worker in self.workers:
            if worker.file is not None and self._is_late(worker):
                seconds = f"{self.plan.timeout:g}"
                finding = Finding("timeout", (), {"seconds": seconds})
                problem = f"did not end within {seconds} s"
                self._lost(worker, worker.file, "timed out", finding, problem, is_running=True)

    def _patience(self) -> float | None:
        """Return the seconds until the first case exceeds its time limit."""
        if self.crew.limit is None:
            return None
        since = [worker.since for worker in self.workers if worker.case is not None]
        return max(0.01, min(since) + self.crew.limit - time.monotonic() + 0.01) if since else None

    def _is_late(self, worker: Worker) -> bool:
        if self.crew.limit is None or worker.case is None:
            return False
        return time.monotonic() - worker.since > self.crew.limit and not worker.child.connection.poll()

    def _take(self, worker: Worker, number: int) -> None:
        try:
            happened = worker.receive()
        except (EOFError, OSError):
            self._crashed(worker, number)
            return
        self.events_of[number].extend(happened)
        if happened and isinstance(happened[-1], Ended):
            self.ended.add(number)
            self._next_file(worker)

    def _crashed(self, worker: Worker, number: int) -> None:
        worker.child.process.join()
        problem = ending(worker.child.process.exitcode)
        params = {"implementation": self.plan.names, "problem": problem}
        self._lost(worker, number, "the process ended", Finding("implementation-error", (), params), problem)

    def _lost(
        self, worker: Worker, number: int, reason: str, finding: Finding, problem: str, *, is_running: bool = False
    ) -> None:
        """Report the case during which a process was lost, and start another that goes on after it.

        `is_running` says that it is the case that was named last; a process that still lives names it before it ends.
        """
        skip = worker.done
        is_over = False
        if (worker.announces or is_running) and worker.case is not None:
            result = never_ended(self._whole(worker.case, number), reason, finding, self.crew.directml)
            tried = worker.tried if worker.done == worker.skipped else ()
            if len(tried) < self.plan.retries:
                self.tried[number, skip] = (*tried, how_it_ended(result))
            else:
                self.events_of[number].append(Done(result))
                skip += 1
        else:
            # Once may be chance. Repeatedly, it is the file: no more of it can run.
            self.lost[number, skip] += 1
            is_over = self.lost[number, skip] >= _TRIES
        worker.stop()
        fresh = self.crew.take()
        self.workers[self.workers.index(worker)] = fresh
        if not is_over:
            self._give(fresh, number, skip, announces=True)
            return
        result = _unreadable(self.targets[number].name, reason, problem)
        self.events_of[number].extend([Done(result), Ended(None)])
        self.ended.add(number)
        self._next_file(fresh)

    def _whole(self, case: Case, number: int) -> Case:
        """Return a case with its desc, if the run needs that: the lost process gave only its place."""
        if self.crew.directml is None:
            return case
        target = self.targets[number]
        return next((found for found in read_file(target.file, target.name).cases if found.id == case.id), case)


def never_ended(case: Case, reason: str, finding: Finding, directml: DirectML | None) -> CaseResult:
    """Return the result of a case whose process was lost."""
    diagnostic = diagnostic_at(finding, case.file, case.position)
    result = CaseResult(case, ERRORED, reason, (diagnostic,), level=case.feature_level)
    desc = read_desc(case.operator, case.desc).desc if directml is not None and case.desc else None
    return result if desc is None or directml is None else with_known(result, desc, directml)


def _unreadable(name: str, reason: str, problem: str) -> CaseResult:
    """Return the result of a file that ended one process after another, outside of any case."""
    diagnostic = Diagnostic("implementation-error", f"the file {problem}", file=name, line=1, column=1)
    case = case_of_file(name, DetachedOrigin())
    return CaseResult(case, ERRORED, reason, (diagnostic,), is_malformed=True)
