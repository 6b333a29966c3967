"""Parts of normalizations and their gradients, in all ways in which implementations compute them.

An implementation may compute the variance as the mean of squares less the squared mean, and it may multiply x by a
factor before it subtracts the mean. Both lose digits where the mean is large. Tolerances cover both; likely errors only
the second, as the first loses digits that others keep.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dmlcheck.reference.arrays.blocks import Axes, blockwise, hull
from dmlcheck.reference.ball.numbers import Ball, radius, raw, unmoved
from dmlcheck.reference.functions.nested import Nested
from dmlcheck.reference.functions.sums import total
from dmlcheck.reference.results import Alternatives, PartlyUndefined, alternatives


def affine(x: Any, centre: Any, factor: Any, bias: Any, *, is_multiplied_first: bool = False) -> Any:
    """Return factor * (x - centre) + bias; with a factor that is not finite, as DirectML computes it."""
    found = hull(
        lambda: factor * (x - centre) + bias,
        lambda: blockwise(_multiplied_first, x, centre, factor, bias),
    )

    def of_block(found: Any, x: Any, centre: Any, factor: Any, bias: Any) -> Any:
        x, centre, factor, bias = map(raw, (x, centre, factor, bias))
        if np.isfinite(factor).all():
            return found
        value = x * factor + (bias - centre * factor) if is_multiplied_first else factor * (x - centre) + bias
        return np.where(np.isfinite(factor), found, value)

    return blockwise(of_block, found, x, centre, factor, bias)


def may_have_root(square: Any, *terms: Any) -> Any:
    """Return a mask of the sums of at most 0 that roundings may take beyond it, by the sizes of their terms."""
    value = raw(square)
    return (value <= 0) & (np.abs(value) <= 2.0**-8 * sum(np.abs(raw(term)) for term in terms))


def _multiplied_first(x: Any, centre: Any, factor: Any, bias: Any) -> Any:
    """Return factor * x + (bias - centre * factor), where both products have the same error of the factor."""
    once = unmoved(factor) if isinstance(factor, Ball) and not factor.is_exact else factor
    found = x * once + (bias - centre * once)
    more = radius(factor) * (np.abs(raw(x) - raw(centre)) + radius(centre))
    return Ball(found.value, found.radius + np.where(np.isnan(more), np.inf, more), found.arithmetic, found.terms)


def fused_within(result: Any, centre: Any, scale: Any, bias: Any, added: Any, epsilon: Any, fused: Nested) -> Any:
    """Return fused(normalized results + added), with radii limited to the range of normalized results.

    `centre` has the mean of each group. None of n elements is further than sqrt(n - 1) standard deviations from it,
    unless epsilon is negative.
    """
    count = result.size // centre.size

    def finished(x: Any, added: Any) -> Any:
        return fused(x if added is None else x + added)

    def of_block(x: Any, scale: Any, bias: Any, added: Any) -> Any:
        if not isinstance(x, Ball):
            return finished(x, added)
        most = np.sqrt(count) * (np.abs(raw(scale)) + radius(scale)) + np.abs(raw(bias)) + radius(bias)
        widest = np.abs(raw(x)) + most
        unlimited = x.radius > widest
        if not unlimited.any():
            return finished(x, added)
        limited = Ball(x.value, np.fmin(x.radius, widest), x.arithmetic, x.terms)
        return _marked(finished(limited, added), unlimited)

    return blockwise(of_block, result, scale, bias, added) if raw(epsilon) >= 0 else finished(result, added)


def _marked(result: Any, unlimited: Any) -> Any:
    """Return results with marks of those whose radius was limited, which have all possible values."""
    if isinstance(result, PartlyUndefined):
        return result._replace(value=_marked(result.value, unlimited))
    if isinstance(result, Alternatives):
        return Alternatives(tuple(_marked(way, unlimited) for way in result.ways))
    if isinstance(result, Ball):
        result.unlimited = unlimited
    return result


def quotients(x: Any, *divisors: Any) -> Any:
    """Return the quotients of x and several divisors as alternatives."""
    return blockwise(lambda part: alternatives(*divisors, of=lambda by: part / by), x)


def moment(x: Any, dy: Any, point: Any, sums: Any, axes: Axes) -> Any:
    """Return the sums of dy * (x - point), or the sums of dy * x minus `sums`, the sums of dy, times the point."""
    return hull(lambda: total(dy * (x - point), axes), lambda: total(dy * x, axes) - point * sums)


def centred_gradient(
    x: Any, centred: Any, factor: Any, first: tuple[Any, Any], second: tuple[Any, Any], by_second: Any
) -> Any:
    """Return factor * (centred - (x - point) * slope) for a first or a second pair of point and slope.

    Where `by_second` is true it is the second one.
    """
    ways = [lambda of=of: factor * (centred - (x - of[0]) * of[1]) for of in (first, second)]
    return np.where(raw(by_second), ways[1](), hull(*ways)) if raw(by_second).any() else hull(*ways)
