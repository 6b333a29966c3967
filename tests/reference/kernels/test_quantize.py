"""Quantization: values against fractions, what is left open, and what rounding may decide beside a half."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from bounds_of import gathered

from dmlcheck import validation
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference import engine
from dmlcheck.reference.bounds import bounds
from dmlcheck.specs.names import NEWEST_LEVEL

Array = np.ndarray[Any, Any]

NAN, INF = float("nan"), float("inf")


def f32(*values: float) -> Array:
    return np.array(values, np.float32)


def i8(*values: int) -> Array:
    return np.array(values, np.int8)


def u8(*values: int) -> Array:
    return np.array(values, np.uint8)


def built(operator: str, output: Any, **tensors: Array) -> tuple[OperatorDesc, dict[str, Array]]:
    """Return the desc of an operator with these inputs, and the inputs by field."""
    inputs = {f"{name}Tensor": array for name, array in tensors.items()}
    fields = {name: {"DataType": x.dtype.name.upper(), "Sizes": list(x.shape)} for name, x in inputs.items()}
    sizes = next(iter(inputs.values())).shape
    fields["OutputTensor"] = {"DataType": np.dtype(output).name.upper(), "Sizes": list(sizes)}
    desc, findings = validation.validate(f"DML_OPERATOR_ELEMENT_WISE_{operator}", fields, NEWEST_LEVEL)
    assert desc is not None
    assert not findings
    return desc, inputs


def computed(operator: str, output: Any, **tensors: Array) -> list[Any]:
    """Return the results, None where they are left open."""
    found = engine.evaluate(*built(operator, output, **tensors))["OutputTensor"]
    marks = [False] * found.values.size if found.unspecified is None else found.unspecified.tolist()
    return [None if mark else value for value, mark in zip(found.values.tolist(), marks, strict=True)]


def allowed(operator: str, output: Any, *, accumulate: str = "FLOAT32", **tensors: Array) -> list[list[int]]:
    """Return the integers that are within the bound of each result."""
    desc, inputs = built(operator, output, **tensors)
    sizes = next(iter(inputs.values())).shape
    found = gathered(desc, inputs, {"OutputTensor": np.ones(sizes, bool)}, accumulate)["OutputTensor"]
    limits = np.iinfo(output)
    every = np.arange(limits.min, limits.max + 1)
    return [every[abs(every - value) <= slack].tolist() for value, slack in zip(found.value, found.slack, strict=True)]


def quantized(quotient: Fraction, zero: int, output: Any) -> int:
    limits = np.iinfo(output)
    return max(limits.min, min(limits.max, round(quotient) + zero))  # Python rounds halves to even


# ---- QUANTIZE_LINEAR


@pytest.mark.parametrize("output", [np.int8, np.uint8])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32])
def test_quotients_are_rounded_moved_and_clamped(output: Any, dtype: Any) -> None:
    generator = np.random.default_rng(7)
    size = 4000
    x = (generator.normal(size=size) * 60).astype(dtype)
    scales = np.array([0.039215686, 0.5, 1.0, -0.25, 3.0], np.float32 if dtype is np.int32 else dtype)
    scale = generator.choice(scales, size)
    limits = np.iinfo(output)
    zero = generator.integers(limits.min, limits.max, size, output, endpoint=True)
    right = [
        quantized(Fraction(a) / Fraction(b), c, output)
        for a, b, c in zip(x.tolist(), scale.tolist(), zero.tolist(), strict=True)
    ]
    assert computed("QUANTIZE_LINEAR", output, Input=x, Scale=scale, ZeroPoint=zero) == right


def test_halves_go_to_the_even_number_before_the_zero_point_is_added() -> None:
    x, zero = f32(0.5, 1.5, 2.5, -0.5, -1.5, 0.5, 1.5), i8(0, 0, 0, 0, 0, 1, 1)
    found = computed("QUANTIZE_LINEAR", np.int8, Input=x, Scale=f32(*[1] * 7), ZeroPoint=zero)
    assert found == [0, 2, 2, 0, -2, 1, 3]


def test_without_a_zero_point_0_stays_0() -> None:
    assert computed("QUANTIZE_LINEAR", np.uint8, Input=f32(-3, 0, 7, 700), Scale=f32(2, 2, 2, 2)) == [0, 0, 4, 255]


def test_infinite_quotients_are_clamped_and_those_that_are_no_numbers_left_open() -> None:
    x, scale = f32(INF, -INF, 3e38, NAN, INF, 1, 0, 1), f32(1, 1, 1e-30, 1, INF, NAN, INF, INF)
    assert computed("QUANTIZE_LINEAR", np.int8, Input=x, Scale=scale) == [127, -128, 127, None, None, None, 0, 0]


def test_a_quotient_beside_a_half_may_go_to_either_neighbour_and_no_further() -> None:
    # 5 / FLOAT32(0.039215686) is 127.4999955; 5 * 25.5, which is the reciprocal rounded, is a half
    scale = f32(*[0.039215686] * 4)
    zero = i8(-23, 0, -23, 0)
    found = allowed("QUANTIZE_LINEAR", np.int8, Input=f32(5, -5, 4, 0), Scale=scale, ZeroPoint=zero)
    assert found == [[104, 105], [-128, -127], [79], [0]]


def test_a_half_that_division_may_miss_may_go_to_either_neighbour() -> None:
    found = allowed("QUANTIZE_LINEAR", np.int8, Input=f32(1.5, 4.5, -7.5, 6.75), Scale=f32(3, 3, 3, 3))
    assert found == [[0, 1], [1, 2], [-3, -2], [2]]


def test_a_half_by_a_power_of_two_is_exact_and_goes_to_the_even_number() -> None:
    assert allowed("QUANTIZE_LINEAR", np.int8, Input=f32(0.5, 3, -5), Scale=f32(1, 2, 2)) == [[0], [2], [-2]]


def test_beyond_the_limits_of_the_type_nothing_is_in_doubt() -> None:
    found = allowed("QUANTIZE_LINEAR", np.int8, Input=f32(382.5, 379.5, -385.5, -382.5, 901.5), Scale=f32(*[3] * 5))
    assert found == [[127], [126, 127], [-128], [-128, -127], [127]]


def test_an_int32_that_float32_rounds_may_reach_a_half() -> None:
    # 25165821 / 16777214 is 1.49999988; FLOAT32 has 25165820 and 25165822, whose quotients are on both sides of 1.5
    x, scale = np.array([25165821, 2, 50331641], np.int32), f32(16777214, 4, 16777214)
    assert computed("QUANTIZE_LINEAR", np.int8, Input=x, Scale=scale) == [2, 0, 3]
    assert allowed("QUANTIZE_LINEAR", np.int8, Input=x, Scale=scale) == [[1, 2], [0], [3]]


def test_float16_tensors_may_be_divided_in_float16() -> None:
    # 10.05 / 0.1 is 100.49 as FLOAT16 has them, and rounds to 100.5 there
    x, scale = np.array([10.05, 10.1], np.float16), np.array([0.1, 0.1], np.float16)
    quotients = [Fraction(a) / Fraction(b) for a, b in zip(x.tolist(), scale.tolist(), strict=True)]
    assert [round(float(quotient), 2) for quotient in quotients] == [100.49, 101.04]
    assert allowed("QUANTIZE_LINEAR", np.int8, Input=x, Scale=scale) == [[100, 101], [101]]


# ---- DEQUANTIZE_LINEAR


@pytest.mark.parametrize("output", [np.float32, np.float16])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32])
def test_differences_are_multiplied(dtype: Any, output: Any) -> None:
    generator = np.random.default_rng(8)
    limits = np.iinfo(dtype)
    x = generator.integers(max(-3000, limits.min), min(3000, limits.max), 1000, dtype, endpoint=True)
    zero = np.minimum(generator.integers(0, 100, 1000, dtype), x) if dtype is np.uint32 else x[::-1].copy()
    scale = generator.normal(size=1000).astype(output)
    elements = zip(x.tolist(), zero.tolist(), scale.tolist(), strict=True)
    right = [float(output(float((a - b) * Fraction(c)))) for a, b, c in elements]
    assert computed("DEQUANTIZE_LINEAR", output, Input=x, Scale=scale, ZeroPoint=zero) == right


def test_without_a_zero_point_elements_are_multiplied() -> None:
    assert computed("DEQUANTIZE_LINEAR", np.float32, Input=u8(0, 1, 255), Scale=f32(0.5, -2, 2)) == [0, -2, 510]


def sides(**tensors: Array) -> list[set[float]]:
    """Return what each result of DEQUANTIZE_LINEAR may be, with the rounding of the output's type."""
    desc, inputs = built("DEQUANTIZE_LINEAR", tensors["Scale"].dtype, **tensors)
    sizes = tensors["Scale"].shape
    ((_, _, bound),) = bounds(desc, inputs, {"OutputTensor": np.ones(sizes, bool)})
    assert not bound.unspecified.any()
    return [set(row) for row in zip(*(side.value.tolist() for side in (bound, *bound.others)), strict=True)]


