"""What a process does that is asked, for the tests of `_asked`; its folder is all that it imports from."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import Any


def serve(handle: int) -> None:
    """Do what each question says, a name and an argument."""
    sys.path.append(os.environ["DMLCHECK_ROOT"])
    from dmlcheck.implementations._asked import connected

    connection = connected(handle)
    while True:
        try:
            name, argument = connection.recv()
        except EOFError:
            return
        if name == "close":
            connection.close()
            time.sleep(argument)
        connection.send(ACTIONS[name](argument))


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
    "variable": os.environ.get,
    "place": lambda _: (sys.path[0], sys.flags.isolated, sys.flags.no_site, "site" in sys.modules),
    "input": lambda _: sys.stdin.read(),
    "write": write,
    "exit": os._exit,
    "fail": fail,
    "signal": lambda number: os.kill(os.getpid(), number),
    "sleep": time.sleep,
    "start": start,
}
