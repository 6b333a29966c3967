"""Products of matrices and their scaling, in all orders in which implementations compute them."""

from __future__ import annotations

from typing import Any

import numpy as np

from dmlcheck.reference.arrays.blocks import Blocks
from dmlcheck.reference.ball.numbers import hull, plus_start, product_of_parts, raw


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
