"""What DirectML 1.15.4 gave on vkd3d-proton on Mesa lavapipe 25.0, 2026-11-29, where it departs from the formula."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dmlcheck.comparison.deviating import (
    cropped,
    extended,
    layout_of_bytes,
    lower,
    of_visible,
    opened,
    scattered,
    scattered_nd,
)
from dmlcheck.descs.records import TensorDesc

X = np.array([3, -17, 45, 7, -101, 60, 220, -9], np.float32)
INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    ("x", "scale", "offsets", "given"),
    [
        (X, 2, (3, -7), [102, 223, 169, -423, -342.5, -260, -180, 678]),
        (X, 2, (5, -10), [-745, -664.5, -580, -500, 1136, 1021.5, -9, -9]),
        (X, 1, (-0.5, 0.5), [3, 3, -17, 45, 7, -101, 60, 220]),  # nothing is averaged
        (np.array([1, INF, 3, 4], np.float32), 2, (0.5, -0.5), [1, INF, INF, NAN, NAN, 3.25, 3.75, 4]),
    ],
)
def test_averages_are_on_a_line_through_two_elements(
    x: np.ndarray, scale: float, offsets: tuple[float, float], given: list[float]
) -> None:
    rows = np.stack([x, 2 * x])
    with np.errstate(invalid="ignore"):
        found = extended(rows, np.zeros((2, 8)), [1, scale], (0.5, offsets[0]), (-0.5, offsets[1]))
    assert np.allclose(found, [given, 2 * np.array(given)], equal_nan=True)


@pytest.mark.parametrize(
    ("sizes", "axis", "limited"),
    [
        ((1,), 0, [0]), ((3,), 0, [0, 1, 2]), ((4,), 0, [0]), ((7,), 0, [*range(7)]), ((8,), 0, [0]),
        ((9,), 0, [0, 4, 8]), ((15,), 0, [0, 4, 8, 12]), ((17,), 0, [0, 8, 16]), ((9, 3), 0, [0, 4, 8]),
        ((3, 9), 1, [*range(9)]), ((2, 9, 7), 1, [*range(9)]), ((2, 9, 8), 1, [0, 4, 8]), ((2, 9, 2, 4), 1, [0, 4, 8]),
        ((9, 2, 8), 0, [0, 4, 8]), ((9, 3, 8), 0, [0, 4, 8]), ((9, 1), 0, [0, 4, 8]),
    ],
)  # fmt: skip
def test_along_one_axis_the_offset_is_limited_for_the_first_of_a_block(
    sizes: tuple[int, ...], axis: int, limited: list[int]
) -> None:
    """DirectML 1.13.1 and 1.15.4, vkd3d-proton on Mesa lavapipe 25.0, 2026-11-29; of places from 1.9 to 12.5."""
    line, shape = np.arange(60, dtype=np.float32) ** 2, [1] * len(sizes)
    shape[axis] = 60
    x = np.broadcast_to(line.reshape(shape), [60 if at == axis else size for at, size in enumerate(sizes)])
    moved = [at == axis for at in range(len(sizes))]
    given = (np.where(moved, *pair) for pair in ((1.5, 1), (3, 0.5), (-7.3, -0.5)))
    found = np.moveaxis(extended(x, np.zeros(sizes), *given), axis, 0).reshape(sizes[axis], -1)
    right = np.interp((np.arange(sizes[axis]) + 7.3) / 1.5 - 3, np.arange(60), line)
    assert np.flatnonzero(~np.isclose(found, right[:, None], rtol=1e-4).all(axis=1)).tolist() == limited


@pytest.mark.parametrize("sizes", [(10, 8), (10, 1, 8)])
def test_an_axis_of_one_element_has_no_blocks(sizes: tuple[int, ...]) -> None:
    """Measured on DirectML 1.13.1 and 1.15.4, vkd3d-proton on Mesa lavapipe 25.0, 2026-11-29: blocks of four."""
    x = np.repeat(np.float32([0, 8, 32, 72, 128]), 8).reshape(5, *sizes[1:])
    others = len(sizes) - 1
    fields = ([2, *[1] * others], [-0.5, *[0.5] * others], [0.25, *[-0.5] * others])
    found = extended(x, np.zeros(sizes), *fields).reshape(10, 8)
    assert found[:, 0].tolist() == [0, 7, 17, 29, 41, 67, 93, 121, 149, 128]


LARGE, FIRST = 3e38, [[1, INF, 3], [4, 5, 6]]


@pytest.mark.parametrize(
    ("x", "scales", "strides", "given"),
    [
        ([[LARGE, -LARGE], [0, 8]], [1.5, 1.5], None, [[LARGE, -INF], [LARGE / 2, 0]]),
        ([[LARGE, -LARGE], [0, 8]], [1.5, 1.5], (1, 2), [[LARGE, NAN], [LARGE / 2, NAN]]),
        ([[[LARGE], [-LARGE], [8]]], [1, 1.5, 1.5], None, [[[LARGE], [-INF], [-2.5e38]]]),
        ([[[INF], [-LARGE], [8]]], [1, 1.5, 1.5], None, [[[NAN], [NAN], [-2.5e38]]]),
        (FIRST, [1, 1], None, [[1, NAN, 3], [4, 5, 6]]),
        (FIRST, [1, 1], (1, 2), [[NAN, NAN, 3], [4, 5, 6]]),
        (FIRST[:1], [1, 1], None, [[1, NAN, 3]]),
    ],
)
def test_axes_follow_each_other_as_they_lie_in_memory(x: Any, scales: list[float], strides: Any, given: Any) -> None:
    """DirectML 1.13.1 and 1.15.4, vkd3d-proton on Mesa lavapipe 25.0, 2026-11-29; axes of one element come first."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = extended(np.float32(x), np.zeros(np.shape(x)), scales, 0.5, -0.5, strides)
    assert np.allclose(found, given, equal_nan=True)


