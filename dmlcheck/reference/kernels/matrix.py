"""Products of matrices: GEMM, and those of quantized numbers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.reference.ball.numbers import hull, plus_start, raw
from dmlcheck.reference.nested import NONE, Nested
from dmlcheck.reference.pieces import Open, any_of, overflows
from dmlcheck.reference.products import absolute, dot, products
from dmlcheck.reference.quantization import difference, requantized
from dmlcheck.reference.rows import Kernel
from dmlcheck.reference.tiling.piece import Piece, Sizes, sizes_of


def gemm(
    a: Any, b: Any, c: Any, *, trans_a: str, trans_b: str, alpha: Any, beta: Any, fused_activation: Nested
) -> Iterator[Piece]:
    """FusedActivation(Alpha * A @ B + Beta * C); TRANSPOSE exchanges the last two dimensions of A or B first."""
    formula = partial(of_matrices, alpha=alpha, beta=beta, fused=fused_activation)
    has_sizes = fused_activation is NONE and alpha != 0 and (c is None or beta != 0)
    sizes = partial(sizes_of_matrices, alpha=alpha, beta=beta) if has_sizes else None
    return products(formula, turned(a, trans_a), turned(b, trans_b), c, whole=fused_activation.axes, sizes=sizes)


def sizes_of_matrices(a: Any, b: Any, c: Any, *, alpha: float, beta: float) -> Sizes:
    """Return the sums of the sizes of what GEMM of parts of matrices adds up."""
    sums = absolute(a, b)
    sums = sums if alpha == 1 else sums * np.float32(abs(alpha))
    return sizes_of(sums, a.shape[-1], c if c is None or beta == 1 else c.astype(np.float32) * np.float32(beta))


def turned(x: Any, transform: str) -> Any:
    """Return matrices, or the transposed ones."""
    return x.swapaxes(-1, -2) if transform == "TRANSPOSE" else x


def of_matrices(a: Any, b: Any, c: Any, *, alpha: Any, beta: Any, fused: Nested) -> Any:
    """Return GEMM of parts of matrices; implementations multiply the sums by Alpha, or A.

    A factor of 0 may leave its term out, which else may be NaN.
    """
    ways = [lambda: alpha * dot(a, b), lambda: dot(alpha * a, b)]
    sums = hull(*ways[:1] if is_one(alpha) else ways)
    found = with_or_without(sums, alpha)
    if c is not None:
        found = [plus_start(each, term) for each in found for term in with_or_without(beta * c, beta)]
    return any_of(*(fused(each) for each in found))


def with_or_without(term: Any, factor: Any) -> list[Any]:
    """Return a term, and 0 where it is NaN and its factor is 0."""
    is_nan = np.isnan(raw(term))
    return [term, np.where(is_nan, 0.0, term)] if raw(factor) == 0 and is_nan.any() else [term]


def is_one(alpha: Any) -> bool:
    """Whether a factor is 1: the order of products with it is no matter then."""
    return bool(np.all(raw(alpha) == 1))


def matrix_multiply_integer(a: Any, a_zero_point: Any, b: Any, b_zero_point: Any) -> Iterator[Piece]:
    """(A - AZeroPoint) @ (B - BZeroPoint), with a zero point for each row of A and each column of B, or one for all."""
    return products(of_integers, a, b, column(a_zero_point, a), row(b_zero_point, b))


def of_integers(a: Any, b: Any, a_zero: Any, b_zero: Any) -> Any:
    """Return the product of 8-bit integers less their zero points: float64 has every sum of up to 2^35 products."""
    return dot(difference(a, a_zero), difference(b, b_zero)).astype(np.int64)


def column(x: Any, matrix: Any) -> Any:
    """Return one element, or one for each row, beside a matrix."""
    return x if x is None else x.reshape(*[1] * (matrix.ndim - 2), x.size, 1)


def row(x: Any, matrix: Any) -> Any:
    """Return one element, or one for each column, above a matrix."""
    return x if x is None else x.reshape(*[1] * (matrix.ndim - 2), 1, x.size)


def matrix_multiply_integer_to_float(
    a: Any, a_scale: Any, a_zero_point: Any, b: Any, b_scale: Any, b_zero_point: Any, bias: Any
) -> Iterator[Piece]:
    """((A - AZeroPoint) * AScale) @ ((B - BZeroPoint) * BScale) + Bias."""
    of_a, of_b = (column(x, a) for x in (a_scale, a_zero_point)), (row(x, b) for x in (b_scale, b_zero_point))
    return products(to_float, a, b, *of_a, *of_b, bias)


def to_float(a: Any, b: Any, a_scale: Any, a_zero: Any, b_scale: Any, b_zero: Any, bias: Any) -> Open:
    """Return the product of dequantized numbers; implementations scale sums of integers, or add up scaled numbers.

    The first is what is likely: its sums are exact.
    """
    left, right = difference(a, a_zero), difference(b, b_zero)
    integers = dot(left, right)
    ways = (lambda: integers * (a_scale * b_scale), lambda: dot(left * a_scale, right * b_scale))
    sums = hull(*ways, is_first_likely=True)
    return Open(sums if bias is None else sums + bias, overflows("INT32", integers))


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
) -> Iterator[Piece]:
    """clamp(rint(q) + OutputZeroPoint, Min, Max).

    q = ((A - AZeroPoint) * AScale) @ ((B - BZeroPoint) * BScale) / OutputScale. OutputScale and OutputZeroPoint have
    one element for each row, or one for all. Min and Max are the limits of OutputTensor's type.
    """
    rows = (column(x, a) for x in (a_scale, a_zero_point, output_scale, output_zero_point))
    return products(partial(to_quantized, output_type=output_type), a, b, *rows, row(b_scale, b), row(b_zero_point, b))


def to_quantized(
    a: Any,
    b: Any,
    a_scale: Any,
    a_zero: Any,
    scale: Any,
    zero: Any,
    b_scale: Any,
    b_zero: Any,
    *,
    output_type: str,
) -> Open:
    """Return the quantized product; implementations scale sums of integers, or add up scaled numbers."""
    left, right = difference(a, a_zero), difference(b, b_zero)
    return requantized(
        dot(left, right), lambda: dot(left * a_scale, right * b_scale), a_scale * b_scale, scale, zero, output_type
    )


KERNELS: dict[str, Kernel] = {
    "GEMM": Kernel(gemm),
    "MATRIX_MULTIPLY_INTEGER": Kernel(matrix_multiply_integer, overflow="all"),
    "MATRIX_MULTIPLY_INTEGER_TO_FLOAT": Kernel(matrix_multiply_integer_to_float),
    "QUANTIZED_LINEAR_MATRIX_MULTIPLY": Kernel(quantized_linear_matrix_multiply),
}
