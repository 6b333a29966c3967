"""The numbers of a data type, and the rounding of other numbers to it."""

from __future__ import annotations

import math
import struct

from dmlcheck.onnx.export.records import Inexpressible
from dmlcheck.specs.names import DATA_TYPES

_PACKED = {"FLOAT16": "<e", "FLOAT32": "<f", "FLOAT64": "<d"}


def is_float(data_type: str) -> bool:
    """Whether a type is a floating-point type."""
    return data_type in _PACKED


def rounded(value: float, data_type: str) -> float:
    """Return a number rounded to a float type; a number beyond its range becomes infinite."""
    packed = _PACKED[data_type]
    try:
        (held,) = struct.unpack(packed, struct.pack(packed, float(value)))
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    return float(held)


def as_float32(value: float) -> float:
    """Return the number of a FLOAT field as DirectML reads it."""
    return rounded(value, "FLOAT32")


def fits(value: float, data_type: str) -> bool:
    """Whether a type has a number exactly; NaN counts as had by float types."""
    if is_float(data_type):
        return math.isnan(value) or rounded(value, data_type) == value
    if not math.isfinite(value) or value != int(value):
        return False
    kind, bits = DATA_TYPES[data_type]
    least = -(1 << (bits - 1)) if kind == "int" else 0
    return least <= value < least + (1 << bits)


def as_element(value: float, data_type: str) -> float:
    """Return a number as an element of a tensor's type, without its fraction for integers; Inexpressible outside."""
    if is_float(data_type):
        return rounded(value, data_type)
    whole = math.trunc(value) if math.isfinite(value) else value
    if not fits(whole, data_type):
        raise Inexpressible(f"{value:g} is not a number of {data_type}")
    return whole


def multiplies_exactly(value: float) -> bool:
    """Whether a product with a number is exact, apart from overflow and results below the normal numbers."""
    return value == 0 or (math.isfinite(value) and abs(math.frexp(value)[0]) == 0.5)
