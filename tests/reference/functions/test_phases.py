"""The windows that elements are in, against index arithmetic."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from seen_windows import WINDOWS

from dmlcheck.reference.ball.numbers import Arithmetic, Ball
from dmlcheck.reference.functions.phases import equal_shares, lines, most_places, phases
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
