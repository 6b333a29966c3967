"""Work in threads in parallel with a run: items of an iterator made one ahead, and calls made behind."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

_Item = TypeVar("_Item")
_MOST_BEHIND = 1  # calls that may be unfinished when the caller goes on; each keeps its arguments alive
_PATIENCE = 0.5  # seconds between two looks for an interrupt, which Windows does not tell a thread that waits
_OVER: Any = object()


def one_ahead(items: Iterator[_Item]) -> Iterator[_Item]:
    """Yield the items of an iterator, of which a thread makes the next one meanwhile.

    Closing the iterator early does not wait for that item.
    """
    pool = ThreadPoolExecutor(1)
    try:
        coming = pool.submit(next, items, _OVER)
        while (item := _result(coming)) is not _OVER:
            coming = pool.submit(next, items, _OVER)
            yield item
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


class Behind:
    """Calls that a thread makes in their order, at most one behind the caller."""

    def __init__(self) -> None:
        """Prepare; the thread starts with the first call."""
        self._pool = ThreadPoolExecutor(1)
        self._calls: deque[Future[object]] = deque()

    def call(self, function: Callable[..., object], *args: Any) -> None:
        """Make a call later; an exception of one is raised by a later call, or at the end."""
        self._calls.append(self._pool.submit(function, *args))
        while len(self._calls) > _MOST_BEHIND:
            _result(self._calls.popleft())

    def finish(self) -> None:
        """Wait for all calls."""
        while self._calls:
            _result(self._calls.popleft())

    def close(self) -> None:
        """Let the thread end after its present call."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _result(future: Future[Any]) -> Any:
    while not wait([future], _PATIENCE).done:
        pass
    return future.result()
