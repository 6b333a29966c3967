"""Places of elements in their groups, of arrays and of arrays in blocks."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from long_groups import in_blocks, numbered, shapes_and_axes, whole

from dmlcheck.reference.arrays.blocks import in_rows
from dmlcheck.reference.arrays.grouped import comparable, extreme, first, grouped, positions

anytime = settings(deadline=None)


@anytime
@given(shapes_and_axes(), st.integers(1, 9))
def test_positions_count_a_group_row_major_in_the_order_of_the_dimensions(
    drawn: tuple[tuple[int, ...], tuple[int, ...]], block: int
) -> None:
    sizes, axes = drawn
    tensor = numbered(sizes)
    length = math.prod(sizes[axis] for axis in axes)
    x = in_blocks(tensor, axes, block)
    for found in (np.broadcast_to(positions(tensor, axes), sizes), whole(positions(x, axes) + 0 * x)):
        assert in_rows(found, axes).tolist() == [list(range(length))] * (tensor.size // length)


@anytime
@given(shapes_and_axes(), st.integers(1, 9), st.binary(min_size=64, max_size=64), st.booleans())
def test_the_first_or_last_hit_of_each_group(
    drawn: tuple[tuple[int, ...], tuple[int, ...]], block: int, noise: bytes, last: bool
) -> None:
    sizes, axes = drawn
    hits = np.resize(np.frombuffer(noise, np.uint8) < 40, sizes)
    rows = [[place for place, hit in enumerate(row) if hit] for row in in_rows(hits, axes).tolist()]
    expected = [(row[-1] if last else row[0]) if row else 0 for row in rows]
    shape = tuple(1 if axis in axes else size for axis, size in enumerate(sizes))
    for x in (hits, in_blocks(hits, axes, block)):
        found = first(x, axes, last=last)
        assert found.shape == shape
        assert found.reshape(-1).tolist() == expected


def test_float16_is_compared_as_float32_and_other_types_as_they_are() -> None:
    for dtype, expected in ((np.float16, np.float32), (np.float64, np.float64), (np.int8, np.int8)):
        tensor = np.arange(6, dtype=dtype).reshape(2, 3)
        parts = [comparable(tensor), *comparable(in_blocks(tensor, (1,), 2)).parts()]
        assert {part.dtype for part in parts} == {np.dtype(expected)}
        assert sorted(element for part in parts[1:] for element in part.reshape(-1)) == [0, 1, 2, 3, 4, 5]


@np.errstate(invalid="ignore")  # as the engine has it
def test_an_extreme_is_that_of_the_numbers_beside_nan_and_is_open_there() -> None:
    x = np.array([[1, np.nan, 3], [np.nan] * 3, [-1, -2, -4]], np.float16)
    for ufuncs, right in (((np.maximum, np.fmax), [3, None, -1]), ((np.minimum, np.fmin), [1, None, -4])):
        found = extreme(x, (1,), *ufuncs)
        assert [None if np.isnan(value) else value for (value,) in found.value] == right
        assert found.where.tolist() == [[True], [True], [False]]


def test_channels_are_split_into_groups() -> None:
    x = np.arange(12).reshape(1, 6, 2)
    assert grouped(x, 3, 1).tolist() == [[[[0, 1], [2, 3]], [[4, 5], [6, 7]], [[8, 9], [10, 11]]]]
    assert grouped(x[0], 2, 0).shape == (2, 3, 2)
