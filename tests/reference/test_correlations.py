"""How convolutions are cut into pieces: every output once, none too large, and the same results."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from slow_convolution import convolved

from dmlcheck.reference import correlations
from dmlcheck.reference.correlations import Box, Pass, backward, beyond, forward, unmet
from dmlcheck.reference.windows import Window

Array = np.ndarray[Any, Any]
NAN, INF = float("nan"), float("inf")


def numbers(*sizes: int) -> Array:
    return np.random.default_rng(sum(sizes)).integers(-9, 10, sizes).astype(np.float32)


def plain(rows: Any, columns: Any, *_: Any) -> Any:
    return rows @ columns


def computed(x: Array, passes: Any, sizes: tuple[int, ...], formula: Any = plain, *more: Any, **options: Any) -> Array:
    """Return the results, each of which comes from one piece."""
    found = np.full(sizes, np.nan)
    for piece in correlations.correlations(formula, x, passes, *more, **options):
        target = found[piece.where]
        assert np.isnan(target).all()
        target[...] = np.asarray(piece.formula(*piece.operands)).reshape(target.shape)
    assert not np.isnan(found).any()
    return found


@pytest.fixture(params=[1, 7, 40, 1 << 20])
def largest(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Cut into parts of so many elements."""
    monkeypatch.setattr(correlations, "LARGEST", request.param)
    return int(request.param)


WINDOW = Window((2, 3), (2, 1), (1, 2), (1, 0))


@pytest.mark.usefixtures("largest")
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_pieces_of_any_size_have_the_same_results(direction: str) -> None:
    x, kernel = numbers(3, 2, 2, 4, 5), numbers(2, 3, 2, 2, 3)
    if direction == "forward":
        sizes, passes = (3, 6, 2, 1), forward(kernel, WINDOW, (2, 1))
        stored = kernel.reshape(6, 2, 2, 3)
    else:
        sizes, passes = (3, 6, 7, 9), backward(kernel, WINDOW, (7, 9))
        stored = kernel.swapaxes(1, 2).reshape(4, 3, 2, 3)
    right = convolved(x.reshape(3, 4, 4, 5), stored, sizes, *WINDOW[1:], groups=2, backward=direction == "backward")
    found = computed(x, passes, sizes)
    assert all(found[at] == value for at, value in right.items())


def test_no_part_is_large(largest: int) -> None:
    one = next(forward(numbers(2, 5, 2, 2, 3), WINDOW, (6, 4)))
    terms = 2 * 2 * 3
    boxes = list(correlations._boxes(one, 3))
    for box in boxes:
        outs = box.outputs.stop - box.outputs.start
        places = math.prod(at.stop - at.start for at in (box.batch, box.groups, *box.places))
        assert outs == 1 or outs * terms <= correlations.ROWS * largest
        assert places == 1 or places * terms <= largest
    assert len(boxes) == 1 or largest < 1 << 20


@pytest.mark.usefixtures("largest")
def test_other_tensors_come_in_the_parts_of_their_channels() -> None:
    x, kernel = numbers(2, 2, 1, 5), numbers(2, 3, 1, 1)
    channels, one = np.arange(6.0).reshape(2, 3, 1) * 100, np.full((1, 1, 1), 1000.0)

    def formula(rows: Any, columns: Any, bias: Any, none: Any, more: Any, mark: Any) -> Any:
        assert none is None
        assert mark is None
        return rows @ columns + bias + more

    window = Window((1,), (1,), (1,), (0,))
    found = computed(x, forward(kernel, window, (5,)), (2, 6, 5), formula, channels, None, one)
    right = computed(x, forward(kernel, window, (5,)), (2, 6, 5)) + np.arange(6).reshape(6, 1) * 100 + 1000
    assert (found == right).all()