def test_a_difference_that_32_bits_do_not_hold_is_exact_or_wraps() -> None:
    x, zero = np.array([2**31 - 1, 2**31 - 1, -(2**31)], np.int32), np.array([0, -1, 1], np.int32)
    found = computed("DEQUANTIZE_LINEAR", np.float32, Input=x, Scale=f32(1, 1, 1), ZeroPoint=zero)
    assert found[1:] == [2**31, -(2**31)]
    allowed = sides(Input=x, Scale=f32(1, 1, 2), ZeroPoint=zero)
    assert allowed == [{2**31 - 1}, {2**31, -(2**31)}, {2 * (-(2**31) - 1), 2 * (2**31 - 1)}]
    x, zero = np.array([2**32 - 1, 5, 4], np.uint32), np.array([0, 5, 5], np.uint32)
    assert sides(Input=x, Scale=f32(1, 1, 1), ZeroPoint=zero) == [{2**32 - 1}, {0}, {-1, 2**32 - 1}]
    x, zero = np.array([0, 65535, 3], np.uint16), np.array([65535, 0, 4], np.uint16)
    assert sides(Input=x, Scale=f32(1, 1, 1), ZeroPoint=zero) == [{-65535}, {65535}, {-1}]


def test_a_difference_beyond_float16_is_exact_or_infinite() -> None:
    x, scale = np.array([65504, 65519, 65520, -70000], np.int32), np.array([0.5] * 4, np.float16)
    found = sides(Input=x, Scale=scale)
    assert found == [{32752}, {32759.5}, {32760, INF}, {-35000, -INF}]


