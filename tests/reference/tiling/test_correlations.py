"""How convolutions are cut into tiles: every output once, none too large, and the same results."""

from __future__ import annotations

import inspect
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from slow_convolution import convolved

from dmlcheck.reference.functions.windows import Window
from dmlcheck.reference.rows import Correlations
from dmlcheck.reference.tiling import correlations
from dmlcheck.reference.tiling.correlations import Box, backward, forward, unmet

Array = np.ndarray[Any, Any]
NAN, INF = float("nan"), float("inf")


def numbers(*sizes: int) -> Array:
    return np.random.default_rng(sum(sizes)).integers(-9, 10, sizes).astype(np.float32)


def plain(input: Any, filter: Any) -> Any:
    return filter @ input


def computed(
    tensors: dict[str, Any], window: Window, sizes: tuple[int, ...], formula: Any = plain, **options: Any
) -> Array:
    """Return the results, each of which comes from one tile."""
    asked = inspect.signature(formula).parameters
    request: Any = SimpleNamespace(
        formula=formula, tensors=tensors, given=tensors, outputs={"output": sizes}, asks_for=asked.__contains__
    )
    declared = Correlations(lambda _: window, lambda given: given["filter"], **options)
    found = np.full(sizes, np.nan)
    for tile in correlations.of_correlations(declared, request):
        target = found[tile.where]
        assert np.isnan(target).all()
        target[...] = np.asarray(tile.formula(*tile.operands)).reshape(target.shape)
        assert tile.of_element is not None
        at = tuple(where.indices(size)[0] for where, size in zip(tile.where, sizes, strict=True))
        one = tile.of_element(at)
        assert found[one.where].reshape(-1).tolist() == np.asarray(one.formula(*one.operands)).reshape(-1).tolist()
    assert not np.isnan(found).any()
    return found


@pytest.fixture(params=[1, 7, 40, 1 << 20])
def largest(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Cut into parts of so many elements."""
    monkeypatch.setattr(correlations, "LARGEST", request.param)
    return int(request.param)


WINDOW = Window((2, 3), (2, 1), (1, 2), (1, 0))


@pytest.mark.slow
@pytest.mark.usefixtures("largest")
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_tiles_of_any_size_have_the_same_results(direction: str) -> None:
    x, kernel, is_backward = numbers(3, 4, 4, 5), numbers(2, 3, 2, 2, 3), direction == "backward"
    if is_backward:
        sizes, stored = (3, 6, 7, 9), kernel.swapaxes(1, 2).reshape(4, 3, 2, 3)
    else:
        sizes, stored = (3, 6, 2, 1), kernel.reshape(6, 2, 2, 3)
    right = convolved(x, stored, sizes, *WINDOW[1:], groups=2, backward=is_backward)
    found = computed({"input": x, "filter": kernel}, WINDOW, sizes, is_backward=lambda _: is_backward)
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
    tensors = {"input": numbers(2, 2, 5), "filter": numbers(2, 3, 1, 1)}

    def formula(input: Any, filter: Any, bias: Any, none: Any, more: Any) -> Any:
        assert none is None
        return filter @ input + bias + more

    window = Window((1,), (1,), (1,), (0,))
    others = {"bias": np.arange(6.0).reshape(1, 6, 1) * 100, "none": None, "more": np.full((1, 1, 1), 1000.0)}
    found = computed(tensors | others, window, (2, 6, 5), formula)
    right = computed(tensors, window, (2, 6, 5)) + np.arange(6).reshape(6, 1) * 100 + 1000
    assert (found == right).all()


def test_padding_is_what_fills_it() -> None:
    window = Window((2,), (1,), (1,), (1,))
    x, kernel = numbers(1, 1, 2), np.array([1.0, 10]).reshape(1, 1, 1, 2)
    found = computed({"input": x, "filter": kernel}, window, (1, 1, 3), fill=lambda _: 7)
    first, second = x.reshape(-1).tolist()
    assert found.reshape(-1).tolist() == [7 + 10 * first, first + 10 * second, second + 70]


@pytest.mark.usefixtures("largest")
def test_a_formula_gets_what_its_row_makes_of_the_edges() -> None:
    """They know the places of the tile, and which results meet nothing of an infinity."""
    kernel = np.array([[1.0, 2, INF], [1, 2, 3]]).reshape(1, 2, 1, 3)

    def edges(given: Any, places: Any, unmet: Any) -> Any:
        assert [at.step for at in places] == [1, 1, 2]
        where = np.add.outer(np.asarray(places[1]) * 10, np.asarray(places[2]))
        return where * given["filter"].size + np.broadcast_to(unmet, (1, *where.shape)) * 0.5

    window, tensors = Window((3,), (2,), (1,), (0,)), {"input": numbers(1, 1, 3), "filter": kernel}
    options: dict[str, Any] = {"edges": edges, "is_backward": lambda _: True}
    found = computed(tensors, window, (1, 2, 7), lambda *, edges, **_: edges, **options)
    assert found[0, 0].tolist() == [0.5, 6.5, 12, 18.5, 24, 30.5, 36]
    assert found[0, 1].tolist() == [60, 66, 72, 78, 84, 90, 96]


def test_the_magnitudes_of_sums_are_those_of_the_operands() -> None:
    tensors = {"input": numbers(1, 1, 4), "filter": numbers(1, 1, 1, 2)}
    request: Any = SimpleNamespace(
        formula=plain, tensors=tensors, given=tensors, outputs={"output": (1, 1, 3)}, asks_for=lambda _: False
    )
    window = Window((2,), (1,), (1,), (0,))

    def magnitudes(input: Any, filter: Any) -> Any:
        return (np.abs(filter) @ np.abs(input)).reshape(-1).tolist()

    declared = Correlations(lambda _: window, lambda given: given["filter"], magnitudes=lambda _: magnitudes)
    (tile,) = correlations.of_correlations(declared, request)
    (a, b), x = np.abs(tensors["filter"]).reshape(-1), np.abs(tensors["input"]).reshape(-1)
    assert tile.magnitudes is not None
    assert tile.magnitudes(*tile.operands) == [a * x[at] + b * x[at + 1] for at in range(3)]


def test_the_passes_of_a_backward_convolution_take_the_filter_apart() -> None:
    kernel = np.arange(5.0).reshape(1, 1, 1, 5)
    passes = list(backward(kernel, Window((5,), (2,), (1,), (0,)), (7,)))
    assert [one.filter.reshape(-1).tolist() for one in passes] == [[4, 2, 0], [3, 1]]
    assert [(one.first, one.steps, one.counts) for one in passes] == [((0,), (2,), (4,)), ((1,), (2,), (3,))]
    assert [one.window for one in passes] == [Window((3,), (1,), (1,), (2,)), Window((2,), (1,), (1,), (1,))]


def test_an_output_that_meets_no_element_of_the_filter_is_0() -> None:
    tensors = {"input": np.ones((1, 1, 2)), "filter": np.ones((1, 1, 1, 1))}
    found = computed(tensors, Window((1,), (3,), (1,), (0,)), (1, 1, 5), is_backward=lambda _: True)
    assert found.reshape(-1).tolist() == [1, 0, 0, 1, 0]


# ---- marks


def box(count: int, start: int = 0, outs: int = 1) -> Box:
    return Box(slice(0, 1), slice(0, 1), slice(0, outs), [slice(start, start + count)])


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
