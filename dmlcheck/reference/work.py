"""How much the engine has to compute for a desc: what is too much is not begun, whatever the time limit of a run."""

from __future__ import annotations

from typing import NamedTuple


class TooMuchWork(Exception):
    """A desc that the engine does not compute, because of how much that takes; the message has the number."""


class Work(NamedTuple):
    """How much there is to compute, of a unit such as `samples`, and how much of it the engine computes at most."""

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


ELEMENTS_OF_BLOCK = 1 << 16  # of a tile: half a megabyte of float64, of which some stay in a core's cache
_LONG = 10**15  # from here on nobody counts the digits

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
