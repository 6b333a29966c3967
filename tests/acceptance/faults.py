"""Numeric faults of implementations, planted in the reference engine, or in the right ways by PyTorch.

A fault matters to a case if it changes an output; it is noticed if a run with --strict fails for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import planted
import torch
from acceptance.ways import WAYS, computed
from torch import Tensor

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference.ball import narrowed

Array = np.ndarray[Any, Any]
Outputs = dict[str, Array]
Act = Callable[[OperatorDesc, dict[str, Any]], "Outputs | None"]


class Fault(NamedTuple):
    """A fault: its name, where it happens, what it does, and the operators that it is tried on; None for all."""

    name: str
    where: str
    act: Act
    operators: tuple[str, ...] | None = None

    def may_be_of(self, short: str) -> bool:
        """Whether it is tried on an operator."""
        return self.operators is None or short in self.operators


# ---- functions that are approximated

_LOG2, _SQRT, _RSQRT = torch.log2, torch.sqrt, torch.rsqrt  # others take their place in `torch`


@cache
def _coefficients(name: str, degree: int) -> Array:
    """Return the polynomial of a degree through the Chebyshev nodes of an interval, the highest power first."""
    function, low, high = {
        "exp2": (np.exp2, 0.0, 1.0),
        "log2": (np.log2, 1.0, 2.0),
        "sin": (np.sin, -math.pi / 2, math.pi / 2),
    }[name]
    nodes = (low + high) / 2 + (high - low) / 2 * np.cos(np.pi * (np.arange(degree + 1) + 0.5) / (degree + 1))
    return np.polyfit(nodes, function(nodes), degree)


def _polynomial(name: str, degree: int, x: Tensor) -> Tensor:
    found = torch.zeros_like(x)
    for coefficient in _coefficients(name, degree):
        found = found * x + float(coefficient)
    return found


def exp2(degree: int, x: Tensor) -> Tensor:
    whole = torch.floor(x)
    return torch.ldexp(_polynomial("exp2", degree, x - whole), whole.clamp(-126, 127))


def exp(degree: int, x: Tensor) -> Tensor:
    return exp2(degree, x * 1.44269504)


def log2(degree: int, x: Tensor) -> Tensor:
    part, exponent = torch.frexp(x)
    found = _polynomial("log2", degree, part * 2) + (exponent - 1)
    return torch.where((x > 0) & x.isfinite(), found, _LOG2(x))


def log(degree: int, x: Tensor) -> Tensor:
    return log2(degree, x) * 0.69314718


def sin(degree: int, x: Tensor) -> Tensor:
    half_turns = torch.round(x / math.pi)
    rest = (x.double() - half_turns.double() * math.pi).float()
    return _polynomial("sin", degree, rest) * torch.where(half_turns % 2 == 0, 1.0, -1.0)


def cos(degree: int, x: Tensor) -> Tensor:
    half_turns = torch.round(x / math.pi - 0.5)
    rest = (x.double() - (half_turns.double() + 0.5) * math.pi).float()
    return -_polynomial("sin", degree, rest) * torch.where(half_turns % 2 == 0, 1.0, -1.0)


def tan(degree: int, x: Tensor) -> Tensor:
    return sin(degree, x) / cos(degree, x)


def tanh(x: Tensor) -> Tensor:
    """Lambert's continued fraction, as games and neural networks on microcontrollers have it."""
    by = x * x
    above = x * (135135 + by * (17325 + by * (378 + by)))
    return (above / (135135 + by * (62370 + by * (3150 + by * 28)))).clamp(-1, 1)


def erf(x: Tensor) -> Tensor:
    """Abramowitz and Stegun, 7.1.25, within 2.5e-5."""
    size = x.abs()
    t = 1 / (1 + 0.47047 * size)
    found = 1 - ((0.7478556 * t - 0.0958798) * t + 0.3480242) * t * torch.exp(-size * size)
    return torch.sign(x) * found


def rsqrt(steps: int, x: Tensor) -> Tensor:
    """The inverse root by its bits, and steps of Newton: one is off by 1.75e-3, two by 4.7e-6."""
    bits = 0x5F3759DF - (x.contiguous().view(torch.int32) >> 1)
    found = bits.view(torch.float32)
    for _ in range(steps):
        found = found * (1.5 - 0.5 * x * found * found)
    return torch.where((x > 0) & x.isfinite(), found, _RSQRT(x))


def sqrt(steps: int, x: Tensor) -> Tensor:
    return torch.where(x > 0, x * rsqrt(steps, x), _SQRT(x))


