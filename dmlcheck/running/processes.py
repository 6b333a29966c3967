"""A run: the cases of files one after the other, in this process or in several, with their results in order.

Whatever becomes of a case, the others still run: a case that crashes its process, or outlives its time, is that case's
error, and another process goes on after it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from dmlcheck.cases.find import Target
from dmlcheck.cases.records import Case, CaseFile, Origin
from dmlcheck.cases.select import matcher
from dmlcheck.diagnostics.record import Diagnostic, Finding
from dmlcheck.files.document import Position
from dmlcheck.formats.reading import read_file
from dmlcheck.implementations import Implementation, close, keeps_time, make, may_crash
from dmlcheck.running.one_case import Settings, all_problems, portable, run_case
from dmlcheck.running.results import ERRORED, CaseResult, Placed

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess


class Plan(NamedTuple):
    """What a run is to do with its cases: plain values, which every process of the run is given."""

    implementation: str = "reference"
    settings: Settings = Settings()
    expression: str | None = None
    shard: tuple[int, int] | None = None
    timeout: float | None = None


class Started(NamedTuple):
    """A case that is about to run: what there is to say of it should it never end."""

    id: str
    name: str
    file: str
    line: int
    operator: str
    level: str | None

    def result(self, reason: str, finding: Finding) -> CaseResult:
        """Return the result of a case that did not end."""
        placed = finding.diagnostic()._replace(file=self.file, line=self.line, column=1)
        return CaseResult(_case(self, Placed(Position(self.line, 1))), ERRORED, reason, (placed,), level=self.level)


class Done(NamedTuple):
    """A case with its result."""

    result: CaseResult


class Other(NamedTuple):
    """A case that is there and does not run: not selected, or another shard's."""

    id: str


class Ended(NamedTuple):
    """The end of a file, with the digest of the ids of its selected cases."""

    digest: bytes


Event = Started | Done | Other | Ended


class Execution:
    """A run under way: what happens, in the order of the files and their cases, and which case is taking long."""

    def __init__(self, targets: list[Target], plan: Plan, jobs: int = 1) -> None:
        """Prepare to run the cases of files, in this process or in as many others as `jobs` says."""
        self.targets = targets
        self.plan = plan
        self.jobs = jobs
        self._running: Callable[[], Iterable[tuple[Started, float]]] = lambda: ()

    def events(self) -> Iterator[Event]:
        """Yield what happens."""
        implementation = make(self.plan.implementation, self.plan.timeout)
        is_timed = self.plan.timeout is None or keeps_time(implementation)
        if self.jobs == 1 and is_timed and not may_crash(implementation):
            yield from self._here(implementation)
            return
        close(implementation)
        patience = _GRACE if keeps_time(implementation) else 0.0
        limit = None if self.plan.timeout is None else self.plan.timeout + patience
        pool = _Pool(self.targets, self.plan, self.jobs, limit, patience)
        self._running = lambda: [(worker.case, worker.since) for worker in pool.workers if worker.case is not None]
        yield from pool.events()

    def _here(self, implementation: Implementation) -> Iterator[Event]:
        now: list[tuple[Started, float]] = []
        self._running = lambda: list(now)
        try:
            for target in self.targets:
                for event in file_events(target, self.plan, implementation):
                    now[:] = [(event, time.monotonic())] if isinstance(event, Started) else []
                    yield event
        finally:
            close(implementation)

    def slowest(self) -> tuple[str, float] | None:
        """Return the case that has been running longest, and for how many seconds."""
        since, case_id = min(((since, case.id) for case, since in self._running()), default=(0.0, ""))
        return (case_id, time.monotonic() - since) if case_id else None


