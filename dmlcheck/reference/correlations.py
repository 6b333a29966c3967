"""Sums of products of a tensor and a filter that slides over it, a piece at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.phases import phases
from dmlcheck.reference.places import Index
from dmlcheck.reference.tiling.blocks import tiles_along
from dmlcheck.reference.tiling.piece import Piece, Sizes
from dmlcheck.reference.windows import Places, View, Window, part, places_at, view, windows

LARGEST = 1 << 20  # elements of what a part of the filter sees: 8 megabytes of float64
ROWS = 4  # times as large is a part of the filter, so that fewer parts see the same


class Pass(NamedTuple):
    """Some elements of the output, every `steps`-th from `first` on, and the filter whose sums they are.

    The filter has {groups, output channels of a group, input channels of a group, ...} elements and the window's size.
    """

    filter: Any
    window: Window
    first: tuple[int, ...]
    steps: tuple[int, ...]
    counts: tuple[int, ...]


def forward(filter: Any, window: Window, sizes: Sequence[int]) -> Iterator[Pass]:
    """Yield the one pass of a forward convolution with an output of these spatial sizes."""
    yield Pass(filter, window, (0,) * len(sizes), (1,) * len(sizes), tuple(sizes))


def backward(filter: Any, window: Window, sizes: Sequence[int]) -> Iterator[Pass]:
    """Yield the passes of a transposed convolution: outputs that meet the same elements of the filter are one."""
    for phase in phases(window, sizes):
        picked = filter
        for axis, chosen in enumerate(phase.taps, 3):
            picked = np.take(picked, np.arange(chosen.start, chosen.stop, chosen.step), axis)
        yield Pass(picked, phase.window, phase.first, window.strides, phase.counts)


class Box(NamedTuple):
    """A part of the outputs of a pass: slices of the batch, the groups, the channels of each group, and the places."""

    batch: slice
    groups: slice
    outputs: slice
    places: Places


def correlations(
    formula: Callable[..., Any],
    input: Any,
    passes: Iterable[Pass],
    *more: Any,
    fill: Any = 0,
    mark: Callable[[Pass, Box], Any] = lambda _, __: None,
    sizes: Callable[..., Sizes] | None = None,
) -> Iterator[Piece]:
    """Yield the pieces of an operator that computes something of the sums of products of a tensor and a filter.

    `input` has {batch, groups, channels of a group, ...} elements, beyond which it is `fill`; tensors in `more` have
    one element, or one for each {group, output channel of a group, 1}, or are None. The formula takes the filter as
    rows and what it sees as columns, whose products are {batch, groups, output channels of a group, places}; then the
    parts of `more`, and what `mark` gives for the piece; so does `sizes`, which gives those of the pieces.
    """

    def piece(one: Pass, box: Box) -> Piece:
        own = seen_by(one, box, input.shape[3:])
        seen = part(input[box.batch, box.groups], own, fill)
        rows = one.filter[box.groups, box.outputs]
        others = (x if x is None else _of_channels(x, box) for x in more)
        return Piece(
            _where(one, box),
            partial(_of_rows_and_columns, formula, own),
            (rows, seen, *others, mark(one, box)),
            sizes=None if sizes is None else partial(_of_rows_and_columns, sizes, own),
            of_element=lambda place: piece(one, _box_of(one, place)),
        )

    for one in passes:
        for box in _boxes(one, len(input)):
            yield piece(one, box)


def seen_by(one: Pass, box: Box, sizes: Sequence[int]) -> View:
    """Return how the window of a pass sees an input of these spatial sizes at the places of a piece, padding too."""
    return view(box.places, one.window, sizes, is_whole=True)


def beyond(one: Pass, box: Box, ends: Sequence[int | None]) -> Any:
    """Say which places of a piece are at or beyond an end in the output; None is no end."""
    found: Any = np.zeros((1,) * len(ends), dtype=bool)
    for axis, (first, step, at, end) in enumerate(zip(one.first, one.steps, box.places, ends, strict=True)):
        is_over = first + step * np.arange(at.start, at.stop) >= (np.inf if end is None else end)
        found = found | np.expand_dims(is_over, [other for other in range(len(ends)) if other != axis])
    return found.reshape(-1)


def unmet(one: Pass, box: Box, filter: Any, sizes: Sequence[int]) -> Any:
    """Say for which channels and places of a piece infinity or NaN in the filter meets no element of the input.

    The filter is the whole one; `sizes` are the spatial sizes of the input.
    """
    every, own = (_not_finite(each[box.groups, box.outputs]) for each in (filter, one.filter))
    if not every.any():
        return np.zeros(1, dtype=bool)
    own_view = seen_by(one, box, sizes)
    outside = part(np.zeros(sizes, dtype=bool), own_view, fill=True)
    under = windows(outside, own_view).reshape(math.prod(own_view.counts), -1)
    is_missed = every.sum(axis=2, keepdims=True) > own.sum(axis=2, keepdims=True)
    return is_missed | (own @ under.T.astype(np.float64) > 0)


def _not_finite(filter: Any) -> Any:
    """Return for each {group, output channel, element of the window} how many input channels have infinity or NaN."""
    numbers = (~np.isfinite(filter)).sum(axis=2)
    return numbers.reshape(*numbers.shape[:2], -1).astype(np.float64)


def _of_rows_and_columns(formula: Callable[..., Any], own: View, rows: Any, seen: Any, *more: Any) -> Any:
    """Apply a formula to a filter, a row for each output channel, and what it sees, a column for each place."""
    under, count = windows(seen, own), len(own.places)
    order = [0, 1, 2, *range(3 + count, 3 + 2 * count), *range(3, 3 + count)]
    terms = math.prod(rows.shape[2:])
    columns = under.transpose(*order).reshape(*under.shape[:2], terms, math.prod(under.shape[3 : 3 + count]))
    return formula(rows.reshape(*rows.shape[:2], terms), columns, *more)


def _boxes(one: Pass, batch: int) -> Iterator[Box]:
    """Yield the parts of a pass whose columns, and whose rows, are not large."""
    groups, outs, *taps = one.filter.shape
    terms = max(1, math.prod(taps))
    width = min(outs, max(1, ROWS * LARGEST // terms))
    sizes = (batch, groups, *one.counts)
    for index in tiles_along(range(len(sizes)), sizes, max(1, LARGEST // (terms + width))):
        of_batch, of_groups, *places = places_at(index, sizes)
        for group in [of_groups] if width == outs else _slices(of_groups.start, of_groups.stop, 1):
            for outputs in _slices(0, outs, width):
                yield Box(of_batch, group, outputs, places)


def _box_of(one: Pass, place: tuple[int, ...]) -> Box:
    """Return the part of a pass that is one element of the output."""
    batch, channel, *spatial = place
    group, out = divmod(channel, one.filter.shape[1])
    places = ((at - first) // step for at, first, step in zip(spatial, one.first, one.steps, strict=True))
    batches, groups, outputs, *at = (slice(number, number + 1) for number in (batch, group, out, *places))
    return Box(batches, groups, outputs, at)


def _slices(start: int, stop: int, step: int) -> list[slice]:
    return [slice(at, min(stop, at + step)) for at in range(start, stop, step)]


def _of_channels(x: Any, box: Box) -> Any:
    """Return the part of a tensor of channels, or of one element, that a piece needs."""
    return x if x.size == 1 else x[box.groups, box.outputs]


def _where(one: Pass, box: Box) -> Index:
    """Return where the results of a piece are in the output."""
    outs = one.filter.shape[1]
    channels = slice(box.groups.start * outs + box.outputs.start, (box.groups.stop - 1) * outs + box.outputs.stop)
    places = (
        slice(first + at.start * step, first + (at.stop - 1) * step + 1, step)
        for first, step, at in zip(one.first, one.steps, box.places, strict=True)
    )
    return (box.batch, channels, *places)
