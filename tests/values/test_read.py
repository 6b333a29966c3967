"""Values as case files write them: every form, exact numbers, one rounding, layouts, and the way back to text."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dmlcheck.descs.records import TensorDesc
from dmlcheck.diagnostics.record import Finding, collected
from dmlcheck.diagnostics.wording import pointer
from dmlcheck.files import yaml
from dmlcheck.files.document import Overflow
from dmlcheck.values.literals import Source
from dmlcheck.values.read import bytes_needed, read_values
from dmlcheck.values.write import values_text

WIDTHS = {
    "FLOAT16": "f2", "FLOAT32": "f4", "FLOAT64": "f8",
    "INT4": "i1", "INT8": "i1", "INT16": "i2", "INT32": "i4", "INT64": "i8",
    "UINT4": "u1", "UINT8": "u1", "UINT16": "u2", "UINT32": "u4", "UINT64": "u8",
}  # fmt: skip
LIMITS = {
    "INT4": (-8, 7),
    "INT8": (-128, 127),
    "INT16": (-32768, 32767),
    "INT32": (-2147483648, 2147483647),
    "INT64": (-9223372036854775808, 9223372036854775807),
    "UINT4": (0, 15),
    "UINT8": (0, 255),
    "UINT16": (0, 65535),
    "UINT32": (0, 4294967295),
    "UINT64": (0, 18446744073709551615),
}
INFINITY = float("inf")


def read(
    raw: Any, data_type: str, *sizes: int, source: Source | None = None, **layout: Any
) -> tuple[Any, list[Finding]]:
    """Return what values become and what is found wrong with them."""
    tensor = TensorDesc(data_type, sizes, **layout)
    return collected(read_values("T", tensor, raw, ("inputs", "T"), source or Source()))


def accepted(raw: Any, data_type: str, *sizes: int, **layout: Any) -> Any:
    """Return an array that nothing is wrong with, as nested lists."""
    values, findings = read(raw, data_type, *sizes, **layout)
    assert findings == []
    assert values.dtype == np.dtype(WIDTHS[data_type])
    assert values.shape == sizes
    return values.tolist()


def refused(raw: Any, data_type: str, *sizes: int, **layout: Any) -> Finding:
    """Return the one thing that is wrong with values."""
    values, findings = read(raw, data_type, *sizes, **layout)
    assert values is None
    (finding,) = findings
    return finding


def place(finding: Finding) -> tuple[str, str]:
    return finding.rule, pointer(finding.path)


def written(text: str, data_type: str, *sizes: int) -> tuple[Any, list[Finding]]:
    """Read values as a YAML file spells them."""
    document = yaml.parse(f"inputs:\n  T: {text}\n".encode(), "case.yaml")
    assert document.problems == []
    return read(document.value["inputs"]["T"], data_type, *sizes, source=Source("", document.literal))


def number(text: str, data_type: str) -> Any:
    """Return the one number that a YAML text becomes."""
    values, findings = written(f"[{text}]", data_type, 1)
    assert findings == []
    return values[0]


# ---- rounding, in plain Python and from its definition

BINARY = {"FLOAT16": (11, -14, 15), "FLOAT32": (24, -126, 127), "FLOAT64": (53, -1022, 1023)}


def power_of_two(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


def nearest(value: Fraction, data_type: str) -> Fraction | None:
    """Round a rational number to nearest even in an IEEE format; None beyond its range."""
    precision, least, most = BINARY[data_type]
    size = abs(value)
    exponent = max(least, size.numerator.bit_length() - size.denominator.bit_length() - 1)
    while size >= power_of_two(exponent + 1):
        exponent += 1
    unit = power_of_two(exponent - precision + 1)
    rounded = round(size / unit) * unit  # round() of a Fraction goes to even
    if rounded >= power_of_two(most + 1):
        return None
    return -rounded if value < 0 else rounded


def decimal_text(value: Fraction) -> str:
    """Spell a number that has a finite decimal expansion, exactly."""
    places = value.denominator.bit_length() * 2
    while places and (value * 10 ** (places // 2)).denominator == 1:
        places //= 2
    assert (value * 10**places).denominator == 1
    return f"{int(value * 10**places)}e-{places}"


def test_the_rounding_of_these_tests_knows_its_ties() -> None:
    assert nearest(Fraction(2049), "FLOAT16") == 2048
    assert nearest(Fraction(2051), "FLOAT16") == 2052
    assert nearest(Fraction(65519), "FLOAT16") == 65504
    assert nearest(Fraction(65520), "FLOAT16") is None
    assert nearest(power_of_two(-25), "FLOAT16") == 0
    assert nearest(3 * power_of_two(-25), "FLOAT16") == 2 * power_of_two(-24)
    assert nearest(Fraction(1, 10), "FLOAT64") == Fraction(0.1)


# ---- lists


@pytest.mark.parametrize(
    ("sizes", "raw", "expected"),
    [
        ((6,), [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6]),
        ((2, 3), [[1, 2, 3], [4, 5, 6]], [[1, 2, 3], [4, 5, 6]]),
        ((2, 3), [1, 2, 3, 4, 5, 6], [[1, 2, 3], [4, 5, 6]]),
        ((3, 2), [1, 2, 3, 4, 5, 6], [[1, 2], [3, 4], [5, 6]]),
        ((1, 1), [[7]], [[7]]),
        ((1, 1), [7], [[7]]),
        ((2, 1, 3), [[[1, 2, 3]], [[4, 5, 6]]], [[[1, 2, 3]], [[4, 5, 6]]]),
        ((2, 1, 3), [1, 2, 3, 4, 5, 6], [[[1, 2, 3]], [[4, 5, 6]]]),
        ((1, 1, 1, 2, 1), [[[[[1], [2]]]]], [[[[[1], [2]]]]]),
    ],
)
@pytest.mark.parametrize("data_type", ["FLOAT16", "FLOAT32", "FLOAT64", "INT8", "UINT64", "INT4"])
def test_a_list_is_nested_like_the_sizes_or_flat_in_row_major_order(
    sizes: tuple[int, ...], raw: list[Any], expected: list[Any], data_type: str
) -> None:
    assert accepted(raw, data_type, *sizes) == expected


@pytest.mark.parametrize(
    ("sizes", "raw", "found"),
    [
        ((3,), [1, 2], "2 elements"),
        ((3,), [1, 2, 3, 4], "4 elements"),
        ((3,), [1], "1 element"),
        ((3,), [], "0 elements"),
        ((2, 3), [], "0 elements"),
        ((2, 3), [1, 2, 3, 4, 5], "5 elements"),
        ((2, 3), [[1, 2], [3, 4], [5, 6]], "the shape {3, 2}"),
        ((2, 3), [[1, 2, 3]], "the shape {1, 3}"),
        ((2, 3), [[1, 2, 3], [4, 5]], "lists of 2 and 3 elements side by side"),
        ((2, 3), [[1, 2, 3], 4, 5, 6], "numbers and lists side by side"),
        ((2, 3), [1, 2, 3, [4, 5, 6]], "numbers and lists side by side"),
        ((2, 3), [[[1, 2, 3], [4, 5, 6]]], "the shape {1, 2, 3}"),
        ((2, 3), [[[1], [2], [3]], [[4], [5], [6]]], "the shape {2, 3, 1}"),
        ((2, 3), [[], []], "the shape {2, 0}"),
        ((1,), [[1]], "the shape {1, 1}"),
        ((2,), [[1], [2]], "the shape {2, 1}"),
        ((2,), [[1, 2]], "the shape {1, 2}"),
    ],
)
def test_a_list_of_another_shape_is_refused_with_the_shape_that_it_has(
    sizes: tuple[int, ...], raw: list[Any], found: str
) -> None:
    finding = refused(raw, "FLOAT32", *sizes)
    assert place(finding) == ("element-count", "inputs.T")
    count = math.prod(sizes)
    assert finding.params["found"] == found
    wanted = "{" + ", ".join(map(str, sizes)) + "}"
    assert finding.params["expected"] == f"its Sizes {wanted} take {count} element{'s' if count > 1 else ''}"


@pytest.mark.parametrize(
    ("sizes", "raw", "found"),
    [
        ((2, 3, 4), [[1, 2, 3], [4, 5, 6]], "the shape {2, 3}"),
        ((2, 2, 2, 2), [[1, 2], [3, 4]], "the shape {2, 2}"),
        ((2, 3, 1), [[1, 2, 3], [4, 5, 6]], "the shape {2, 3}"),
    ],
)
def test_a_nested_list_that_is_not_deep_enough_is_refused(sizes: tuple[int, ...], raw: list[Any], found: str) -> None:
    finding = refused(raw, "FLOAT32", *sizes)
    assert place(finding) == ("element-count", "inputs.T")
    assert finding.params["found"] == found


def test_lists_nested_deep_are_refused_without_recursion() -> None:
    raw: Any = 1
    for _ in range(5000):
        raw = [raw]
    assert refused(raw, "FLOAT32", 1).rule == "element-count"


def test_lists_that_share_parts_are_refused_without_being_expanded() -> None:
    row = [0] * 1000
    finding = refused([[row] * 1000] * 1000, "FLOAT32", 2, 2)  # 10^9 elements, written out
    assert finding.params["found"] == "far too many elements"


def test_a_long_ragged_list_is_refused() -> None:
    assert refused([[1]] * 200_000 + [[1, 2]], "FLOAT32", 200_001, 1).rule == "element-count"


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


@pytest.mark.parametrize("data_type", LIMITS)
def test_an_integer_beyond_its_type_is_refused_where_it_stands(data_type: str) -> None:
    low, high = LIMITS[data_type]
    _, findings = read([[low - 1, low], [high, high + 1]], data_type, 2, 2)
    assert [place(finding) for finding in findings] == [
        ("value-not-representable", "inputs.T[0][0]"),
        ("value-not-representable", "inputs.T[1][1]"),
    ]
    assert findings[0].params == {"element": "T[0, 0]", "found": str(low - 1), "type": data_type}
    assert findings[1].help == f"{data_type} holds whole numbers from {low} to {high}"


@settings(deadline=None)
@given(st.sampled_from(sorted(LIMITS)), st.data())
def test_every_integer_of_a_type_is_read_exactly(data_type: str, data: st.DataObject) -> None:
    numbers = st.integers(*LIMITS[data_type])
    wanted = data.draw(st.lists(numbers, min_size=1, max_size=5))
    assert accepted(wanted, data_type, len(wanted)) == wanted


@pytest.mark.parametrize(
    ("text", "data_type", "expected"),
    [
        ("1e3", "INT16", 1000),
        ("-1.0", "INT4", -1),
        ("0x1F", "UINT8", 31),
        ("250e-1", "INT32", 25),
        ('"0x1.8p+1"', "UINT8", 3),
        ('"0x1p+63"', "UINT64", 2**63),
        ('"-0x1p+63"', "INT64", -(2**63)),
        ('"0xFFFFFFFFFFFFFFFF"', "UINT64", 2**64 - 1),
        ("1e19", "UINT64", 10**19),
    ],
)
def test_a_whole_number_may_be_spelt_like_a_float(text: str, data_type: str, expected: int) -> None:
    assert number(text, data_type) == expected


@pytest.mark.parametrize(
    ("text", "data_type"),
    [
        ("1.5", "INT32"), ("-0.5", "UINT8"), (".nan", "INT64"), (".inf", "INT64"), ("-.inf", "UINT4"),
        ("1e400", "UINT64"), ("250e-2", "INT8"),
        ('"nan"', "INT8"), ('"0x1.8p0"', "INT8"), ('"0x1.00000000000000000001p0"', "INT32"), ("256.0", "UINT8"),
        ('"0x1p+64"', "UINT64"), ("1e20", "UINT64"), ('"0x1p+5000"', "INT32"), ("-1e-5", "INT16"),
    ],
)  # fmt: skip
def test_what_an_integer_type_cannot_hold_is_refused(text: str, data_type: str) -> None:
    values, findings = written(f"[0, {text}]", data_type, 2)
    assert values is None
    assert [place(finding) for finding in findings] == [("value-not-representable", "inputs.T[1]")]


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


@settings(deadline=None)
@given(st.sampled_from(sorted(BINARY)), st.integers(-(2**140), 2**140))
def test_an_integer_is_rounded_to_a_float_type_once(data_type: str, value: int) -> None:
    check_rounding(str(value), Fraction(value), data_type)


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
    ("text", "data_type", "expected"),
    [
        ("65504", "FLOAT16", 65504),
        ("65519", "FLOAT16", 65504),
        ("65519.9999999999999999999999", "FLOAT16", 65504),
        ("-65519.9999999999999999999999", "FLOAT16", -65504),
        # 2^128 - 2^103, where FLOAT32 would round to infinity.
        ("340282356779733661637539395458142568447", "FLOAT32", 3.4028234663852886e38),
        ("340282356779733661637539395458142568447.9", "FLOAT32", 3.4028234663852886e38),
        ("1.7976931348623158e308", "FLOAT64", 1.7976931348623157e308),
        ("5e-324", "FLOAT64", 5e-324),
        ("1e-400", "FLOAT64", 0),
    ],
)
def test_a_value_that_rounds_to_the_largest_finite_one_is_accepted(text: str, data_type: str, expected: float) -> None:
    assert number(text, data_type) == expected


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


# ---- fill


@pytest.mark.parametrize(
    ("raw", "data_type", "expected"),
    [
        (0, "FLOAT32", 0.0),
        (1.5, "FLOAT16", 1.5),
        ("-inf", "FLOAT64", -INFINITY),
        ("0x1p-1", "FLOAT16", 0.5),
        (2**64 - 1, "UINT64", 2**64 - 1),
    ],
)
def test_a_fill_repeats_one_value(raw: Any, data_type: str, expected: Any) -> None:
    assert accepted({"fill": raw}, data_type, 2, 3) == [[expected] * 3] * 2


@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        (70000, "value-not-representable"),
        (None, "wrong-type"),
        ([1], "wrong-type"),
        (True, "wrong-type"),
        ("x", "wrong-type"),
    ],
)
def test_a_fill_that_the_type_cannot_hold_is_refused(raw: Any, rule: str) -> None:
    assert place(refused({"fill": raw}, "FLOAT16", 2)) == (rule, "inputs.T.fill")


def test_a_fill_takes_no_memory_however_large_the_tensor() -> None:
    values, findings = read({"fill": 3}, "FLOAT32", 65536, 65535)
    assert findings == []
    assert values.shape == (65536, 65535)
    assert values.strides == (0, 0)
    assert values[65535, 65534] == 3


# ---- bits


@pytest.mark.parametrize(
    ("data_type", "patterns"),
    [
        ("FLOAT16", [0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x8000, 0x0001, 0x7E01, 0x7C01, 0xFFFF]),
        ("FLOAT32", [0x3F800000, 0xFF800000, 0x80000000, 1, 0x7FC00123, 0x7F800001, 0xFFFFFFFF]),
        ("FLOAT64", [0x3FF0000000000000, 0x8000000000000000, 1, 0x7FF8000000000123, 0x7FF0000000000001]),
        ("UINT8", [0, 255]),
        ("UINT64", [0, 2**64 - 1]),
    ],
)
def test_bits_are_kept_as_they_are_nan_payloads_included(data_type: str, patterns: list[int]) -> None:
    values, findings = read({"bits": patterns}, data_type, len(patterns))
    assert findings == []
    assert values.view("u" + WIDTHS[data_type][1]).tolist() == patterns


@pytest.mark.parametrize(
    ("data_type", "raw", "expected"),
    [
        ("FLOAT16", [0x3C00, 0xC000], [1.0, -2.0]),
        ("INT8", [0x7F, 0x80, 0xFF], [127, -128, -1]),
        ("INT4", [0x7, 0x8, 0xF], [7, -8, -1]),
        ("UINT4", [0, 0xF], [0, 15]),
        ("INT64", [0x8000000000000000, 0xFFFFFFFFFFFFFFFF], [-(2**63), -1]),
    ],
)
def test_bits_are_those_of_the_data_type(data_type: str, raw: list[int], expected: list[Any]) -> None:
    assert accepted({"bits": raw}, data_type, len(raw)) == expected


def test_bits_may_be_nested() -> None:
    assert accepted({"bits": [[0x3C00], [0x4000]]}, "FLOAT16", 2, 1) == [[1.0], [2.0]]


@pytest.mark.parametrize("raw", [0x10000, -1, 1.0, "0x3C00", True, None, 2**70], ids=str)
def test_bits_that_are_no_pattern_of_the_width_are_refused(raw: Any) -> None:
    finding = refused({"bits": [[0], [raw]]}, "FLOAT16", 2, 1)
    assert place(finding) == ("value-not-representable", "inputs.T.bits[1][0]")
    assert finding.params["type"] == "a pattern of 16 bits"


def test_a_pattern_of_five_bits_does_not_fit_into_four() -> None:
    assert refused({"bits": [0x10]}, "INT4", 1).rule == "value-not-representable"


@pytest.mark.parametrize(
    ("raw", "rule"),
    [(0x3C00, "wrong-type"), ({}, "wrong-type"), ([1, 2, 3], "element-count"), ([[1, 2]], "element-count")],
)
def test_bits_need_a_list_of_as_many_as_the_sizes_take(raw: Any, rule: str) -> None:
    assert place(refused({"bits": raw}, "FLOAT16", 2)) == (rule, "inputs.T.bits")


# ---- layouts


@pytest.mark.parametrize("strides", [(3, 1), (4, 1), (1, 2), (100, 7), (4294967295, 1)], ids=str)
def test_strides_only_lay_values_out(strides: tuple[int, int]) -> None:
    raw = [[1, 2, 3], [4, 5, 6]]
    assert accepted(raw, "INT16", 2, 3, strides=strides) == raw
    assert accepted({"sequence": {"start": 1}}, "INT16", 2, 3, strides=strides) == raw


@pytest.mark.parametrize(
    ("sizes", "strides", "raw"),
    [
        ((2, 3), (0, 1), [[1, 2, 3], [1, 2, 3]]),
        ((2, 3), (1, 0), [[1, 1, 1], [2, 2, 2]]),
        ((2, 3), (0, 0), [[7, 7, 7], [7, 7, 7]]),
        ((2, 3), (1, 1), [[1, 2, 3], [2, 3, 4]]),
        ((2, 2, 2), (0, 1, 1), [[[1, 2], [2, 3]], [[1, 2], [2, 3]]]),
    ],
)
@pytest.mark.parametrize("data_type", ["FLOAT32", "UINT64"])
def test_elements_that_share_a_place_may_be_given_equal_values(
    sizes: tuple[int, ...], strides: tuple[int, ...], raw: list[Any], data_type: str
) -> None:
    assert accepted(raw, data_type, *sizes, strides=strides) == raw


@pytest.mark.parametrize(
    ("sizes", "strides", "raw", "element", "found", "expected"),
    [
        ((2, 3), (0, 1), [[1, 2, 3], [1, 9, 3]], "T[1, 1]", "9", "2"),
        ((2, 3), (1, 0), [[1, 1, 1], [2, 2, 8]], "T[1, 2]", "8", "2"),
        ((2, 3), (1, 1), [[1, 2, 3], [9, 3, 4]], "T[1, 0]", "9", "2"),
        ((2, 2), (0, 0), [[0.5, 0], [0, 0]], "T[0, 1]", "0", "0.5"),
    ],
)
def test_elements_that_share_a_place_may_not_be_given_different_values(
    sizes: tuple[int, ...], strides: tuple[int, ...], raw: list[Any], element: str, found: str, expected: str
) -> None:
    _, findings = read(raw, "FLOAT32", *sizes, strides=strides)
    assert [place(finding) for finding in findings] == [("conflicting-elements", "inputs.T")]
    assert findings[0].params == {"element": element, "found": found, "expected": expected}
    assert findings[0].help == "give the buffer's elements: {buffer: [...]}"


def test_not_a_number_agrees_with_itself_in_a_shared_place() -> None:
    values, findings = read([["nan", 1], ["nan", 1]], "FLOAT16", 2, 2, strides=(0, 1))
    assert findings == []
    assert np.isnan(values[:, 0]).all()


def test_not_a_number_does_not_agree_with_a_number_in_a_shared_place() -> None:
    _, findings = read([["nan"], [1]], "FLOAT16", 2, 1, strides=(0, 1))
    assert [finding.rule for finding in findings] == ["conflicting-elements"]


def test_bits_of_a_shared_place_must_agree() -> None:
    _, findings = read({"bits": [1, 2]}, "UINT8", 2, strides=(0,))
    assert [finding.rule for finding in findings] == ["conflicting-elements"]


def test_an_array_of_a_shared_place_must_agree() -> None:
    _, findings = read(np.array([[1, 2], [3, 2]], dtype=np.float32), "FLOAT32", 2, 2, strides=(0, 1))
    assert [finding.rule for finding in findings] == ["conflicting-elements"]


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 3), st.integers(0, 5)), min_size=1, max_size=3),
    st.data(),
)
def test_a_buffer_is_read_through_any_strides(dims: list[tuple[int, int]], data: st.DataObject) -> None:
    sizes, strides = zip(*dims, strict=True)
    extent = 1 + sum((size - 1) * stride for size, stride in dims)
    buffer = data.draw(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=extent, max_size=extent))
    values, findings = read({"buffer": buffer}, "INT32", *sizes, strides=strides)
    assert findings == []
    for index in np.ndindex(*sizes):
        assert values[index] == buffer[sum(i * stride for i, stride in zip(index, strides, strict=True))]
    # What a buffer gives can be written out, and reads back the same through the same strides.
    again, findings = read(values.tolist(), "INT32", *sizes, strides=strides)
    assert findings == []
    assert np.array_equal(again, values)


@pytest.mark.parametrize(
    ("sizes", "strides", "buffer", "expected"),
    [
        ((2, 3), None, [1, 2, 3, 4, 5, 6], [[1, 2, 3], [4, 5, 6]]),
        ((2, 3), (0, 1), [1, 2, 3], [[1, 2, 3], [1, 2, 3]]),
        ((2, 3), (1, 1), [1, 2, 3, 4], [[1, 2, 3], [2, 3, 4]]),
        ((2, 2), (4, 2), [0, 1, 2, 3, 4, 5, 6], [[0, 2], [4, 6]]),
        ((2, 3), (1, 2), [1, 2, 3, 4, 5, 6], [[1, 3, 5], [2, 4, 6]]),
        ((3, 3), (0, 0), [5], [[5, 5, 5]] * 3),
    ],
)
def test_a_buffer_gives_the_physical_elements(
    sizes: tuple[int, ...], strides: tuple[int, ...] | None, buffer: list[int], expected: list[Any]
) -> None:
    assert accepted({"buffer": buffer}, "FLOAT32", *sizes, strides=strides) == expected


@pytest.mark.parametrize(
    ("data_type", "sizes", "strides", "total", "least", "most"),
    [
        ("FLOAT32", (3,), None, None, 3, 3),
        ("FLOAT32", (3,), None, 12, 3, 3),
        ("FLOAT32", (3,), None, 16, 3, 4),
        ("FLOAT32", (3,), None, 19, 3, 4),
        ("FLOAT16", (3,), None, None, 3, 4),  # 6 bytes, rounded up to 8
        ("UINT8", (1,), None, None, 1, 4),
        ("INT4", (3,), None, None, 3, 8),
        ("UINT64", (2, 2), (3, 1), None, 5, 5),
        ("FLOAT32", (2, 2), (0, 1), 16, 2, 4),
    ],
)
def test_a_buffer_may_reach_to_the_end_of_the_tensors_bytes(
    data_type: str, sizes: tuple[int, ...], strides: tuple[int, ...] | None, total: int | None, least: int, most: int
) -> None:
    for count in range(most + 2):
        raw = {"buffer": [1] * count}
        if least <= count <= most:
            accepted(raw, data_type, *sizes, strides=strides, total_size=total)
        elif count:
            finding = refused(raw, data_type, *sizes, strides=strides, total_size=total)
            assert place(finding) == ("element-count", "inputs.T.buffer")
            takes = f"{least}" if least == most else f"{least} to {most}"
            assert finding.params["expected"] == f"its sizes and strides take {takes}"


@pytest.mark.parametrize("raw", [[], [[1, 2, 3]], [1, [2], 3], {"fill": 1}, None, 5], ids=str)
def test_a_buffer_is_a_flat_list(raw: Any) -> None:
    assert place(refused({"buffer": raw}, "FLOAT32", 3)) == ("wrong-type", "inputs.T.buffer")


@pytest.mark.parametrize(("raw", "rule"), [(300, "value-not-representable"), ("x", "wrong-type")])
def test_an_element_of_a_buffer_is_refused_at_its_own_index(raw: Any, rule: str) -> None:
    finding = refused({"buffer": [0, 1, raw]}, "UINT8", 2, 2, strides=(0, 2))
    assert place(finding) == (rule, "inputs.T.buffer[2]")


def test_an_element_of_a_buffer_is_rounded_from_its_text() -> None:
    document = yaml.parse(b"inputs: {T: {buffer: [0, 1.0000000596046447753906251]}}", "case.yaml")
    tensor = TensorDesc("FLOAT32", (2, 1), (1, 1))
    raw = document.value["inputs"]["T"]
    values, findings = collected(read_values("T", tensor, raw, ("inputs", "T"), Source("", document.literal)))
    assert findings == []
    assert values is not None
    assert values.tolist() == [[0], [1 + 2**-23]]


@pytest.mark.parametrize(
    ("sizes", "strides", "expected"),
    [
        ((2, 3), (0, 1), [[1, 2, 3], [1, 2, 3]]),
        ((2, 3), (1, 0), [[1, 1, 1], [2, 2, 2]]),
        ((2, 3), (1, 1), [[1, 2, 3], [2, 3, 4]]),
        ((2, 2), (4, 2), [[1, 2], [3, 4]]),
    ],
)
def test_a_sequence_gives_elements_in_one_place_one_value(
    sizes: tuple[int, ...], strides: tuple[int, ...], expected: list[Any]
) -> None:
    assert accepted({"sequence": {"start": 1, "step": 1}}, "INT32", *sizes, strides=strides) == expected


def test_random_numbers_of_elements_in_one_place_are_one_number() -> None:
    rows = accepted({"random": {"seed": 1}}, "FLOAT32", 3, 4, strides=(0, 1))
    assert rows[0] == rows[1] == rows[2]
    assert len(set(rows[0])) == 4


# ---- memory


@pytest.mark.parametrize(
    ("raw", "strides", "expected"),
    [
        ([], None, 24),
        ({"fill": 1}, None, 0),
        ({"sequence": {}}, (3, 1), 24),
        ({"sequence": {}}, (0, 1), 12),
        ({"random": {"seed": 1}}, (0, 0), 4),
    ],
)
def test_the_memory_of_values_is_known_before_they_are_read(
    raw: Any, strides: tuple[int, ...] | None, expected: int
) -> None:
    assert bytes_needed(TensorDesc("FLOAT32", (2, 3), strides), raw) == expected


def test_a_generator_over_shared_places_is_known_to_fill_the_whole_extent() -> None:
    tensor = TensorDesc("FLOAT32", (2, 2, 2), (1, 1, 4294967295))
    assert bytes_needed(tensor, {"sequence": {}}) >= 4 * (1 + 1 + 1 + 4294967295)


# ---- forms


@pytest.mark.parametrize(
    ("raw", "help"),
    [(5, "write {fill: 5}"), (0.5, "write {fill: 0.5}"), (True, None), (None, None), ("nan", None), (b"", None)],
    ids=str,
)
def test_values_are_a_list_or_a_mapping(raw: Any, help: str | None) -> None:
    finding = refused(raw, "FLOAT32", 1)
    assert place(finding) == ("wrong-type", "inputs.T")
    assert finding.params["expected"] == "a list, or a mapping with one of fill, sequence, random, file, bits, buffer"
    assert finding.help == help


@pytest.mark.parametrize(
    ("raw", "path", "help"),
    [
        ({"fil": 0}, "inputs.T.fil", "did you mean fill?"),
        ({"sequnce": {}}, "inputs.T.sequnce", "did you mean sequence?"),
        ({"fill": 0, "zzz": 1}, "inputs.T.zzz", "its keys are fill, sequence, random, file, bits, buffer"),
        ({"sequence": {"begin": 0}}, "inputs.T.sequence.begin", "its keys are start, step"),
        ({"random": {"seed": 1, "hihg": 0}}, "inputs.T.random.hihg", "did you mean high?"),
    ],
)
def test_an_unknown_key_is_refused_at_its_key(raw: Any, path: str, help: str) -> None:
    finding = refused(raw, "FLOAT32", 1)
    assert place(finding) == ("unknown-key", path)
    assert finding.at_key
    assert finding.help == help


@pytest.mark.parametrize("raw", [{}, {"fill": 0, "bits": [0]}], ids=["none", "two"])
def test_a_mapping_has_exactly_one_form(raw: Any) -> None:
    assert place(refused(raw, "FLOAT32", 1)) == ("wrong-type", "inputs.T")


@pytest.mark.parametrize(
    ("raw", "rule", "path"),
    [
        ({"sequence": None}, "wrong-type", "sequence"),
        ({"sequence": [0, 1]}, "wrong-type", "sequence"),
        ({"sequence": {"start": "a"}}, "wrong-type", "sequence.start"),
        ({"sequence": {"step": True}}, "wrong-type", "sequence.step"),
        ({"sequence": {"start": INFINITY}}, "wrong-type", "sequence.start"),
        ({"sequence": {"step": float("nan")}}, "wrong-type", "sequence.step"),
        ({"sequence": {"start": Overflow("1e400")}}, "wrong-type", "sequence.start"),
        ({"sequence": {"start": 32768}}, "value-not-representable", "sequence.start"),
        ({"sequence": {"start": 32766}}, "value-not-representable", "sequence.step"),
        ({"sequence": {"start": -32767, "step": -1}}, "value-not-representable", "sequence.step"),
        ({"sequence": {"start": 0.5}}, "value-not-representable", "sequence.start"),
        ({"sequence": {"step": 0.25}}, "value-not-representable", "sequence.step"),
        ({"random": 7}, "wrong-type", "random"),
        ({"random": {}}, "missing-key", "random.seed"),
        ({"random": {"seed": None}}, "missing-key", "random.seed"),
        ({"random": {"seed": 1.5}}, "wrong-type", "random.seed"),
        ({"random": {"seed": "1"}}, "wrong-type", "random.seed"),
        ({"random": {"seed": 1, "low": 2, "high": 1}}, "wrong-type", "random.high"),
        ({"random": {"seed": 1, "low": -32769}}, "value-not-representable", "random.low"),
        ({"random": {"seed": 1, "high": 32768}}, "value-not-representable", "random.high"),
        ({"random": {"seed": 1, "low": 0.5}}, "value-not-representable", "random.low"),
        ({"file": 5}, "wrong-type", "file"),
        ({"file": ""}, "wrong-type", "file"),
        ({"file": None}, "wrong-type", "file"),
    ],
    ids=str,
)
def test_a_wrong_setting_of_a_form_is_refused_at_the_setting(raw: Any, rule: str, path: str) -> None:
    assert place(refused(raw, "INT16", 3)) == (rule, f"inputs.T.{path}")


@pytest.mark.parametrize(
    "raw",
    [
        {"sequence": {"start": 10**400}},
        {"sequence": {"step": -(10**400)}},
        {"sequence": {"start": 1.5, "step": 10**400}},
        {"random": {"seed": 1, "high": 10**400}},
    ],
    ids=["start", "step", "step-beside-float", "high"],
)
@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT64", "INT64"])
def test_a_setting_beyond_float64_is_refused(raw: Any, data_type: str) -> None:
    assert refused(raw, data_type, 3).rule == "value-not-representable"


def test_a_seed_may_be_as_large_as_it_likes() -> None:
    seed = 10**400
    assert accepted({"random": {"seed": seed}}, "FLOAT32", 4) == accepted(
        {"random": {"seed": seed % 2**64}}, "FLOAT32", 4
    )


@pytest.mark.parametrize(
    ("raw", "data_type", "expected"),
    [
        ({"sequence": {}}, "INT8", [0, 1, 2]),
        ({"sequence": {"start": 1, "step": 0.5}}, "FLOAT32", [1, 1.5, 2]),
        ({"sequence": {"start": 2.0, "step": -1.0}}, "INT8", [2, 1, 0]),
        ({"sequence": {"start": 5, "step": 0}}, "UINT4", [5, 5, 5]),
        ({"sequence": {"start": -(2**63), "step": 2**63 - 1}}, "INT64", [-(2**63), -1, 2**63 - 2]),
        ({"sequence": {"start": 2**64 - 1, "step": -1}}, "UINT64", [2**64 - 1, 2**64 - 2, 2**64 - 3]),
    ],
)
def test_a_sequence_starts_and_steps(raw: Any, data_type: str, expected: list[Any]) -> None:
    assert accepted(raw, data_type, 3) == expected


def test_a_sequence_of_a_float_type_may_end_where_a_literal_may() -> None:
    assert accepted([65519], "FLOAT16", 1) == [65504]
    assert accepted({"sequence": {"start": 65519, "step": 0}}, "FLOAT16", 1) == [65504]


# ---- arrays of the caller


def test_an_array_of_the_right_type_and_shape_is_taken_as_it_is() -> None:
    given_array = np.arange(6, dtype=np.float16).reshape(2, 3)
    values, findings = read(given_array, "FLOAT16", 2, 3)
    assert findings == []
    assert values is given_array


@pytest.mark.parametrize(
    ("array", "rule"),
    [
        (np.zeros((3, 2), dtype=np.float16), "element-count"),
        (np.zeros(5, dtype=np.float16), "element-count"),
        (np.zeros((), dtype=np.float16), "element-count"),
        (np.zeros((2, 3), dtype=np.bool_), "value-not-representable"),
        (np.zeros((2, 3), dtype=np.complex64), "value-not-representable"),
    ],
    ids=str,
)
def test_an_array_of_another_shape_or_of_no_numbers_is_refused(array: Any, rule: str) -> None:
    assert place(refused(array, "FLOAT16", 2, 3)) == (rule, "inputs.T")


@pytest.mark.parametrize(
    ("data_type", "array", "expected"),
    [
        ("FLOAT16", np.array([1 + 2.0**-11, 1 + 2.0**-11 + 2.0**-40, -0.0]), [1.0, 1 + 2.0**-10, 0.0]),
        ("FLOAT16", np.array([2049, 2051, -7], dtype=np.int64), [2048.0, 2052.0, -7.0]),
        ("UINT8", np.array([0, 255, 7], dtype=np.int64), [0, 255, 7]),
        ("INT32", np.array([1.0, -2.0, 3.0]), [1, -2, 3]),
    ],
)
def test_an_array_of_another_type_is_rounded_once(data_type: str, array: Any, expected: list[Any]) -> None:
    values, findings = read(array, data_type, 3)
    assert findings == []
    assert values is not None
    assert values.tolist() == expected


@pytest.mark.parametrize(
    ("data_type", "array", "rule"),
    [
        ("UINT8", np.array([256]), "value-not-representable"),
        ("INT32", np.array([0.5]), "value-not-representable"),
        ("FLOAT16", np.array([1e6]), "value-not-representable"),
    ],
)
def test_an_element_that_the_data_type_cannot_hold_is_refused(data_type: str, array: Any, rule: str) -> None:
    assert place(refused(array, data_type, 1)) == (rule, "inputs.T[0]")


@pytest.mark.parametrize(
    ("data_type", "array"), [("UINT4", np.array([16], np.uint8)), ("INT4", np.array([-9], np.int8))]
)
def test_an_array_of_bytes_must_fit_into_four_bits(data_type: str, array: Any) -> None:
    assert refused(array, data_type, 1).rule == "value-not-representable"


# ---- text


@settings(deadline=None)
@given(st.sampled_from(sorted(WIDTHS)), st.data())
def test_printed_values_read_back_to_the_same_bits(data_type: str, data: st.DataObject) -> None:
    kind, width = WIDTHS[data_type][0], int(WIDTHS[data_type][1]) * 8
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3).map(tuple))
    if data_type in BINARY:
        patterns = data.draw(
            st.lists(st.integers(0, 2**width - 1), min_size=math.prod(sizes), max_size=math.prod(sizes))
        )
        values = np.array(patterns, dtype=f"u{width // 8}").view(WIDTHS[data_type]).reshape(sizes)
    else:
        numbers = st.integers(*LIMITS[data_type])
        values = np.array(
            data.draw(st.lists(numbers, min_size=math.prod(sizes), max_size=math.prod(sizes))), WIDTHS[data_type]
        )
        values = values.reshape(sizes)
    again, findings = written("".join(values_text(values, data_type)), data_type, *sizes)
    assert findings == []
    if kind == "f":
        assert np.array_equal(np.isnan(again), np.isnan(values))
        again, values = np.where(np.isnan(again), 0, again), np.where(np.isnan(values), 0, values)
    assert again.tobytes() == values.tobytes()


@pytest.mark.parametrize("width", [2, 4, 8])
def test_printed_edge_values_read_back_to_the_same_bits(width: int) -> None:
    data_type = f"FLOAT{8 * width}"
    precision, least, most = BINARY[data_type]
    numbers = [
        0.0, -0.0, 1.0, -1.0, 0.1, 2.0**least, 2.0 ** (least - precision + 1), -(2.0 ** (least - precision + 1)),
        float(power_of_two(most + 1) - power_of_two(most - precision + 1)), 2.0**precision, 2.0**precision - 1,
        INFINITY, -INFINITY, 1e4, 123456.0 / 1024, 1 / 3, 6e-5, 1 + 2.0 ** (1 - precision),
    ]  # fmt: skip
    values = np.array(numbers, dtype=f"f{width}")
    again, findings = written("".join(values_text(values, data_type)), data_type, len(numbers))
    assert findings == []
    assert again.tobytes() == values.tobytes()


@pytest.mark.parametrize(
    ("values", "data_type", "text"),
    [
        (np.array([1, 2], np.int32), "INT32", "[1, 2]"),
        (np.array([[1.5, -0.0], [np.inf, np.nan]], np.float32), "FLOAT32", "[[1.5, -0.0], [.inf, .nan]]"),
        (np.array([[[0.1]], [[1e20]]], np.float32), "FLOAT32", "[[[0.1]], [[1.0e+20]]]"),
        (np.array([2**64 - 1], np.uint64), "UINT64", "[18446744073709551615]"),
        (np.array([6e-8, 65504], np.float16), "FLOAT16", "[6.0e-08, 65504]"),
        (np.float64(-np.inf), "FLOAT64", "[-.inf]"),
    ],
)
def test_values_are_printed_as_nested_flow_lists(values: Any, data_type: str, text: str) -> None:
    assert "".join(values_text(np.asarray(values), data_type)) == text


def test_a_numbers_text_is_asked_for_only_where_it_decides() -> None:
    asked: list[Any] = []
    literal: Callable[[Any], None] = asked.append
    values, findings = read([0.1, 1.00048828125, 3], "FLOAT16", 3, source=Source("", literal))
    assert findings == []
    assert values is not None
    assert asked == [("inputs", "T", 1)]
