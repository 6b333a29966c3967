"""Convolutions and pooling in plain loops, for tests."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def padded(x: Array, low: Sequence[int], high: Sequence[int], fill: float) -> Array:
    return np.pad(x, [(0, 0), (0, 0), *zip(low, high, strict=True)], constant_values=fill)


def windows(
    x: Array, window: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], Array]]:
    """Yield each place of a window with what it sees of every channel, batch and channels first."""
    spans = [(size - 1) * gap + 1 for size, gap in zip(window, dilations, strict=True)]
    counts = [(size - span) // step + 1 for size, span, step in zip(x.shape[2:], spans, strides, strict=True)]
    for place in itertools.product(*map(range, counts)):
        starts = [at * step for at, step in zip(place, strides, strict=True)]
        cut = tuple(slice(start, start + span, gap) for start, span, gap in zip(starts, spans, dilations, strict=True))
        yield place, x[(slice(None), slice(None), *cut)].reshape(*x.shape[:2], -1)


def pooled(
    x: Array,
    function: Callable[[Array], Array],
    window: Sequence[int],
    strides: Sequence[int],
    low: Sequence[int],
    high: Sequence[int],
    dilations: Sequence[int] | None = None,
    fill: float = math.nan,
) -> Array:
    dilations = dilations or [1] * len(window)
    seen = {place: function(part) for place, part in windows(padded(x, low, high, fill), window, strides, dilations)}
    last = max(seen)
    made = np.empty((*x.shape[:2], *(at + 1 for at in last)), x.dtype)
    for place, value in seen.items():
        made[(slice(None), slice(None), *place)] = value
    return made


def convolved(
    x: Array,
    kernel: Array,
    strides: Sequence[int],
    dilations: Sequence[int],
    low: Sequence[int],
    high: Sequence[int],
    groups: int = 1,
) -> Array:
    """Slide a filter over the padded input as it is stored."""
    x = padded(x, low, high, 0)
    count, own = kernel.shape[0] // groups, x.shape[1] // groups
    found = {}
    for place, part in windows(x, kernel.shape[2:], strides, dilations):
        flat = kernel.reshape(*kernel.shape[:2], -1)
        found[place] = np.stack(
            [
                np.einsum("bck,ck->b", part[:, own * (o // count) : own * (o // count + 1)], flat[o])
                for o in range(kernel.shape[0])
            ],
            1,
        )
    last = max(found)
    made = np.empty((x.shape[0], kernel.shape[0], *(at + 1 for at in last)), x.dtype)
    for place, value in found.items():
        made[(slice(None), slice(None), *place)] = value
    return made


STEPS = {"Strides": [1, 2], "Dilations": [2, 1], "StartPadding": [1, 0], "EndPadding": [0, 2]}
