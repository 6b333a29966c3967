"""Products of matrices: GEMM, and the products of quantized numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from dmlcheck.reference.functions.conversions import difference, overflows_int32, requantized, whole
from dmlcheck.reference.functions.nested import Nested
from dmlcheck.reference.functions.products import (
    dequantized_dot,
    dot,
    dot_of_scaled,
    of_gemm,
    plus,
    scaled_dot,
    with_or_without,
)
from dmlcheck.reference.results import AsMeasured, any_of
from dmlcheck.reference.rows import PRODUCTS, Axes, Given, Kernel, Products


def gemm(a: Any, b: Any, c: Any, *, alpha: Any, beta: Any, fused_activation: Nested) -> Any:
    """FusedActivation(Alpha * A @ B + Beta * C); TRANSPOSE exchanges the last two dimensions of A or B first."""
    found = with_or_without(scaled_dot(a, b, alpha), alpha)
    if c is not None:
        found = [plus(each, term) for each in found for term in with_or_without(beta * c, beta)]
    return any_of(*(fused_activation(each) for each in found))


def transposed(transform: str) -> Callable[[Any, Given], Any]:
    """Return a function that transposes matrices if a field is TRANSPOSE."""
    return lambda x, given: x.swapaxes(-1, -2) if given[transform] == "TRANSPOSE" else x


def whole_for_activation(given: Given) -> Axes:
    """Return the axes that the fused activation reduces, which may not be cut."""
    return tuple(given["fused_activation"].axes)


def matrix_multiply_integer(a: Any, a_zero_point: Any, b: Any, b_zero_point: Any) -> Any:
    """(A - AZeroPoint) @ (B - BZeroPoint), with a zero point for each row of A and each column of B, or one for all.

    Sums of up to 2^35 products are exact in float64.
    """
    return whole(dot(difference(a, a_zero_point), difference(b, b_zero_point)))


def column(x: Any, given: Given) -> Any:
    """Return one element, or one for each row, as a column of a matrix."""
    return x.reshape(*[1] * (given["a"].ndim - 2), x.size, 1)


def row(x: Any, given: Given) -> Any:
    """Return one element, or one for each column, as a row of a matrix."""
    return x.reshape(*[1] * (given["b"].ndim - 2), 1, x.size)


def matrix_multiply_integer_to_float(
    a: Any, a_scale: Any, a_zero_point: Any, b: Any, b_scale: Any, b_zero_point: Any, bias: Any
) -> AsMeasured:
    """((A - AZeroPoint) * AScale) @ ((B - BZeroPoint) * BScale) + Bias."""
    left, right = difference(a, a_zero_point), difference(b, b_zero_point)
    integers = dot(left, right)
    sums = dequantized_dot(left, right, a_scale, b_scale, integers)
    return AsMeasured(sums if bias is None else sums + bias, overflows_int32(integers))


def quantized_linear_matrix_multiply(
    a: Any,
    a_scale: Any,
    a_zero_point: Any,
    b: Any,
    b_scale: Any,
    b_zero_point: Any,
    output_scale: Any,
    output_zero_point: Any,
    *,
    output_type: str,
) -> AsMeasured:
    """clamp(rint(q) + OutputZeroPoint, Min, Max).

    q = ((A - AZeroPoint) * AScale) @ ((B - BZeroPoint) * BScale) / OutputScale. OutputScale and OutputZeroPoint have
    one element for each row, or one for all. Min and Max are the limits of OutputTensor's type.
    """
    left, right = difference(a, a_zero_point), difference(b, b_zero_point)
    in_floats = partial(dot_of_scaled, left, right, a_scale, b_scale)
    factor = a_scale * b_scale
    return requantized(dot(left, right), in_floats, factor, output_scale, output_zero_point, output_type)


OF_ROWS = dict.fromkeys(("a_scale", "a_zero_point", "output_scale", "output_zero_point"), column)
OF_COLUMNS = dict.fromkeys(("b_scale", "b_zero_point"), row)
MATRICES = Products({"a": transposed("trans_a"), "b": transposed("trans_b")}, whole_for_activation, of_gemm)
QUANTIZED = Products({**OF_ROWS, **OF_COLUMNS})

KERNELS: dict[str, Kernel] = {
    "GEMM": Kernel(gemm, MATRICES, sums=PRODUCTS),
    "MATRIX_MULTIPLY_INTEGER": Kernel(matrix_multiply_integer, QUANTIZED, overflow="all"),
    "MATRIX_MULTIPLY_INTEGER_TO_FLOAT": Kernel(matrix_multiply_integer_to_float, QUANTIZED, sums=PRODUCTS),
    "QUANTIZED_LINEAR_MATRIX_MULTIPLY": Kernel(quantized_linear_matrix_multiply, QUANTIZED, sums=PRODUCTS),
}
