"""UNFOLD, which makes a column of what a window sees at each place, and FOLD, which adds columns up again."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial, reduce
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference.ball.numbers import Ball
from dmlcheck.reference.pieces import Open, narrowed
from dmlcheck.reference.places import Index
from dmlcheck.reference.rows import Kernel, exact_row
from dmlcheck.reference.tiling.blocks import ranges, tiles_along
from dmlcheck.reference.tiling.piece import Piece, exact_piece
from dmlcheck.reference.windows import LARGE, View, Window, placed, views, windows

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
    """Output[n, c * P + w, b] = Input[n, c, b * Strides + w * Dilations - StartPadding], 0 outside InputTensor.

    w is an element of the window and b a position of the window, both counted in row-major order; P is the number of
    elements of the window.
    """
    window = Window(window_sizes, strides, dilations, start_padding)
    counts = tuple(map(placed, input.shape[2:], *window, end_padding))
    sizes, is_open = (*input.shape[:2], *counts), 0 in dilations or input_type != output_type
    for index, seen, x in views(input, window, sizes, is_whole=True):
        where = of_columns(index, sizes, math.prod(window_sizes))
        yield exact_piece(where, partial(columns, seen=seen, is_open=is_open), (x,))


def of_columns(index: Index, sizes: Sizes, rows: int) -> Index:
    """Return where some batches, channels and places, a row-major run, are among columns with so many rows each."""
    batch, channels, *places = ranges(index, sizes)
    first = int(np.ravel_multi_index([at[0] for at in places], sizes[2:]))
    run = slice(first, first + math.prod(map(len, places)))
    return slice(batch[0], batch[-1] + 1), slice(channels[0] * rows, (channels[-1] + 1) * rows), run


def columns(x: Any, *, seen: View, is_open: bool) -> Open:
    """Return what a window sees at each place as a column."""
    view, count = windows(x, seen), len(seen.places)
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

    w is an element of the window and b a position of the window, both counted in row-major order; P is the number of
    elements of the window.
    """
    window = Window(window_sizes, strides, dilations, start_padding)
    sizes, counts = output.sizes, tuple(map(placed, output.sizes[2:], *window, end_padding))
    x = input.reshape(*sizes[:2], *window_sizes, *counts)
    formula = partial(added, is_open=0 in dilations or input_type != output_type, output_type=output_type)
    depth = math.prod(map(overlap, window.size, window.strides, window.dilations))
    for index in tiles_along(range(len(sizes)), sizes, LARGE // depth):
        batch, channel, *places = ranges(index, sizes)
        fallen = product(*map(hits, places, counts, *window))
        layers = layered(x[index[:2]], (len(batch), len(channel), *map(len, places)), fallen)
        yield Piece(index, formula, layers, is_exact=len(layers) == 1)


class Hit(NamedTuple):
    """Where an element of the window falls on some places of a dimension: its number, of which blocks, and on which.

    Elements of one layer never fall on the same place.
    """

    layer: int
    element: int
    blocks: slice
    places: slice


def hits(at: range, count: int, size: int, stride: int, gap: int, start: int) -> Iterator[Hit]:
    """Yield where the elements of the windows of `count` blocks fall on the places `at` of a dimension."""
    layers: Counter[int] = Counter()
    for element in range(size):
        shift = element * gap - start
        layer, rest = layers[shift % stride], at.start - shift
        layers.update([shift % stride])
        own = range(max(0, -(-rest // stride)), min(count, -(-(at.stop - shift) // stride)))
        if own:
            places = slice(own.start * stride - rest, own.stop * stride - rest, stride)
            yield Hit(layer, element, slice(own.start, own.stop), places)


def overlap(size: int, stride: int, gap: int) -> int:
    """Return how many elements of windows may fall on one place of a dimension."""
    return max(Counter(element * gap % stride for element in range(size)).values())


def layered(x: Any, sizes: Sizes, fallen: Iterable[tuple[Hit, ...]]) -> tuple[Any, ...]:
    """Return tensors whose sum is what falls on each place, 0 where nothing does."""
    found: dict[tuple[int, ...], Any] = {}
    for hits_along in fallen:
        layer = tuple(hit.layer for hit in hits_along)
        if layer not in found:
            found[layer] = np.zeros(sizes, x.dtype)
        elements, own = (hit.element for hit in hits_along), (hit.blocks for hit in hits_along)
        found[layer][(..., *(hit.places for hit in hits_along))] = x[(slice(None), slice(None), *elements, *own)]
    return tuple(found.values()) or (np.zeros(sizes, x.dtype),)


def added(*layers: Any, is_open: bool, output_type: str) -> Open:
    """Return the sums of the elements that fall on one place."""
    if isinstance(layers[0], Ball):  # whose terms may be added in any order
        return Open(np.stack(layers).sum(axis=0), is_open)
    return Open(narrowed(output_type, reduce(np.add, layers)), is_open)


KERNELS: dict[str, Kernel] = {
    "FOLD": Kernel(fold),
    "UNFOLD": exact_row(unfold),
}
