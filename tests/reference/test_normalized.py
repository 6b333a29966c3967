"""Normalized elements in the ways in which implementations compute them: each is within the radius, and no more."""

from __future__ import annotations

from typing import Any

import numpy as np

from dmlcheck.reference.ball.numbers import Arithmetic, Ball
from dmlcheck.reference.nested import NONE
from dmlcheck.reference.normalized import affine, fused_within, quotients
from dmlcheck.reference.pieces import Alternatives
from dmlcheck.reference.tiling.blocks import Blocks

Array = np.ndarray[Any, Any]


def floats(*values: float) -> Array:
    return np.array(values, np.float32)


def test_factors_may_come_before_the_mean_is_subtracted() -> None:
    generator = np.random.default_rng(1)
    x = (generator.normal(size=1000) + 1000).astype(np.float32)
    centre, factor, bias = floats(1000), floats(1.3), floats(0.1)
    first = factor * (x - centre) + bias
    second = factor * x + (bias - centre * factor)
    found = affine(*(Ball(part, 0.0, Arithmetic()) for part in (x, centre, factor, bias)))
    exact = affine(*(part.astype(float) for part in (x, centre, factor, bias)))
    assert np.allclose(found.value, exact, rtol=1e-15, atol=0)
    for way in (first, second):
        assert (np.abs(way - found.value) <= found.radius).all()
    assert np.abs(second - found.value).max() > 100 * np.abs(first - found.value).max()
    assert found.radius.max() < 2e-3


def limited(radius: float, epsilon: float, x: float = 0.5) -> Any:
    ball = Ball(np.array([x]), np.array([radius]), Arithmetic())
    return fused_within(ball, 2.0, 1.0, None, 9, epsilon, NONE)


def test_a_radius_has_no_more_than_an_element_can_be() -> None:
    """Of 9 elements none is further than 3 standard deviations from the mean: 2 * 3 + 1 from 0."""
    found = limited(100, 0.1)
    assert found.radius.tolist() == [7.5]
    assert found.unlimited.tolist() == [True]
    assert limited(7, 0.1).radius.tolist() == [7]
    assert limited(7, 0.1).unlimited is None
    assert limited(100, -0.1).radius.tolist() == [100]


def test_what_is_added_comes_after_the_limit() -> None:
    ball = Ball(np.array([0.5]), np.array([100.0]), Arithmetic())
    found = fused_within(ball, 2.0, 1.0, np.array([1000.0]), 9, 0.1, NONE)
    assert found.value.tolist() == [1000.5]
    assert 7.5 <= found.radius[0] < 7.501
    assert fused_within(np.array([0.5]), 2.0, 1.0, np.array([3.0]), 9, 0.1, NONE).tolist() == [3.5]


def test_each_divisor_is_right_in_blocks_too() -> None:
    x = np.array([[6.0, 12.0, 18.0]])
    found = quotients(x, np.array([[2.0]]), np.array([[3.0]]), np.array([[2.0]]))
    assert isinstance(found, Alternatives)
    assert [way.tolist() for way in found.ways] == [[[3, 6, 9]], [[2, 4, 6]]]
    assert quotients(x, np.array([[2.0]])).tolist() == [[3, 6, 9]]
    blocks = Blocks(x.shape, [(slice(None), slice(0, 2)), (slice(None), slice(2, 3))], x.__getitem__)
    parts = list(quotients(blocks, np.array([[2.0]]), np.array([[3.0]])).parts())
    assert [[way.tolist() for way in part.ways] for part in parts] == [[[[3, 6]], [[2, 4]]], [[[9]], [[6]]]]
