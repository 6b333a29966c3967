"""The parts of an attention's formula: keys in parts, masks, and the ways in which implementations may compute them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dmlcheck.reference.ball.numbers import Arithmetic, Ball, radius
from dmlcheck.reference.kernels.attention.bodies import (
    hidden_keys,
    keep_weight,
    masked,
    of_all_heads,
    scaled_scores,
    softmax_times,
    weighted_means,
)
from dmlcheck.reference.kernels.attention.tiles import STARTS

A = np.array([[1.0, -2.0]], np.float32)
NAN, INF = np.nan, np.inf


def as_balls(x: np.ndarray) -> Ball:  # type: ignore[type-arg]
    return Ball(x, 0.0, Arithmetic())


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


def test_keys_are_hidden_by_a_mask_of_each_or_by_their_places() -> None:
    assert hidden_keys(None, "NONE", None, 3) is None
    assert hidden_keys(np.array([0, 1, 2]), "BOOLEAN", None, 3).tolist() == [True, False, False]
    assert hidden_keys(np.array([False, True]), STARTS, None, 2).tolist() == [True, False]
    assert hidden_keys(np.array([[2]]), "KEY_SEQUENCE_LENGTH", None, 3).tolist() == [[False, False, True]]
    ends_and_starts = np.array([[2, 1]])
    found = hidden_keys(ends_and_starts, "KEY_SEQUENCE_END_START", None, 3)
    assert found.tolist() == [[True, False, True]]
    assert hidden_keys(None, "NONE", np.array([[0], [2]]), 3).tolist() == [[False, True, True], [False] * 3]


def test_a_masked_score_is_added_to_or_replaced_where_it_keeps_a_weight() -> None:
    scores, hidden = [np.array([[1.0, 2.0]])], np.array([[False, True]])
    assert masked(scores, None, -1e4, -INF, "FLOAT32") is scores
    assert [way.tolist() for way in masked(scores, hidden, -1e4, -INF, "FLOAT32")] == [[[1, -9998]]]
    assert [way.tolist() for way in masked(scores, hidden, -1.0, -INF, "FLOAT32")] == [[[1, 1]], [[1, -INF]]]


def test_a_row_whose_largest_score_is_infinite_is_lost() -> None:
    value, is_lost = softmax_times(np.array([[0.0, 0.0], [INF, 1.0]]), [np.array([[2.0], [4.0]])], "FLOAT32")
    assert value[0].tolist() == [3]
    assert np.isnan(value[1, 0])
    assert is_lost.tolist() == [[False], [True]]


def test_heads_are_next_to_each_other_and_past_keys_come_first() -> None:
    """One batch, two key heads, one query of size 1: each output has the keys that its head saw, in their order."""
    q = [np.ones((1, 2, 1, 1, 1)), None, None]
    k = [np.array([1.0, 2.0]).reshape(1, 2, 1, 1, 1), np.full((1, 2, 1, 1, 1), 10.0), np.full((1, 2, 1, 1, 1), 5.0)]

    def formula(query: Any, keys: Any, values: Any) -> Any:
        assert query.shape == (1, 2, 1, 1, 1)
        assert values is not None
        return [(np.concatenate(keys, axis=-1), np.zeros((1, 2, 1, 1, 1), bool))]

    found = of_all_heads(formula, (q, k, k), "FLOAT32")
    assert found.value.tolist() == [[[5, 11, 5, 12]]]
    assert found.where.shape == (1, 1, 4)
