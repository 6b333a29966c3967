"""Places of elements in their groups, of arrays and of arrays in blocks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from long_groups import in_blocks, numbered, shapes_and_axes, whole

from dmlcheck.reference.arrays.blocks import in_rows
from dmlcheck.reference.arrays.grouped import comparable, extreme, first, first_in_order, grouped, positions

anytime = settings(deadline=None)


@pytest.mark.slow
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


@pytest.mark.slow
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


# ---- the order of elements, against Python's sorted
INF = np.inf
NUMBERS = [3, 0, 7, 3, 1, 7, 0]


@pytest.mark.parametrize("is_decreasing", [False, True])
@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"])
def test_equal_elements_keep_their_order(kind: str, is_decreasing: bool) -> None:
    least = [] if kind[0] == "u" else [-2, -5, -2]
    x = np.array([*NUMBERS, *least, *([INF, -INF, 0.5, -0.5] if kind[0] == "f" else [])], kind)
    sign = -1 if is_decreasing else 1
    expected = sorted(range(len(x)), key=lambda at: sign * float(x[at]))
    assert first_in_order(x, 0, len(x), is_decreasing=is_decreasing).tolist() == expected
    assert first_in_order(x, 0, 3, is_decreasing=is_decreasing).tolist() == expected[:3]


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_positions_are_along_an_axis(axis: int) -> None:
    x = np.moveaxis(np.array([[[5, 1, 3]], [[2, 9, 4]]], np.int32), 2, axis)
    found = np.moveaxis(first_in_order(x, axis, 2, is_decreasing=True), axis, 2)
    assert found.tolist() == [[[0, 2]], [[1, 2]]]


@pytest.mark.parametrize("kind", ["f2", "f4", "f8"])
def test_zeros_of_both_signs_are_equal_or_in_order(kind: str) -> None:
    x = np.array([0.0, -0.0, 1.0], kind)
    found = {
        (is_decreasing, has_order): first_in_order(x, 0, 3, is_decreasing=is_decreasing, has_order=has_order).tolist()
        for is_decreasing in (False, True)
        for has_order in (False, True)
    }
    assert found == {
        (False, False): [0, 1, 2],
        (False, True): [1, 0, 2],
        (True, False): [2, 0, 1],
        (True, True): [2, 0, 1],
    }


def test_the_ends_of_integers_are_in_order() -> None:
    x = np.array([127, -128, 0], np.int8)
    assert first_in_order(x, 0, 3, is_decreasing=False).tolist() == [1, 2, 0]
    assert first_in_order(x.view(np.uint8), 0, 3, is_decreasing=False).tolist() == [2, 0, 1]
