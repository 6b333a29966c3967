"""The process of a child: a function `serve` of a module gets questions and sends answers.

Little is imported here, since the process of DirectML's library has nothing else.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Iterator
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any

_LARGE = 1 << 16  # bytes of an array: a smaller one goes with the object


def send(connection: Connection, message: Any) -> None:
    """Send an object; nothing is sent of one that cannot be pickled."""
    apart: list[memoryview] = []

    def goes_along(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes >= _LARGE:
            apart.append(raw)
        return raw.nbytes < _LARGE

    data = pickle.dumps(message, 5, buffer_callback=goes_along)
    connection.send((data, [raw.nbytes for raw in apart]))
    for raw in apart:
        _write(connection, raw)


def receive(connection: Connection) -> Any:
    """Return the next object; EOFError or OSError if none comes any more."""
    data, sizes = connection.recv()
    return pickle.loads(data, buffers=[_read(connection, size) for size in sizes])  # noqa: S301 - from our own process


def _write(connection: Connection, data: memoryview) -> None:
    if sys.platform == "win32":
        connection.send_bytes(data)
        return
    while data:
        data = data[os.write(connection.fileno(), data) :]


def _read(connection: Connection, size: int) -> bytearray:
    data = bytearray(size)
    if sys.platform == "win32":
        connection.recv_bytes_into(data)
        return data
    left = memoryview(data)
    while left:
        count = os.readv(connection.fileno(), [left])
        if not count:
            raise EOFError
        left = left[count:]
    return data


# ---- the body of a process


READY = "ready"


def main(handle: int, module: str) -> None:
    """Serve questions, with the handle of a connection that this process inherited; its first message has arguments."""
    leave_interrupts_to_the_parent()
    connection = connected(handle)
    import_module(module).serve(connection, *receive(connection))


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
            question = receive(connection)
        except (EOFError, OSError):
            return
        yield question


def tell(connection: Connection, message: Any) -> None:
    """Send a message to the parent; end this process if the parent does not listen any more."""
    try:
        send(connection, message)
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
