"""Operators over many FLOAT32 elements, each with the NumPy expression in FLOAT32 that a reader would write for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

Expression = Callable[..., Any]

ZERO = np.float32(0)
HALF = np.float32(0.5)
TENTH = np.float32(0.1)
ROOT = np.float32(np.sqrt(2 / np.pi))
SCALE_BIAS = {"ScaleBias": {"Scale": 0.5, "Bias": 0.25}}


TENSORS = {
    **dict.fromkeys("xupqb", ("InputTensor",)),
    "ELEMENT_WISE_DEQUANTIZE_LINEAR": ("InputTensor", "ScaleTensor", "ZeroPointTensor"),
    "ELEMENT_WISE_QUANTIZE_LINEAR": ("InputTensor", "ScaleTensor", "ZeroPointTensor"),
    "xx": ("ATensor", "BTensor"),
    "bxx": ("ConditionTensor", "ATensor", "BTensor"),
    "ELEMENT_WISE_POW": ("InputTensor", "ExponentTensor"),
    "ACTIVATION_PARAMETERIZED_RELU": ("InputTensor", "SlopeTensor"),
    "ACTIVATION_RELU_GRAD": ("InputTensor", "InputGradientTensor"),
    "ELEMENT_WISE_CLIP_GRAD": ("InputTensor", "InputGradientTensor"),
    "ELEMENT_WISE_CLIP_GRAD1": ("InputTensor", "InputGradientTensor"),
}


class Row(NamedTuple):
    """An operator, the fields of its desc beside the tensors, what its inputs range over, and the expression of them.

    A range is "x" for a normal distribution, "u" for -1 to 1, "p" for 0 to 2, "q" for 1 to 3, "b" for UINT8 0 and 1.
    """

    operator: str
    ranges: str
    expression: Expression
    fields: Mapping[str, Any] = MappingProxyType({})
    output: str = "FLOAT32"
    columns: int | None = None  # of two dimensions; None for one

    @property
    def title(self) -> str:
        """The operator's name and what tells this row from others of it."""
        return " ".join(
            [self.operator, *(str(name if name == "ScaleBias" else of) for name, of in self.fields.items())]
        )


UNARY = {
    "ABS": ("x", np.abs),
    "ACOS": ("u", np.arccos),
    "ACOSH": ("q", np.arccosh),
    "ASIN": ("u", np.arcsin),
    "ASINH": ("x", np.arcsinh),
    "ATAN": ("x", np.arctan),
    "ATANH": ("u", np.arctanh),
    "CEIL": ("x", np.ceil),
    "COS": ("x", np.cos),
    "COSH": ("x", np.cosh),
    "EXP": ("x", np.exp),
    "FLOOR": ("x", np.floor),
    "IDENTITY": ("x", np.copy),
    "LOG": ("p", np.log),
    "RECIP": ("p", np.reciprocal),
    "SIN": ("x", np.sin),
    "SINH": ("x", np.sinh),
    "SQRT": ("p", np.sqrt),
    "TAN": ("x", np.tan),
    "TANH": ("x", np.tanh),
}
BINARY = {
    "ADD": np.add,
    "ADD1": np.add,
    "ATAN_YX": np.arctan2,
    "DIVIDE": np.divide,
    "DIFFERENCE_SQUARE": lambda x, y: np.square(x - y),
    "MAX": np.maximum,
    "MEAN": lambda x, y: (x + y) / 2,
    "MIN": np.minimum,
    "MODULUS_FLOOR": np.mod,
    "MODULUS_TRUNCATE": np.fmod,
    "MULTIPLY": np.multiply,
    "SUBTRACT": np.subtract,
}
COMPARISON = {
    "EQUALS": np.equal,
    "GREATER_THAN": np.greater,
    "GREATER_THAN_OR_EQUAL": np.greater_equal,
    "LESS_THAN": np.less,
    "LESS_THAN_OR_EQUAL": np.less_equal,
}
ROUNDING = {
    "HALVES_TO_NEAREST_EVEN": np.rint,
    "TOWARD_ZERO": np.trunc,
    "TOWARD_INFINITY": lambda x: np.copysign(np.floor(np.abs(x) + HALF), x),
}


