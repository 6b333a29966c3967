"""The difference between two results of one output: how large it is, where, and what the tolerances explain."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dmlcheck.comparison.difference import OutputDifference, difference
from dmlcheck.comparison.records import LARGEST
from dmlcheck.descs.records import TensorDesc


def between(first: Any, second: Any, data_type: str = "FLOAT32", **given: Any) -> OutputDifference:
    """Return the difference between two lists of values."""
    types = {"FLOAT32": np.float32, "FLOAT16": np.float16, "INT32": np.int32, "UINT64": np.uint64}
    one, other = (np.array(values, types[data_type]) for values in (first, second))
    masks = {"ignored": None, "allowed": None, **given}
    return difference(TensorDesc(data_type, one.shape), one, other, **masks)


def test_equal_results_do_not_differ() -> None:
    assert between([1, math.nan, 0.0], [1, math.nan, -0.0]) == OutputDifference("FLOAT32", 3)


@pytest.mark.parametrize(
    ("data_type", "first", "second", "ulp"),
    [
        ("FLOAT32", 4.0, 5.0, 2.0**21),  # a unit of 4 to 8 is 2 ** -21
        ("FLOAT16", 1.0, 1.0 + 2.0**-10, 1.0),
        ("FLOAT32", 1.0, math.inf, LARGEST),
        ("FLOAT32", 1.0, math.nan, LARGEST),
        ("INT32", -(2**31), 2**31 - 1, 2**32 - 1),
        ("UINT64", 2**64 - 1, 1, 2**64 - 2),
    ],
)
def test_a_difference_is_in_units_of_the_larger_value(data_type: str, first: Any, second: Any, ulp: float) -> None:
    found = between([[0, first]], [[0, second]], data_type)
    assert (found.differing, found.beyond, found.place) == (1, 0, (0, 1))
    assert found.ulp == ulp
    assert type(found.ulp) is (float if data_type.startswith("FLOAT") else int)


def test_elements_that_are_left_open_do_not_differ() -> None:
    found = between([1, 2], [3, 2.5], ignored=np.array([True, False]))
    assert (found.differing, found.place, found.first, found.second) == (1, (1,), 2.0, 2.5)


def test_twice_the_tolerance_explains_a_difference() -> None:
    """Two results may be as far from the right one as the tolerance says, on either side."""
    first, second = [1.0, 1.0, 8.0], [1.5, 1.75, 0.0]
    found = between(first, second, allowed=np.array([0.25, 0.25, math.inf]))
    assert (found.differing, found.beyond) == (3, 1)
    assert (found.place, found.first, found.second) == ((1,), 1.0, 1.75), "not the larger one, which is explained"


def test_no_tolerance_explains_nan_or_an_infinity_in_one_of_them() -> None:
    assert between([1, 1], [math.nan, math.inf], allowed=np.array([5.0, 5.0])).beyond == 2
