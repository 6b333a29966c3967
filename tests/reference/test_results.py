"""Results of formulas: undefined elements, and alternatives."""

from __future__ import annotations

import numpy as np

from dmlcheck.reference.results import (
    Alternatives,
    AsMeasured,
    PartlyUndefined,
    all_undefined,
    alternatives,
    any_of,
    or_nan,
    separated,
    stacked,
    ways_of,
    with_measured,
    without_alternatives,
)


def test_ways_that_differ_are_kept_and_those_that_do_not_are_one() -> None:
    x, same, other = np.array([1.0, np.nan]), np.array([1.0, np.nan]), np.array([2.0, np.nan])
    found = alternatives(x, same, other, of=lambda y: y * 2)
    assert isinstance(found, Alternatives)
    np.testing.assert_array_equal(found.ways, [[2, np.nan], [4, np.nan]])
    np.testing.assert_array_equal(alternatives(x, x, same, of=lambda y: y + 1), [2, np.nan])


def test_the_marks_of_all_ways_count() -> None:
    ways = (PartlyUndefined(np.array([1, 2]), np.array([True, False])), np.array([3, 4]))
    value, is_undefined = separated(PartlyUndefined(Alternatives(ways), np.array([False, False])))
    assert [way.tolist() for way in value.ways] == [[1, 2], [3, 4]]
    assert is_undefined.tolist() == [True, False]
    assert separated(Alternatives((1, 2))) == (Alternatives((1, 2)), False)


def test_what_was_measured_is_undefined_unless_it_is_asked_for() -> None:
    value, own, measured = with_measured(
        PartlyUndefined(AsMeasured(np.array([1, 2, 3]), np.array([True, True, False])), np.array([True, False, False]))
    )
    assert [value.tolist(), own.tolist(), measured.tolist()] == [[1, 2, 3], [True, False, False], [True, True, False]]
    assert separated(AsMeasured(np.array([1, 2]), np.array([True, False])))[1].tolist() == [True, False]
    ways = Alternatives((AsMeasured(np.array([1]), np.array([True])), np.array([2])))
    assert [mark if mark is False else mark.tolist() for mark in with_measured(ways)[1:]] == [False, [True]]


def test_any_of_several_readings_is_right_and_undefined_where_one_of_them_is() -> None:
    x, y = np.array([1.0, 2.0]), np.array([1.0, 3.0])
    found, mark = separated(any_of(PartlyUndefined(x, np.array([True, False])), alternatives(y, x)))
    assert [way.tolist() for way in ways_of(found)] == [[1, 2], [1, 3]]
    assert mark.tolist() == [True, False]
    assert any_of(x, x.copy()) is x


def test_results_may_be_nan_in_some_places() -> None:
    x = np.array([1.0, 2.0])
    assert or_nan(x, np.array([False, False])) is x
    assert str([way.tolist() for way in ways_of(or_nan(x, np.array([False, True])))]) == "[[1.0, nan], [1.0, 2.0]]"


def test_parts_are_stacked_with_as_many_readings_as_any_of_them_has() -> None:
    parts = [np.array([1.0, 2]), Alternatives((np.array([3.0, 4]), np.array([5.0, 4]), np.array([6.0, 4])))]
    found = stacked([*parts, PartlyUndefined(np.array([7.0, 8]), np.array([True, False]))])
    value, is_undefined, is_measured = with_measured(found)
    assert [way.tolist() for way in value.ways] == [[[1, 2], [x, 4], [7, 8]] for x in (3, 5, 6)]
    assert is_undefined.tolist() == [[False, False], [False, False], [True, False]]
    assert not is_measured.any()
    alone = stacked([all_undefined((2,)), AsMeasured(parts[0], np.array([False, True]))])
    assert [each.tolist() for each in with_measured(alone)] == [
        [[0, 0], [1, 2]], [[True, True], [False, False]], [[False, False], [False, True]],
    ]  # fmt: skip


def test_results_of_several_ways_each_of_several_results_are_one_list() -> None:
    ways = [np.array([float(number)]) for number in range(4)]
    found, _ = separated(
        Alternatives(
            (Alternatives((ways[0], ways[1])), PartlyUndefined(Alternatives((ways[2], ways[3])), np.array([False])))
        )
    )
    assert [way.tolist() for way in ways_of(found)] == [[0], [1], [2], [3]]


def test_results_without_alternatives_are_undefined_where_these_differ() -> None:
    ways = Alternatives((np.array([1.0, 2.0, np.nan]), np.array([1.0, 3.0, np.nan])))
    found = without_alternatives(PartlyUndefined(ways, np.array([True, False, False])))
    assert found.value.tolist()[:2] == [1, 2]
    assert found.where.tolist() == [True, True, False]
