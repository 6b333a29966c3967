"""Random choices from a source of whole numbers, so that any such source can draw a desc."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class Chance(NamedTuple):
    """Random choices; `integer` draws a whole number between two others, both included."""

    integer: Callable[[int, int], int]

    def of(self, values: Sequence[T]) -> T:
        """Return one of some values."""
        return values[self.integer(0, len(values) - 1)]

    def often(self, share: float) -> bool:
        """Return true in this share of the draws."""
        return self.integer(1, 1000) <= 1000 * share

    def some(self, values: Sequence[T], count: int) -> list[T]:
        """Return `count` of some values, each once, in any order."""
        left = list(values)
        return [left.pop(self.integer(0, len(left) - 1)) for _ in range(count)]


def seeded(seed: int | str) -> Chance:
    """Return the choices of a seed, the same on every machine."""
    return Chance(random.Random(seed).randint)  # noqa: S311 - nothing secret
