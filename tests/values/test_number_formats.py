"""The float formats: rounding, units in the last place, halfway cases and spelling."""

from __future__ import annotations

import math
import re
import struct
from fractions import Fraction
from itertools import pairwise

import numpy as np
import oracle
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dmlcheck.values import number_formats

anytime = settings(deadline=None)
FORMATS = tuple(oracle.FLOATS)
HALVES = [oracle.from_bits(pattern, "FLOAT16") for pattern in range(0x7C00)]  # from 0 to 65504, in order


@pytest.mark.parametrize(
    ("data_type", "precision", "least_exponent", "largest"),
    [
        ("FLOAT16", 11, -14, 65504.0),
        ("FLOAT32", 24, -126, 340282346638528859811704183484516925440.0),
        ("FLOAT64", 53, -1022, 1.7976931348623157e308),
    ],
)
def test_the_formats_are_those_of_ieee_754(data_type: str, precision: int, least_exponent: int, largest: float) -> None:
    assert number_formats.FORMATS[data_type] == (precision, least_exponent, largest)
    assert number_formats.FORMATS[data_type].unit_roundoff == 2.0**-precision


# ---- the oracle itself


@pytest.mark.slow
def test_the_oracle_rounds_to_float16_as_struct_does() -> None:
    for below, above in pairwise(HALVES):
        middle = (below + above) / 2
        (expected,) = struct.unpack("<e", struct.pack("<e", middle))
        assert oracle.nearest(Fraction(middle), "FLOAT16") == expected
        assert oracle.nearest(Fraction(below), "FLOAT16") == below


@anytime
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_oracle_rounds_to_float32_as_struct_does(value: float) -> None:
    try:
        (expected,) = struct.unpack("<f", struct.pack("<f", value))
    except OverflowError:
        expected = math.copysign(math.inf, value)
    assert oracle.nearest(Fraction(value), "FLOAT32") == expected
    assert oracle.nearest(Fraction(value), "FLOAT64") == value


# ---- rounding


@pytest.mark.slow
def test_float16_is_rounded_to_the_nearest_in_every_gap() -> None:
    hair = Fraction(1, 2**200)
    for pattern, (below, above) in enumerate(pairwise(HALVES)):
        middle = (Fraction(below) + Fraction(above)) / 2
        even = above if pattern % 2 else below
        assert number_formats.round_exact(middle, "FLOAT16") == even
        assert number_formats.round_exact(-middle, "FLOAT16") == -even
        assert number_formats.round_exact(middle + hair, "FLOAT16") == above
        assert number_formats.round_exact(middle - hair, "FLOAT16") == below
        assert number_formats.round_exact(Fraction(below), "FLOAT16") == below


@pytest.mark.parametrize("data_type", FORMATS)
@pytest.mark.parametrize("sign", [1, -1])
def test_what_lies_halfway_beyond_the_largest_number_is_infinite(data_type: str, sign: int) -> None:
    _, _, most, _ = oracle.FLOATS[data_type]
    precision = oracle.FLOATS[data_type][0]
    largest = Fraction(2) ** (most + 1) - Fraction(2) ** (most + 1 - precision)
    halfway = Fraction(2) ** (most + 1) - Fraction(2) ** (most - precision)
    assert number_formats.round_exact(sign * halfway, data_type) == sign * math.inf
    assert number_formats.round_exact(sign * (halfway - Fraction(1, 2**60)), data_type) == sign * largest
    assert number_formats.round_exact(sign * Fraction(10) ** 5000, data_type) == sign * math.inf


@pytest.mark.parametrize("data_type", FORMATS)
@pytest.mark.parametrize("sign", [1, -1])
def test_what_lies_below_half_the_least_denormal_is_0(data_type: str, sign: int) -> None:
    precision, least, _, _ = oracle.FLOATS[data_type]
    denormal = Fraction(2) ** (least - precision + 1)
    assert number_formats.round_exact(sign * denormal, data_type) == sign * denormal
    assert number_formats.round_exact(sign * denormal / 2, data_type) == 0
    assert number_formats.round_exact(sign * denormal * Fraction(5001, 10_000), data_type) == sign * denormal
    assert number_formats.round_exact(sign * denormal * Fraction(3, 2), data_type) == sign * 2 * denormal
    assert number_formats.round_exact(sign * Fraction(1, 10**5000), data_type) == 0


@pytest.mark.slow
@pytest.mark.parametrize("data_type", FORMATS)
def test_rounding_is_that_of_the_oracle(data_type: str) -> None:
    precision, least, most, _ = oracle.FLOATS[data_type]

    @anytime
    @given(st.fractions(), st.integers(least - precision - 3, most + 3))
    @example(Fraction(2**precision * 2 - 1), 0)
    @example(Fraction(1), least - precision)
    def check(value: Fraction, power: int) -> None:
        value *= Fraction(2) ** power
        assert number_formats.round_exact(value, data_type) == oracle.nearest(value, data_type)

    check()


# ---- units in the last place


