"""Windows that slide over spatial dimensions, the last ones of a tensor: convolution and pooling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.numbers import Tracked

Places = Sequence[slice]


class Window(NamedTuple):
    """A window by spatial dimension: its size, its step, the distance of its elements, and the padding at the start.

    At place o its element w is over the element o * stride + w * dilation - padding of the tensor. A negative padding
    leaves elements out; a dilation of 0 puts all elements of the window over one.
    """

    size: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    padding: tuple[int, ...]


def part(x: Any, places: Places, window: Window, fill: Any = 0) -> Any:
    """Return the part of an array that a window sees at some places, which slices with a start and a stop give.

    Elements beyond the edges of the array are `fill`.
    """
    lead = x.ndim - len(places)
    cut, width = [slice(None)] * lead, [(0, 0)] * lead
    for total, at, size, stride, dilation, padding in zip(x.shape[lead:], places, *window, strict=True):
        start = at.start * stride - padding
        stop = max(start, (at.stop - 1) * stride + (size - 1) * dilation + 1 - padding) if size else start
        first = min(max(start, 0), total)
        last = max(first, min(stop, total))
        before = min(first - start, stop - start) if start < 0 else 0
        cut.append(slice(first, last))
        width.append((before, stop - start - before - (last - first)))
    inside = x[tuple(cut)]
    return np.pad(inside, width, constant_values=fill) if any(map(any, width)) else inside


def windows(x: Any, places: Places, window: Window) -> Any:
    """Return what a window sees at some places of a tensor, of which x is the `part`.

    The sizes are those of x before the spatial dimensions, the numbers of places, and the sizes of the window. Nothing
    is copied.
    """
    lead = x.ndim - len(places)
    counts = [at.stop - at.start for at in places]

    def view(values: Any) -> Any:
        steps = values.strides[lead:]
        moves = [step * stride for step, stride in zip(steps, window.strides, strict=True)]
        gaps = [step * dilation for step, dilation in zip(steps, window.dilations, strict=True)]
        sizes = (*values.shape[:lead], *counts, *window.size)
        return np.lib.stride_tricks.as_strided(values, sizes, (*values.strides[:lead], *moves, *gaps), writeable=False)

    return x.moved(view) if isinstance(x, Tracked) else view(x)
