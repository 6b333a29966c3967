"""Expected values measured against the exact result: by hand, in each format, beside each result that is right."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from valid_descs import valid

from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.reference import engine
from dmlcheck.running.inaccurate_expectations import Digits, Inaccurate, Place, inaccurate
from dmlcheck.validation import validate
from dmlcheck.values.number_formats import NUMPY_TYPES

# The exact result is 1/3, which FLOAT32 rounds to 11184811 units of 2^-25, and FLOAT16 to 1365 units of 2^-12.
UNIT = {"FLOAT32": 2.0**-25, "FLOAT16": 2.0**-12}
NEAREST = {"FLOAT32": 11184811, "FLOAT16": 1365}


def desc_of(operator: str, data_type: str, sizes: list[int], **fields: Any) -> OperatorDesc:
    tensor = {"DataType": data_type, "Sizes": sizes}
    return valid(operator, {"InputTensor": tensor, "OutputTensor": tensor, **fields})


def measured(
    desc: OperatorDesc,
    given: Any,
    expected: Any,
    within: float = 4.0,
    digits: Digits | None = None,
    undefined: Any = None,
) -> Inaccurate | None:
    """Return what is inaccurate of the output of an operator with one input."""
    tensor = desc.parts["OutputTensor"][0].tensor
    inputs = {"InputTensor": array(desc.parts["InputTensor"][0].tensor, given)}
    reference = engine.run(desc, inputs)
    wanted = {"OutputTensor": (tensor, array(tensor, expected))}
    masks = {} if undefined is None else {"OutputTensor": np.array(undefined)}
    found = inaccurate(desc, inputs, wanted, reference, within, masks, lambda *_: digits)
    assert found.keys() <= {"OutputTensor"}
    return found.get("OutputTensor")


def array(tensor: TensorDesc, values: Any) -> Any:
    return np.array(values, dtype=NUMPY_TYPES[tensor.data_type]).reshape(tensor.sizes)


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
@pytest.mark.parametrize(
    ("off", "within", "is_named"),
    [
        # In units the nearest number is 1/3 above the exact result (FLOAT32), or 1/3 below it (FLOAT16).
        (0, 4, False), (3, 4, False), (4, 4, None), (5, 4, True), (-5, 4, True), (-3, 4, False),
        (0, 0, False), (1, 0, True), (-1, 0, True), (1, 0.5, True), (1, 1.4, False), (2, 1.6, True), (9, 9.5, False),
    ],
)  # fmt: skip
def test_more_ulp_than_may_be_are_named(data_type: str, off: int, within: float, is_named: bool | None) -> None:
    expected = (NEAREST[data_type] + off) * UNIT[data_type]
    found = measured(desc_of("ELEMENT_WISE_RECIP", data_type, [1]), [3], [expected], within)
    if is_named is None:  # 4 1/3 or 3 2/3 units
        is_named = data_type == "FLOAT32"
    assert (found is not None) == is_named
    if found is not None:
        third = (1 if data_type == "FLOAT32" else -1) / 3
        assert found == ((0,), expected, pytest.approx(1 / 3, rel=1e-15), pytest.approx(abs(off + third), rel=1e-6), 1)


def test_units_of_denormals_are_those_of_the_format() -> None:
    """1 / 2^127 is 2^22 units of 2^-149."""
    desc = desc_of("ELEMENT_WISE_RECIP", "FLOAT32", [1])
    assert measured(desc, [2.0**127], [2.0**-127 + 4 * 2.0**-149]) is None
    found = measured(desc, [2.0**127], [2.0**-127 - 5 * 2.0**-149])
    assert found is not None
    assert (found.exact, found.ulp) == (2.0**-127, 5)


def test_float64_is_measured_where_the_result_is_that() -> None:
    """0.1 in FLOAT32 is a FLOAT64 number, 1.49e-9 above 0.1; the next FLOAT64 numbers are 2^-56 away."""
    wide, single = {"DataType": "FLOAT64", "Sizes": [1]}, {"DataType": "FLOAT32", "Sizes": [1]}
    desc = valid("CAST", {"InputTensor": single, "OutputTensor": wide})
    exact = float(np.float32(0.1))
    assert measured(desc, [0.1], [exact + 4 * 2.0**-56]) is None
    found = measured(desc, [0.1], [exact - 5 * 2.0**-56])
    assert found is not None
    assert (found.exact, found.ulp) == (exact, 5)
    assert measured(desc, [0.1], [0.1], digits=lambda _: (Fraction(1, 10), Fraction(1, 10**7))) is None
    assert measured(desc, [0.1], [0.1], digits=lambda _: (Fraction(1, 10), Fraction(1, 10**9))) is not None


def test_the_references_own_error_is_not_held_against_a_value() -> None:
    """The arc cosine of 1 - 2^-60 is 2^-29.5; float64 has nothing between that operand and 1."""
    desc = desc_of("ELEMENT_WISE_ACOS", "FLOAT32", [1], ScaleBias={"Scale": -1, "Bias": 1})
    assert engine.run(desc, {"InputTensor": np.array([2.0**-60], np.float32)})["OutputTensor"] == [0]
    assert measured(desc, [2.0**-60], [2.0**-29.5]) is None


@pytest.mark.parametrize(
    ("value", "digit", "is_named"),
    [
        ("0.3333", "0.0001", False),
        ("0.33338", "0.0001", False),  # as far as half a unit
        ("0.33339", "0.0001", True),
        ("0.33334", "0.00001", True),
        ("0.33333", "0.00001", False),
        ("0.5", "1", False),
        ("0", "1", False),
        ("1", "1", True),
    ],
)
def test_digits_stand_for_half_a_unit_of_the_last(value: str, digit: str, is_named: bool) -> None:
    number = Fraction(value), Fraction(digit)
    desc = desc_of("ELEMENT_WISE_RECIP", "FLOAT32", [1])
    for within in (0, 4):
        assert (measured(desc, [3], [float(value)], within, digits=lambda _: number) is not None) == is_named


def test_a_value_may_be_the_rounded_result_to_its_digits() -> None:
    """1049.63 is 1050 in FLOAT16: 11e2 is 50 from that, half a unit of its last digit, and 50.37 from 1049.63."""
    desc = desc_of("ELEMENT_WISE_RECIP", "FLOAT16", [1])
    number = Fraction(1100), Fraction(100)
    assert measured(desc, [1998 * 2.0**-21], [1100], digits=lambda _: number) is None
    assert measured(desc, [2000 * 2.0**-21], [1100], digits=lambda _: number) is not None  # 1048.58


def test_the_worst_is_named_with_the_number_of_all_and_digits_are_asked_for_where_it_matters() -> None:
    asked: list[Place] = []

    def digits(place: Place) -> tuple[Fraction, Fraction] | None:
        asked.append(place)
        return (Fraction("0.3333"), Fraction(1, 10000)) if place == (0, 1) else None

    desc = desc_of("ELEMENT_WISE_RECIP", "FLOAT32", [2, 3])
    expected = [0.5, 0.3333, 0.3333, 1 / 7 + 2e-6, 1.00001, 0.25]
    found = measured(desc, [2, 3, 3, 7, 1, 4], expected, digits=digits)
    assert asked == [(0, 1), (0, 2), (1, 0), (1, 1)]
    assert found is not None
    # 3.3e-5 in units of 2^-25; 2e-6 in units of 2^-26 is less, and so is 1e-5 in units of 2^-23.
    assert (found.place, found.number, found.ulp) == ((0, 2), 3, pytest.approx(1118.5, abs=0.6))


@pytest.mark.parametrize("expected", [[0.6, 0.8], [0.4, 0.53333336], [0.57207756, 0.7627701], [0.6, 0.53333336]])
def test_each_of_several_right_results_is_accurate(expected: list[float]) -> None:
    """The norm is 5, and the divisor max(5, 2.5), 5 + 2.5 or the root of 25 + 2.5: the page does not say which."""
    desc = desc_of("LP_NORMALIZATION", "FLOAT32", [1, 2], Axis=1, Epsilon=2.5, P=2)
    assert measured(desc, [3, 4], expected) is None


def test_the_nearest_of_several_right_results_is_named() -> None:
    desc = desc_of("LP_NORMALIZATION", "FLOAT32", [1, 2], Axis=1, Epsilon=2.5, P=2)
    found = measured(desc, [3, 4], [0.41, 0.8])
    assert found is not None
    assert (found.place, found.exact, found.number) == ((0, 0), pytest.approx(0.4, rel=1e-15), 1)
    third = Fraction("0.4"), Fraction(1, 10)
    assert measured(desc, [3, 4], [0.41, 0.8], digits=lambda _: third) is None


def test_what_is_left_open_is_not_measured() -> None:
    desc = desc_of("LP_NORMALIZATION", "FLOAT32", [2, 2], Axis=1, Epsilon=0, P=2)
    given = [0, 0, 3, 4]  # a row of zeros has no norm to divide by
    assert measured(desc, given, [7.7, -2, 0.6, 0.8]) is None
    found = measured(desc, given, [7.7, -2, 0.61, 0.8])
    assert found is not None
    assert (found.place, found.number) == ((1, 0), 1)
    assert measured(desc, given, [7.7, -2, 0.61, 0.8], undefined=[[False, False], [True, False]]) is None


@pytest.mark.parametrize(
    ("given", "expected", "is_named"),
    [
        (2.0**-16, np.inf, False),  # 65536 is infinite in FLOAT16, which ends with 65504
        (2.0**-16, 65504, False),  # and 1 unit of 32 from there, or half a unit of those beyond
        (2.0**-16, -np.inf, True),
        (2.0**-16, np.nan, True),
        (2.0**-15, np.inf, True),
        (2.0**-24, np.inf, False),
        (2.0**-24, 65504, True),
        (0.0, np.inf, False),
        (0.0, 65504, True),
        (0.0, np.nan, True),
        (np.nan, np.nan, False),
        (np.nan, 1, True),
        (np.inf, 0, False),
    ],
)
def test_infinities_and_nan_are_no_number_of_units_away(given: float, expected: float, is_named: bool) -> None:
    found = measured(desc_of("ELEMENT_WISE_RECIP", "FLOAT16", [1]), [given], [expected])
    assert (found is not None) == is_named
    if found is not None:  # an infinity is as far as 65536 from what is finite
        assert (found.ulp == np.inf) == (np.isnan(expected) or not np.isfinite(found.exact))


def test_integers_are_not_measured() -> None:
    desc, _ = validate(
        "CAST",
        {"InputTensor": {"DataType": "FLOAT32", "Sizes": [1]}, "OutputTensor": {"DataType": "INT32", "Sizes": [1]}},
        "6_4",
    )
    assert desc is not None
    assert measured(desc, [7], [99]) is None


def test_a_large_output_is_measured_in_parts() -> None:
    count = 300_000
    desc = desc_of("ELEMENT_WISE_RECIP", "FLOAT32", [count])
    given = np.arange(1, count + 1, dtype=np.float32)
    expected = (1 / given.astype(np.float64)).astype(np.float32)
    assert measured(desc, given, expected) is None
    expected[[7, 299_990]] *= np.float32(1.001)
    found = measured(desc, given, expected)
    assert found is not None
    assert found.number == 2
    assert found.place in ((7,), (299_990,))
