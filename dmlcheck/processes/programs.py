"""Programs: the options that start them apart from interrupts, their end by force, and how they ended in words."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from typing import Any

OWN_GROUP: dict[str, Any]  # starts a program in a group of its own: dmlcheck decides the effect of an interrupt
if sys.platform == "win32":
    OWN_GROUP = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}

    def kill(process: subprocess.Popen[bytes]) -> None:
        """End a program, and the processes that it started."""
        if process.poll() is None:
            words = ["taskkill", "/F", "/T", "/PID", str(process.pid)]
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                flags = subprocess.CREATE_NO_WINDOW
                subprocess.run(words, capture_output=True, check=False, timeout=10.0, creationflags=flags)  # noqa: S603
            process.kill()

else:
    OWN_GROUP = {"start_new_session": True}

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


def ended_text(code: int | None) -> str:
    """Return in words how a program ended: a code below 0 may be that of a signal."""
    if code is None or code >= 0 or sys.platform == "win32":
        return code_text(code)
    names = {int(number): number.name for number in signal.Signals}
    return f"ended with {names.get(-code, f'signal {-code}')}"


def code_text(code: int | None) -> str:
    """Return an exit code in words; beyond a byte it is an HRESULT of Windows."""
    return f"ended with exit code {code if code is None or 0 <= code < 256 else hex(code & 0xFFFFFFFF)}"


def ending(code: int | None) -> str:
    """Return how an implementation ended the process that it was in, by the exit code."""
    memory = ", perhaps for lack of memory" if code == -9 and sys.platform != "win32" else ""  # SIGKILL
    return ended_text(code).replace("ended", "ended the process", 1) + memory
