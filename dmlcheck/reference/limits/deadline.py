"""The time limit of a computation in this process: the engine looks at the clock between tiles."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

_T = TypeVar("_T")


class OutOfTime(Exception):
    """A computation took longer than it may; the message has the seconds."""


class _Limit:
    """The seconds that computations have, and when they end; infinity for none."""

    seconds = until = float("inf")


_LIMIT = _Limit()


class Limited:
    """Limits the total time of the computations of a `with` block: beyond it they end with OutOfTime.

    None changes nothing. One block at a time: the limit is that of the process, so that all threads have it.
    """

    def __init__(self, seconds: float | None) -> None:
        """Set the seconds of the block."""
        self.seconds = seconds

    def __enter__(self) -> None:
        """Begin the block."""
        if self.seconds is not None:
            _LIMIT.seconds, _LIMIT.until = self.seconds, time.monotonic() + self.seconds

    def __exit__(self, *_: object) -> None:
        """End the block, and the limit."""
        if self.seconds is not None:
            _LIMIT.seconds = _LIMIT.until = float("inf")


def in_time(parts: Iterable[_T]) -> Iterator[_T]:
    """Yield the parts of a computation; OutOfTime before a part for which there is no time left."""
    for part in parts:
        if time.monotonic() > _LIMIT.until:
            raise OutOfTime(f"{_LIMIT.seconds:g}")
        yield part
