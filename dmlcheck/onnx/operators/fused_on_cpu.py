"""Convolutions and products of onnxruntime with an activation after them, which it makes only for its CPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, Unmapped, shortest
from dmlcheck.onnx.descs.steps import pair, step
from dmlcheck.onnx.operators import activation, convolution, matrix_products
from dmlcheck.onnx.operators.row import Row

_Family = Mapping[str, Row]
_PARAMETERS = {"Clip": ("min", "max"), "HardSigmoid": ("alpha", "beta"), "LeakyRelu": ("alpha",)}  # of FusedConv


def _convolution(node: OnnxNode) -> list[Counterpart]:
    """CONVOLUTION, ADD of the fourth input, and the activation."""
    names = _PARAMETERS.get(node.get("activation", ""), ())
    values = dict(zip(names, node.get("activation_params") or (), strict=False))
    return _activated(node, "Conv", convolution.OPERATORS, values)


def _gemm(node: OnnxNode) -> list[Counterpart]:
    """GEMM and the activation."""
    start = "activation_"
    values = {name.removeprefix(start): value for name, value in node.attributes.items() if name.startswith(start)}
    return _activated(node._replace(inputs=node.inputs[:3]), "Gemm", matrix_products.OPERATORS, values)


def _activated(node: OnnxNode, type: str, family: _Family, values: Mapping[str, Any]) -> list[Counterpart]:
    """Return the steps of a node of `type` in a family, of the sum with its fourth input, and of the activation."""
    output, activation_of_it = node.output(), node.get("activation")
    is_summed = node.has(3)
    made = TensorRef(output.element, output.shape) if is_summed or activation_of_it else output
    steps = _steps(node, family, type, node._replace(type=type, inputs=node.inputs[:3], outputs=(made,)))
    if is_summed:
        before, made = made, TensorRef(output.element, output.shape) if activation_of_it else output
        steps.append(pair("ADD", before, node.input(3), made))
    if activation_of_it == "Clip" and {"min", "max"} <= values.keys():
        limits = {"Min": shortest(values["min"]), "Max": shortest(values["max"])}
        steps.append(step("ELEMENT_WISE_CLIP", InputTensor=made, OutputTensor=output, **limits))
    elif activation_of_it:
        last = OnnxNode(activation_of_it, node.opset, values, (made,), (output,))
        steps += _steps(node, activation.OPERATORS, activation_of_it, last)
    return steps


def _steps(node: OnnxNode, family: _Family, type: str, part: OnnxNode) -> list[Counterpart]:
    """Return the steps of a part of a node."""
    row = family.get(type)
    if row is None or row.make is None:
        raise Unmapped(f"{node.type} with the activation {type}")
    return row.make(part)


OPERATORS: dict[str, Row] = {
    "com.microsoft.FusedConv": Row(exact=_convolution),
    "com.microsoft.FusedGemm": Row(exact=_gemm),
}