@pytest.mark.parametrize(
    ("strides", "last"),
    [
        (None, [NAN, INF]), ((2, 8, 1), [NAN, INF]), ((48, 1, 1), [NAN, NAN]), ((8, 1, 4), [NAN, NAN]),
        ((8, 8, 1), [NAN, NAN]), ((1, 8, 4), [-9.074193e37, 7.939924e37]),
    ],
)  # fmt: skip
def test_an_axis_of_one_element_comes_last_unless_the_others_are_packed(strides: Any, last: list[float]) -> None:
    """DirectML 1.15.4, vkd3d-proton on Mesa lavapipe 25.0, 2026-11-30."""
    most = 3.4028235e38
    x = np.float32([[[2, -0.2], [0.1, 0.5]], [[0.3, 0.9], [-0.07, most]], [[0.4, -0.07], [-most, 1.4]]])
    with np.errstate(over="ignore", invalid="ignore"):
        found = extended(x, np.zeros((4, 1, 2)), [3, 1, 2], [0.3, 0, 0], [-1.7, -1, 0], strides)
    assert np.allclose(found[3, 0], last, equal_nan=True, rtol=1e-5)


def test_whether_a_difference_overflows_follows_each_rounding() -> None:
    """DirectML 1.13.1, vkd3d-proton on Mesa lavapipe 25.0, 2026-12-01: all bits of 208,707 elements."""
    most = np.finfo(np.float32).max
    with np.errstate(over="ignore"):
        found = extended(np.float32([[-most, 0], [0, most]]), np.zeros((3, 1)), [3, 0.75], 0.5, -0.5)
    assert found.tolist() == [[np.float32(-2.8356861e38)], [np.float32(-2.8356861e38)], [INF]]


@pytest.mark.parametrize(
    ("source", "output", "lines"),
    [
        ((2, 1, 4), None, [0, 1, 2]), ((1, 8, 2), None, [1, 2, 0]), ((8, 1, 2), None, [0, 2, 1]),
        ((2, 4, 1), None, [0, 1, 2]), ((2, 1, 4), (1, 12, 2), [1, 2, 0]), ((4, 2, 1), (1, 12, 2), [0, 1, 2]),
        ((1, 2, 4), (6, 1, 2), [0, 2, 1]), ((4, 1, 2, 16), None, [0, 1, 2, 3]), ((48, 1, 16, 4), None, [0, 2, 3, 1]),
        ((1, 24, 8, 2), None, [1, 2, 3, 0]), ((2, 24, 8, 1), None, [1, 2, 0, 3]), ((24, 8, 1, 2), None, [0, 1, 2, 3]),
        ((1, 2), None, [1, 0]), ((2, 1), (1, 4), [0, 1]),
    ],
)  # fmt: skip
def test_axes_of_bytes_come_in_an_order_that_directml_knows(source: Any, output: Any, lines: list[int]) -> None:
    """DirectML 1.13.1, vkd3d-proton on Mesa lavapipe 25.0, 2026-12-01: 374 draws of axes of two or more."""
    sizes = (2, 3, 4, 2)[: len(source)]
    strides = layout_of_bytes(*(TensorDesc("UINT8", sizes, strides) for strides in (source, output)))
    assert sorted(range(len(sizes)), key=lambda axis: -strides[axis]) == lines


