"""Numbers of descs as the tensors' types hold them, and x * Scale + Bias where no rounding is added."""

from __future__ import annotations

import math
import struct

from dmlcheck.formats.onnx.models.graph import Builder, Inexpressible, Value
from dmlcheck.specs.names import DATA_TYPES

_PACKED = {"FLOAT16": "<e", "FLOAT32": "<f", "FLOAT64": "<d"}


def held(value: float, data_type: str) -> float:
    """Return a number rounded to a float type; what is too large for it becomes infinite."""
    packed = _PACKED[data_type]
    try:
        (rounded,) = struct.unpack(packed, struct.pack(packed, float(value)))
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    return float(rounded)


def field(value: float) -> float:
    """Return the number of a FLOAT field as DirectML reads it."""
    return held(value, "FLOAT32")


def is_float(data_type: str) -> bool:
    """Whether a type is a floating-point type."""
    return data_type in _PACKED


def fits(value: float, data_type: str) -> bool:
    """Whether a type has a number exactly; NaN counts as had by float types."""
    if is_float(data_type):
        return math.isnan(value) or held(value, data_type) == value
    if not math.isfinite(value) or value != int(value):
        return False
    kind, bits = DATA_TYPES[data_type]
    least = -(1 << (bits - 1)) if kind == "int" else 0
    return least <= value < least + (1 << bits)


def whole(value: float, data_type: str) -> float:
    """Return a number as an element of a tensor's type, without its fraction for integers; Inexpressible outside."""
    if is_float(data_type):
        return held(value, data_type)
    cut = math.trunc(value) if math.isfinite(value) else value
    if not fits(cut, data_type):
        raise Inexpressible(f"{value:g} is not a number of {data_type}")
    return cut


def scalar(g: Builder, value: float, data_type: str) -> Value:
    """Return a number as a constant without dimensions."""
    return g.constant([value], data_type, ())


def scales_exactly(value: float) -> bool:
    """Whether a product with a number is exact, but for overflow and for what is too small to be normal."""
    return value == 0 or (math.isfinite(value) and abs(math.frexp(value)[0]) == 0.5)


def affine(g: Builder, x: Value, scale: float, bias: float, *, rounds_after: bool = False) -> Value:
    """Return x * scale + bias; Inexpressible where that adds a rounding to that of what follows.

    `rounds_after`: what follows gives the same whether its argument is rounded or its result is, so that one rounding
    of the argument adds none. Integers are exact where DirectML's result is not left open.
    """
    scale, bias = field(scale), field(bias)
    if (scale, bias) == (1, 0):
        return x
    for name, value in (("Scale", scale), ("Bias", bias)):
        if not fits(value, x.data_type):
            raise Inexpressible(f"{name} {value:g} is not a number of {x.data_type}")
    if is_float(x.data_type) and (bias or not scales_exactly(scale)):
        if not rounds_after:
            raise Inexpressible("x * Scale + Bias would be rounded before the function is applied")
        if bias and not scales_exactly(scale):
            raise Inexpressible("x * Scale + Bias would be rounded twice")
    return plus(g, times(g, x, scale), bias)


def times(g: Builder, x: Value, factor: float) -> Value:
    """Return a value times a number of its type."""
    return x if factor == 1 else g.node("Mul", [x, scalar(g, factor, x.data_type)], x.sizes, x.data_type)


def plus(g: Builder, x: Value, summand: float) -> Value:
    """Return a value plus a number of its type."""
    return x if summand == 0 else g.node("Add", [x, scalar(g, summand, x.data_type)], x.sizes, x.data_type)


def times_exactly(g: Builder, x: Value, factor: float, name: str) -> Value:
    """Return a value times a number; Inexpressible where that product would be rounded."""
    factor = field(factor)
    if not scales_exactly(factor) or not fits(factor, x.data_type):
        raise Inexpressible(f"a product with {name} {factor:g} would be rounded by itself")
    return times(g, x, factor)
