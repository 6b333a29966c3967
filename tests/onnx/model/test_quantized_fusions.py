"""What ONNX Runtime makes of operators between DequantizeLinear and QuantizeLinear; test_fusions compares with it."""

from __future__ import annotations

from typing import Any

import pytest
from fused_patterns import OWN, quantized
from whole_models import node, save

from dmlcheck.onnx.model.file import read_whole
from dmlcheck.onnx.model.nodes import ModelNode, UnusableNode, nodes_and_fusions

helper = pytest.importorskip("onnx.helper")

pytestmark = pytest.mark.usefixtures("folder")


def fused(made: Any) -> list[ModelNode]:
    return [one for one in nodes_and_fusions(read_whole(save(made), {})) if one.replaced]


def test_a_quantized_operator_keeps_its_attributes() -> None:
    (pool,) = fused(quantized("AveragePool", kernel_shape=[2, 2], strides=[2, 2]))
    assert not isinstance(pool.found, UnusableNode)
    (desc,) = pool.found
    assert desc.operator == "QUANTIZED_LINEAR_AVERAGE_POOLING"
    assert (list(desc.fields["WindowSize"]), list(desc.fields["Strides"])) == ([2, 2], [2, 2])
    assert desc.fields["OutputTensor"].shape == (1, 4, 4, 4)


def test_a_convolution_takes_its_bias_as_it_is() -> None:
    (convolution,) = fused(quantized("Conv"))
    assert (convolution.name, len(convolution.replaced)) == ("last", 5)
    assert not isinstance(convolution.found, UnusableNode)
    assert convolution.found[0].fields["BiasTensor"] is not None


def test_what_is_read_again_stays() -> None:
    """The first DequantizeLinear is read by a Tanh too."""
    (total,) = fused(quantized("Add", is_shared=True))
    nodes = [one.name for one in nodes_and_fusions(read_whole("model.onnx", {})) if not one.replaced]
    assert [nodes[number] for number in total.replaced] == ["second", "target", "last"]


def test_products_of_signed_bytes_are_not_fused_and_sums_are() -> None:
    """Those of x64, as ONNX Runtime 1.24.4 has it."""
    assert fused(quantized("Conv", kind=3)) == []
    assert fused(quantized("MatMul", kind=3)) == []
    assert fused(quantized("MatMul", kind=3, ends=False)) == []
    for operator in ("Add", "GlobalAveragePool", "Sigmoid"):
        assert len(fused(quantized(operator, kind=3))) == 1


def test_the_result_is_quantized_as_the_inputs_are() -> None:
    made = quantized("Add")
    made.graph.initializer.append(helper.make_tensor("signed", 3, [], [0]))
    (last,) = (each for each in made.graph.node if each.name == "last")
    last.input[2] = "signed"
    made.graph.output[0].type.tensor_type.elem_type = 3
    assert fused(made) == []


def test_factors_need_a_zero_point() -> None:
    made = quantized("MatMul", ends=False)
    del made.graph.node[1].input[2]
    assert fused(made) == []


def test_a_bias_of_floats_keeps_a_convolution_as_it_is() -> None:
    made = quantized("Conv")
    made.graph.node.insert(3, node("Neg", "cf", "cn"))
    (target,) = (each for each in made.graph.node if each.name == "target")
    target.input[2] = "cn"
    assert f"{OWN}QLinearConv" not in [one.operator for one in fused(made)]
    assert fused(made) == []
