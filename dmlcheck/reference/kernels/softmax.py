"""SOFTMAX, SOFTMAX1, LOG_SOFTMAX and LOG_SOFTMAX1, with the largest element taken out so that nothing overflows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from dmlcheck.reference.blocks import Axes, groups
from dmlcheck.reference.pieces import Kernel, Open, Piece, Sizes
from dmlcheck.reference.sums import total, total_less_1


def of_group(x: Any, axes: Axes) -> Open:
    """exp(x) / (exp(x1) + ... + exp(xn)); left open for a group that holds infinity, or -infinity alone."""
    top = np.maximum.reduce(x, axis=axes, keepdims=True)
    powers = np.exp(x - top)
    return Open(powers / total(powers, axes), np.isinf(top))


def log_of_group(x: Any, axes: Axes) -> Open:
    """x - log(exp(x1) + ... + exp(xn)); left open for a group that holds infinity, or -infinity alone."""
    top = np.maximum.reduce(x, axis=axes, keepdims=True)
    less = x - top
    return Open(less - np.log1p(total_less_1(np.exp(less), axes)), np.isinf(top))


def softmax(input: Any) -> Iterator[Piece]:
    """exp(x) / (the sum of exp over the row of the last dimension)."""
    return softmax1(input, axes=(input.ndim - 1,))


def softmax1(input: Any, *, axes: Axes) -> Iterator[Piece]:
    """exp(x) / (the sum of exp over the group along Axes)."""
    return groups(of_group, axes, input, sizes=sizes_of_group)


def sizes_of_group(x: Any, axes: Axes) -> Sizes:
    """Return how many powers each sum has, and the sizes of their exponents."""
    less = np.subtract(np.maximum.reduce(x, axis=axes, keepdims=True), x, dtype=np.float64)
    exponents = less.astype(np.float32)
    off = np.abs(less - exponents).astype(np.float32)
    return Sizes(None, math.prod(x.shape[axis] for axis in axes), exponents=exponents, off=off)


def log_softmax(input: Any) -> Iterator[Piece]:
    """log(exp(x) / (the sum of exp over the row of the last dimension))."""
    return log_softmax1(input, axes=(input.ndim - 1,))


def log_softmax1(input: Any, *, axes: Axes) -> Iterator[Piece]:
    """log(exp(x) / (the sum of exp over the group along Axes))."""
    return groups(log_of_group, axes, input)


KERNELS: dict[str, Kernel] = {
    "ACTIVATION_LOG_SOFTMAX": Kernel(log_softmax, of_groups=log_of_group),
    "ACTIVATION_LOG_SOFTMAX1": Kernel(log_softmax1, of_groups=log_of_group),
    "ACTIVATION_SOFTMAX": Kernel(softmax, of_groups=of_group),
    "ACTIVATION_SOFTMAX1": Kernel(softmax1, of_groups=of_group),
}
