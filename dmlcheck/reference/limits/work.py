"""The work that a desc makes for the engine, which refuses too much of it, and the time limit of a computation."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeVar


class TooMuchWork(Exception):
    """The engine does not compute a desc, because it is too much work; the message has the amount."""


class Work(NamedTuple):
    """The amount to compute, in a unit such as `samples`, and the most that the engine computes."""

    amount: int
    unit: str
    most: int

    @property
    def problem(self) -> str | None:
        """Why it is too much, or None."""
        if self.amount <= self.most:
            return None
        found = f"{self.amount:,}" if self.amount < _LONG else f"{float(self.amount):.1e}"
        return f"too much work: about {found} {self.unit}; the reference computes at most {self.most:,}"


ELEMENTS_OF_BLOCK = 1 << 16  # half a megabyte of float64: several blocks fit into a core's cache
BLOCKS_OF_CHANNELS = 2  # in a tile of channels, each of which has a bias of its own
BLOCKS_OF_SAMPLES = 4  # in a tile of samples between elements
BLOCKS_OF_LAYERS = 16  # in a tile of layers that are added up
BLOCKS_OF_SCORES = 16  # in a tile of an attention, of scores and of the parts of the tensors that they need
BLOCKS_OF_COPIES = 32  # in a tile that indexing copies whole
_LONG = 10**15  # larger amounts are written with an exponent

MULTIPLICATIONS = 1 << 40  # in matrix products: ten minutes or so
TERMS = 1 << 34  # that are added up or compared one by one
SAMPLES = 1 << 28  # of images, each between four elements
SAMPLES_AT_ONCE = 1 << 20  # of one element, or of one region


def multiplications(count: int) -> Work:
    """Return the work of matrix products."""
    return Work(count, "multiplications", MULTIPLICATIONS)


def terms(count: int) -> Work:
    """Return the work of sums, maxima and the like."""
    return Work(count, "terms of sums or maxima", TERMS)


# ---- the time limit


_T = TypeVar("_T")


class OutOfTime(Exception):
    """A computation took longer than it may; the message has the seconds."""


class TimeLimit:
    """The seconds that the computations of the process have, in all threads, and when they end; infinity for none."""

    seconds = until = float("inf")


LIMIT = TimeLimit()


def in_time(parts: Iterable[_T]) -> Iterator[_T]:
    """Yield the parts of a computation; OutOfTime before a part for which there is no time left."""
    for part in parts:
        if time.monotonic() > LIMIT.until:
            raise OutOfTime(f"{LIMIT.seconds:g}")
        yield part
