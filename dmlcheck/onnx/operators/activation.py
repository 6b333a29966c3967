"""Activations of both ONNX and DirectML, and the operators with a Gelu inside."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, Unmapped, shortest
from dmlcheck.onnx.descs.steps import identity, padded_steps, pair, step, unary
from dmlcheck.onnx.descs.tensors import channels, repeated, vector
from dmlcheck.onnx.operators import convolution, matrix_products
from dmlcheck.onnx.operators.row import Row
from dmlcheck.onnx.same_operators import ACTIVATIONS


def _with(operator: str, attributes: Mapping[str, str], node: OnnxNode, **constants: Any) -> list[Counterpart]:
    """Map an operator whose fields are attributes, or the same for all nodes."""
    fields = {field: shortest(node.get(name)) for field, name in attributes.items()}
    return [Counterpart(operator, {**node.tensors(), **fields, **constants})]


def _slope(node: OnnxNode) -> list[Counterpart]:
    x = node.input(0)
    tensors = {"InputTensor": x, "SlopeTensor": repeated(node.input(1), x.shape), "OutputTensor": node.output()}
    return [Counterpart("ACTIVATION_PARAMETERIZED_RELU", tensors)]


def _slope_of_channels(node: OnnxNode) -> list[Counterpart]:
    """PARAMETERIZED_RELU: before opset 7, several slopes belong to the channels."""
    x, slope = node.input(0), node.input(1)
    if node.opset >= 7 or slope.ndim != 1 or slope.size == 1 or x.ndim < 2:
        return _slope(node)
    return _slope(node.with_inputs(x, channels(slope, x.ndim)))


# ---- Gelu, by itself and with the operators before and after it in transformers and in diffusion models

# From DmlOperatorBiasGelu.cpp, DmlOperatorBiasSplitGelu.cpp and DmlOperatorQuickGelu.cpp of ONNX Runtime's DirectML
# provider.


_SLOPE = 0.7978845608028654  # sqrt(2 / pi)
_CUBE = 0.044715


def _gelu(node: OnnxNode) -> list[Counterpart]:
    return [Counterpart("ACTIVATION_GELU", node.tensors())]


def _gelu_by_error_function(node: OnnxNode) -> list[Counterpart]:
    if node.get("approximate", "none") != "none":
        raise Unmapped("Gelu by the tanh of a polynomial, which DirectML does not have")
    return _gelu(node)


def _gelu_by_either(node: OnnxNode) -> list[Counterpart]:
    return _gelu_by_tanh(node) if node.get("approximate", "none") == "tanh" else _gelu_by_error_function(node)


def _gelu_by_tanh(node: OnnxNode) -> list[Counterpart]:
    """Half of x, multiplied by 1 and the tanh of a polynomial; com.microsoft.FastGelu adds a bias first."""
    x, output = vector(node.input(0)), vector(node.output())
    made = []
    if node.has(1):
        biased = x.unknown()
        made.append(pair("ADD", x, node.input(1), biased))
        x = biased
    square, slope, place, bent, share = (x.unknown() for _ in range(5))
    return [
        *made,
        pair("MULTIPLY", x, x, square),
        identity(square, slope, ScaleBias={"Scale": _SLOPE * _CUBE, "Bias": _SLOPE}),
        pair("MULTIPLY", x, slope, place),
        unary("ACTIVATION_TANH", place, bent),
        identity(bent, share, ScaleBias={"Scale": 0.5, "Bias": 0.5}),
        pair("MULTIPLY", x, share, output),
    ]


def _gelu_of_sum(node: OnnxNode) -> list[Counterpart]:
    """ADD1 with a Gelu after it; without a bias only the Gelu."""
    x, output = node.input(0), node.output()
    if not node.has(1):
        return _gelu(node)
    tensors = {"ATensor": x, "BTensor": repeated(node.input(1), x.shape), "OutputTensor": output}
    return [Counterpart("ELEMENT_WISE_ADD1", {**tensors, "FusedActivation": {"Type": "ACTIVATION_GELU"}})]


def _quick_gelu(node: OnnxNode) -> list[Counterpart]:
    """Multiply x by the sigmoid of alpha * x."""
    x, output = node.input(0), node.output()
    alpha = shortest(node.get("alpha", 1.702))
    scaled, gates = x if alpha == 1 else x.unknown(), x.unknown()
    first = [] if alpha == 1 else [identity(x, scaled, ScaleBias={"Scale": alpha, "Bias": 0})]
    return padded_steps([*first, unary("ACTIVATION_SIGMOID", scaled, gates), pair("MULTIPLY", x, gates, output)])


def _gelu_of_half(node: OnnxNode) -> list[Counterpart]:
    """ADD of the bias; one half of the last dimension multiplied by the Gelu of the other."""
    x = node.input(0)
    if not x.ndim or x.shape[-1] % 2:
        raise Unmapped(f"{node.type} of the sizes {list(x.shape)}, which have no halves")
    sizes = (*x.shape[:-1], x.shape[-1] // 2)
    biased, (left, right, gates) = x.unknown(), (x.like(sizes) for _ in range(3))
    return padded_steps(
        [
            pair("ADD", x, node.input(1), biased),
            step("SPLIT", InputTensor=biased, OutputTensors=[left, right], Axis=x.ndim - 1),
            unary("ACTIVATION_GELU", right, gates),
            pair("MULTIPLY", left, gates, node.output()),
        ]
    )


# ---- convolutions and products with an activation after them, which onnxruntime makes only for its CPU


_Family = Mapping[str, Row]
_PARAMETERS = {"Clip": ("min", "max"), "HardSigmoid": ("alpha", "beta"), "LeakyRelu": ("alpha",)}  # of FusedConv


def _convolution(node: OnnxNode) -> list[Counterpart]:
    """CONVOLUTION, ADD of the fourth input, and the activation."""
    names = _PARAMETERS.get(node.get("activation", ""), ())
    values = dict(zip(names, node.get("activation_params") or (), strict=False))
    return _activated(node, "Conv", convolution.OPERATORS, values)


def _gemm(node: OnnxNode) -> list[Counterpart]:
    start = "activation_"
    values = {name.removeprefix(start): value for name, value in node.attributes.items() if name.startswith(start)}
    return _activated(node._replace(inputs=node.inputs[:3]), "Gemm", matrix_products.OPERATORS, values)


def _activated(node: OnnxNode, type: str, family: _Family, values: Mapping[str, Any]) -> list[Counterpart]:
    """Return the steps of a node of `type` in a family, of the sum with its fourth input, and of the activation."""
    output, activation_of_it = node.output(), node.get("activation")
    is_summed = node.has(3)
    made = TensorRef(output.element, output.shape) if is_summed or activation_of_it else output
    steps = _steps_of_part(node, family, type, node._replace(type=type, inputs=node.inputs[:3], outputs=(made,)))
    if is_summed:
        before, made = made, TensorRef(output.element, output.shape) if activation_of_it else output
        steps.append(pair("ADD", before, node.input(3), made))
    if activation_of_it == "Clip" and {"min", "max"} <= values.keys():
        limits = {"Min": shortest(values["min"]), "Max": shortest(values["max"])}
        steps.append(step("ELEMENT_WISE_CLIP", InputTensor=made, OutputTensor=output, **limits))
    elif activation_of_it:
        last = OnnxNode(activation_of_it, node.opset, values, (made,), (output,))
        steps += _steps_of_part(node, OPERATORS, activation_of_it, last)
    return steps


def _steps_of_part(node: OnnxNode, family: _Family, type: str, part: OnnxNode) -> list[Counterpart]:
    row = family.get(type)
    if row is None or row.make is None:
        raise Unmapped(f"{node.type} with the activation {type}")
    return row.make(part)


OPERATORS: dict[str, Row] = {
    **{name: Row(partial(_with, f"ACTIVATION_{own}", fields)) for name, (own, fields) in ACTIVATIONS.items()},
    "HardSwish": Row(partial(_with, "ACTIVATION_HARD_SWISH", {}, Alpha=shortest(1 / 6), Beta=0.5)),
    "Softplus": Row(partial(_with, "ACTIVATION_SOFTPLUS", {}, Steepness=1)),
    "Swish": Row(partial(_with, "ACTIVATION_SWISH", {"SigmoidInputScale": "alpha"})),
    "PRelu": Row(_slope, exact=_slope_of_channels),
    "Gelu": Row(_gelu_by_error_function, exact=_gelu_by_either),
    "com.microsoft.BiasGelu": Row(_gelu_of_sum),
    "com.microsoft.BiasSplitGelu": Row(_gelu_of_half),
    # The provider computes the same as BiasGelu, not by the tanh of a polynomial.
    "com.microsoft.FastGelu": Row(exact=_gelu_by_tanh, provider=_gelu_of_sum),
    "com.microsoft.Gelu": Row(_gelu),
    "com.microsoft.QuickGelu": Row(_quick_gelu),
    "com.microsoft.FusedConv": Row(exact=_convolution),
    "com.microsoft.FusedGemm": Row(exact=_gemm),
}
