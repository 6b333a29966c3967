"""Tensors that go on beyond their edges, as in padding, and sums over what is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial, reduce
from itertools import product
from operator import sub
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.arrays.blocks import Blocks
from dmlcheck.reference.arrays.places import Index, Places, numbers_of
from dmlcheck.reference.functions.nested import Nested
from dmlcheck.reference.results import AsMeasured, PartlyUndefined, any_of
from dmlcheck.reference.rows import Given


def continued(x: Any, places: Places, mode: str) -> Blocks:
    """Return x at some places; at those outside it, with the elements that a DML_PADDING_MODE chooses.

    Each region inside or outside along each axis is a block, so that the inside need not be copied.
    """
    cuts = list(product(*map(sides, places, x.shape)))
    return Blocks(tuple(map(len, places)), cuts, partial(_region, x, places, mode))


def sides(at: range, size: int) -> Iterator[slice]:
    """Yield the parts of some places that are before, inside and after a dimension, without empty parts."""
    start, stop = (min(max(end - at.start, 0), len(at)) for end in (0, size))
    return (part for part in (slice(0, start), slice(start, stop), slice(stop, len(at))) if part.start < part.stop)


def _region(x: Any, places: Places, mode: str, cut: Index) -> AsMeasured:
    """Return x at the places of a region. An axis of size 1 has no other element to reflect: DirectML repeats it."""
    own = [at[part] for at, part in zip(places, cut, strict=True)]
    outside = {axis: at for axis, at in enumerate(own) if not 0 <= at.start < x.shape[axis]}
    found = x[tuple(slice(None) if axis in outside else slice(at.start, at.stop) for axis, at in enumerate(own))]
    for axis, at in outside.items():
        found = found.take(ORIGINS[mode](numbers_of(at), x.shape[axis]), axis)
    return AsMeasured(found, mode == "REFLECTION" and any(x.shape[axis] == 1 for axis in outside))


def mirrored(at: Any, period: int, shift: int) -> Any:
    """Return the places of a reflection: i and period - shift - i are the same place, and so are i and i + period."""
    return np.minimum(at % period, period - shift - at % period)


# The places inside a dimension whose elements are at places outside it.
ORIGINS: dict[str, Callable[[Any, int], Any]] = {
    "EDGE": lambda at, size: np.clip(at, 0, size - 1),
    "REFLECTION": lambda at, size: mirrored(at, max(1, 2 * size - 2), 0),
    "SYMMETRIC": lambda at, size: mirrored(at, 2 * size, 1),
    "WRAP": lambda at, size: at % size,
}


# ---- sums of convolutions


class SumsAtEdges(NamedTuple):
    """The sums of a convolution that have less than a whole window: two masks.

    `unmet` has the sums that leave out an infinity or NaN of the filter; if they are `padded`, DirectML multiplies it
    by 0 there. `added` has the places that OutputPadding adds at the end, whose sum is 0 or what ONNX has there.
    """

    unmet: Any
    added: Any
    padded: bool

    def of_all(self, sums: Any) -> Any:
        """Return sums with the products of all of the filter."""
        return np.where(self.unmet, np.nan, sums) if self.padded and np.any(self.unmet) else sums

    def results(self, activation: Nested, sums: Any) -> Any:
        """Return the results of an activation for sums."""
        found = activation(sums)
        if self.added.any():
            found = any_of(activation(np.where(self.added, 0, sums)), found)
        return AsMeasured(found, self.unmet) if self.padded else PartlyUndefined(found, self.unmet)


def sums_at_edges(given: Given, places: Places, unmet: Any) -> SumsAtEdges:
    """Return the sums at the edges among those at some places of a convolution's output."""
    ends = map(sub, given["output"].sizes[2:], given["output_padding"])
    beyond = reduce(np.logical_or.outer, map(np.greater_equal, map(numbers_of, places[2:]), ends))
    return SumsAtEdges(unmet, beyond.ravel(), given["direction"] == "FORWARD")
