"""A cluster of dask: its workers call a function, and the results come back in order.

Needs the extra dask.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import pickle
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from dmlcheck import __version__
from dmlcheck.diagnostics.wording import cut
from dmlcheck.folders.export_folder import MissingRequirement
from dmlcheck.processes.child import interrupts_held
from dmlcheck.processes.kept import end_kept

if TYPE_CHECKING:
    from typing_extensions import Self

INSTALL = 'python -m pip install "dmlcheck[dask]"'
_EACH = 2  # calls of a thread: one runs, and the next is there when it ends
_HELD = 50  # answers that are kept for each of these until the next in order is there
_MOMENT = 0.5  # seconds
_RECENT = 1.0  # seconds in which the scheduler is asked for the number of threads once
_DESERTED = 60.0  # seconds without a worker, after which dask will start none
_WAIT = 10.0  # seconds for a scheduler to answer, and for a worker to be there
_MOST_SAID = 300  # characters of a message of dask

Given = TypeVar("Given")
Made = TypeVar("Made")


class Lost(NamedTuple):
    """A call without a result: its worker died, and so did the next one, or the cluster is gone."""

    problem: str
    is_of_its_worker: bool = False  # which died


class _Call(NamedTuple):
    given: Any
    future: Any
    is_again: bool = False  # after its worker died


class Cluster:
    """The workers of a scheduler, or, without an address, processes of this machine; used in a `with`.

    MissingRequirement where dask is not installed, nothing answers at the address, or the workers have another version
    of dmlcheck.
    """

    def __init__(self, address: str = "", jobs: int = 1) -> None:
        self.address = address
        self.jobs = jobs
        self.client: Any = None
        self._counted, self._threads = -math.inf, 0  # when the threads were counted
        self._seen = math.inf  # when there were any

    def __enter__(self) -> Self:
        """Connect, and check the workers."""
        with contextlib.nullcontext() if self.address else _starting():  # an interrupt may end the wait for a scheduler
            method = "spawn" if self.address else _start_method()
            try:
                import dask
                import distributed
            except ImportError as error:
                raise MissingRequirement(
                    f"it needs the package distributed ({error}); install it with: {INSTALL}"
                ) from None
            settings = {**_SETTINGS, "distributed.worker.multiprocessing-method": method}
            with dask.config.set(settings):  # which apply only to this process
                self._connect(distributed)
        try:
            self._check()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Close the implementations that the workers keep for this run, and release the workers."""
        if self.client is not None:
            with contextlib.suppress(Exception):  # a cluster that is gone has nothing to close
                if self.client.cluster is None:  # its workers go on
                    self.client.run(end_kept, on_error="ignore")
                self.client.close()
                if self.client.cluster is not None:
                    self.client.cluster.close()
            self.client = None

    def _connect(self, distributed: Any) -> None:
        try:
            if self.address:
                self.client = distributed.Client(self.address, timeout=_WAIT, set_as_default=False)
                return
            made = distributed.LocalCluster(
                n_workers=self.jobs, threads_per_worker=1, silence_logs=logging.CRITICAL, **_UNSEEN
            )
            self.client = distributed.Client(made, set_as_default=False)
        except (OSError, ValueError, TypeError, KeyError) as error:
            where = f"nothing answers at {self.address}" if self.address else "no workers can be started"
            raise MissingRequirement(f"{where}: {_said(error)}") from None

    def _check(self) -> None:
        """Check that there is a worker, and that each has this version of dmlcheck."""
        from distributed import TimeoutError as NoAnswer

        try:
            self.client.wait_for_workers(1, timeout=_WAIT)
        except NoAnswer:
            raise MissingRequirement(f"the cluster at {self.address} has no workers") from None
        for worker, found in self.client.run(_version, on_error="return").items():
            if isinstance(found, BaseException):
                problem = f"the worker {worker} cannot import dmlcheck: {_said(found)}"
                raise MissingRequirement(f"{problem}; install dmlcheck {__version__} where the workers run")
            if found != __version__:
                problem = f"the worker {worker} has dmlcheck {found}, and this is {__version__}"
                raise MissingRequirement(f"{problem}; install the same version on both")

    def ask(self, function: Callable[..., Made], *given: Any) -> Made:
        """Return the result of a function on one of the workers; its exception is raised here."""
        made: Made = self.client.submit(function, *given, pure=False).result()
        return made

    def map(self, function: Callable[[Given], Made], all_given: Iterable[Given]) -> Iterator[tuple[Given, Made | Lost]]:
        """Yield the results of a function on the workers for each of its arguments, in their order.

        A call whose worker dies runs once more, with no other at the same time: no other call's worker is lost with it,
        and the next death is its own. Calls under way are cancelled when the iterator is closed.
        """
        calls = _Calls(self, function, all_given)
        try:
            while calls.send_more():
                call, answer = calls.first()
                if isinstance(answer, Lost) and answer.is_of_its_worker and not call.is_again:
                    calls.send_by_itself(call)
                else:
                    yield call.given, answer
        finally:
            calls.cancel()

    def threads(self) -> int:
        """Return the number of calls that run at a time."""
        now = time.monotonic()
        if now > self._counted + _RECENT:
            self._counted, self._threads = now, sum((self.client.nthreads() or {}).values())
            self._seen = now if self._threads else self._seen
        return max(1, self._threads)

    def is_deserted(self) -> bool:
        """Whether the processes of this machine are gone for good; a scheduler elsewhere may get more workers."""
        self.threads()
        return not self.address and time.monotonic() > self._seen + _DESERTED


