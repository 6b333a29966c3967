"""Regular files, opened without blocking: pipes and devices, which may never end, are errors."""

from __future__ import annotations

import errno
import os
import stat
from typing import IO

MAX_REPORT = 512 * 2**20  # bytes of a report or a manifest

# A pipe that took a file's place in between is not waited for.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


class NotPlain(OSError):
    """A path to a pipe, a device or a socket, not to a file."""


class TooLarge(ValueError):
    """A file with more bytes than dmlcheck reads."""

    def __init__(self, size: int, most: int) -> None:
        super().__init__(f"has {size:,} bytes; dmlcheck reads up to {most:,} of such a file")
        self.size = size


def open_plain(path: str) -> IO[bytes]:
    """Open a regular file; OSError if it cannot be opened or is none, ValueError if no path is like that."""
    _check(os.stat(path).st_mode, path)
    descriptor = os.open(path, _FLAGS)
    try:
        _check(os.fstat(descriptor).st_mode, path)
    except OSError:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def read_plain(path: str, most: int) -> bytes:
    """Return the bytes of a regular file; TooLarge if it has more than `most`; other errors are open_plain's."""
    with open_plain(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise TooLarge(size, most)
        data = file.read(size + 1)  # memory is taken for as much as is asked for
        if len(data) > size:
            data += file.read(most + 1 - len(data))
    if len(data) > most:
        raise TooLarge(len(data), most)
    return data


def _check(mode: int, path: str) -> None:
    if stat.S_ISDIR(mode):
        os.scandir(path).close()  # a missing permission is reported first
        raise IsADirectoryError(errno.EISDIR, "is a folder", path)
    if not stat.S_ISREG(mode):
        raise NotPlain(errno.EINVAL, "is a pipe, a device or a socket, not a file", path)


def reason(error: OSError | ValueError) -> str:
    """Return why a file could not be opened, where possible in words that are the same on all platforms."""
    if isinstance(error, FileNotFoundError):
        return "no such file or folder"
    if isinstance(error, IsADirectoryError):
        return "is a folder"
    if isinstance(error, PermissionError):
        return "may not be read"
    if isinstance(error, TooLarge):
        return str(error)
    if isinstance(error, ValueError):
        return "has a character that no path can have"
    return error.strerror or str(error)


# ---- paths of the folders that a file may name others in


def is_inside(path: str, folder: str) -> bool:
    """Whether a path, all links followed, lies in a folder tree."""
    try:
        return os.path.commonpath([path, folder]) == folder
    except ValueError:  # different drives
        return False
