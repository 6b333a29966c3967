"""Products of matrices and their scaling, in all orders in which implementations compute them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dmlcheck.reference.arrays.blocks import Blocks
from dmlcheck.reference.arrays.data_types import limits
from dmlcheck.reference.ball.numbers import hull, plus_start, product_of_parts, raw
from dmlcheck.reference.functions.nested import stored
from dmlcheck.reference.functions.sums import total


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


# ---- attention


def scaled_scores(q: Any, keys: list[Any], scale: Any, data_type: str) -> list[Any]:
    """Return scale * q @ k^T for keys in several parts, as a list of alternatives.

    The radius also contains the products of a scaled q, which may be rounded to the data type. A product that overflows
    the data type may stay as it is, or become infinite, before it is scaled or after.
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
    """Return q @ k^T for keys in several parts."""
    found = [q @ x.swapaxes(-1, -2) for x in parts_of(keys)]
    return found[0] if len(found) == 1 else np.concatenate(found, axis=-1)


def keep_weight(hidden: Any, scores: Any, filter_value: Any) -> bool:
    """Whether a hidden key has a weight above 0, be MaskFilterValue added to its score or put in its place."""
    least = scores.max(axis=-1, keepdims=True) + LEAST_POWER
    return bool((hidden & ((scores > least) | (filter_value > least))).any())


LEAST_POWER = -746.0  # exp of this and of anything less is 0 in float64


def weighted_means(weights: Any, values: list[Any], data_type: str) -> Any:
    """Return weights @ values / the sums of the weights, for values in several parts.

    The radius also contains the result for weights that are divided first, and rounded to the data type.
    """
    sums = total(weights, (-1,))
    return hull(
        lambda: weighted_sums(weights, values) / sums,
        lambda: weighted_sums(stored(weights / sums, data_type), values),
    )


def weighted_sums(weights: Any, values: list[Any]) -> Any:
    """Return weights @ values for values in several parts."""
    return product_of_parts(weighted_parts(weights, values))


def weighted_parts(weights: Any, values: list[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the weights and the values of each part."""
    start = 0
    for x in parts_of(values):
        stop = start + x.shape[-2]
        yield weights[..., start:stop], x
        start = stop


def parts_of(tensors: list[Any]) -> Iterator[Any]:
    """Yield several tensors, those that are Blocks block by block."""
    for x in tensors:
        yield from x.parts() if isinstance(x, Blocks) else (x,)
