"""Numbers in another format of floats: the nearest, or the neighbour on the other side, where either is right."""

from __future__ import annotations

from typing import Any

import numpy as np

from dmlcheck.reference.ball.numbers import Ball, raw
from dmlcheck.reference.data_types import cast, is_float
from dmlcheck.reference.results import PartlyUndefined, alternatives
from dmlcheck.values.number_formats import FORMATS, NUMPY_TYPES


def to_floats(x: Any, input_type: str, output_type: str) -> Any:
    """Return floats or 64-bit integers as floats of a type: the nearest; within a bound the other neighbour too.

    A denormal FLOAT32 may also be 0. Beyond the largest number infinity is the neighbour of that.
    """
    numbers = raw(x)
    nearest = numbers.astype(NUMPY_TYPES[output_type])
    if _is_certain(x, output_type):
        return nearest
    beyond = _beyond(nearest.astype(np.float64), numbers)
    other = np.where(beyond > 0, np.nextafter(nearest, -np.inf, dtype=nearest.dtype), nearest)
    other = np.where(beyond < 0, np.nextafter(nearest, np.inf, dtype=nearest.dtype), other)
    is_denormal = (numbers > -_SMALLEST) & (numbers < _SMALLEST) & ("FLOAT32" in (input_type, output_type))
    return alternatives(nearest, other, np.where(is_denormal, np.copysign(0, nearest), nearest))


def in_type_of(number: Any, elements: Any) -> Any:
    """Return a FLOAT in the type of elements: of floats the nearest, or the neighbour toward 0 if that is larger.

    For integers it is the number without its fraction, which is undefined if the type does not hold it.
    """
    exact, value = float(raw(number)), cast(number, elements)
    if not is_float(elements):
        return PartlyUndefined(value, float(value) != np.trunc(exact))
    is_larger = abs(float(value)) > abs(exact)
    return alternatives(value, np.nextafter(value, value.dtype.type(0))) if is_larger else value


def _is_certain(x: Any, output_type: str) -> bool:
    """Return whether no bound is asked for, or a type of floats has all of some integers."""
    if is_float(raw(x)):
        return not isinstance(x, Ball)
    most = 2 ** FORMATS[output_type].precision
    return bool(-most <= x.min() and x.max() <= most)


def _beyond(nearest: Any, x: Any) -> Any:
    """Return how far float64 numbers are above others next to them, with the right sign also for 64-bit integers."""
    if x.dtype.kind == "f":
        return nearest - x
    lower = x & x.dtype.type(_LOW)
    return (nearest - (x - lower).astype(np.float64)) - lower.astype(np.float64)


_LOW = 2**32 - 1
_SMALLEST = 2.0 ** FORMATS["FLOAT32"].least_exponent