class _Calls:
    """Calls of a function on the workers of a cluster, in the order in which they were sent."""

    def __init__(self, cluster: Cluster, function: Callable[..., Any], all_given: Iterable[Any]) -> None:
        self.cluster = cluster
        self.function = function
        self.left = iter(all_given)
        self.sent: deque[_Call] = deque()
        self.busy = 0  # calls that are not known to have ended
        self.ended: SimpleQueue[Any] = SimpleQueue()

    def send_more(self) -> bool:
        """Send the next calls, unless one runs by itself, and return whether any result is pending."""
        self._note_ended()
        if not (self.sent and self.sent[0].is_again):
            most = self.cluster.threads() * _EACH
            while self.busy < most and len(self.sent) < _HELD * most and (given := next(self.left, None)) is not None:
                self.sent.append(self._call(given))
        return bool(self.sent)

    def first(self) -> tuple[_Call, Any]:
        """Return the first call with its answer, when it has ended; meanwhile others are sent."""
        while not self.sent[0].future.done():
            if self.cluster.is_deserted():
                self.busy -= 1
                return self.sent.popleft(), Lost("its worker ended, and no other could be started")
            self._note_ended(_MOMENT)
            self.send_more()
        call = self.sent.popleft()
        return call, _answer(call.future)

    def send_by_itself(self, call: _Call) -> None:
        """Send a call once more, when all others have ended; it is the first again."""
        while self.busy and not self.cluster.is_deserted():
            self._note_ended(_MOMENT)
        self.sent.appendleft(self._call(call.given)._replace(is_again=True))

    def cancel(self) -> None:
        """Cancel all calls that are under way."""
        futures = [call.future for call in self.sent]
        with contextlib.suppress(Exception):  # of a cluster that is gone
            if futures:
                self.cluster.client.cancel(futures)

    def _call(self, given: Any) -> _Call:
        future = self.cluster.client.submit(packed, self.function, given, pure=False)
        future.add_done_callback(self.ended.put)
        self.busy += 1
        return _Call(given, future)

    def _note_ended(self, seconds: float = 0.0) -> None:
        """Note which calls have ended; wait for the first of them, up to a timeout in seconds."""
        with contextlib.suppress(Empty):
            while True:
                self.ended.get(timeout=seconds)
                self.busy -= 1
                seconds = 0.0


# Nobody opens the pages of a cluster that ends with the run: where bokeh is installed, its import takes as long as that
# of dask. Their port is open only to this machine.
_UNSEEN: dict[str, Any] = {"dashboard_address": "127.0.0.1:0", "scheduler_kwargs": {"dashboard": False}}

_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def _starting() -> contextlib.AbstractContextManager[None]:
    """Hold interrupts back while processes of multiprocessing start."""
    if sys.platform != "win32":
        from multiprocessing import resource_tracker

        resource_tracker.ensure_running()  # it starts with the first process, and would let interrupts through
    return interrupts_held()


def _start_method() -> str:
    """Return how workers on this machine start; begin to import what they need in the process that they are copies of.

    A copy starts at once. Elsewhere than on Linux, libraries may crash in one, or there are none.
    """
    if sys.platform != "linux":
        return "spawn"
    from multiprocessing import forkserver

    for name in _THREADS:  # as dask sets them when a worker starts
        os.environ.setdefault(name, "1")
    forkserver.set_forkserver_preload(["dmlcheck.running.preloaded"])
    try:
        forkserver.ensure_running()
    except OSError:  # its socket may be in a folder whose path is too long for one
        return "spawn"
    return "forkserver"


# The processes of this machine may have children, in which cases run that may end their process. Nobody looks at how
# busy they are, which takes as much time as small cases do. Dask would also have their C library return the memory of
# each tile to the system, and leave that setting in this process.
_SETTINGS = {
    "distributed.scheduler.allowed-failures": 0,  # `map` repeats calls
    "distributed.nanny.pre-spawn-environ": dict.fromkeys(_THREADS, 1),
    "distributed.worker.daemon": False,
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.tick.interval": "1s",
}


def _answer(future: Any) -> Any:
    try:
        return pickle.loads(future.result())  # noqa: S301 - the workers run what this process says anyway
    except Exception as error:  # noqa: BLE001 - any exception: this call has no result
        return Lost(_said(error), type(error).__name__ == "KilledWorker")


def packed(function: Callable[[Any], Any], given: Any) -> bytes:
    """Return the result of a function, on a worker: dask passes bytes on as they are, and looks into anything else."""
    return pickle.dumps(function(given), protocol=pickle.HIGHEST_PROTOCOL)


def _said(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [""]
    return cut(f"{type(error).__name__}: {lines[0]}" if lines[0] else type(error).__name__, _MOST_SAID)


def _version() -> str:
    return __version__
