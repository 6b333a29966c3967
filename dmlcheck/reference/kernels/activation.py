"""ACTIVATION operators of one element, ADD1 and its fused activation, and the gradient of RELU: a formula each."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference.kernels import attribute, parameter_name
from dmlcheck.reference.kernels._blocks import Array, Result, Wide
from dmlcheck.reference.kernels._pointwise import WHOLE, joined, linear, odd, pointwise, settled, two_product, widened
from dmlcheck.reference.kernels._special import erfc
from dmlcheck.values.number_formats import two_sum

Formula = Callable[..., "Array | Wide"]


def activation(formula: Formula) -> Callable[..., Result]:
    """Return the kernel of a formula, which takes float64 and the operator's attributes."""

    @functools.wraps(formula)
    def kernel(input: Array, **attributes: float) -> Result:
        return pointwise(lambda block: formula(widened(block), **attributes), input)

    return kernel


def unrounded(formula: Formula) -> Callable[..., Result]:
    """Return the kernel of a formula that takes elements as they are, and returns them or 0."""

    @functools.wraps(formula)
    def kernel(input: Array) -> Result:
        return pointwise(formula, input)

    return kernel


def _bent(value: Array, where: Array, better: Callable[[Array], Array]) -> Array:
    """Return results with better ones where float64 has a line, and cannot tell its halfway points from the curve's."""
    if where.any():
        value[where] = better(where)
    return value


def _beside(value: Array, rest: Array | float) -> Array:
    """Return value + rest rounded to odd."""
    return odd(*two_sum(value, rest))


_LINE = 2.0**-26  # below, float64 may not show that a function is no line
_NEAR = 2.0**-12  # below, float64 may not show that a logistic function is no line
_BELOW_1 = 1 - 2.0**-53  # the float64 before 1, which no curve reaches at a finite number
_LEAST = 2.0**-800  # stands for anything above 0 that float64 cannot hold


def _times_expm1(factor: float, x: Array) -> Array:
    """Return factor * (exp(x) - 1), beside factor * x for small x and beside -factor for large; factor has 48 bits.

    An infinite factor makes infinities, but NaN of 0.
    """
    curve = np.expm1(x)
    curve = np.where(np.isfinite(x), np.maximum(curve, -_BELOW_1), curve)

    def line(at: Array) -> Array:
        product, rest = two_product(x[at], factor)
        return _beside(product, rest + product * x[at] / 2)

    return _bent(factor * curve, (np.abs(x) < _LINE) & math.isfinite(factor), line)


def celu(input: Array, *, alpha: float) -> Wide:
    """Return max(0, x) + min(0, Alpha * (exp(x / Alpha) - 1)); NaN is left open, and an Alpha of 0 or infinity."""
    below = _times_expm1(alpha, input / np.float64(alpha))
    _bent(below, np.abs(input) < _LINE * abs(alpha), lambda at: _beside(input[at], np.square(input[at]) / (2 * alpha)))
    value = np.maximum(input, 0) + np.minimum(below, 0)
    return Wide(value, unspecified=np.isnan(input) | (alpha == 0) | math.isinf(alpha))


def elu(input: Array, *, alpha: float) -> Array:
    """Return x, below 0 Alpha * (exp(x) - 1)."""
    return np.where(input >= 0, input, _times_expm1(alpha, input))


def gelu(input: Array) -> Wide:
    """Return x / 2 * (1 + erf(x / sqrt(2))); left open for -infinity."""
    curve = input / 2 * erfc(input * -np.sqrt(0.5))
    slope = 1 / np.sqrt(2 * np.pi)
    value = _bent(curve, np.abs(input) < _LINE, lambda at: _beside(input[at] / 2, np.square(input[at]) * slope))
    value = _bent(value, (input > 8) & (input < np.inf), lambda at: _beside(input[at], -_LEAST))
    return Wide(value, unspecified=np.isneginf(input))


def hard_sigmoid(input: Array, *, alpha: float, beta: float) -> Wide:
    """Return max(0, min(Alpha * x + Beta, 1)); NaN is left open."""
    return _hard(linear_(input, alpha=alpha, beta=beta))


def _hard(line: Wide) -> Wide:
    value = np.clip(line.value, 0, 1)
    return line._replace(value=value, unspecified=np.isnan(value))


