"""UNFOLD, which makes a column of what a window sees at each place, and FOLD, which adds columns up again."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference.blocks import Index, at_once, ranges, tiles_along
from dmlcheck.reference.pieces import Kernel, Open, Piece, holds, is_float
from dmlcheck.reference.sums import total
from dmlcheck.reference.windows import Places, Window, part, phases, views, windows
from dmlcheck.specs.names import DATA_TYPES

Sizes = tuple[int, ...]


def unfold(
    input: Any,
    *,
    window_sizes: Sizes,
    strides: Sizes,
    dilations: Sizes,
    start_padding: Sizes,
    end_padding: Sizes,
    input_type: str,
    output_type: str,
) -> Iterator[Piece]:
    """Output[n, c * P + w, b] = Input[n, c, b * Strides + w * Dilations - StartPadding], 0 outside.

    w is an element of the window, b a place of it, both counted row-major, and P the number of elements. Left open is
    all for a dilation of 0, or another type.
    """
    window = Window(window_sizes, strides, dilations, start_padding)
    counts = blocks(window, input.shape[2:], end_padding)
    is_open = 0 in dilations or input_type != output_type
    for index, places, seen in views(input, window, (*input.shape[:2], *counts)):
        where = of_columns(index, (*input.shape[:2], *counts), math.prod(window_sizes))
        yield Piece(where, partial(columns, places=places, window=window, is_open=is_open), (seen,), is_exact=True)


def blocks(window: Window, sizes: Sizes, ends: Sizes) -> Sizes:
    """Return how many places the window has along each spatial dimension."""
    return tuple(
        (total + start + end - (size - 1) * gap - 1) // stride + 1
        for total, end, size, stride, gap, start in zip(sizes, ends, *window, strict=True)
    )


def of_columns(index: Index, sizes: Sizes, rows: int) -> Index:
    """Return where some batches, channels and places, a row-major run, are among columns with so many rows each."""
    batch, channels, *places = ranges(index, sizes)
    first = int(np.ravel_multi_index([at[0] for at in places], sizes[2:]))
    run = slice(first, first + math.prod(map(len, places)))
    return slice(batch[0], batch[-1] + 1), slice(channels[0] * rows, (channels[-1] + 1) * rows), run


def columns(seen: Any, *, places: Places, window: Window, is_open: bool) -> Open:
    """Return what a window sees at each place as a column."""
    view, count = windows(seen, places, window), len(places)
    order = [0, 1, *range(2 + count, 2 + 2 * count), *range(2, 2 + count)]
    return Open(view.transpose(order), is_open)


def fold(
    input: Any,
    *,
    window_sizes: Sizes,
    strides: Sizes,
    dilations: Sizes,
    start_padding: Sizes,
    end_padding: Sizes,
    output: TensorDesc,
    input_type: str,
    output_type: str,
) -> Iterator[Piece]:
    """Output[n, c, i] = sum of Input[n, c * P + w, b] over w, b with i = b * Strides + w * Dilations - StartPadding.

    w is an element of the window, b a place of it, both counted row-major, and P the number of elements. Left open are
    integers of less than 32 bits that do not fit, and all for a dilation of 0, or another type.
    """
    window = Window(window_sizes, strides, dilations, start_padding)
    channels, counts = output.sizes[:2], blocks(window, output.sizes[2:], end_padding)
    x = input.reshape(*channels, math.prod(window_sizes), *counts)
    is_open = 0 in dilations or input_type != output_type
    for phase in phases(window, output.sizes[2:]):
        taps = np.ravel_multi_index(np.ix_(*phase.taps), window_sizes).ravel()
        sizes = (*channels, *phase.counts)
        for index in tiles_along(range(len(sizes)), sizes, at_once(taps.size)):
            batch, channel, *places = (slice(at.start, at.stop) for at in ranges(index, sizes))
            seen = part(x[batch, channel], places, phase.window)[:, :, taps]
            where = (batch, channel, *map(every, phase.first, places, strides))
            formula = partial(added, places=places, window=phase.window, is_open=is_open, output_type=output_type)
            yield Piece(where, formula, (seen,), is_exact=taps.size < 2)


def every(first: int, at: slice, stride: int) -> slice:
    """Return where some places of a phase are along a spatial dimension."""
    return slice(first + at.start * stride, first + at.stop * stride, stride)


def added(seen: Any, *, places: Places, window: Window, is_open: bool, output_type: str) -> Open:
    """Return the sums of the elements that fall on one place, each of another row of the columns."""
    view = windows(seen, places, window)
    terms = [view[(slice(None), slice(None), row, ..., *at)] for row, at in enumerate(np.ndindex(*window.size))]
    if not terms:
        return Open(np.zeros(view.shape[:2] + view.shape[3 : 3 + len(places)]), is_open)
    sums = terms[0] if len(terms) == 1 else total(np.stack(terms), (0,))[0]
    if is_float(sums) or DATA_TYPES[output_type].bits >= 32:
        return Open(sums, is_open)
    fits = holds(output_type, sums)
    return Open(np.where(fits, sums, 0), ~fits | is_open)


KERNELS: dict[str, Kernel] = {
    "FOLD": Kernel(fold),
    "UNFOLD": Kernel(unfold, is_exact=True),
}
