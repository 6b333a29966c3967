"""Computing the tiles of an operator in several threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import chain, islice
from typing import Any, TypeVar

import numpy as np

from dmlcheck.values import memory

_Tile = TypeVar("_Tile")


def threads_for(inputs: Mapping[str, Any]) -> int:
    """Return the number of threads for an operator with these inputs."""
    for array in inputs.values():
        for part in array if isinstance(array, list) else (array,):
            if part is not None and part.size >= _MANY:
                return min(memory.cores(), _MOST_THREADS)
    return 1


_MANY = 1 << 20  # elements; for fewer, threads cost more than they save
_MOST_THREADS = 4  # each needs memory for its own blocks


@cache
def keep_memory() -> None:
    """Let the C library keep the memory of the arrays of tiles: glibc does so after an array of this size was freed.

    Otherwise it returns their memory to the system, whose pages cost more time than the arithmetic on them: the
    benchmark `gemm` takes an eighth longer.
    """
    np.empty(_KEPT, np.uint8)


_KEPT = 1 << 24  # bytes


def compute_all(tiles: Iterator[_Tile], compute: Callable[[_Tile], None], threads: int) -> None:
    """Compute all tiles, in several threads if the system has them; an error in one, or Ctrl-C, ends all.

    The order of the tiles does not matter, so that results do not depend on the number of threads.
    """
    keep_memory()
    if threads > 1:
        first = list(islice(tiles, 2))
        tiles = chain(first, tiles)
        if len(first) > 1 and _shared(tiles, compute, threads):
            return
    for tile in tiles:
        compute(tile)


def _shared(tiles: Iterator[_Tile], compute: Callable[[_Tile], None], threads: int) -> bool:
    """Compute the tiles in threads; return False, with nothing computed, if the system has no threads."""
    from concurrent.futures import ThreadPoolExecutor

    lock, is_over = threading.Lock(), threading.Event()

    def work() -> None:
        try:
            with np.errstate(all="ignore"):  # it is set for each thread on its own
                while not is_over.is_set():
                    with lock:
                        tile = next(tiles, None)
                    if tile is None:
                        return
                    compute(tile)
        except BaseException:
            is_over.set()
            raise

    with ThreadPoolExecutor(threads) as pool:
        begun = []
        try:
            for _ in range(threads):
                begun.append(pool.submit(work))  # noqa: PERF401 - the threads that start before an error count
        except RuntimeError:
            if not begun:
                return False
        try:
            for future in begun:
                future.result()
        finally:
            is_over.set()
    return True
