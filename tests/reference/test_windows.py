"""Windows over spatial dimensions: what each place sees, against index arithmetic."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from dmlcheck.reference import windows as module
from dmlcheck.reference.numbers import Tracked
from dmlcheck.reference.windows import Window, around, first_place, over, part, phases, views, windows

Array = np.ndarray[Any, Any]

WINDOWS = [
    ((7,), Window((3,), (1,), (1,), (0,)), (5,)),
    ((7,), Window((3,), (2,), (1,), (1,)), (4,)),
    ((5,), Window((2,), (3,), (4,), (3,)), (3,)),
    ((3,), Window((2,), (1,), (0,), (0,)), (3,)),
    ((2,), Window((1,), (1,), (1,), (6,)), (14,)),
    ((6,), Window((2,), (1,), (2,), (-2,)), (2,)),
    ((4, 5), Window((3, 2), (1, 2), (2, 1), (2, 1)), (4, 3)),
    ((3, 4, 2), Window((2, 1, 3), (1, 3, 2), (1, 1, 1), (1, 0, 2)), (4, 2, 2)),
    ((4,), Window((0,), (1,), (1,), (0,)), (4,)),
]


def seen(x: Array, places: list[slice], window: Window, fill: float) -> Array:
    """Return what a window sees at places, element by element."""
    counts = [at.stop - at.start for at in places]
    found = np.empty((*x.shape[: -len(counts)], *counts, *window.size))
    for at in itertools.product(*map(range, (*counts, *window.size))):
        place, tap = at[: len(counts)], at[len(counts) :]
        index = [
            (o + first.start) * stride + w * dilation - padding
            for o, first, w, stride, dilation, padding in zip(place, places, tap, *window[1:], strict=True)
        ]
        is_inside = all(0 <= i < total for i, total in zip(index, x.shape[-len(counts) :], strict=True))
        found[(..., *at)] = x[(..., *index)] if is_inside else fill
    return found


@pytest.mark.parametrize(("sizes", "window", "counts"), WINDOWS)
@pytest.mark.parametrize("lead", [(), (2, 3)])
def test_a_window_sees_what_its_formula_says(
    sizes: tuple[int, ...], window: Window, counts: tuple[int, ...], lead: tuple[int, ...]
) -> None:
    x = np.random.default_rng(3).normal(size=(*lead, *sizes))
    cuts = [(slice(0, count), slice(count // 2, count), slice(count - 1, count)) for count in counts]
    for places in itertools.product(*cuts):
        found = windows(part(x, places, window, fill=-99), places, window)
        assert np.array_equal(found, seen(x, list(places), window, -99))


def test_a_part_is_no_larger_than_the_window_needs() -> None:
    window = Window((3,), (2,), (1,), (1,))
    x = np.arange(100.0)
    assert part(x, [slice(10, 12)], window).tolist() == [19, 20, 21, 22, 23]
    assert part(x, [slice(0, 1)], window, fill=7).tolist() == [7, 0, 1]
    assert part(x, [slice(49, 51)], window, fill=7).tolist() == [97, 98, 99, 7, 7]
    assert part(x, [slice(60, 61)], window, fill=7).tolist() == [7, 7, 7]


def test_beyond_the_edges_is_a_number_of_each_channel() -> None:
    x, fill = np.arange(6).reshape(1, 2, 3), np.array([7, 9]).reshape(1, 2, 1)
    found = {
        str(index[1]): under.tolist() for index, _, under in views(x, Window((2,), (2,), (1,), (1,)), (1, 2, 2), fill)
    }
    assert found == {str(slice(None)): [[[7, 0, 1, 2], [9, 3, 4, 5]]]}


def test_a_part_without_padding_is_not_copied() -> None:
    x = np.arange(100.0)
    assert np.shares_memory(part(x, [slice(10, 12)], Window((3,), (2,), (1,), (1,))), x)


def test_windows_of_tracked_numbers_have_their_errors() -> None:
    values, errors = np.arange(6.0), np.arange(6.0) / 10
    window, places = Window((2,), (2,), (1,), (0,)), [slice(0, 3)]
    found = windows(Tracked(values, errors), places, window)
    assert found.value.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert found.slack == pytest.approx(np.array([[0, 0.1], [0.2, 0.3], [0.4, 0.5]]))


@pytest.mark.parametrize("block", [1, 4, 30, 1 << 16])
def test_every_place_is_in_one_part_of_an_output_with_what_the_window_sees_there(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BLOCK", block)
    for sizes, window, counts in WINDOWS:
        if 0 in window.size:
            continue
        x = np.random.default_rng(1).normal(size=(2, 3, *sizes))
        whole = [slice(0, count) for count in counts]
        right = seen(x, whole, window, 0)
        found = np.full((2, 3, *counts), np.nan)
        for index, places, under in views(x, window, (2, 3, *counts)):
            assert np.isnan(found[index]).all()
            assert windows(under, places, window).tolist() == right[index].tolist()
            found[index] = over(np.maximum, under, places, window)
        assert found.tolist() == right.reshape(*found.shape, -1).max(axis=-1).tolist()


def test_a_reduction_is_the_same_of_many_places_of_few_and_of_tracked_numbers() -> None:
    x, window = np.arange(30.0).reshape(1, 30), Window((4,), (2,), (1,), (0,))
    for count in (1, 3, 14):
        places = [slice(0, count)]
        right = [float(sum(range(2 * at, 2 * at + 4))) for at in range(count)]
        assert over(np.add, part(x, places, window), places, window).tolist() == [right]
        found = over(np.add, Tracked(part(x, places, window)), places, window)
        assert (found.value.tolist(), found.terms) == ([right], 4)


def flat(index: tuple[int, ...], sizes: tuple[int, ...]) -> int:
    """Return where an element is, counted row-major."""
    return int(np.ravel_multi_index(index, sizes))


@pytest.mark.parametrize(("sizes", "window", "counts"), [row for row in WINDOWS if 0 not in row[1].size])
def test_the_phases_have_for_each_element_the_places_whose_window_has_it(
    sizes: tuple[int, ...], window: Window, counts: tuple[int, ...]
) -> None:
    expected: dict[tuple[int, ...], list[tuple[int, ...]]] = {at: [] for at in np.ndindex(*sizes)}
    taps: dict[tuple[int, ...], list[tuple[int, ...]]] = {at: [] for at in np.ndindex(*sizes)}
    for place, tap in itertools.product(np.ndindex(*counts), np.ndindex(*window.size)):
        element = tuple(o * s + w * d - p for o, w, _, s, d, p in zip(place, tap, *window, strict=True))
        if element in expected:
            expected[element].append(place)
            taps[element].append(tap)
    met = []
    for phase in phases(window, sizes):
        for step in np.ndindex(*phase.counts):
            element = tuple(f + j * s for f, j, s in zip(phase.first, step, window.strides, strict=True))
            met.append(element)
            found = [
                tuple(j + w * d - p for j, w, d, p in zip(step, each, *phase.window[2:], strict=True))
                for each in np.ndindex(*phase.window.size)
            ]
            inside = [all(0 <= o < count for o, count in zip(place, counts, strict=True)) for place in found]
            own = list(itertools.product(*phase.taps))
            assert sorted(itertools.compress(found, inside)) == sorted(expected[element])
            assert sorted(itertools.compress(own, inside)) == sorted(taps[element])
    assert sorted(met) == sorted(expected)


@pytest.mark.parametrize(("sizes", "window", "counts"), [row for row in WINDOWS if 0 not in row[1].size])
def test_the_first_place_is_the_first_element_inside_that_hits(
    sizes: tuple[int, ...], window: Window, counts: tuple[int, ...]
) -> None:
    hits = np.random.default_rng(4).random((2, *counts, *window.size)) < 0.5
    found = first_place(hits, [slice(0, count) for count in counts], window, sizes)
    for at in np.ndindex(2, *counts):
        places = []
        for tap in np.ndindex(*window.size):
            place = tuple(o * s + w * d - p for o, w, _, s, d, p in zip(at[1:], tap, *window, strict=True))
            if hits[(*at, *tap)] and all(0 <= i < size for i, size in zip(place, sizes, strict=True)):
                places.append(flat(place, sizes))
        assert not places or found[at] == places[0]


def test_a_window_around_an_element_is_no_larger_than_the_tensor_may_need() -> None:
    window = around((2, 5, 3), (1, 2), 1, 4)
    assert window.size == (1, 6, 4)
    assert window.padding == (0, 1, 1)
    assert window.strides == window.dilations == (1, 1, 1)
    assert around((4,), (), 2, 2).size == (1,)
