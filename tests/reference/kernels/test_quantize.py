"""Quantization: values against fractions, what is undefined, and what rounding may decide close to a half."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from bounds_of import gathered
from grouped import blocks_of
from valid_descs import valid

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference import engine
from dmlcheck.reference.bounds import Bound, bounds

Array = np.ndarray[Any, Any]

NAN, INF = float("nan"), float("inf")


def f32(*values: float) -> Array:
    return np.array(values, np.float32)


def i8(*values: int) -> Array:
    return np.array(values, np.int8)


def built(operator: str, output: Any, **tensors: Array) -> tuple[OperatorDesc, dict[str, Array]]:
    """Return the desc of an operator with these inputs, and the inputs by field."""
    inputs = {f"{name}Tensor": array for name, array in tensors.items()}
    fields = {name: {"DataType": x.dtype.name.upper(), "Sizes": list(x.shape)} for name, x in inputs.items()}
    sizes = next(iter(inputs.values())).shape
    fields["OutputTensor"] = {"DataType": np.dtype(output).name.upper(), "Sizes": list(sizes)}
    desc = valid(f"ELEMENT_WISE_{operator}", fields)
    return desc, inputs


def computed(operator: str, output: Any, **tensors: Array) -> list[Any]:
    """Return the results, None where they are undefined."""
    found = engine.evaluate(*built(operator, output, **tensors))["OutputTensor"]
    marks = [False] * found.values.size if found.undefined is None else found.undefined.tolist()
    return [None if mark else value for value, mark in zip(found.values.tolist(), marks, strict=True)]


def allowed(operator: str, output: Any, *, accumulate: str = "FLOAT32", **tensors: Array) -> list[list[int]]:
    """Return the integers that are within the bound of each result."""
    desc, inputs = built(operator, output, **tensors)
    sizes = next(iter(inputs.values())).shape
    found = gathered(desc, inputs, {"OutputTensor": np.ones(sizes, bool)}, accumulate)["OutputTensor"]
    return within(found, np.iinfo(output).min, np.iinfo(output).max)


def within(found: Bound, least: int, most: int) -> list[list[int]]:
    """Return the integers that are within the bound of each result."""
    every = np.arange(least, most + 1)
    return [
        every[abs(every - value) <= radius].tolist() for value, radius in zip(found.value, found.radius, strict=True)
    ]


# ---- QUANTIZE_LINEAR


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


def sides(**tensors: Array) -> list[set[float]]:
    """Return what each result of DEQUANTIZE_LINEAR may be, with the rounding of the output's type."""
    desc, inputs = built("DEQUANTIZE_LINEAR", tensors["Scale"].dtype, **tensors)
    sizes = tensors["Scale"].shape
    ((_, _, bound),) = bounds(desc, inputs, {"OutputTensor": np.ones(sizes, bool)})
    assert not bound.undefined.any()
    return [set(row) for row in zip(*(side.value.tolist() for side in (bound, *bound.others)), strict=True)]


def test_32_bits_become_float32_before_the_difference_or_after_it() -> None:
    x, zero = np.array([2**31 - 1, 2**24 + 1, -(2**31)], np.int32), np.array([2**31 - 2, 2**24, 1], np.int32)
    found = computed("DEQUANTIZE_LINEAR", np.float32, Input=x, Scale=f32(1, 1, 1), ZeroPoint=zero)
    assert found == [0, 0, -(2**31)]
    allowed = sides(Input=x, Scale=f32(1, 1, 2), ZeroPoint=zero)
    assert allowed == [{0, 1}, {0, 1}, {2 * (-(2**31) - 1)}]
    x, zero = np.array([2**32 - 1, 5, 4], np.uint32), np.array([0, 5, 5], np.uint32)
    assert sides(Input=x, Scale=f32(1, 1, 1), ZeroPoint=zero) == [{2**32, 2**32 - 1}, {0}, {-1}]
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
    assert 4 <= found.radius[0] <= 4.1  # half a unit for the conversion, and half for its product
    assert found.radius[1] == 0


# ---- QUANTIZED_LINEAR_ADD


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


TYPES = {"INT8": (-128, 127), "UINT8": (0, 255), "INT4": (-8, 7), "UINT4": (0, 15)}


# ---- QUANTIZE and DEQUANTIZE


