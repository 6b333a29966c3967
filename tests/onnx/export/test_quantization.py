"""Quantization as ONNX graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_models import EVALUATORS, answers, check, desc_of, evaluate, expect, f32, of, whole
from windows import pooled

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.onnx.export.builder import build
from dmlcheck.onnx.export.records import Inexpressible
from dmlcheck.onnx.exporter import model_proto
from dmlcheck.values.number_formats import NUMPY_TYPES

Array = np.ndarray[Any, Any]


def quantization(
    operator: str, x: Array, scale: Array, zero: Array | None, kind: str, strides: list[int] | None = None
) -> tuple[OperatorDesc, dict[str, Any]]:
    """Return a desc of (de)quantization; `strides` repeat the scale and the zero point."""
    tensors = {"InputTensor": x, "ScaleTensor": scale} | ({} if zero is None else {"ZeroPointTensor": zero})
    desc = {
        name: {
            "DataType": next(own for own, dtype in NUMPY_TYPES.items() if dtype == array.dtype),
            "Sizes": list(array.shape),
        }
        for name, array in tensors.items()
    }
    desc["OutputTensor"] = {"DataType": kind, "Sizes": list(x.shape)}
    for name in ("ScaleTensor", "ZeroPointTensor"):
        if strides is not None and name in desc:
            desc[name]["Strides"] = strides
    return desc_of(operator, desc), tensors


@pytest.mark.parametrize("strides", [[0, 0], [0, 1], [1, 0], None], ids=["tensor", "column", "row", "element"])
def test_scales_are_those_of_a_tensor_an_axis_or_an_element(strides: list[int] | None) -> None:
    shape = (2, 3)
    places = np.indices(shape)
    weights = [1, 1] if strides is None else strides
    which = places[0] * 3 * weights[0] + places[1] * weights[1]
    scale = (2.0 ** (which % 4)).astype(np.float32)
    zero = (which + 1).astype(np.uint8)
    x = np.array([[8, 16, -8], [24, 40, 80]], np.float32)
    desc, inputs = quantization("ELEMENT_WISE_QUANTIZE_LINEAR", x, scale, zero, "UINT8", strides)
    quantized = np.clip(x / scale + zero, 0, 255)
    graph = build(desc)
    check(model_proto(graph))
    assert graph.nodes[-1].attributes.get("block_size") == (1 if strides is None else None)
    back, _ = quantization(
        "ELEMENT_WISE_DEQUANTIZE_LINEAR", quantized.astype(np.uint8), scale, zero, "FLOAT32", strides
    )
    check(model_proto(build(back)))
    if strides is None:
        return  # the evaluator divides blocks of one into none; onnxruntime's results are tested with it
    assert evaluate(desc, inputs)["OutputTensor"].tolist() == quantized.tolist()
    inputs["InputTensor"] = quantized.astype(np.uint8)
    restored = evaluate(back, inputs)["OutputTensor"]
    assert restored.tolist() == ((quantized - zero) * scale).tolist()


def test_an_absent_zero_point_is_0_of_the_outputs_type() -> None:
    x = of("FLOAT32", -3, 3, 300)
    desc, inputs = quantization("ELEMENT_WISE_QUANTIZE_LINEAR", x, of("FLOAT32", 1, 1, 1), None, "INT8", [0, 0])
    result = evaluate(desc, inputs)["OutputTensor"]
    assert result.dtype == np.int8
    assert result.tolist() == [[-3, 3, 127]]


@pytest.mark.parametrize(("kind", "expected"), [("UINT8", [0, 131]), ("INT8", [-128, 3]), ("UINT4", [0, 11])])
def test_an_absent_zero_point_of_quantize_is_the_middle_of_an_unsigned_type(kind: str, expected: list[int]) -> None:
    tensor = {"DataType": "FLOAT32", "Sizes": [1, 2]}
    fields = {
        "InputTensor": tensor,
        "QuantizationType": "SCALE",
        "QuantizationTensors": [{**tensor, "Sizes": [1, 1]}],
        "OutputTensor": {"DataType": kind, "Sizes": [1, 2]},
    }
    inputs = {"InputTensor": of("FLOAT32", -300, 3), "QuantizationTensors": [np.ones((1, 1), np.float32)]}
    for answer in answers(desc_of("QUANTIZE", fields), inputs, tuple(EVALUATORS)):
        assert answer["OutputTensor"].astype(int).tolist() == [expected]


def test_a_zero_point_of_int32_is_inexpressible() -> None:
    x = of("INT32", 1, 2)
    desc, _ = quantization("ELEMENT_WISE_DEQUANTIZE_LINEAR", x, of("FLOAT32", 1, 1), x, "FLOAT32", [0, 0])
    with pytest.raises(Inexpressible, match="no zero point for INT32"):
        build(desc)


def test_a_quantized_range_has_its_scale_and_zero_point() -> None:
    x = f32([[-1, 0, 1.55, 4.1]])  # 5.1 / 255 = 0.02
    outputs = {
        "OutputTensor": np.array([[0, 50, 128, 255]], np.uint8),
        "OutputScaleTensor": f32([[5.1 / 255]]),
        "OutputZeroPointTensor": np.array([[50]], np.uint8),
    }
    expect("DYNAMIC_QUANTIZE_LINEAR", {"InputTensor": x}, outputs, 1e-7)


def ones(value: float, kind: str, rank: int = 4) -> Array:
    return np.full((1,) * rank, value, NUMPY_TYPES[kind])


def requantized(value: Any, scale: Any, point: float, kind: str) -> Array:
    limits = np.iinfo(NUMPY_TYPES[kind])
    return np.clip(np.rint(value / scale) + point, limits.min, limits.max).astype(NUMPY_TYPES[kind])


def test_a_quantized_average_is_taken_of_what_the_numbers_stand_for() -> None:
    x = (whole(1, 2, 4, 4) * 8 + 100).astype(np.uint8)
    mean = pooled((x.astype(np.float64) - 90) * 0.5, lambda part: part.mean(2), [2, 2], [2, 2], [0, 0], [0, 0])
    wanted = requantized(mean, 0.25, 3, "UINT8")
    inputs = {
        "InputTensor": x,
        "InputScaleTensor": ones(0.5, "FLOAT32"),
        "InputZeroPointTensor": ones(90, "UINT8"),
        "OutputScaleTensor": ones(0.25, "FLOAT32"),
        "OutputZeroPointTensor": ones(3, "UINT8"),
    }
    shape = {"WindowSize": [2, 2], "Strides": [2, 2], "Dilations": [1, 1], "StartPadding": [0, 0], "EndPadding": [0, 0]}
    expect(
        "QUANTIZED_LINEAR_AVERAGE_POOLING",
        inputs,
        {"OutputTensor": wanted},
        by=("onnxruntime",),
        IncludePadding=False,
        **shape,
    )
