"""The size formulas that rows of specs name, against small programs that count."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dmlcheck.specs import shapes

small = st.integers(1, 6)
few = st.integers(0, 3)


@settings(deadline=None)
@given(st.integers(1, 12), small, small, few, few, small)
def test_windows_are_counted_where_they_fit(
    size: int, window: int, stride: int, start: int, end: int, dilation: int
) -> None:
    padded = start + size + end
    offsets = [tap * dilation for tap in range(window)]
    fits = [place for place in range(0, padded, stride) if place + offsets[-1] < padded]
    assert shapes.window_count(size, window, stride, start, end, dilation) == (len(fits) or None)


@pytest.mark.parametrize("given", [(3, 2, 0, 0, 0), (3, 4, 1, 0, 0), (3, 0, 1, 0, 0)])
def test_no_window_fits(given: tuple[int, ...]) -> None:
    assert shapes.window_count(*given) is None


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (((1, 1, 5, 7), (3, 2), (1, 2), (0, 0), (0, 1)), (3, 4)),
        (((5, 7), (3, 2), (1, 2), (0, 0), (0, 1), (2, 1)), (1, 4)),
        (((9,), (3,), (2,), (1,), (1,)), (5,)),
        (((5, 7), (3,), (1, 2), (0, 0), (0, 1)), None),
        (((2, 2), (3, 3), (1, 1), (0, 0), (0, 0)), None),
    ],
)
def test_pooling_leaves_the_spatial_sizes(arguments: tuple[Any, ...], expected: tuple[int, ...] | None) -> None:
    assert shapes.pooled(*arguments) == expected


@pytest.mark.parametrize(
    ("output", "given", "expected"),
    [
        ((3, 4), ((2, 3, 6, 7), (3, 3), (2, 2), (1, 1), (0, 0)), (3, 4)),  # 8 columns: windows at 0, 2, 4 and a rest
        ((3, 3), ((2, 3, 6, 7), (3, 3), (2, 2), (1, 1), (0, 0)), (3, 3)),
        ((4, 5), ((2, 3, 6, 7), (3, 3), (2, 2), (1, 1), (0, 0)), (3, 3)),  # 7 rows have no rest
        ((5,), ((7,), (3,), (2,), (1,), (2,)), (4,)),  # the window at 8 would begin behind the input
        ((5,), ((8,), (3,), (2,), (1,), (1,)), (5,)),
        ((2,), ((6,), (2,), (1,), (0,), (0,), (3,)), (3,)),
        ((3,), ((6,), (2,), (2,), (0,), (0,), (3,)), (2,)),
        ((3,), ((7,), (2,), (2,), (0,), (0,), (3,)), (3,)),
        ((3,), ((2, 2), (3, 3), (1, 1), (0, 0), (0, 0)), None),
    ],
)
def test_pooled_sizes_may_be_rounded_up_where_a_rest_begins_before_the_end_padding(
    output: tuple[int, ...], given: tuple[Any, ...], expected: tuple[int, ...] | None
) -> None:
    assert shapes.pooled_like(output, *given) == expected


@settings(deadline=None)
@given(st.integers(1, 8), small, small, few, few, small)
def test_a_backward_convolution_makes_what_a_forward_one_came_from(
    size: int, window: int, stride: int, start: int, end: int, dilation: int
) -> None:
    made = shapes.transposed((size,), (window,), (stride,), (start,), (end,), (dilation,), (0,))
    if made is not None:
        assert shapes.pooled(made, (window,), (stride,), (start,), (end,), (dilation,)) == (size,)
        wider = shapes.transposed((size,), (window,), (stride,), (start,), (end,), (dilation,), (2,))
        assert wider == (made[0] + 2,)
    else:
        assert (size - 1) * stride + (window - 1) * dilation + 1 <= start + end


def test_a_backward_convolution_by_hand() -> None:
    """Two inputs at a stride of 3 spread a window of 3, dilated to 5, over 3 + 5 = 8 elements, less the padding."""
    assert shapes.transposed((1, 1, 2), (3,), (3,), (1,), (0,), (2,), (1,)) == (8 - 1 + 1,)
    assert shapes.transposed((2,), (3, 3), (3,), (1,), (0,), (2,), (1,)) is None


@pytest.mark.parametrize(
    ("sizes", "rank", "expected"),
    [
        ((2, 3), 4, (1, 1, 2, 3)),
        ((2, 3), 2, (2, 3)),
        ((1, 1, 2, 3), 3, (1, 2, 3)),
        ((2, 1, 3), 2, None),
        ((), 2, (1, 1)),
    ],
)
def test_sizes_are_aligned_to_the_right(sizes: tuple[int, ...], rank: int, expected: tuple[int, ...] | None) -> None:
    assert shapes.right_aligned(sizes, rank) == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        # The axis of the input is replaced by the dimensions of the indices.
        (((3, 4, 5), (1, 2, 6), 1, 2, 4), (3, 2, 6, 5)),
        (((3, 4, 5), (1, 1, 6), 1, 1, 3), (3, 6, 5)),
        (((1, 1, 5), (1, 2, 6), 2, 2, 3), (1, 2, 6)),
        (((3, 4, 5), (1, 1, 1), 0, 0, 3), (1, 4, 5)),
        (((3, 4, 5), (1, 2, 6), 3, 1, 3), None),
        (((3, 4, 5), (1, 2, 6), 0, 4, 3), None),
        (((3, 4, 5), (2, 6), 0, 2, 3), None),
    ],
)
def test_gather_replaces_an_axis(arguments: tuple[Any, ...], expected: tuple[int, ...] | None) -> None:
    assert shapes.gathered(*arguments) == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        # DML_GATHER_ND_OPERATOR_DESC's own numbers: tuples of 3 into {3, 4, 5, 6, 7}.
        (((3, 4, 5, 6, 7), (1, 1, 1, 2, 3), 5, 3, 5), (1, 1, 2, 6, 7)),
        (((2, 2), (2, 2), 2, 2, 2), (1, 2)),
        (((1, 2, 3), (1, 4, 1), 2, 2, 3), (1, 4, 3)),
        # One batch dimension: 2 batches, of 3 tuples of 1 each, into rows of 4 x 5.
        (((2, 4, 5), (2, 3, 1), 3, 3, 3, 1), (2, 3, 5)),
        (((2, 2), (2, 3), 2, 2, 2), None),
        (((2, 2), (2, 2), 3, 2, 2), None),
        (((2, 2), (2, 2), 2, 0, 2), None),
    ],
)
def test_gather_nd_takes_what_tuples_leave(arguments: tuple[Any, ...], expected: tuple[int, ...] | None) -> None:
    assert shapes.gathered_nd(*arguments) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (((2, 3), (2, 3)), (2, 3)),
        (((2, 1), (1, 3)), (2, 3)),
        (((3,), (2, 1)), (2, 3)),
        (((2, 3), (2, 4)), None),
        (((1,), (1, 1)), (1, 1)),
        ((), ()),
    ],
)
def test_shapes_are_broadcast(given: tuple[tuple[int, ...], ...], expected: tuple[int, ...] | None) -> None:
    assert shapes.broadcast(*given) == expected
