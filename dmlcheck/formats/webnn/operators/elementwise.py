"""Operators that move elements, and functions of each element, of two and of three."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.formats.webnn.operators.row import Call, WebnnRow
from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, Unmapped, shortest
from dmlcheck.onnx.descs.tensors import permuted, ranked, repeated, sized, vector

_MODES = {"constant": "CONSTANT", "edge": "EDGE", "reflection": "REFLECTION"}
_LEAST, _MOST = -(2**31), 2**31 - 1  # of a diagonal
_MOST_RANK = 4  # of DIAGONAL_MATRIX1


def _identity(x: TensorRef, output: TensorRef) -> Counterpart:
    return Counterpart("ELEMENT_WISE_IDENTITY", {"InputTensor": x, "OutputTensor": output})


def _with_dimensions(call: Call) -> TensorRef:
    """Return the input; Unmapped for a scalar: its lists are empty in WebNN, and cannot be in DirectML."""
    x = call.tensor("input")
    if not x.ndim:
        raise Unmapped(f"{call.name} of a scalar: DirectML's lists of numbers have at least one")
    return x


def _expand(call: Call) -> Counterpart:
    return _identity(repeated(call.tensor("input"), call.output.shape), call.output)


def _reshape(call: Call) -> Counterpart:
    return _identity(sized(call.tensor("input"), call.output.shape), call.output)


def _transpose(call: Call) -> Counterpart:
    x = call.tensor("input")
    return _identity(permuted(x, call.numbers("permutation", list(reversed(range(x.ndim))))), call.output)


def _concat(call: Call) -> Counterpart:
    axis = call.axis("axis", call.output.ndim)
    return Counterpart("JOIN", {"InputTensors": call.tensors("inputs"), "OutputTensor": call.output, "Axis": axis})


def _split(call: Call) -> Counterpart:
    x = call.tensor("input")
    axis = call.axis("axis", x.ndim, 0)
    return Counterpart("SPLIT", {"InputTensor": x, "OutputTensors": list(call.outputs), "Axis": axis})


def _slice(call: Call) -> Counterpart:
    x = _with_dimensions(call)
    fields = {
        "Offsets": call.numbers("starts"),
        "Sizes": list(call.output.shape),
        "Strides": call.numbers("strides", [1] * x.ndim),
    }
    return Counterpart("SLICE", {"InputTensor": x, "OutputTensor": call.output, **fields})


def _reverse(call: Call) -> Counterpart:
    """SLICE1 whose strides are -1 along the axes."""
    x = _with_dimensions(call)
    axes = call.numbers("axes", list(range(x.ndim)))
    fields = {
        "InputWindowOffsets": [0] * x.ndim,
        "InputWindowSizes": list(x.shape),
        "InputWindowStrides": [-1 if axis in axes else 1 for axis in range(x.ndim)],
    }
    return Counterpart("SLICE1", {"InputTensor": x, "OutputTensor": call.output, **fields})


def _pad(call: Call) -> Counterpart:
    x = _with_dimensions(call)
    fields = {
        "PaddingMode": call.choice("mode", _MODES, "constant"),
        "PaddingValue": call.number("value", 0),
        "StartPadding": call.numbers("beginningPadding"),
        "EndPadding": call.numbers("endingPadding"),
    }
    return Counterpart("PADDING", {"InputTensor": x, "OutputTensor": call.output, **fields})


def _tile(call: Call) -> Counterpart:
    x = _with_dimensions(call)
    return Counterpart("TILE", {"InputTensor": x, "OutputTensor": call.output, "Repeats": call.numbers("repetitions")})


def _triangular(call: Call) -> Counterpart:
    """DIAGONAL_MATRIX1, which fills the diagonals that `triangular` removes."""
    x = call.tensor("input")
    if x.ndim > _MOST_RANK:
        raise Unmapped(f"triangular of {x.ndim} dimensions becomes several operators of DirectML, and a case has one")
    diagonal = call.whole("diagonal", 0)
    begin, end = (_LEAST, diagonal) if call.flag("upper", default=True) else (diagonal + 1, _MOST)
    fields = {"ValueDataType": x.data_type, "Value": 0, "DiagonalFillBegin": begin, "DiagonalFillEnd": end}
    return Counterpart("DIAGONAL_MATRIX1", {"InputTensor": x, "OutputTensor": call.output, **fields})


def _cumulative_sum(call: Call) -> Counterpart:
    x = call.tensor("input")
    fields = {
        "Axis": call.axis("axis", x.ndim),
        "AxisDirection": "DECREASING" if call.flag("reversed") else "INCREASING",
        "HasExclusiveSum": call.flag("exclusive"),
    }
    return Counterpart("CUMULATIVE_SUMMATION", {"InputTensor": x, "OutputTensor": call.output, **fields})


# ---- by indices


def _gather(call: Call) -> Counterpart:
    """GATHER, whose tensors have one number of dimensions; a scalar index is one of one dimension."""
    x, indices, output = call.tensor("input"), vector(call.tensor("indices")), call.output
    axis = call.axis("axis", x.ndim, 0)
    if output.ndim < x.ndim:
        output = sized(output, [1 if i == axis else size for i, size in enumerate(x.shape)])
    rank = max(x.ndim, output.ndim)
    tensors = {
        "InputTensor": ranked(x, rank),
        "IndicesTensor": ranked(indices, rank),
        "OutputTensor": ranked(output, rank),
    }
    return Counterpart("GATHER", {**tensors, "Axis": axis + rank - x.ndim, "IndexDimensions": indices.ndim})


def _gather_elements(call: Call) -> Counterpart:
    x = call.tensor("input")
    tensors = {"InputTensor": x, "IndicesTensor": call.tensor("indices"), "OutputTensor": call.output}
    return Counterpart("GATHER_ELEMENTS", {**tensors, "Axis": call.axis("axis", x.ndim, 0)})


def _scatter_elements(call: Call) -> Counterpart:
    x = call.tensor("input")
    tensors = {"IndicesTensor": call.tensor("indices"), "UpdatesTensor": call.tensor("updates")}
    axis = call.axis("axis", x.ndim, 0)
    return Counterpart("SCATTER", {"InputTensor": x, **tensors, "OutputTensor": call.output, "Axis": axis})


def _by_places(operator: str, call: Call, names: dict[str, str]) -> Counterpart:
    """GATHER_ND or SCATTER_ND, whose tensors have leading dimensions of size 1 up to one rank."""
    tensors = {field: call.tensor(name) for field, name in names.items()} | {"OutputTensor": call.output}
    rank = max(x.ndim for x in tensors.values())
    counts = {
        "InputDimensionCount": tensors["InputTensor"].ndim,
        "IndicesDimensionCount": tensors["IndicesTensor"].ndim,
    }
    return Counterpart(operator, {**{field: ranked(x, rank) for field, x in tensors.items()}, **counts})


def _gather_nd(call: Call) -> Counterpart:
    return _by_places("GATHER_ND", call, {"InputTensor": "input", "IndicesTensor": "indices"})


def _scatter_nd(call: Call) -> Counterpart:
    names = {"InputTensor": "input", "IndicesTensor": "indices", "UpdatesTensor": "updates"}
    return _by_places("SCATTER_ND", call, names)


# ---- functions of each element, of two and of three, and the activations


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
_BY_INDICES = ("input", "indices")
_UPDATED = ("input", "indices", "updates")
OPERATORS: dict[str, WebnnRow] = {
    "concat": WebnnRow(("inputs", "axis"), _concat, ("JOIN",)),
    "cumulativeSum": WebnnRow(("input", "axis"), _cumulative_sum, ("CUMULATIVE_SUMMATION",)),
    "expand": WebnnRow(("input", "newShape"), _expand, ("ELEMENT_WISE_IDENTITY",)),
    "gather": WebnnRow(_BY_INDICES, _gather, ("GATHER",)),
    "gatherElements": WebnnRow(_BY_INDICES, _gather_elements, ("GATHER_ELEMENTS",)),
    "gatherND": WebnnRow(_BY_INDICES, _gather_nd, ("GATHER_ND",)),
    "pad": WebnnRow(("input", "beginningPadding", "endingPadding"), _pad, ("PADDING",)),
    "reshape": WebnnRow(("input", "newShape"), _reshape, ("ELEMENT_WISE_IDENTITY",)),
    "reverse": WebnnRow(("input",), _reverse, ("SLICE1",)),
    "scatterElements": WebnnRow(_UPDATED, _scatter_elements, ("SCATTER",)),
    "scatterND": WebnnRow(_UPDATED, _scatter_nd, ("SCATTER_ND",)),
    "slice": WebnnRow(("input", "starts", "sizes"), _slice, ("SLICE",)),
    "split": WebnnRow(("input", "splits"), _split, ("SPLIT",)),
    "tile": WebnnRow(("input", "repetitions"), _tile, ("TILE",)),
    "transpose": WebnnRow(("input",), _transpose, ("ELEMENT_WISE_IDENTITY",)),
    "triangular": WebnnRow(("input",), _triangular, ("DIAGONAL_MATRIX1",)),
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