def reciprocal(x: Tensor) -> Tensor:
    """The inverse in FLOAT16."""
    return (1 / x).half().float()


# PyTorch's functions, each with what takes their place; ways that call them are faulty with it.
REPLACED: dict[str, tuple[str, dict[str, Callable[..., Tensor]]]] = {
    "exp-1e-4": ("exp by a cubic polynomial, off by 1e-4", {"exp": partial(exp, 3), "exp2": partial(exp2, 3)}),
    "exp-4e-6": ("exp by a polynomial of degree 4, off by 4e-6", {"exp": partial(exp, 4), "exp2": partial(exp2, 4)}),
    "log-1e-4": ("log by a polynomial of degree 4, off by 3e-5", {"log": partial(log, 4), "log2": partial(log2, 4)}),
    "sin-1e-4": (
        "sin, cos and tan by polynomials of degree 5, off by 1e-4",
        {"sin": partial(sin, 5), "cos": partial(cos, 5), "tan": partial(tan, 5)},
    ),
    "sin-1e-6": (
        "sin, cos and tan by polynomials of degree 7, off by 1e-6",
        {"sin": partial(sin, 7), "cos": partial(cos, 7), "tan": partial(tan, 7)},
    ),
    "tanh-fraction": ("tanh by a continued fraction that is cut off", {"tanh": tanh}),
    "erf-2e-5": ("erf by Abramowitz and Stegun, 7.1.25", {"erf": erf}),
    "root-2e-3": ("roots by their bits and a step of Newton", {"sqrt": partial(sqrt, 1), "rsqrt": partial(rsqrt, 1)}),
    "root-5e-6": (
        "roots by their bits and two steps of Newton",
        {"sqrt": partial(sqrt, 2), "rsqrt": partial(rsqrt, 2)},
    ),
    "reciprocal-float16": ("inverses in FLOAT16", {"reciprocal": reciprocal}),
}


def replaced(functions: dict[str, Callable[..., Tensor]], desc: OperatorDesc, inputs: dict[str, Any]) -> Outputs | None:
    """Return what the first way gives that calls one of some functions of PyTorch, if others take their place."""
    short = desc.spec.short
    direct = functions.get(short.removeprefix("ELEMENT_WISE_").replace("RECIP", "reciprocal").lower())
    if direct is not None and short.startswith("ELEMENT_WISE"):
        return computed(lambda d, x: direct(_scaled(d, x)), desc, inputs)
    for way in WAYS[short]:
        calls = []
        spies = {name: _spied(calls, function) for name, function in functions.items()}
        with mock.patch.multiple(torch, **spies):
            found = computed(way, desc, inputs)
        if calls:
            return found
    return None


def _scaled(d: OperatorDesc, x: dict[str, Any]) -> Tensor:
    from acceptance.elementwise import scaled

    return scaled(d, x["InputTensor"])


