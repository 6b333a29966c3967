"""Processes of a run: how they end is told by name, and what does not end is killed."""

from __future__ import annotations

import signal
import sys
import time
from typing import Any

import pytest

from dmlcheck.running.children import ending, leave_interrupts_to_the_parent, started


def answer(connection: Any, words: str) -> None:
    connection.send(words)


def wait(connection: Any) -> None:
    leave_interrupts_to_the_parent()
    connection.send("here")
    time.sleep(60)


def test_a_process_gets_a_connection_and_arguments() -> None:
    child = started(answer, "hello")
    assert child.connection.recv() == "hello"
    assert child.stop(10.0) == 0


def test_a_process_that_does_not_end_is_killed() -> None:
    child = started(wait)
    assert child.connection.recv() == "here"
    start = time.monotonic()
    assert child.stop(0.1) != 0
    assert time.monotonic() - start < 5


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_the_end_of_a_process_has_the_name_of_its_signal() -> None:
    assert ending(-signal.SIGSEGV) == "ended the process with SIGSEGV"
    assert ending(-signal.SIGKILL) == "ended the process with SIGKILL, perhaps for lack of memory"
    assert ending(-1000) == "ended the process with signal 1000"
    assert ending(3) == "ended the process with exit code 3"
