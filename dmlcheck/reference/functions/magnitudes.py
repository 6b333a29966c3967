"""The magnitudes of sums of products, from which the likely errors of all sums of a tile follow at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmlcheck.reference.arrays.blocks import Blocks
from dmlcheck.reference.functions.nested import NONE
from dmlcheck.reference.rows import Given


class Magnitudes(NamedTuple):
    """The magnitudes of sums of products: the sums of the absolute values of their terms, as FLOAT32.

    Each sum has `products` products. `added` is the largest absolute value that is added to a sum besides, or None.
    """

    sums: NDArray[np.float32]
    products: int
    added: float | None = None

    @property
    def terms(self) -> int:
        """The number of terms of each sum."""
        return self.products + (self.added is not None)


def magnitudes_of(sums: NDArray[np.float32], products: int, added: Any) -> Magnitudes:
    """Return magnitudes from the sums of the products' absolute values, and the array added to them, or None."""
    if added is None:
        return Magnitudes(sums, products)
    more = np.abs(added.astype(np.float32, copy=False))
    return Magnitudes(sums + more, products, float(more.max(initial=0)))


def magnitudes_of_products(a: Any, b: Any, c: Any, *, alpha: float, beta: float) -> Magnitudes:
    """Return the magnitudes of the sums alpha * a @ b + beta * c."""
    sums = absolute(a, b)
    sums = sums if alpha == 1 else sums * np.float32(abs(alpha))
    return magnitudes_of(sums, a.shape[-1], c if c is None or beta == 1 else c.astype(np.float32) * np.float32(beta))


def absolute(a: Any, b: Any) -> NDArray[np.float32]:
    """Return |a| @ |b| of FLOAT32 or FLOAT16 matrices, in FLOAT32."""
    parts = zip(a.parts(), b.parts(), strict=True) if isinstance(a, Blocks) else ((a, b),)
    found: NDArray[np.float32] = reduce(np.add, (_single(x) @ _single(y) for x, y in parts))
    return found


def _single(x: Any) -> NDArray[np.float32]:
    return np.asarray(np.abs(x.astype(np.float32, copy=False)))


# ---- of operators


def of_gemm(given: Given) -> Callable[..., Magnitudes] | None:
    """Return the function that computes the magnitudes of GEMM's sums, or None if the results are not these sums."""
    alpha, beta = given["alpha"], given["beta"]
    if given["fused_activation"] is not NONE or alpha == 0 or (given["c"] is not None and beta == 0):
        return None
    return partial(magnitudes_of_products, alpha=alpha, beta=beta)


def of_convolution(given: Given) -> Callable[..., Magnitudes] | None:
    """Return the function that computes the magnitudes of a convolution's sums, or None with a fused activation."""
    return _of_sums if given["fused_activation"] is NONE else None


def _of_sums(input: Any, filter: Any, bias: Any) -> Magnitudes:
    return magnitudes_of_products(filter, input, bias, alpha=1, beta=1)
