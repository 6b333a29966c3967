"""Tiles of what windows see: every place once, with what the window sees there, and no more than needed."""

from __future__ import annotations

import numpy as np
import pytest
from seen_windows import WINDOWS, seen

from dmlcheck.reference.arrays.blocks import Blocks
from dmlcheck.reference.ball.numbers import Ball
from dmlcheck.reference.functions.neighbours import region
from dmlcheck.reference.functions.windows import Window, over, windows
from dmlcheck.reference.tiling import windows as of_windows
from dmlcheck.reference.tiling.windows import in_blocks, of_channels, views


def test_beyond_the_edges_is_a_number_of_each_channel() -> None:
    x, fill = np.arange(6).reshape(1, 2, 3), np.array([7, 9]).reshape(1, 2, 1)
    found = {
        str(index[1]): under.tolist() for index, _, under in views(x, Window((2,), (2,), (1,), (1,)), (1, 2, 2), fill)
    }
    assert found == {str(slice(None)): [[[7, 0, 1, 2], [9, 3, 4, 5]]]}


@pytest.mark.parametrize("block", [1, 4, 30, 1 << 16])
def test_every_place_is_in_one_part_of_an_output_with_what_the_window_sees_there(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_windows, "BLOCK", block)
    for sizes, window, counts in WINDOWS:
        if 0 in window.size:
            continue
        x = np.random.default_rng(1).normal(size=(2, 3, *sizes))
        whole = [slice(0, count) for count in counts]
        right = seen(x, whole, window, 0)
        found = np.full((2, 3, *counts), np.nan)
        for index, own, under in views(x, window, (2, 3, *counts), is_whole=True):
            assert np.isnan(found[index]).all()
            assert windows(under, own).tolist() == right[index].tolist()
            found[index] = over(np.maximum, under, own)
        assert found.tolist() == right.reshape(*found.shape, -1).max(axis=-1).tolist()


def test_long_runs_take_no_longer_than_short_ones() -> None:
    """70,000 places that see up to 70,000 elements each: 5e9 terms one by one."""
    x, window = np.ones((1, 70_000)), region((1, 70_000), (1,), (34_999, 34_999)).window
    counts = [
        count for _, own, under in views(x, window, x.shape, is_reduced=True) for count in over(np.add, under, own)[0]
    ]
    assert counts[:3] + counts[-1:] == [35_000, 35_001, 35_002, 35_000]
    assert len(list(views(x, window, x.shape, is_reduced=True))) < 5


def test_one_place_that_sees_much_comes_in_blocks() -> None:
    x, window = np.broadcast_to(np.float32(1), (1, 3 << 20)), Window((3 << 20,), (1,), (1,), (0,))
    ((_, own, under),) = views(x, window, (1, 1), is_reduced=True)
    assert isinstance(in_blocks(under, own), Blocks)
    assert over(np.add, in_blocks(under, own), own).tolist() == [[3 << 20]]


def test_numbers_of_channels_lie_beside_a_tensor() -> None:
    assert of_channels(np.arange(3), 4).shape == (1, 3, 1, 1)
    assert of_channels(None, 4) is None
    assert of_channels(0, 4) == 0


def test_numbers_of_each_channel_may_have_errors() -> None:
    x = Ball(np.array([1.0, 2.0]), np.array([0.5, 0.0]))
    made = of_channels(x, 3)
    assert made.shape == (1, 2, 1)
    assert made.radius.reshape(-1).tolist() == [0.5, 0.0]
