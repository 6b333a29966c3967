"""CAST."""

from __future__ import annotations

from typing import Any

import numpy as np

from dmlcheck.reference.ball.numbers import raw
from dmlcheck.reference.conversions import converted
from dmlcheck.reference.data_types import limits, overflows, stored
from dmlcheck.reference.results import AsMeasured
from dmlcheck.reference.rows import Kernel, elementwise
from dmlcheck.values.number_formats import FORMATS


def cast(input: Any, *, input_type: str, output_type: str) -> Any:
    """x in OutputTensor's data type.

    From floats to integers the fraction is dropped. Integers wrap modulo 2^bits. Floats are rounded to the nearest, and
    either neighbour is right; beyond the largest number, infinity and the largest number are right.
    """
    if output_type in FORMATS:
        return converted(input, input_type, output_type)
    if input_type in FORMATS:
        return whole(input, output_type)
    is_narrow = limits(output_type)[1] < 2**16
    return AsMeasured(stored(input, output_type), is_narrow & overflows(output_type, input))


def whole(x: Any, data_type: str) -> AsMeasured:
    """Return floats without their fraction, limited to an integer type; NaN is 0."""
    x = raw(x)
    (least, most), found = limits(data_type), np.trunc(x)
    fits = (found >= least) & (found < most + 1)  # the limit + 1 is a float64, also for 64-bit integers
    dtype = np.uint64 if least == 0 else np.int64
    ends = np.where(found > 0, dtype(most), dtype(least))
    return AsMeasured(
        np.where(fits, np.where(fits, found, 0).astype(dtype), np.where(np.isnan(x), dtype(0), ends)), ~fits
    )


KERNELS: dict[str, Kernel] = {
    "CAST": elementwise(cast),
}