def in_shard(case_id: str, shard: tuple[int, int] | None) -> bool:
    """Whether a case is one of a shard's: the same for everybody, whatever other cases there are."""
    if shard is None:
        return True
    digest = hashlib.sha256(case_id.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") % shard[1] == shard[0] - 1


def file_events(target: Target, plan: Plan, implementation: Implementation, skip: int = 0) -> Iterator[Event]:
    """Run the selected cases of a file, but for the first few; a file that is wrong as a whole is one result."""
    file = read_file(target.file, target.name)
    selected = matcher(plan.expression) if plan.expression is not None else None
    ids = hashlib.sha256()
    if file.problems:
        problems = (*file.problems, *(problem for found in file.broken.values() for problem in found))
        name = file.document.name
        ids.update(name.encode("utf-8", "surrogatepass") + b"\0")
        if in_shard(name, plan.shard) and not skip:
            yield Done(CaseResult(_as_case(file), ERRORED, "the file cannot be used", problems, is_malformed=True))
        yield Ended(ids.digest())
        return
    number = 0
    for case in file.cases:
        if target.case not in (None, case.name):
            continue
        if selected is not None and not selected(case.id):
            yield Other(case.id)
            continue
        ids.update(case.id.encode("utf-8", "surrogatepass") + b"\0")
        if not in_shard(case.id, plan.shard):
            yield Other(case.id)
            continue
        number += 1
        if number > skip:
            broken = file.broken.get(case.id)
            level = case.feature_level
            if broken is None:
                yield Started(case.id, case.name, case.file, case.position.line, case.operator, level)
                yield Done(run_case(case, implementation, plan.settings))
            else:
                problems = all_problems(case, broken)
                result = CaseResult(case, ERRORED, "not a well-formed case", problems, level=level, is_malformed=True)
                yield Done(result)
    yield Ended(ids.digest())


def _as_case(file: CaseFile) -> Case:
    """Return what stands in reports for a file whose cases cannot be read."""
    name = file.document.name
    return _case(Started(name, os.path.basename(name), name, 1, "", None), Origin(file.document, ((),)))


def _case(of: Started, origin: Any) -> Case:
    return Case(
        id=of.id,
        name=of.name,
        file=of.file,
        operator=of.operator,
        feature_level=of.level,
        desc={},
        inputs=None,
        outputs=None,
        invalid=None,
        tolerance=None,
        source=None,
        tags=(),
        note=None,
        origin=origin,
    )


# ---- several processes


def _work(connection: Connection, plan: Plan) -> None:
    """Run files as they are asked for and send what happens; the body of a process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that reports decides what an interrupt means
    signal.signal(signal.SIGTERM, _leave)
    implementation = make(plan.implementation, plan.timeout)
    try:
        while True:
            try:
                asked = connection.recv()
            except EOFError:
                return
            if asked is None:
                return
            target, skip = asked
            for event in file_events(target, plan, implementation, skip):
                connection.send(Done(portable(event.result)) if isinstance(event, Done) else event)
    finally:
        close(implementation)


def _leave(*_: Any) -> None:
    """End this process, but let the implementation end what it has started."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit


class _Worker:
    """A process with the file that it is at, and the case in it."""

    def __init__(self, plan: Plan, patience: float) -> None:
        import multiprocessing

        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process: SpawnProcess = context.Process(target=_work, args=(theirs, plan), daemon=True)
        self.process.start()
        theirs.close()
        self.file: int | None = None
        self.done = 0
        self.case: Started | None = None
        self.since = 0.0
        self.patience = patience

    def give(self, number: int, target: Target, skip: int = 0) -> None:
        self.file, self.done, self.case = number, skip, None
        with contextlib.suppress(OSError):  # it may be gone already, which shows when it is listened to
            self.connection.send((target, skip))

    def dismiss(self) -> None:
        """Ask the process to end: in the middle of a file only one whose implementation has something to end."""
        if self.file is None:
            with contextlib.suppress(OSError):
                self.connection.send(None)
        elif self.patience:
            self.process.terminate()

    def stop(self) -> int | None:
        """End the process and return its exit code."""
        self.dismiss()
        self.process.join(_GRACE if self.file is None else self.patience)
        self.process.kill()
        self.process.join()
        self.connection.close()
        return self.process.exitcode


_TRIES = 3  # to read on in a file at a place between two cases
_GRACE = 5.0  # seconds more for an implementation that ends its own work when a case takes too long, or at the end
_AHEAD = 2000  # events of files that are not their turn yet, for each process


class _Pool:
    """Several processes, each at a file; what they send is passed on in the order of the files."""

    def __init__(
        self, targets: list[Target], plan: Plan, jobs: int, limit: float | None = None, patience: float = 0.0
    ) -> None:
        self.targets = targets
        self.plan = plan
        self.limit = limit
        self.patience = patience
        self.waiting = deque(range(len(targets)))
        self.workers = [_Worker(plan, patience) for _ in range(max(1, min(jobs, len(targets))))] if targets else []
        self.events_of: dict[int, deque[Event]] = {}
        self.ended: set[int] = set()
        self.lost: Counter[tuple[int, int]] = Counter()
        self.turn = 0

    def events(self) -> Iterator[Event]:
        try:
            for worker in self.workers:
                self._next_file(worker)
            while self.turn < len(self.targets):
                yield from self._whose_turn_it_is()
                if self.turn < len(self.targets):
                    self._listen()
        finally:
            for worker in self.workers:
                worker.dismiss()
            for worker in self.workers:
                worker.stop()

    def _whose_turn_it_is(self) -> Iterator[Event]:
        while self.turn < len(self.targets):
            events = self.events_of.get(self.turn)
            while events:
                yield events.popleft()
            if self.turn not in self.ended:
                return
            self.events_of.pop(self.turn, None)
            self.turn += 1

    def _next_file(self, worker: _Worker) -> None:
        worker.file = None
        if self.waiting:
            number = self.waiting.popleft()
            self.events_of[number] = deque()
            worker.give(number, self.targets[number])

    def _listen(self) -> None:
        """Take what the processes send, but no more than can be held of a file whose turn has not come."""
        from multiprocessing.connection import wait

        busy = {
            worker.connection: worker
            for worker in self.workers
            if worker.file is not None and (worker.file == self.turn or len(self.events_of[worker.file]) < _AHEAD)
        }
        for connection in wait(list(busy), self._patience()):
            self._take(busy[connection])  # type: ignore[index]
        for worker in self.workers:
            if self.limit is None or worker.case is None or worker.file is None:
                continue
            if time.monotonic() - worker.since > self.limit and not worker.connection.poll():
                seconds = f"{self.plan.timeout:g}"
                finding = Finding("timeout", (), {"seconds": seconds})
                self._lost(worker, worker.file, "timed out", finding, f"did not end within {seconds} s")

    def _patience(self) -> float | None:
        """Return how long nothing may happen before some case has outlived its time."""
        if self.limit is None:
            return None
        since = [worker.since for worker in self.workers if worker.case is not None]
        return max(0.01, min(since) + self.limit - time.monotonic() + 0.01) if since else None

    def _take(self, worker: _Worker) -> None:
        number = worker.file
        if number is None:
            return
        try:
            event = worker.connection.recv()
        except (EOFError, OSError):
            self._crashed(worker, number)
            return
        self.events_of[number].append(event)
        if isinstance(event, Started):
            worker.case, worker.since = event, time.monotonic()
        elif isinstance(event, Done):
            worker.case = None
            worker.done += 1
        elif isinstance(event, Ended):
            self.ended.add(number)
            self._next_file(worker)

    def _crashed(self, worker: _Worker, number: int) -> None:
        worker.process.join()
        ending = _ending(worker.process.exitcode)
        params = {"implementation": self.plan.implementation, "problem": ending}
        self._lost(worker, number, "the process ended", Finding("implementation-error", (), params), ending)

    def _lost(self, worker: _Worker, number: int, reason: str, finding: Finding, problem: str) -> None:
        """Report the case that a process was lost with, and let another go on after it."""
        target = self.targets[number]
        events = self.events_of[number]
        skip = worker.done
        is_over = False
        if worker.case is not None:
            events.append(Done(worker.case.result(reason, finding)))
            skip += 1
        else:
            # Between cases: that may be chance. Again and again it is the file, of which nothing more can run.
            self.lost[number, skip] += 1
            is_over = self.lost[number, skip] >= _TRIES
        worker.stop()
        fresh = _Worker(self.plan, self.patience)
        self.workers[self.workers.index(worker)] = fresh
        if not is_over:
            fresh.give(number, target, skip)
            return
        stub = Started(target.name, os.path.basename(target.name), target.name, 1, "", None)
        diagnostic = Diagnostic("implementation-error", f"the file {problem}", file=target.name, line=1, column=1)
        result = stub.result(reason, finding)._replace(diagnostics=(diagnostic,), is_malformed=True)
        events.extend([Done(result), Ended(b"")])
        self.ended.add(number)
        self._next_file(fresh)


def _ending(code: int | None) -> str:
    """Say how a process ended."""
    if code is not None and code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        memory = ", perhaps for lack of memory" if name == "SIGKILL" else ""
        return f"ended the process with {name}{memory}"
    return f"ended the process with exit code {code}"


def digest_of(digests: Iterable[bytes]) -> str:
    """Return the digest of a case set from those of its files, in order."""
    whole = hashlib.sha256()
    for digest in digests:
        whole.update(digest)
    return whole.hexdigest()
