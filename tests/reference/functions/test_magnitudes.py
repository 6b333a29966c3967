"""The magnitudes of sums of products, by hand, and which sums have them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dmlcheck.reference.arrays.blocks import Blocks
from dmlcheck.reference.functions.nested import NONE
from dmlcheck.reference.functions.products import absolute, magnitudes_of_products, of_convolution, of_gemm

A, B = np.array([[1.0, -2.0]], np.float32), np.array([[3.0], [0.5]], np.float32)
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
