"""FOLD's sums: the columns of windows put back in layers, in each of which no two elements are at one place."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.arrays.places import Places
from dmlcheck.reference.functions.windows import Window

Sizes = tuple[int, ...]


def layers_at(x: Any, places: Places, window: Window, counts: Sizes) -> list[Any]:
    """Return the layers of some places of the output, whose sum is the result.

    x is {batch, channels, window elements by dimension, blocks by dimension}.
    """
    batch, channel, *spatial = places
    fallen = product(*map(hits, spatial, counts, *window))
    own = x[batch.start : batch.stop, channel.start : channel.stop]
    return layered(own, (len(batch), len(channel), *map(len, spatial)), fallen)


def depth_of(window: Window) -> int:
    """Return the most elements of windows that are added up at one place."""
    return math.prod(map(overlap, window.size, window.strides, window.dilations))


class Hit(NamedTuple):
    """An element of the window along a dimension, the blocks it is taken from, and the places it is added to.

    Elements of one layer are never added to the same place.
    """

    layer: int
    element: int
    blocks: slice
    places: slice


def hits(at: range, count: int, size: int, stride: int, gap: int, start: int) -> Iterator[Hit]:
    """Yield the elements of the windows of `count` blocks that are added to the places `at` of a dimension."""
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
    """Return the most elements of windows that are added up at one place of a dimension."""
    return max(Counter(element * gap % stride for element in range(size)).values())


def layered(x: Any, sizes: Sizes, fallen: Iterable[tuple[Hit, ...]]) -> list[Any]:
    """Return the layers, 0 at places without an element."""
    found: dict[tuple[int, ...], Any] = {}
    for hits_along in fallen:
        layer = tuple(hit.layer for hit in hits_along)
        if layer not in found:
            found[layer] = np.zeros(sizes, x.dtype)
        elements, own = (hit.element for hit in hits_along), (hit.blocks for hit in hits_along)
        found[layer][(..., *(hit.places for hit in hits_along))] = x[(slice(None), slice(None), *elements, *own)]
    return list(found.values()) or [np.zeros(sizes, x.dtype)]
