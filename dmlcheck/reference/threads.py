"""The tiles of an operator's results, shared among threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, islice
from typing import Any

import numpy as np

from dmlcheck.reference.tiling.piece import Piece
from dmlcheck.values import memory


def threads_for(inputs: Mapping[str, Any]) -> int:
    """Return how many threads share the tiles of an operator with some inputs."""
    for array in inputs.values():
        for part in array if isinstance(array, list) else (array,):
            if part is not None and part.size >= _MANY:
                return min(memory.cores(), _MOST_THREADS)
    return 1


_MANY = 1 << 20  # elements: from here on threads save more than they cost
_MOST_THREADS = 4  # each has its own blocks in memory


def compute_all(pieces: Iterator[Piece], compute: Callable[[Piece], None], threads: int) -> None:
    """Compute all pieces, in several threads where the system gives them; an error in one, or Ctrl-C, ends the others.

    The pieces may come in any order, so the results are the same for any number of threads. One piece needs one thread.
    """
    if threads > 1:
        first = list(islice(pieces, 2))
        pieces = chain(first, pieces)
        if len(first) > 1 and _shared(pieces, compute, threads):
            return
    for piece in pieces:
        compute(piece)


def _shared(pieces: Iterator[Piece], compute: Callable[[Piece], None], threads: int) -> bool:
    """Share the pieces among threads; False where the system gives no threads, and nothing was done."""
    from concurrent.futures import ThreadPoolExecutor

    lock, is_over = threading.Lock(), threading.Event()

    def work() -> None:
        try:
            with np.errstate(all="ignore"):  # which holds for one thread only
                while not is_over.is_set():
                    with lock:
                        piece = next(pieces, None)
                    if piece is None:
                        return
                    compute(piece)
        except BaseException:
            is_over.set()
            raise

    with ThreadPoolExecutor(threads) as pool:
        begun = []
        try:
            for _ in range(threads):
                begun.append(pool.submit(work))  # noqa: PERF401 - what was begun before a refusal counts
        except RuntimeError:
            if not begun:
                return False
        try:
            for future in begun:
                future.result()
        finally:
            is_over.set()
    return True
