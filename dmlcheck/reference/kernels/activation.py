"""ACTIVATION operators of single elements, the gradient of RELU, and ADD1; other operators may fuse these formulas.

Undefined are mostly results for NaN, where a page does not define its max and min, and infinity times 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dmlcheck.reference.arrays.data_types import cast, element, in_32_bits, limits, represents, stored
from dmlcheck.reference.functions.several_ways import growing, with_known_error, with_published_error
from dmlcheck.reference.functions.special import erfc, ln_1_exp
from dmlcheck.reference.results import AsMeasured, PartlyUndefined, alternatives, flushing
from dmlcheck.reference.rows import CHOICES, Kernel, elementwise, exact


def celu(input: Any, *, alpha: Any) -> AsMeasured:
    """max(0, x) + min(0, Alpha * (exp(x / Alpha) - 1))."""
    is_open = (alpha == 0) | ~np.isfinite(alpha)
    value = np.where(input >= 0, input, 0.0 if is_open else alpha * np.expm1(input / alpha))
    return AsMeasured(np.where(np.isnan(input), 0.0, value), np.isnan(input) | is_open)


def elu(input: Any, *, alpha: Any) -> Any:
    """x where x >= 0, else Alpha * (exp(x) - 1)."""
    return np.where(input >= 0, input, alpha * np.expm1(input))


def gelu(input: Any) -> AsMeasured:
    """x / 2 * (1 + erf(x / sqrt(2)))."""
    return AsMeasured(input / 2 * erfc(input * -np.sqrt(0.5)), input == -np.inf)


def hard_sigmoid(input: Any, *, alpha: Any, beta: Any) -> AsMeasured:
    """max(0, min(Alpha * x + Beta, 1))."""
    line = alpha * input + beta
    return AsMeasured(np.where(np.isnan(line), 0.0, np.clip(line, 0, 1)), np.isnan(line))


def hard_swish(input: Any, *, alpha: Any, beta: Any) -> AsMeasured:
    """x * max(0, min(Alpha * x + Beta, 1))."""
    line = alpha * input + beta
    value = input * np.where(np.isnan(line), 0.0, np.clip(line, 0, 1))
    return AsMeasured(value, (np.isnan(value) | np.isnan(line)) & ~np.isnan(input))


def identity(input: Any) -> Any:
    """x."""
    return input


def leaky_relu(input: Any, *, alpha: Any) -> Any:
    """x where x >= 0, else Alpha * x."""
    return np.where(input >= 0, input, alpha * input)


def linear(input: Any, *, alpha: Any, beta: Any) -> Any:
    """Alpha * x + Beta."""
    return alpha * input + beta


def parameterized_relu(input: Any, slope: Any) -> Any:
    """x where x >= 0, else Slope * x."""
    return np.where(input >= 0, input, slope * input)


def parametric_softplus(input: Any, *, alpha: Any, beta: Any) -> Any:
    """Alpha * ln(1 + exp(Beta * x))."""
    return alpha * ln_1_exp(beta * input)


def relu(input: Any) -> AsMeasured:
    """max(0, x)."""
    return AsMeasured(np.where(np.isnan(input), 0.0, np.maximum(input, 0)), np.isnan(input))


def relu_grad(input: Any, input_gradient: Any) -> AsMeasured:
    """InputGradient where x > 0, else 0."""
    return AsMeasured(np.where(input > 0, input_gradient, 0), np.isnan(input))


def scaled_elu(input: Any, *, alpha: Any, gamma: Any) -> Any:
    """Gamma * x where x > 0, else Gamma * (Alpha * exp(x) - Alpha)."""
    return gamma * np.where(input > 0, input, alpha * np.expm1(input))


def scaled_tanh(input: Any, *, alpha: Any, beta: Any) -> Any:
    """Alpha * tanh(Beta * x)."""
    return alpha * np.tanh(beta * input)


def shrink(input: Any, *, bias: Any, threshold: Any) -> AsMeasured:
    """x - Bias where x > Threshold, x + Bias where x < -Threshold, else 0."""
    above, below = input > threshold, input < -threshold
    value = np.where(above, input - bias, np.where(below, input + bias, 0.0))
    return AsMeasured(value, np.isnan(input) | above & below)


def shrink_integers(input: Any, *, bias: Any, threshold: Any, input_type: str) -> AsMeasured:
    """As for floats, computed exactly or in FLOAT32.

    Where the type does not hold a number of the formula, and for unsigned x up to Threshold, it is rounded to nearest.
    """
    x = input.astype(np.float64)
    exact, is_undefined = shrink(x, bias=bias, threshold=threshold)
    rounded = input.astype(np.float32)
    in_float32, _ = shrink(rounded, bias=cast(bias, rounded), threshold=cast(threshold, rounded))
    single = in_float32.astype(np.float64)
    fits = represents(input_type, exact) & represents(input_type, single)
    is_unsigned = limits(input_type)[0] == 0
    is_undefined = is_undefined | ~fits | ~(represents(input_type, bias) & represents(input_type, threshold))
    is_undefined = is_undefined | is_unsigned & (threshold != 0) & (x <= threshold)
    beyond = stored(in_32_bits(np.rint(single), element(0, input_type).dtype), input_type)
    return AsMeasured(
        alternatives(*(np.where(is_undefined, beyond, number) for number in (exact, single))), is_undefined
    )


def sigmoid(input: Any) -> Any:
    """1 / (1 + exp(-x))."""
    return with_known_error(with_published_error(growing(_sigmoid, input), 34), "sigmoid")


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def softplus(input: Any, *, steepness: Any) -> PartlyUndefined:
    """ln(1 + exp(Steepness * x)) / Steepness."""
    by_0 = steepness == 0
    return PartlyUndefined(AsMeasured(ln_1_exp(steepness * input) / steepness, by_0), by_0 & ~np.isfinite(input))


def softsign(input: Any) -> AsMeasured:
    """x / (1 + |x|)."""
    return AsMeasured(input / (1 + np.abs(input)), np.isinf(input))


def swish(input: Any, *, sigmoid_input_scale: Any) -> AsMeasured:
    """x * sigmoid(SigmoidInputScale * x)."""
    value = input * sigmoid(sigmoid_input_scale * input)
    return AsMeasured(value, np.isnan(value) & np.isinf(input))


def tanh(input: Any) -> Any:
    """(exp(x) - exp(-x)) / (exp(x) + exp(-x))."""
    return np.tanh(input)


def thresholded_relu(input: Any, *, alpha: Any) -> PartlyUndefined:
    """x where x > Alpha, else 0."""
    return PartlyUndefined(np.where(input > alpha, input, 0.0), np.isnan(input))


def add1(a: Any, b: Any, *, fused_activation: Callable[[Any], Any]) -> Any:
    """FusedActivation(A + B)."""
    return fused_activation(a + b)


KERNELS: dict[str, Kernel] = {
    "ACTIVATION_CELU": elementwise(celu),
    "ACTIVATION_ELU": elementwise(elu),
    "ACTIVATION_GELU": elementwise(gelu),
    "ACTIVATION_HARD_SIGMOID": elementwise(hard_sigmoid),
    "ACTIVATION_HARD_SWISH": elementwise(hard_swish),
    "ACTIVATION_IDENTITY": exact(identity),
    "ACTIVATION_LEAKY_RELU": elementwise(leaky_relu),
    "ACTIVATION_LINEAR": elementwise(linear),
    "ACTIVATION_PARAMETERIZED_RELU": elementwise(parameterized_relu, overflow="all"),
    "ACTIVATION_PARAMETRIC_SOFTPLUS": elementwise(parametric_softplus),
    "ACTIVATION_RELU": exact(flushing(relu)),
    "ACTIVATION_RELU_GRAD": exact(relu_grad),
    "ACTIVATION_SCALED_ELU": elementwise(scaled_elu),
    "ACTIVATION_SCALED_TANH": elementwise(scaled_tanh),
    "ACTIVATION_SHRINK": elementwise(shrink, integers=shrink_integers, jumps=CHOICES),
    "ACTIVATION_SIGMOID": elementwise(sigmoid),
    "ACTIVATION_SOFTPLUS": elementwise(softplus),
    "ACTIVATION_SOFTSIGN": elementwise(softsign),
    "ACTIVATION_SWISH": elementwise(swish),
    "ACTIVATION_TANH": elementwise(tanh),
    "ACTIVATION_THRESHOLDED_RELU": elementwise(thresholded_relu, jumps=CHOICES),
    "ELEMENT_WISE_ADD1": elementwise(add1),
}
