"""Normalization by mean and variance, by the squares of neighbours, and by a norm."""

from __future__ import annotations

from typing import Any

import numpy as np

from dmlcheck.reference.functions.neighbours import Region, local
from dmlcheck.reference.functions.nested import Nested
from dmlcheck.reference.functions.normalized import affine, fused_within, may_have_root, quotients
from dmlcheck.reference.functions.sums import mean, mean_and_variance, total
from dmlcheck.reference.results import AsMeasured, PartlyUndefined
from dmlcheck.reference.rows import (
    VARIANCE,
    Axes,
    Given,
    Groups,
    Kernel,
    Neighbours,
    elementwise,
    same_parameters,
    shared_by,
)

# ---- mean and variance of groups


def statistics(x: Any, axes: Axes, *, use_mean: bool, use_variance: bool) -> tuple[Any, Any]:
    """Return the mean, or 0 without UseMean, and the mean of squared distances from it, or None without UseVariance."""
    if use_mean and use_variance:
        return mean_and_variance(x, axes)
    return (mean(x, axes), None) if use_mean else (0, mean(np.square(x), axes) if use_variance else None)


def planes(given: Given) -> Axes:
    """Return the dimensions of a group: height and width, with CrossChannel the channels too."""
    return (1, 2, 3) if given["cross_channel"] else (2, 3)


def mean_variance_normalization2(
    input: Any,
    scale: Any,
    bias: Any,
    *,
    axes: Axes,
    use_mean: bool,
    use_variance: bool,
    epsilon: Any,
    fused_activation: Nested,
) -> PartlyUndefined:
    """FusedActivation(Scale * (x - Mean) / sqrt(Variance + Epsilon) + Bias).

    Mean and Variance are taken over the group along Axes. Without UseMean, it is FusedActivation(Scale * x / sqrt(the
    mean of x^2 + Epsilon) + Bias). Without UseVariance there is no division.
    """
    scale, bias = 1 if scale is None else scale, 0 if bias is None else bias
    centre, spread = statistics(input, axes, use_mean=use_mean, use_variance=use_variance)
    is_whole = use_mean and use_variance
    spread = input if is_whole and not axes else spread  # as DirectML has it
    square = None if spread is None else spread + epsilon
    factor = scale if square is None else scale / np.sqrt(square)
    has_no_root = square is not None and square <= 0
    is_measured = has_no_root | np.isinf(factor) | (not axes) | (not use_mean and spread is None)
    result = affine(input, centre, factor, bias)
    if is_whole:
        result = fused_within(result, centre, scale, bias, None, epsilon, fused_activation)
    else:
        result = fused_activation(result)
    is_open = square is not None and may_have_root(square, spread, epsilon)
    return PartlyUndefined(AsMeasured(result, is_measured), is_open)


def mean_variance_normalization1(
    input: Any, scale: Any, bias: Any, *, axes: Axes, normalize_variance: bool, epsilon: Any, fused_activation: Nested
) -> PartlyUndefined:
    """FusedActivation(Scale * (x - Mean) / sqrt(Variance + Epsilon) + Bias).

    Mean and Variance are taken over the group along Axes. Without NormalizeVariance there is no division.
    """
    fields: dict[str, Any] = {"axes": axes, "epsilon": epsilon, "fused_activation": fused_activation}
    return mean_variance_normalization2(input, scale, bias, use_mean=True, use_variance=normalize_variance, **fields)


@same_parameters(mean_variance_normalization1)
def mean_variance_normalization(*tensors: Any, **fields: Any) -> PartlyUndefined:
    """FusedActivation(Scale * (x - Mean) / sqrt(Variance + Epsilon) + Bias).

    Mean and Variance are taken over height and width, with CrossChannel over the channels too. Without
    NormalizeVariance there is no division.
    """
    return mean_variance_normalization1(*tensors, **fields)


# ---- batches


