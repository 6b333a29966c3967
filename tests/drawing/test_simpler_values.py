"""Simpler values: zeros, ones and small whole numbers, and the simplest that hypothesis finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dmlcheck.drawing.simpler_values import simpler_values, simplest, weight_of, weights

X = np.array([[0.123, -7.5, np.nan, 300.0]], np.float32)


def test_weights_say_how_complicated_numbers_are() -> None:
    given = np.array([0, 1, -3, 300, 0.125, 0.1, -0.0, np.nan], np.float32)
    assert weights(given).tolist() == [0, 1, 4, 11, 12, 13, 2, 13]
    assert weights(np.array([0, 1, 7, -9, 10, 2**40], np.int64)).tolist() == [0, 1, 7, 10, 11, 12]
    assert weights(np.array([-1, 2, -2, 3], np.float16)).tolist() == [2, 2, 3, 3]


def test_whole_tensors_are_tried_first_and_then_ever_smaller_runs() -> None:
    found = [inputs["A"].tolist() for inputs in simpler_values({"A": X})]
    assert found[:2] == [[[0, 0, 0, 0]], [[1, 1, 1, 1]]]
    assert any(one[0][0] == np.float32(0.123) and one[0][3] == 0 for one in found)


def test_a_negative_number_may_become_minus_1_and_others_2() -> None:
    found = [inputs["A"].tolist() for inputs in simpler_values({"A": np.array([-9, 5], np.int8)})]
    assert [-1, 2] in found


def test_every_candidate_is_simpler_and_the_given_values_stay() -> None:
    before = X.copy()
    inputs: dict[str, Any] = {"A": X, "B": [np.arange(5), np.full(3, -9.25)]}
    found = list(simpler_values(inputs))
    assert found
    assert all(weight_of(one) < weight_of(inputs) for one in found)
    assert np.array_equal(X, before, equal_nan=True)


def test_hypothesis_finds_the_least_number_that_fails() -> None:
    given = {"A": np.array([0, 123_456_789_012], np.int64)}
    found = simplest(given, lambda inputs: bool(inputs["A"][1] > 2**24))
    assert found is not None
    assert found["A"].tolist() == [0, 2**24 + 1]


def test_a_float_that_fails_becomes_a_whole_number_where_one_fails_too() -> None:
    found = simplest({"A": np.array([np.pi * 100], np.float32)}, lambda inputs: bool(inputs["A"][0] > 10))
    assert found is not None
    assert found["A"].tolist() == [11]


@pytest.mark.slow
def test_nothing_is_looked_for_where_all_is_simple_or_there_is_much() -> None:
    assert simplest({"A": np.zeros(3)}, lambda _: True) is None
    assert simplest({"A": np.full(300, 0.3)}, lambda _: True) is None
    assert simplest({"A": np.array([0.3])}, lambda _: False) is None
