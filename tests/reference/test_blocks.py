"""The cutting of tensors into blocks: every element once, in order, and never more than asked for at a time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dmlcheck.reference.kernels import _blocks

Array = np.ndarray[Any, Any]

anytime = settings(deadline=None)
shapes = st.lists(st.integers(1, 5), max_size=5).map(tuple)


def numbered(sizes: tuple[int, ...]) -> Array:
    """Return a tensor whose elements are their own places in row-major order."""
    return np.arange(math.prod(sizes)).reshape(sizes)


@anytime
@given(shapes, st.integers(1, 700))
def test_tiles_cover_every_element_once_in_order(sizes: tuple[int, ...], limit: int) -> None:
    tensor = numbered(sizes)
    seen = [place for index in _blocks.tiles(sizes, limit) for place in tensor[index].reshape(-1).tolist()]
    assert seen == list(range(tensor.size))


@anytime
@given(shapes, st.integers(1, 700))
def test_tiles_respect_the_limit_and_fill_it(sizes: tuple[int, ...], limit: int) -> None:
    tensor = numbered(sizes)
    counts = [tensor[index].size for index in _blocks.tiles(sizes, limit)]
    assert max(counts) <= limit
    if tensor.size <= limit:
        assert counts == [tensor.size]


@pytest.mark.parametrize(
    ("sizes", "limit", "expected"),
    [
        ((), 1, [()]),
        ((3,), 3, [()]),
        ((3,), 2, [(slice(0, 2),), (slice(2, 4),)]),
        ((2, 3), 6, [()]),
        ((2, 3), 5, [(slice(0, 1),), (slice(1, 2),)]),
        ((2, 3), 2, [(0, slice(0, 2)), (0, slice(2, 4)), (1, slice(0, 2)), (1, slice(2, 4))]),
        ((4, 3), 7, [(slice(0, 2),), (slice(2, 4),)]),
    ],
)
def test_tiles_of_small_tensors(sizes: tuple[int, ...], limit: int, expected: list[Any]) -> None:
    assert list(_blocks.tiles(sizes, limit)) == expected


@pytest.mark.parametrize(
    ("axes", "order"),
    [((), (0, 1, 2)), ((0,), (1, 2, 0)), ((2, 0), (1, 0, 2)), ((1, 2), (0, 1, 2)), ((2, 1, 0), (0, 1, 2))],
)
def test_grouped_puts_the_axes_last_in_the_order_of_the_dimensions(
    axes: tuple[int, ...], order: tuple[int, ...]
) -> None:
    tensor = numbered((2, 3, 4))
    found, view = _blocks.grouped(tensor, axes)
    assert found == order
    assert view.shape == tuple(tensor.shape[axis] for axis in order)
    assert np.shares_memory(view, tensor)
    assert view.tolist() == np.transpose(tensor, order).tolist()


@anytime
@given(shapes, st.integers(0, 5), st.integers(1, 40))
def test_rows_hold_every_element_once_in_order(sizes: tuple[int, ...], count: int, block: int) -> None:
    count = min(count, len(sizes))
    tensor = numbered(sizes)
    length = math.prod(sizes[len(sizes) - count :])
    seen = np.full((tensor.size // length, length), -1)
    places = np.arange(tensor.size // length).reshape(sizes[: len(sizes) - count])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_blocks, "BLOCK", block)
        for index, group in _blocks.rows(tensor, count):
            assert group.length == length
            end = 0
            for start, chunk in group.chunks():
                assert start == end
                assert chunk.size <= block
                end += chunk.shape[1]
                where = seen[np.atleast_1d(places[index]).reshape(-1), start:end]
                assert (where == -1).all()
                assert chunk.shape == where.shape
                seen[np.atleast_1d(places[index]).reshape(-1), start:end] = chunk
            assert end == length
    assert seen.reshape(-1).tolist() == list(range(tensor.size))


@anytime
@given(shapes, st.integers(0, 5), st.integers(1, 40))
def test_a_row_that_fits_into_a_block_comes_in_one_chunk(sizes: tuple[int, ...], count: int, block: int) -> None:
    count = min(count, len(sizes))
    length = math.prod(sizes[len(sizes) - count :])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_blocks, "BLOCK", block)
        chunks = [len(list(group.chunks())) for _, group in _blocks.rows(numbered(sizes), count)]
    assert (max(chunks) == 1) == (length <= block)


def test_the_chunks_of_a_row_can_be_gone_through_again() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_blocks, "BLOCK", 4)
        groups = [group for _, group in _blocks.rows(numbered((3, 2, 5)), 2)]
    for number, group in enumerate(groups):
        for _ in range(2):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(_blocks, "BLOCK", 4)
                elements = [element for _, chunk in group.chunks() for element in chunk.reshape(-1).tolist()]
            assert elements == list(range(number * 10, number * 10 + 10))


def test_rows_of_up_to_65536_elements_come_whole() -> None:
    tensor = np.broadcast_to(np.float32(1), (3, 65_536))
    groups = [group for _, group in _blocks.rows(tensor, 1)]
    assert [len(list(group.chunks())) for group in groups] == [1] * len(groups)