@pytest.mark.parametrize(
    ("strides", "given"),
    [((1, 5), [[0, 2], [0, 4], [0, 0], [0, 0]]), ((2, 1), [[0, 2], [0, 2], [0, 2], [0, 0]])],
)
def test_bytes_beyond_an_offset_follow_the_order_of_the_input(strides: tuple[int, int], given: Any) -> None:
    """DirectML 1.13.1 and 1.15.4, vkd3d-proton on Mesa lavapipe 25.0, 2026-12-01."""
    layout = layout_of_bytes(TensorDesc("UINT8", (2, 2), strides), TensorDesc("UINT8", (4, 2)))
    x = np.uint8([[0, 2], [0, 0]])
    assert extended(x, np.zeros((4, 2)), [1, 1], [2, 0], [0, 0], layout).tolist() == given


def test_integers_are_those_before_a_place() -> None:
    x = X[:4].astype(np.int8)
    assert lower(x, np.zeros(8), [2], 0.5, -0.5).tolist() == [3, 3, 3, -17, -17, 45, 45, 7]
    assert lower(np.stack([x, x]), np.zeros((2, 8)), [1, 2], (0.5, 0.5), (-0.5, -0.5)).shape == (2, 8)


@pytest.mark.parametrize(
    ("axis", "index", "place"),
    [
        (0, -1, (2, 0, 0)), (0, 3, None), (0, -4, None), (0, 2**30, (0, 0, 0)), (1, 3, (0, 3, 0)), (1, 5, (1, 1, 0)),
        (1, 7, (1, 3, 0)), (1, -5, None), (1, 2**30, None), (2, 4, (0, 1, 1)), (2, 7, (0, 2, 1)), (2, -4, None),
    ],
)  # fmt: skip
def test_indices_outside_are_counted_on(axis: int, index: int, place: tuple[int, ...] | None) -> None:
    x = np.zeros((3, 4, 3), np.float32)
    one = (np.array(index, np.int32).reshape(1, 1, 1), np.full((1, 1, 1), 7, np.float32))
    found = scattered(x, *one, axis)
    assert list(zip(*map(np.ndarray.tolist, np.nonzero(found)), strict=True)) == ([] if place is None else [place])
    assert not x.any()


@pytest.mark.parametrize(
    ("tuple_of", "columns", "found"),
    [
        ((2**32 + 1, 1), 4, [5]), ((2**63 - 1, 2), 4, []), ((0, 5), 4, [5]), ((-1, -(2**32)), 4, []),
        ((0, 2**64 - 1), 3, [2]), ((2**31,), 4, [0, 1, 2, 3]), ((2**32 + 2,), 3, [6, 7, 8]),
        ((1431655766,), 3, [2, 3, 4]), ((2863311531,), 3, [1, 2, 3]), ((2**31,), 3, []),
    ],
)  # fmt: skip
def test_tuples_far_outside_are_counted_on(tuple_of: tuple[int, ...], columns: int, found: list[int]) -> None:
    x = np.zeros((1, 3, columns), np.float32)
    count = 1 if len(tuple_of) == 2 else columns
    kind = np.uint64 if max(tuple_of) >= 2**63 else np.int64
    indices = np.array(tuple_of, kind).reshape(1, 1, -1)
    moved = scattered_nd(x, indices, np.arange(1, 1 + count, dtype=np.float32).reshape(1, 1, count), 2, 2)
    assert dict(zip(np.flatnonzero(moved).tolist(), moved[moved != 0].tolist(), strict=True)) == {
        place: value for value, place in enumerate(found, 1)
    }
    assert not x.any()