def hard_swish(input: Array, *, alpha: float, beta: float) -> Wide:
    """Return x * max(0, min(Alpha * x + Beta, 1)); left open are infinity times 0, and what HARD_SIGMOID does."""
    slope = np.clip(input * alpha + beta, 0, 1)

    def exact(at: Array) -> tuple[Array, Array]:
        x = input.flat[at]
        inner, lost = two_sum(x * alpha, np.float64(beta))
        product, rest = two_product(x, np.clip(inner, 0, 1))
        return two_sum(product, np.where((inner >= 0) & (inner <= 1), rest + x * lost, 0))

    value = settled(input * slope, exact)
    is_open = np.isinf(input) & ((slope == 0) | (alpha == 0)) | np.isnan(slope) & ~np.isnan(input)
    return Wide(value, unspecified=is_open, magnitude=lambda: _sizes(input, alpha, beta) * np.abs(input), terms=2)


def identity(input: Array) -> Array:
    """Return x."""
    return input


def leaky_relu(input: Array, *, alpha: float) -> Array:
    """Return x, below 0 Alpha * x."""
    return np.where(input >= 0, input, alpha * input)


def linear_(input: Array, *, alpha: float, beta: float) -> Wide:
    """Return Alpha * x + Beta."""
    return Wide(linear(input, alpha, beta), magnitude=lambda: _sizes(input, alpha, beta), terms=2)


def _sizes(x: Array, alpha: float, beta: float) -> Array:
    return np.abs(alpha * x) + abs(beta)


def _softplus(x: Array) -> Array:
    """Return ln(1 + exp(x)); faster than np.logaddexp."""
    value: Array = np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))
    return value


def parametric_softplus(input: Array, *, alpha: float, beta: float) -> Array:
    """Return Alpha * ln(1 + exp(Beta * x))."""
    y = beta * input

    def line(at: Array) -> Array:
        product, rest = two_product(y[at], alpha)
        return _beside(product, rest + alpha * np.maximum(np.exp(-y[at]), _LEAST))

    return _bent(alpha * _softplus(y), (y > 30) & (y < np.inf), line)


def scaled_elu(input: Array, *, alpha: float, gamma: float) -> Array:
    """Return Gamma * x, at 0 and below Gamma * (Alpha * exp(x) - Alpha)."""
    return np.where(input > 0, gamma * input, _times_expm1(gamma * alpha, input))


def scaled_tanh(input: Array, *, alpha: float, beta: float) -> Array:
    """Return Alpha * tanh(Beta * x)."""
    y = beta * input
    curve = np.tanh(y)
    curve = np.where(np.isfinite(y), np.clip(curve, -_BELOW_1, _BELOW_1), curve)

    def line(at: Array) -> Array:
        product, rest = two_product(y[at], alpha)
        return _beside(product, rest - product * np.square(y[at]) / 3)

    return _bent(alpha * curve, (np.abs(y) < 2.0**-20) & math.isfinite(alpha), line)


def sigmoid(input: Array) -> Array:
    """Return 1 / (1 + exp(-x))."""
    curve = 1 / (1 + np.exp(-input))
    return _bent(curve, np.abs(input) < _NEAR, lambda at: _beside(np.tanh(input[at] / 2) / 2, 0.5))


def softplus(input: Array, *, steepness: float) -> Wide:
    """Return ln(1 + exp(Steepness * x)) / Steepness; left open for a Steepness of 0."""
    y = steepness * input
    value = _softplus(y) / np.float64(steepness)

    def line(at: Array) -> Array:
        return _beside(input[at], np.maximum(np.exp(-y[at]), _LEAST) / np.float64(steepness))

    _bent(value, (y > 30) & (y < np.inf), line)
    return Wide(value, unspecified=np.array(steepness == 0))


def softsign(input: Array) -> Wide:
    """Return x / (1 + |x|); left open for infinities."""
    curve = input / (1 + np.abs(input))
    value = _bent(curve, np.abs(input) < _LINE, lambda at: _beside(input[at], -input[at] * np.abs(input[at])))
    return Wide(value, unspecified=np.isinf(input))


