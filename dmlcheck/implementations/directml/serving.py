"""The process that holds DirectML's library: it answers questions about descs, and executes them.

Questions and answers are tuples of plain values, so that nothing but this room is imported here.
"""

from __future__ import annotations

import ctypes
import struct
from typing import TYPE_CHECKING, Any

from dmlcheck.implementations.directml import dml
from dmlcheck.implementations.directml.com import ComError
from dmlcheck.implementations.directml.executor import DeviceExecutor, Failed, InputBytes
from dmlcheck.implementations.directml.loading import CannotLoad, LoadedLibrary, Setup, load
from dmlcheck.processes.body import questions, tell

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

OPENED, CANNOT = "opened", "cannot"


def serve(connection: Connection, setup: tuple[str, str, str], levels: list[int]) -> None:
    """Open the library, and answer until there are no more questions."""
    server, opened = _opened(setup, levels)
    for name, *arguments in questions(connection, opened):
        tell(connection, getattr(server, name)(*arguments))


def _opened(setup: tuple[str, str, str], levels: list[int]) -> tuple[Server | None, tuple[Any, ...]]:
    """Return the server of a library, None if it cannot be loaded, and the first message."""
    try:
        server = Server(load(Setup(*setup)), levels)
    except (CannotLoad, ComError) as error:
        return None, (CANNOT, str(error))
    return server, (OPENED, server.level, server.name, server.executor is not None)


class Server:
    """A loaded library: its feature level, the name of its device, and the executor if it has one that executes."""

    def __init__(self, loaded: LoadedLibrary, levels: list[int]) -> None:
        self.loaded = loaded
        self.level = loaded.directml.feature_level(levels)
        self.name = loaded.name
        self.executor = None if loaded.device is None else DeviceExecutor(loaded.device, loaded.directml)

    def create(self, image: tuple[bytes, tuple[int, ...], int]) -> int:
        """Return the HRESULT of CreateOperator for a desc."""
        memory = _Memory(image)
        try:
            operator = dml.IDMLOperator.made_by(self.loaded.directml.create_operator, memory.root)
        except ComError as error:
            return error.hresult
        operator.release()
        return 0

    def run(
        self,
        image: tuple[bytes, tuple[int, ...], int],
        flags: int,
        inputs: list[tuple[bytes, bool] | None],
        outputs: list[int | None],
    ) -> tuple[str, int, list[bytes | None]]:
        """Return the bytes of the outputs of a desc, or the step that failed and its HRESULT."""
        memory = _Memory(image)
        assert self.executor is not None  # noqa: S101 - nobody asks where nothing is executed
        try:
            operator = self.executor.operator((image, flags), memory.root, flags)
            given = [None if each is None else InputBytes(*each) for each in inputs]
            return "", 0, self.executor.run(operator, given, outputs)
        except Failed as error:
            return error.step, error.hresult, []


class _Memory:
    """The image of a desc at an address: its offsets become pointers."""

    def __init__(self, image: tuple[bytes, tuple[int, ...], int]) -> None:
        data, pointers, root = image
        self.buffer = ctypes.create_string_buffer(data, len(data) + 1)
        base = ctypes.addressof(self.buffer)
        for at in pointers:
            struct.pack_into("<Q", self.buffer, at, base + struct.unpack_from("<Q", data, at)[0])
        self.root = base + root
