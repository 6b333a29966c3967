"""Tensors that go on beyond their edges."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dmlcheck.reference.engine import blocks_of
from dmlcheck.reference.functions.edges import SumsAtEdges, continued, sums_at_edges
from dmlcheck.reference.results import AsMeasured, PartlyUndefined

X = np.array([1, 2, 3])


def whole(x: Any, places: list[range], mode: str) -> tuple[list[Any], list[Any]]:
    """Return the elements at some places, put together from their blocks, and the mask of those measured."""
    found = continued(x, places, mode)
    values, mask = np.full(found.shape, -1), np.zeros(found.shape, bool)
    for cut, part, is_undefined, is_measured in blocks_of(found):
        assert (values[cut] == -1).all()
        assert not is_undefined
        values[cut], mask[cut] = part, is_measured
    return values.tolist(), mask.tolist()


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("EDGE", [1, 1, 1, 1, 1, 2, 3, 3, 3, 3, 3]),
        ("REFLECTION", [1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3]),
        ("SYMMETRIC", [3, 3, 2, 1, 1, 2, 3, 3, 2, 1, 1]),
        ("WRAP", [3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1]),
    ],
)
def test_each_mode_goes_on_at_both_edges(mode: str, expected: list[int]) -> None:
    """The places -4 to 6: the elements 1, 2, 3 are at 0, 1, 2."""
    assert whole(X, [range(-4, 7)], mode)[0] == expected


# ---- sums at the edges


def added(places: list[range], ends: list[int]) -> Any:
    """Return which places of a plane with one more element on each axis are added at its ends."""
    sizes = SimpleNamespace(sizes=(1, 1, *(end + 1 for end in ends)))
    given = {"output": sizes, "output_padding": [1] * len(ends), "direction": "FORWARD"}
    return sums_at_edges(given, [range(1), range(1), *places], unmet=False).added


def test_places_are_added_at_the_end_along_any_dimension() -> None:
    assert added([range(1, 13, 3)], [7]).tolist() == [False, False, True, True]
    assert added([range(7, 13, 3)], [8]).tolist() == [False, True]
    assert not added([range(4)], [4]).any()
    assert added([range(2), range(2)], [1, 1]).tolist() == [False, True, True, True]


def test_only_a_padded_sum_has_the_products_of_all_of_the_filter() -> None:
    unmet, sums = np.array([True, False]), np.array([3.0, 5.0])
    padded, plain = (SumsAtEdges(unmet, np.zeros(2, bool), is_padded) for is_padded in (True, False))
    assert np.isnan(padded.of_all(sums)).tolist() == [True, False]
    assert plain.of_all(sums).tolist() == [3, 5]
    assert isinstance(padded.results(np.negative, sums), AsMeasured)
    assert isinstance(plain.results(np.negative, sums), PartlyUndefined)