def test_padding_is_what_fills_it() -> None:
    window = Window((2,), (1,), (1,), (1,))
    x, kernel = numbers(1, 1, 1, 2), np.array([1.0, 10]).reshape(1, 1, 1, 2)
    found = computed(x, forward(kernel, window, (3,)), (1, 1, 3), fill=7)
    first, second = x.reshape(-1).tolist()
    assert found.reshape(-1).tolist() == [7 + 10 * first, first + 10 * second, second + 70]


def test_the_passes_of_a_backward_convolution_take_the_filter_apart() -> None:
    kernel = np.arange(5.0).reshape(1, 1, 1, 5)
    passes = list(backward(kernel, Window((5,), (2,), (1,), (0,)), (7,)))
    assert [one.filter.reshape(-1).tolist() for one in passes] == [[4, 2, 0], [3, 1]]
    assert [(one.first, one.steps, one.counts) for one in passes] == [((0,), (2,), (4,)), ((1,), (2,), (3,))]
    assert [one.window for one in passes] == [Window((3,), (1,), (1,), (2,)), Window((2,), (1,), (1,), (1,))]


def test_an_output_that_meets_no_element_of_the_filter_is_0() -> None:
    x, kernel = np.ones((1, 1, 1, 2)), np.ones((1, 1, 1, 1))
    found = computed(x, backward(kernel, Window((1,), (3,), (1,), (0,)), (5,)), (1, 1, 5))
    assert found.reshape(-1).tolist() == [1, 0, 0, 1, 0]


# ---- marks


def box(count: int, start: int = 0, outs: int = 1) -> Box:
    return Box(slice(0, 1), slice(0, 1), slice(0, outs), [slice(start, start + count)])


def test_places_beyond_an_end_are_those_of_the_output() -> None:
    one = Pass(None, WINDOW, (1,), (3,), (9,))
    assert beyond(one, box(4), [7]).tolist() == [False, False, True, True]
    assert beyond(one, box(2, start=2), [8]).tolist() == [False, True]
    assert beyond(one, box(4), [None]).tolist() == [False] * 4
    both = Pass(None, WINDOW, (0, 0), (1, 1), (2, 2))
    places = [slice(0, 2), slice(0, 2)]
    found = beyond(both, Box(slice(0, 1), slice(0, 1), slice(0, 1), places), [1, 1])
    assert found.tolist() == [False, True, True, True]


@pytest.mark.parametrize(("taps", "expected"), [([INF, 1], [1, 0, 0, 0]), ([1, NAN], [0, 0, 0, 1]), ([2, 1], [0])])
def test_what_is_not_finite_and_over_padding_meets_nothing(taps: list[float], expected: list[int]) -> None:
    kernel = np.array(taps).reshape(1, 1, 1, 2)
    one = next(forward(kernel, Window((2,), (1,), (1,), (1,)), (4,)))
    assert unmet(one, box(4), kernel, (3,)).reshape(-1).tolist() == expected


def test_what_is_not_finite_and_in_another_pass_meets_nothing() -> None:
    kernel = np.array([1, 2, INF]).reshape(1, 1, 1, 3)
    first, second = backward(kernel, Window((3,), (2,), (1,), (0,)), (7,))
    assert unmet(first, box(4), kernel, (3,)).reshape(-1).tolist() == [True, False, False, False]
    assert unmet(second, box(3), kernel, (3,)).reshape(-1).tolist() == [True] * 3


def test_what_is_not_finite_meets_nothing_where_a_pass_has_no_elements_of_the_filter() -> None:
    kernel = np.array([1, INF]).reshape(1, 1, 1, 2)
    *_, last = backward(kernel, Window((2,), (3,), (1,), (0,)), (6,))
    assert last.filter.size == 0
    assert unmet(last, box(2), kernel, (2,)).reshape(-1).tolist() == [True] * 2


def test_each_output_channel_has_its_own_marks() -> None:
    kernel = np.array([[1, 1], [1, INF]]).reshape(1, 2, 1, 2)
    one = next(forward(kernel, Window((2,), (1,), (1,), (0,)), (3,)))
    assert unmet(one, box(3, outs=2), kernel, (3,)).tolist() == [[[False] * 3, [False, False, True]]]
