"""Regions around elements: their neighbours before and after them along some axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import add, sub
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.functions.sums import total
from dmlcheck.reference.functions.windows import Window, over, run_of

Reach = tuple[int, int]  # how many elements before and after each


class Region(NamedTuple):
    """The number of elements before and after an element that are in its region, along each axis of a tensor."""

    before: tuple[int, ...]
    after: tuple[int, ...]

    @property
    def window(self) -> Window:
        """The window that covers the region at the place of its element."""
        ones = (1,) * len(self.before)
        return Window(tuple(map(add, map(add, self.before, ones), self.after)), ones, ones, self.before)

    @property
    def twice(self) -> Region:
        """The region of all elements in the regions of its elements."""
        return Region(*(tuple(map(add, own, own)) for own in self))

    def inner(self, x: Any) -> Any:
        """Return the elements whose regions are inside a tensor."""
        return x[tuple(map(slice, self.before, map(sub, x.shape, self.after)))]

    def sums(self, x: Any) -> Any:
        """Return the sums over the regions of the inner elements."""
        return self._reduced(np.add, x)

    def any(self, x: Any) -> Any:
        """Return a mask of the inner elements with a true element in their regions."""
        return self._reduced(np.logical_or, x)

    def _reduced(self, ufunc: np.ufunc, x: Any) -> Any:
        window = self.window
        return over(ufunc, x, run_of([size - own + 1 for size, own in zip(x.shape, window.size, strict=True)], window))


class Everything(NamedTuple):
    """The region of each element if it contains all elements along some axes; it has the methods of Region."""

    axes: tuple[int, ...]

    def inner(self, x: Any) -> Any:
        """Return all elements."""
        return x

    def sums(self, x: Any) -> Any:
        """Return the sums of all elements."""
        return total(x, self.axes)

    def any(self, x: Any) -> Any:
        """Return the mask as it is: the same for all elements."""
        return x


def region(sizes: Sequence[int], axes: Sequence[int], reach: Reach) -> Region:
    """Return the region with this reach along some axes, no longer than a tensor of these sizes needs."""
    own = (tuple(min(far, size - 1) if axis in axes else 0 for axis, size in enumerate(sizes)) for far in reach)
    return Region(*own)


def local(given: Mapping[str, Any]) -> tuple[tuple[int, ...], Reach]:
    """Return the axes of regions of LocalSize elements, and how far these reach: one farther after an element."""
    size = given["local_size"]
    return (1,) if given["cross_channel"] else (2, 3), ((size - 1) // 2, size // 2)


def has_everything(sizes: Sequence[int], axes: Sequence[int], reach: Reach) -> bool:
    """Whether all regions with this reach contain all elements along some axes."""
    return all(min(reach) >= sizes[axis] - 1 for axis in axes)
