"""Programs under test: one that answers many requests, and one for each case; only the end of its output is kept.

A stream has a thread of its own, since pipes cannot be waited for on every platform.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from queue import Empty, SimpleQueue
from typing import IO, Any, NamedTuple

from dmlcheck.implementations import Failure, TimedOut
from dmlcheck.processes.programs import OWN_GROUP, ended_text, kill

MAX_LINE = 2**20  # bytes
_MAX_WAITING = 16  # lines that nobody has asked for
_KEPT = 4096  # bytes kept of the end of the program's standard error
_SHOWN = 1000  # characters of them
_SLICE = 0.25  # seconds between two looks at whether the program still runs; an interrupt is heard as often
_CHUNK = 2**16  # bytes


class Program:
    """A running process, with a thread for each of its streams."""

    def __init__(self, words: str | list[str]) -> None:
        """Start it; OSError or ValueError if that cannot be done."""
        pipe = subprocess.PIPE
        # No shell: the words are the user's own command line.
        self.process = subprocess.Popen(words, bufsize=0, stdin=pipe, stdout=pipe, stderr=pipe, **OWN_GROUP)  # noqa: S603
        self.requests: SimpleQueue[bytes | None] = SimpleQueue()
        self.lines: SimpleQueue[bytes | Failure | str] = SimpleQueue()
        self.last = bytearray()
        streams: list[tuple[Any, ...]] = [
            (_write, self.process.stdin, self.requests, self.lines),
            (_read, self.process.stdout, self.lines),
            (_keep_last, self.process.stderr, self.last),
        ]
        self.threads = [threading.Thread(target=body, args=args, daemon=True) for body, *args in streams]
        for thread in self.threads:
            thread.start()

    def send(self, request: dict[str, Any]) -> None:
        """Write a line, whether or not the program reads it."""
        self.requests.put(json.dumps(request, allow_nan=False).encode("ascii") + b"\n")

    def line(self, until: float | None) -> bytes:
        """Return the next line that is not blank; Failure if none can come, TimedOut at a time.monotonic()."""
        while True:
            left = _SLICE if until is None else until - time.monotonic()
            if left <= 0:
                raise TimedOut
            has_ended = self.process.poll() is not None
            try:
                line = self.lines.get(timeout=min(left, _SLICE))
            except Empty:
                if has_ended:  # and a process that it started holds its output open
                    raise Failure(self._ending("output")) from None
                continue
            if isinstance(line, str):
                raise Failure(self._ending(line))
            if isinstance(line, Failure):
                raise line
            return line

    def _ending(self, closed: str) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(1.0)
        code = self.process.returncode
        how = f"closed its standard {closed}" if code is None else ended_text(code)
        return f"{how} instead of answering"

    def forget(self) -> None:
        """Drop the standard error so far: it is not about the next request."""
        self.last.clear()

    def errors(self) -> str:
        """Return the end of the program's standard error."""
        return bytes(self.last).decode("utf-8", "replace")

    def wrote(self) -> str:
        """Return the end of the program's standard error, as the end of a sentence."""
        return it_wrote(self.errors())

    def end(self, patience: float) -> None:
        """End the process and those that it started; one that waits for requests has some seconds to end by itself."""
        self.requests.put(None)
        try:
            if patience:
                self.process.wait(patience)
        except subprocess.TimeoutExpired:
            pass
        finally:
            kill(self.process)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5.0)
        for thread in self.threads:
            thread.join(1.0)


def _write(stream: IO[bytes], requests: SimpleQueue[bytes | None], lines: SimpleQueue[bytes | Failure | str]) -> None:
    """Write requests until there are no more, or the program has closed its input."""
    try:
        with stream:
            while (request := requests.get()) is not None:
                rest = memoryview(request)
                while rest:
                    rest = rest[stream.write(rest) :]
    except (OSError, ValueError):
        lines.put("input")


def _read(stream: IO[bytes], lines: SimpleQueue[bytes | Failure | str]) -> None:
    """Read lines from a stream; when they are too long or too many, the rest is read and dropped."""
    with contextlib.suppress(OSError, ValueError), stream:
        for line in _lines_of(stream):
            if len(line) > MAX_LINE:
                lines.put(Failure(f"wrote a line longer than 1 MiB: {excerpt(line)}"))
            elif lines.qsize() >= _MAX_WAITING:
                lines.put(Failure(f"wrote more than {_MAX_WAITING} lines at once: {excerpt(line)}"))
            else:
                lines.put(line)
                continue
            while stream.read(_CHUNK):
                pass
    lines.put("output")


def _lines_of(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines of a stream that are not blank, one that gets too long as soon as it is."""
    rest = b""
    while chunk := stream.read(_CHUNK):
        *whole, rest = (rest + chunk).split(b"\n")
        yield from filter(bytes.strip, whole)
        if len(rest) > MAX_LINE:
            yield rest
    if rest.strip():
        yield rest


def _keep_last(stream: IO[bytes], last: bytearray) -> None:
    with contextlib.suppress(OSError, ValueError), stream:
        while chunk := stream.read(_CHUNK):
            last += chunk
            del last[:-_KEPT]


def it_wrote(errors: str) -> str:
    """Return a program's output as the end of a sentence, "" for none."""
    lines = " / ".join(filter(None, (plain_text(line) for line in errors.splitlines())))
    if not lines:
        return ""
    return f"; it wrote: {lines if len(lines) <= _SHOWN else '...' + lines[3 - _SHOWN :]}"


def excerpt(line: bytes) -> str:
    """Return the beginning of a line that a program wrote, as plain text."""
    return plain_text(line[:400].decode("utf-8", "replace"), 100)


def plain_text(text: str, most: int = _SHOWN) -> str:
    """Return a text for one line of a report: without control characters, and not endless."""
    whole = "".join(letter if letter.isprintable() else " " for letter in text[: 2 * most])
    whole = " ".join(whole.split())
    return whole if len(whole) <= most else whole[: most - 3] + "..."


# ---- programs for one case: they have a time limit, and a limit of kept output


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


def sentence_end(text: str) -> str:
    """Return the end of a program's output as the end of a sentence."""
    kept = [line.rstrip() for line in text.splitlines() if line.strip()]
    end = "\n".join(kept[-12:])[-2000:]
    return f"; it printed\n{end}" if end else ", and printed nothing"
