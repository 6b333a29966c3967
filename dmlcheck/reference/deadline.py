"""The time limit of a computation in this process: the engine looks at the clock between tiles."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

_T = TypeVar("_T")


class OutOfTime(Exception):
    """A computation took longer than it may; the message has the seconds."""


class _Limit:
    """The seconds that computations have, and when they end; infinity for none."""

    seconds = until = float("inf")


_LIMIT = _Limit()


@contextmanager
def limited(seconds: float | None) -> Iterator[None]:
    """Let the computations of a block take so many seconds together, and end with OutOfTime after that.

    None changes nothing. One block at a time: the limit is that of the process, so that all threads have it.
    """
    if seconds is None:
        yield
        return
    _LIMIT.seconds, _LIMIT.until = seconds, time.monotonic() + seconds
    try:
        yield
    finally:
        _LIMIT.seconds = _LIMIT.until = float("inf")


def in_time(parts: Iterable[_T]) -> Iterator[_T]:
    """Yield the parts of a computation; OutOfTime before a part for which there is no time left."""
    for part in parts:
        if time.monotonic() > _LIMIT.until:
            raise OutOfTime(f"{_LIMIT.seconds:g}")
        yield part
