"""The cases of files in batches, each run by a worker of a cluster: the executor of `run --executor dask`."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial

from dmlcheck.cases.records import Case, CaseFile
from dmlcheck.diagnostics.record import Finding
from dmlcheck.formats.find import Target
from dmlcheck.formats.registry import read_file
from dmlcheck.implementations import make, require_directml
from dmlcheck.implementations.protocol import About
from dmlcheck.processes.cluster import Cluster, Lost
from dmlcheck.processes.kept import kept
from dmlcheck.running.events import Done, Ended, Event, NotRun, Plan, chosen, digest
from dmlcheck.running.execution import Files, Runner
from dmlcheck.running.file_jobs import never_ended
from dmlcheck.running.worker import RARE, Row, portable, whole

_MOST, _LEAST = 2**18, 2**15  # bytes of a batch; a file of at least twice as many is cut
_SHARES = 2  # batches that are left for each thread, until they are as small as that

Batch = tuple[Target, ...]


class Batches:
    """Runs the cases of files on the workers of a cluster, which read the files themselves."""

    def __init__(self, targets: list[Target], plan: Plan, cluster: Cluster) -> None:
        self.targets = targets
        self.plan = plan
        self.cluster = cluster

    def events(self) -> Iterator[Event]:
        """Yield the events, in the order of the files and their cases."""
        batches = batches_of(self.targets, self.cluster.threads)
        for batch, found in self.cluster.map(partial(run_batch, self.plan), batches):
            yield from self._lost(batch, found.problem) if isinstance(found, Lost) else map(whole, found)

    def running(self) -> list[tuple[Case, float]]:
        """Return no case: it is not known which one a worker is at."""
        return []

    def _lost(self, batch: Batch, problem: str) -> Iterator[Event]:
        """Yield an error for each case of a batch that returned nothing."""
        params = {"implementation": self.plan.names, "problem": f"was lost with its worker ({problem})"}
        finding = Finding("implementation-error", (), params)
        for target in batch:
            file = read_file(target.file, target.name)
            ids = []
            for case, is_selected, is_here in chosen(file, target, self.plan):
                if is_selected:
                    ids.append(case.id)
                if is_here:
                    yield Done(never_ended(case, "the worker ended", finding, None))
                else:
                    yield NotRun(case.id, case.file)
            yield Ended(digest(ids) if self.plan.digests else None)


def batches_of(targets: Iterable[Target], threads: Callable[[], int]) -> Iterator[Batch]:
    """Yield files together while they are small, and the parts of a large one each by itself.

    A batch costs about as much as forty small cases. So the first ones are large, and the last ones small, since the
    run waits for the last of them.
    """
    sized = [(target, target.bytes) for target in targets]
    left = sum(size for _, size in sized)
    together: list[Target] = []
    room = 0
    for target, size in sized:
        if together and size > room:
            yield tuple(together)
            together = []
        if not together:
            room = min(_MOST, max(_LEAST, left // (_SHARES * threads())))
        left -= size
        if not together and size >= 2 * room and target.case is None:
            count = size // room
            yield from ((target._replace(part=(number, count)),) for number in range(count))
        else:
            together.append(target)
            room -= size
    if together:
        yield tuple(together)


# ---- on a worker


def run_batch(plan: Plan, batch: Batch) -> list[Event | Row]:
    """Return the events of a batch to be sent, on a worker.

    Cases run as without a cluster, if need be in a process of their own.
    """
    gc.set_threshold(RARE)
    with kept(("run", plan), lambda: Runner(plan)) as runner:
        files = Files(batch, plan, _read)
        return [portable(event, details=plan.details) for event in runner.events(files)]


def _read(path: str, name: str) -> CaseFile:
    """Return a file, read once for all of its batches that come one after the other."""
    try:
        state = os.stat(path)
    except (OSError, ValueError):
        return read_file(path, name)
    return _last_read(path, name, state.st_mtime_ns, state.st_size)


@lru_cache(1)
def _last_read(path: str, name: str, _time: int, _size: int) -> CaseFile:
    return read_file(path, name)


def about_there(name: str, directml_version: str | None) -> About:
    """Return an implementation's description of itself, on a worker; Unavailable if it cannot be made there."""
    implementation = make(name)
    try:
        if directml_version is not None:
            require_directml(implementation)
        return implementation.about
    finally:
        implementation.close()
