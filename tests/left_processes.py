"""Processes that a test started, known by the variable DMLCHECK_OF in their environment, its folder."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path


def left_of(folder: Path) -> list[str]:
    """Return the command lines of processes that a test started and that still run, or are not waited for."""
    deadline = time.monotonic() + 10
    while (found := list(running(folder))) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def running(folder: Path) -> Iterator[str]:
    mark = f"DMLCHECK_OF={folder}".encode()
    for path in Path("/proc").glob("[0-9]*") if sys.platform == "linux" else ():
        try:
            state, parent = path.joinpath("stat").read_text().rpartition(")")[2].split()[:2]
            if mark in path.joinpath("environ").read_bytes().split(b"\0") and int(path.name) != os.getpid():
                words = path.joinpath("cmdline").read_bytes().replace(b"\0", b" ").decode()
                if "multiprocessing.resource_tracker" not in words:  # which lasts as long as this process
                    yield words
            elif state == "Z" and int(parent) == os.getpid():
                yield "a process that nobody waited for"
        except OSError:
            continue
