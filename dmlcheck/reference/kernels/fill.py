"""Tensors that are made of fields: constants, sequences and diagonals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference.ball.numbers import Ball, raw
from dmlcheck.reference.conversions import to_floats
from dmlcheck.reference.pieces import Open, alternatives, infinite, opened, truncated, ways_of
from dmlcheck.reference.rows import Kernel, exact_row
from dmlcheck.reference.sums import progression
from dmlcheck.reference.tiling.blocks import BLOCK, Index, ranges, runs, tiles_along
from dmlcheck.reference.tiling.piece import Piece
from dmlcheck.values.number_formats import FORMATS, NUMPY_TYPES

MASK = 2**64 - 1


def fill_value_constant(*, value: Any, output: TensorDesc) -> Iterator[Piece]:
    """Value."""
    for index, _, sizes in runs(output.sizes):
        yield Piece(index, partial(np.full, sizes, value))


# ---- sequences


def fill_value_sequence(*, value_start: Any, value_delta: Any, output: TensorDesc, output_type: str) -> Iterator[Piece]:
    """ValueStart + i * ValueDelta, with i the row-major index; integers wrap modulo 2^bits."""
    formula = partial(float_sequence, start=value_start, delta=value_delta, output_type=output_type)
    if isinstance(value_start, int):
        formula = partial(integer_sequence, start=value_start, delta=value_delta)
    for index, start, sizes in runs(output.sizes):
        places = np.arange(start, start + math.prod(sizes), dtype=np.float64).reshape(sizes)
        yield Piece(index, formula, (places,))


def float_sequence(i: Any, *, start: float, delta: float, output_type: str) -> Any:
    """Return a sequence of floats, within a bound that has also the running sum.

    Others multiply: their steps may be infinite where the sum is not, and no step of infinity or NaN is NaN.
    """
    value, steps = progression(i, start, delta), infinite(output_type, raw(i) * delta)
    if not np.isfinite(delta):
        return alternatives(value, np.where(raw(i) == 0, start, value))
    return alternatives(value, np.where(np.isinf(steps), start + steps, value)) if np.isinf(steps).any() else value


def integer_sequence(i: Any, *, start: int, delta: int) -> Any:
    """Return a sequence of integers modulo 2^64."""
    return np.uint64(start & MASK) + raw(i).astype(np.uint64) * np.uint64(delta & MASK)


# ---- diagonals


def of_diagonals(formula: Callable[..., Any], output: TensorDesc) -> Iterator[Piece]:
    """Yield the pieces of an operator that computes matrices of x - y, column less row, and of their place."""
    for index in tiles_along(range(len(output.sizes)), output.sizes, BLOCK):
        places = ranges(index, output.sizes)
        rows, columns = (np.arange(at.start, at.stop) for at in places[-2:])
        diagonals = np.broadcast_to(columns - rows[:, None], [*map(len, places)])
        yield Piece(index, partial(formula, diagonals, index))


def diagonal_matrix(*, offset: int, value: Any, output: TensorDesc, output_type: str) -> Iterator[Piece]:
    """Value where x - y = Offset, with column x and row y; 0 elsewhere.

    In integer types Value loses its fraction. In FLOAT16 either neighbour of Value is right.
    """
    x = value if isinstance(value, Ball) else np.float64(value)
    is_float = output_type in FORMATS
    number, is_open = opened(to_floats(x, "FLOAT32", output_type) if is_float else truncated(output_type, x))

    def formula(diagonals: Any, _: Index) -> Open:
        is_filled = diagonals == offset
        return Open(alternatives(*ways_of(number), of=lambda way: np.where(is_filled, way, 0)), is_filled & is_open)

    return of_diagonals(formula, output)


def diagonal_matrix1(
    input: Any, *, value: Any, diagonal_fill_begin: int, diagonal_fill_end: int, output: TensorDesc, output_type: str
) -> Iterator[Piece]:
    """Value where DiagonalFillBegin <= x - y < DiagonalFillEnd, with column x and row y; else Input, or 0 without it.

    If DiagonalFillBegin > DiagonalFillEnd, Value where x - y < DiagonalFillEnd or DiagonalFillBegin <= x - y.
    """
    begin, end, number = diagonal_fill_begin, diagonal_fill_end, NUMPY_TYPES[output_type].type(value)
    combined = np.logical_and if begin <= end else np.logical_or
    rest = np.broadcast_to(np.zeros_like(number), output.sizes) if input is None else input

    def formula(diagonals: Any, index: Index) -> Any:
        return np.where(combined(begin <= diagonals, diagonals < end), number, rest[index])

    return of_diagonals(formula, output)


KERNELS: dict[str, Kernel] = {
    "DIAGONAL_MATRIX": exact_row(diagonal_matrix),
    "DIAGONAL_MATRIX1": exact_row(diagonal_matrix1),
    "FILL_VALUE_CONSTANT": exact_row(fill_value_constant),
    "FILL_VALUE_SEQUENCE": Kernel(fill_value_sequence),
}
