"""The windows that elements are in, against index arithmetic."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from seen_windows import WINDOWS

from dmlcheck.reference.ball.numbers import Arithmetic, Ball
from dmlcheck.reference.functions.phases import (
    depth_of,
    equal_shares,
    layers_at,
    lines,
    may_be_place_count,
    most_places,
    phases,
    place_count,
)
from dmlcheck.reference.functions.windows import Window, over, part, view, windows


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


LINES = [(7, 5, 3, 1, 1, 0), (9, 4, 3, 2, 1, 1), (6, 5, 2, 3, 4, 3), (40, 2, 30, 17, 1, 0), (40, 3, 2, 18, 5, 1)]


@pytest.mark.parametrize("row", LINES)
def test_a_line_sees_the_places_whose_windows_have_its_elements(row: tuple[int, ...]) -> None:
    total, count, size, stride, dilation, padding = row
    seen: dict[int, list[int]] = {}
    for line in lines(*row):
        for start in range(0, line.size, 3):
            at = slice(start, min(start + 3, line.size))
            own = line.seen(at)
            found = windows(part(np.arange(1, count + 1), own), own).reshape(at.stop - at.start, -1)
            assert found.shape[1] <= max(1, line.most)
            elements = range(total)[line.where(at)]
            seen |= {
                t: sorted(place - 1 for place in row if place) for t, row in zip(elements, found.tolist(), strict=True)
            }
    expected: dict[int, list[int]] = {t: [] for t in range(total)}
    for place, tap in itertools.product(range(count), range(size)):
        t = place * stride + tap * dilation - padding
        if t in expected:
            expected[t].append(place)
    assert seen == expected
    assert max(map(len, expected.values())) <= most_places(*row)


def test_equal_shares_may_be_added_up_undivided() -> None:
    generator = np.random.default_rng(2)
    x = generator.normal(size=(1, 200)).astype(np.float32)
    window = Window((9,), (1,), (1,), (0,))
    own = view([slice(0, 192)], window, (200,))
    exact = over(np.add, x.astype(float), own) / 9
    assert np.allclose(equal_shares(x.astype(float), 9.0, own), exact, rtol=1e-14, atol=0)
    found = equal_shares(Ball(x, 0.0, Arithmetic()), 9.0, own)
    for way in (over(np.add, x / np.float32(9), own), over(np.add, x, own) / np.float32(9)):
        assert (np.abs(way - found.value) <= found.radius).all()
    assert found.radius.max() < 1e-5


# ---- layers
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


# ---- numbers of places, counted by hand
# Size, elements of the window, stride, dilation, padding at the start and at the end.
FITS = (7, 3, 2, 1, 0, 0)  # begins at 0, 2 and 4, and ends at the last element
CUT = (8, 3, 2, 1, 0, 0)  # a place at 6 would reach one element beyond the end


def test_places_are_those_that_end_inside() -> None:
    assert place_count(*FITS) == 3
    assert place_count(*CUT) == 3
    assert place_count(5, 3, 1, 2, 0, 0) == 1  # a dilated window that is as long as the dimension
    assert place_count(5, 3, 2, 1, 1, 2) == 3  # begins at -1, 1 and 3


@pytest.mark.parametrize(
    ("window", "counts"),
    [
        (FITS, [3]),
        (CUT, [3, 4]),  # rounded up there is a place at 6
        ((3, 3, 2, 1, 0, 0), [1]),  # the window is the dimension
        ((2, 3, 2, 1, 0, 0), []),  # the window does not fit
        ((4, 2, 3, 1, 0, 1), [2]),  # begins at 0 and 3
        ((3, 2, 3, 1, 0, 2), [2]),  # a place at 3 is on the padding: rounded down it counts
        ((3, 2, 3, 1, 0, 1), [1]),  # rounded up it does not: it would begin at the end padding
        ((2, 2, 2, 1, 1, 0), [1, 2]),  # a place at 1, with padding before the tensor
    ],
)
def test_places_may_be_rounded_down_or_up(window: tuple[int, ...], counts: list[int]) -> None:
    assert [count for count in range(1, 9) if may_be_place_count(count, *window)] == counts
