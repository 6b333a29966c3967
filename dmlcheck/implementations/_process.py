"""Programs: their start and end; programs for one case have a time limit, and a limit of kept output."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import IO, Any, NamedTuple

from dmlcheck.implementations import TimedOut

MOST = 64 * 2**10  # bytes kept of the end of a program's output
_GRACE = 5.0  # seconds for a program's output to arrive after its end


ALONE: dict[str, Any]  # starts a program in a group of its own: dmlcheck decides the effect of an interrupt
if sys.platform == "win32":
    ALONE = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}

    def kill(process: subprocess.Popen[bytes]) -> None:
        """End a program, and the processes that it started."""
        if process.poll() is None:
            words = ["taskkill", "/F", "/T", "/PID", str(process.pid)]
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                flags = subprocess.CREATE_NO_WINDOW
                subprocess.run(words, capture_output=True, check=False, timeout=10.0, creationflags=flags)  # noqa: S603
            process.kill()

else:
    ALONE = {"start_new_session": True}

    def kill(process: subprocess.Popen[bytes]) -> None:
        """End a program, and the processes that it started, in its group or, if that can be seen, in another."""
        others = _started_by(process.pid) if process.poll() is None else []
        with contextlib.suppress(OSError):  # nobody of its group is left
            os.killpg(process.pid, signal.SIGKILL)
        for number in others:
            with contextlib.suppress(OSError):
                os.kill(number, signal.SIGKILL)


def _started_by(number: int) -> list[int]:
    """Return the processes that a process has started, and theirs, from /proc."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc") if sys.platform == "linux" and os.path.isdir("/proc") else ():
        if name.isdecimal():
            with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
                # The name of a program, in parentheses, may have anything in it.
                parent = int(file.read().rpartition(b")")[2].split()[1])
                children.setdefault(parent, []).append(int(name))
    found = [number]
    for each in found:
        found.extend(child for child in children.get(each, ()) if child not in found)
    return found[1:]


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
        **ALONE,
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


def code_text(code: int) -> str:
    """Return an exit code in words; beyond a byte it is an HRESULT of Windows."""
    return f"ended with exit code {code if 0 <= code < 256 else hex(code & 0xFFFFFFFF)}"


def ended_text(code: int) -> str:
    """Return in words how a program ended: a code below 0 may be that of a signal."""
    if code >= 0 or sys.platform == "win32":
        return code_text(code)
    names = {int(number): number.name for number in signal.Signals}
    return f"ended with {names.get(-code, f'signal {-code}')}"


def last_lines(text: str, *, lines: int = 12, most: int = 2000) -> str:
    """Return the end of a program's output, short enough for a report."""
    kept = [line.rstrip() for line in text.splitlines() if line.strip()]
    return "\n".join(kept[-lines:])[-most:]


def sentence_end(text: str) -> str:
    """Return the end of a program's output as the end of a sentence."""
    end = last_lines(text)
    return f"; it printed\n{end}" if end else ", and printed nothing"
