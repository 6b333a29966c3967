"""Messages between two processes: an object as pickle has it, and the bytes of its arrays, which nothing copies.

Little is imported here, since the process of DirectML's library has nothing else.
"""

from __future__ import annotations

import os
import pickle
import sys
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
