"""Regions around elements: what lies before and after each along some axes."""

from __future__ import annotations

from collections.abc import Sequence
from operator import add, sub
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.sums import total
from dmlcheck.reference.windows import Window, over, run_of

Reach = tuple[int, int]  # how many elements before and after each


class Region(NamedTuple):
    """How many elements the region around an element has before and after it, along each axis of a tensor."""

    before: tuple[int, ...]
    after: tuple[int, ...]

    @property
    def back(self) -> Region:
        """The elements in whose regions an element is."""
        return Region(self.after, self.before)

    @property
    def window(self) -> Window:
        """The window that has a region at the place of its element."""
        ones = (1,) * len(self.before)
        return Window(tuple(map(add, map(add, self.before, ones), self.after)), ones, ones, self.before)

    def and_of(self, other: Region) -> Region:
        """Return all that is in the regions of what is in the regions."""
        return Region(*(tuple(map(add, *pair)) for pair in zip(self, other, strict=True)))

    def inner(self, x: Any) -> Any:
        """Return the elements whose regions are all in a tensor."""
        return x[tuple(map(slice, self.before, map(sub, x.shape, self.after)))]

    def sums(self, x: Any) -> Any:
        """Return the sums over the regions of these elements."""
        return self._reduced(np.add, x)

    def any(self, x: Any) -> Any:
        """Say which of these elements have a true one in their regions."""
        return self._reduced(np.logical_or, x)

    def _reduced(self, ufunc: np.ufunc, x: Any) -> Any:
        window = self.window
        return over(ufunc, x, run_of([size - own + 1 for size, own in zip(x.shape, window.size, strict=True)], window))


class Everything(NamedTuple):
    """The region of every element where it has all that is along some axes; it does what a Region does."""

    axes: tuple[int, ...]

    @property
    def back(self) -> Everything:
        """The elements in whose regions an element is."""
        return self

    def inner(self, x: Any) -> Any:
        """Return all elements."""
        return x

    def sums(self, x: Any) -> Any:
        """Return the sums of all elements."""
        return total(x, self.axes)

    def any(self, x: Any) -> Any:
        """Say what is true of all elements alike."""
        return x


def region(sizes: Sequence[int], axes: Sequence[int], reach: Reach) -> Region:
    """Return the region that reaches so far before and after each element along some axes, as far as there are any."""
    own = (tuple(min(far, size - 1) if axis in axes else 0 for axis, size in enumerate(sizes)) for far in reach)
    return Region(*own)


def has_everything(sizes: Sequence[int], axes: Sequence[int], reaches: Sequence[Reach]) -> bool:
    """Say whether regions that reach so far have all that is along some axes."""
    return all(min(map(min, reaches)) >= sizes[axis] - 1 for axis in axes)


def reaches(size: int) -> list[Reach]:
    """Return how far a region of `size` elements reaches: of an even size, one more after its element, or before it."""
    before, after = (size - 1) // 2, size // 2
    return [(before, after), (after, before)][: 1 + (before < after)]
