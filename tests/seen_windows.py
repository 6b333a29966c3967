"""Windows over tensors, and what they see, element by element."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from dmlcheck.reference.functions.windows import Window

Array = np.ndarray[Any, Any]

WINDOWS = [
    ((7,), Window((3,), (1,), (1,), (0,)), (5,)),
    ((7,), Window((3,), (2,), (1,), (1,)), (4,)),
    ((5,), Window((2,), (3,), (4,), (3,)), (3,)),
    ((3,), Window((2,), (1,), (0,), (0,)), (3,)),
    ((2,), Window((1,), (1,), (1,), (6,)), (14,)),
    ((6,), Window((2,), (1,), (2,), (-2,)), (2,)),
    ((4, 5), Window((3, 2), (1, 2), (2, 1), (2, 1)), (4, 3)),
    ((3, 4, 2), Window((2, 1, 3), (1, 3, 2), (1, 1, 1), (1, 0, 2)), (4, 2, 2)),
    ((4,), Window((0,), (1,), (1,), (0,)), (4,)),
]


def seen(x: Array, places: list[slice], window: Window, fill: float) -> Array:
    """Return what a window sees at places, element by element."""
    counts = [at.stop - at.start for at in places]
    found = np.empty((*x.shape[: -len(counts)], *counts, *window.size))
    for at in itertools.product(*map(range, (*counts, *window.size))):
        place, tap = at[: len(counts)], at[len(counts) :]
        index = [
            (o + first.start) * stride + w * dilation - padding
            for o, first, w, stride, dilation, padding in zip(place, places, tap, *window[1:], strict=True)
        ]
        is_inside = all(0 <= i < total for i, total in zip(index, x.shape[-len(counts) :], strict=True))
        found[(..., *at)] = x[(..., *index)] if is_inside else fill
    return found
