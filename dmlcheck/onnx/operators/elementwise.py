"""Element by element: arithmetic, logic, activations, quantization."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.diagnostics.wording import counted
from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, Maker, Node, Refused, axis_of, number
from dmlcheck.onnx.descs.tensors import along, along_axis, repeated, vector
from dmlcheck.onnx.export.records import BYTES_OF


def _unary(operator: str, node: Node) -> Counterpart:
    return Counterpart(operator, node.tensors())


def _magnitude(node: Node) -> Counterpart:
    """ABS; of unsigned integers, which ABS does not take, a copy."""
    return _unary("ELEMENT_WISE_IDENTITY" if node.input(0).dtype.kind == "u" else "ELEMENT_WISE_ABS", node)


def _with(operator: str, attributes: Mapping[str, str], node: Node, **constants: Any) -> Counterpart:
    """Map an operator whose fields are attributes, or the same for all nodes."""
    fields = {field: number(node.get(name)) for field, name in attributes.items()}
    return Counterpart(operator, {**node.tensors(), **fields, **constants})


def _binary(operator: str, node: Node) -> Counterpart:
    if len(node.inputs) != 2:
        raise Refused(f"{node.type} of {counted(len(node.inputs), 'input')}, where DirectML's has 2")
    output = node.output()
    tensors = {f"{name}Tensor": repeated(node.input(index), output.shape) for index, name in enumerate("AB")}
    return Counterpart(operator, {**tensors, "OutputTensor": output})


def _modulus(node: Node) -> Counterpart:
    operator = "MODULUS_TRUNCATE" if node.get("fmod", 0) else "MODULUS_FLOOR"
    return _binary(f"ELEMENT_WISE_{operator}", node)


def _shift(node: Node) -> Counterpart:
    direction = node.get("direction")
    if direction not in ("LEFT", "RIGHT"):
        raise Refused(f"the direction of {node.type} is {direction!r}; it must be 'LEFT' or 'RIGHT'")
    return _binary(f"ELEMENT_WISE_BIT_SHIFT_{direction}", node)


def _power(node: Node) -> Counterpart:
    """POW; in a model whose exponent is one constant, CONSTANT_POW."""
    output, exponent = node.output(), node.input(1)
    known = exponent.values
    if not node.has_outputs and exponent.size == 1 and known is not None:
        value = number(float(known.reshape(-1)[0]))
        return Counterpart("ELEMENT_WISE_CONSTANT_POW", {**node.tensors(), "Exponent": value})
    names = ("InputTensor", "ExponentTensor")
    tensors = {name: repeated(node.input(index), output.shape) for index, name in enumerate(names)}
    return Counterpart("ELEMENT_WISE_POW", {**tensors, "OutputTensor": output})


def _choice(node: Node) -> Counterpart:
    output = node.output()
    names = ("ConditionTensor", "ATensor", "BTensor")
    tensors = {name: repeated(node.input(index), output.shape) for index, name in enumerate(names)}
    return Counterpart("ELEMENT_WISE_IF", {**tensors, "OutputTensor": output})


def _clip(node: Node) -> Counterpart:
    """CLIP1; CLIP before opset 11, and where Min is above Max, since there both give Max."""
    x = node.input(0)
    dtype: Any = np.dtype(np.float32) if node.opset < 11 else x.dtype
    info = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    limits = []
    for index, (name, default) in enumerate((("min", info.min), ("max", info.max)), start=1):
        given = node.known(index)
        limits.append(number(node.get(name, default) if given is None else given.reshape(-1)[0], dtype))
    tensors = {"InputTensor": x, "OutputTensor": node.output()}
    if node.opset < 11 or limits[0] > limits[1]:
        return Counterpart("ELEMENT_WISE_CLIP", {**tensors, "Min": limits[0], "Max": limits[1]})
    fields = {"MinMaxDataType": x.data_type, "Min": limits[0], "Max": limits[1]}
    return Counterpart("ELEMENT_WISE_CLIP1", {**tensors, **fields})


def _infinity(node: Node) -> Counterpart:
    modes = {(1, 1): "EITHER", (1, 0): "NEGATIVE", (0, 1): "POSITIVE"}
    mode = modes.get((node.get("detect_negative", 1), node.get("detect_positive", 1)))
    if mode is None:
        raise Refused("IsInf that finds neither infinity")
    return Counterpart("ELEMENT_WISE_IS_INFINITY", {**node.tensors(), "InfinityMode": mode})


def _cast(node: Node) -> Counterpart:
    """CAST; truth values are 0 and 1 as numbers, but no number becomes a truth value.

    Of 4-bit integers, which CAST does not read, it is a DEQUANTIZE with a scale of 1.
    """
    x, output = node.input(0), node.output()
    if output.dtype == bool and x.dtype != bool:
        raise Refused("Cast to BOOL, which asks whether a number is not 0")
    if x.data_type in BYTES_OF and output.dtype.kind == "f":
        return _of_blocks("DEQUANTIZE", vector(x), [TensorRef.of(np.ones((1,) * max(1, x.ndim), output.dtype))], output)
    return _unary("CAST", node)


def _quantize(operator: str, node: Node) -> Counterpart:
    """QUANTIZE and DEQUANTIZE of 4 bits, and of blocks of bytes; of all others their ancestors, whose scales repeat."""
    x, output = vector(node.input(0)), node.output()
    numbers = [values for index in (1, 2) if (values := node.optional(index)) is not None]
    axis, block, kinds = node.get("axis", 1), node.get("block_size", 0), {x.data_type, output.data_type}
    if kinds & BYTES_OF.keys() or (block and kinds & set(BYTES_OF.values())):
        return _of_blocks(operator, x, [_blocks(values, axis, block, x.shape) for values in numbers], output)
    own = [_of_each(values, axis, block, x.shape) if block else along(values, axis, x.shape) for values in numbers]
    tensors = dict(zip(("ScaleTensor", "ZeroPointTensor"), own, strict=False))
    return Counterpart(f"ELEMENT_WISE_{operator}_LINEAR", {"InputTensor": x, **tensors, "OutputTensor": output})


def _of_blocks(operator: str, x: TensorRef, numbers: list[TensorRef], output: TensorRef) -> Counterpart:
    fields: dict[str, Any] = {
        "InputTensor": x,
        "QuantizationType": "SCALE" if len(numbers) == 1 else "SCALE_ZERO_POINT",
        "QuantizationTensors": numbers,
    }
    return Counterpart(operator, {**fields, "OutputTensor": output})


def _blocks(values: TensorRef, axis: int, block: int, shape: tuple[int, ...]) -> TensorRef:
    """Return scales or zero points in as many dimensions as the input has, one for each block."""
    if block and shape[axis] % block:
        return _of_each(values, axis, block, shape)  # DirectML does not say where its blocks end
    if not block and values.size > 1:
        return values.reshape(along_axis(axis, len(shape)))
    return values.reshape((1,) * len(shape)) if values.size == 1 else values


def _of_each(values: TensorRef, axis: int, block: int, shape: tuple[int, ...]) -> TensorRef:
    """Return the scale or the zero point of each element."""
    place = axis_of(axis, len(shape))
    known = values.values
    if known is None:
        return values.like(shape)
    repeats = np.repeat(known, min(block, shape[place]), place)
    return TensorRef.of(repeats[(slice(None),) * place + (slice(shape[place]),)], values.element)


def _slope(node: Node) -> Counterpart:
    x = node.input(0)
    tensors = {"InputTensor": x, "SlopeTensor": repeated(node.input(1), x.shape), "OutputTensor": node.output()}
    return Counterpart("ACTIVATION_PARAMETERIZED_RELU", tensors)


def _gelu(node: Node) -> Counterpart:
    if node.get("approximate", "none") != "none":
        raise Refused("Gelu by the tanh of a polynomial, which DirectML does not have")
    return _unary("ACTIVATION_GELU", node)


_SAME_NAMES = """
    Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Exp Floor Identity Log Sign Sin Sinh Sqrt Tan
