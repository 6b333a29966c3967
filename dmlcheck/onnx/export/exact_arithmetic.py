"""x * Scale + Bias and other products that are nodes of their own, where that adds no rounding."""

from __future__ import annotations

from dmlcheck.onnx.export.builder import Builder
from dmlcheck.onnx.export.records import GraphValue, Inexpressible
from dmlcheck.onnx.export.representable import as_float32, fits, is_float, multiplies_exactly


def scaled(g: Builder, x: GraphValue, scale: float, bias: float, *, rounds_after: bool = False) -> GraphValue:
    """Return x * scale + bias; Inexpressible if that adds a rounding before the function that follows.

    `rounds_after`: the function gives the same whether its argument is rounded or its result is, so that one rounding
    of the argument adds none. Integers are exact wherever DirectML's result is defined.
    """
    scale, bias = as_float32(scale), as_float32(bias)
    if (scale, bias) == (1, 0):
        return x
    for name, value in (("Scale", scale), ("Bias", bias)):
        if not fits(value, x.data_type):
            raise Inexpressible(f"{name} {value:g} is not a number of {x.data_type}")
    if is_float(x.data_type):
        is_exact = multiplies_exactly(scale)
        if (bias or not is_exact) and not rounds_after:
            raise Inexpressible("x * Scale + Bias would be rounded before the function is applied")
        if bias and not is_exact:
            raise Inexpressible("x * Scale + Bias would be rounded twice")
    return g.plus(g.times(x, scale), bias)


def times_exactly(g: Builder, x: GraphValue, factor: float, name: str) -> GraphValue:
    """Return a value times a number; Inexpressible if that product would be rounded."""
    factor = as_float32(factor)
    if not multiplies_exactly(factor) or not fits(factor, x.data_type):
        raise Inexpressible(f"a product with {name} {factor:g} would be rounded by itself")
    return g.times(x, factor)
