"""Bounds of elements that no rounding moves, for comparisons under a tolerance of the case's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from dmlcheck.comparison import compare
from dmlcheck.reference.arrays.blocks import tiles
from dmlcheck.reference.bounds import Bound, positions


def no_roundings(differing: Mapping[str, compare.Differing]) -> Iterator[tuple[str, compare.Array, Bound]]:
    """Yield the elements that differ, a block of an output at a time, each as right as it is expected."""
    for name, differs in differing.items():
        for index in tiles(differs.shape, compare._BLOCK):
            mask = differs[index]
            if mask.any():
                at = positions(differs.shape, index, (), mask)
                right, _ = differs.pair(at)
                yield name, at, Bound(right.astype(np.float64), np.zeros(at.size), np.zeros(at.size, bool))
