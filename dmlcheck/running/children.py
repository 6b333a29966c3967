"""Processes of a run: their start, their signals, and their end."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess


class Child(NamedTuple):
    """A process, and the connection to it."""

    process: SpawnProcess
    connection: Connection

    def stop(self, patience: float) -> int | None:
        """Wait up to `patience` seconds for the process to end, then kill it; return its exit code."""
        self.process.join(patience)
        self.process.kill()
        self.process.join()
        self.connection.close()
        return self.process.exitcode


def started(body: Callable[..., None], *args: Any) -> Child:
    """Start a process that calls a function with a connection and some arguments, which must be picklable."""
    import multiprocessing

    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=body, args=(theirs, *args), daemon=True)
    with interrupts_held():
        process.start()
    theirs.close()
    return Child(process, ours)


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """Hold interrupts back while a process starts: one would end it with a traceback before it can ignore it.

    The process begins with interrupts blocked, since it inherits that from this one.
    """
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # it starts with the first process, and would let interrupts through
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def leave_interrupts_to_the_parent() -> None:
    """Let the reporting process decide the effect of an interrupt; the body of a process calls this first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.signal(signal.SIGHUP, _pass)
        # The processes that it starts have the usual handler.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGHUP})
    signal.signal(signal.SIGTERM, _leave)


def _pass(*_: Any) -> None:
    """Leave the end of the terminal to the process that reports."""


def _leave(*_: Any) -> None:
    """End this process, but let the implementation end its processes first."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit


def ending(code: int | None) -> str:
    """Return how a process ended, by its exit code."""
    if code is not None and code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        memory = ", perhaps for lack of memory" if name == "SIGKILL" else ""
        return f"ended the process with {name}{memory}"
    return f"ended the process with exit code {code}"
