"""The implementation of a run on a worker of a cluster, with its processes: kept from one call to the next.

A cluster outlives a run: it is told when a run is over, and keeps nothing after it.
"""

from __future__ import annotations

import atexit
import contextlib
import threading
from collections.abc import Callable, Hashable, Iterator
from typing import Any, Protocol


class Closable(Protocol):
    """An implementation with its processes, or a bench with them."""

    def close(self) -> None:
        """End the implementation and its processes."""


_ONE = threading.Lock()  # a worker that has several threads serves one call at a time
_KEPT: dict[Hashable, Closable] = {}  # at most one
_OVER = threading.Event()  # the run ended while a call was running


@contextlib.contextmanager
def kept(key: Hashable, make: Callable[[], Closable]) -> Iterator[Any]:
    """Reuse the cached implementation if the key is the same; otherwise close it, and make and cache a new one."""
    with _ONE:
        if key not in _KEPT:
            _end()
            _KEPT[key] = make()
        _OVER.clear()
        try:
            yield _KEPT[key]
        finally:
            if _OVER.is_set():
                _end()


def end_kept() -> None:
    """Close the implementation that is kept, since the run is over: after the call that still runs, if there is one."""
    _OVER.set()
    if _ONE.acquire(blocking=False):
        try:
            _end()
        finally:
            _ONE.release()


def _end() -> None:
    while _KEPT:
        _KEPT.popitem()[1].close()


atexit.register(_end)