def in_blocks(
    operator: str, input: Array, data_type: str, output_type: str, scale: Array, zero_point: Array | None
) -> tuple[OperatorDesc, dict[str, Any]]:
    """Return the desc of QUANTIZE or DEQUANTIZE, where `data_type` is that of the zero point, and the inputs."""
    quantizations = [scale] if zero_point is None else [scale, zero_point]
    types = [scale.dtype.name.upper(), data_type]
    tensors = [{"DataType": of, "Sizes": list(x.shape)} for of, x in zip(types, quantizations, strict=False)]
    fields = {
        "InputTensor": {"DataType": types[operator != "QUANTIZE"], "Sizes": list(input.shape)},
        "QuantizationType": "SCALE" if zero_point is None else "SCALE_ZERO_POINT",
        "QuantizationTensors": tensors,
        "OutputTensor": {"DataType": output_type, "Sizes": list(input.shape)},
    }
    desc = valid(operator, fields)
    return desc, {"InputTensor": input, "QuantizationTensors": quantizations}


def test_a_quotient_of_a_block_beside_a_half_may_go_to_either_neighbour() -> None:
    x, scale = f32(5, -5, 4, 0), f32(0.039215686, 0.039215686)
    desc, inputs = in_blocks("QUANTIZE", x, "INT8", "INT8", scale, i8(-23, 0))
    found = gathered(desc, inputs, {"OutputTensor": np.ones(4, bool)})["OutputTensor"]
    assert within(found, -128, 127) == [[104, 105], [-128], [102], [0]]


# ---- DYNAMIC_QUANTIZE_LINEAR


def dynamic(x: Array, output: str = "UINT8") -> tuple[OperatorDesc, dict[str, Array]]:
    one = [1] * x.ndim
    fields = {
        "InputTensor": {"DataType": x.dtype.name.upper(), "Sizes": list(x.shape)},
        "OutputTensor": {"DataType": output, "Sizes": list(x.shape)},
        "OutputScaleTensor": {"DataType": "FLOAT32", "Sizes": one},
        "OutputZeroPointTensor": {"DataType": output, "Sizes": one},
    }
    desc = valid("DYNAMIC_QUANTIZE_LINEAR", fields)
    return desc, {"InputTensor": x}


@pytest.mark.parametrize("block", [7, 1 << 16])
@pytest.mark.parametrize("output", ["UINT8", "INT8"])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_scale_and_zero_point_come_from_the_range_with_0(dtype: Any, output: str, block: int) -> None:
    generator = np.random.default_rng(12)
    least, most = TYPES[output]
    for size, mean in [(1, 3), (2, -2), (30, 0), (30, 5), (30, -5), (200, 1)]:
        x = (generator.normal(size=size) + mean).astype(dtype)
        with blocks_of(block):
            found = engine.evaluate(*dynamic(x, output))
        terms = [Fraction(element) for element in x.tolist()]
        low, high = min([*terms, Fraction(0)]), max([*terms, Fraction(0)])
        scale = (high - low) / (most - least)
        zero_point = round(least - low / scale)
        assert found["OutputScaleTensor"].values.tolist() == [np.float32(float(scale))]
        assert found["OutputZeroPointTensor"].values.tolist() == [zero_point]
        right = [max(least, min(most, round(term / scale) + zero_point)) for term in terms]
        assert found["OutputTensor"].values.tolist() == right
        assert all(computed.undefined is None for computed in found.values())


def test_what_onnxruntime_saw_on_directml_is_within_the_bound() -> None:
    # ONNX's test of DynamicQuantizeLinear: 5 / 255 as FLOAT32 is a little more, so that it expects 26 for -2.5, where
    # DirectML was seen to give 25
    desc, inputs = dynamic(f32(0, 2, -3, -2.5, 1.34, 0.5))
    expected = engine.run(desc, inputs)
    assert expected["OutputTensor"].tolist() == [153, 255, 0, 25, 221, 179]
    assert expected["OutputZeroPointTensor"].tolist() == [153]
    found = gathered(desc, inputs, {name: np.ones(values.shape, bool) for name, values in expected.items()})
    assert within(found["OutputTensor"], 0, 255) == [[153], [255], [0], [25, 26], [221], [178, 179]]
    assert within(found["OutputZeroPointTensor"], 0, 255) == [[153]]
    scale = found["OutputScaleTensor"]
    assert scale.radius[0] <= 5 * 2.0**-24 * scale.value[0] * 2
