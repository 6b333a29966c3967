"""The cases of files in batches, each run by a worker of a cluster: the executor of `run --executor dask`."""

from __future__ import annotations

import atexit
import gc
import multiprocessing
import os
import threading
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

from dmlcheck.cases.find import Target
from dmlcheck.cases.records import Case, CaseFile
from dmlcheck.diagnostics.record import Finding
from dmlcheck.formats.read import read_file
from dmlcheck.implementations import About, Implementation, about, close, make, require_directml
from dmlcheck.running.cluster import Cluster, Lost
from dmlcheck.running.events import Done, Ended, Event, Other, Plan, chosen, digest, file_events
from dmlcheck.running.processes import Execution, never_ended
from dmlcheck.running.worker import RARE, portable

MOST = 500  # cases of a batch of a file that is cut
_WHOLE = 2**17  # bytes; a smaller file is one batch, since this process must read a file to cut it


class Batches:
    """Runs the cases of files on the workers of a cluster, which read the files themselves."""

    def __init__(self, targets: list[Target], plan: Plan, cluster: Cluster) -> None:
        """Prepare to run the cases of files as a plan says."""
        self.targets = targets
        self.plan = plan
        self.cluster = cluster

    def events(self) -> Iterator[Event]:
        """Yield the events, in the order of the files and their cases."""
        batches = (batch for target in self.targets for batch in batches_of(target))
        for batch, found in self.cluster.map(partial(run_batch, self.plan), batches):
            yield from self._lost(batch, found.problem) if isinstance(found, Lost) else found

    def running(self) -> list[tuple[Case, float]]:
        """Return no case: it is not known which one a worker is at."""
        return []

    def _lost(self, batch: Target, problem: str) -> Iterator[Event]:
        """Yield an error for each case of a batch that returned nothing."""
        params = {"implementation": self.plan.implementation, "problem": f"was lost with its worker ({problem})"}
        finding = Finding("implementation-error", (), params)
        file = read_file(batch.file, batch.name)
        ids = []
        for case, is_selected, is_here in chosen(file, batch, self.plan):
            if is_selected:
                ids.append(case.id)
            yield Done(never_ended(case, "the worker ended", finding, None)) if is_here else Other(case.id, case.file)
        yield Ended(digest(ids) if self.plan.digests else None)


def batches_of(target: Target) -> Iterator[Target]:
    """Yield the parts of a file that are run by themselves; a small file is one."""
    if target.case is not None or _size(target.file) < _WHOLE:
        yield target
        return
    count = len(read_file(target.file, target.name).cases)
    for first in range(0, max(1, count), MOST):
        yield target._replace(part=(first, first + MOST))


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except (OSError, ValueError):
        return 0  # the worker that reads it reports the problem


# ---- on a worker

_ONE = threading.Lock()  # a worker that has several threads runs one batch at a time


def run_batch(plan: Plan, batch: Target) -> list[Event]:
    """Return the events of a batch, on a worker.

    Cases run as without a cluster, if need be in a process of their own.
    """
    with _ONE:
        gc.set_threshold(RARE)
        execution = Execution([batch], plan)
        implementation = _made(plan.implementation, plan.timeout)
        if execution.runs_here(implementation):
            events = file_events(_read(batch.file, batch.name), batch, plan, implementation, _ignored)
        else:
            have_children()
            events = execution.events()
        return [portable(event, details=plan.details) for event in events]


def have_children() -> None:
    """Let this process start others: those that dask starts are daemons, which Python lets have none.

    A process that is started here ends with this one, since its connection closes.
    """
    own = multiprocessing.current_process()
    if own.daemon:
        own._config["daemon"] = False  # type: ignore[attr-defined]  # noqa: SLF001 - the attribute cannot be set


@lru_cache(1)
def _made(name: str, timeout: float | None) -> Implementation:
    """Return the implementation that this worker runs cases on, made once."""
    implementation = make(name, timeout)
    atexit.register(close, implementation)
    return implementation


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


def _ignored(_: Any) -> None:
    """Ignore the case that is about to run."""


def about_there(name: str, directml_version: str | None) -> About:
    """Return an implementation's description of itself, on a worker; Unavailable if it cannot be made there."""
    implementation = make(name)
    try:
        if directml_version is not None:
            require_directml(implementation)
        return about(implementation)
    finally:
        close(implementation)
