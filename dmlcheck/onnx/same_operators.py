"""Operators that ONNX and DirectML both have, by ONNX's names; both directions of the mapping read these tables."""

from __future__ import annotations

from collections.abc import Mapping

_SAME_NAMES = """
    Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Exp Floor Identity Log Sign Sin Sinh Sqrt Tan
"""
# DirectML's names of these stand after ELEMENT_WISE_.
UNARY = {**{name: name.upper() for name in _SAME_NAMES.split()}, "Neg": "NEGATE"}
BINARY = {"Add": "ADD", "Div": "DIVIDE", "Mul": "MULTIPLY", "Sub": "SUBTRACT"}
BITWISE = {"BitwiseAnd": "BIT_AND", "BitwiseOr": "BIT_OR", "BitwiseXor": "BIT_XOR"}
LOGICAL = {"And": "LOGICAL_AND", "Or": "LOGICAL_OR", "Xor": "LOGICAL_XOR"}
COMPARISONS = {
    "Equal": "LOGICAL_EQUALS",
    "Greater": "LOGICAL_GREATER_THAN",
    "GreaterOrEqual": "LOGICAL_GREATER_THAN_OR_EQUAL",
    "Less": "LOGICAL_LESS_THAN",
    "LessOrEqual": "LOGICAL_LESS_THAN_OR_EQUAL",
}
# The functions of REDUCE.
REDUCTIONS = {
    "ReduceL1": "L1",
    "ReduceL2": "L2",
    "ReduceLogSum": "LOG_SUM",
    "ReduceLogSumExp": "LOG_SUM_EXP",
    "ReduceMax": "MAX",
    "ReduceMean": "AVERAGE",
    "ReduceMin": "MIN",
    "ReduceProd": "MULTIPLY",
    "ReduceSum": "SUM",
    "ReduceSumSquare": "SUM_SQUARE",
}
# After ACTIVATION_, with the attribute for each field.
ACTIVATIONS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "Celu": ("CELU", {"Alpha": "alpha"}),
    "Elu": ("ELU", {"Alpha": "alpha"}),
    "HardSigmoid": ("HARD_SIGMOID", {"Alpha": "alpha", "Beta": "beta"}),
    "LeakyRelu": ("LEAKY_RELU", {"Alpha": "alpha"}),
    "Relu": ("RELU", {}),
    "Selu": ("SCALED_ELU", {"Alpha": "alpha", "Gamma": "gamma"}),
    "Shrink": ("SHRINK", {"Bias": "bias", "Threshold": "lambd"}),
    "Sigmoid": ("SIGMOID", {}),
    "Softsign": ("SOFTSIGN", {}),
    "Tanh": ("TANH", {}),
    "ThresholdedRelu": ("THRESHOLDED_RELU", {"Alpha": "alpha"}),
}
