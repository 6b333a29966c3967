"""Functions of numbers with the bounds of all the ways in which they may be computed."""

from __future__ import annotations

import numpy as np
import pytest

from dmlcheck.reference.ball.numbers import Arithmetic, Ball
from dmlcheck.reference.functions.several_ways import (
    as_measured_powers,
    blended,
    moving_mean,
    of_values,
    powers,
    sequence,
    summed_in_type,
    sums_or_infinity,
    with_published_error,
)
from dmlcheck.reference.results import ways_of, with_measured

INF, NAN = np.inf, np.nan
FLOAT32 = Arithmetic()


def as_balls(*values: float, error: float = 0.0) -> Ball:
    return Ball(np.array(values), error, FLOAT32)


def test_a_condition_of_values_has_no_doubt() -> None:
    found = of_values(lambda x, y: (x == 0) & (y > 1), as_balls(0, 1, error=3), 2)
    assert isinstance(found, np.ndarray)
    assert found.tolist() == [True, False]


def test_a_sequence_has_the_sum_and_where_they_differ_the_product() -> None:
    def ways(start: float, delta: float) -> list[list[float]]:
        with np.errstate(all="ignore"):
            return [way.tolist() for way in ways_of(sequence(np.arange(3.0), start, delta, "FLOAT32"))]

    assert str(ways(-INF, 3e38)) == "[[-inf, -inf, nan], [-inf, -inf, -inf]]"
    assert str(ways(1, NAN)) == "[[nan, nan, nan], [1.0, nan, nan]]"
    assert ways(-3.0, 3e38)[0] == [-3.0, 3e38, INF]  # DirectML's first
    assert ways(1, 2) == [[1, 3, 5]]


def test_a_power_may_be_nan_where_its_logarithm_is_none() -> None:
    x = np.array([-INF, -INF, INF, NAN, -2, -0.5, -1, 1, 1, 1])
    y = np.array([0.5, -0.5, 0, 0, INF, INF, INF, INF, -INF, NAN])
    first, other = ways_of(powers(x, y))  # DirectML's first
    assert np.isnan(first).all()
    assert other.tolist() == [INF, 0, 1, 1, INF, 0, 1, 1, 1, 1]


def test_other_powers_have_one_result() -> None:
    x = np.array([-INF, -INF, 4, INF, 3, -3, 2, 0.5, 0, 1, -2])
    y = np.array([2, 3, 0.5, 0.5, 0, 0, INF, INF, INF, 2, 3])
    assert powers(x, y).tolist() == [INF, -INF, 2, INF, 1, 1, INF, 0, 0, 1, -8]


def test_measured_powers_of_0_are_undefined_in_float16_alone() -> None:
    of_0 = np.array([True, False, True])
    where = np.array([True, True, False])
    for data_type, unknown in (("FLOAT16", [True, False, False]), ("FLOAT32", [False, False, False])):
        _, is_undefined, is_measured = with_measured(as_measured_powers(np.ones(3), where, of_0, data_type))
        assert is_undefined.tolist() == unknown
        assert is_measured.tolist() == [True, True, False]


def test_sums_of_float16_are_first_those_of_float32() -> None:
    beyond = {"FLOAT16": 2.0**16, "FLOAT32": 2.0**128}
    for data_type, total in beyond.items():
        with np.errstate(over="ignore"):
            found = [float(way[0]) for way in sums_or_infinity(np.array([total]), data_type)]
        assert found == ([total, INF] if data_type == "FLOAT16" else [INF, total])


def test_a_moving_mean_may_move_by_the_difference() -> None:
    assert moving_mean(np.array([4.0]), np.array([8.0]), 0.75).tolist() == [5]
    mean, x = as_balls(1e20), as_balls(1)  # the difference has the rounding of the mean, which the weight makes small
    found = moving_mean(mean, x, 2.0**-60)
    assert abs(found.value - (1e20 * 2.0**-60 + 1)) < found.radius
    assert found.radius > 2.0**-24 * 1e20 / 2


def test_a_blend_has_the_roundings_of_the_difference_too() -> None:
    """1 - 1 leaves nothing of the large number, which the difference of both rounds."""
    assert blended(np.array([0.25]), np.array([4.0]), np.array([8.0]), "FLOAT32").value.tolist() == [5]
    found, mark = blended(as_balls(1), as_balls(1000.3), as_balls(0.001), "FLOAT32")
    assert (found.value.tolist(), bool(mark.any())) == ([0.001], False)
    assert 1000 * 2.0**-25 < float(found.radius[0]) < 1000 * 2.0**-22


INF, NAN = np.inf, np.nan
BLENDS = {  # share, new and old, the result, and whether it depends on the way in FLOAT32
    "ordinary numbers": (0.25, 4.0, 8.0, 5.0, False),
    "both terms overflow to one side": (2.0, -3e38, 3e38, 9e38, False),
    "both terms overflow to opposite sides": (-2.0, 3e38, 3e38, 3e38, True),
    "a term overflows and comes back": (2.0, 3e38, 2e38, 1e38, True),
    "the result overflows with one term": (3.0, -1e38, 3e38, 1.1e39, False),
    "the difference overflows alone": (0.5, 3e38, -3e38, 0.0, True),
    "the difference overflows like the result": (2.0, -3e38, 2e38, 7e38, False),
    "an infinite state": (0.5, 1.0, INF, INF, False),
    "an infinite number, of which the difference gives NaN": (0.5, INF, 1.0, INF, True),
    "NaN in both ways": (0.5, INF, -INF, NAN, False),
    "NaN": (0.5, NAN, 1.0, NAN, False),
}


@pytest.mark.parametrize("name", BLENDS)
def test_a_blend_is_undefined_where_the_way_decides_whether_it_overflows(name: str) -> None:
    share, new, old, result, is_undefined = BLENDS[name]
    with np.errstate(all="ignore"):
        found, mark = blended(*(np.array([x]) for x in (share, new, old)), "FLOAT32")
        assert (found.tolist(), bool(mark.any())) == (pytest.approx([result], nan_ok=True), is_undefined)
        assert blended(*map(as_balls, (share, new, old)), "FLOAT32").where.any() == is_undefined


def test_a_sum_of_terms_knows_the_type_that_it_may_overflow() -> None:
    terms = np.array([60000.0, 5.0]), np.array([9000.0, 1.0]), np.array([-9000.0, 2.0])
    for data_type, marks in (("FLOAT16", [True, False]), ("FLOAT32", [False, False])):
        found, mark = summed_in_type(data_type, *terms)
        assert (found.tolist(), np.broadcast_to(mark, 2).tolist()) == ([60000, 8], marks)


@pytest.mark.parametrize(("data_type", "least"), [("FLOAT32", 2 * 2.0**-24), ("FLOAT16", 0)])
def test_a_published_bound_is_the_least_in_float32(data_type: str, least: float) -> None:
    x = Ball(np.array([0.75]), 0.0, FLOAT32._replace(data_type=data_type))
    assert with_published_error(x, 3).radius.tolist() == [least]
    wide = Ball(np.array([0.75]), 0.5, FLOAT32)
    assert with_published_error(wide, 3).radius.tolist() == [0.5]
    assert with_published_error(0.75, 3) == 0.75
