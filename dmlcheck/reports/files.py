"""Where reports are written: to a temporary file until they are whole, and never half a file under the final name."""

from __future__ import annotations

import codecs
import contextlib
import errno
import os
import re
import weakref
from typing import IO

from dmlcheck.files.plain import open_plain

_CHUNK = 1 << 20  # bytes


class ReportFile:
    """A report on its way to its place.

    A file is written under a random name in the same folder, and renamed by `close`. A pipe or a device
    is written to directly; a link to anything else is refused. If writing fails (a full disk), the report gives up:
    `problem` says why, and the unfinished file is removed, as it is when the process ends early. OSError if the file
    cannot be opened at all.
    """

    def __init__(self, path: str) -> None:
        """Open the file; the folder must be there."""
        if not path:
            raise FileNotFoundError(errno.ENOENT, "no file named", path)
        if os.path.isdir(path):
            raise IsADirectoryError(errno.EISDIR, "is a folder", path)
        with contextlib.suppress(FileNotFoundError):
            os.lstat(path)  # a name that is too long shows now, and not when the report is whole
        is_file = os.path.isfile(path) or not os.path.exists(path)
        if is_file and os.path.islink(path):
            raise OSError(errno.ELOOP, "is a link; name the file that it leads to", path)
        self.path = path
        folder = os.path.dirname(os.path.abspath(path))
        self.partial = os.path.join(folder, f".dmlcheck-{os.urandom(8).hex()}.partial") if is_file else path
        self.problem: str | None = None
        mode = "x" if is_file else "w"
        self.file: IO[str] = open(self.partial, mode, encoding="utf-8", newline="\n")  # noqa: SIM115 - closed in close
        self._remove = weakref.finalize(self, _remove, self.partial) if is_file else None

    def write(self, text: str) -> None:
        """Write a piece of the report."""
        if self.problem is None:
            try:
                self.file.write(text)
            except OSError as error:
                self.give_up(error)

    def close(self) -> None:
        """Put the report in its place."""
        if self.problem is None:
            try:
                self.file.close()
                if self._remove is not None:
                    os.replace(self.partial, self.path)
                    self._remove.detach()
            except OSError as error:
                self.give_up(error)

    def give_up(self, error: OSError) -> None:
        """Write no more, and leave only the earlier file behind."""
        if self.problem is None:
            self.problem = f"{self.path}: {error.strerror or error}"
        with contextlib.suppress(OSError):
            self.file.close()
        if self._remove is not None:
            self._remove()


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.remove(path)


_HEAD = 1 << 16  # bytes
JSON_HEAD = rb'\A\s*\{[^{}]*"schema"\s*:\s*"dmlcheck-'  # how a JSON report begins


def is_replaceable(path: str, head: bytes) -> bool:
    """Whether a report may take a place: nothing is there, an empty file, or one that has the pattern `head`."""
    if not os.path.isfile(path):
        return True
    try:
        with open_plain(path) as file:
            start = file.read(_HEAD)
    except OSError:
        return False
    return not start or re.search(head, start) is not None


class PartedFile(ReportFile):
    """A report whose parts are put aside, and written once the text before them is known."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        import tempfile  # which brings much with it, and few runs write a report

        self.aside = tempfile.SpooledTemporaryFile(max_size=_CHUNK)  # noqa: SIM115 - closed in close
        self.end = 0

    def put_aside(self, text: str) -> tuple[int, int]:
        """Keep a part of the report for later, and return the place to ask for."""
        start = self.end
        if self.problem is None:
            data = text.encode()
            try:
                self.aside.write(data)
            except OSError as error:
                self.give_up(error)
            self.end += len(data)
        return start, self.end

    def take_back(self, start: int, end: int) -> None:
        """Write the parts that were put aside at a place."""
        if self.problem is not None:
            return
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            self.aside.seek(start)
            while start < end and self.problem is None:
                data = self.aside.read(min(_CHUNK, end - start))
                if not data:
                    self.give_up(OSError(errno.EIO, "what was put aside is lost"))
                start += len(data)
                self.write(decoder.decode(data))
        except OSError as error:
            self.give_up(error)

    def close(self) -> None:
        """Put the report in its place."""
        self.drop_aside()
        super().close()

    def give_up(self, error: OSError) -> None:
        """Write no more, and keep nothing."""
        super().give_up(error)
        self.drop_aside()

    def drop_aside(self) -> None:
        """Drop the parts that were put aside; a part missing in its own file no longer matters."""
        with contextlib.suppress(OSError):
            self.aside.close()
