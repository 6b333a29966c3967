"""What ONNX Runtime makes of operators between DequantizeLinear and QuantizeLinear; test_fusions compares with it."""

from __future__ import annotations

from typing import Any

import pytest
from fused_patterns import OWN, quantized
from whole_models import node, save

from dmlcheck.onnx.model.file import read_whole
from dmlcheck.onnx.model.nodes import ModelNode, nodes_and_fusions

pytest.importorskip("onnx.helper")

pytestmark = pytest.mark.usefixtures("folder")


def fused(made: Any) -> list[ModelNode]:
    return [one for one in nodes_and_fusions(read_whole(save(made), {})) if one.replaced]


def test_products_of_signed_bytes_are_not_fused_and_sums_are() -> None:
    """Those of x64, as ONNX Runtime 1.24.4 has it."""
    assert fused(quantized("Conv", kind=3)) == []
    assert fused(quantized("MatMul", kind=3)) == []
    assert fused(quantized("MatMul", kind=3, ends=False)) == []
    for operator in ("Add", "GlobalAveragePool", "Sigmoid"):
        assert len(fused(quantized(operator, kind=3))) == 1


def test_a_bias_of_floats_keeps_a_convolution_as_it_is() -> None:
    made = quantized("Conv")
    made.graph.node.insert(3, node("Neg", "cf", "cn"))
    (target,) = (each for each in made.graph.node if each.name == "target")
    target.input[2] = "cn"
    assert f"{OWN}QLinearConv" not in [one.operator for one in fused(made)]
    assert fused(made) == []