def _spied(calls: list[int], function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def spy(*given: Any) -> Tensor:
        calls.append(1)
        return function(*given)

    return spy


# ---- formulas that are not right


def by(ways: dict[str, Any]) -> Act:
    """Return a fault that computes operators in wrong ways."""
    return lambda desc, inputs: computed(ways[desc.spec.short], desc, inputs)


def _gelu(_: Any, x: Any) -> Tensor:
    return torch.nn.functional.gelu(x["InputTensor"], approximate="tanh")


def _softmax(d: Any, x: Any) -> Tensor:
    powers = torch.exp(x["InputTensor"])
    return powers / powers.sum(_axes(d), keepdim=True)


def _log_softmax(d: Any, x: Any) -> Tensor:
    return torch.log(_softmax(d, x))


def _log_of_softmax(d: Any, x: Any) -> Tensor:
    less = x["InputTensor"] - x["InputTensor"].amax(_axes(d), keepdim=True)
    powers = torch.exp(less)
    return torch.log(powers / powers.sum(_axes(d), keepdim=True))


def _axes(d: Any) -> Any:
    return tuple(d["Axes"]) if "Axes" in d else (-1,)


def _swish(d: Any, x: Any) -> Tensor:
    given = x["InputTensor"]
    return given * (torch.tanh(d["SigmoidInputScale"] * given / 2) * 0.5 + 0.5).half().float()


def _sigmoid(_: Any, x: Any) -> Tensor:
    return torch.tanh(x["InputTensor"] / 2) * 0.5 + 0.5


# ---- fields of another value


def _field(name: str, change: Callable[[Any], Any]) -> Act:
    """Return a fault that computes as if a field had another value."""

    def of(desc: OperatorDesc) -> dict[str, Any] | None:
        value = desc.values.get(name)
        return None if value is None else {name: change(value)}

    return planted.on_fields(of)


def _sample_variance(desc: OperatorDesc, inputs: dict[str, Any]) -> Outputs | None:
    """Return normalizations by the sum of squares divided by n - 1 in the place of n."""
    right = torch.var_mean

    def other(x: Tensor, axes: Any, **options: Any) -> Any:
        return right(x, axes, **{**options, "correction": 1})

    with mock.patch.object(torch, "var_mean", other):
        ways = WAYS[desc.spec.short]
        return computed(ways[2], desc, inputs)


def _epsilon_outside(desc: OperatorDesc, inputs: dict[str, Any]) -> Outputs | None:
    """Return normalizations whose Epsilon is added to the root."""

    def rsqrt_of(square: Tensor) -> Tensor:
        epsilon = desc["Epsilon"]
        return 1 / (torch.sqrt((square - epsilon).clamp(min=0)) + epsilon)

    with mock.patch.object(torch, "rsqrt", rsqrt_of):
        return computed(WAYS[desc.spec.short][2], desc, inputs)


def _moments_in_float16(desc: OperatorDesc, inputs: dict[str, Any]) -> Outputs | None:
    """Return normalizations whose mean and variance were stored in FLOAT16."""
    right = torch.var_mean

    def other(*given: Any, **options: Any) -> Any:
        return tuple(each.half().float() for each in right(*given, **options))

    with mock.patch.object(torch, "var_mean", other):
        return computed(WAYS[desc.spec.short][2], desc, inputs)


def _weights_in_8_bits(desc: OperatorDesc, inputs: dict[str, Any]) -> Outputs | None:
    """Return resampling by texture units, whose weights have 8 bits after the point."""
    from acceptance import windowed

    right, changed = windowed._beside, []

    def other(*given: Any) -> Any:
        low, high, part = right(*given)
        few = torch.round(part * 256) / 256
        changed.append(not torch.equal(few, part))
        return low, high, few

    if desc["InterpolationMode"] != "LINEAR":
        return None
    with mock.patch.object(windowed, "_beside", other):
        found = computed(WAYS[desc.spec.short][0], desc, inputs)
    return found if any(changed) else None


def _weights_in_float16(desc: OperatorDesc, inputs: dict[str, Any]) -> Outputs | None:
    """Return attention whose weights are FLOAT16 when they are multiplied by the values."""
    from acceptance import products

    def other(q: Tensor, k: Tensor, v: Tensor, bias: Tensor) -> Tensor:
        return torch.softmax(q @ k.mT + bias, -1).half().float() @ v

    with mock.patch.object(products, "_online", other):
        return computed(WAYS[desc.spec.short][1], desc, inputs)


def _states_in_float16(desc: OperatorDesc, inputs: dict[str, Any]) -> Outputs | None:
    """Return networks whose states are FLOAT16 from step to step."""
    from acceptance import recurrent

    steps = {
        name: (lambda *given, step=step: [each.half().float() for each in step(*given)])
        for name, step in recurrent.STEPS.items()
    }
    with mock.patch.dict(recurrent.STEPS, steps):
        return computed(WAYS[desc.spec.short][0], desc, inputs)


# ---- sums and elements


def relative(error: float) -> Act:
    return partial(planted.approximate, dtype=np.float32, error=error)


def _of_engine(kind: str) -> Act:
    """Return a fault of the bank by its name."""

    def act(desc: OperatorDesc, inputs: dict[str, Any]) -> Outputs | None:
        fault = planted.faults_of(desc.spec.operator).get(kind)
        return None if fault is None else fault.act(desc, inputs)

    return act


def long_inputs(rounding: Callable[[Array], Array]) -> Act:
    """Return a fault of inputs that is looked at in long sums only, whose limits are wide."""
    rounded = planted.on_inputs(planted.if_float32(rounding))

    def act(desc: OperatorDesc, inputs: dict[str, Any]) -> Outputs | None:
        return rounded(desc, inputs) if terms_of(desc) >= 1024 else None

    return act


def terms_of(desc: OperatorDesc) -> int:
    """Return how many products the sums of a GEMM or a CONVOLUTION have."""
    if desc.spec.short == "GEMM":
        sizes = desc["ATensor"].sizes
        return int(sizes[-2 if desc["TransA"] == "TRANSPOSE" else -1])
    return math.prod(desc["FilterTensor"].sizes[1:])


NORMALIZATIONS = (
    "BATCH_NORMALIZATION_TRAINING",
    "MEAN_VARIANCE_NORMALIZATION",
    "MEAN_VARIANCE_NORMALIZATION1",
    "MEAN_VARIANCE_NORMALIZATION2",
)
SUMS_OF_PRODUCTS = ("CONVOLUTION", "GEMM")
ATTENTION = ("MULTIHEAD_ATTENTION", "MULTIHEAD_ATTENTION1")
SOFTMAX = ("ACTIVATION_SOFTMAX", "ACTIVATION_SOFTMAX1")
LOG_SOFTMAX = ("ACTIVATION_LOG_SOFTMAX", "ACTIVATION_LOG_SOFTMAX1")
RESAMPLING = ("RESAMPLE", "RESAMPLE1", "RESAMPLE2", "RESAMPLE3")
RECURRENT = ("GRU", "LSTM", "RNN")
OF_THE_BANK = (
    "inputs-bfloat16",
    "inputs-tf32",
    "inputs-float16",
    "sums-bfloat16",
    "sums-float16",
    "lost-block",
    "lost-term",
    "approximate-float32",
    "nothing-written",
    "one-pass-variance",
    "ignored:Epsilon",
    "ignored:ScaleBias",
    "ignored:Alpha",
    "ignored:Beta",
)


def _all() -> Iterator[Fault]:
    for kind in OF_THE_BANK:
        yield Fault(kind, _where(kind), _of_engine(kind))
    yield Fault("relative-1e-4", "a function of the hardware, or a table", relative(1e-4))
    for name, (where, functions) in REPLACED.items():
        yield Fault(name, where, partial(replaced, functions))
    for name, rounding in (("float16", narrowed.float16), ("tf32", narrowed.tf32), ("bfloat16", narrowed.bfloat16)):
        where = f"matrix units that round operands to {name.upper()}, in sums of 1,024 to 65,536 terms"
        yield Fault(f"long-{name}", where, long_inputs(rounding), SUMS_OF_PRODUCTS)
    yield Fault(
        "gelu-by-tanh",
        "the approximation that many networks are trained with",
        by({"ACTIVATION_GELU": _gelu}),
        ("ACTIVATION_GELU",),
    )
    yield Fault(
        "sigmoid-by-tanh", "an error that is absolute", by({"ACTIVATION_SIGMOID": _sigmoid}), ("ACTIVATION_SIGMOID",)
    )
    yield Fault("swish-float16", "a sigmoid that is FLOAT16", by({"ACTIVATION_SWISH": _swish}), ("ACTIVATION_SWISH",))
    yield Fault(
        "softmax-overflow", "exp without the largest element taken out", by(dict.fromkeys(SOFTMAX, _softmax)), SOFTMAX
    )
    yield Fault(
        "softmax-overflow-log",
        "exp without the largest element taken out",
        by(dict.fromkeys(LOG_SOFTMAX, _log_softmax)),
        LOG_SOFTMAX,
    )
    yield Fault(
        "log-of-softmax", "the logarithm of what is 0", by(dict.fromkeys(LOG_SOFTMAX, _log_of_softmax)), LOG_SOFTMAX
    )
    with_epsilon = (
        *NORMALIZATIONS,
        "BATCH_NORMALIZATION",
        "BATCH_NORMALIZATION_TRAINING_GRAD",
        "LP_NORMALIZATION",
        "ADAM_OPTIMIZER",
    )
    yield Fault(
        "epsilon-times-10", "another constant of a framework", _field("Epsilon", lambda x: x * 10), with_epsilon
    )
    yield Fault("epsilon-outside", "Epsilon added to the root", _epsilon_outside, NORMALIZATIONS)
    yield Fault("sample-variance", "a sum of squares divided by n - 1", _sample_variance, NORMALIZATIONS)
    yield Fault("moments-float16", "mean and variance stored in FLOAT16", _moments_in_float16, NORMALIZATIONS)
    yield Fault("weights-8-bits", "texture units", _weights_in_8_bits, RESAMPLING)
    yield Fault("weights-float16", "weights of attention stored in FLOAT16", _weights_in_float16, ATTENTION)
    yield Fault("states-float16", "states stored in FLOAT16", _states_in_float16, RECURRENT)


def _where(kind: str) -> str:
    return planted_kinds()[kind].where


@cache
def planted_kinds() -> dict[str, planted.Fault]:
    from dmlcheck.specs.load import operator_names

    return {fault.name: fault for operator in operator_names() for fault in planted.faults_of(operator).values()}


@cache
def faults() -> dict[str, Fault]:
    """Return all faults by name."""
    return {fault.name: fault for fault in _all()}


def of_operator(short: str) -> list[Fault]:
    """Return the faults that are tried on an operator."""
    return [fault for fault in faults().values() if fault.may_be_of(short)]
