"""Right ways to compute element-wise operators, in float32: PyTorch's function, NumPy's, and formulas of shaders."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

Inputs = dict[str, Any]
Way = Callable[[Any, Inputs], Any]
Function = Callable[..., Tensor]


def numpy(function: Callable[..., Any]) -> Function:
    """Return a function of NumPy as one of tensors."""
    return lambda *given: torch.from_numpy(np.asarray(function(*(x.numpy() for x in given))))


# ---- formulas, as shaders have them


def acos_polynomial(x: Tensor) -> Tensor:
    """Abramowitz and Stegun, 4.4.45, as DXC expands it."""
    size = x.abs()
    found = ((-0.0187293 * size + 0.0742610) * size - 0.2121144) * size + 1.5707288
    found = found * torch.sqrt(1 - size)
    return torch.where(x < 0, math.pi - found, found)


def erf_polynomial(x: Tensor) -> Tensor:
    """Abramowitz and Stegun, 7.1.26."""
    size = x.abs()
    t = 1 / (1 + 0.3275911 * size)
    found = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    return torch.sign(x) * (1 - found * torch.exp(-size * size))


def exp_by_2(x: Tensor) -> Tensor:
    return torch.exp2(x * 1.44269504)


def log_by_2(x: Tensor) -> Tensor:
    return torch.log2(x) * 0.69314718


def power_by_2(x: Tensor, y: Any) -> Tensor:
    return torch.where(x < 0, torch.pow(x, y), torch.exp2(y * torch.log2(x.abs())))


def tanh_by_exp(x: Tensor) -> Tensor:
    return 1 - 2 / (torch.exp(2 * x) + 1)


def sigmoid_by_exp(x: Tensor) -> Tensor:
    return 1 / (1 + torch.exp(-x))


def softplus_by_exp(x: Tensor) -> Tensor:
    return torch.where(x > 80, x, torch.log(1 + torch.exp(x.clamp(max=80))))


def truncated(x: Tensor, y: Tensor) -> Tensor:
    return x - y * torch.trunc(x / y)


def floored(x: Tensor, y: Tensor) -> Tensor:
    return x - y * torch.floor(x / y)


def _half_away(x: Tensor) -> Tensor:
    whole = torch.trunc(x)
    return whole + torch.sign(x) * ((x - whole).abs() >= 0.5)


def _gelu(x: Tensor) -> Tensor:
    return 0.5 * x * (1 + erf_polynomial(x * math.sqrt(0.5)))


# ---- of one tensor, after ScaleBias

UNARY: dict[str, tuple[Function, ...]] = {
    "ABS": (torch.abs, numpy(np.abs)),
    "ACOS": (torch.acos, numpy(np.arccos), acos_polynomial),
    "ACOSH": (torch.acosh, numpy(np.arccosh), lambda x: torch.log(x + torch.sqrt(x * x - 1))),
    "ASIN": (torch.asin, numpy(np.arcsin), lambda x: math.pi / 2 - acos_polynomial(x)),
    "ASINH": (
        torch.asinh,
        numpy(np.arcsinh),
        lambda x: torch.sign(x) * torch.log(x.abs() + torch.sqrt(x * x + 1)),
    ),
    "ATAN": (torch.atan, numpy(np.arctan)),
    "ATANH": (torch.atanh, numpy(np.arctanh), lambda x: torch.log((1 + x) / (1 - x)) * 0.5),
    "CEIL": (torch.ceil, numpy(np.ceil)),
    "COS": (torch.cos, numpy(np.cos)),
    "COSH": (torch.cosh, numpy(np.cosh), lambda x: (torch.exp(x) + torch.exp(-x)) * 0.5),
    "ERF": (torch.erf, erf_polynomial),
    "EXP": (torch.exp, numpy(np.exp), exp_by_2),
    "FLOOR": (torch.floor, numpy(np.floor)),
    "IDENTITY": (torch.clone,),
    "LOG": (torch.log, numpy(np.log), log_by_2),
    "RECIP": (torch.reciprocal, numpy(np.reciprocal)),
    "SIN": (torch.sin, numpy(np.sin)),
    "SINH": (torch.sinh, numpy(np.sinh), lambda x: (torch.exp(x) - torch.exp(-x)) * 0.5),
    "SQRT": (torch.sqrt, numpy(np.sqrt)),
    "TAN": (torch.tan, numpy(np.tan), lambda x: torch.sin(x) / torch.cos(x)),
    "TANH": (torch.tanh, numpy(np.tanh), tanh_by_exp),
}
ROUNDING: dict[str, Function] = {
    "HALVES_TO_NEAREST_EVEN": torch.round,
    "TOWARD_ZERO": torch.trunc,
    "TOWARD_INFINITY": _half_away,
}
# of two tensors
BINARY: dict[str, tuple[Function, ...]] = {
    "ADD": (torch.add,),
    "ATAN_YX": (torch.atan2, numpy(np.arctan2)),
    "DIFFERENCE_SQUARE": (lambda a, b: (a - b) ** 2, lambda a, b: torch.square(b - a)),
    "DIVIDE": (torch.div, lambda a, b: a * torch.reciprocal(b)),
    "MAX": (torch.maximum, numpy(np.maximum)),
    "MEAN": (lambda a, b: (a + b) / 2, lambda a, b: a / 2 + b / 2),
    "MIN": (torch.minimum, numpy(np.minimum)),
    "MODULUS_FLOOR": (torch.remainder, floored, numpy(np.remainder)),
    "MODULUS_TRUNCATE": (torch.fmod, truncated, numpy(np.fmod)),
    "MULTIPLY": (torch.mul,),
    "SUBTRACT": (torch.sub,),
}
# activations: functions of the desc and of an element
ACTIVATIONS: dict[str, tuple[Callable[[Any, Tensor], Tensor], ...]] = {
    "CELU": (
        lambda d, x: functional.celu(x, d["Alpha"]),
        lambda d, x: torch.where(x >= 0, x, d["Alpha"] * (torch.exp(x / d["Alpha"]) - 1)),
    ),
    "ELU": (
        lambda d, x: functional.elu(x, d["Alpha"]),
        lambda d, x: torch.where(x >= 0, x, d["Alpha"] * (torch.exp(x) - 1)),
    ),
    "GELU": (lambda _, x: functional.gelu(x), lambda _, x: _gelu(x)),
    "HARD_SIGMOID": (
        lambda d, x: (d["Alpha"] * x + d["Beta"]).clamp(0, 1),
        lambda d, x: torch.add(torch.tensor(d["Beta"]), x, alpha=d["Alpha"]).clamp(0, 1),
    ),
    "HARD_SWISH": (
        lambda d, x: x * (d["Alpha"] * x + d["Beta"]).clamp(0, 1),
        lambda d, x: x * torch.add(torch.tensor(d["Beta"]), x, alpha=d["Alpha"]).clamp(0, 1),
    ),
    "IDENTITY": (lambda _, x: x.clone(),),
    "LEAKY_RELU": (
        lambda d, x: functional.leaky_relu(x, d["Alpha"]),
        lambda d, x: torch.where(x >= 0, x, d["Alpha"] * x),
    ),
    "LINEAR": (
        lambda d, x: d["Alpha"] * x + d["Beta"],
        lambda d, x: torch.add(torch.tensor(d["Beta"]), x, alpha=d["Alpha"]),
    ),
    "PARAMETRIC_SOFTPLUS": (
        lambda d, x: d["Alpha"] * functional.softplus(d["Beta"] * x),
        lambda d, x: d["Alpha"] * softplus_by_exp(d["Beta"] * x),
    ),
    "RELU": (lambda _, x: torch.relu(x), lambda _, x: x.clamp(min=0)),
    "SCALED_ELU": (
        lambda d, x: d["Gamma"] * torch.where(x > 0, x, d["Alpha"] * torch.expm1(x)),
        lambda d, x: d["Gamma"] * torch.where(x > 0, x, d["Alpha"] * torch.exp(x) - d["Alpha"]),
    ),
    "SCALED_TANH": (
        lambda d, x: d["Alpha"] * torch.tanh(d["Beta"] * x),
        lambda d, x: d["Alpha"] * tanh_by_exp(d["Beta"] * x),
    ),
    "SHRINK": (
        lambda d, x: torch.where(
            x > d["Threshold"], x - d["Bias"], torch.where(x < -d["Threshold"], x + d["Bias"], torch.zeros_like(x))
        ),
    ),
    "SIGMOID": (lambda _, x: torch.sigmoid(x), lambda _, x: sigmoid_by_exp(x)),
    "SOFTPLUS": (
        lambda d, x: functional.softplus(x, d["Steepness"]),
        lambda d, x: softplus_by_exp(d["Steepness"] * x) / d["Steepness"],
        lambda d, x: torch.logaddexp(d["Steepness"] * x, torch.zeros(())) / d["Steepness"],
    ),
    "SOFTSIGN": (lambda _, x: functional.softsign(x), lambda _, x: x / (1 + x.abs())),
    "SWISH": (
        lambda d, x: x * torch.sigmoid(d["SigmoidInputScale"] * x),
        lambda d, x: x / (1 + torch.exp(-d["SigmoidInputScale"] * x)),
    ),
    "TANH": (lambda _, x: torch.tanh(x), lambda _, x: tanh_by_exp(x)),
    "THRESHOLDED_RELU": (lambda d, x: torch.where(x > d["Alpha"], x, torch.zeros_like(x)),),
}


def single(x: float) -> float:
    """Return a number as FLOAT32 holds it: so DirectML gets it."""
    return float(np.float32(x))


def scaled(d: Any, x: Tensor) -> Tensor:
    """Return elements after ScaleBias."""
    by = d.get("ScaleBias")
    return x if by is None else x * single(by.Scale) + single(by.Bias)


def fused(d: Any, x: Tensor) -> Tensor:
    """Return elements after FusedActivation."""
    nested = d.get("FusedActivation")
    return x if nested is None else activated(nested, x)


def _of_group(function: Function) -> Callable[[Any, Tensor], Tensor]:
    """Return a function along the axes of a nested operator, or the last one."""

    def way(nested: Any, x: Tensor) -> Tensor:
        axes = tuple(nested["Axes"]) if "Axes" in nested else (x.dim() - 1,)
        order = [*(axis for axis in range(x.dim()) if axis not in axes), *axes]
        turned = x.permute(order)
        rows = turned.reshape(*turned.shape[: x.dim() - len(axes)], -1)
        return function(rows).reshape(turned.shape).permute([*map(order.index, range(x.dim()))])

    return way


def _hardmax(x: Tensor) -> Tensor:
    at = torch.where(x == x.amax(-1, keepdim=True), torch.arange(x.shape[-1]), x.shape[-1]).amin(-1)
    return functional.one_hot(at.clamp(max=x.shape[-1] - 1), x.shape[-1]).to(x.dtype)


GROUPS: dict[str, Function] = {
    "HARDMAX": _hardmax,
    "LOG_SOFTMAX": lambda x: torch.log_softmax(x, -1),
    "SOFTMAX": lambda x: torch.softmax(x, -1),
}
# what is nested in other operators
NESTED: dict[str, tuple[Callable[[Any, Tensor], Tensor], ...]] = {
    **{f"ACTIVATION_{name}": ways for name, ways in ACTIVATIONS.items()},
    **{f"ACTIVATION_{name}{end}": (_of_group(way),) for name, way in GROUPS.items() for end in ("", "1")},
    "ELEMENT_WISE_CLIP": (lambda d, x: scaled(d, x).clamp(d["Min"], d["Max"]),),
}


def activated(nested: Any, x: Tensor, way: int = 0) -> Tensor:
    """Return what a nested activation makes of elements."""
    ways = NESTED[nested.spec.short]
    return ways[way % len(ways)](nested, x)


def _unary(function: Function) -> Way:
    return lambda d, x: function(scaled(d, x["InputTensor"]))


def _binary(function: Function) -> Way:
    return lambda d, x: function(scaled(d, x["ATensor"]), scaled(d, x["BTensor"]))


def _activation(function: Callable[[Any, Tensor], Tensor]) -> Way:
    return lambda d, x: function(d, x["InputTensor"])


def _power(function: Function) -> Way:
    return lambda d, x: function(scaled(d, x["InputTensor"]), scaled(d, x["ExponentTensor"]))


def _constant_power(function: Function) -> Way:
    return lambda d, x: function(scaled(d, x["InputTensor"]), d["Exponent"])


def _value_scale(d: Any, x: Inputs) -> Tensor:
    bias = torch.tensor(d["Bias"], dtype=torch.float32).reshape(1, -1, 1, 1)
    return x["InputTensor"] * d["Scale"] + bias


def _value_scale_fused(d: Any, x: Inputs) -> Tensor:
    bias = torch.tensor(d["Bias"], dtype=torch.float32).reshape(1, -1, 1, 1)
    return torch.add(bias.expand_as(x["InputTensor"]), x["InputTensor"], alpha=d["Scale"])


def adam(d: Any, x: Inputs, *, is_divided: bool) -> dict[str, Tensor]:
    """Return a step of Adam; the rate is divided by the bias corrections, or the moments are."""
    p, m, v, g = (
        x[f"{name}Tensor"] for name in ("InputParameters", "InputFirstMoment", "InputSecondMoment", "Gradient")
    )
    step, b1, b2 = int(x["TrainingStepTensor"].item()), single(d["Beta1"]), single(d["Beta2"])
    m = b1 * m + (1 - b1) * g if is_divided else torch.lerp(m, g, 1 - b1)
    v = b2 * v + (1 - b2) * g * g if is_divided else b2 * v + (1 - b2) * (g * g)
    rate = float(d["LearningRate"] * np.sqrt(1 - np.float64(b2) ** step) / (1 - np.float64(b1) ** step))
    new = (
        p - rate * m / (torch.sqrt(v) + d["Epsilon"]) if is_divided else p - rate * (m / (torch.sqrt(v) + d["Epsilon"]))
    )
    names = ("OutputParametersTensor", "OutputFirstMomentTensor", "OutputSecondMomentTensor")
    return dict(zip(names, (new, m, v), strict=True))


WAYS: dict[str, tuple[Way, ...]] = {
    **{f"ELEMENT_WISE_{name}": tuple(map(_unary, ways)) for name, ways in UNARY.items()},
    **{f"ELEMENT_WISE_{name}": tuple(map(_binary, ways)) for name, ways in BINARY.items()},
    **{f"ACTIVATION_{name}": tuple(map(_activation, ways)) for name, ways in ACTIVATIONS.items()},
    "ACTIVATION_PARAMETERIZED_RELU": (
        lambda _, x: torch.where(x["InputTensor"] >= 0, x["InputTensor"], x["SlopeTensor"] * x["InputTensor"]),
        lambda _, x: x["InputTensor"].clamp(min=0) + x["SlopeTensor"] * x["InputTensor"].clamp(max=0),
    ),
    "ACTIVATION_RELU_GRAD": (lambda _, x: torch.where(x["InputTensor"] > 0, x["InputGradientTensor"], 0.0),),
    "ADAM_OPTIMIZER": (
        lambda d, x: adam(d, x, is_divided=True),
        lambda d, x: adam(d, x, is_divided=False),
    ),
    "ELEMENT_WISE_ADD1": (lambda d, x: fused(d, x["ATensor"] + x["BTensor"]),),
    "ELEMENT_WISE_CLIP": (lambda d, x: scaled(d, x["InputTensor"]).clamp(d["Min"], d["Max"]),),
    "ELEMENT_WISE_CONSTANT_POW": tuple(
        map(_constant_power, (torch.pow, lambda x, y: numpy(lambda a: np.power(a, np.float32(y)))(x), power_by_2))
    ),
    "ELEMENT_WISE_POW": tuple(map(_power, (torch.pow, numpy(np.power), power_by_2))),
    "ELEMENT_WISE_NEGATE": (lambda _, x: -x["InputTensor"],),
    "ELEMENT_WISE_ROUND": (lambda d, x: ROUNDING[d["RoundingMode"]](x["InputTensor"]),),
    "ELEMENT_WISE_SIGN": (lambda _, x: torch.sign(x["InputTensor"]),),
    "ELEMENT_WISE_THRESHOLD": (lambda d, x: scaled(d, x["InputTensor"]).clamp(min=d["Min"]),),
    "VALUE_SCALE_2D": (_value_scale, _value_scale_fused),
}
