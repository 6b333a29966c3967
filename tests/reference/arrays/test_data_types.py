"""Numbers of data types: limits, overflow and conversions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dmlcheck.reference.arrays.data_types import (
    as_bits,
    as_float,
    as_processor_converts,
    cast,
    element,
    fits,
    in_32_bits,
    infinite,
    is_float,
    limits,
    nearest,
    numbers_for,
    overflows,
    represents,
    unit_roundoff,
    width,
    wrapped,
)
from dmlcheck.reference.ball.numbers import Arithmetic, Ball

INF, NAN = float("inf"), float("nan")


pytestmark = pytest.mark.usefixtures("quiet")


def of(data_type: str, *values: Any) -> np.ndarray[Any, Any]:
    return np.array(values, data_type)


@pytest.mark.parametrize(
    ("data_type", "number", "expected"),
    [
        ("float16", 0.1, 0.0999755859375),
        ("float32", INF, INF),
        ("int8", 2.9, 2),
        ("int8", -2.9, -2),
        ("int8", -128.9, -128),
        ("int8", 128.0, 0),
        ("uint8", -1.0, 0),
        ("int32", INF, 0),
        ("int32", NAN, 0),
    ],
)
def test_a_float_is_cast_to_the_nearest_number_of_a_float_type_and_without_its_fraction_to_an_integer(
    data_type: str, number: float, expected: float
) -> None:
    found = cast(number, of(data_type))
    assert found == expected
    assert found.dtype == data_type


def test_a_tracked_float_is_cast_by_its_value() -> None:
    assert cast(Ball(2.5, 0.1), of("int8")) == 2


def test_a_float_fits_an_integer_type_if_what_is_left_of_it_does() -> None:
    assert [number for number in (-128.75, -129, 0.75, 127.75, 128, np.nan, np.inf) if fits(number, of("int8"))] == [
        -128.75,
        0.75,
        127.75,
    ]


def test_a_number_becomes_an_element_of_its_type() -> None:
    assert [element(7, name).dtype for name in ("UINT8", "INT64", "FLOAT16")] == [np.uint8, np.int64, np.float16]
    assert element(2**63 + 1, "UINT64") == 2**63 + 1


def test_the_unit_roundoff_is_half_the_step_after_1() -> None:
    assert (unit_roundoff("FLOAT32"), unit_roundoff("FLOAT16")) == (2.0**-24, 2.0**-11)
    assert np.float32(1 + 2.0**-24) == 1
    assert np.float16(1 + 2.0**-11) == 1


def test_types_say_what_they_are() -> None:
    assert [is_float(of(name)) for name in ("float16", "float64", "int8", "uint64")] == [True, True, False, False]
    assert [width(of(name)) for name in ("uint8", "float16", "int64")] == [8, 16, 64]


def test_bits_are_unsigned_and_of_the_same_width() -> None:
    found = as_bits(of("float16", 1, -0.0))
    assert found.dtype == np.uint16
    assert found.tolist() == [0x3C00, 0x8000]


@pytest.mark.parametrize(
    ("data_type", "least", "most"),
    [("FLOAT16", -65504, 65504), ("INT8", -128, 127), ("UINT16", 0, 65535), ("INT4", -8, 7), ("UINT4", 0, 15)],
)
def test_a_type_has_its_limits(data_type: str, least: float, most: float) -> None:
    assert limits(data_type) == (least, most)
    inside, outside = of("float64", least, most), of("float64", least - 16, most + 16)
    assert not overflows(data_type, inside).any()
    assert overflows(data_type, outside).all()


def test_a_float_overflows_only_if_it_is_rounded_to_infinity() -> None:
    assert overflows("FLOAT16", of("float64", 65519.9, 65520, -65520, INF)).tolist() == [False, True, True, False]


def test_an_integer_type_holds_whole_numbers_within_its_limits() -> None:
    assert represents("UINT8", of("float64", 0, 255, 256, -1, 1.5, NAN)).tolist() == [True, True] + [False] * 4


def test_the_nearest_of_plain_numbers_is_the_even_one_of_two() -> None:
    assert nearest(of("float64", 0.5, 1.5, -2.4)).tolist() == [0, 2, -2]


def test_the_nearest_of_a_tracked_number_has_all_that_it_may_be_rounded_to_and_no_more() -> None:
    found = nearest(Ball([2.5, 2.3, INF], [0.01, 0.01, 0]))
    assert (found.value - found.radius)[:2].tolist() == [2, 2]
    assert (found.value + found.radius)[:2].tolist() == [3, 2]
    assert found.value[2] == INF


def test_whole_numbers_are_rounded_where_the_type_of_the_others_does_not_have_them() -> None:
    assert as_float(of("int64", 3), of("float64", 1)).dtype == np.float64
    found = as_float(of("int64", 3, 2**25 + 1), Ball(1.0, 0.0, Arithmetic()))
    assert found.radius.tolist() == [0, (2**25 + 1) * 2.0**-24]


def test_beside_a_float16_tensor_an_implementation_may_compute_in_float16() -> None:
    found = as_float(of("int64", 4099), Ball(1.0, 0.0, Arithmetic(attributes="FLOAT16")))
    assert found.arithmetic.data_type == "FLOAT16"
    assert found.radius.tolist() == [4099 * 2.0**-11]


@pytest.mark.parametrize(
    ("data_type", "given", "right"),
    [
        ("INT32", [2.0**31, -(2.0**31) - 1, 5], [-(2.0**31), 2.0**31 - 1, 5]),
        ("UINT32", [-1, 2.0**32, 2.0**32 - 1], [2.0**32 - 1, 0, 2.0**32 - 1]),
        ("INT8", [200, -200], [200, -200]),  # computed in 32 bits
    ],
)
def test_integers_of_32_bits_wrap(data_type: str, given: list[float], right: list[float]) -> None:
    assert wrapped(data_type, np.array(given)).tolist() == right


def test_floats_beyond_a_type_are_infinite() -> None:
    found = infinite("FLOAT16", np.array([65519.0, 65520.0, -1e6, np.nan]))
    np.testing.assert_array_equal(found, [65519, np.inf, -np.inf, np.nan])


def test_what_overflows_nothing_is_the_same_array() -> None:
    x = np.array([1.0, 2.0])
    assert wrapped("INT32", x) is x
    assert infinite("FLOAT32", x) is x


def test_an_array_of_floats_may_have_been_rounded_to_float16() -> None:
    values = [1, 2049, INF, 70000]
    assert numbers_for(values, np.ones(1)).tolist() == values
    of_float16 = Ball(np.ones(1), 0.0, Arithmetic(attributes="FLOAT16"))
    assert numbers_for(values, of_float16).radius.tolist() == [0, 1, 0, 70000 - 65504]
    assert isinstance(numbers_for(values, Ball(np.ones(1), 0.0, Arithmetic())), np.ndarray)


# ---- integers of DirectML


@pytest.mark.parametrize(
    ("data_type", "number", "expected"),
    [
        ("int8", 300.75, 44),
        ("uint8", -70000.5, 144),
        ("int16", 5e9, 0),
        ("int32", np.nan, -(2**31)),
        ("int32", 5e9, -(2**31)),
        ("uint32", 5e9, 705032704),
        ("uint32", -3.5, 2**32 - 3),
        ("int64", np.inf, -(2**63)),
        ("uint64", -3.5, 2**64 - 3),
        ("uint64", -np.inf, 2**63),
        ("uint64", 2.0**63, 2**63),
    ],
)
def test_a_float_is_converted_as_directml_1_15_4_gave_it(data_type: str, number: float, expected: int) -> None:
    found = as_processor_converts(number, of(data_type))
    assert found == expected
    assert found.dtype == data_type


def test_floats_are_limited_to_32_bits_without_their_fraction() -> None:
    x = np.array([-np.inf, -2.75, np.nan, 2.75, 1e10])
    assert in_32_bits(x, np.dtype(np.int8)).tolist() == [-(2**31), -2, 0, 2, 2**31 - 1]
    assert in_32_bits(x, np.dtype(np.uint16)).tolist() == [0, 0, 0, 2, 2**32 - 1]
