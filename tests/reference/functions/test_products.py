"""Products of matrices in the ways in which implementations may compute them."""

from __future__ import annotations

import numpy as np
import pytest

from dmlcheck.reference.arrays.blocks import Blocks
from dmlcheck.reference.ball.numbers import Arithmetic, Ball, radius
from dmlcheck.reference.functions.products import (
    dequantized_dot,
    dot,
    keep_weight,
    plus,
    scaled_dot,
    scaled_scores,
    weighted_means,
    with_or_without,
)

A, B = np.array([[1.0, -2.0]], np.float32), np.array([[3.0], [0.5]], np.float32)
NAN, INF = np.nan, np.inf


def as_balls(x: np.ndarray) -> Ball:  # type: ignore[type-arg]
    return Ball(x, 0.0, Arithmetic())


def test_factors_in_blocks_have_the_same_product() -> None:
    in_blocks = Blocks((1, 2), [(..., slice(0, 1)), (..., slice(1, 2))], A.__getitem__)
    other = Blocks((2, 1), [(slice(0, 1),), (slice(1, 2),)], B.__getitem__)
    assert dot(in_blocks, other).tolist() == dot(A, B).tolist() == [[2]]


def test_a_factor_may_be_multiplied_before_or_after() -> None:
    """With 1/3 both orders round; with 1 there is nothing to multiply."""
    assert scaled_dot(A, B, 0.5).tolist() == [[1]]
    wide = float(radius(scaled_dot(as_balls(A), as_balls(B), 1 / 3))[0, 0])
    narrow = float(radius(dot(as_balls(A), as_balls(B)))[0, 0])
    assert wide != narrow
    assert float(radius(scaled_dot(as_balls(A), as_balls(B), 1.0))[0, 0]) == narrow


@pytest.mark.parametrize(
    ("term", "factor", "ways"),
    [([1.0, NAN], 0.0, [[1.0, NAN], [1.0, 0.0]]), ([1.0, 2.0], 0.0, [[1.0, 2.0]]), ([1.0, NAN], 2.0, [[1.0, NAN]])],
)
def test_a_term_with_a_factor_of_0_may_be_left_out(term: list[float], factor: float, ways: list[list[float]]) -> None:
    found = with_or_without(np.array(term), factor)
    assert len(found) == len(ways)
    assert all(np.array_equal(one, way, equal_nan=True) for one, way in zip(found, ways, strict=True))


def test_what_is_added_to_sums_may_begin_them() -> None:
    assert plus(dot(A, B), np.array([[10.0]])).tolist() == [[12]]


def test_scaled_integers_are_summed_before_or_after_scaling() -> None:
    """The bound has both."""
    integers = dot(A, B)
    assert dequantized_dot(A, B, np.float64(0.5), np.float64(2), integers).tolist() == [[2]]
    found = dequantized_dot(as_balls(A), as_balls(B), as_balls(np.array(1 / 3)), as_balls(np.array(3.0)), integers)
    assert float(radius(found)[0, 0]) > 0


def test_scores_have_a_column_for_each_key_of_each_part() -> None:
    keys = [np.array([[1.0, 2.0]]), np.array([[3.0, 0.0], [0.0, 4.0]])]
    (found,) = scaled_scores(A, keys, 0.5, "FLOAT32")
    assert found.tolist() == [[-1.5, 1.5, -4]]


@pytest.mark.parametrize(
    ("scale", "others"),
    [
        (1.0, [[INF, -INF, 2.0]]),
        (-1e-3, [[-INF, INF, -2e-3]]),
        (4e4, [[INF, -INF, INF]]),
        (0.0, [[NAN, NAN, 0]]),
    ],
)
def test_products_beyond_the_data_type_may_be_infinite(scale: float, others: list[list[float]]) -> None:
    keys = [np.array([[7e4], [-7e4], [2.0]])]
    with np.errstate(all="ignore"):
        first, *rest = scaled_scores(np.ones((1, 1)), keys, scale, "FLOAT16")
    assert first.tolist() == [[7e4 * scale, -7e4 * scale, 2 * scale]]
    assert np.array_equal(rest[0], others, equal_nan=True)


def test_products_may_be_infinite_after_they_are_scaled_only() -> None:
    first, before, after = scaled_scores(np.ones((1, 1)), [np.array([[7e4], [7e7]])], 1e-2, "FLOAT16")
    assert [way.tolist() for way in (first, before, after)] == [[[700, 7e5]], [[INF, INF]], [[700, INF]]]


def test_a_scaled_query_may_be_rounded_to_the_data_type() -> None:
    """A third of 3 is off by 2^-11 at most."""
    query, keys = as_balls(np.array([[3.0]], np.float32)), [as_balls(np.array([[1.0]], np.float32))]
    half, single = (radius(scaled_scores(query, keys, 1 / 3, kind)[0]) for kind in ("FLOAT16", "FLOAT32"))
    assert 0 < float(single[0, 0]) < 2.0**-22
    assert 2.0**-13 < float(half[0, 0]) < 2.0**-10


def test_means_weigh_the_values_of_all_parts() -> None:
    values = [np.array([[8.0]]), np.array([[0.0], [4.0]])]
    assert weighted_means(np.array([[2.0, 1.0, 1.0]]), values, "FLOAT32").tolist() == [[5]]


@pytest.mark.parametrize(
    ("top", "added", "filter_value", "keeps"),
    [
        (0.0, -747.0, -747.0, False),  # exp of both is 0 in float64
        (0.0, -745.0, -747.0, True),
        (0.0, -747.0, -745.0, True),
        (700.0, -1.0, -47.0, True),  # 701 below the largest score
        (700.0, -47.0, -47.0, False),
    ],
)
def test_a_hidden_key_has_a_weight_if_its_score_is_not_too_far_below_the_largest(
    top: float, added: float, filter_value: float, keeps: bool
) -> None:
    scores = np.array([[top, added]])
    assert keep_weight(np.array([[False, True]]), scores, filter_value) == keeps
    assert not keep_weight(np.array([[False, False]]), scores, filter_value)
