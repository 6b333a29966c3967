"""The operands of an operation on balls as arrays of values and radii, and the balls of its results."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from dmlcheck.reference.ball import errors as of
from dmlcheck.reference.ball.ball import Ball, Condition
from dmlcheck.reference.ball.errors import Arithmetic, Array


def raw(x: Any) -> Array:
    """Return the values of balls or anything else as an array; floats as float64."""
    if isinstance(x, Ball) and x.value.dtype.kind == "f":
        return x.operand()[0]
    value = np.asarray(x.value if isinstance(x, (Ball, Condition)) else x)
    return value.astype(np.float64, copy=False) if value.dtype.kind == "f" else value


def radius(x: Any) -> Array:
    """Return the radii of balls; zeros for anything else."""
    if isinstance(x, Condition):
        return x.number().radius
    return x.radius if isinstance(x, Ball) else np.zeros(np.shape(x))


def unmoved(x: Ball) -> Ball:
    """Return balls with the least radius above 0: results of operations on them count as rounded, not as exact."""
    return Ball.result(raw(x), np.full(x.shape, LEAST), x.arithmetic, x.terms)


LEAST = 5e-324  # the radius of a number that is not exact, but has no error to carry


def operands(inputs: Iterable[Any]) -> tuple[Arithmetic, int, list[Array], list[Array | None]]:
    """Return the operands' coarsest arithmetic, their largest `terms`, their values, and their radii or None."""
    inputs = [x.number() if isinstance(x, Condition) else x for x in inputs]
    balls = [x for x in inputs if isinstance(x, Ball)]
    arithmetic, terms = balls[0].arithmetic, balls[0].terms
    for x in balls[1:]:
        terms = max(terms, x.terms)
        if x.arithmetic.unit_roundoff > arithmetic.unit_roundoff:
            arithmetic = x.arithmetic
    pairs = [x.operand() if isinstance(x, Ball) else of.of_a_constant(x, arithmetic) for x in inputs]
    return arithmetic, terms, [value for value, _ in pairs], [error for _, error in pairs]


def rounded(
    value: Any, error: Any, arithmetic: Arithmetic, terms: int, is_certain: Callable[[Array], Any], size: Any = None
) -> Ball:
    """Return the ball of a result; it contains 0 if the result may be flushed.

    The radius of infinity or NaN is 0 where `is_certain`: all numbers of the operands' balls have this result.
    Elsewhere it is infinite.
    """
    if error is not None:
        error = np.asarray(error if np.shape(error) == np.shape(value) else error + np.zeros(np.shape(value)))
        error = of.flushed(np.abs(value) if size is None else size, error, arithmetic)
        if not of.largest(error) < np.inf:
            is_finite = np.isfinite(value)
            error = np.where(is_finite, np.where(np.isnan(error), np.inf, error), 0.0)
            if not is_finite.all():
                error = np.where(is_finite | is_certain(np.asarray(value)), error, np.inf)
    return Ball.result(value, error, arithmetic, terms)