def batch_normalization(
    input: Any, mean: Any, variance: Any, scale: Any, bias: Any, *, epsilon: Any, fused_activation: Nested
) -> AsMeasured:
    """FusedActivation(Scale * (x - Mean) / sqrt(Variance + Epsilon) + Bias)."""
    square = variance + epsilon
    factor = scale / np.sqrt(square)
    return AsMeasured(fused_activation(affine(input, mean, factor, bias)), (square <= 0) | np.isinf(factor))


def batch_normalization_training(
    input: Any, scale: Any, bias: Any, fused_add: Any, *, axes: Axes, epsilon: Any, fused_activation: Nested
) -> dict[str, Any]:
    """FusedActivation(Scale * (x - Mean) / sqrt(Variance + Epsilon) + Bias + FusedAdd), Mean, and Variance.

    Mean and Variance are taken over the dimensions in which ScaleTensor has size 1.
    """
    centre, spread = mean_and_variance(input, axes)
    square = spread + epsilon
    factor = scale / np.sqrt(square)
    result = affine(input, centre, factor, bias, is_multiplied_first=True)
    result = fused_within(result, centre, scale, bias, fused_add, epsilon, fused_activation)
    measured = AsMeasured(result, (square <= 0) | np.isinf(factor) | (not axes))
    is_open = may_have_root(square, spread, epsilon)
    return {"output": PartlyUndefined(measured, is_open), "output_mean": centre, "output_variance": spread}


# ---- neighbours


def local_response_normalization(
    input: Any, *, region: Region, local_size: int, alpha: Any, beta: Any, bias: Any
) -> PartlyUndefined:
    """x / (Bias + Alpha / LocalSize * the sum of x^2 over the region)^Beta.

    The region is LocalSize channels, or without CrossChannel LocalSize rows and columns. It is from
    (LocalSize - 1) // 2 before x to LocalSize // 2 after it, cut off at the ends of the tensor.
    """
    sums = alpha / local_size * region.sums(np.square(input))
    base = bias + sums
    found = np.where(base < 0, np.nan, region.inner(input) / np.power(base, beta))
    return PartlyUndefined(AsMeasured(found, base < 0), may_have_root(base, bias, sums))


# ---- norms


def lp_normalization(input: Any, *, axes: Axes, epsilon: Any, p: int) -> AsMeasured:
    """x / sqrt(Norm^2 + Epsilon), with Norm the sum of |x| over the row along Axis, for P 2 the root of the sum of x^2.

    x / max(Norm, Epsilon) and x / (Norm + Epsilon) are right too.
    """
    sums = total(np.square(input) if p == 2 else np.abs(input), axes)
    norm, squares = (np.sqrt(sums), sums) if p == 2 else (sums, np.square(sums))
    divisor = np.maximum(norm, epsilon)
    found = quotients(input, np.sqrt(squares + epsilon), divisor, norm + epsilon)
    return AsMeasured(found, (divisor <= 0) | (epsilon < 0))


KERNELS: dict[str, Kernel] = {
    "BATCH_NORMALIZATION": elementwise(batch_normalization),
    "BATCH_NORMALIZATION_TRAINING": Kernel(batch_normalization_training, shared_by("scale"), sums=VARIANCE),
    "LOCAL_RESPONSE_NORMALIZATION": Kernel(local_response_normalization, Neighbours(local)),
    "LP_NORMALIZATION": Kernel(lp_normalization, Groups(lambda given: (given["axis"],))),
    "MEAN_VARIANCE_NORMALIZATION": Kernel(mean_variance_normalization, Groups(planes), sums=VARIANCE),
    "MEAN_VARIANCE_NORMALIZATION1": Kernel(mean_variance_normalization1, Groups(), sums=VARIANCE),
    "MEAN_VARIANCE_NORMALIZATION2": Kernel(mean_variance_normalization2, Groups(), sums=VARIANCE),
}
