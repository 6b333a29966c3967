"""Normalization by mean and variance, computed or given, by neighbours, and by a norm.

An implementation may also compute the variance as the mean of squares less the squared mean, and multiply x by a factor
before it subtracts the mean. Both cancel where the mean is large. The bounds have both, but the likely errors only the
latter: the former loses digits that other ways keep.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.reference.ball.numbers import Ball, radius, raw, unmoved
from dmlcheck.reference.nested import Nested
from dmlcheck.reference.pieces import Alternatives, Open, alternatives, any_of
from dmlcheck.reference.rows import Axes, Given, Groups, Kernel, elementwise, shared_by
from dmlcheck.reference.sums import mean, shifted, total, variance
from dmlcheck.reference.tiling.blocks import blockwise, hull
from dmlcheck.reference.tiling.groups import groups
from dmlcheck.reference.tiling.piece import Piece
from dmlcheck.reference.tiling.windows import views
from dmlcheck.reference.windows import View, around, over, sees_all, terms_of
from dmlcheck.reference.work import Work, terms


def affine(x: Any, centre: Any, factor: Any, bias: Any) -> Any:
    """Factor * (x - Centre) + Bias."""
    return hull(
        lambda: factor * (x - centre) + bias,
        lambda: blockwise(_multiplied_first, x, centre, factor, bias),
    )


def _multiplied_first(x: Any, centre: Any, factor: Any, bias: Any) -> Any:
    """Factor * x + (Bias - Centre * Factor) with its bound: an error of the factor is the same in both products."""
    once = unmoved(factor) if isinstance(factor, Ball) and factor.error is not None else factor
    found = x * once + (bias - centre * once)
    more = radius(factor) * (np.abs(raw(x) - raw(centre)) + radius(centre))
    return Ball(found.value, found.radius + np.where(np.isnan(more), np.inf, more), found.arithmetic, found.terms)


def capped(result: Any, scale: Any, bias: Any, added: Any, *, count: int, fused: Nested) -> Any:
    """Return fused(normalized results + added), of a bound that is no wider than all that the former can be.

    Of n elements none is further than sqrt(n - 1) standard deviations from the mean.
    """

    def finished(x: Any, added: Any) -> Any:
        return fused(x if added is None else x + added)

    def of_block(x: Any, scale: Any, bias: Any, added: Any) -> Any:
        if not isinstance(x, Ball):
            return finished(x, added)
        most = np.sqrt(count) * (np.abs(raw(scale)) + radius(scale)) + np.abs(raw(bias)) + radius(bias)
        widest = np.abs(raw(x)) + most
        unlimited = x.radius > widest
        if not unlimited.any():
            return finished(x, added)
        limited = Ball(x.value, np.fmin(x.radius, widest), x.arithmetic, x.terms)
        return _marked(finished(limited, added), unlimited)

    return blockwise(of_block, result, scale, bias, added)


def _marked(result: Any, unlimited: Any) -> Any:
    """Return results with marks of those whose bound has all that they can be."""
    if isinstance(result, Open):
        return result._replace(value=_marked(result.value, unlimited))
    if isinstance(result, Alternatives):
        return Alternatives(tuple(_marked(way, unlimited) for way in result.ways))
    if isinstance(result, Ball):
        result.unlimited = unlimited
    return result


# ---- mean and variance of groups


def of_group(
    x: Any, scale: Any, bias: Any, *, axes: Axes, use_mean: bool, use_variance: bool, epsilon: Any, fused: Nested
) -> Open:
    """fused(Scale * (x - Mean) / sqrt(Variance + Epsilon) + Bias); without UseMean that of the root mean square."""
    scale, bias = 1 if scale is None else scale, 0 if bias is None else bias
    centre: Any = mean(x, axes) if use_mean else 0
    factor, is_open = scale, not use_mean
    if use_variance:
        spread = variance(x, centre, axes) if use_mean else mean(np.square(x), axes)
        centre = shifted(centre, spread, x.size // spread.size) if use_mean else centre
        square = spread + epsilon
        factor, is_open = scale / np.sqrt(square), square <= 0
    is_open = is_open | np.isinf(factor) | (not axes)
    result = affine(x, centre, factor, bias)
    if use_mean and use_variance and raw(epsilon) >= 0:
        return Open(capped(result, scale, bias, None, count=x.size // centre.size, fused=fused), is_open)
    return Open(fused(result), is_open)


def planes(given: Given) -> Axes:
    """Return the dimensions of a group: height and width, with CrossChannel the channels too."""
    return (1, 2, 3) if given["cross_channel"] else (2, 3)


def mean_variance_normalization(
    input: Any, scale: Any, bias: Any, *, axes: Axes, normalize_variance: bool, epsilon: Any, fused_activation: Nested
) -> Open:
    """FusedActivation(Scale * (x - Mean) / sqrt(Variance + Epsilon) + Bias).

    Mean and Variance are taken over height and width, with CrossChannel over the channels too. Without
    NormalizeVariance there is no division.
    """
    use: dict[str, Any] = {"use_mean": True, "use_variance": normalize_variance}
    return of_group(input, scale, bias, axes=axes, **use, epsilon=epsilon, fused=fused_activation)


def mean_variance_normalization1(
    input: Any, scale: Any, bias: Any, *, axes: Axes, normalize_variance: bool, epsilon: Any, fused_activation: Nested
) -> Open:
    """FusedActivation(Scale * (x - Mean) / sqrt(Variance + Epsilon) + Bias).

    Mean and Variance are taken over the group along Axes. Without NormalizeVariance there is no division.
    """
    use: dict[str, Any] = {"use_mean": True, "use_variance": normalize_variance}
    return of_group(input, scale, bias, axes=axes, **use, epsilon=epsilon, fused=fused_activation)


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
) -> Open:
    """FusedActivation(Scale * (x - Mean) / sqrt(Variance + Epsilon) + Bias).

    Mean and Variance are taken over the group along Axes. Without UseMean, it is FusedActivation(Scale * x / sqrt(the
    mean of x^2 + Epsilon) + Bias). Without UseVariance there is no division.
    """
    use: dict[str, Any] = {"use_mean": use_mean, "use_variance": use_variance}
    return of_group(input, scale, bias, axes=axes, **use, epsilon=epsilon, fused=fused_activation)


# ---- batches


def batch_normalization(
    input: Any, mean: Any, variance: Any, scale: Any, bias: Any, *, epsilon: Any, fused_activation: Nested
) -> Open:
    """FusedActivation(Scale * (x - Mean) / sqrt(Variance + Epsilon) + Bias)."""
    square = variance + epsilon
    factor = scale / np.sqrt(square)
    return Open(fused_activation(affine(input, mean, factor, bias)), (square <= 0) | np.isinf(factor))


def batch_normalization_training(
    input: Any, scale: Any, bias: Any, fused_add: Any, *, axes: Axes, epsilon: Any, fused_activation: Nested
) -> dict[str, Any]:
    """FusedActivation(Scale * (x - Mean) / sqrt(Variance + Epsilon) + Bias + FusedAdd), Mean, and Variance.

    Mean and Variance are taken over the dimensions in which ScaleTensor has size 1.
    """
    centre = mean(input, axes)
    spread = variance(input, centre, axes)
    centre = shifted(centre, spread, input.size // spread.size)
    square = spread + epsilon
    factor = scale / np.sqrt(square)
    result = affine(input, centre, factor, bias)
    if raw(epsilon) >= 0:
        count = input.size // centre.size
        result = capped(result, scale, bias, fused_add, count=count, fused=fused_activation)
    else:
        result = fused_activation(result if fused_add is None else result + fused_add)
    is_open = (square <= 0) | np.isinf(factor) | (not axes)
    return {"output": Open(result, is_open), "output_mean": centre, "output_variance": spread}


# ---- neighbours


def of_neighbours(x: Any, *near: Any, seen: Sequence[View], **options: Any) -> Any:
    """x / (Bias + Alpha * the sum of the squares in the window around x)^Beta, or in another window that may be it."""
    sums = (over(np.add, np.square(each), view) for each, view in zip(near, seen, strict=True))
    return any_of(*(by_squares(x, each, **options) for each in sums))


def of_all(x: Any, *, axes: Axes, **options: Any) -> Open:
    """x / (Bias + Alpha * the sum of the squares of all that is beside x)^Beta."""
    return by_squares(x, total(np.square(x), axes), **options)


def by_squares(x: Any, squares: Any, *, alpha: Any, beta: Any, bias: Any) -> Open:
    """x / (Bias + Alpha * some sums of squares)^Beta; a base of 0 or less is left open."""
    base = bias + alpha * squares
    return Open(x / np.power(base, beta), base <= 0)


def local_response_normalization(
    input: Any, *, cross_channel: bool, local_size: int, alpha: Any, beta: Any, bias: Any
) -> Iterator[Piece]:
    """x / (Bias + Alpha / LocalSize * the sum of x^2 over the region)^Beta.

    The region is LocalSize channels, or without CrossChannel LocalSize rows and columns: from (LocalSize - 1) // 2
    before x to LocalSize // 2 after it, as far as these are in the tensor; without CrossChannel, where LocalSize is
    even, also from LocalSize // 2 before x.
    """
    axes = (1,) if cross_channel else (2, 3)
    before, after = (local_size - 1) // 2, local_size // 2
    options = {"alpha": alpha / local_size, "beta": beta, "bias": bias}
    if sees_all(input, axes, before):
        yield from groups(partial(of_all, axes=axes, **options), axes, input)
        return
    reaches = [(before, after)] if cross_channel or before == after else [(before, after), (after, before)]
    windows = (around(input.shape, axes, *reach) for reach in reaches)
    for each in zip(*(views(input, window, input.shape, is_reduced=True) for window in windows), strict=True):
        (index, *_), seen = each[0], [view for _, view, _ in each]
        yield Piece(index, partial(of_neighbours, seen=seen, **options), (input[index], *(near for *_, near in each)))


def work_of_neighbours(given: Mapping[str, Any]) -> Work:
    """Return the work of the sums of squares."""
    axes, size, x = (1,) if given["cross_channel"] else (2, 3), given["local_size"], given["input"]
    before, after = (size - 1) // 2, size // 2
    if sees_all(x, axes, before):
        return terms(x.size)
    return terms(terms_of(x.shape, around(x.shape, axes, before, after), x.shape, is_reduced=True))


# ---- norms


def lp_normalization(input: Any, *, axes: Axes, epsilon: Any, p: int) -> Open:
    """x / max(Norm, Epsilon), with Norm the sum of |x| over the row along Axis, for P 2 the root of the sum of x^2.

    x / (Norm + Epsilon) and, for P 2, x / sqrt(the sum of x^2 + Epsilon) are right too.
    """
    sums = total(np.square(input) if p == 2 else np.abs(input), axes)
    norm = np.sqrt(sums) if p == 2 else sums
    divisor, more = np.maximum(norm, epsilon), [np.sqrt(sums + epsilon)] if p == 2 else []
    ways = partial(alternatives, divisor, norm + epsilon, *more)
    return Open(blockwise(lambda part: ways(of=lambda by: part / by), input), (divisor <= 0) | (epsilon < 0))


KERNELS: dict[str, Kernel] = {
    "BATCH_NORMALIZATION": elementwise(batch_normalization),
    "BATCH_NORMALIZATION_TRAINING": Kernel(batch_normalization_training, shared_by("scale")),
    "LOCAL_RESPONSE_NORMALIZATION": Kernel(local_response_normalization, work=work_of_neighbours),
    "LP_NORMALIZATION": Kernel(lp_normalization, Groups(lambda given: (given["axis"],))),
    "MEAN_VARIANCE_NORMALIZATION": Kernel(mean_variance_normalization, Groups(planes)),
    "MEAN_VARIANCE_NORMALIZATION1": Kernel(mean_variance_normalization1, Groups()),
    "MEAN_VARIANCE_NORMALIZATION2": Kernel(mean_variance_normalization2, Groups()),
}
