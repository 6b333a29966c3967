"""Tiles of the row `Correlations`: each result is a sum of products of a filter and a window of a tensor."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.arrays.blocks import ranges, tiles_along
from dmlcheck.reference.arrays.grouped import grouped
from dmlcheck.reference.arrays.places import Index
from dmlcheck.reference.functions.phases import phases
from dmlcheck.reference.functions.products import Magnitudes
from dmlcheck.reference.functions.windows import Places, View, Window, part, places_at, view, windows
from dmlcheck.reference.rows import Correlations
from dmlcheck.reference.tiling.request import Request, Tile

LARGEST = 1 << 20  # elements of the windows of a tile: 8 megabytes of float64
ROWS = 4  # times as many elements of the filter in a tile, so that fewer tiles have the same windows


class Pass(NamedTuple):
    """A part of the output and its filter: every `steps`-th element from `first` on, `counts` of them.

    The filter is {groups, output channels of a group, input channels of a group, ...}, with the size of the window.
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
    """Yield the passes of a transposed convolution, one for the outputs that use the same elements of the filter."""
    for phase in phases(window, sizes):
        picked = filter
        for axis, chosen in enumerate(phase.taps, 3):
            picked = np.take(picked, np.arange(chosen.start, chosen.stop, chosen.step), axis)
        yield Pass(picked, phase.window, phase.first, window.strides, phase.counts)


class Box(NamedTuple):
    """A tile of a pass: slices of the batch, of the groups, of the channels of each group, and of the places."""

    batch: slice
    groups: slice
    outputs: slice
    places: Places


class Sliding(NamedTuple):
    """The operands of a correlation, from which tiles are made.

    `filter` is {groups, output channels of a group, input channels of a group, ...}; `input` is {batch, groups,
    channels of a group, ...}, with `fill` beyond its edges. Each of `others` has one element, or {groups, output
    channels of a group, 1}, or is None. `sizes` are the output's, `edges` and `magnitudes` the row's.
    """

    formula: Callable[..., Any]
    filter: Any
    input: Any
    fill: Any
    others: Mapping[str, Any]
    sizes: tuple[int, ...]
    edges: Callable[..., Any] | None
    magnitudes: Callable[..., Magnitudes] | None
    is_finite: bool

    def tile(self, one: Pass, box: Box) -> Tile:
        """Return a tile."""
        formula, spatial, place = self.formula, self.input.shape[3:], where(one, box)
        if self.edges is not None:
            is_unmet = False if self.is_finite else unmet(one, box, self.filter, spatial)
            formula = partial(formula, edges=self.edges(ranges(place, self.sizes), is_unmet))
        seen = view_of(one, box, spatial)
        parts = {name: x if x is None or x.size == 1 else x[box.groups, box.outputs] for name, x in self.others.items()}
        parts["input"] = part(self.input[box.batch, box.groups], seen, self.fill)
        parts["filter"] = one.filter[box.groups, box.outputs]
        return Tile(
            place,
            partial(_of_matrices, formula, seen, tuple(parts)),
            tuple(parts.values()),
            magnitudes=None if self.magnitudes is None else partial(_of_matrices, self.magnitudes, seen, tuple(parts)),
            of_element=lambda place: self.tile(one, _box_of(one, place)),
        )


def of_correlations(declared: Correlations, request: Request) -> Iterator[Tile]:
    """Yield tiles with the filter as rows and the windows as columns."""
    given, (sizes,) = request.given, request.outputs.values()
    taps, passes = declared.taps(given), backward if declared.is_backward(given) else forward
    others = {name: x for name, x in request.tensors.items() if name not in ("input", "filter")}
    sliding = Sliding(
        request.formula,
        taps,
        grouped(given["input"], len(taps), 1),
        declared.fill(given),
        {name: x if x is None else x.reshape(1 if x.size == 1 else len(taps), -1, 1) for name, x in others.items()},
        sizes,
        None if declared.edges is None else partial(declared.edges, given),
        declared.magnitudes(given),
        bool(np.isfinite(taps).all()),
    )
    for one in passes(taps, declared.window(given), sizes[2:]):
        for box in _boxes(one, sizes[0]):
            yield sliding.tile(one, box)


def view_of(one: Pass, box: Box, sizes: Sequence[int]) -> View:
    """Return the view of an input of these spatial sizes for a tile, with all padding."""
    return view(box.places, one.window, sizes, is_whole=True)


def unmet(one: Pass, box: Box, filter: Any, sizes: Sequence[int]) -> Any:
    """Return a mask of the results of a tile whose sums leave out an infinity or NaN of the filter.

    That is so where it is over padding, or not in the pass. `filter` is the whole one; `sizes` are the spatial sizes of
    the input.
    """
    every, own = (_not_finite(each[box.groups, box.outputs]) for each in (filter, one.filter))
    if not every.any():
        return np.zeros(1, dtype=bool)
    own_view = view_of(one, box, sizes)
    outside = part(np.zeros(sizes, dtype=bool), own_view, fill=True)
    under = windows(outside, own_view).reshape(math.prod(own_view.counts), -1)
    is_missed = every.sum(axis=2, keepdims=True) > own.sum(axis=2, keepdims=True)
    return is_missed | (own @ under.T.astype(np.float64) > 0)


def _not_finite(filter: Any) -> Any:
    """Return how many input channels have infinity or NaN, as {groups, output channels, window elements}."""
    numbers = (~np.isfinite(filter)).sum(axis=2)
    return numbers.reshape(*numbers.shape[:2], -1).astype(np.float64)


def _of_matrices(formula: Callable[..., Any], seen: View, names: Sequence[str], *operands: Any) -> Any:
    """Call a formula with the filter as a row for each output channel, and the windows as a column for each place."""
    parts = dict(zip(names, operands, strict=True))
    rows, under, count = parts["filter"], windows(parts["input"], seen), len(seen.places)
    order = [0, 1, 2, *range(3 + count, 3 + 2 * count), *range(3, 3 + count)]
    terms = math.prod(rows.shape[2:])
    columns = under.transpose(*order).reshape(*under.shape[:2], terms, math.prod(under.shape[3 : 3 + count]))
    return formula(**{**parts, "filter": rows.reshape(*rows.shape[:2], terms), "input": columns})


def _boxes(one: Pass, batch: int) -> Iterator[Box]:
    """Yield the tiles of a pass, with a limited number of elements in their columns and rows."""
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
    """Return the tile of a pass that has one element of the output."""
    batch, channel, *spatial = place
    group, out = divmod(channel, one.filter.shape[1])
    places = ((at - first) // step for at, first, step in zip(spatial, one.first, one.steps, strict=True))
    batches, groups, outputs, *at = (slice(number, number + 1) for number in (batch, group, out, *places))
    return Box(batches, groups, outputs, at)


def _slices(start: int, stop: int, step: int) -> list[slice]:
    return [slice(at, min(stop, at + step)) for at in range(start, stop, step)]


def where(one: Pass, box: Box) -> Index:
    """Return the index of a tile in the output."""
    outs = one.filter.shape[1]
    channels = slice(box.groups.start * outs + box.outputs.start, (box.groups.stop - 1) * outs + box.outputs.stop)
    places = (
        slice(first + at.start * step, first + (at.stop - 1) * step + 1, step)
        for first, step, at in zip(one.first, one.steps, box.places, strict=True)
    )
    return (box.batch, channels, *places)
