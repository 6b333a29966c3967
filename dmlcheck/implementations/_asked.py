"""A process that is asked and answers, one question at a time: what ends it, or takes too long, is one lost answer."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from multiprocessing import Pipe
from typing import TYPE_CHECKING, Any

from dmlcheck.implementations import Failure, TimedOut
from dmlcheck.implementations._process import ALONE, ended_text, kill

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_KEPT = 4096  # bytes of the end of what the process wrote
_GRACE = 5.0  # seconds to end by itself
_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# The folder of the user is no place to import from, and what `site` would set up is not needed.
_BODY = "import sys; sys.path.insert(0, {root!r}); from {module} import serve; serve({handle})"


class LostProcess(Failure):
    """A process that ended instead of answering; the message says how, as the rest of a sentence about it."""


class AskedProcess:
    """A Python process that runs the function `serve` of a module with the handle of a connection to this one."""

    def __init__(self, module: str, environment: Mapping[str, str] | None = None) -> None:
        """Start it, with some variables of the environment changed. OSError if it cannot be."""
        self.connection, theirs = Pipe()
        self.written = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process
        handle = theirs.fileno()
        body = _BODY.format(root=_ROOT, module=module, handle=handle)
        command = [sys.executable, "-I", "-S", "-c", body]
        try:
            self.process = subprocess.Popen(  # noqa: S603 - our own interpreter
                command,
                stdin=subprocess.DEVNULL,
                stdout=self.written,
                stderr=self.written,
                env={**os.environ, **(environment or {})},
                **_inheriting(handle),
                **ALONE,
            )
        except BaseException:
            self.connection.close()
            self.written.close()
            raise
        finally:
            theirs.close()

    def ask(self, question: Any, seconds: float | None) -> Any:
        """Return the answer to a question, both of plain types; after LostProcess or TimedOut there is none."""
        try:
            self.connection.send(question)
            if not self.connection.poll(seconds):
                raise TimedOut(f"{seconds:g}")
            return self.connection.recv()
        except (EOFError, OSError):
            raise LostProcess(self._ending()) from None

    def _ending(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(_GRACE)
        code = self.process.returncode
        return "closed its connection instead of answering" if code is None else ended_text(code)

    def errors(self) -> str:
        """Return the end of what the process wrote to its standard output and error."""
        self.written.seek(0, os.SEEK_END)
        self.written.seek(max(0, self.written.tell() - _KEPT))
        return self.written.read().decode("utf-8", "replace")

    def close(self, patience: float = _GRACE) -> None:
        """End the process; one that waits for questions has some seconds to end by itself."""
        self.connection.close()
        try:
            if patience:
                self.process.wait(patience)
        except subprocess.TimeoutExpired:
            pass
        finally:
            kill(self.process)
            self.process.wait()
            self.written.close()


def _inheriting(handle: int) -> dict[str, Any]:
    """Return the options with which a process inherits a handle, and no other."""
    if sys.platform != "win32":
        return {"pass_fds": (handle,)}
    os.set_handle_inheritable(handle, True)  # noqa: FBT003 - positional only
    return {"startupinfo": subprocess.STARTUPINFO(lpAttributeList={"handle_list": [handle]})}


def connected(handle: int) -> Connection:
    """Return the connection of a handle that this process inherited."""
    from multiprocessing import connection

    if sys.platform == "win32":
        return connection.PipeConnection(handle)
    return connection.Connection(handle)
