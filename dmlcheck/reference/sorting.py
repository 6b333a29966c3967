"""Sorting of sequences. Long ones are sorted span by span: a span has elements that are neighbours once sorted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.blocks import BLOCK_AS_IS
from dmlcheck.reference.pieces import as_bits, is_float, width

LIMIT = 1 << 20  # elements that are sorted together; with their places and keys they take some 40 megabytes
PART = BLOCK_AS_IS  # elements of a sequence that are looked at together
BITS = 16  # of the keys: elements are counted by so many at a time


def keys(x: Any, *, is_decreasing: bool) -> Any:
    """Return unsigned integers in the order in which elements are sorted, the same for equal ones; NaN is last."""
    if is_float(x):
        bits = as_bits(0 - x if is_decreasing else 0 + x)  # where -0 is 0
        found = np.where(bits < _middle(x), bits | _middle(x), ~bits)
        return np.where(np.isnan(x), ~bits.dtype.type(0), found)
    found = as_bits(x) ^ _middle(x) if x.dtype.kind == "i" else x
    return ~found if is_decreasing else found


def _middle(x: Any) -> Any:
    """Return the unsigned integer whose only bit is the sign's."""
    return as_bits(x).dtype.type(1 << width(x) - 1)


class Span(NamedTuple):
    """The elements in the part `where` of a sequence whose keys are from `low` to `high`, and their number."""

    where: range
    low: int
    high: int
    size: int


def spans(x: Any, span: Span, *, is_decreasing: bool) -> Iterator[Span]:
    """Yield the elements of a span in their order, in spans of at most LIMIT; of equal ones the first come first."""
    if span.size <= LIMIT:
        yield span
    elif span.low == span.high:
        for part in parts(span.where):
            count = int(np.count_nonzero(keys(x[part.start : part.stop], is_decreasing=is_decreasing) == span.low))
            if count:
                yield span._replace(where=part, size=count)
    else:
        shift = max(0, (span.high - span.low).bit_length() - BITS)
        for first, stop, count in grouped(counts(x, span, shift, is_decreasing=is_decreasing)):
            low, high = span.low + (first << shift), span.low + (stop << shift) - 1
            yield from spans(x, Span(span.where, low, min(high, span.high), count), is_decreasing=is_decreasing)


def parts(where: range) -> Iterator[range]:
    """Yield the parts of a sequence that are looked at together."""
    return (where[start : start + PART] for start in range(0, len(where), PART))


def counts(x: Any, span: Span, shift: int, *, is_decreasing: bool) -> Any:
    """Return how many elements of a span have each key, of which the last `shift` bits are left out."""
    found = np.zeros((span.high - span.low >> shift) + 1, np.int64)
    for part in parts(span.where):
        own = keys(x[part.start : part.stop], is_decreasing=is_decreasing)
        own = own[(own >= span.low) & (own <= span.high)] - span.low
        found += np.bincount((own >> shift).astype(np.intp), minlength=len(found))
    return found


def grouped(numbers: Any) -> Iterator[tuple[int, int, int]]:
    """Yield the start, the stop and the sum of runs of numbers: a sum is at most LIMIT unless it is of one number.

    Runs whose sum is 0 are left out.
    """
    ends, start, before = np.cumsum(numbers), 0, 0
    while start < len(ends):
        stop = max(start + 1, int(np.searchsorted(ends, before + LIMIT, "right")))
        if ends[stop - 1] > before:
            yield start, stop, int(ends[stop - 1]) - before
        start, before = stop, int(ends[stop - 1])


def whole(x: Any) -> Span:
    """Return the span that has all elements of a sequence."""
    return Span(range(len(x)), 0, (1 << width(x)) - 1, len(x))


def in_order(x: Any, span: Span, *, is_decreasing: bool) -> Any:
    """Return where the elements of a span are in a sequence, in their order; of equal ones the first comes first."""
    found = []
    for part in parts(span.where):
        own = keys(x[part.start : part.stop], is_decreasing=is_decreasing)
        found.append(part.start + np.flatnonzero((own >= span.low) & (own <= span.high)))
    at = np.concatenate(found)
    return at[np.argsort(keys(x[at], is_decreasing=is_decreasing), kind="stable")]
