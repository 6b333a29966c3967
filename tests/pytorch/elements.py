"""Operators over elements: arithmetic of integers, comparisons, logic, bits, limits, conversions and fills."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from acceptance.elementwise import BINARY, scaled
from pytorch.wide import BITS, LEAST, MOST, as_float, divided, from_float, is_integral, is_wide, number, turned
from torch import Tensor

Inputs = dict[str, Any]
Function = Callable[..., Any]


def _safe(a: Tensor, b: Tensor, *, is_of_64_bits: bool) -> Tensor:
    """Return divisors of which none is 0 and no quotient is too large: those results are undefined."""
    is_too_large = (a == LEAST) & (b == -1) & (not is_of_64_bits)
    return torch.where((b == 0) | is_too_large, torch.ones_like(b), b)


def _quotient(a: Tensor, b: Tensor) -> Tensor:
    return torch.div(a, b, rounding_mode="trunc")


def _rest(a: Tensor, b: Tensor) -> Tensor:
    return a - divided(a, b) * b


# of two tensors of integers, and of two of UINT64
WHOLE: dict[str, tuple[Function, Function]] = {
    "DIVIDE": (_quotient, divided),
    "MEAN": (lambda a, b: torch.div(a + b, 2, rounding_mode="floor"), _rest),
    "MODULUS_FLOOR": (torch.remainder, _rest),
    "MODULUS_TRUNCATE": (torch.fmod, _rest),
}
ORDERED: dict[str, Function] = {"MAX": torch.maximum, "MIN": torch.minimum}
COMPARED: dict[str, Function] = {
    "EQUALS": torch.eq,
    "GREATER_THAN": torch.gt,
    "GREATER_THAN_OR_EQUAL": torch.ge,
    "LESS_THAN": torch.lt,
    "LESS_THAN_OR_EQUAL": torch.le,
}
LOGICAL: dict[str, Function] = {"AND": torch.logical_and, "OR": torch.logical_or, "XOR": torch.logical_xor}
BITWISE: dict[str, Function] = {"AND": torch.bitwise_and, "OR": torch.bitwise_or, "XOR": torch.bitwise_xor}
INFINITE: dict[str, Function] = {"EITHER": torch.isinf, "POSITIVE": torch.isposinf, "NEGATIVE": torch.isneginf}


def whole(name: str) -> Function:
    """Return a function of two tensors, of integers or floats."""
    of_integers, of_wide = WHOLE[name]

    def way(d: Any, x: Inputs) -> Tensor:
        a, b = x["ATensor"], x["BTensor"]
        if not is_integral(d, "ATensor"):
            return BINARY[name][0](scaled(d, a), scaled(d, b))
        a, b, wide = a.to(torch.int64), b.to(torch.int64), is_wide(d, "ATensor")
        return (of_wide if wide else of_integers)(a, _safe(a, b, is_of_64_bits=wide))

    return way


def ordered(function: Function) -> Function:
    """Return a function that picks one of two elements."""

    def way(d: Any, x: Inputs) -> Tensor:
        a, b = (turned(scaled(d, x[name]), is_wide(d, name)) for name in ("ATensor", "BTensor"))
        return turned(function(a, b), is_wide(d, "ATensor"))

    return way


def compared(function: Function) -> Function:
    """Return a comparison of two tensors."""
    return lambda d, x: function(*(turned(x[name], is_wide(d, name)) for name in ("ATensor", "BTensor")))


def of_both(function: Function) -> Function:
    """Return a function of two tensors as they are."""
    return lambda _, x: function(x["ATensor"], x["BTensor"])


def of_one(function: Function) -> Function:
    """Return a function of one tensor as it is."""
    return lambda _, x: function(x["InputTensor"])


# ---- bits


def _shifted_right(d: Any, x: Inputs) -> Tensor:
    a, b = (x[name].to(torch.int64) for name in ("ATensor", "BTensor"))
    return torch.where(b > 0, (a >> 1 & MOST) >> (b - 1).clamp(min=0), a) if is_wide(d, "ATensor") else a >> b


def _bit_count(d: Any, x: Inputs) -> Tensor:
    bits = x["InputTensor"].to(torch.int64)
    return sum(bits >> at & 1 for at in range(BITS[d.tensor("InputTensor").data_type]))


# ---- limits


def _given(d: Any, x: Inputs, name: str = "InputTensor") -> Tensor:
    """Return elements after ScaleBias: of integers in FLOAT64, as long as they are not needed exactly."""
    by, given = d.get("ScaleBias"), x[name]
    if by is None or not is_integral(d, name):
        return turned(scaled(d, given), is_wide(d, name))
    return (given.to(torch.float64) * by.Scale + by.Bias).to(torch.int64)


def _limits(d: Any, *names: str) -> list[Tensor]:
    kind = d.tensor("InputTensor").data_type
    return [turned(number(d, name, kind), kind == "UINT64") for name in names]


def _clipped(d: Any, x: Inputs) -> Tensor:
    low, high = _limits(d, "Min", "Max")
    return turned(torch.minimum(high, torch.maximum(low, _given(d, x))), is_wide(d, "InputTensor"))


def _clipped1(d: Any, x: Inputs) -> Tensor:
    low, high = _limits(d, "Min", "Max")
    return turned(torch.maximum(low, torch.minimum(_given(d, x), high)), is_wide(d, "InputTensor"))


def _raised(d: Any, x: Inputs) -> Tensor:
    return torch.maximum(_given(d, x), *_limits(d, "Min"))


def _clip_grad(d: Any, x: Inputs) -> Tensor:
    low, high = _limits(d, "Min", "Max")
    given, gradient = turned(x["InputTensor"], is_wide(d, "InputTensor")), x["InputGradientTensor"]
    return torch.where((low < given) & (given < high), gradient, torch.zeros_like(gradient))


# ---- conversions and fills


def _cast(d: Any, x: Inputs) -> Tensor:
    given, kind = x["InputTensor"], d.tensor("OutputTensor").data_type
    if is_wide(d, "InputTensor") and "FLOAT" in kind:
        return as_float(given)
    if kind == "UINT64" and given.is_floating_point():
        return from_float(given.to(torch.float64))
    return given.to(torch.int64) if "INT" in kind else given


def _constant(d: Any, _: Inputs) -> Tensor:
    out = d.tensor("OutputTensor")
    return number(d, "Value", out.data_type).expand(out.sizes)


def _sequence(d: Any, _: Inputs) -> Tensor:
    out = d.tensor("OutputTensor")
    start, delta = (number(d, name, out.data_type) for name in ("ValueStart", "ValueDelta"))
    return (start + torch.arange(out.element_count).to(start.dtype) * delta).reshape(out.sizes)


def _sign(d: Any, x: Inputs) -> Tensor:
    given = x["InputTensor"]
    return (given != 0).to(torch.int64) if is_wide(d, "InputTensor") else torch.sign(given)


OPERATORS: dict[str, Function] = {
    **{f"ELEMENT_WISE_{name}": whole(name) for name in WHOLE},
    **{f"ELEMENT_WISE_{name}": ordered(function) for name, function in ORDERED.items()},
    **{f"ELEMENT_WISE_LOGICAL_{name}": compared(function) for name, function in COMPARED.items()},
    **{f"ELEMENT_WISE_LOGICAL_{name}": of_both(function) for name, function in LOGICAL.items()},
    **{f"ELEMENT_WISE_BIT_{name}": of_both(function) for name, function in BITWISE.items()},
    "ACTIVATION_RELU_GRAD": lambda _, x: torch.where(x["InputTensor"] > 0, x["InputGradientTensor"], 0),
    "CAST": _cast,
    "ELEMENT_WISE_BIT_COUNT": _bit_count,
    "ELEMENT_WISE_BIT_NOT": of_one(torch.bitwise_not),
    "ELEMENT_WISE_BIT_SHIFT_LEFT": lambda _, x: x["ATensor"].to(torch.int64) << x["BTensor"].to(torch.int64),
    "ELEMENT_WISE_BIT_SHIFT_RIGHT": _shifted_right,
    "ELEMENT_WISE_CLIP": _clipped,
    "ELEMENT_WISE_CLIP1": _clipped1,
    "ELEMENT_WISE_CLIP_GRAD": _clip_grad,
    "ELEMENT_WISE_CLIP_GRAD1": _clip_grad,
    "ELEMENT_WISE_IF": lambda _, x: torch.where(x["ConditionTensor"] != 0, x["ATensor"], x["BTensor"]),
    "ELEMENT_WISE_IS_INFINITY": lambda d, x: INFINITE[d["InfinityMode"]](x["InputTensor"]),
    "ELEMENT_WISE_IS_NAN": of_one(torch.isnan),
    "ELEMENT_WISE_LOGICAL_NOT": of_one(torch.logical_not),
    "ELEMENT_WISE_SIGN": _sign,
    "ELEMENT_WISE_THRESHOLD": _raised,
    "FILL_VALUE_CONSTANT": _constant,
    "FILL_VALUE_SEQUENCE": _sequence,
}