def swish(input: Array, *, sigmoid_input_scale: float) -> Wide:
    """Return x * sigmoid(SigmoidInputScale * x); infinity times 0 is left open."""
    y = sigmoid_input_scale * input
    factor = 1 / (1 + np.exp(-y))

    def near(at: Array) -> Array:
        product, rest = two_product(input[at], np.tanh(y[at] / 2) / 2)
        total, lost = two_sum(input[at] / 2, product)
        return odd(total, lost + rest)

    is_open = np.isinf(input) & ((factor == 0) | (sigmoid_input_scale == 0))
    return Wide(_bent(input * factor, np.abs(y) < _NEAR, near), unspecified=is_open)


def tanh(input: Array) -> Array:
    """Return the hyperbolic tangent of x."""
    return _bent(np.tanh(input), np.abs(input) < 2.0**-20, lambda at: _beside(input[at], -(input[at] ** 3) / 3))


def thresholded_relu(input: Array, *, alpha: float) -> Wide:
    """Return x where it is above Alpha, else 0; NaN is left open."""
    return Wide(np.where(input > alpha, input, 0.0), unspecified=np.isnan(input))


def thresholded_relu_(input: Array, *, alpha: float) -> Result:
    """Return x where it is above Alpha, else 0; an x that Alpha becomes in the type of the elements is left open."""

    def formula(block: Array) -> Wide:
        wide = thresholded_relu(widened(block), alpha=alpha)
        return wide._replace(unspecified=joined(wide.unspecified, _is_rounded(block, alpha)))

    return pointwise(formula, input)


def _is_rounded(block: Array, threshold: float) -> Array:
    """Say which elements are what a threshold becomes in their type, if that is not the same number."""
    with np.errstate(over="ignore"):
        near = np.array(threshold).astype(block.dtype)
    is_rounded: Array = (block == near) & (float(near) != threshold)
    return is_rounded


def relu(input: Array) -> Wide:
    """Return max(0, x), of integers too; NaN is left open."""
    return Wide(np.maximum(input, 0), unspecified=np.isnan(input) if input.dtype.kind == "f" else None)


def shrink(input: Array, *, bias: float, threshold: float) -> Wide:
    """Return x - Bias above Threshold, x + Bias below -Threshold, else 0; NaN and both at once are left open."""
    return _shrunk(input, 0.0, bias, threshold)


def _shrunk(high: Array, low: Array | float, bias: float, threshold: float) -> Wide:
    above, below = high > threshold, high < -threshold
    value = _line(high, low, 1.0, np.where(above, -bias, bias))
    return Wide(np.where(above | below, value, 0.0), unspecified=(above & below) | np.isnan(high))


def _line(high: Array, low: Array | float, scale: float, bias: Any) -> Array:
    """Return scale * x + bias rounded to odd, x being an unevaluated sum."""
    product, rest = two_product(high, scale)
    total, lost = two_sum(product, bias)
    total, lost = two_sum(total, lost + (rest + low * scale))
    return np.where(np.isfinite(total), odd(total, lost), high * scale + bias)


FORMULAS: dict[str, Formula] = {
    "ACTIVATION_CELU": celu,
    "ACTIVATION_ELU": elu,
    "ACTIVATION_GELU": gelu,
    "ACTIVATION_HARD_SIGMOID": hard_sigmoid,
    "ACTIVATION_HARD_SWISH": hard_swish,
    "ACTIVATION_IDENTITY": identity,
    "ACTIVATION_LEAKY_RELU": leaky_relu,
    "ACTIVATION_LINEAR": linear_,
    "ACTIVATION_PARAMETRIC_SOFTPLUS": parametric_softplus,
    "ACTIVATION_RELU": relu,
    "ACTIVATION_SCALED_ELU": scaled_elu,
    "ACTIVATION_SCALED_TANH": scaled_tanh,
    "ACTIVATION_SHRINK": shrink,
    "ACTIVATION_SIGMOID": sigmoid,
    "ACTIVATION_SOFTPLUS": softplus,
    "ACTIVATION_SOFTSIGN": softsign,
    "ACTIVATION_SWISH": swish,
    "ACTIVATION_TANH": tanh,
    "ACTIVATION_THRESHOLDED_RELU": thresholded_relu,
}


def _linear_of_sum(high: Array, low: Array, *, alpha: float, beta: float) -> Wide:
    return Wide(_line(high, low, alpha, np.float64(beta)), magnitude=lambda: _sizes(high, alpha, beta), terms=2)


