"""Balls and conditions as arrays: moved, combined, and never turned into plain arrays by chance."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from balls import as_balls

from dmlcheck.reference.ball.numbers import Ball, Condition, NoBound, radius


def test_conditions_combine_like_their_possible_values() -> None:
    yes, no, maybe = Condition(True), Condition(False), Condition(True, doubt=True)
    assert (yes & maybe).doubt
    assert not (no & maybe).doubt
    assert not (yes | maybe).doubt
    assert (no | maybe).doubt
    assert (maybe ^ maybe).doubt
    assert (~maybe).doubt
    assert not bool(~maybe)
    both = Condition(np.array([True, True]), np.array([True, True]))
    assert (np.array([True, False]) & both).doubt.tolist() == [True, False]
    row = Condition(np.array([False, True]), np.array([True, False]))
    assert not row.any().doubt
    assert row.all().doubt
    assert np.any(row, axis=0).value


def test_a_condition_is_a_number_in_arithmetic() -> None:
    found = (as_balls(1, -1, 1e-9, radius=1e-8) > 0) * as_balls(5, 5, 5) + 1
    assert found.value.tolist() == [6, 1, 6]
    assert found.radius == pytest.approx([0, 0, 5])
    assert (as_balls(1, -1) > 0).astype(np.int8).tolist() == [1, 0]
    assert np.logical_not(as_balls(0, 2)).value.tolist() == [True, False]


def test_conditions_are_moved_like_numbers() -> None:
    claims = as_balls(1e-9, 1, radius=1e-8) > 0
    assert claims[::-1].doubt.tolist() == [False, True]
    assert np.flip(claims).doubt.tolist() == [False, True]
    assert as_balls(1, 2, radius=0.5)[as_balls(1, 2) > 1].value.tolist() == [2]


def test_moving_elements_moves_their_errors() -> None:
    x = Ball(np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3) / 10)
    moves: list[Callable[[Any], Any]] = [
        lambda x: x[1],
        lambda x: x[:, ::-1],
        lambda x: x[..., None],
        lambda x: x[np.array([0, 1]), np.array([2, 0])],
        lambda x: x[np.array([[True, False, True], [False, False, True]])],
        lambda x: x.T,
        lambda x: x.reshape(3, 2),
        lambda x: x.reshape((6,)),
        lambda x: np.reshape(x, (3, -1)),
        lambda x: x.transpose(1, 0),
        lambda x: np.swapaxes(x, 0, 1),
        lambda x: np.moveaxis(x, 0, 1),
        lambda x: np.flip(x, 1),
        lambda x: np.take(x, [2, 0], axis=1),
        lambda x: np.take_along_axis(x, np.array([[0, 1, 1], [2, 2, 0]]), axis=1),
        lambda x: np.broadcast_to(x, (4, 2, 3)),
        lambda x: np.expand_dims(x, 0),
        lambda x: np.repeat(x, 2, axis=0),
        lambda x: np.tile(x, (2, 2)),
        lambda x: np.roll(x, 1, axis=1),
        lambda x: np.concatenate([x, x[:, :1]], axis=1),
        lambda x: np.stack([x, x], axis=-1),
        lambda x: np.split(x, 3, axis=1)[1],
        lambda x: np.array_split(x, 2, axis=1)[0],
        lambda x: np.lib.stride_tricks.sliding_window_view(x, 2, axis=1),
        lambda x: np.pad(x, ((0, 0), (1, 2))),
        lambda x: list(x)[1],
    ]
    for number, move in enumerate(moves):
        found = move(x)
        assert np.array_equal(found.value, move(x.value)), number
        assert np.array_equal(found.radius, move(x.radius)), number


def test_balls_may_be_moved_around_other_numbers() -> None:
    found = Ball([9.0, 9], [0.25, 0.75], terms=3).around([1.0, 2])
    assert (found.value.tolist(), found.radius.tolist(), found.terms) == ([1, 2], [0.25, 0.75], 3)
    assert Ball([9.0]).around([1.0]).is_exact


def test_a_ball_is_exact_if_it_was_made_without_a_radius() -> None:
    assert Ball([1.0]).is_exact
    assert Ball([1.0], None).radius.tolist() == [0]
    assert not Ball([1.0], [0.0]).is_exact


def test_moving_denormals_flushes_nothing() -> None:
    x = Ball(np.float32([1e-39, 1]))
    assert not radius(x[::-1]).any()
    assert not radius(np.concatenate([x, x])).any()


def test_what_would_lose_the_errors_is_refused() -> None:
    """What arrays do not have either is a mistake, and no lack of a bound."""
    x = as_balls(1)
    wide = np.zeros(1)
    uses = (bool, float, np.asarray, lambda x: x.astype(np.float32), np.var, lambda x: np.add(x, 1, out=wide))
    for use in (*uses, np.flatnonzero, np.gcd.reduce, lambda x: x.view(np.uint8), lambda x: x.flat[0]):
        with pytest.raises(NoBound):
            use(x)
    for use in (
        np.asarray,
        np.stack,
        lambda x: x.transpose(),
        lambda x: wide[x],
        lambda x: np.logical_and(x, x, out=x),
    ):
        with pytest.raises(NoBound):
            use(x > 0)
    for each in (x, x > 0):
        with pytest.raises(AttributeError, match="has no attribute flats"):
            each.flats  # noqa: B018 - asked for by mistake


# ---- NumPy's functions of arrays
INF = math.inf


def test_what_is_put_beside_tracked_numbers_is_exact() -> None:
    x = as_balls(1, 2, radius=0.5)
    assert radius(np.concatenate([x, np.ones(1)])).tolist() == [0.5, 0.5, 0]
    padded = np.pad(x, (1, 0), constant_values=-INF)
    assert padded.value.tolist() == [-INF, 1, 2]
    assert padded.radius.tolist() == [0, 0.5, 0.5]


def test_places_and_tests_are_those_of_the_values() -> None:
    x = as_balls(3, 1, 2, radius=0.5)
    assert np.argmax(x) == 0
    assert np.argsort(x).tolist() == [1, 2, 0]
    assert np.isnan(x).tolist() == [False] * 3
    assert np.isposinf(x).tolist() == [False] * 3
    assert np.shape(x) == (3,)
    assert np.zeros_like(x).tolist() == [0, 0, 0]


def test_clip_and_select_are_choices() -> None:
    x = as_balls(-1, 0.5, 2, radius=0.1)
    assert np.clip(x, 0, 1).value.tolist() == [0, 0.5, 1]
    assert np.clip(x, 0, 1).radius == pytest.approx([0, 0.1, 0])
    assert np.clip(x, None, 1).value.tolist() == [-1, 0.5, 1]
    found = np.select([x < 0, x < 1], [0.0, x], 9.0)
    assert found.value.tolist() == [0, 0.5, 9]
