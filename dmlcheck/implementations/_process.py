"""Programs started for one case: with a time limit, and with a bound on what is kept of what they print."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import IO, NamedTuple

from dmlcheck.implementations import TimedOut

MOST = 64 * 2**10  # bytes of the end of what a program prints that are kept
_GRACE = 5.0  # seconds for what a program has printed to arrive after its end


class Ended(NamedTuple):
    """A program that ended: its exit code, and the end of what it printed."""

    code: int
    text: str


def run(arguments: Sequence[str], folder: str, timeout: float | None) -> Ended:
    """Run a program in a folder to its end; TimedOut, and it is killed with what it started, after `timeout` seconds.

    OSError when it cannot be started.
    """
    process = subprocess.Popen(  # noqa: S603 - the user names the program
        arguments,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=sys.platform != "win32",
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
            _kill(process)
        reader.join(_GRACE)  # what the program left running may hold the pipe open
        if not reader.is_alive():
            stream.close()
    return Ended(code, bytes(kept).decode("utf-8", "replace"))


def _keep(stream: IO[bytes], kept: bytearray) -> None:
    """Read a stream to its end, so that nobody waits to write to it, and keep the end of what came."""
    with contextlib.suppress(OSError, ValueError):
        while chunk := os.read(stream.fileno(), MOST):
            kept += chunk
            del kept[:-MOST]


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a program, and what it started."""
    if sys.platform == "win32":
        command = ["taskkill", "/T", "/F", "/PID", str(process.pid)]
        subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - it is Windows' own
        process.kill()
    else:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def code_text(code: int) -> str:
    """Return an exit code in words; beyond a byte it is an HRESULT of Windows."""
    return f"ended with exit code {code if 0 <= code < 256 else hex(code & 0xFFFFFFFF)}"


def end_text(ended: Ended) -> str:
    """Return in words how a program ended that was run here, and what it said; below 0 a code may be a signal's."""
    is_signal = ended.code < 0 and sys.platform != "win32"
    return (f"was ended by signal {-ended.code}" if is_signal else code_text(ended.code)) + said(ended.text)


def last_lines(text: str, *, lines: int = 12, most: int = 2000) -> str:
    """Return the end of what a program printed, short enough for a report."""
    kept = [line.rstrip() for line in text.splitlines() if line.strip()]
    return "\n".join(kept[-lines:])[-most:]


def said(text: str) -> str:
    """Return the end of what a program printed as the end of a sentence."""
    end = last_lines(text)
    return f"; it printed\n{end}" if end else ", and printed nothing"
