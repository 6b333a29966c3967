"""Folders for the files of programs under test: removed at the end of a run, or by the next run."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
import tempfile
from functools import cache
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Self

PREFIX = "dmlcheck-"
LOCK = "in-use"  # a file that is locked as long as its process lives: the system releases it in any case
_TRIES = 10


class TemporaryFolder:
    """A new temporary folder, which this process holds until `close`. OSError if it cannot be made."""

    def __init__(self) -> None:
        _once(tempfile.gettempdir())
        for _ in range(_TRIES):
            self.path = tempfile.mkdtemp(prefix=PREFIX)
            with contextlib.suppress(FileNotFoundError, BlockingIOError):  # another process removed it as a leftover
                self._lock = _held(os.path.join(self.path, LOCK))
                return
        raise OSError("no temporary folder can be kept")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the folder."""
        self._lock.close()
        shutil.rmtree(self.path, ignore_errors=True)


@cache
def _once(folder: str) -> None:
    remove_left(folder)


def remove_left(folder: str) -> None:
    """Remove the folders in a folder whose processes are gone; everything else stays."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX):
                with contextlib.suppress(OSError):
                    _remove_if_left(entry.path)


def _remove_if_left(folder: str) -> None:
    there, path = os.lstat(folder), os.path.join(folder, LOCK)
    is_own = sys.platform == "win32" or there.st_uid == os.getuid()
    if not (is_own and stat.S_ISDIR(there.st_mode) and stat.S_ISREG(os.lstat(path).st_mode)):
        return
    with open(path, "r+b") as file:
        _lock(file)
        if sys.platform != "win32":  # where no open file can be removed
            shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)


def _held(path: str) -> IO[bytes]:
    """Return a new file, locked where the file system has locks."""
    file = open(path, "xb")  # noqa: SIM115 - open as long as the lock is to hold
    try:
        _lock(file)
        os.stat(path)
    except (FileNotFoundError, BlockingIOError):
        file.close()
        raise
    except OSError:  # no process can lock it, so none removes it as a leftover
        pass
    return file


def _lock(file: IO[bytes]) -> None:
    """Lock a file; OSError if another process has."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
