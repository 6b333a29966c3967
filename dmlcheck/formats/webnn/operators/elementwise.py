"""Functions of each element, of two and of three, and the activations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.formats.webnn.operators.row import Call, WebnnRow
from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, shortest
from dmlcheck.onnx.descs.tensors import repeated

Fields = Callable[[Call], dict[str, Any]]

_UNARY = {
    "abs": "ABS",
    "ceil": "CEIL",
    "cos": "COS",
    "erf": "ERF",
    "exp": "EXP",
    "floor": "FLOOR",
    "identity": "IDENTITY",
    "isNaN": "IS_NAN",
    "log": "LOG",
    "logicalNot": "LOGICAL_NOT",
    "reciprocal": "RECIP",
    "sign": "SIGN",
    "sin": "SIN",
    "sqrt": "SQRT",
    "tan": "TAN",
}
_BINARY = {
    "div": "DIVIDE",
    "equal": "LOGICAL_EQUALS",
    "greater": "LOGICAL_GREATER_THAN",
    "greaterOrEqual": "LOGICAL_GREATER_THAN_OR_EQUAL",
    "lesser": "LOGICAL_LESS_THAN",
    "lesserOrEqual": "LOGICAL_LESS_THAN_OR_EQUAL",
    "logicalAnd": "LOGICAL_AND",
    "logicalOr": "LOGICAL_OR",
    "logicalXor": "LOGICAL_XOR",
    "max": "MAX",
    "min": "MIN",
    "mul": "MULTIPLY",
    "sub": "SUBTRACT",
}


def _none(_: Call) -> dict[str, Any]:
    return {}


def _of(*fields: tuple[str, str, float]) -> Fields:
    """Return a function that makes numeric fields, each from WebNN's name of it and its default."""
    return lambda call: {field: shortest(call.number(name, default)) for field, name, default in fields}


# The activations that Chromium fuses into the operator before them, with the fields of DirectML's.
FUSED: Mapping[str, tuple[str, Fields]] = {
    "elu": ("ACTIVATION_ELU", _of(("Alpha", "alpha", 1.0))),
    "hardSigmoid": ("ACTIVATION_HARD_SIGMOID", _of(("Alpha", "alpha", 0.2), ("Beta", "beta", 0.5))),
    "leakyRelu": ("ACTIVATION_LEAKY_RELU", _of(("Alpha", "alpha", 0.01))),
    "linear": ("ACTIVATION_LINEAR", _of(("Alpha", "alpha", 1.0), ("Beta", "beta", 0.0))),
    "relu": ("ACTIVATION_RELU", _none),
    "sigmoid": ("ACTIVATION_SIGMOID", _none),
    "softplus": ("ACTIVATION_SOFTPLUS", lambda _: {"Steepness": 1}),
    "softsign": ("ACTIVATION_SOFTSIGN", _none),
    "tanh": ("ACTIVATION_TANH", _none),
}
_ALONE: Mapping[str, tuple[str, Fields]] = {
    "gelu": ("ACTIVATION_GELU", _none),
    "hardSwish": ("ACTIVATION_HARD_SWISH", lambda _: {"Alpha": shortest(1 / 6), "Beta": 0.5}),
    "isInfinite": ("ELEMENT_WISE_IS_INFINITY", lambda _: {"InfinityMode": "EITHER"}),
    "neg": ("ELEMENT_WISE_IDENTITY", lambda _: {"ScaleBias": {"Scale": -1, "Bias": 0}}),
    "roundEven": ("ELEMENT_WISE_ROUND", lambda _: {"RoundingMode": "HALVES_TO_NEAREST_EVEN"}),
}


def _unary(operator: str, fields: Fields, call: Call) -> Counterpart:
    return Counterpart(operator, {"InputTensor": call.tensor("input"), "OutputTensor": call.output, **fields(call)})


def _spread(call: Call, fields: Mapping[str, str]) -> dict[str, TensorRef]:
    """Return tensors, by field, broadcast to the sizes of the output."""
    return {field: repeated(call.tensor(name), call.output.shape) for field, name in fields.items()}


