"""CAST."""

from __future__ import annotations

from typing import Any

import numpy as np

from dmlcheck.reference.numbers import Tracked, raw
from dmlcheck.reference.pieces import Kernel, Open, elementwise, is_float, one_of, overflows, truncated
from dmlcheck.specs.names import DATA_TYPES
from dmlcheck.values.number_formats import FORMATS, NUMPY_TYPES


def cast(input: Any, *, input_type: str, output_type: str) -> Any:
    """x in the type of OutputTensor: floats without their fraction, integers modulo 2^bits, and the nearest float.

    Of a number between two floats either is right, of one beyond all of them infinity and the largest. Left open are
    floats that an integer type does not hold, and integers that an 8-bit or 16-bit one does not.
    """
    x = raw(input)
    if output_type in FORMATS:
        nearest = x.astype(NUMPY_TYPES[output_type])
        return nearest if is_certain(input, output_type) else floats(x, nearest, input_type, output_type)
    if input_type in FORMATS:
        return truncated(output_type, x)
    return Open(x, overflows(output_type, x)) if DATA_TYPES[output_type].bits < 32 else x


def is_certain(x: Any, output_type: str) -> bool:
    """Return whether no bound is asked for, or a type of floats has all of some integers."""
    if is_float(x):
        return not isinstance(x, Tracked)
    most = 2 ** FORMATS[output_type].precision
    return bool(-most <= x.min() and x.max() <= most)


def floats(x: Any, nearest: Any, input_type: str, output_type: str) -> Any:
    """Return the nearest floats of a type, or the neighbour on the other side of x, or 0 for a denormal FLOAT32."""
    beyond = beyond_of(nearest.astype(np.float64), x)
    other = np.where(beyond > 0, np.nextafter(nearest, -np.inf, dtype=nearest.dtype), nearest)
    other = np.where(beyond < 0, np.nextafter(nearest, np.inf, dtype=nearest.dtype), other)
    is_denormal = (x > -SMALLEST) & (x < SMALLEST) & ("FLOAT32" in (input_type, output_type))
    return one_of(nearest, other, np.where(is_denormal, np.copysign(0, nearest), nearest))


def beyond_of(nearest: Any, x: Any) -> Any:
    """Return how far float64 numbers are above others next to them, with the right sign also for 64-bit integers."""
    if x.dtype.kind == "f":
        return nearest - x
    lower = x & x.dtype.type(LOW)
    return (nearest - (x - lower).astype(np.float64)) - lower.astype(np.float64)


LOW = 2**32 - 1
SMALLEST = 2.0 ** FORMATS["FLOAT32"].least_exponent

KERNELS: dict[str, Kernel] = {"CAST": elementwise(cast)}
