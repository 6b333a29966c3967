"""Balls for tests: arithmetics, their ends, and the tolerance of a comparison."""

from __future__ import annotations

from typing import Any

import numpy as np

from dmlcheck.reference.ball.numbers import Arithmetic, Ball
from dmlcheck.values.number_formats import ulp

Array = np.ndarray[Any, Any]

FLOAT32 = Arithmetic()
FLOAT16 = Arithmetic("FLOAT16", "FLOAT16", 2.0**-11, 2.0**-14)
TYPES = {"FLOAT32": np.float32, "FLOAT16": np.float16}


def likely(arithmetic: Arithmetic) -> Arithmetic:
    return arithmetic._replace(is_likely=True)


def as_balls(*values: float, radius: Any = 0.0) -> Ball:
    return Ball(np.array(values, np.float64), radius)


def ends(x: Ball) -> list[tuple[float, float]]:
    """Return the least and the largest that an implementation may have."""
    return [(value - error, value + error) for value, error in zip(x.value.tolist(), x.radius.tolist(), strict=True)]


def allowed(bound: Ball, data_type: str) -> Array:
    """Return the bound as a comparison applies it: with 1 ULP of the result."""
    value = np.where(np.isfinite(bound.value), bound.value, 0)
    return bound.radius + ulp(value, data_type)
