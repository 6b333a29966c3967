"""The process of a child: a function `serve` of a module gets questions and sends answers.

Little is imported here, since the process of DirectML's library has nothing else.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from dmlcheck.processes import messages

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

READY = "ready"


def main(handle: int, module: str) -> None:
    """Serve questions, with the handle of a connection that this process inherited; its first message has arguments."""
    leave_interrupts_to_the_parent()
    connection = connected(handle)
    import_module(module).serve(connection, *messages.receive(connection))


def connected(handle: int) -> Connection:
    """Return the connection of an inherited handle."""
    from multiprocessing import connection

    if sys.platform == "win32":
        return connection.PipeConnection(handle)
    return connection.Connection(handle)


def questions(connection: Connection, ready: Any = READY) -> Iterator[Any]:
    """Tell the parent that this process is ready, and yield its questions until there are no more."""
    tell(connection, ready)
    while True:
        try:
            question = messages.receive(connection)
        except (EOFError, OSError):
            return
        yield question


def tell(connection: Connection, message: Any) -> None:
    """Send a message to the parent; end this process if the parent does not listen any more."""
    try:
        messages.send(connection, message)
    except OSError:
        raise SystemExit from None


def leave_interrupts_to_the_parent() -> None:
    """Let the reporting process decide the effect of an interrupt."""
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
