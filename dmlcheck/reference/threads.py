"""Computing the tiles of an operator in several threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, islice
from typing import Any

import numpy as np

from dmlcheck.reference.tiling.piece import Piece
from dmlcheck.values import memory


def threads_for(inputs: Mapping[str, Any]) -> int:
    """Return the number of threads for an operator with these inputs."""
    for array in inputs.values():
        for part in array if isinstance(array, list) else (array,):
            if part is not None and part.size >= _MANY:
                return min(memory.cores(), _MOST_THREADS)
    return 1


_MANY = 1 << 20  # elements; for fewer, threads cost more than they save
_MOST_THREADS = 4  # each needs memory for its own blocks


def compute_all(pieces: Iterator[Piece], compute: Callable[[Piece], None], threads: int) -> None:
    """Compute all pieces, in several threads if the system has them; an error in one, or Ctrl-C, ends all.

    The order of the pieces does not matter, so that results do not depend on the number of threads.
    """
    if threads > 1:
        first = list(islice(pieces, 2))
        pieces = chain(first, pieces)
        if len(first) > 1 and _shared(pieces, compute, threads):
            return
    for piece in pieces:
        compute(piece)


def _shared(pieces: Iterator[Piece], compute: Callable[[Piece], None], threads: int) -> bool:
    """Compute the pieces in threads; return False, with nothing computed, if the system has no threads."""
    from concurrent.futures import ThreadPoolExecutor

    lock, is_over = threading.Lock(), threading.Event()

    def work() -> None:
        try:
            with np.errstate(all="ignore"):  # it is set for each thread on its own
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
