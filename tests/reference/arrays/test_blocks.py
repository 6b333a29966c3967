"""The cutting of tensors into blocks: every element once, in order, and never more than asked for at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from grouped import blocks_of
from hypothesis import given, settings
from hypothesis import strategies as st
from long_groups import in_blocks, numbered, shapes, shapes_and_axes, whole

from dmlcheck.reference.arrays import blocks
from dmlcheck.reference.arrays.blocks import Blocks, as_balls, as_numbers, blockwise, hull, in_rows, tiles, widened
from dmlcheck.reference.ball.numbers import Arithmetic, Ball, Condition

Array = np.ndarray[Any, Any]

anytime = settings(deadline=None)


# ---- tiles


@pytest.mark.slow
@anytime
@given(shapes, st.integers(1, 700))
def test_tiles_cover_every_element_once_in_order(sizes: tuple[int, ...], limit: int) -> None:
    tensor = numbered(sizes)
    seen = [place for index in tiles(sizes, limit) for place in tensor[index].reshape(-1).tolist()]
    assert seen == list(range(tensor.size))


@anytime
@given(shapes, st.integers(1, 700))
def test_tiles_respect_the_limit_and_fill_it(sizes: tuple[int, ...], limit: int) -> None:
    tensor = numbered(sizes)
    counts = [tensor[index].size for index in tiles(sizes, limit)]
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
    assert list(tiles(sizes, limit)) == expected


# ---- arrays in blocks


@anytime
@given(shapes_and_axes(), st.integers(1, 9))
def test_what_is_done_to_an_array_in_blocks_is_what_is_done_to_the_array(
    drawn: tuple[tuple[int, ...], tuple[int, ...]], block: int
) -> None:
    sizes, axes = drawn
    tensor = np.sin(numbered(sizes))
    x = in_blocks(tensor, axes, block)
    top = np.maximum.reduce(x, axis=axes, keepdims=True)
    assert top.tolist() == tensor.max(axis=axes, keepdims=True).tolist()
    assert whole(1 - x * x / 3).tolist() == (1 - tensor * tensor / 3).tolist()
    assert whole(np.where(x == top, 2.0, x - top)).tolist() == np.where(tensor == top, 2.0, tensor - top).tolist()
    assert whole(np.clip(x, -0.5, 0.5)).tolist() == np.clip(tensor, -0.5, 0.5).tolist()
    assert whole(top - x).tolist() == (top - tensor).tolist()
    assert (x.size, x.ndim) == (tensor.size, tensor.ndim)


def test_nothing_is_computed_before_it_is_needed_and_only_the_block_that_is() -> None:
    seen: list[Any] = []

    def block(index: Any) -> Any:
        seen.append(index)
        return np.ones((2, 1))

    cuts = [(slice(None), slice(k, k + 1)) for k in range(3)]
    x = np.exp(2 * Blocks((2, 3), cuts, block))
    assert seen == []
    assert x.block(cuts[1]).shape == (2, 1)
    assert seen == [cuts[1]]


def test_a_block_may_be_of_tracked_numbers_on_either_side_of_an_operation() -> None:
    tensor = np.arange(12.0).reshape(2, 6)
    x = blockwise(lambda part: Ball(part, 0.5, Arithmetic()), in_blocks(tensor, (1,), 3))
    two = Ball(np.full((2, 1), 2.0), 0.25, Arithmetic())
    for result in (two * x, x * two, np.where(two < 1, two, x * two), np.where(x >= 0, x * two, two)):
        part = result.block(x.cuts[1])
        assert part.value.tolist() == [[6, 8, 10], [18, 20, 22]]
        assert (part.radius >= 0.25 * tensor[:, 3:]).all()
    assert isinstance((two < x).block(x.cuts[0]), Condition)


def test_what_an_array_in_blocks_does_not_know_is_refused() -> None:
    x = in_blocks(np.ones((2, 4)), (1,), 2)
    with pytest.raises(TypeError):
        np.add.accumulate(x, axis=1)
    with pytest.raises(TypeError):
        np.max(x)  # block by block it would be the largest element of each


# ---- places in groups


def test_rows_hold_the_groups_in_order_and_are_a_view_where_the_axes_are_last() -> None:
    tensor = numbered((2, 3, 4))
    assert in_rows(tensor, (2, 0)).tolist() == np.moveaxis(tensor, 1, 0).reshape(3, 8).tolist()
    assert in_rows(tensor, ()).shape == (24, 1)
    assert np.shares_memory(in_rows(tensor, (2, 1)), tensor)


def test_another_way_to_compute_widens_the_bound_and_nothing_else() -> None:
    tensor = numbered((2, 3)).astype(np.float64)
    parts = in_blocks(tensor, (1,), 2)
    narrow, wide = (blockwise(lambda part, by=by: Ball(part, by), parts) for by in (0.5, 2.0))
    found = hull(lambda: narrow, lambda: blockwise(np.add, wide, 1))
    for part, plain in zip(found.parts(), parts.parts(), strict=True):
        assert part.value - part.radius == pytest.approx(plain - 1, abs=1e-6)
        assert part.value + part.radius == pytest.approx(plain + 3, abs=1e-6)
    assert hull(lambda: tensor, lambda: pytest.fail("computed where there is no bound")) is tensor
    untouched = hull(lambda: parts, lambda: pytest.fail("computed where there is no bound"))
    assert [part.tolist() for part in untouched.parts()] == [part.tolist() for part in parts.parts()]


def test_runs_follow_each_other_and_have_every_element_once() -> None:
    with blocks_of(7):
        found = list(blocks.runs((3, 4, 5)))
    numbers = np.arange(60).reshape(3, 4, 5)
    assert [start for _, start, _ in found] == [int(numbers[index].reshape(-1)[0]) for index, _, _ in found]
    assert [sizes for _, _, sizes in found] == [numbers[index].shape for index, _, _ in found]
    assert np.concatenate([numbers[index].reshape(-1) for index, _, _ in found]).tolist() == list(range(60))


def test_ranges_are_the_places_of_an_index() -> None:
    assert blocks.ranges((slice(None), slice(1, 9), slice(2, 3)), (4, 5, 6)) == [range(4), range(1, 5), range(2, 3)]


# ---- operands in the numbers that are computed with
SINGLE = Arithmetic("FLOAT32", "FLOAT32", 2.0**-24, 2.0**-149)


@pytest.mark.parametrize(
    ("given", "wide"),
    [("float16", "float64"), ("float32", "float64"), ("int8", "int64"), ("uint32", "uint64"), ("bool", "uint64")],
)
def test_elements_are_computed_in_64_bits(given: str, wide: str) -> None:
    assert widened(np.ones(2, given)).dtype == wide
    assert widened(None) is None


def test_blocks_are_widened_one_by_one() -> None:
    x = np.arange(4, dtype=np.float32)
    found = widened(Blocks((4,), [(slice(0, 2),), (slice(2, 4),)], x.__getitem__))
    assert [(part.dtype, part.tolist()) for part in found.parts()] == [("float64", [0, 1]), ("float64", [2, 3])]


def test_other_numbers_are_made_of_wide_ones() -> None:
    assert as_numbers(np.float32([1, 2]), lambda x: (x.dtype.name, x.tolist())) == ("float64", [1, 2])


def test_floats_are_tracked_unless_the_formula_rounds_nothing() -> None:
    x = np.ones(2, np.float32)
    assert isinstance(as_balls(x, SINGLE), Ball)
    assert as_balls(x, SINGLE, is_exact=True) is x
    assert as_balls(np.ones(2, np.int8), SINGLE).dtype == np.int64


def test_each_tensor_of_a_list_is_an_operand() -> None:
    x = [np.ones(2, np.float32), np.ones(2, np.int8)]
    assert [part.dtype for part in as_numbers(x, None)] == [np.float64, np.int64]
    floats, integers = as_balls(x, SINGLE)
    assert isinstance(floats, Ball)
    assert integers.dtype == np.int64
    assert as_balls(x, SINGLE, is_exact=True)[0] is x[0]
