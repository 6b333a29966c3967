"""Products of matrices in all orders in which implementations compute them, and the magnitudes of their sums."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmlcheck.reference.arrays.blocks import Blocks
from dmlcheck.reference.ball.numbers import hull, plus_start, product_of_parts, raw
from dmlcheck.reference.functions.nested import NONE
from dmlcheck.reference.rows import Given


def dot(a: Any, b: Any) -> Any:
    """Return the matrix product of two factors, which may be Blocks."""
    return product_of_parts(zip(a.parts(), b.parts(), strict=True)) if isinstance(a, Blocks) else a @ b


def scaled_dot(a: Any, b: Any, factor: Any) -> Any:
    """Return a matrix product times a factor, with a radius that also contains the product of a scaled `a`."""
    is_one = bool(np.all(raw(factor) == 1))
    return dot(a, b) if is_one else hull(lambda: factor * dot(a, b), lambda: dot(factor * a, b))


def with_or_without(term: Any, factor: Any) -> list[Any]:
    """Return a term; if its factor is 0 and it has NaN, also the term with 0 there: it may be left out."""
    is_nan = np.isnan(raw(term))
    return [term, np.where(is_nan, 0.0, term)] if raw(factor) == 0 and is_nan.any() else [term]


def plus(sums: Any, start: Any) -> Any:
    """Return sums of products plus an optional term, which may be the first term of the sums."""
    return sums if start is None else plus_start(sums, start)


def dequantized_dot(a: Any, b: Any, a_scale: Any, b_scale: Any, integers: Any) -> Any:
    """Return the product of two scaled matrices of integers, from the exact sums `integers` or from scaled factors.

    The first way is the likely one.
    """
    ways = (lambda: integers * (a_scale * b_scale), lambda: dot_of_scaled(a, b, a_scale, b_scale))
    return hull(*ways, is_first_likely=True)


def dot_of_scaled(a: Any, b: Any, a_scale: Any, b_scale: Any) -> Any:
    """Return the product of two matrices that are scaled first."""
    return dot(a * a_scale, b * b_scale)


# ---- the magnitudes of sums of products


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
