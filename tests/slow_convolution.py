"""Convolutions in plain Python, with fractions: slow, exact, and independent of dmlcheck's arithmetic."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Sums = dict[tuple[int, ...], Any]


def exactly(x: Array) -> Sums:
    """Return the elements of an array as fractions by index."""
    return {at: Fraction(value.item()) for at, value in np.ndenumerate(x)}


def convolved(
    x: Array,
    kernel: Array,
    sizes: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    padding: Sequence[int],
    groups: int = 1,
    zeros: tuple[int, Sequence[int]] = (0, (0,)),
    *,
    backward: bool = False,
    flip: bool = False,
) -> Sums:
    """Return the sums by index of an output of these sizes.

    Forward each output gathers what the filter sees. Backward each input is scattered over the outputs that see it.
    `zeros` are the zero point of the input, and those of the filter for one or all output channels.
    """
    found: Sums = dict.fromkeys(itertools.product(*map(range, sizes)), 0)
    elements, taps = exactly(x), exactly(kernel)
    inputs, outputs = x.shape[1] // groups, sizes[1] // groups
    for (n, c, *place), value in elements.items():
        group = c // inputs
        for tap in itertools.product(*map(range, kernel.shape[2:])):
            at = [k - 1 - w for k, w in zip(kernel.shape[2:], tap, strict=True)] if flip else tap
            moved = [w * d - p for w, d, p in zip(tap, dilations, padding, strict=True)]
            if backward:
                goal = [i * s + m for i, s, m in zip(place, strides, moved, strict=True)]
            else:
                distances = [i - m for i, m in zip(place, moved, strict=True)]
                if any(distance % s for distance, s in zip(distances, strides, strict=True)):
                    continue
                goal = [distance // s for distance, s in zip(distances, strides, strict=True)]
            for k in range(outputs):
                to = (n, group * outputs + k, *goal)
                if to in found:
                    own = (c, k, *at) if backward else (to[1], c - group * inputs, *at)
                    zero = zeros[1][to[1] % len(zeros[1])]
                    found[to] += (value - zeros[0]) * (taps[own] - zero)
    return found
