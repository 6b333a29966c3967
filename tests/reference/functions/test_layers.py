"""Columns that fall back on the places of a tensor: every element once, and none of a layer on another."""

from __future__ import annotations

import numpy as np

from dmlcheck.reference.functions.phases import depth_of, layers_at
from dmlcheck.reference.functions.windows import Window


def test_columns_fall_on_their_places_in_layers() -> None:
    """Windows of 2 at places 0, 1 and 2 of 4: two elements fall on each place between."""
    window = Window((2,), (1,), (1,), (0,))
    x = np.array([[1, 2, 3], [10, 20, 30]]).reshape(1, 1, 2, 3)
    assert depth_of(window) == 2
    layers = layers_at(x, [range(1), range(1), range(4)], window, (3,))
    assert [layer.reshape(-1).tolist() for layer in layers] == [[1, 2, 3, 0], [0, 10, 20, 30]]
    (first, second) = layers_at(x, [range(1), range(1), range(1, 3)], window, (3,))
    assert (first + second).reshape(-1).tolist() == [12, 23]


def test_windows_that_do_not_meet_have_one_layer() -> None:
    window = Window((2,), (3,), (1,), (0,))
    assert depth_of(window) == 1
    (layer,) = layers_at(np.array([[1, 2], [3, 4]]).reshape(1, 1, 2, 2), [range(1), range(1), range(5)], window, (2,))
    assert layer.reshape(-1).tolist() == [1, 3, 0, 2, 4]


def test_where_nothing_falls_there_is_0() -> None:
    (layer,) = layers_at(np.ones((1, 1, 1, 1)), [range(1), range(1), range(3, 5)], Window((1,), (1,), (1,), (0,)), (1,))
    assert layer.reshape(-1).tolist() == [0, 0]
