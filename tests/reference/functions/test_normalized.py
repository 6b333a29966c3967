"""Normalized elements in the ways in which implementations compute them: each is within the radius, and no more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dmlcheck.reference.arrays.blocks import Blocks
from dmlcheck.reference.ball.numbers import Arithmetic, Ball
from dmlcheck.reference.functions.nested import NONE
from dmlcheck.reference.functions.normalized import affine, centred_gradient, fused_within, moment, quotients
from dmlcheck.reference.results import Alternatives

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
    ball = Ball(np.full(9, x), np.full(9, radius), Arithmetic())
    return fused_within(ball, np.zeros(1), 2.0, 1.0, None, epsilon, NONE)


def test_a_radius_has_no_more_than_an_element_can_be() -> None:
    """Of 9 elements none is further than 3 standard deviations from the mean: 2 * 3 + 1 from 0."""
    found = limited(100, 0.1)
    assert found.radius.tolist() == [7.5] * 9
    assert found.unlimited.all()
    assert limited(7, 0.1).radius.tolist() == [7] * 9
    assert limited(7, 0.1).unlimited is None
    assert limited(100, -0.1).radius.tolist() == [100] * 9


def test_what_is_added_comes_after_the_limit() -> None:
    centre, ball = np.zeros(1), Ball(np.full(9, 0.5), np.full(9, 100.0), Arithmetic())
    found = fused_within(ball, centre, 2.0, 1.0, np.array([1000.0]), 0.1, NONE)
    assert found.value.tolist() == [1000.5] * 9
    assert 7.5 <= found.radius[0] < 7.501
    assert fused_within(np.array([0.5]), centre, 2.0, 1.0, np.array([3.0]), 0.1, NONE).tolist() == [3.5]


def test_each_divisor_is_right_in_blocks_too() -> None:
    x = np.array([[6.0, 12.0, 18.0]])
    found = quotients(x, np.array([[2.0]]), np.array([[3.0]]), np.array([[2.0]]))
    assert isinstance(found, Alternatives)
    assert [way.tolist() for way in found.ways] == [[[3, 6, 9]], [[2, 4, 6]]]
    assert quotients(x, np.array([[2.0]])).tolist() == [[3, 6, 9]]
    blocks = Blocks(x.shape, [(slice(None), slice(0, 2)), (slice(None), slice(2, 3))], x.__getitem__)
    parts = list(quotients(blocks, np.array([[2.0]]), np.array([[3.0]])).parts())
    assert [[way.tolist() for way in part.ways] for part in parts] == [[[[3, 6]], [[2, 4]]], [[[9]], [[6]]]]


def test_moments_may_be_taken_about_0_first() -> None:
    generator = np.random.default_rng(3)
    x = (generator.normal(size=(50, 1)) + 100).astype(np.float32)
    dy, point = generator.normal(size=(50, 1)).astype(np.float32), floats(100).reshape(1, 1)
    sums = dy.sum(axis=0, keepdims=True)
    balls = [Ball(part, 0.0, Arithmetic()) for part in (x, dy, point)]
    found = moment(*balls, balls[1].sum(0, keepdims=True), (0,))
    exact = (dy.astype(float) * (x.astype(float) - 100)).sum()
    assert moment(x.astype(float), dy.astype(float), point, None, (0,)).item() == pytest.approx(exact, rel=1e-13)
    for way in ((dy * (x - point)).sum(), (dy * x).sum() - point * sums):
        assert abs(float(way.item()) - found.value.item()) <= found.radius.item()
    assert found.radius.item() < 0.1


def test_a_gradient_may_be_about_either_point() -> None:
    x, centred, one = np.array([1.0, 2, 4]), np.array([0.5, 0, -1]), (2.0, 3.0)
    assert centred_gradient(x, centred, 10.0, one, (2.5, 3.0), False).tolist() == [35, 0, -70]
    found = centred_gradient(Ball(x, 0.0, Arithmetic()), centred, 10.0, one, (2.5, 3.0), False)
    assert np.allclose(found.value, [42.5, 7.5, -62.5])
    assert np.allclose(found.radius, 7.5, rtol=1e-4)


def test_where_it_says_so_a_gradient_is_about_the_second_point() -> None:
    x, centred, by_second = np.array([1.0, 2, 4]), np.array([0.5, 0, -1]), np.array([False, True, False])
    assert centred_gradient(x, centred, 10.0, (2.0, 3.0), (2.5, 3.0), by_second).tolist() == [35, 15, -70]
