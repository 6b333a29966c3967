"""Work in threads in parallel with a run: items of an iterator made one ahead, and calls made behind."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

_Item = TypeVar("_Item")
_MOST_BEHIND = 4  # calls that may be unfinished when the caller goes on; each keeps its arguments alive
_MOST_KEPT = 64 * 2**20  # bytes of the arguments of several such calls
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
    """Calls that a thread makes in their order, a few behind the caller, or one whose arguments are large."""

    def __init__(self) -> None:
        """Prepare; the thread starts with the first call."""
        self._pool = ThreadPoolExecutor(1)
        self._calls: deque[tuple[int, Future[object]]] = deque()

    def call(self, function: Callable[..., object], *args: Any, size: int = 0) -> None:
        """Make a call later, whose arguments take `size` bytes; a later call, or the end, raises its exception."""
        self._calls.append((size, self._pool.submit(function, *args)))
        while len(self._calls) > _MOST_BEHIND or (len(self._calls) > 1 and self._kept() > _MOST_KEPT):
            self._wait()

    def _kept(self) -> int:
        return sum(size for size, _ in self._calls)

    def finish(self) -> None:
        """Wait for all calls."""
        while self._calls:
            self._wait()

    def _wait(self) -> None:
        _, first = self._calls.popleft()
        _result(first)

    def close(self) -> None:
        """Let the thread end after its present call."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _result(future: Future[Any]) -> Any:
    while not wait([future], _PATIENCE).done:
        pass
    return future.result()