@pytest.mark.parametrize(
    ("mask", "kept"),
    [
        ([[3]], [1, 2, 3, 0, 0]), ([[0]], [1, 2, 3, 4, 5]), ([[-1]], [1, 2, 3, 4, 5]), ([[9]], [1, 2, 3, 4, 5]),
        ([[4], [1]], [0, 2, 3, 4, 0]), ([[2], [2]], [1, 2, 3, 4, 5]), ([[1], [3]], [1, 2, 3, 4, 5]),
        ([[7], [6]], [0, 0, 0, 0, 0]), ([[4], [-3]], [1, 2, 3, 4, 0]),
    ],
)  # fmt: skip
def test_positions_are_those_of_visible_keys_or_all_where_a_mask_leaves_none(
    mask: list[list[int]], kept: list[int]
) -> None:
    """DirectML 1.13.1 and 1.15.4, vkd3d-proton on Mesa lavapipe 25.0, 2026-11-29; the second batch has all keys."""
    given = np.array([[row[0], all_keys] for row, all_keys in zip(mask, (99, 0), strict=False)], np.int32)
    position = np.broadcast_to(np.arange(1, 6, dtype=np.float32), (2, 1, 1, 5))
    assert of_visible(position, given).reshape(2, 5).tolist() == [kept, [1, 2, 3, 4, 5]]
    assert of_visible(position, opened(given)).tolist() == of_visible(position, given).tolist()


def test_a_mask_that_leaves_no_key_is_opened() -> None:
    assert opened(np.int32([[0, 2, -1]])).tolist() == [[2**31 - 1, 2, 2**31 - 1]]
    assert opened(np.int32([[3, 2], [3, 1]])).tolist() == [[2**31 - 1, 2], [0, 1]]


LOWEST = float(np.finfo(np.float32).min)


@pytest.mark.parametrize(
    ("infinity", "place", "at", "maximum", "average"),
    [
        (INF, (0, 1), (0, 0), LOWEST, NAN),
        (INF, (0, 1), (0.5, 0.5), LOWEST, NAN),
        (INF, (1, 1), (0.5, 0.5), INF, INF),
        (INF, (1, 0), (0.25, 1), 2.75, 2.75),
        (INF, (1, 1), (-0.5, 0.5), 1.5, 1.5),
        (-INF, (1, 1), (0.5, 0.5), LOWEST, -INF),
        (NAN, (0, 1), (0.5, 0), LOWEST, NAN),
        (NAN, (0, 1), (2.5, 0), 7, 7),
    ],
)
def test_samples_are_on_lines_through_infinities(
    infinity: float, place: tuple[int, int], at: tuple[float, float], maximum: float, average: float
) -> None:
    image = np.arange(1, 10, dtype=np.float32).reshape(1, 1, 3, 3)
    image[(0, 0, *place)] = infinity
    regions, like = np.array([[*at[::-1], *at[::-1]]]), np.zeros((1, 1, 1, 1), np.float32)
    for function, expected in (("MAX", maximum), ("AVERAGE", average)):
        fields = ("LINEAR", function, 1.0, 1.0, 1, 1, 0.0, 0.0, False)
        with np.errstate(invalid="ignore"):
            found = cropped(image, regions, np.array([0]), like, -7.0, *fields)
        assert np.array_equal(found.reshape(-1), [expected], equal_nan=True)


@pytest.mark.parametrize(("image", "expected"), [([[3e38, 1], [-3e38, 1]], NAN), ([[3e38, -3e38], [1, 1]], 0.0)])
def test_samples_are_first_on_lines_along_the_height(image: list[list[float]], expected: float) -> None:
    """Measured on DirectML 1.13.1 and 1.15.4, vkd3d-proton on Mesa lavapipe 25.0, 2026-11-29."""
    x, like = np.array([[image]], np.float32), np.zeros((1, 1, 1, 1), np.float32)
    fields = ("LINEAR", "AVERAGE", 1.0, 1.0, 1, 1, 0.0, 0.0, False)
    with np.errstate(over="ignore", invalid="ignore"):
        found = cropped(x, np.full((1, 4), 0.5), np.array([0]), like, 0.0, *fields)
    assert np.array_equal(found.reshape(-1), [expected], equal_nan=True)


def test_a_sum_of_samples_is_of_float32() -> None:
    image, like = np.full((1, 1, 1, 1), 3e38, np.float32), np.zeros((1, 1, 1, 1), np.float32)
    fields = ("NEAREST_NEIGHBOR", "AVERAGE", 1.0, 1.0, 2, 2, 0.0, 0.0, False)
    with np.errstate(over="ignore"):
        assert cropped(image, np.zeros((1, 4)), np.array([0]), like, 0.0, *fields).item() == INF
