"""One output against what is expected of it: what is accepted, what is counted, and where it is said to be."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import oracle
import pytest
from without_roundings import no_roundings

from dmlcheck.comparison import compare
from dmlcheck.comparison.records import Element, OutputResult
from dmlcheck.comparison.tolerances import Limit
from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.reference.bounds import Bound, bounds
from dmlcheck.reference.limits.precision import Precision
from dmlcheck.specs.records import Tolerance

Array = np.ndarray[Any, Any]

EXACT = Limit(Tolerance(exact=True), is_own=True)
MOST = 1.7976931348623157e308  # stands for an infinite error


def own(**limits: float) -> Limit:
    """Return the tolerance of a case."""
    return Limit(Tolerance(**limits), is_own=True)


Bounds = Callable[..., Iterator[tuple[str, Array, Bound]]]


def judged(
    expected: Sequence[Any],
    actual: Sequence[Any],
    data_type: str,
    limit: Limit,
    sizes: tuple[int, ...] | None = None,
    bounds_of: Bounds = no_roundings,
) -> OutputResult:
    """Compare two lists of elements."""
    sizes = sizes or (len(expected),)
    arrays = [np.array(values, dtype=oracle.NUMPY[data_type]).reshape(sizes) for values in (expected, actual)]
    for array, values in zip(arrays, (expected, actual), strict=True):
        assert oracle.same(array.reshape(-1).tolist(), values)
    return compared(*arrays, TensorDesc(data_type, sizes), limit, bounds_of)


def compared(
    expected: Array, actual: Array, tensor: TensorDesc, limit: Limit, bounds_of: Bounds = no_roundings
) -> OutputResult:
    """Compare one output, which goes by OutputTensor."""
    outputs = compare.compare({"OutputTensor": (tensor, expected)}, {"OutputTensor": actual}, limit, bounds_of)
    return outputs["OutputTensor"].result


def bounds_of(desc: OperatorDesc, tensor: Array, accumulate: str = "FLOAT32") -> Bounds:
    """Return what gives the bounds of an operator of one input."""
    return partial(bounds, desc, {"InputTensor": tensor}, precision=Precision(accumulate))


def accepts(expected: float, actual: float, data_type: str, limit: Limit) -> bool:
    """Whether one element is within the tolerance."""
    return judged([expected], [actual], data_type, limit).mismatches == 0


def refuse(*_: Any, **__: Any) -> Any:
    """Give no bounds."""
    pytest.fail("asked")


# ---- equal elements


@pytest.mark.parametrize(
    ("data_type", "values"),
    [
        ("FLOAT32", [1.5, -2.0, math.inf, -math.inf]),
        ("FLOAT16", [65504.0, 2.0**-24]),
        ("FLOAT64", [0.1, 1e300]),
        ("INT64", [-(2**63), 2**63 - 1]),
        ("UINT64", [0, 2**64 - 1]),
        ("UINT8", [0, 255]),
    ],
)
def test_equal_elements_are_right_and_no_bounds_are_asked_for(data_type: str, values: list[Any]) -> None:
    result = judged(values, values, data_type, EXACT, bounds_of=refuse)
    assert result == OutputResult(len(values), data_type=data_type, sizes=(len(values),))
    assert (result.mismatches, result.max_ulp, result.max_share) == (0, 0.0, None)


@pytest.mark.parametrize(
    ("x", "y", "is_found"),
    [
        ([1.0, math.nan], [1.0, math.nan], True),
        ([1.0, 2.0], [1.0, 3.0], False),
        ([0.0], [-0.0], False),  # equal, which takes a closer look
        ([1.0] * 512, [1.0] * 512, True),
        ([1.0] * 513, [1.0] * 513, False),  # more than 4,096 bytes
    ],
)
def test_equal_bytes_of_small_arrays_are_found(x: list[float], y: list[float], is_found: bool) -> None:
    assert compare.have_equal_bytes(np.array(x), np.array(y)) == is_found


@pytest.mark.parametrize("data_type", oracle.FLOATS)
def test_zeros_have_no_sign(data_type: str) -> None:
    assert judged([0.0, -0.0], [-0.0, 0.0], data_type, EXACT).mismatches == 0


@pytest.mark.parametrize("data_type", oracle.FLOATS)
def test_nan_is_nan_whatever_its_bits(data_type: str) -> None:
    expected = np.array([math.nan, 1.0], dtype=oracle.NUMPY[data_type])
    actual = np.copysign(expected, np.array([-1, 1], dtype=expected.dtype))
    assert expected.tobytes() != actual.tobytes()
    result = compared(expected, actual, TensorDesc(data_type, (2,)), EXACT)
    assert (result.mismatches, result.max_ulp, result.first) == (0, 0, ())


@pytest.mark.parametrize("limit", [EXACT, own(ulp=1e300), own(absolute=1e300), own(relative=1e300)])
@pytest.mark.parametrize(("expected", "actual"), [(math.nan, 1.0), (1.0, math.nan), (math.nan, math.inf)])
def test_nan_is_no_number_under_any_tolerance(expected: float, actual: float, limit: Limit) -> None:
    result = judged([expected, 2.0], [actual, 2.0], "FLOAT32", limit)
    assert result.mismatches == 1
    assert result.max_ulp == MOST
    assert oracle.same([result.first[0].expected, result.first[0].actual], [expected, actual])


# ---- what differs


def test_what_differs_is_seen_in_any_part_of_an_output() -> None:
    expected = np.array([[1, math.nan, 0.0], [math.inf, -0.0, 2]], np.float32)
    actual = np.array([[1, math.nan, -0.0], [math.inf, 5, math.nan]], np.float32)
    differs = compare.Differing(expected, actual, is_float=True)
    assert differs.shape == (2, 3)
    assert differs[...].tolist() == [[False, False, False], [False, True, True]]
    for where in (0, 1, (1, 2), (slice(None), 1), slice(1, None), (), (slice(None), slice(0, 3, 2))):
        assert np.asarray(differs[where]).tolist() == differs[...][where].tolist()
    assert differs.any()
    assert not compare.Differing(expected[:1], actual[:1], is_float=True).any()


def test_a_profile_has_the_errors_outside_the_tolerance_alone() -> None:
    unit = 2.0**-23
    found = judged([1, 1, 1, 1], [1 + unit, 1 + 4 * unit, 1, 1 + 2 * unit], "FLOAT32", own(ulp=3))
    assert (found.profile, found.mismatches, found.max_ulp) == ((0, 4, 0, 0), 1, 4)


def test_what_differs_is_given_in_pairs_by_its_position() -> None:
    expected = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    actual = np.asfortranarray(expected + 100)
    wanted, found = compare.Differing(expected, actual, is_float=False).pair(np.array([5, 0, 23]))
    assert (wanted.tolist(), found.tolist()) == ([5, 0, 23], [105, 100, 123])


def test_an_output_in_another_order_in_memory_is_compared_by_its_index() -> None:
    right = np.arange(12, dtype=np.int32).reshape(3, 4)
    actual = np.asfortranarray(right)
    tensor = TensorDesc("INT32", (3, 4))
    assert compared(right, actual, tensor, EXACT).mismatches == 0
    actual[2, 1] = -1
    result = compared(right, actual, tensor, EXACT)
    assert [element.place for element in result.first] == [(2, 1)]


# ---- tolerances


@pytest.mark.parametrize(
    ("limit", "expected", "actual", "accepted"),
    [
        (EXACT, 1.0, 1 + 2.0**-23, False),
        (own(ulp=1), 1.0, 1 + 2.0**-23, True),
        (own(ulp=1), 1.0, 1 + 2.0**-22, False),
        (own(ulp=1), 1.0, 1 - 2.0**-23, True),  # two floats away, half a unit each
        (own(ulp=0.5), 1.0, 1 - 2.0**-24, True),
        (own(ulp=0.5), 1.0, 1 + 2.0**-23, False),
        (own(ulp=0.5), 1.0, 1 - 2.0**-23, False),
        (own(ulp=1.5), 1.0, 1 - 3 * 2.0**-24, True),
        (own(ulp=1.4999), 1.0, 1 - 3 * 2.0**-24, False),
        (own(ulp=3), -4.0, -4 - 3 * 2.0**-21, True),
        (own(ulp=3), -4.0, -4 - 4 * 2.0**-21, False),
        (own(ulp=2), 2.0**-149, 3 * 2.0**-149, True),
        (own(ulp=2), 2.0**-149, 4 * 2.0**-149, False),
        (own(ulp=2), 2.0**-149, -(2.0**-149), True),
        (own(absolute=0.25), 1.0, 1.25, True),
        (own(absolute=0.25), 1.0, 0.75, True),
        (own(absolute=0.25), 1.0, 1.25 + 2.0**-23, False),
        (own(absolute=0.2499999), 1.0, 1.25, False),
        (own(absolute=0.25), 0.0, -0.25, True),
        (own(relative=0.125), 8.0, 9.0, True),
        (own(relative=0.125), -8.0, -7.0, True),
        (own(relative=0.125), 8.0, 9.0 + 2.0**-20, False),
        (own(relative=0.125), 7.0, 8.0, False),  # of the expected value, not of the larger
        (own(relative=0.125), 0.0, 2.0**-149, False),
        (own(ulp=1, absolute=0.5), 1.0, 1.5, True),
        (own(ulp=1, absolute=0.5), 2.0**30, 2.0**30 + 128, True),
        (own(ulp=1, absolute=0.5), 1.0, 1.5 + 2.0**-23, False),  # either of them, not their sum
        (own(relative=0.25, absolute=0.5, ulp=1), 4.0, 5.0, True),
        (own(relative=0.25, absolute=0.5, ulp=1), 4.0, 5.5, False),
    ],
)
def test_any_limit_that_holds_accepts_up_to_and_including_itself(
    limit: Limit, expected: float, actual: float, accepted: bool
) -> None:
    assert accepts(expected, actual, "FLOAT32", limit) is accepted


@pytest.mark.parametrize(
    ("data_type", "unit"), [("FLOAT16", 2.0**-24), ("FLOAT32", 2.0**-149), ("FLOAT64", 2.0**-1074)]
)
def test_the_unit_at_0_is_the_least_denormal(data_type: str, unit: float) -> None:
    assert accepts(0.0, unit, data_type, own(ulp=1))
    assert not accepts(0.0, 2 * unit, data_type, own(ulp=1))
    assert judged([0.0], [-3 * unit], data_type, EXACT).max_ulp == 3


@pytest.mark.parametrize(("data_type", "unit"), [("FLOAT16", 2.0**-10), ("FLOAT32", 2.0**-23), ("FLOAT64", 2.0**-52)])
def test_units_are_those_of_the_data_type(data_type: str, unit: float) -> None:
    assert judged([1.0], [1 + 5 * unit], data_type, EXACT).max_ulp == 5
    assert judged([1 + 5 * unit], [1.0], data_type, EXACT).max_ulp == 5
    assert judged([1.0], [1 - unit / 2], data_type, EXACT).max_ulp == 0.5
    assert judged([2.0], [2 - unit], data_type, EXACT).max_ulp == 0.5


@pytest.mark.parametrize("data_type", ["INT8", "UINT32", "INT64", "UINT64"])
@pytest.mark.parametrize("limit", [own(absolute=2), own(relative=0.02)])
def test_a_cases_own_tolerance_holds_for_integers(data_type: str, limit: Limit) -> None:
    assert judged([100, 100], [102, 98], data_type, limit).mismatches == 0
    assert judged([100, 100], [103, 97], data_type, limit).mismatches == 2


# ---- infinities


@pytest.mark.parametrize(
    ("limit", "expected", "actual", "accepted"),
    [
        # From 65504 it is 16 to where rounding goes to infinity, half a unit of 32.
        (own(ulp=1), 65504.0, math.inf, True),
        (own(ulp=0.5), 65504.0, math.inf, True),
        (own(absolute=16), 65504.0, math.inf, True),
        (own(absolute=1), 65504.0, math.inf, False),
        (own(ulp=0.25), 65504.0, math.inf, False),
        (EXACT, 65504.0, math.inf, False),
        (own(ulp=1), -65504.0, -math.inf, True),
        (own(ulp=1), -65504.0, math.inf, False),
        (own(ulp=1), 65440.0, math.inf, False),
        (own(ulp=3), 65440.0, math.inf, True),
        (own(relative=0.1), 60000.0, math.inf, True),
        (own(relative=0.01), 60000.0, math.inf, False),
        (own(absolute=1e5), 0.0, math.inf, False),
        (own(ulp=1), math.inf, -math.inf, False),
        (own(ulp=1e9), math.inf, 1.0, False),
    ],
)
def test_infinity_is_accepted_where_the_tolerance_reaches_beyond_the_largest_number(
    limit: Limit, expected: float, actual: float, accepted: bool
) -> None:
    assert accepts(expected, actual, "FLOAT16", limit) is accepted


@pytest.mark.parametrize(
    ("data_type", "largest"), [("FLOAT32", 2.0**128 - 2.0**104), ("FLOAT64", math.ldexp(1 - 2.0**-53, 1024))]
)
def test_overflow_of_the_wider_types(data_type: str, largest: float) -> None:
    assert accepts(largest, math.inf, data_type, own(ulp=0.5))
    assert not accepts(largest, math.inf, data_type, own(ulp=0.25))
    assert not accepts(largest / 2, math.inf, data_type, own(ulp=4))
    assert not accepts(largest, math.inf, data_type, EXACT)


def test_an_accepted_overflow_is_at_its_bound_and_no_mismatch() -> None:
    result = judged([65504.0, 1.0], [math.inf, 1.0], "FLOAT16", own(ulp=1))
    assert (result.mismatches, result.max_share, result.first, result.worst) == (0, 1.0, (), None)


# ---- the bound of an accumulation


@pytest.mark.parametrize("limit", [own(relative=0.5), own(ulp=1), own(absolute=1)])
@pytest.mark.parametrize("expected", [math.inf, math.nan])
def test_a_number_in_the_place_of_infinity_or_nan_is_worse_than_one_beyond_its_bound(
    expected: float, limit: Limit
) -> None:
    result = judged([1.0, expected, 1.0, 1.0], [5.0, 5.0, 1e9, 1 + 2.0**-23], "FLOAT32", limit)
    assert (result.mismatches, result.max_ulp, result.max_share) == (3, MOST, MOST)
    assert result.worst is not None
    assert (result.worst.place, result.worst.share) == ((1,), math.inf)
    result = judged([1.0, expected], [1 + 2.0**-23, 5.0], "FLOAT32", limit)
    assert result.worst is not None
    assert (result.mismatches, result.worst.place, result.worst.share) == (1, (1,), math.inf)


@pytest.mark.parametrize(("data_type", "units"), [("FLOAT32", 4 * 2.0**23), ("INT32", 4)])
def test_an_element_with_an_infinite_bound_has_no_share_of_it(data_type: str, units: float) -> None:
    unlimited = Bound(np.array([1.0]), np.array([math.inf]), np.array([False]))
    result = judged([1], [5], data_type, Limit(None), None, lambda _, **__: given(unlimited))
    assert (result.mismatches, result.max_share, result.bound) == (0, 0, "anything")
    assert result.closest is None
    assert result.most_off is not None
    assert (result.most_off.ulp, result.most_off.share, result.most_off.is_unlimited) == (units, None, True)


def test_an_infinite_bound_has_no_share_and_leaves_those_of_other_elements() -> None:
    bound = Bound(np.array([1.0, 1.0]), np.array([math.inf, 2.0**-23]), np.array([False, False]))
    result = judged([1.0, 1.0], [5.0, 1 + 2.0**-23], "FLOAT32", Limit(None), None, lambda _, **__: given(bound))
    assert result.closest is not None
    assert (result.closest.place, result.closest.share, result.max_share) == ((1,), 0.5, 0.5)
    assert result.bound == "2 ULP"


@pytest.mark.parametrize("value", [math.nan, -math.inf])
@pytest.mark.parametrize("actual", [5.0, -math.inf, math.inf, math.nan])
def test_where_rounding_decides_that_there_is_no_number_an_infinity_and_nan_are_both_right(
    value: float, actual: float
) -> None:
    is_equal = actual == value or (math.isnan(actual) and math.isnan(value))
    assert with_bound(value, actual, value, math.inf).mismatches == (actual == 5)
    assert with_bound(value, actual, value, 1.0).mismatches == (not is_equal)


@pytest.mark.parametrize("actual", [-88.0, 5.0, -math.inf, math.nan])
def test_where_nothing_bounds_a_number_its_formula_may_give_none(actual: float) -> None:
    assert with_bound(-87.0, actual, -math.inf, math.inf).mismatches == 0
    assert with_bound(-87.0, actual, -math.inf, 0.0).mismatches == 1


def given(bound: Bound) -> Iterator[tuple[str, Array, Bound]]:
    """Give a bound for all elements."""
    yield "OutputTensor", np.arange(bound.value.size), bound


# ---- around what a bound reaches

LARGEST = 2.0**128 - 2.0**104  # of FLOAT32; from 2^103 beyond it numbers round to infinity


def with_bound(
    expected: float, actual: float, value: float, radius: float, data_type: str = "FLOAT32", **limit: Any
) -> OutputResult:
    """Compare one element, of which a formula says what it is and how far off it may be."""
    bound = Bound(np.array([value]), np.array([radius]), np.array([False]))
    used = Limit(**{"tolerance": None, **limit})
    return judged([expected], [actual], data_type, used, None, lambda _, **__: given(bound))


@pytest.mark.parametrize(
    ("data_type", "expected", "actual", "accepted"),
    [
        # 2.5 by the formula: 2 and 3 are right, whichever the case has.
        ("INT32", 2, 3, True),
        ("INT32", 3, 2, True),
        ("INT32", 2, 1, False),
        ("INT32", 3, 4, False),
        ("FLOAT32", 2.0, 3.0, True),
        ("FLOAT32", 3.0, 2.0, True),
        ("FLOAT32", 2.0, 2.0 - 2.0**-21, False),
        ("FLOAT32", 3.0, 3.0 + 2.0**-20, False),
        # The case has what the formula cannot give: then that is what counts.
        ("INT32", 7, 2, False),
        ("FLOAT32", 7.0, 2.5, False),
        ("FLOAT32", 7.0, 7.5, True),
        ("FLOAT32", 7.0, 7.75, False),
    ],
)
def test_at_a_jump_both_sides_are_right_and_no_more(
    data_type: str, expected: float, actual: float, accepted: bool
) -> None:
    result = with_bound(expected, actual, 2.5, 0.5, data_type)
    assert (result.mismatches == 0) is accepted
    assert result.max_share is not None
    assert (result.max_share <= 1) is accepted


@pytest.mark.parametrize(
    ("expected", "value", "radius", "actual", "beyond"),
    [
        # 25.009 is right, and between 25 and 25 + 2^-6; the unit at 0.01 is 2^-17.
        (0.01000213623046875, 0.01, 25.0, 25 + 2.0**-6, 25 + 2.0**-5),
        (-0.01000213623046875, -0.01, 25.0, -25 - 2.0**-6, -25 - 2.0**-5),
        # From -2.5443 to -0.6525 all is right: the unit is 2^-11 at one end and 2^-9 at the other.
        (-0.65283203125, -1.5984, 0.9459, -1303 / 512, -1304 / 512),
    ],
)
def test_a_result_is_rounded_to_the_unit_where_it_is_however_small_the_expected_one_is(
    expected: float, value: float, radius: float, actual: float, beyond: float
) -> None:
    assert with_bound(expected, actual, value, radius, "FLOAT16").mismatches == 0
    assert with_bound(expected, beyond, value, radius, "FLOAT16").mismatches == 1


def test_the_unrounded_result_is_what_errors_are_measured_from() -> None:
    unit = 2.0**-23
    result = with_bound(1.0, 1 + unit, 1 + unit / 4, 2 * unit)
    assert (result.max_ulp, result.max_share) == (0.75, pytest.approx(0.25))


def test_an_element_that_is_the_unrounded_result_has_no_error_of_an_exact_bound() -> None:
    below = 1 - 2.0**-24  # the case has 1, to which it rounds with fewer digits
    result = with_bound(1.0, below, below, 0.0, tolerance=Tolerance(exact=True))
    assert (result.mismatches, result.max_ulp, result.bound) == (0, 0, "exact")
    assert result.most_off is not None
    assert not result.most_off.is_unlimited


UNIT = 2.0**-23  # of FLOAT32 from 1 to 2


@pytest.mark.parametrize(
    ("expected", "actual", "value", "radius", "units", "share"),
    [
        # 1 by the formula, and at most 8 off; the case has 3, by another order of operations.
        (3.0, 1.0, 1.0, 8.0, 0.0, 0.0),
        (3.0, 1 + UNIT, 1.0, 8.0, 1.0, UNIT / 8),
        (3.0, 3 + 4 * UNIT, 1.0, 8.0, 2.0, 2 / 8),
        (3.0, 2.0, 1.0, 8.0, 2.0**22, 1 / 8),  # halfway, in units of 3, which are twice those of 1
        # 0 or 1, as rounding decides: 0.5 by the formula, and at most 0.5 off.
        (0.0, 1.0, 0.5, 0.5, 0.0, 0.0),
        (1.0, 0.0, 0.5, 0.5, 0.0, 0.0),
        (0.0, 1 - UNIT, 0.5, 0.5, 2.0, 4 * UNIT / 2),  # units of 0.5, half of those of 1
        # A result that is only given in too few digits is no end of the bound.
        (1 + UNIT, 1 - UNIT, 1.0, 8 * UNIT, 1.0, 1 / 9),
    ],
)
def test_an_error_that_is_allowed_is_measured_from_the_nearest_of_several_right_results(
    expected: float, actual: float, value: float, radius: float, units: float, share: float
) -> None:
    result = with_bound(expected, actual, value, radius)
    assert (result.mismatches, result.max_ulp) == (0, units)
    assert result.max_share == pytest.approx(share, rel=1e-6)


@pytest.mark.parametrize(("actual", "is_unrounded"), [(1 + UNIT, True), (3 + 4 * UNIT, False)])
def test_an_error_from_the_middle_of_the_bound_is_one_from_the_unrounded_result(
    actual: float, is_unrounded: bool
) -> None:
    element = with_bound(3.0, actual, 1.0, 8.0).most_off
    assert element is not None
    assert element.is_unrounded == is_unrounded


def test_an_error_that_is_not_allowed_is_measured_from_the_expected_result() -> None:
    result = with_bound(3.0, 20.0, 1.0, 8.0)
    assert (result.mismatches, result.max_ulp) == (1, 17 / (2 * UNIT))


def test_an_exact_operator_has_no_unit_beside_its_jumps() -> None:
    exact = {"tolerance": Tolerance(exact=True)}
    assert with_bound(2.0, 3.0, 2.5, 0.5, **exact).mismatches == 0
    assert with_bound(2.0, 3.0 + 2.0**-22, 2.5, 0.5, **exact).mismatches == 1
    assert with_bound(2.0, 2.0 + 2.0**-22, 2.0, 0.0, **exact).mismatches == 1


@pytest.mark.parametrize(
    ("value", "radius", "actual", "accepted"),
    [
        (LARGEST + 2.0**103, 0.0, LARGEST, True),  # half a unit from the largest number
        (LARGEST + 2.0**106, 2.0**106, LARGEST, True),
        (LARGEST + 2.0**106, 2.0**106, LARGEST - 2.0**106, False),
        (LARGEST + 2.0**106, 2.0**106, -LARGEST, False),
        (2.0**200, 2.0**170, LARGEST, False),
        (math.inf, 0.0, LARGEST, False),
    ],
)
def test_beside_an_overflow_the_largest_number_may_be_right(
    value: float, radius: float, actual: float, accepted: bool
) -> None:
    assert (with_bound(math.inf, actual, value, radius).mismatches == 0) is accepted
    assert with_bound(-math.inf, actual, value, radius).mismatches == 1


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(
    ("value", "radius", "actual", "mismatches"),
    [
        (35_000.0, 31_000.0, 5_000.0, 0),  # from 4,000 to 66,000, which is infinite in FLOAT16
        (35_000.0, 31_000.0, 3_000.0, 1),
        (35_000.0, 31_000.0, -5_000.0, 1),
        (30_000.0, 1_000.0, 30_000.0, 1),  # infinity is not right, and expected all the same
    ],
)
def test_where_the_bound_goes_from_a_number_to_infinity_both_are_right(
    sign: float, value: float, radius: float, actual: float, mismatches: int
) -> None:
    result = with_bound(sign * math.inf, sign * actual, sign * value, radius, "FLOAT16")
    assert result.mismatches == mismatches


def test_a_published_limit_holds_where_it_is_wider_than_the_derived_bound() -> None:
    wide, narrow = ({"tolerance": Tolerance(ulp=ulp, source="a table")} for ulp in (8, 1))
    unit = 2.0**-23
    assert with_bound(1.0, 1 + 6 * unit, 1.0, 2 * unit, **wide).max_share == 0.75
    assert with_bound(1.0, 1 + 6 * unit, 1.0, 2 * unit, **narrow).max_share == 2
    assert with_bound(1.0, 1 + 6 * unit, 1.0, 2 * unit).bound == "3 ULP"
    assert with_bound(1.0, 1 + 6 * unit, 1.0, 2 * unit, **wide).bound == "8 ULP"


@pytest.mark.parametrize("data_type", ["FLOAT16", "FLOAT32", "FLOAT64"])
def test_plain_results_are_judged_as_all_others_are(data_type: str) -> None:
    """A published tolerance of 0 leaves the bound as it is, and no result is plain with one."""
    generator = np.random.default_rng(2)
    value = generator.standard_normal(500) * 10.0 ** generator.integers(-3, 3, 500)
    wanted = value.astype(oracle.NUMPY[data_type])
    unit = np.abs(np.spacing(wanted)).astype(np.float64)
    found = (wanted + unit * generator.integers(-6, 7, 500)).astype(wanted.dtype)
    bound = Bound(value, unit * generator.integers(0, 5, 500), np.zeros(500, bool), 9)
    with np.errstate(all="ignore"):
        plain, other = (
            compare._judge_floats(wanted, found, data_type, Limit(tolerance), bound)
            for tolerance in (None, Tolerance(ulp=0.0, source="a table"))
        )
    assert 0 < plain.accepted.sum() < 500
    for one, two in zip(plain, other, strict=True):
        np.testing.assert_array_equal(one, two)


# ---- several outputs, and the likely bound


def test_bounds_are_asked_for_once_and_for_the_outputs_that_differ() -> None:
    asked: list[dict[str, list[int]]] = []

    def bounds_of(masks: dict[str, Any], **_: Any) -> Iterator[tuple[str, Array, Bound]]:
        asked.append({name: np.flatnonzero(mask[...]).tolist() for name, mask in masks.items()})
        yield "C", np.array([1]), Bound(np.array([5.0]), np.array([1.0]), np.array([False]))
        yield "A", np.array([2, 3]), Bound(np.zeros(2), np.zeros(2), np.array([True, False]))

    tensors = {name: TensorDesc("FLOAT32", (4,)) for name in "ABCD"}
    right = {name: (tensor, np.full(4, 5, np.float32)) for name, tensor in tensors.items()}
    actual = {name: values.copy() for name, (_, values) in right.items()}
    actual["A"][2:] = 7
    actual["C"][1] = np.nextafter(np.float32(5), np.float32(6))
    actual["D"] = np.zeros(3, np.float32)
    found = compare.compare(right, actual, Limit(None), bounds_of)
    assert asked == [{"A": [2, 3], "C": [1]}]
    assert {name: result.mismatches for name, (result, _) in found.items()} == {"A": 1, "B": 0, "C": 0, "D": 4}
    assert found["A"].result.undefined == 1
    refused = {name: None if marks is None else marks.tolist() for name, (_, marks) in found.items()}
    assert refused == {"A": [False, False, False, True], "B": None, "C": None, "D": None}


@pytest.mark.parametrize(
    ("off", "terms", "is_own", "unlikely"),
    [(6, 9, False, 2), (2, 9, False, 0), (6, 1, False, 2), (6, 9, True, 0), (20, 9, False, 0)],
)
def test_what_passes_beyond_the_likely_bound_is_counted(off: int, terms: int, is_own: bool, unlikely: int) -> None:
    """The bound is 10 units and the likely one 3, with the unit of the result itself 11 and 4."""
    unit = 2.0**-23

    def bounds_of(masks: dict[str, Any], *, is_likely: bool = False) -> Iterator[tuple[str, Array, Bound]]:
        at = np.flatnonzero(masks["OutputTensor"][...])
        radius = np.full(at.size, (3 if is_likely else 10) * unit)
        yield "OutputTensor", at, Bound(np.ones(at.size), radius, np.isin(at, [3]), terms)

    limit = own(ulp=100) if is_own else Limit(None)
    result = judged([1.0] * 4, [1.0, *[1 + off * unit] * 3], "FLOAT32", limit, None, bounds_of)
    assert result.mismatches == (2 if off > 11 and not is_own else 0)
    assert (result.unlikely, result.likely_share) == (unlikely, 1.5 if unlikely else None)
    assert result.undefined == 1


@pytest.mark.parametrize(("terms", "asked"), [(1, [1, 2]), (9, [0, 1, 2])])
def test_an_element_within_a_unit_is_never_unlikely_and_only_sums_ask_for_its_likely_error(
    terms: int, asked: list[int]
) -> None:
    likely: list[list[int]] = []

    def bounds_of(masks: dict[str, Any], *, is_likely: bool = False) -> Iterator[tuple[str, Array, Bound]]:
        at = np.flatnonzero(masks["OutputTensor"][...])
        if is_likely:
            likely.append(at.tolist())
        middle = 1 + np.array([0.25, 0.0, 0.0])[at] * 2.0**-23
        yield "OutputTensor", at, Bound(middle, np.full(at.size, 8 * 2.0**-23), np.zeros(at.size, bool), terms)

    judged([1.0] * 3, [1 + 2.0**-23, 1 + 2.0**-22, 1 + 3 * 2.0**-23], "FLOAT32", Limit(None), None, bounds_of)
    assert likely == [asked]


def of_sums(likely: float, terms: int = 9, hard: float = 1000.0) -> Bounds:
    """Return bounds of sums that are 1, in units in the last place; the unit of the result itself is added to them."""

    def bounds_of(masks: dict[str, Any], *, is_likely: bool = False) -> Iterator[tuple[str, Array, Bound]]:
        at = np.flatnonzero(masks["OutputTensor"][...])
        radius = np.full(at.size, (likely if is_likely else hard) * 2.0**-23)
        yield "OutputTensor", at, Bound(np.ones(at.size), radius, np.zeros(at.size, bool), terms)

    return bounds_of


def off_by(units: Sequence[float], bounds_of: Bounds, limit: Limit | None = None) -> OutputResult:
    """Compare sums that are 1 with ones that are so many units off."""
    found = [1 + 2.0**-23 * unit for unit in units]
    return judged([1.0] * len(units), found, "FLOAT32", limit or Limit(None), None, bounds_of)


@pytest.mark.parametrize(
    ("off", "terms", "row", "wrong", "unlikely"),
    [
        (128, 9, None, 0, 1),
        (129, 9, None, 1, 0),  # beyond 32 times 3 + 1 units
        (129, 1, None, 0, 1),  # no sum: what a source grants a function holds
        (129, 9, 200, 0, 1),  # within what a source publishes for the operator
    ],
)
def test_a_sum_that_is_beyond_32_likely_errors_is_wrong(
    off: int, terms: int, row: int | None, wrong: int, unlikely: int
) -> None:
    limit = Limit(None if row is None else Tolerance(ulp=row), whose="the limit of SUM")
    result = off_by([0, off], of_sums(3, terms), limit)
    assert (result.mismatches, result.unlikely) == (wrong, unlikely if row is None else 0)
    if wrong:
        assert result.worst is not None
        assert result.worst.place == (1,)
        assert result.worst.share == result.max_share == 129 / 128
        assert result.closest == result.worst
        assert result.bound == "128 ULP"
        assert result.decided_by.endswith("; at most 32 times the likely error")


@pytest.mark.parametrize(("row", "unlikely"), [(399, 0), (401, 1)])
def test_a_published_tolerance_that_is_100_times_the_derived_one_is_no_likely_one(row: int, unlikely: int) -> None:
    result = off_by([0, 50], of_sums(3, terms=1), Limit(Tolerance(ulp=row), whose="the limit of ERF"))
    assert (result.mismatches, result.unlikely) == (0, unlikely)


def test_what_is_kept_of_a_sum_as_allowed_is_at_most_32_times_its_likely_error() -> None:
    expected = {"OutputTensor": (TensorDesc("FLOAT32", (2,)), np.ones(2, np.float32))}
    found = compare.allowed(expected, Limit(None), of_sums(3))["OutputTensor"]
    assert found.tolist() == [128 * 2.0**-23] * 2
    wide = compare.allowed(expected, Limit(Tolerance(ulp=200)), of_sums(3))["OutputTensor"]
    assert wide.tolist() == [200 * 2.0**-23] * 2
    assert compare.allowed(expected, Limit(None), of_sums(300))["OutputTensor"].tolist() == [1001 * 2.0**-23] * 2


@pytest.mark.parametrize(
    ("units", "terms", "systematic"),
    [
        ([5.0] * 16, 9, 1.25),  # each is 3 + 1 units off, and one more
        ([4.0] * 16, 9, None),
        ([5.0] * 10 + [0.0] * 6, 9, None),  # the mean of the squares is 10 * 1.25^2 / 16, below 1
        ([5.0] * 11 + [0.0] * 5, 9, 1.25 * math.sqrt(11 / 16)),
        ([5.0] * 15, 9, None),
        ([5.0] * 16, 1, None),
    ],
)
def test_errors_that_are_large_all_over_an_output_are_systematic(
    units: list[float], terms: int, systematic: float | None
) -> None:
    result = off_by(units, of_sums(3, terms))
    assert (result.mismatches, result.unlikely) == (0, units.count(5.0))
    assert result.systematic == (None if systematic is None else pytest.approx(systematic, rel=1e-12))


@pytest.mark.parametrize(
    ("found", "other"),
    [
        (math.nan, Bound(np.full(16, np.nan), np.zeros(16), np.zeros(16, bool))),  # of a score that is infinite
        (1.5, Bound(np.full(16, 2.0), np.zeros(16), np.zeros(16, bool))),
    ],
)
def test_within_an_infinite_tolerance_or_equal_to_another_right_result_an_output_has_no_error(
    found: float, other: Bound
) -> None:
    def bounds_of(masks: dict[str, Any], **_: bool) -> Iterator[tuple[str, Array, Bound]]:
        at = np.flatnonzero(masks["OutputTensor"][...])
        none = np.zeros(at.size, bool)
        yield "OutputTensor", at, Bound(np.ones(16), np.full(16, np.inf), none, 9, unlimited=~none, others=(other,))

    result = judged([1.0] * 16, [found] * 16, "FLOAT32", Limit(None), None, bounds_of)
    assert (result.mismatches, result.systematic, result.unlimited) == (0, None, 0 if math.isnan(found) else 16)


def test_beside_a_variance_in_one_pass_errors_are_unlikely_and_not_wrong() -> None:
    result = off_by([500.0] * 16, of_sums(3), Limit(None, is_capped=False))
    assert (result.mismatches, result.unlikely, result.systematic) == (0, 16, None)


# ---- unspecified elements


def test_unspecified_elements_are_neither_wrong_nor_counted() -> None:
    undefined = np.array([True, True, False])  # of the elements that differ
    bound = Bound(np.zeros(3), np.zeros(3), undefined)
    result = judged(
        [1.0, 2.0, 3.0, math.nan],
        [9.0, 2.0, math.nan, 4.0],
        "FLOAT32",
        EXACT,
        bounds_of=lambda _: iter([("OutputTensor", np.array([0, 2, 3]), bound)]),
    )
    assert (result.undefined, result.mismatches) == (2, 1)
    assert [element.place for element in result.first] == [(3,)]


def test_elements_that_are_known_to_be_open_are_not_judged_and_counted() -> None:
    expected, actual = (np.array([values], np.float32) for values in ([1, 2, 3], [9, 2, 4]))
    tensor = {"Out": (TensorDesc("FLOAT32", (1, 3)), expected)}
    masks = {"Out": np.array([[True, True, False]])}
    result = compare.compare(tensor, {"Out": actual}, EXACT, no_roundings, masks)["Out"].result
    assert (result.undefined, result.mismatches, result.first[0].place) == (2, 1, (0, 2))
    equal = compare.compare(tensor, {"Out": expected}, EXACT, no_roundings, masks)["Out"].result
    assert (equal.undefined, equal.mismatches) == (2, 0)


def alternatives(*sides: Sequence[float]) -> Bounds:
    """Return the bounds of results of which there are several right ones, each within a tenth."""

    def bounds_of(masks: dict[str, Any], **_: Any) -> Iterator[tuple[str, Array, Bound]]:
        at = np.flatnonzero(masks["OutputTensor"][...])
        first, *others = (np.array(side, np.float64)[at] for side in sides)
        bound = Bound(first, np.full(at.size, 0.1), np.zeros(at.size, bool))
        yield "OutputTensor", at, bound._replace(others=tuple(bound._replace(value=other) for other in others))

    return bounds_of


DERIVED = Limit(None)


@pytest.mark.parametrize("expected", [[4.0, 8.0], [-3.0, math.inf]])
@pytest.mark.parametrize(
    ("found", "wrong"),
    [
        ([4.0, 8.0], []),
        ([-3.0, math.inf], []),
        ([4.09, 7.91], []),
        ([-3.09, 8.0], []),
        ([0.5, 8.0], [0]),
        ([4.0, -math.inf], [1]),
        ([math.nan, 9.0], [0, 1]),
    ],
)
def test_a_result_is_one_of_several_right_ones_and_nothing_between(
    expected: list[float], found: list[float], wrong: list[int]
) -> None:
    result = judged(expected, found, "FLOAT64", DERIVED, None, alternatives([4.0, 8.0], [-3.0, math.inf]))
    assert (result.mismatches, [element.place[0] for element in result.first]) == (len(wrong), wrong)
    assert wrong or (result.max_ulp < 1e18 and result.max_share is not None and result.max_share <= 1)


def test_what_a_case_expects_beside_the_right_results_is_not_made_right_by_them() -> None:
    result = judged([7.0], [4.0], "FLOAT64", DERIVED, None, alternatives([4.0], [-3.0]))
    assert result.mismatches == 1


def test_integers_may_be_one_of_several_too() -> None:
    sides = alternatives([5.0, 1.0], [9.0, 2.0])
    assert judged([5, 1], [9, 2], "INT32", DERIVED, None, sides).mismatches == 0
    assert judged([5, 1], [7, 3], "INT32", DERIVED, None, sides).mismatches == 2


# ---- shapes and types


@pytest.mark.parametrize(
    ("actual", "text"),
    [
        (np.zeros((3, 2), np.float32), "is float32 {3, 2} instead of float32 {2, 3}"),
        (np.zeros(6, np.float32), "is float32 {6} instead of float32 {2, 3}"),
        (np.zeros((2, 3), np.float16), "is float16 {2, 3} instead of float32 {2, 3}"),
        (np.zeros((2, 3), np.int32), "is int32 {2, 3} instead of float32 {2, 3}"),
        (np.zeros((1, 3), np.float32), "is float32 {1, 3} instead of float32 {2, 3}"),
    ],
)
def test_a_wrong_shape_or_type_is_told_before_any_value(actual: Array, text: str) -> None:
    expected = np.zeros((2, 3), np.float32)
    result = compared(expected, actual, TensorDesc("FLOAT32", (2, 3)), EXACT, refuse)
    assert (result.shape, result.mismatches, result.elements, result.first) == (text, 6, 6, ())


# ---- integers


@pytest.mark.parametrize(
    ("data_type", "expected", "actual", "units"),
    [
        ("UINT64", 0, 2**64 - 1, 18446744073709551615),
        ("UINT64", 2**64 - 1, 2**64 - 2, 1),
        ("UINT64", 2**63, 2**63 - 1, 1),
        ("INT64", -(2**63), 2**63 - 1, 18446744073709551615),
        ("INT64", -(10**18), 2017373352682495228, 3017373352682495228),
        ("INT64", 2**63 - 1, 2**63 - 2, 1),
        ("INT64", -1, 1, 2),
        ("INT64", 2**53, 2**53 + 1, 1),
        ("INT8", -128, 127, 255),
        ("UINT8", 255, 0, 255),
        ("INT32", -(2**31), 2**31 - 1, 2**32 - 1),
        ("UINT16", 3, 5, 2),
    ],
)
def test_integers_are_off_by_their_difference(data_type: str, expected: int, actual: int, units: float) -> None:
    result = judged([7, expected], [7, actual], data_type, Limit(Tolerance(exact=True)))
    assert (result.mismatches, result.max_ulp, result.max_share) == (1, units, None)
    (element,) = result.first
    assert element == Element((1,), expected, actual, units, None)
    assert [type(value) for value in (element.expected, element.actual, element.ulp, result.max_ulp)] == [int] * 4


# ---- counts, and which elements are shown


def test_what_is_within_the_tolerance_counts_for_the_largest_error_but_not_as_wrong() -> None:
    unit = 2.0**-23
    expected = [1.0] * 6
    actual = [1.0, 1 + unit, 1 + 4 * unit, 1 + 2 * unit, 1 + 5 * unit, 1 - unit / 2]
    result = judged(expected, actual, "FLOAT32", own(ulp=4))
    assert (result.elements, result.mismatches, result.max_ulp, result.max_share) == (6, 1, 5, 1.25)
    assert result.first == (result.worst,) == (result.most_off,)
    result = judged(expected[:4], actual[:4], "FLOAT32", own(ulp=4))
    assert (result.mismatches, result.max_ulp, result.max_share) == (0, 4, 1)
    assert (result.first, result.worst) == ((), None)
    assert result.most_off is not None
    assert (result.most_off.place, result.most_off.ulp, result.most_off.share) == ((2,), 4, 1)


def test_the_first_three_wrong_elements_are_shown() -> None:
    result = judged([0] * 10, [0, 1, 0, 5, 0, 2, 2, 0, 9, 0], "INT32", EXACT)
    assert result.mismatches == 5
    assert [(element.place, element.actual) for element in result.first] == [((1,), 1), ((3,), 5), ((5,), 2)]
    assert result.worst is not None
    assert (result.worst.place, result.worst.actual) == ((8,), 9)


def test_the_worst_element_is_furthest_beyond_its_bound_and_the_most_off_has_the_most_units() -> None:
    """1/2 is 2^22 units of 1 and 2 bounds; 1 is 2^14 units of 1000 and 4 bounds."""
    result = judged([1.0, 1000.0, 8.0], [1.5, 1001.0, 8.25], "FLOAT32", own(absolute=0.25))
    assert result.worst is not None
    assert result.most_off is not None
    assert result.worst == Element((1,), 1000.0, 1001.0, 2.0**14, 4.0)
    assert result.most_off == Element((0,), 1.0, 1.5, 2.0**22, 2.0)
    assert (result.mismatches, result.max_ulp, result.max_share) == (2, 2.0**22, 4.0)


def test_nan_and_infinity_are_worse_than_any_number() -> None:
    result = judged([1.0, 1.0, 1.0], [2.0**100, math.nan, 2.0], "FLOAT32", own(ulp=1))
    assert result.worst is not None
    assert result.worst.place == (1,)
    assert (result.max_ulp, result.max_share) == (MOST, MOST)


# ---- where elements are


def by_column(asked: dict[str, Any]) -> Iterator[tuple[str, Array, Bound]]:
    """Go over an output of sizes {4, 3} column by column."""
    ((label, mask),) = asked.items()
    for column in range(3):
        at = np.flatnonzero(mask[:, column]) * 3 + column
        yield (
            label,
            at,
            Bound(np.full(at.shape, np.nan), np.zeros(at.shape), np.zeros(at.shape, bool), is_rounded=False),
        )


def test_the_first_elements_are_the_first_in_row_major_order_of_the_output() -> None:
    expected = [0] * 12
    actual = [0, 3, 0, 1, 0, 2, 0, 0, 5, 4, 0, 0]
    for given in (no_roundings, by_column):
        result = judged(expected, actual, "INT32", EXACT, (4, 3), given)
        assert result.mismatches == 5
        assert [element.place for element in result.first] == [(0, 1), (1, 0), (1, 2)]


def test_the_worst_element_of_all_pieces_is_the_worst() -> None:
    unit = 2.0**-23
    expected = [1.0] * 12
    actual = [1 + off * unit for off in (3, 0, 4, 0, 9, 0, 0, 2, 0, 1, 0, 5)]
    for limit in (EXACT, own(ulp=0.5)):
        for given in (no_roundings, by_column):
            result = judged(expected, actual, "FLOAT32", limit, (4, 3), given)
            assert result.worst is not None
            assert result.most_off is not None
            assert result.worst.place == result.most_off.place == (1, 1)
            assert (result.mismatches, result.max_ulp) == (6, 9)


# ---- large outputs


@pytest.mark.parametrize("block", [1, 2, 3, 5, 7])
def test_blocks_change_neither_counts_nor_indices(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = list(range(24))
    actual = list(expected)
    for place, off in ((5, 2), (6, 40), (13, 3), (17, 1), (23, 7)):
        actual[place] += off
    whole = judged(expected, actual, "INT64", EXACT, (2, 3, 4))
    assert [element.place for element in whole.first] == [(0, 1, 1), (0, 1, 2), (1, 0, 1)]
    monkeypatch.setattr(compare, "_BLOCK", block)
    cut = judged(expected, actual, "INT64", EXACT, (2, 3, 4))
    assert cut.worst is not None
    assert (cut.worst.place, cut.worst.ulp) == ((0, 1, 2), 40)
    assert cut == whole


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [0, 600])
def test_a_huge_output_is_compared_in_little_memory(wrong: int) -> None:
    """A flag for every element would be 600 MiB."""
    sizes = (600, 1 << 20)
    right = np.ones(1 << 20, dtype=np.int8)
    row = right.copy()
    row[5] += wrong > 0
    tracemalloc.start()
    try:
        tensor = TensorDesc("INT8", sizes)
        result = compared(np.broadcast_to(right, sizes), np.broadcast_to(row, sizes), tensor, EXACT)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert result.mismatches == wrong
    assert peak < 256 * 2**20