"""
_UNARY = {
    **{name: name.upper() for name in _SAME_NAMES.split()},
    "BitwiseNot": "BIT_NOT",
    "IsNaN": "IS_NAN",
    "Neg": "NEGATE",
    "Not": "LOGICAL_NOT",
    "Reciprocal": "RECIP",
}
_BINARY = {
    "Add": "ADD",
    "And": "LOGICAL_AND",
    "BitwiseAnd": "BIT_AND",
    "BitwiseOr": "BIT_OR",
    "BitwiseXor": "BIT_XOR",
    "Div": "DIVIDE",
    "Equal": "LOGICAL_EQUALS",
    "Greater": "LOGICAL_GREATER_THAN",
    "GreaterOrEqual": "LOGICAL_GREATER_THAN_OR_EQUAL",
    "Less": "LOGICAL_LESS_THAN",
    "LessOrEqual": "LOGICAL_LESS_THAN_OR_EQUAL",
    "Max": "MAX",
    "Mean": "MEAN",
    "Min": "MIN",
    "Mul": "MULTIPLY",
    "Or": "LOGICAL_OR",
    "Sub": "SUBTRACT",
    "Sum": "ADD",
    "Xor": "LOGICAL_XOR",
}
# The fields of activations and the attributes that they are; what is not an attribute follows.
_ACTIVATION: dict[str, tuple[str, dict[str, str], dict[str, Any]]] = {
    "Celu": ("CELU", {"Alpha": "alpha"}, {}),
    "Elu": ("ELU", {"Alpha": "alpha"}, {}),
    "HardSigmoid": ("HARD_SIGMOID", {"Alpha": "alpha", "Beta": "beta"}, {}),
    "HardSwish": ("HARD_SWISH", {}, {"Alpha": number(1 / 6), "Beta": 0.5}),
    "LeakyRelu": ("LEAKY_RELU", {"Alpha": "alpha"}, {}),
    "Relu": ("RELU", {}, {}),
    "Selu": ("SCALED_ELU", {"Alpha": "alpha", "Gamma": "gamma"}, {}),
    "Shrink": ("SHRINK", {"Bias": "bias", "Threshold": "lambd"}, {}),
    "Sigmoid": ("SIGMOID", {}, {}),
    "Softplus": ("SOFTPLUS", {}, {"Steepness": 1}),
    "Softsign": ("SOFTSIGN", {}, {}),
    "Swish": ("SWISH", {"SigmoidInputScale": "alpha"}, {}),
    "Tanh": ("TANH", {}, {}),
    "ThresholdedRelu": ("THRESHOLDED_RELU", {"Alpha": "alpha"}, {}),
}


OPERATORS: dict[str, Maker] = {
    **{name: partial(_unary, f"ELEMENT_WISE_{own}") for name, own in _UNARY.items()},
    **{name: partial(_binary, f"ELEMENT_WISE_{own}") for name, own in _BINARY.items()},
    **{
        name: partial(_with, f"ACTIVATION_{own}", attributes, **constants)
        for name, (own, attributes, constants) in _ACTIVATION.items()
    },
    "Abs": _magnitude,
    "BitShift": _shift,
    "Cast": _cast,
    "CastLike": _cast,
    "Clip": _clip,
    "DequantizeLinear": partial(_quantize, "DEQUANTIZE"),
    "Gelu": _gelu,
    "IsInf": _infinity,
    "Mod": _modulus,
    "PRelu": _slope,
    "Pow": _power,
    "QuantizeLinear": partial(_quantize, "QUANTIZE"),
    "Round": partial(_with, "ELEMENT_WISE_ROUND", {}, RoundingMode="HALVES_TO_NEAREST_EVEN"),
    "Where": _choice,
    "com.microsoft.DequantizeLinear": partial(_quantize, "DEQUANTIZE"),
    "com.microsoft.QuantizeLinear": partial(_quantize, "QUANTIZE"),
}
