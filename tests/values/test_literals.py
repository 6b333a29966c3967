"""Numbers as case files write them: exact, and rounded once."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tensor_values import (
    BINARY,
    INFINITY,
    LIMITS,
    accepted,
    decimal_text,
    nearest,
    number,
    place,
    power_of_two,
    read,
    refused,
    written,
)

from dmlcheck.files.document import Overflow
from dmlcheck.values.literals import Source


def test_the_rounding_of_these_tests_knows_its_ties() -> None:
    assert nearest(Fraction(2049), "FLOAT16") == 2048
    assert nearest(Fraction(2051), "FLOAT16") == 2052
    assert nearest(Fraction(65519), "FLOAT16") == 65504
    assert nearest(Fraction(65520), "FLOAT16") is None
    assert nearest(power_of_two(-25), "FLOAT16") == 0
    assert nearest(3 * power_of_two(-25), "FLOAT16") == 2 * power_of_two(-24)
    assert nearest(Fraction(1, 10), "FLOAT64") == Fraction(0.1)


# ---- numbers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", 1), ("+1", 1), ("-1", -1), ("1.", 1), (".5", 0.5), ("-.5", -0.5), ("+.5", 0.5), ("1e3", 1000),
        ("1E3", 1000), ("1.5e+2", 150), ("25e-2", 0.25), ("0x1F", 31), ("0o17", 15), ("017", 17), (".inf", INFINITY),
        ("-.inf", -INFINITY), ("+.INF", INFINITY), ("inf", INFINITY), ("-inf", -INFINITY), ("+inf", INFINITY),
        ("Inf", INFINITY), ('"inf"', INFINITY), ('"-inf"', -INFINITY), ('"0x1.8p+1"', 3), ("0x1.8p+1", 3),
        ('"0x1p-3"', 0.125), ('"-0x1.8p+1"', -3), ('"+0x1p0"', 1), ('"0x.8p0"', 0.5), ('"0x10"', 16), ('"0x1.8"', 1.5),
        ('"0X1.8P1"', 3), ('"0x18p-3"', 3), ('"0x1p+10"', 1024),
    ],
)  # fmt: skip
@pytest.mark.parametrize("data_type", ["FLOAT16", "FLOAT32", "FLOAT64"])
def test_a_number_may_be_spelt_as_yaml_and_hex_floats_have_it(text: str, expected: float, data_type: str) -> None:
    assert number(text, data_type) == expected


@pytest.mark.parametrize("text", [".nan", ".NaN", "nan", "NaN", '"nan"', "+nan"])
@pytest.mark.parametrize("data_type", ["FLOAT16", "FLOAT32", "FLOAT64"])
def test_not_a_number_is_read_in_every_spelling(text: str, data_type: str) -> None:
    assert np.isnan(number(text, data_type))


@pytest.mark.parametrize("text", ["-0.0", "-0e5", "-1e-400", '"-0x1p-2000"', '"-0x0p+0"', '"-0x0.0"'])
@pytest.mark.parametrize("data_type", ["FLOAT16", "FLOAT32", "FLOAT64"])
def test_a_negative_zero_keeps_its_sign(text: str, data_type: str) -> None:
    value = number(text, data_type)
    assert value == 0
    assert np.signbit(value)


@pytest.mark.parametrize(
    "text",
    ["0x", "0x.", "0xp1", "0x1p", "0x1pz", "0x1.8p+1.5", "0x1.8.8p0", "0xg", "x1p0", "0b1", "1.5", "1e5", "", "one"],
)
def test_text_that_is_no_number_is_refused_where_it_stands(text: str) -> None:
    finding = refused([0, text], "FLOAT32", 2)
    assert place(finding) == ("wrong-type", "inputs.T[1]")
    assert finding.params["found"] == repr(text)


@pytest.mark.parametrize(
    "text", ["0x0x1", "0x-1", "0x+1", "0x 1p0", "0x1_0p0", "0x1p1_0", "+-0x1p0", "+-inf", "++1", "- inf"]
)
def test_text_that_only_resembles_a_hex_float_is_refused(text: str) -> None:
    assert place(refused([0, text], "FLOAT32", 2)) == ("wrong-type", "inputs.T[1]")


@pytest.mark.parametrize(
    ("element", "found"),
    [(True, "true"), (None, "null"), ({}, "a mapping"), ({"fill": 1}, "a mapping"), (b"1", "b'1'")],
)
@pytest.mark.parametrize("data_type", ["FLOAT32", "INT32"])
def test_what_is_not_a_number_is_refused_where_it_stands(element: Any, found: str, data_type: str) -> None:
    finding = refused([[1, 2], [3, element]], data_type, 2, 2)
    assert place(finding) == ("wrong-type", "inputs.T[1][1]")
    assert finding.params["found"] == found
    assert finding.params["what"] == "T[1, 1]"


@pytest.mark.parametrize("scalar", [np.int64(3), np.float32(3), np.float64(3), np.uint8(3), np.float16(3)])
@pytest.mark.parametrize("data_type", ["FLOAT16", "INT64", "UINT4"])
def test_numpy_scalars_count_as_numbers(scalar: Any, data_type: str) -> None:
    assert accepted([scalar, 1], data_type, 2) == [3, 1]


# ---- integers


@pytest.mark.parametrize("data_type", LIMITS)
def test_an_integer_type_holds_its_range_exactly(data_type: str) -> None:
    low, high = LIMITS[data_type]
    assert accepted([low, low + 1, high - 1, high], data_type, 4) == [low, low + 1, high - 1, high]


@pytest.mark.parametrize("data_type", LIMITS)
def test_integers_stay_exact_beside_a_float(data_type: str) -> None:
    low, high = LIMITS[data_type]
    assert accepted([low, high, 1.0], data_type, 3) == [low, high, 1]


@settings(deadline=None)
@given(st.sampled_from(sorted(LIMITS)), st.data())
def test_every_integer_of_a_type_is_read_exactly(data_type: str, data: st.DataObject) -> None:
    numbers = st.integers(*LIMITS[data_type])
    wanted = data.draw(st.lists(numbers, min_size=1, max_size=5))
    assert accepted(wanted, data_type, len(wanted)) == wanted


@pytest.mark.parametrize(
    ("text", "data_type", "expected"),
    [
        ("9007199254740993.0", "INT64", 9007199254740993),
        ("18446744073709551615.0", "UINT64", 18446744073709551615),
        ("1234567890123456789e0", "INT64", 1234567890123456789),
        ("1.00000000000000000001", "INT32", None),
        ("0.99999999999999999999", "INT32", None),
        ("1e-400", "INT32", None),
    ],
)
def test_a_float_spelling_of_an_integer_is_taken_by_its_text_not_by_its_float64(
    text: str, data_type: str, expected: int | None
) -> None:
    values, findings = written(f"[{text}]", data_type, 1)
    if expected is None:
        assert [place(finding) for finding in findings] == [("value-not-representable", "inputs.T[0]")]
    else:
        assert findings == []
        assert values.tolist() == [expected]


@pytest.mark.parametrize(
    "raw", [[10**400], [1.5, 10**400], [-(10**400), "nan"]], ids=["alone", "beside-float", "beside-nan"]
)
@pytest.mark.parametrize("data_type", ["INT32", "UINT64", "FLOAT16", "FLOAT64"])
def test_an_integer_beyond_float64_is_refused_like_any_other(raw: list[Any], data_type: str) -> None:
    values, findings = read(raw, data_type, len(raw))
    assert values is None
    assert {finding.rule for finding in findings} == {"value-not-representable"}


@pytest.mark.parametrize("data_type", ["INT32", "FLOAT32"])
def test_an_integer_of_more_digits_than_python_prints_is_refused(data_type: str) -> None:
    finding = refused([int("f" * 3990, 16)], data_type, 1)  # more than the 4,300 decimal digits that str() writes
    assert place(finding) == ("value-not-representable", "inputs.T[0]")


# ---- floats: rounded to nearest even, once


@pytest.mark.slow
@settings(deadline=None)
@given(
    st.sampled_from(sorted(BINARY)),
    st.sampled_from(["", "-"]),
    st.integers(0, 10**40),
    st.integers(0, 40),
    st.integers(-60, 60),
)
def test_a_decimal_is_rounded_once(data_type: str, sign: str, digits: int, places: int, exponent: int) -> None:
    whole, part = divmod(digits, 10**places)
    text = f"{sign}{whole}.{part:0{places}}e{exponent}" if places else f"{sign}{whole}e{exponent}"
    check_rounding(text, Fraction(text), data_type)


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(
    st.sampled_from(sorted(BINARY)),
    st.data(),
    st.sampled_from([1, -1]),
    st.sampled_from([0, 1, -1]),
    st.integers(15, 40),
)
def test_a_decimal_beside_a_tie_is_rounded_from_its_text(
    data_type: str, data: st.DataObject, sign: int, nudge: int, digits: int
) -> None:
    precision, least, most = BINARY[data_type]
    exponent = data.draw(st.integers(max(least, -140), min(most, 140)), label="exponent")
    units = data.draw(st.integers(0, 2**precision - 1), label="units")
    unit = power_of_two(exponent - precision + 1)
    value = sign * (unit * (units + Fraction(1, 2)) + nudge * unit / 10**digits)
    check_rounding(decimal_text(value), value, data_type)


def check_rounding(text: str, value: Fraction, data_type: str) -> None:
    values, findings = written(f"[{text}]", data_type, 1)
    expected = nearest(value, data_type)
    if expected is None:
        assert [place(finding) for finding in findings] == [("value-not-representable", "inputs.T[0]")]
    else:
        assert findings == []
        assert Fraction(float(values[0])) == expected


@pytest.mark.parametrize(
    ("text", "data_type", "expected"),
    [
        # 1 + 2^-24 is halfway between two FLOAT32; the 1e-25 more is lost in float64.
        ("1.000000059604644775390625", "FLOAT32", 1.0),
        ("1.0000000596046447753906251", "FLOAT32", 1 + 2**-23),
        ("1.0000000596046447753906249", "FLOAT32", 1.0),
        # 1 + 3 * 2^-24 goes up to even, and just below it down.
        ("1.000000178813934326171875", "FLOAT32", 1 + 2**-22),
        ("1.00000017881393432617187499", "FLOAT32", 1 + 2**-23),
        # 1 + 2^-11 is halfway between two FLOAT16.
        ("1.00048828125", "FLOAT16", 1.0),
        ("1.000488281250000000000000001", "FLOAT16", 1 + 2**-10),
        ("-1.000488281250000000000000001", "FLOAT16", -1 - 2**-10),
        # 2^-25, half of the least FLOAT16.
        ("2.98023223876953125e-8", "FLOAT16", 0.0),
        ("2.980232238769531250000000001e-8", "FLOAT16", 2.0**-24),
        # 2^53 + 1 is halfway between two FLOAT64.
        ("9007199254740993", "FLOAT64", 9007199254740992.0),
        ("9007199254740993.00000000000000001", "FLOAT64", 9007199254740994.0),
        # 2^60 + 2^36 + 1: float64 drops the 1, and what is left is halfway between two FLOAT32.
        ("1152921573326323713", "FLOAT32", 1152921642045800448.0),
        ("1152921573326323712", "FLOAT32", 1152921504606846976.0),
    ],
)
def test_rounding_to_float64_on_the_way_does_not_show(text: str, data_type: str, expected: float) -> None:
    assert number(text, data_type) == expected


def test_a_fill_is_rounded_from_its_text_too() -> None:
    values, findings = written("{fill: 1.0000000596046447753906251}", "FLOAT32", 2, 2)
    assert findings == []
    assert values.tolist() == [[1 + 2**-23] * 2] * 2


def test_a_nested_number_is_rounded_from_its_own_text() -> None:
    values, findings = written("[[1, 1.00048828125], [1.000488281250000000000000001, 2]]", "FLOAT16", 2, 2)
    assert findings == []
    assert values.tolist() == [[1, 1], [1 + 2**-10, 2]]


@pytest.mark.slow
@settings(deadline=None)
@given(st.sampled_from(sorted(BINARY)), st.integers(-(2**140), 2**140))
def test_an_integer_is_rounded_to_a_float_type_once(data_type: str, value: int) -> None:
    check_rounding(str(value), Fraction(value), data_type)


@pytest.mark.slow
@settings(deadline=None)
@given(
    st.sampled_from(sorted(BINARY)),
    st.sampled_from(["", "-"]),
    st.integers(0, 2**80),
    st.integers(0, 2**60 - 1),
    st.integers(-200, 200),
)
def test_a_hex_float_is_rounded_once(data_type: str, sign: str, whole: int, part: int, exponent: int) -> None:
    value = (whole + Fraction(part, 16**15)) * power_of_two(exponent)
    check_rounding(f'"{sign}0x{whole:x}.{part:015x}p{exponent:+d}"', -value if sign else value, data_type)


@pytest.mark.parametrize(
    ("text", "data_type", "largest"),
    [
        ("65520", "FLOAT16", "65504"),
        ("65520.0", "FLOAT16", "65504"),
        ("-65520", "FLOAT16", "65504"),
        ("1e6", "FLOAT16", "65504"),
        ("340282356779733661637539395458142568448", "FLOAT32", "3.4028235e+38"),
        ("-3.5e38", "FLOAT32", "3.4028235e+38"),
        ("1e39", "FLOAT32", "3.4028235e+38"),
        ("1.7976931348623159e308", "FLOAT64", "1.7976931348623157e+308"),
        ("1e400", "FLOAT64", "1.7976931348623157e+308"),
        ("-1e400", "FLOAT16", "65504"),
        ("1e99999999999", "FLOAT32", "3.4028235e+38"),
        ('"0x1p+16"', "FLOAT16", "65504"),
        ('"0x1p+1024"', "FLOAT64", "1.7976931348623157e+308"),
    ],
)
def test_a_float_beyond_its_type_is_refused_and_told_the_largest(text: str, data_type: str, largest: str) -> None:
    values, findings = written(f"[[0], [{text}]]", data_type, 2, 1)
    assert values is None
    assert [place(finding) for finding in findings] == [("value-not-representable", "inputs.T[1][0]")]
    assert findings[0].help == f"write inf, or a value of at most {largest}"


def test_an_overflow_is_reported_as_it_was_written() -> None:
    assert refused([Overflow("1.50e+400")], "FLOAT32", 1).params["found"] == "1.50e+400"


def test_infinity_itself_is_no_overflow() -> None:
    assert accepted([INFINITY, -INFINITY, "inf"], "FLOAT16", 3) == [INFINITY, -INFINITY, INFINITY]


def test_a_thousand_wrong_elements_make_ten_findings() -> None:
    values, findings = read([1e6] * 1000, "FLOAT16", 1000)
    assert values is None
    assert [finding.path[-1] for finding in findings] == list(range(10))


def test_a_numbers_text_is_asked_for_only_where_it_decides() -> None:
    asked: list[Any] = []
    literal: Callable[[Any], None] = asked.append
    values, findings = read([0.1, 1.00048828125, 3], "FLOAT16", 3, source=Source("", literal))
    assert findings == []
    assert values is not None
    assert asked == [("inputs", "T", 1)]


@pytest.mark.parametrize(
    ("raw", "rule", "steps"),
    [
        ([1, "any"], "wrong-type", (1,)),
        ({"fill": "any"}, "wrong-type", ("fill",)),
        ({"bits": [1, "any"]}, "wrong-type", ("bits", 1)),
    ],
)
def test_any_in_inputs_is_told_to_be_for_outputs(raw: Any, rule: str, steps: tuple[Any, ...]) -> None:
    found = refused(raw, "FLOAT32", 2)
    assert (found.rule, found.path) == (rule, ("inputs", "T", *steps))
    assert found.help == "give a number: `any` is for undefined elements of outputs, not for inputs"
