"""Places of tensors, the indices that have them, and their numbers."""

from __future__ import annotations

import numpy as np

from dmlcheck.reference.arrays.places import (
    columns_less_rows,
    numbers_at,
    numbers_of,
    part_at,
    picked,
    right_aligned,
    row_major,
    slices,
    whole_along,
    with_ones_after,
)

X = np.arange(24).reshape(2, 3, 4)


def test_an_index_has_the_places_of_each_dimension_with_their_steps() -> None:
    assert X[slices([range(1, 2), range(0, 3, 2), range(1, 3)])].tolist() == [[[13, 14], [21, 22]]]


def test_places_of_a_dimension_are_an_array() -> None:
    assert numbers_of(range(3, 9, 2)).tolist() == [3, 5, 7]


def test_an_index_may_have_all_of_an_axis() -> None:
    assert whole_along(1, (slice(0, 1), slice(2, 3), slice(3, 4))) == (slice(0, 1), slice(None), slice(3, 4))


def test_elements_are_picked_along_an_axis_of_any_layout() -> None:
    for x in (X, X.T.copy().T):
        assert picked(x, np.array([[2], [0]]), 1).tolist() == np.stack([X[:, 2], X[:, 0]], 1)[:, :, None].tolist()


def test_a_part_has_the_places_of_the_first_axes_and_all_of_what_is_there_once() -> None:
    assert part_at(X, [range(1, 2), range(1, 3)]).tolist() == X[1:2, 1:3].tolist()
    assert part_at(X[:1], [range(1, 2), range(1, 3)]).tolist() == X[:1, 1:3].tolist()
    assert part_at(X, []) is not None
    assert part_at(None, [range(1)]) is None


def test_dimensions_of_size_1_come_after_others() -> None:
    assert with_ones_after(X, 2).shape == (2, 3, 4, 1, 1)
    assert with_ones_after(X, 0).shape == (2, 3, 4)


def test_an_index_gets_or_loses_its_first_dimensions() -> None:
    at, whole = (slice(1, 2), slice(2, 3)), slice(None)
    assert right_aligned(at, 3) == (whole, *at)
    assert right_aligned(at, 2) == at
    assert right_aligned(at, 1) == at[1:]
    assert right_aligned(at, 0) == ()


def test_elements_are_counted_row_major() -> None:
    places = [range(1, 2), range(1, 3), range(4)]
    assert row_major(places, X.shape).tolist() == X[1:, 1:].tolist()
    assert row_major([range(2, 4)], [5], np.float64).tolist() == [2, 3]
    assert row_major([range(2, 4)], [5], np.float64).dtype == np.float64


def test_a_diagonal_is_where_column_less_row_is_the_same() -> None:
    assert columns_less_rows([range(2), range(1, 3), range(3)]).tolist() == 2 * [[[-1, 0, 1], [-2, -1, 0]]]


def test_elements_at_steps_have_their_row_major_numbers() -> None:
    places = [range(2), range(0, 3, 2), range(1, 4, 2)]
    assert numbers_at(places, X.shape).tolist() == X[:, ::2, 1::2].tolist()
