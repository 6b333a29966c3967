"""The bounds of a tensor as they come in: the middle of several right results, and errors within a function's range."""

from __future__ import annotations

import numpy as np
import pytest

from dmlcheck.descs.records import TensorDesc
from dmlcheck.graphs import tensor_bounds
from dmlcheck.graphs.tensor_bounds import TensorBounds
from dmlcheck.reference.bounds import Bound


def test_of_several_right_results_the_middle_is_taken_unless_one_is_not_finite_or_far_off() -> None:
    none = np.zeros(6, bool)
    first = Bound(np.array([16.0, 2.0, 3.0, np.nan, np.inf, 16.0]), np.full(6, 0.5), none)
    other = Bound(np.array([18.0, np.inf, np.nan, np.nan, np.inf, 24.0]), np.full(6, 0.25), none)
    value, radius = tensor_bounds._hull(first._replace(others=(other,)), "FLOAT32")
    assert value.tolist() == pytest.approx([16.875, 2, 3, np.nan, np.inf, 16], nan_ok=True)
    assert radius.tolist() == [1.375, np.inf, np.inf, 0, 0, np.inf]


def test_whole_numbers_are_rounded_only_where_the_type_does_not_hold_all_of_their_size() -> None:
    values, radius = np.array([2.5, 2.0**23, 2.0**25 + 2.0**-3]), np.array([0.5, 0, 0])
    for is_whole, expected in ((True, [0.5, 0, 2.0]), (False, [0.5 + 3 * 2.0**-24, 0, 2.0])):
        made = TensorBounds(TensorDesc("FLOAT32", (3,)), (-np.inf, np.inf), is_whole=is_whole)
        made.put(np.arange(3), Bound(values, radius, np.zeros(3, bool)))
        assert made.radius.tolist() == pytest.approx(expected, rel=1e-7)


def test_exact_results_that_the_type_holds_are_not_rounded_but_denormals_may_be_flushed() -> None:
    values = np.array([1.0, 65504.0, 0.1, 2.0**-20, 0.0])
    for is_chosen, flushed in ((False, 2.0**-20), (True, 0.0)):
        made = TensorBounds(TensorDesc("FLOAT16", (5,)), (-np.inf, np.inf), is_chosen=is_chosen)
        made.put(np.arange(5), Bound(values, np.zeros(5), np.zeros(5, bool)))
        assert made.radius.tolist() == [0, 0, 0.1 * 2.0**-11, flushed, 0]


def test_a_wider_radius_stays_within_the_range_of_the_function() -> None:
    made = TensorBounds(TensorDesc("FLOAT64", (3,)), (0.0, 1.0))
    made.put(np.arange(3), Bound(np.array([0.25, 0.5, 1.0]), np.full(3, 0.125), np.zeros(3, bool), is_rounded=False))
    made.widen(np.array([0.5, 9.0, 0.0]))
    assert made.radius.tolist() == [0.5, 0.5, 0.125]


def test_errors_of_one_cause_are_no_larger_than_all_errors_and_lie_in_the_buffer_as_these_do() -> None:
    made = TensorBounds(TensorDesc("FLOAT64", (2,), strides=(2,)), (-np.inf, np.inf))
    made.put(np.arange(2), Bound(np.array([1.0, 2.0]), np.array([0.5, 0.25]), np.zeros(2, bool), is_rounded=False))
    likely = TensorBounds(made.tensor, made.limits)
    made.shared, likely.shared = np.array([0.25, 1.0]), np.zeros(2)
    found = made.carried(likely)
    assert found.radius is not None
    assert found.shared is not None
    assert (found.radius.tolist(), found.shared.tolist()) == ([0.5, 0, 0.25], [0.25, 0, 0.25])
    assert found.likely_shared is None


def test_likely_errors_around_another_middle_are_larger_by_the_distance_and_no_larger_than_all_errors() -> None:
    made, likely = (TensorBounds(TensorDesc("FLOAT64", (3,)), (-np.inf, np.inf)) for _ in range(2))
    none = np.zeros(3, bool)
    made.put(np.arange(3), Bound(np.array([1.0, 2.0, np.inf]), np.full(3, 0.5), none, is_rounded=False))
    likely.put(np.arange(3), Bound(np.array([1.25, 3.0, np.inf]), np.full(3, 0.125), none, is_rounded=False))
    found = made.carried(likely)
    assert found.likely is not None
    assert found.likely.tolist() == [0.375, 0.5, 0.125]


@pytest.mark.parametrize("places", [[0, 1, 2, 3, 4, 5], [2, 3, 4], [5], [0, 2, 4], [0, 1, 4, 5]])
def test_bounds_of_runs_and_of_other_places_are_put_there(places: list[int]) -> None:
    made, at = TensorBounds(TensorDesc("FLOAT64", (6,)), (-np.inf, np.inf)), np.array(places)
    value, undefined = at + 0.5, at == places[-1]
    made.put(at, Bound(value, np.full(at.size, 0.25), undefined, is_rounded=False))
    assert made.value is not None
    assert made.value[at].tolist() == value.tolist()
    assert made.radius[at].tolist() == [0.25] * (at.size - 1) + [np.inf]
    others = np.delete(np.arange(6), at)
    assert not made.value[others].any()
    assert not made.radius[others].any()


def test_bounds_of_all_elements_are_taken_as_they_are_unless_they_are_a_part_of_others() -> None:
    values, radii = np.arange(8.0), np.full(4, 0.5)
    found = TensorBounds(TensorDesc("INT32", (4,)), (-np.inf, np.inf))
    found.put(np.arange(4), Bound(values[4:], radii, np.zeros(4, bool), 1, is_rounded=True))
    assert found.value is not None
    assert found.value.tolist() == [4, 5, 6, 7]
    assert not np.shares_memory(found.value, values)
    assert found.radius is radii
