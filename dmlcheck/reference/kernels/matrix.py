"""Products of matrices: GEMM, and those of quantized numbers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.reference.nested import Nested
from dmlcheck.reference.numbers import either
from dmlcheck.reference.pieces import Kernel, Open, Piece
from dmlcheck.reference.products import dot, products


def gemm(
    a: Any, b: Any, c: Any, *, trans_a: str, trans_b: str, alpha: Any, beta: Any, fused_activation: Nested
) -> Iterator[Piece]:
    """FusedActivation(Alpha * A @ B + Beta * C), with the last two dimensions of A or B exchanged for TRANSPOSE.

    Left open are elements where a factor of 0 meets infinity or NaN.
    """
    formula = partial(of_matrices, alpha=alpha, beta=beta, fused=fused_activation)
    return products(formula, turned(a, trans_a), turned(b, trans_b), c, whole=fused_activation.axes)


def turned(x: Any, transform: str) -> Any:
    """Return matrices, or the transposed ones."""
    return x.swapaxes(-1, -2) if transform == "TRANSPOSE" else x


def of_matrices(a: Any, b: Any, c: Any, *, alpha: Any, beta: Any, fused: Nested) -> Open:
    """Return GEMM of parts of matrices; implementations multiply the sums by Alpha, or A."""
    sums = either(lambda: alpha * dot(a, b), lambda: dot(alpha * a, b))
    is_open = (alpha == 0) & np.isnan(sums)
    if c is not None:
        scaled = beta * c
        sums, is_open = sums + scaled, is_open | (beta == 0) & np.isnan(scaled)
    return Open(fused(sums), is_open)


KERNELS: dict[str, Kernel] = {
    "GEMM": Kernel(gemm),
}