# The activations that may cancel all but the last bits of a sum, which these take as an unevaluated one.
OF_SUMS: dict[str, Callable[..., Wide]] = {
    "ACTIVATION_HARD_SIGMOID": lambda high, low, **line: _hard(_linear_of_sum(high, low, **line)),
    "ACTIVATION_LINEAR": _linear_of_sum,
    "ACTIVATION_SHRINK": _shrunk,
}


def fused(inner: OperatorDesc | None) -> Callable[[Array, Array], Wide]:
    """Return what an activation inside another operator makes of that operator's results, high + low, in float64."""
    if inner is None:
        return lambda high, low: Wide(odd(high, low))
    spec = inner.spec
    attributes = {parameter_name(name): attribute(inner, name) for name, of in spec.fields.items() if not of.is_tensor}

    def applied(high: Array, low: Array) -> Wide:
        if spec.short in OF_SUMS:
            return OF_SUMS[spec.short](high, low, **attributes)
        value = FORMULAS[spec.short](odd(high, low), **attributes)
        return value if isinstance(value, Wide) else Wide(value)

    return applied


def add1(a: Array, b: Array, *, fused_activation: OperatorDesc | None) -> Result:
    """Add, and apply the fused activation to the sums."""
    if fused_activation is None:
        return pointwise(np.add, a, b)
    apply = fused(fused_activation)
    return pointwise(lambda x, y: apply(*two_sum(widened(x), widened(y))), a, b)


def shrink_(input: Array, *, bias: float, threshold: float) -> Result:
    """Shrink floats as the formula has it, and integers.

    Left open are an x that is Threshold rounded to FLOAT16, and of integers what depends on how a float becomes one.
    """

    def of_floats(block: Array) -> Wide:
        wide = shrink(widened(block), bias=bias, threshold=threshold)
        return wide._replace(unspecified=joined(wide.unspecified, _is_rounded(np.abs(block), abs(threshold))))

    if input.dtype.kind == "f":
        return pointwise(of_floats, input)
    limits = np.iinfo(input.dtype)
    is_open = np.array(any(not (part.is_integer() and limits.min <= part <= limits.max) for part in (bias, threshold)))

    def formula(block: Array) -> Wide:
        shrunk = shrink(block.astype(np.float64), bias=bias, threshold=threshold)
        fits = (shrunk.value >= limits.min) & (shrunk.value <= limits.max)
        beyond = np.maximum(np.abs(block.astype(np.float64)), np.abs(shrunk.value)) > WHOLE
        unsigned = (block <= threshold) & (threshold != 0) if block.dtype.kind == "u" else None
        value = np.where(fits, np.trunc(shrunk.value), 0).astype(widened(block).dtype)
        return Wide(value, unspecified=joined(shrunk.unspecified, ~fits, beyond, is_open, unsigned))

    return pointwise(formula, input)


def parameterized_relu(input: Array, slope: Array) -> Result:
    """Return x, below 0 its slope times x; integer products that overflow are left open."""

    def formula(block: Array, slopes: Array) -> Wide:
        x = widened(block)
        value = np.where(x >= 0, x, widened(slopes) * x)
        return Wide(value, unspecified=None if block.dtype.kind == "f" else value != value.astype(block.dtype))

    return pointwise(formula, input, slope)


def relu_grad(input: Array, input_gradient: Array) -> Result:
    """Let the gradients of elements above 0 through; left open where the element is NaN."""

    def formula(x: Array, gradient: Array) -> Wide:
        passed = np.where(x > 0, gradient, gradient.dtype.type(0))
        return Wide(passed, unspecified=np.isnan(x) if x.dtype.kind == "f" else None)

    return pointwise(formula, input, input_gradient)


KERNELS: dict[str, Callable[..., Result]] = {
    **{name: activation(formula) for name, formula in FORMULAS.items()},
    "ACTIVATION_IDENTITY": unrounded(identity),
    "ACTIVATION_PARAMETERIZED_RELU": parameterized_relu,
    "ACTIVATION_RELU": unrounded(relu),
    "ACTIVATION_RELU_GRAD": relu_grad,
    "ACTIVATION_SHRINK": shrink_,
    "ACTIVATION_THRESHOLDED_RELU": thresholded_relu_,
    "ELEMENT_WISE_ADD1": add1,
}
