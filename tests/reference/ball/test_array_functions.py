"""NumPy's functions of arrays on balls: joining, padding, positions, choices."""

from __future__ import annotations

import math

import numpy as np
import pytest
from balls import as_balls

from dmlcheck.reference.ball.numbers import radius

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
