"""Products of matrices, and what implementations may do with them in another order."""

from __future__ import annotations

from functools import reduce
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmlcheck.reference.ball.numbers import hull, plus_start, product_of_parts, raw
from dmlcheck.reference.data_types import limits
from dmlcheck.reference.nested import stored
from dmlcheck.reference.sums import total
from dmlcheck.reference.tiling.blocks import Blocks
from dmlcheck.reference.tiling.piece import Sizes, sizes_of


def dot(a: Any, b: Any) -> Any:
    """Return the matrix products of parts of factors, which may come in blocks."""
    return product_of_parts(zip(a.parts(), b.parts(), strict=True)) if isinstance(a, Blocks) else a @ b


def scaled_dot(a: Any, b: Any, factor: Any) -> Any:
    """Return matrix products times a factor, within a bound that also has the products with a scaled first."""
    is_one = bool(np.all(raw(factor) == 1))
    return dot(a, b) if is_one else hull(lambda: factor * dot(a, b), lambda: dot(factor * a, b))


def with_or_without(term: Any, factor: Any) -> list[Any]:
    """Return a term, and 0 where it is NaN and its factor is 0: implementations may leave such a term out."""
    is_nan = np.isnan(raw(term))
    return [term, np.where(is_nan, 0.0, term)] if raw(factor) == 0 and is_nan.any() else [term]


def plus(sums: Any, start: Any) -> Any:
    """Return sums of products with what else is added, with which an implementation may begin them."""
    return plus_start(sums, start)


def dequantized_dot(a: Any, b: Any, a_scale: Any, b_scale: Any, integers: Any) -> Any:
    """Return the products of two scaled matrices of integers; implementations scale `integers`, their sums, or first.

    The first is what is likely: its sums are exact.
    """
    ways = (lambda: integers * (a_scale * b_scale), lambda: dot(a * a_scale, b * b_scale))
    return hull(*ways, is_first_likely=True)


# ---- attention


def scaled_scores(q: Any, keys: list[Any], scale: Any, data_type: str) -> list[Any]:
    """Return scale * q @ k^T for keys in several parts, in each way that is right: products may be infinite.

    The bound also has the products with q scaled first, which may be rounded to the data type. A product that the data
    type lacks may stay as it is, or be infinite: before it is scaled, or after it only.
    """
    dots = scores(q, keys)
    found = hull(lambda: scale * dots, lambda: scores(stored(scale * q, data_type), keys))
    sums, factor, most = raw(dots), raw(scale), limits(data_type)[1]
    if not np.fmax(np.fmax.reduce(sums, axis=None), -np.fmin.reduce(sums, axis=None)) * max(1, abs(factor)) > most:
        return [found]
    after = np.abs(factor * sums) > most
    before = after | (np.abs(sums) > most)
    ways = [before] if np.array_equal(before, after) or not after.any() else [before, after]
    return [found, *(np.where(beyond, np.copysign(np.inf, sums) * factor, found) for beyond in ways)]


def scores(q: Any, keys: list[Any]) -> Any:
    """Return the products of queries and keys, which come in several parts."""
    found = [q @ x.swapaxes(-1, -2) for x in keys]
    return found[0] if len(found) == 1 else np.concatenate(found, axis=-1)


def weighted_means(weights: Any, values: list[Any], data_type: str) -> Any:
    """Return the means of values, which come in several parts, by weights along the last axis.

    The bound also has the means by weights that are divided by their sum, and rounded to the data type, first.
    """
    sums = total(weights, (-1,))
    return hull(
        lambda: weighted_sums(weights, values) / sums,
        lambda: weighted_sums(stored(weights / sums, data_type), values),
    )


def weighted_sums(weights: Any, values: list[Any]) -> Any:
    """Return the sums of values, which come in several parts, times weights along the last axis."""
    ends = pairwise(accumulate((x.shape[-2] for x in values), initial=0))
    return product_of_parts((weights[..., slice(*at)], x) for at, x in zip(ends, values, strict=True))


# ---- how large sums of products are


def sizes_of_products(a: Any, b: Any, c: Any, *, alpha: float, beta: float) -> Sizes:
    """Return the sums of the sizes of what GEMM of parts of matrices adds up."""
    sums = absolute(a, b)
    sums = sums if alpha == 1 else sums * np.float32(abs(alpha))
    return sizes_of(sums, a.shape[-1], c if c is None or beta == 1 else c.astype(np.float32) * np.float32(beta))


def absolute(a: Any, b: Any) -> NDArray[np.float32]:
    """Return the sums of the absolute values of the products of FLOAT32 or FLOAT16 matrices, as FLOAT32."""
    parts = zip(a.parts(), b.parts(), strict=True) if isinstance(a, Blocks) else ((a, b),)
    found: NDArray[np.float32] = reduce(np.add, (_single(x) @ _single(y) for x, y in parts))
    return found


def _single(x: Any) -> NDArray[np.float32]:
    return np.asarray(np.abs(x.astype(np.float32, copy=False)))