def test_a_difference_that_float32_rounds_may_be_off_by_that() -> None:
    x, scale = np.array([2**24 + 1, 2**24 - 1], np.int32), f32(2, 2)
    desc, inputs = built("DEQUANTIZE_LINEAR", np.float32, Input=x, Scale=scale)
    found = gathered(desc, inputs, {"OutputTensor": np.ones(2, bool)})["OutputTensor"]
    assert found.value.tolist() == [2**25 + 2, 2**25 - 2]
    assert 4 <= found.slack[0] <= 4.1  # half a unit for the conversion, and half for its product
    assert found.slack[1] == 0


# ---- QUANTIZED_LINEAR_ADD


def test_dequantized_numbers_are_added_and_quantized() -> None:
    generator = np.random.default_rng(9)
    for types in ((np.int8, np.uint8, np.int8), (np.uint8, np.int8, np.uint8)):
        a, b = (generator.integers(np.iinfo(t).min, np.iinfo(t).max, 500, t, endpoint=True) for t in types[:2])
        zeros = [generator.integers(0, 100, 1, t) for t in types]
        scales = [f32(0.02), f32(-0.07), f32(0.11)]
        right = [
            quantized(
                (
                    (x - int(zeros[0][0])) * Fraction(float(scales[0][0]))
                    + (y - int(zeros[1][0])) * Fraction(float(scales[1][0]))
                )
                / Fraction(float(scales[2][0])),
                int(zeros[2][0]),
                types[2],
            )
            for x, y in zip(a.tolist(), b.tolist(), strict=True)
        ]
        names = ("AScale", "BScale", "OutputScale")
        points = ("AZeroPoint", "BZeroPoint", "OutputZeroPoint")
        tensors = dict(zip(names, scales, strict=True)) | dict(zip(points, zeros, strict=True))
        assert computed("QUANTIZED_LINEAR_ADD", types[2], A=a, B=b, **tensors) == right


def test_without_zero_points_these_are_0() -> None:
    scales = {"AScale": f32(1), "BScale": f32(2), "OutputScale": f32(4)}
    assert computed("QUANTIZED_LINEAR_ADD", np.uint8, A=u8(255, 2, 1), B=i8(127, -3, -1), **scales) == [127, 0, 0]


@pytest.mark.parametrize(
    ("scales", "right"), [((1, 1, 0), [None, None]), ((NAN, 1, 1), [None, None]), ((INF, 1, 1), [127, None])]
)
def test_a_sum_without_a_quotient_is_left_open(scales: tuple[float, ...], right: list[Any]) -> None:
    named = dict(zip(("AScale", "BScale", "OutputScale"), (f32(scale) for scale in scales), strict=True))
    assert computed("QUANTIZED_LINEAR_ADD", np.int8, A=i8(1, 0), B=i8(1, 1), **named) == right


def test_a_sum_beside_a_half_may_go_to_either_neighbour() -> None:
    scales = {"AScale": f32(0.1), "BScale": f32(0.3), "OutputScale": f32(0.2)}
    # 0.1 + 0.3 * 2 is 3.5 of 0.2, and 0.1 - 0.3 * 2 is -2.5, but for what FLOAT32 makes of these; 0.1 * 2 is 1
    assert allowed("QUANTIZED_LINEAR_ADD", np.int8, A=i8(1, 1, 2), B=i8(2, -2, 0), **scales) == [[3, 4], [-3, -2], [1]]


def test_a_sum_that_cancels_has_the_roundings_of_its_terms() -> None:
    # 127 * 1234567 is 156790009, which FLOAT32 rounds to 156790016; 127 * 1234567.125 it rounds to 156790032.
    # The difference is -15.875; of the rounded terms it is -16, and where the first is not rounded -23.
    scales = {"AScale": f32(1234567), "BScale": f32(1234567.125), "OutputScale": f32(1)}
    (found,) = allowed("QUANTIZED_LINEAR_ADD", np.int8, A=i8(127), B=i8(-127), **scales)
    assert {-23, -16, -9} <= set(found) <= set(range(-31, 0))
