"""The exit codes and their meanings."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """How a command ended."""

    GOOD = 0
    FAILED = 1
    WRONG_INPUT = 2
    NOTHING_CHECKED = 5
    INTERRUPTED = 130
