"""Tensors whose groups come in blocks, for tests."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st

from dmlcheck.reference.arrays import blocks
from dmlcheck.reference.arrays.blocks import Blocks

Array = np.ndarray[Any, Any]

shapes = st.lists(st.integers(1, 5), min_size=1, max_size=5).map(tuple)


@st.composite
def shapes_and_axes(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...]]:
    shape = draw(shapes)
    return shape, tuple(draw(st.lists(st.integers(0, len(shape) - 1), unique=True)))


def numbered(sizes: tuple[int, ...]) -> Array:
    """Return a tensor whose elements are their own places in row-major order."""
    return np.arange(math.prod(sizes)).reshape(sizes)


def in_blocks(tensor: Array, axes: tuple[int, ...], block: int) -> Any:
    """Return an array in blocks along axes."""
    return Blocks(tensor.shape, list(blocks.tiles_along(axes, tensor.shape, block)), tensor.__getitem__)


def whole(x: Any) -> Array:
    """Return the elements of an array in blocks."""
    result = np.full(x.shape, np.nan)
    for cut in x.cuts:
        result[cut] = x.block(cut)
    return result
