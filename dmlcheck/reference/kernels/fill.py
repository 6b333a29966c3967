"""Tensors made only from fields: constants, sequences and diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np

from dmlcheck.reference.arrays.data_types import element
from dmlcheck.reference.arrays.needs import row_major_index
from dmlcheck.reference.arrays.places import Places, columns_less_rows
from dmlcheck.reference.functions.conversions import float_as
from dmlcheck.reference.functions.several_ways import sequence
from dmlcheck.reference.results import AsMeasured, PartlyUndefined, alternatives, ways_of, with_measured
from dmlcheck.reference.rows import Cut, Kernel, exact_row

MASK = 2**64 - 1


def fill_value_constant(*, value: Any, places: Places) -> Any:
    """Value."""
    return np.full([*map(len, places)], value)


# ---- sequences


def fill_value_sequence(i: Any, *, value_start: Any, value_delta: Any, output_type: str) -> Any:
    """ValueStart + i * ValueDelta, with i the row-major index; integers wrap modulo 2^bits."""
    if isinstance(value_start, int):
        return np.uint64(value_start & MASK) + i * np.uint64(value_delta & MASK)
    return sequence(i, value_start, value_delta, output_type)


# ---- diagonals


def diagonal_matrix(diagonals: Any, *, offset: int, value: Any, output_type: str) -> PartlyUndefined:
    """Value where x - y = Offset, with column x and row y; 0 elsewhere.

    In integer types Value loses its fraction. In FLOAT16 either neighbour of Value is right.
    """
    is_filled = diagonals == offset
    number, *marks = with_measured(float_as(value, output_type))
    found = alternatives(*ways_of(number), of=lambda way: np.where(is_filled, way, np.zeros_like(way)))
    is_undefined, is_measured = (is_filled & mark for mark in marks)
    return PartlyUndefined(AsMeasured(found, is_measured), is_undefined)


def diagonal_matrix1(
    input: Any, diagonals: Any, *, value: Any, diagonal_fill_begin: int, diagonal_fill_end: int, output_type: str
) -> Any:
    """Value where DiagonalFillBegin <= x - y < DiagonalFillEnd, with column x and row y; else Input, or 0 without it.

    If DiagonalFillBegin > DiagonalFillEnd, Value where x - y < DiagonalFillEnd or DiagonalFillBegin <= x - y.
    """
    combined = np.logical_and if diagonal_fill_begin <= diagonal_fill_end else np.logical_or
    is_filled = combined(diagonal_fill_begin <= diagonals, diagonals < diagonal_fill_end)
    number = element(value, output_type)
    return np.where(is_filled, number, np.zeros_like(number) if input is None else input)


DIAGONALS = Cut(needs={"diagonals": lambda _, places, __: columns_less_rows(places)})

KERNELS: dict[str, Kernel] = {
    "DIAGONAL_MATRIX": exact_row(diagonal_matrix, DIAGONALS),
    "DIAGONAL_MATRIX1": exact_row(diagonal_matrix1, DIAGONALS),
    "FILL_VALUE_CONSTANT": exact_row(fill_value_constant, Cut()),
    "FILL_VALUE_SEQUENCE": Kernel(fill_value_sequence, Cut(needs={"i": row_major_index})),
}