def _binary(operator: str, call: Call) -> Counterpart:
    return Counterpart(operator, {**_spread(call, {"ATensor": "a", "BTensor": "b"}), "OutputTensor": call.output})


def _add(call: Call) -> Counterpart:
    """ADD, or ADD1 where an activation is fused into it."""
    made = _binary("ELEMENT_WISE_ADD" if call.activation is None else "ELEMENT_WISE_ADD1", call)
    return made.with_fields(**call.fused)


def _pow(call: Call) -> Counterpart:
    tensors = _spread(call, {"InputTensor": "a", "ExponentTensor": "b"})
    return Counterpart("ELEMENT_WISE_POW", {**tensors, "OutputTensor": call.output})


def _where(call: Call) -> Counterpart:
    names = {"ConditionTensor": "condition", "ATensor": "trueValue", "BTensor": "falseValue"}
    return Counterpart("ELEMENT_WISE_IF", {**_spread(call, names), "OutputTensor": call.output})


def _prelu(call: Call) -> Counterpart:
    tensors = {"InputTensor": call.tensor("input"), **_spread(call, {"SlopeTensor": "slope"})}
    return Counterpart("ACTIVATION_PARAMETERIZED_RELU", {**tensors, "OutputTensor": call.output})


def _clamp(call: Call) -> Counterpart:
    """CLIP1; missing limits are the data type's."""
    output = call.output
    if output.dtype.kind == "f":
        least, most = -math.inf, math.inf
    else:
        least, most = (int(limit) for limit in (np.iinfo(output.dtype).min, np.iinfo(output.dtype).max))
    limits = {"Min": call.number("minValue", least), "Max": call.number("maxValue", most)}
    held = {name: shortest(max(least, min(value, most)), output.dtype) for name, value in limits.items()}
    tensors = {"InputTensor": call.tensor("input"), "OutputTensor": output}
    return Counterpart("ELEMENT_WISE_CLIP1", {**tensors, "MinMaxDataType": output.data_type, **held})


def _softmax(call: Call) -> Counterpart:
    x = call.tensor("input")
    axes = [call.axis("axis", x.ndim, 1)]
    return Counterpart("ACTIVATION_SOFTMAX1", {"InputTensor": x, "OutputTensor": call.output, "Axes": axes})


def _one(operator: str, fields: Fields = _none) -> WebnnRow:
    return WebnnRow(("input",), partial(_unary, operator, fields), (operator,))


_A_AND_B = ("a", "b")
OPERATORS: dict[str, WebnnRow] = {
    **{name: _one(f"ELEMENT_WISE_{operator}") for name, operator in _UNARY.items()},
    **{name: _one(operator, fields) for name, (operator, fields) in {**FUSED, **_ALONE}.items()},
    **{
        name: WebnnRow(_A_AND_B, partial(_binary, f"ELEMENT_WISE_{operator}"), (f"ELEMENT_WISE_{operator}",))
        for name, operator in _BINARY.items()
    },
    "add": WebnnRow(_A_AND_B, _add, ("ELEMENT_WISE_ADD", "ELEMENT_WISE_ADD1"), takes_activation=True),
    "cast": WebnnRow(("input", "type"), partial(_unary, "CAST", _none), ("CAST",)),
    "clamp": WebnnRow(("input",), _clamp, ("ELEMENT_WISE_CLIP1",), below=("ELEMENT_WISE_CLIP",)),
    "pow": WebnnRow(_A_AND_B, _pow, ("ELEMENT_WISE_POW",)),
    "prelu": WebnnRow(("input", "slope"), _prelu, ("ACTIVATION_PARAMETERIZED_RELU",)),
    "softmax": WebnnRow(("input", "axis"), _softmax, ("ACTIVATION_SOFTMAX1",)),
    "where": WebnnRow(("condition", "trueValue", "falseValue"), _where, ("ELEMENT_WISE_IF",)),
}
