"""Quantization as ONNX graphs: what has no words; test_crosscheck compares values."""

from __future__ import annotations

import pytest
from onnx_models import made, of

from dmlcheck.onnx.export.mappings import build
from dmlcheck.onnx.export.records import Inexpressible


def test_a_zero_point_of_int32_is_inexpressible() -> None:
    x, floats = of("INT32", 1, 2), of("FLOAT32", 1, 2)
    inputs = {"InputTensor": x, "ScaleTensor": floats, "ZeroPointTensor": x}
    with pytest.raises(Inexpressible, match="no zero point for INT32"):
        build(made("ELEMENT_WISE_DEQUANTIZE_LINEAR", inputs, {"OutputTensor": floats}))
