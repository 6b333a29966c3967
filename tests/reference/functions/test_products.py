"""Products of matrices in the ways in which implementations may compute them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dmlcheck.reference.arrays.blocks import Blocks
from dmlcheck.reference.ball.numbers import Arithmetic, Ball, radius
from dmlcheck.reference.functions.nested import NONE
from dmlcheck.reference.functions.products import (
    absolute,
    dequantized_dot,
    dot,
    magnitudes_of_products,
    of_convolution,
    of_gemm,
    plus,
    scaled_dot,
    with_or_without,
)

A, B = np.array([[1.0, -2.0]], np.float32), np.array([[3.0], [0.5]], np.float32)
NAN = np.nan


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


# ---- magnitudes
GEMM: dict[str, Any] = {"fused_activation": NONE, "alpha": 0.5, "beta": 2.0, "c": None}


def test_factors_in_blocks_have_the_same_magnitudes() -> None:
    in_blocks = Blocks((1, 2), [(..., slice(0, 1)), (..., slice(1, 2))], A.__getitem__)
    other = Blocks((2, 1), [(slice(0, 1),), (slice(1, 2),)], B.__getitem__)
    assert absolute(in_blocks, other).tolist() == absolute(A, B).tolist() == [[4]]


def test_the_magnitudes_of_sums_have_their_factors() -> None:
    found = magnitudes_of_products(A, B, np.array([[-5.0]], np.float32), alpha=-0.5, beta=2.0)
    assert (found.sums.tolist(), found.products, found.added, found.terms) == ([[12.0]], 2, 10.0, 3)
    assert magnitudes_of_products(A, B, None, alpha=1, beta=0).sums.tolist() == [[4]]


def test_those_of_gemm_and_of_a_convolution_have_the_factors_of_the_desc() -> None:
    of_products = of_gemm(GEMM)
    assert of_products is not None
    assert of_products(A, B, None).sums.tolist() == [[2]]
    of_windows = of_convolution({"fused_activation": NONE})
    assert of_windows is not None
    assert of_windows(input=B, filter=A, bias=np.array([[-1.0]])).sums.tolist() == [[5]]


@pytest.mark.parametrize("change", [{"fused_activation": abs}, {"alpha": 0.0}, {"c": A, "beta": 0.0}])
def test_results_that_are_not_these_sums_have_none(change: dict[str, Any]) -> None:
    assert of_gemm(GEMM | change) is None
    assert (of_convolution(GEMM | change) is None) == ("fused_activation" in change)


def test_a_left_out_c_may_have_any_factor() -> None:
    assert of_gemm(GEMM | {"beta": 0.0}) is not None
