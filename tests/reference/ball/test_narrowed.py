"""Arrays that add up or round in another way."""

from __future__ import annotations

from functools import partial

import numpy as np

from dmlcheck.reference.ball import narrowed
from dmlcheck.reference.ball.narrowed import Narrowing

FLOAT16 = partial(narrowed.narrowed, Narrowing(rounding=narrowed.float16))


def test_roundings_are_those_of_the_types() -> None:
    # 1 + 2^-8 + 2^-20 is beyond the middle of 1 and 1 + 2^-7; 1 + 2^-8 is the middle, and 1 is even.
    x = np.array([1 + 2.0**-8 + 2.0**-20, 1 + 2.0**-8, -(1 + 3 * 2.0**-8), np.inf, np.nan])
    assert narrowed.bfloat16(x).tolist()[:4] == [1 + 2.0**-7, 1, -(1 + 2.0**-6), np.inf]
    assert np.isnan(narrowed.bfloat16(x)[4])
    y = np.array([1 + 2.0**-11 + 2.0**-20, 1 + 2.0**-11, 3.0])
    assert narrowed.tf32(y).tolist() == [1 + 2.0**-10, 1, 3]
    assert narrowed.float16(y).tolist() == [1 + 2.0**-10, 1, 3]
    assert narrowed.away_from_zero(np.array([0.5, -0.5, 2.5, 0.25])).tolist() == [1, -1, 3, 0]


def test_each_partial_sum_is_rounded() -> None:
    # 2048 + 1 is the middle of 2048 and 2050 in FLOAT16, and 2048 is even: it stays 2048.
    x = FLOAT16(np.array([[2048.0, 1, 1, 1], [1, 1, 1, 2048]]))
    assert np.add.reduce(x, axis=1).tolist() == [2048, 2052]  # 2051 is the middle of 2050 and 2052
    assert x.sum(axis=1, keepdims=True).tolist() == [[2048], [2052]]
    ones = FLOAT16(np.ones((4, 1)))
    assert (x @ ones).tolist() == [[2048], [2052]]
    assert np.einsum("ij,jk->ik", x, ones).tolist() == [[2048], [2052]]
    assert np.cumsum(x, axis=1).tolist() == [[2048, 2048, 2048, 2048], [1, 2, 3, 2052]]
    assert (x + 1).tolist() == [[2049, 2, 2, 2], [2, 2, 2, 2049]]  # no sum of many


def test_terms_are_lost() -> None:
    x = narrowed.narrowed(Narrowing(lost=lambda count: slice(count - 1, None)), np.array([[1.0, 2, 4], [8, 16, 32]]))
    assert np.add.reduce(x, axis=1).tolist() == [3, 24]
    assert np.add.reduce(x, axis=0).tolist() == [1, 2, 4]


def test_what_is_computed_of_such_arrays_is_one_again_and_integers_are_not() -> None:
    way = Narrowing(nearest=narrowed.away_from_zero)
    x = narrowed.narrowed(way, np.array([1.25, -1.25]))
    assert np.rint(x * 2).tolist() == [3, -3]
    assert np.rint(np.concatenate([x * 2, x])).tolist() == [3, -3, 1, -1]
    whole = np.array([1, 2])
    assert narrowed.narrowed(way, whole) is whole
