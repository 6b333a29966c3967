"""Weighted sums of elements that may be infinite or NaN: what weights of 0, and errors of weights, make of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.ball.numbers import Array
from dmlcheck.reference.results import alternatives


class Seen(NamedTuple):
    """Masks of the sums that see an element of one kind: with a weight above 0, perhaps with one, and with one of 0."""

    surely: Any
    perhaps: Any
    in_vain: Any

    def or_(self, other: Seen) -> Seen:
        """Return the masks for the sums of the terms of both."""
        return Seen(*map(np.logical_or, self, other))


class Kinds(NamedTuple):
    """The sums that see infinity, -infinity and NaN."""

    infinity: Seen
    negative: Seen
    nan: Seen

    def or_(self, other: Kinds) -> Kinds:
        """Return the masks for the sums of the terms of both."""
        return Kinds(*map(Seen.or_, self, other))


def finite(x: Array) -> Array:
    """Return elements with 0 in place of infinity and NaN."""
    return np.where(np.isfinite(x), x, 0)


def kinds_of(x: Array, seen: Callable[[Array], Seen]) -> Kinds:
    """Return the sums that see each kind of element; `seen` returns those that see the elements of a mask."""
    return Kinds(seen(x == np.inf), seen(x == -np.inf), seen(np.isnan(x)))


def with_infinities(sums: Any, kinds: Kinds) -> Any:
    """Return the sums of all elements, from the sums of the finite ones.

    An element with weight 0 may be left out, or be multiplied by 0, which gives NaN. Where errors decide whether a
    weight is 0, the infinity is another alternative.
    """
    positive, negative, nan = kinds
    is_nan = nan.surely | positive.surely & negative.surely
    first = np.where(positive.surely, np.inf, np.where(negative.surely, -np.inf, sums))
    first = np.where(is_nan, np.nan, first)
    others = {
        np.nan: reduce(np.logical_or, (kind.in_vain | kind.perhaps & ~kind.surely for kind in kinds)),
        np.inf: positive.perhaps & ~positive.surely & ~negative.surely & ~nan.surely,
        -np.inf: negative.perhaps & ~negative.surely & ~positive.surely & ~nan.surely,
    }
    return alternatives(first, *(np.where(mask, number, first) for number, mask in others.items() if mask.any()))