@pytest.mark.parametrize("data_type", FORMATS)
def test_a_unit_in_the_last_place_is_the_gap_above(data_type: str) -> None:
    precision, least, most, _ = oracle.FLOATS[data_type]
    denormal = 2.0 ** (least - precision + 1)
    values = {
        1.0: 2.0 ** (1 - precision),
        -1.0: 2.0 ** (1 - precision),
        1.5: 2.0 ** (1 - precision),
        2.0: 2.0 ** (2 - precision),
        0.75: 2.0**-precision,
        2.0**least: denormal,
        2.0 ** (least + 1): 2 * denormal,
        denormal: denormal,
        -3 * denormal: denormal,
        number_formats.FORMATS[data_type].largest: 2.0 ** (most + 1 - precision),
    }
    dtype = oracle.NUMPY[data_type]
    assert number_formats.ulp(np.array(list(values), dtype=dtype), data_type).tolist() == list(values.values())


@pytest.mark.parametrize("data_type", FORMATS)
def test_the_unit_in_the_last_place_of_0_is_that_of_the_denormals(data_type: str) -> None:
    precision, least, _, _ = oracle.FLOATS[data_type]
    zeros = np.array([0.0, -0.0], dtype=oracle.NUMPY[data_type])
    assert number_formats.ulp(zeros, data_type).tolist() == [2.0 ** (least - precision + 1)] * 2


def test_the_units_of_every_float16_are_the_gaps_between_them() -> None:
    gaps = [above - below for below, above in pairwise(HALVES)]
    assert number_formats.ulp(np.array(HALVES[1:-1], dtype=np.float16), "FLOAT16").tolist() == gaps[1:]


# ---- halfway


def test_only_the_middle_between_two_float16_is_halfway() -> None:
    below = np.array(HALVES[:-1])
    middle = (below + np.array(HALVES[1:])) / 2
    for sign in (1, -1):
        for wide, expected in (
            (middle, True),
            (np.nextafter(middle, np.inf), False),
            (np.nextafter(middle, -np.inf), False),
            (below, False),
        ):
            rounded = (sign * wide).astype(np.float16)
            assert (number_formats.is_halfway(sign * wide, rounded) == expected).all()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1 + 2.0**-24, True),
        (1 + 3 * 2.0**-24, True),
        (1 + 2.0**-24 + 2.0**-52, False),
        (1 - 2.0**-25, True),
        (1 - 2.0**-24, False),
        (2.0**-150, True),
        (2.0**-150 * 1.25, False),
        (2.0**-149, False),
        (0.0, False),
        (3.0e38, False),
    ],
)
def test_halfway_between_two_float32(value: float, expected: bool) -> None:
    wide = np.array([value, -value])
    assert number_formats.is_halfway(wide, wide.astype(np.float32)).tolist() == [expected] * 2


# ---- spelling


# Floats as YAML 1.1 and YAML 1.2 define them; integers are the same in both.
YAML_1_1 = re.compile(r"[-+]?([0-9][0-9_]*)?\.[0-9]*([eE][-+][0-9]+)?|[-+]?(0|[1-9][0-9]*)|[-+]?\.inf|\.nan")
YAML_1_2 = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.inf|\.nan")


def read(text: str, data_type: str) -> float:
    """Return the number that a spelling stands for, rounded once."""
    assert YAML_1_1.fullmatch(text)
    assert YAML_1_2.fullmatch(text)
    if text == ".nan":
        return math.nan
    if text in (".inf", "-.inf"):
        return float(text.replace(".", ""))
    return oracle.nearest(Fraction(text), data_type)


@pytest.mark.slow
def test_every_float16_reads_back_as_it_is_spelt() -> None:
    values = [oracle.from_bits(pattern, "FLOAT16") for pattern in range(2**16)]
    assert oracle.same([read(number_formats.spell(value, "FLOAT16"), "FLOAT16") for value in values], values)


@pytest.mark.slow
@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT64"])
def test_floats_read_back_as_they_are_spelt(data_type: str) -> None:
    bits = {"FLOAT32": 32, "FLOAT64": 64}[data_type]

    @anytime
    @given(st.integers(0, 2**bits - 1))
    @example(0)
    @example(1)
    @example(1 << (bits - 1))
    def check(pattern: int) -> None:
        value = oracle.from_bits(pattern, data_type)
        assert oracle.same([read(number_formats.spell(value, data_type), data_type)], [value])

    check()


@pytest.mark.parametrize(
    ("value", "data_type", "expected"),
    [
        (0.0, "FLOAT32", "0"),
        (-0.0, "FLOAT32", "-0.0"),
        (1.0, "FLOAT32", "1"),
        (-3.0, "FLOAT16", "-3"),
        (0.5, "FLOAT32", "0.5"),
        (float(np.float32(0.1)), "FLOAT32", "0.1"),
        (float(np.float16(0.1)), "FLOAT16", "0.1"),
        (float(np.float16(0.1)), "FLOAT32", "0.099975586"),
        (0.1, "FLOAT64", "0.1"),
        (65504.0, "FLOAT16", "65504"),
        (2.0**-149, "FLOAT32", "1.0e-45"),
        (float(np.float32(1e20)), "FLOAT32", "1.0e+20"),
        (1e16, "FLOAT64", "1.0e+16"),
        (9007199254740993.0, "FLOAT64", "9007199254740992"),
        (math.inf, "FLOAT32", ".inf"),
        (-math.inf, "FLOAT16", "-.inf"),
        (math.nan, "FLOAT32", ".nan"),
        (2**64 - 1, "UINT64", "18446744073709551615"),
        (-(2**63), "INT64", "-9223372036854775808"),
        (3.0, "UINT8", "3"),
    ],
)
def test_values_are_spelt_as_short_as_their_type_allows(value: float, data_type: str, expected: str) -> None:
    assert number_formats.spell(value, data_type) == expected
