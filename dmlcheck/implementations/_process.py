"""Programs for one case: they have a time limit, and a limit of kept output."""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
from collections.abc import Sequence
from typing import IO, NamedTuple

from dmlcheck.implementations import TimedOut
from dmlcheck.processes.programs import OWN_GROUP, kill

MOST = 64 * 2**10  # bytes kept of the end of a program's output
_GRACE = 5.0  # seconds for a program's output to arrive after its end


class Exited(NamedTuple):
    """A program that ended: its exit code, and the end of its output."""

    code: int
    text: str


def run(arguments: Sequence[str], folder: str, timeout: float | None) -> Exited:
    """Run a program in a folder to its end; TimedOut after `timeout` seconds, and then it is killed with its processes.

    OSError if it cannot be started.
    """
    process = subprocess.Popen(  # noqa: S603 - the user names the program
        arguments,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        **OWN_GROUP,
    )
    kept = bytearray()
    stream = process.stdout or open(os.devnull, "rb")  # noqa: SIM115 - there is one: a pipe was asked for
    reader = threading.Thread(target=_keep, args=(stream, kept), daemon=True)
    reader.start()
    try:
        code = process.wait(timeout)
    except subprocess.TimeoutExpired:
        raise TimedOut(f"{timeout:g}") from None
    finally:
        if process.poll() is None:
            kill(process)
            process.wait()
        reader.join(_GRACE)  # a process that the program left running may hold the pipe open
        if not reader.is_alive():
            stream.close()
    return Exited(code, bytes(kept).decode("utf-8", "replace"))


def _keep(stream: IO[bytes], kept: bytearray) -> None:
    """Read a stream to its end, so that no writer waits, and keep the end of its text."""
    with contextlib.suppress(OSError, ValueError):
        while chunk := os.read(stream.fileno(), MOST):
            kept += chunk
            del kept[:-MOST]


def last_lines(text: str, *, lines: int = 12, most: int = 2000) -> str:
    """Return the end of a program's output, short enough for a report."""
    kept = [line.rstrip() for line in text.splitlines() if line.strip()]
    return "\n".join(kept[-lines:])[-most:]


def sentence_end(text: str) -> str:
    """Return the end of a program's output as the end of a sentence."""
    end = last_lines(text)
    return f"; it printed\n{end}" if end else ", and printed nothing"
