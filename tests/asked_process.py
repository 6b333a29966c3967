"""The body of a child, for the tests of `processes`: it does what each question says, a name and an argument."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import Any

from dmlcheck.processes.body import questions, tell


def serve(connection: Any, *arguments: Any) -> None:
    """Answer each question; the first arguments of the process are in the answer to `arguments`."""
    if "never ready" in arguments:
        time.sleep(60)
    if "not made" in arguments:
        os._exit(5)
    if "deaf" in arguments:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        for name, argument in questions(connection):
            if name == "close":
                connection.close()
                time.sleep(argument)
            if name == "messages":
                for number in range(argument):
                    tell(connection, number)
            tell(connection, arguments if name == "arguments" else ACTIONS[name](argument))
    finally:
        for path in arguments:
            if os.path.isdir(path):
                open(os.path.join(path, f"ended-{os.getpid()}"), "x").close()


def write(data: bytes) -> int:
    """Write to both streams."""
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
    sys.stderr.buffer.write(b"error")
    sys.stderr.buffer.flush()
    return len(data)


def fail(text: str) -> None:
    raise ValueError(text)


def start(seconds: int) -> int:
    """Start a process in a session of its own."""
    command = [sys.executable, "-c", f"import time; time.sleep({seconds})"]
    return subprocess.Popen(command, start_new_session=True).pid


ACTIONS: dict[str, Any] = {
    "echo": lambda value: value,
    "messages": lambda _: "end",
    "variable": os.environ.get,
    "place": lambda _: (sys.path[0], sys.flags.isolated, sys.flags.no_site, "site" in sys.modules),
    "path": lambda _: sys.path,
    "pid": lambda _: os.getpid(),
    "input": lambda _: sys.stdin.read(),
    "write": write,
    "exit": os._exit,
    "fail": fail,
    "signal": lambda number: os.kill(os.getpid(), number),
    "sleep": time.sleep,
    "start": start,
}
