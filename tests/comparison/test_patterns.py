"""What wrong elements have in common."""

from __future__ import annotations

import numpy as np
import pytest

from dmlcheck.comparison.patterns import few_bits, patterns

X = np.random.default_rng(5).standard_normal((4, 8, 3, 10)).astype(np.float32)
BEFORE = np.array(0xFFFFFFFF, np.uint32).view(np.float32)[()]  # NaN, as of a buffer with every bit set
NOT_WRITTEN = "nothing seems to be written to {}: all {} there"


def found(expected: np.ndarray, actual: np.ndarray) -> list[str]:
    wrong = (actual != expected) & ~(np.isnan(actual) & np.isnan(expected))
    return list(patterns(expected, actual, wrong))


def with_number(cut: object, number: float) -> np.ndarray:
    made = X.copy()
    made[cut] = number
    return made


@pytest.mark.parametrize(
    ("actual", "words"),
    [
        (with_number(np.s_[..., 7:], 0), [NOT_WRITTEN.format("columns 7 to 9", 0)]),
        (with_number(np.s_[:, 4:], BEFORE), [NOT_WRITTEN.format("channels 4 to 7", "nan")]),
        (with_number(np.s_[:, 4:], np.nan), []),  # a NaN that operations give
        (with_number(np.s_[:, 4:], -0.0), []),
        (np.zeros_like(X), [NOT_WRITTEN.format("the output", 0)]),
        (X[:1].repeat(4, 0), ["every batch seems to be the first batch again"]),
        (X[:, np.arange(8) % 4], ["every channel seems to be the first 4 channels again"]),
        (
            X[..., [0, 2, 1, 3, 4, 6, 5, 7, 8, 9]],
            ["the second and third element of each vector of four in a row seem to be exchanged"],
        ),
        (X[..., ::-1], []),
        (with_number((0, 0, 0, 0), 7), []),  # one element proves nothing
    ],
)
def test_a_pattern_of_floats_has_words(actual: np.ndarray, words: list[str]) -> None:
    assert found(X, actual) == words


def test_what_is_not_written_may_have_right_zeros() -> None:
    expected = np.maximum(X, 0)
    actual = expected.copy()
    actual[2:] = 0
    assert found(expected, actual) == [NOT_WRITTEN.format("batches 2 to 3", 0)]


def test_indices_that_are_0_by_chance_are_not_taken_for_unwritten() -> None:
    assert found(np.array([1, 5, 2, 1, 9, 4]), np.array([0, 5, 2, 0, 9, 4])) == []
    many = np.arange(2, 60)
    assert found(many, np.zeros_like(many)) == [NOT_WRITTEN.format("the output", 0)]


def test_integers_that_are_all_off_by_the_same_are_told() -> None:
    indices = np.array([3, 0, 7, 255, 9], np.uint8)
    assert found(indices, indices + np.uint8(1)) == ["every element is +1 off"]
    assert found(indices.astype(np.int32), indices.astype(np.int32) - 2) == ["every element is -2 off"]
    assert found(indices, np.array([4, 1, 8, 255, 10], np.uint8)) == []


def test_the_largest_number_in_the_place_of_infinity_is_told() -> None:
    expected = np.array([1, np.inf, -np.inf, np.inf, np.inf, 2], np.float16)
    assert found(expected, np.array([1, 65504, -65504, 65504, 65504, 2], np.float16)) == [
        "infinities seem to be replaced by the largest number"
    ]
    assert found(expected, np.array([1, 65504, -65504, 65504, 65504, 2.5], np.float16)) == []
    # Without an infinity, none is replaced, however close the results are.
    finite = np.array([1, 2, 3, 4], np.float16)
    assert found(finite, np.nextafter(finite, np.float16(9))) == []


def test_results_of_few_bits_say_how_many_are_right() -> None:
    actual = (X * (1 + np.where(np.arange(X.size) % 2, 2.0**-10, -(2.0**-10)).reshape(X.shape))).astype(np.float32)
    words = few_bits(X, actual, actual != X)
    assert words is not None
    assert words.startswith("results seem to be right in the first 9 bits only")
    assert few_bits(X, np.zeros_like(X), X != 0) is None
    assert few_bits(X, X * np.float32(1 + 2.0**-10), X != 0) is None  # one factor
    single = X.copy()
    single[0, 0, 0, :2] *= np.float32(1 + 2.0**-10)
    assert few_bits(X, single, single != X) is None  # one of many elements: no arithmetic
