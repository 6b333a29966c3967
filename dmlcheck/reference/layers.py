"""Columns of windows that fall back on the places of a tensor, in layers in which none falls on another."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.places import Places
from dmlcheck.reference.windows import Window

Sizes = tuple[int, ...]


def layers_at(x: Any, places: Places, window: Window, counts: Sizes) -> list[Any]:
    """Return tensors whose sum is what falls on some places: batches, channels, and places of each other dimension.

    x has batches, channels, the elements of the window, and the blocks of each dimension.
    """
    batch, channel, *spatial = places
    fallen = product(*map(hits, spatial, counts, *window))
    own = x[batch.start : batch.stop, channel.start : channel.stop]
    return layered(own, (len(batch), len(channel), *map(len, spatial)), fallen)


def depth_of(window: Window) -> int:
    """Return how many elements of windows may fall on one place."""
    return math.prod(map(overlap, window.size, window.strides, window.dilations))


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


def layered(x: Any, sizes: Sizes, fallen: Iterable[tuple[Hit, ...]]) -> list[Any]:
    """Return tensors whose sum is what falls on each place, 0 where nothing does."""
    found: dict[tuple[int, ...], Any] = {}
    for hits_along in fallen:
        layer = tuple(hit.layer for hit in hits_along)
        if layer not in found:
            found[layer] = np.zeros(sizes, x.dtype)
        elements, own = (hit.element for hit in hits_along), (hit.blocks for hit in hits_along)
        found[layer][(..., *(hit.places for hit in hits_along))] = x[(slice(None), slice(None), *elements, *own)]
    return list(found.values()) or [np.zeros(sizes, x.dtype)]
