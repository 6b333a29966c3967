"""Places between elements: as numbers, and as balls whose errors reach other elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dmlcheck.reference.ball.numbers import Arithmetic, Ball, radius, raw
from dmlcheck.reference.functions.interpolation import (
    Kinds,
    Seen,
    Share,
    coordinates,
    grouped,
    half_up,
    is_any_lost,
    linear,
    nearest,
    nearest_of_several,
    shares,
    spread,
    total_together,
    with_infinities,
)
from dmlcheck.reference.results import Alternatives, ways_of

X = np.array([0.0, 10, 30, 20, 20])


def test_numbers_that_float16_lacks_are_rounded_on_the_way_to_coordinates() -> None:
    """2049 is no FLOAT16: it may be 2048, half of which is 1024."""
    of_float16 = Arithmetic("FLOAT16", "FLOAT16", 2.0**-11, 2.0**-24)
    (found,) = coordinates([range(2048, 2050)], Ball(np.array([2], np.float32), 0.0, of_float16), [0], [0])
    assert radius(found)[0] == 0
    assert radius(found)[1] >= 0.5


def test_a_nearest_element_is_one_unless_an_error_reaches_another() -> None:
    found = nearest(X, [np.array([0.4, 1.0, 2.6])], np.floor)
    assert found.value.tolist() == [0, 10, 30]
    both = nearest(X, [Ball(np.array([0.4, 1.0, 2.6]), np.array([0.3, 0.1, 0.1]))], np.floor).value
    assert isinstance(both, Alternatives)
    assert [way.tolist() for way in both.ways] == [[0, 10, 30], [0, 0, 30]]
    three = nearest(X, [Ball(np.array([1.5]), np.array([1.0]))], np.ceil).value
    assert {way.item() for way in three.ways} == {10, 30, 20}


def test_places_that_may_be_anywhere_are_undefined() -> None:
    places = [Ball(np.array([0.4, 2.0]), np.array([0.1, 5.0])), np.arange(1)]
    x = X.reshape(5, 1)
    for found in (nearest(x, places, np.floor), linear(x, places)):
        assert found.where.tolist() == [[False], [True]]
    assert linear(X, [Ball(np.array([0.4]), np.array([np.inf]))]).where.tolist() == [True]


def ends(place: float, error: float) -> tuple[float, float]:
    """Return the least and the largest average that a bound has."""
    found = linear(X, [Ball(np.array([place]), np.array([error]))]).value
    value, reach = raw(found).item(), radius(found).item()
    return value - reach, value + reach


@pytest.mark.parametrize(
    ("place", "error", "least", "largest"),
    [
        (0.5, 0.1, 4, 6),
        (1.0, 0.1, 9, 12),  # the slope is another on each side
        (2.05, 0.1, 28.5, 30),  # the element itself is the most
        (3.5, 0.4, 20, 20),
        (3.95, 0.4, 20, 20),
        (-0.05, 0.1, 0, 0.5),
        (2.0, 1.5, 5, 30),  # from between the first two to between the last two, with the element between
    ],
)
def test_an_average_moves_as_far_as_the_error_of_its_place_allows(
    place: float, error: float, least: float, largest: float
) -> None:
    found = ends(place, error)
    assert least - 2e-5 <= found[0] <= least + 1e-12
    assert largest - 1e-12 <= found[1] <= largest + 2e-5


def right(result: Any) -> list[set[str]]:
    """Return the right results of each element, in row-major order, as texts: NaN is equal to nothing."""
    ways = [raw(way).reshape(-1) for way in ways_of(result)]
    return [{f"{number:g}" for number in numbers} for numbers in zip(*ways, strict=True)]


def test_an_infinity_with_a_weight_of_0_is_left_out_or_multiplied() -> None:
    x = np.array([1.0, np.inf, 2.0])
    found = linear(x, [np.array([0.0, 0.5, 1.0, 1.5, 2.0])])
    assert right(found.value) == [{"1", "nan"}, {"inf"}, {"inf"}, {"inf"}, {"2"}]
    assert not np.any(found.where)
    square = np.array([[1.0, np.inf], [1.0, 1.0]])
    found = linear(square, [np.array([0.0, 0.5, 1.0]), np.array([0.0])])
    assert right(found.value) == [{"1", "nan"}, {"1", "nan"}, {"1"}]


def test_errors_may_give_an_infinity_a_weight_or_none() -> None:
    places = Ball(np.array([0.05, 0.5, 1.95, 2.0]), np.array([0.1, 0.1, 0.1, 0.0]))
    found = right(linear(np.array([1.0, -np.inf, 2.0]), [places]).value)
    assert found == [{"1", "nan", "-inf"}, {"-inf"}, {"2", "nan", "-inf"}, {"2"}]


def test_along_an_axis_that_keeps_its_size_an_infinity_is_itself_and_only_the_element_before_it_may_be_nan() -> None:
    found = linear(np.array([1.0, np.inf, 2.0, -np.inf]), [np.arange(4)])
    assert right(found.value) == [{"1", "nan"}, {"inf"}, {"2", "nan"}, {"-inf", "nan"}]  # the last is its own neighbour


def test_a_place_beyond_an_edge_may_be_moved_to_it_where_the_next_element_has_a_weight_of_0() -> None:
    ends = np.array([-0.5, 1.5])
    assert right(linear(np.array([1.0, np.inf]), [ends]).value) == [{"1", "nan"}, {"inf", "nan"}]
    assert right(linear(np.array([np.inf, 1.0]), [ends]).value) == [{"inf"}, {"1"}]
    assert right(linear(np.array([np.inf]), [np.array([-0.5])]).value) == [{"inf", "nan"}]
    corner = np.array([[0.0, 0.0], [0.0, np.inf]])  # of weight 0 along both axes
    assert right(linear(corner, [np.array([0.0]), np.array([-0.25])]).value) == [{"0", "nan"}]


def test_opposite_infinities_are_nan_only_if_both_have_a_weight() -> None:
    x = np.array([[np.inf, 1.0], [-np.inf, 1.0]])
    found = linear(x, [np.array([0.0, 0.5]), np.array([0.5])])
    assert right(found.value) == [{"inf", "nan"}, {"nan"}]


def test_no_weight_is_for_an_element_of_another_channel() -> None:
    x, places = np.array([[1.0, np.inf, 2.0], [np.inf, 1.0, 1.0]]), [np.arange(2), np.array([0.0, 0.5, 1.5])]
    found = linear(x, places, channels=1)
    assert right(found.value) == [{"1", "nan"}, {"inf"}, {"inf"}, {"inf"}, {"inf"}, {"1"}]


def test_a_place_that_is_not_finite_or_far_off_is_lost() -> None:
    far = Ball(np.array([0.5, 1.0]), np.array([0.0, 5.0]), Arithmetic())
    assert [is_any_lost([np.array([0.5]), at]) for at in (np.array([1.0]), np.array([1.0, np.nan]), far)] == [
        False,
        True,
        True,
    ]


def test_several_nearest_elements_are_numbers_to_compute_with() -> None:
    places = [Ball(np.array([0.4, 1.0]), np.array([0.2, 0.2]))]
    found = nearest_of_several(X, places, half_up).value
    assert raw(found).tolist() == [5, 10]
    assert radius(found).tolist() == [5, 0]
    assert nearest_of_several(X, [np.array([0.4, 1.0])], half_up).value.tolist() == [0, 10]


# ---- the transpose


def test_a_place_in_doubt_has_a_part_in_all_elements_that_it_may_be_beside() -> None:
    near = shares(Ball(np.array([2.05]), np.array([0.1])), 5)
    parts = {share.element.item(): (raw(share.weight).item(), radius(share.weight).item()) for share in near}
    assert {at: sum(part) > 0.04 for at, part in parts.items()} == {1: True, 2: True, 3: True, 4: False}
    near = shares(Ball(np.array([2.05]), np.array([0.1])), 5, rounding=np.floor)
    assert [(share.element.item(), raw(share.weight).item(), radius(share.weight).item()) for share in near] == [
        (1, 0.5, 0.5),
        (2, 0.5, 0.5),
    ]


def test_what_has_the_same_number_is_added_up_in_any_order() -> None:
    x = np.arange(12.0).reshape(3, 4)
    assert grouped(x, np.array([2, 0, 2, 5]), 4, 1).tolist() == [[1, 0, 2, 0], [5, 0, 10, 0], [9, 0, 18, 0]]
    assert grouped(x, np.array([-1, 1, 1]), 2, 0).tolist() == [[0, 0, 0, 0], [12, 14, 16, 18]]
    assert grouped(x, np.array([7, 8, 9]), 2, 0).tolist() == [[0] * 4] * 2
    errors = grouped(Ball(x, np.ones(x.shape)), np.array([1, 1, 1, 0]), 2, 1)
    assert radius(errors).tolist() == [[1, 3]] * 3


def test_what_comes_back_may_be_added_up_in_any_order() -> None:
    ones = [Share(np.zeros(10, int), np.ones(10)), Share(np.ones(10, int), np.zeros(10))]
    sums = spread(Ball(np.full((10, 10), 3.0), None), [ones, ones[:1]], [2, 1])
    found = sums.rounded().value
    assert raw(found).tolist() == [[300], [0]]
    assert radius(found).tolist() == [[100 * 2.0**-24 * 300], [0]]
    assert found.terms == 100
    both = sums.and_(sums).rounded().value
    assert (raw(both).tolist(), radius(both).tolist()) == ([[600], [0]], [[200 * 2.0**-24 * 600], [0]])
    assert spread(np.full((10, 10), 3.0), [ones, ones[:1]], [2, 1]).rounded().value.tolist() == [[300], [0]]
    assert spread(np.full((2, 10), 3.0), [None, ones[:1]], [2, 1]).value.tolist() == [[30], [30]]


def test_what_comes_back_of_an_infinity_with_a_weight_of_0_is_left_out_or_multiplied() -> None:
    near = [
        Share(np.array([0, 1, 2]), np.array([1.0, 0.5, 1.0])),
        Share(np.array([1, 2, 3]), np.array([0.0, 0.5, 0.0])),
    ]
    found = spread(np.array([np.inf, 2, 4]), [near], [4])
    assert right(found.rounded().value) == [{"inf"}, {"1", "nan"}, {"5"}, {"0"}]
    found = spread(np.array([1, np.inf, 4]), [near], [4])
    assert right(found.rounded().value) == [{"1"}, {"inf"}, {"inf"}, {"0"}]


def test_errors_may_give_what_comes_back_of_an_infinity_a_weight_or_none() -> None:
    near = [Share(np.array([0, 0]), Ball(np.array([0.5, 1.0]), np.array([0.5, 0.0])))]
    assert right(spread(np.array([np.inf, 3.0]), [near], [1]).rounded().value) == [{"3", "inf", "nan"}]


def test_the_infinities_of_two_sums_add_up() -> None:
    near = [Share(np.array([0]), np.array([1.0]))]
    positive, negative, one = (spread(np.array([x]), [near], [1]) for x in (np.inf, -np.inf, 1.0))
    pairs = (positive, one), (one, negative), (positive, negative), (one, one)
    found = [right(first.and_(second).rounded().value) for first, second in pairs]
    assert found == [[{"inf"}], [{"-inf"}], [{"nan"}], [{"2"}]]


def test_errors_in_one_direction_add_up() -> None:
    x = Ball(np.array([[1.0, 2], [4, 8]]), np.full((2, 2), 0.25))
    found = total_together(x, (1,))
    assert raw(found).tolist() == [3, 12]
    assert radius(found) == pytest.approx(np.array([0.5, 0.5]), rel=1e-5)
    assert (radius(found) > 0.5).all()
    assert total_together(x.value, (0, 1)) == 15


# ---- weighted sums that see infinite elements or NaN


NO = Seen(np.array([False]), np.array([False]), np.array([False]))
SURELY = Seen(np.array([True]), np.array([True]), np.array([False]))
PERHAPS = Seen(np.array([False]), np.array([True]), np.array([True]))
IN_VAIN = Seen(np.array([False]), np.array([False]), np.array([True]))


@pytest.mark.parametrize(
    ("kinds", "right"),
    [
        (Kinds(NO, NO, NO), {"5"}),
        (Kinds(SURELY, NO, NO), {"inf"}),
        (Kinds(NO, SURELY, NO), {"-inf"}),
        (Kinds(NO, NO, SURELY), {"nan"}),
        (Kinds(SURELY, SURELY, NO), {"nan"}),
        (Kinds(IN_VAIN, NO, NO), {"5", "nan"}),
        (Kinds(NO, NO, IN_VAIN), {"5", "nan"}),
        (Kinds(PERHAPS, NO, NO), {"5", "nan", "inf"}),
        (Kinds(NO, PERHAPS, NO), {"5", "nan", "-inf"}),
        (Kinds(PERHAPS, PERHAPS, NO), {"5", "nan", "inf", "-inf"}),
        (Kinds(PERHAPS, SURELY, NO), {"nan", "-inf"}),
        (Kinds(SURELY, PERHAPS, NO), {"nan", "inf"}),
        (Kinds(SURELY, IN_VAIN, NO), {"nan", "inf"}),
    ],
)
def test_a_sum_is_what_its_weights_make_of_its_infinities(kinds: Kinds, right: set[str]) -> None:
    for sums in (np.array([5.0]), Ball(np.array([5.0]), 0.5, Arithmetic())):
        found = ways_of(with_infinities(sums, kinds))
        assert {f"{raw(way).item():g}" for way in found} == right
