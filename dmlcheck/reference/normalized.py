"""Normalized elements and what their gradients are made of, in the ways in which implementations compute them.

An implementation may also compute the variance as the mean of squares less the squared mean, and multiply x by a factor
before it subtracts the mean. Both cancel where the mean is large. The tolerances have both, but the likely errors only
the latter: the former loses digits that other ways keep.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dmlcheck.reference.ball.numbers import Ball, radius, raw, unmoved
from dmlcheck.reference.nested import Nested
from dmlcheck.reference.results import Alternatives, PartlyUndefined, alternatives
from dmlcheck.reference.sums import total
from dmlcheck.reference.tiling.blocks import Axes, blockwise, hull


def affine(x: Any, centre: Any, factor: Any, bias: Any) -> Any:
    """Return factor * (x - centre) + bias."""
    return hull(
        lambda: factor * (x - centre) + bias,
        lambda: blockwise(_multiplied_first, x, centre, factor, bias),
    )


def _multiplied_first(x: Any, centre: Any, factor: Any, bias: Any) -> Any:
    """Return factor * x + (bias - centre * factor): an error of the factor is the same in both products."""
    once = unmoved(factor) if isinstance(factor, Ball) and not factor.is_exact else factor
    found = x * once + (bias - centre * once)
    more = radius(factor) * (np.abs(raw(x) - raw(centre)) + radius(centre))
    return Ball(found.value, found.radius + np.where(np.isnan(more), np.inf, more), found.arithmetic, found.terms)


def fused_within(result: Any, scale: Any, bias: Any, added: Any, count: int, epsilon: Any, fused: Nested) -> Any:
    """Return fused(normalized results + added), of a radius that is no wider than all that the former can be.

    Of n elements none is further than sqrt(n - 1) standard deviations from the mean; a negative epsilon takes it there.
    """

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
    """Return results with marks of those whose radius has all that they can be."""
    if isinstance(result, PartlyUndefined):
        return result._replace(value=_marked(result.value, unlimited))
    if isinstance(result, Alternatives):
        return Alternatives(tuple(_marked(way, unlimited) for way in result.ways))
    if isinstance(result, Ball):
        result.unlimited = unlimited
    return result


def quotients(x: Any, *divisors: Any) -> Any:
    """Return x divided by any of several numbers, each of which is right."""
    return blockwise(lambda part: alternatives(*divisors, of=lambda by: part / by), x)


def moment(x: Any, dy: Any, point: Any, sums: Any, axes: Axes) -> Any:
    """Return the sums of dy * (x - point), or of dy * x less those of dy times the point."""
    return hull(lambda: total(dy * (x - point), axes), lambda: total(dy * x, axes) - point * sums)


def centred_gradient(x: Any, centred: Any, factor: Any, first: tuple[Any, Any], second: tuple[Any, Any]) -> Any:
    """Return factor * (centred - (x - point) * slope) of the first or of the second point and slope."""
    return hull(*(lambda of=of: factor * (centred - (x - of[0]) * of[1]) for of in (first, second)))
