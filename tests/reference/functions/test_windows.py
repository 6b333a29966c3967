"""Windows over spatial dimensions: what each place sees, against index arithmetic."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from seen_windows import WINDOWS, seen

from dmlcheck.reference.ball.numbers import Arithmetic, Ball
from dmlcheck.reference.functions.windows import (
    Window,
    count_at,
    first_place,
    from_padding,
    indices_in_part,
    over,
    padded_count,
    part,
    reduced_runs,
    seen_count,
    view,
    windows,
)


@pytest.mark.parametrize(("sizes", "window", "counts"), WINDOWS)
@pytest.mark.parametrize("lead", [(), (2, 3)])
def test_a_window_sees_what_its_formula_says(
    sizes: tuple[int, ...], window: Window, counts: tuple[int, ...], lead: tuple[int, ...]
) -> None:
    x = np.random.default_rng(3).normal(size=(*lead, *sizes))
    cuts = [(slice(0, count), slice(count // 2, count), slice(count - 1, count)) for count in counts]
    for places in itertools.product(*cuts):
        whole = view(places, window, sizes, is_whole=True)
        assert np.array_equal(windows(part(x, whole, fill=-99), whole), seen(x, list(places), window, -99))


def test_a_part_is_no_larger_than_the_window_needs() -> None:
    window = Window((3,), (2,), (1,), (1,))
    x = np.arange(100.0)
    for places, right in (
        (slice(10, 12), [19, 20, 21, 22, 23]),
        (slice(0, 1), [7, 0, 1]),
        (slice(49, 51), [97, 98, 99, 7, 7]),
        (slice(60, 61), [7, 7, 7]),
    ):
        assert part(x, view([places], window, (100,), is_whole=True), fill=7).tolist() == right


def test_a_part_without_padding_is_not_copied() -> None:
    x = np.arange(100.0)
    window = Window((3,), (2,), (1,), (1,))
    assert np.shares_memory(part(x, view([slice(10, 12)], window, (100,))), x)
    assert np.shares_memory(part(x, view([slice(10, 11)], window._replace(dilations=(9,)), (100,))), x)
    every = view([slice(0, 1)], Window((300,), (1,), (1,), (100,)), (100,))
    assert np.shares_memory(part(x, every), x)
    assert part(x, every).tolist() == x.tolist()


def test_what_is_seen_is_no_larger_than_what_is_computed_of_it() -> None:
    """Whatever the padding, the dilations, the strides and the size of the window."""
    x, far = np.arange(4.0), 3 * 10**8
    for window, count, right in (
        (Window((2,), (1,), (far,), (0,)), 4, [[0], [1], [2], [3]]),
        (Window((2,), (1,), (far,), (far,)), 4, [[0], [1], [2], [3]]),
        (Window((far + 1,), (far,), (1,), (far,)), 2, [[0, 9, 9, 9], [0, 1, 2, 3]]),
        (Window((2,), (far,), (1,), (far,)), 3, [[9, 9], [0, 1], [9, 9]]),
        (Window((2**32 - 1,), (2**32 - 1,), (2**32 - 1,), (2**32 - 2,)), 1, [[1]]),
        (Window((far,), (1,), (far,), (far * far,)), 1, [[9]]),
    ):
        own = view([slice(0, count)], window, (4,))
        found = windows(part(x, own, fill=9), own)
        assert found.tolist() == right
        assert part(x, own, fill=9).size <= found.size


def test_how_much_a_window_sees_is_counted_without_looking() -> None:
    most = 2**32 - 1
    window = Window((most, most, 5), (2, most, 1), (1, most, 0), (most - 4, 0, 0))
    found = seen_count([slice(0, 5), slice(0, 2), slice(0, 3)], window, (7, 7, 2))
    # The window ends at the elements 3, 5, 7 ...; at 0 and far beyond; and is all over the elements 0, 1 and 2.
    assert found.tolist() == [[[a * b * c for c in (5, 5, 0)] for b in (1, 0)] for a in (4, 6, 7, 7, 7)]
    assert seen_count([slice(0, 1)] * 2, Window((most, most), (1, 1), (0, 0), (0, 0)), (1, 1)) == [[float(most) ** 2]]
    assert padded_count([slice(0, 3)], Window((most,), (2,), (most,), (9,)), (most - 7,)).tolist() == [2, 1, 1]
    assert padded_count([slice(0, 1)], Window((most,), (1,), (most,), (0,)), (1,)).tolist() == [1]
    assert padded_count([slice(0, 3)], Window((2,), (2,), (1,), (1,)), (4,)).tolist() == [2, 2, 1]


def test_windows_of_tracked_numbers_have_their_errors() -> None:
    values, errors = np.arange(6.0), np.arange(6.0) / 10
    found = windows(Ball(values, errors), view([slice(0, 3)], Window((2,), (2,), (1,), (0,)), (6,)))
    assert found.value.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert found.radius == pytest.approx(np.array([[0, 0.1], [0.2, 0.3], [0.4, 0.5]]))


def test_a_reduction_is_the_same_of_many_places_of_few_and_of_tracked_numbers() -> None:
    x, window = np.arange(30.0).reshape(1, 30), Window((4,), (2,), (1,), (0,))
    for count in (1, 3, 14):
        own = view([slice(0, count)], window, (30,))
        right = [float(sum(range(2 * at, 2 * at + 4))) for at in range(count)]
        assert over(np.add, part(x, own), own).tolist() == [right]
        found = over(np.add, Ball(part(x, own)), own)
        assert (found.value.tolist(), found.terms) == ([right], 4)


@pytest.mark.parametrize("ufunc", [np.add, np.maximum, np.logical_or])
def test_a_reduction_of_runs_has_what_is_in_each_and_nothing_else(ufunc: np.ufunc) -> None:
    x = np.random.default_rng(2).normal(size=(2, 200, 3)) * 10.0 ** np.arange(-9, 9).repeat(12)[:200, None]
    x[1, 100, 1] = np.nan
    for size in (1, 7, 50, 67, 199, 200):
        expected = [ufunc.reduce(x[:, start : start + size], axis=1) for start in range(201 - size)]
        found = reduced_runs(ufunc, x, 1, size)
        assert np.allclose(found.astype(float), np.stack(expected, 1).astype(float), 1e-12, 0, equal_nan=True)


@pytest.mark.parametrize("is_likely", [False, True])
def test_sums_that_share_their_terms_have_the_bounds_of_sums_that_do_not(is_likely: bool) -> None:
    """Of windows of 40 by 2 elements, each summed up by itself; the likely errors are no smaller than theirs."""
    arithmetic = Arithmetic(is_likely=is_likely)
    values, errors = np.random.default_rng(5).normal(size=(1, 90, 3)), np.full((1, 90, 3), 1e-5)
    window = Window((40, 2), (1, 1), (1, 1), (5, 0))
    own = view([slice(0, 60), slice(0, 2)], window, (90, 3))
    x = Ball(part(values, own), part(errors, own), arithmetic)
    found = over(np.add, x, own)
    for at in np.ndindex(60, 2):
        alone = view([slice(at[0], at[0] + 1), slice(at[1], at[1] + 1)], window, (90, 3), is_whole=True)
        right = over(np.add, Ball(part(values, alone), part(errors, alone), arithmetic), alone)
        (value, radius), (sums, bound) = ((y.value[0], y.radius[0]) for y in (found, right))
        assert value[at] == pytest.approx(sums[0, 0], rel=1e-13)
        assert bound[0, 0] * (1 - 1e-9) <= radius[at] <= bound[0, 0] * (3 if is_likely else 1 + 1e-9)
    assert found.terms == 80


def test_elements_of_a_window_over_one_element_count_each() -> None:
    """With a dilation of 0; where all elements of the window are asked for they are there."""
    x, window = np.array([[1.0, 2, 4, 8]]), Window((40,), (2,), (0,), (0,))
    for count, right in ((1, [[40]]), (2, [[40, 160]]), (3, [[40, 160, 0]])):
        own = view([slice(0, count)], window, (4,))
        assert part(x, own).size <= 4
        assert over(np.add, part(x, own), own).tolist() == right
        assert over(np.maximum, part(x, own), own).tolist() == [[most / 40 for most in right[0]]]
        found = over(np.add, Ball(part(x, own)), own)
        assert (found.value.tolist(), found.terms) == (right, 40)
        assert found.radius[0, 0] == pytest.approx(40 * 2.0**-24 * 40, rel=0.05)
        whole = view([slice(0, count)], window, (4,), is_whole=True)
        assert windows(part(x, whole), whole).tolist() == [[[sums / 40] * 40 for sums in right[0]]]


def flat(index: tuple[int, ...], sizes: tuple[int, ...]) -> int:
    """Return where an element is, counted row-major."""
    return int(np.ravel_multi_index(index, sizes))


@pytest.mark.parametrize(("sizes", "window", "counts"), [row for row in WINDOWS if 0 not in row[1].size])
def test_the_first_place_is_the_first_element_inside_that_hits(
    sizes: tuple[int, ...], window: Window, counts: tuple[int, ...]
) -> None:
    hits = np.random.default_rng(4).random((2, *counts, *window.size)) < 0.5
    found = first_place(hits, view([slice(0, count) for count in counts], window, sizes, is_whole=True), sizes)
    for at in np.ndindex(2, *counts):
        places = []
        for tap in np.ndindex(*window.size):
            place = tuple(o * s + w * d - p for o, w, _, s, d, p in zip(at[1:], tap, *window, strict=True))
            if hits[(*at, *tap)] and all(0 <= i < size for i, size in zip(place, sizes, strict=True)):
                places.append(flat(place, sizes))
        assert not places or found[at] == places[0]


def test_the_first_places_of_many_windows_of_one_column_are_right() -> None:
    hits = np.random.default_rng(4).random((1, 9000, 1, 2, 1)) < 0.5
    hits[..., 1, 0] |= ~hits[..., 0, 0]
    window = Window((2, 1), (2, 1), (1, 1), (0, 0))
    found = first_place(hits, view([slice(0, 9000), slice(0, 1)], window, (18_000, 1), is_whole=True), (18_000, 1))
    right = 2 * np.arange(9000) + ~hits[0, :, 0, 0, 0]
    assert np.array_equal(found.reshape(-1), right)


def test_the_numbers_of_what_is_seen_lie_as_the_part_does() -> None:
    x = np.arange(100, 107)
    for sizes, window, counts in WINDOWS:
        if len(sizes) > 1 or 0 in window.size:
            continue
        own = view([slice(0, counts[0])], window, (7,))
        (numbers,) = indices_in_part(own)
        expected = [100 + at if 0 <= at < 7 else -1 for at in numbers.tolist()]
        assert part(x, own, -1).tolist() == expected


def test_elements_are_counted_at_any_places() -> None:
    window = Window((3, 1), (2, 1), (1, 1), (1, 0))
    assert count_at([np.array([0, 2, 5]), np.array([0])], window, (4, 9)).reshape(-1).tolist() == [2, 1, 0]
    unpadded, ends = from_padding(window, (6, 9))
    assert count_at([np.array([0, 2, 5]), np.array([0])], unpadded, ends).reshape(-1).tolist() == [3, 3, 0]