def _rows() -> Iterator[Row]:
    for name, (ranges, ufunc) in UNARY.items():
        yield Row(f"ELEMENT_WISE_{name}", ranges, ufunc)
        if name != "IDENTITY":
            yield Row(f"ELEMENT_WISE_{name}", ranges, lambda x, f=ufunc: f(x * HALF + HALF / 2), SCALE_BIAS)
    for name, expression in BINARY.items():
        yield Row(f"ELEMENT_WISE_{name}", "xx", expression)
    for name, ufunc in COMPARISON.items():
        yield Row(f"ELEMENT_WISE_LOGICAL_{name}", "xx", ufunc, output="UINT8")
    for name, ufunc in (("AND", np.bitwise_and), ("OR", np.bitwise_or), ("XOR", np.bitwise_xor)):
        yield Row(f"ELEMENT_WISE_BIT_{name}", "xx", lambda x, y, f=ufunc: f(x.view(np.uint32), y.view(np.uint32)))
    for name, expression in ROUNDING.items():
        yield Row("ELEMENT_WISE_ROUND", "x", expression, {"RoundingMode": name})
    limits = {"Min": -0.5, "Max": 0.5}
    for one, fields in (("", limits), ("1", {"MinMaxDataType": "FLOAT32", **limits})):
        yield Row(f"ELEMENT_WISE_CLIP{one}", "x", lambda x: np.clip(x, -HALF, HALF), fields)
        yield Row(f"ELEMENT_WISE_CLIP_GRAD{one}", "xx", lambda x, y: np.where(np.abs(x) < HALF, y, ZERO), fields)
    yield Row("ELEMENT_WISE_BIT_COUNT", "x", _bit_count, output="UINT32")
    yield Row("ELEMENT_WISE_BIT_NOT", "x", lambda x: np.invert(x.view(np.uint32)))
    yield Row("ELEMENT_WISE_CONSTANT_POW", "p", lambda x: np.power(x, TENTH), {"Exponent": 0.1})
    yield Row("ELEMENT_WISE_IF", "bxx", np.where)
    yield Row("ELEMENT_WISE_IS_INFINITY", "x", np.isinf, {"InfinityMode": "EITHER"}, "UINT8")
    yield Row("ELEMENT_WISE_IS_NAN", "x", np.isnan, output="UINT8")
    yield Row("ELEMENT_WISE_NEGATE", "x", np.negative)
    yield Row("ELEMENT_WISE_POW", "px", np.power)
    yield Row("ELEMENT_WISE_SIGN", "x", np.sign)
    yield Row("ELEMENT_WISE_THRESHOLD", "x", lambda x: np.maximum(x, HALF), {"Min": 0.5})
    yield Row("ELEMENT_WISE_QUANTIZE_LINEAR", "xqb", _quantized, output="UINT8")
    yield Row("ELEMENT_WISE_DEQUANTIZE_LINEAR", "bqb", lambda x, scale, zero: (x.astype(np.float32) - zero) * scale)
    yield from _activations()


def _quantized(x: Any, scale: Any, zero: Any) -> Any:
    return np.clip(np.rint(x / scale) + zero, 0, 255).astype(np.uint8)


def _bit_count(x: Any) -> Any:
    return np.unpackbits(x.view(np.uint8)).reshape(-1, 32).sum(axis=1)


def _shrunk(x: Any) -> Any:
    return np.where(x > HALF, x - TENTH, np.where(x < -HALF, x + TENTH, ZERO))


def _activations() -> Iterator[Row]:
    def row(name: str, expression: Expression, **fields: float) -> Row:
        return Row(f"ACTIVATION_{name}", "x", expression, fields)

    yield row("CELU", lambda x: np.maximum(x, 0) + np.minimum(0, HALF * np.expm1(x / HALF)), Alpha=0.5)
    yield row("ELU", lambda x: np.where(x >= 0, x, HALF * np.expm1(x)), Alpha=0.5)
    yield row("GELU", lambda x: x * HALF * (1 + np.tanh(ROOT * (x + np.float32(0.044715) * x * x * x))))
    yield row("HARD_SIGMOID", lambda x: np.clip(TENTH * x + HALF, 0, 1), Alpha=0.1, Beta=0.5)
    yield row("HARD_SWISH", lambda x: x * np.clip(TENTH * x + HALF, 0, 1), Alpha=0.1, Beta=0.5)
    yield row("IDENTITY", np.copy)
    yield row("LEAKY_RELU", lambda x: np.where(x >= 0, x, TENTH * x), Alpha=0.1)
    yield row("LINEAR", lambda x: TENTH * x + HALF, Alpha=0.1, Beta=0.5)
    yield row("PARAMETRIC_SOFTPLUS", lambda x: TENTH * np.log1p(np.exp(HALF * x)), Alpha=0.1, Beta=0.5)
    yield Row("ACTIVATION_PARAMETERIZED_RELU", "xx", lambda x, slope: np.where(x >= 0, x, slope * x))
    yield row("RELU", lambda x: np.maximum(x, 0))
    yield Row("ACTIVATION_RELU_GRAD", "xx", lambda x, y: np.where(x > 0, y, ZERO))
    yield row("SCALED_ELU", lambda x: HALF * np.where(x > 0, x, TENTH * np.expm1(x)), Alpha=0.1, Gamma=0.5)
    yield row("SCALED_TANH", lambda x: TENTH * np.tanh(HALF * x), Alpha=0.1, Beta=0.5)
    yield row("SHRINK", _shrunk, Bias=0.1, Threshold=0.5)
    yield row("SIGMOID", lambda x: 1 / (1 + np.exp(-x)))
    yield row("SOFTPLUS", lambda x: np.log1p(np.exp(HALF * x)) / HALF, Steepness=0.5)
    yield row("SOFTSIGN", lambda x: x / (1 + np.abs(x)))
    yield row("SWISH", lambda x: x / (1 + np.exp(-HALF * x)), SigmoidInputScale=0.5)
    yield row("TANH", np.tanh)
    for name, expression in (("SOFTMAX", _softmax), ("LOG_SOFTMAX", _log_softmax)):
        yield Row(f"ACTIVATION_{name}", "x", expression, columns=1024)
        yield Row(f"ACTIVATION_{name}1", "x", expression, {"Axes": [1]}, columns=1024)
    yield row("THRESHOLDED_RELU", lambda x: np.where(x > HALF, x, ZERO), Alpha=0.5)


def _softmax(x: Any) -> Any:
    power = np.exp(x - x.max(axis=1, keepdims=True))
    return power / power.sum(axis=1, keepdims=True)


def _log_softmax(x: Any) -> Any:
    below = x - x.max(axis=1, keepdims=True)
    return below - np.log(np.exp(below).sum(axis=1, keepdims=True))


ROWS = tuple(_rows())
