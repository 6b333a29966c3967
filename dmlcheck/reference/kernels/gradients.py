"""Gradients of pooling and of normalization."""

from __future__ import annotations

import math
from operator import add
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference.arrays.data_types import unit_roundoff
from dmlcheck.reference.arrays.grouped import comparable
from dmlcheck.reference.arrays.places import Places, numbers_at, with_ones_after
from dmlcheck.reference.functions.neighbours import Region, local
from dmlcheck.reference.functions.normalized import centred_gradient, may_have_root, moment
from dmlcheck.reference.functions.phases import equal_shares, may_be_place_count
from dmlcheck.reference.functions.several_ways import of_values
from dmlcheck.reference.functions.sums import mean as mean_of
from dmlcheck.reference.functions.sums import total
from dmlcheck.reference.functions.windows import (
    View,
    Window,
    count_at,
    first_place,
    from_padding,
    indices_in_part,
    over,
    reduced,
    seen_count,
    windows,
    windows_by_dimension,
)
from dmlcheck.reference.results import AsMeasured, PartlyUndefined, any_of
from dmlcheck.reference.rows import Axes, Given, InWindows, Kernel, Neighbours, PerWindow, Spread, shared_by

Sizes = tuple[int, ...]


# ---- pooling


def window_of(given: Given) -> Window:
    """Return the window of the forward operator."""
    size = given["window_size"]
    dilations = given.get("dilations", (1,) * len(size))
    return Window(size, given["strides"], dilations, given["start_padding"])


def is_forward(given: Given) -> bool:
    """Whether the input gradient may have the output sizes of the forward operator, be they rounded down or up."""
    gradient, output = given["input_gradient"].shape, given["output_gradient"].sizes
    may_be = map(may_be_place_count, gradient[2:], output[2:], *window_of(given), given["end_padding"])
    return output[:2] == gradient[:2] and all(may_be)


# ---- averages


def average_pooling_grad(
    input_gradient: Any,
    *,
    seen: View,
    strides: Sizes,
    window_size: Sizes,
    start_padding: Sizes,
    end_padding: Sizes,
    include_padding: bool,
    output_gradient: TensorDesc,
    is_open: bool,
) -> Any:
    """The sum of InputGradient[o] / n[o] over all o and w for which o * Strides + w - StartPadding is the element.

    n[o] is the number of elements of window o inside OutputGradientTensor. With IncludePadding it is the number of
    those up to EndPadding, or of all its elements.
    """
    window, sizes = Window(window_size, strides, (1,) * len(strides), start_padding), output_gradient.sizes[2:]
    counted = from_padding(window, tuple(map(add, sizes, end_padding))) if include_padding else (window, sizes)
    shares = over(np.add, input_gradient / np.maximum(count_at(indices_in_part(seen), *counted), 1), seen)
    if is_open or not include_padding:
        return AsMeasured(shares, is_open)
    return any_of(shares, equal_shares(input_gradient, float(math.prod(window_size)), seen))


def from_averages(given: Given) -> InWindows:
    """Return the windows that contain each element; results are open for sizes that pooling cannot have."""
    return InWindows(window_of(given), options={"is_open": not is_forward(given)})


# ---- maxima


class Largest(NamedTuple):
    """The largest element of each window, the first of equal ones: its row-major position from 1; a mask of doubt."""

    number: Any
    in_doubt: Any


def largest(input: Any, *, seen: View) -> Largest:
    """Return the position of the largest element of each window, the first of equal ones; 0 where it has no element.

    NaN counts as minus infinity, as in DirectML. The position is in doubt where a window has both numbers and NaN, and
    where minus infinity is the largest next to padding.
    """
    x, is_nan = comparable(input), np.isnan(input)
    numbers = np.where(is_nan, -np.inf, x)
    top = over(np.maximum, numbers, seen)
    hits = windows(numbers, seen) == with_ones_after(top, len(seen.sizes))
    count, nans = seen_count(seen.places, seen.window, seen.sizes), over(np.add, is_nan.astype(int), seen)
    is_lost = np.isneginf(over(np.maximum, x, seen)) & (count < math.prod(seen.window.size))
    number = np.where(count, first_place(hits, seen, seen.sizes) + 1, 0)
    return Largest(number.astype(np.uint32), (nans > 0) & (nans < count) | is_lost)


def max_pooling_grad(
    input: Largest, input_gradient: Any, *, seen: View, places: Places, output_gradient: TensorDesc, is_open: bool
) -> AsMeasured:
    """The sum of InputGradient[o] over all o whose window has its maximum at the element.

    The window of o is Input[o * Strides + w * Dilations - StartPadding]. Among equal elements the first wins; so does
    the first of a window of only NaN.
    """
    rank = len(seen.places)
    here = with_ones_after(numbers_at(places[2:], output_gradient.sizes[2:]), rank) + 1
    hits, given = windows(input.number, seen) == here, windows(input_gradient, seen)
    count = reduced(np.add, hits.astype(int), rank)
    several = reduced(np.add, np.where(hits, given, 0), rank)
    only = reduced(np.maximum, np.where(hits, given, -np.inf), rank)
    found = np.where(count == 0, 0.0, np.where(count == 1, only, several))
    return AsMeasured(found, is_open | over(np.logical_or, input.in_doubt, seen))


def from_maxima(given: Given) -> InWindows:
    """Return the windows that contain each element, with their largest elements; results are open if one has none."""
    window, counts, sizes = window_of(given), given["input_gradient"].shape[2:], given["input"].shape[2:]
    seen = map(seen_count, [(slice(0, count),) for count in counts], windows_by_dimension(window), zip(sizes))
    is_open = not (is_forward(given) and all(map(np.all, seen)))
    return InWindows(window, {"input": PerWindow(largest, window, -np.inf)}, {"is_open": is_open})


# ---- batches


def batch_normalization_grad(
    input: Any, input_gradient: Any, mean: Any, variance: Any, scale: Any, *, axes: Axes, epsilon: Any
) -> dict[str, Any]:
    """OutputGradient = dy * Scale / sqrt(Variance + Epsilon), with dy the elements of InputGradient.

    OutputScaleGradient is the sum of dy * (x - Mean) / sqrt(Variance + Epsilon), OutputBiasGradient the sum of dy. Both
    are over the dimensions in which MeanTensor has size 1.
    """
    square = variance if epsilon is None else variance + epsilon
    root, sums = np.sqrt(square), total(input_gradient, axes)
    slope = moment(input, input_gradient, mean, sums, axes) / root
    gradient, slope = (AsMeasured(each, square <= 0) for each in (input_gradient * (scale / root), slope))
    return by_output(PartlyUndefined(gradient, epsilon is None), PartlyUndefined(slope, epsilon is None), sums)


def batch_normalization_training_grad(
    input: Any, input_gradient: Any, mean: Any, variance: Any, scale: Any, *, axes: Axes, epsilon: Any, input_type: str
) -> dict[str, Any]:
    """OutputGradient = Scale / sqrt(V) * (dy - mean(dy) - c * mean(dy * c) / V).

    V = Variance + Epsilon and c = x - mean(x); dy are the elements of InputGradient. OutputScaleGradient is the sum of
    dy * (x - Mean) / sqrt(V), OutputBiasGradient the sum of dy. Means and sums are over the dimensions in which
    MeanTensor has size 1.
    """
    x, dy, square = input, input_gradient, variance + epsilon
    root, sums = np.sqrt(square), total(dy, axes)
    factor, count = scale / root, x.size // sums.size
    point, middle = mean_of(x, axes), sums / count
    about_point, about_mean = (moment(x, dy, each, sums, axes) for each in (point, mean))
    slope, slope_of_mean = (each / count / square for each in (about_point, about_mean))
    is_measured = (square <= 0) | np.isinf(factor)
    is_other = np.abs(mean - point) > 2 * unit_roundoff(input_type) * count * mean_of(np.abs(x), axes)
    is_lost = (np.isnan(mean) != np.isnan(point)) | (np.isinf(point) & ~np.isinf(mean))
    by_mean = is_other | is_lost | (not axes)
    result = centred_gradient(x, dy - middle, factor, (point, slope), (mean, slope_of_mean), by_mean)
    return by_output(AsMeasured(result, is_measured | by_mean), AsMeasured(about_mean / root, is_measured), sums)


def by_output(gradient: Any, scale: Any, bias: Any) -> dict[str, Any]:
    """Return the results of the three gradients by the names of their outputs."""
    return {"output_gradient": gradient, "output_scale_gradient": scale, "output_bias_gradient": bias}


# ---- neighbours


def local_response_normalization_grad(
    input: Any,
    input_gradient: Any,
    *,
    region: Region,
    inside: Any,
    local_size: int,
    alpha: Any,
    beta: Any,
    bias: Any,
) -> PartlyUndefined:
    """dy * B^-Beta - 2 * Alpha * Beta / LocalSize * x * the sum of dy' * x' * B'^(-Beta - 1).

    dy are the elements of InputGradient. B is Bias + Alpha / LocalSize * the sum of x^2 over the region of
    LOCAL_RESPONSE_NORMALIZATION. The second sum is over the same region.
    """
    share = alpha / local_size
    x, dy = region.inner(input), region.inner(input_gradient)
    squares = share * region.sums(np.power(np.abs(input), 2))  # with the error of a power, as DirectML has
    base = np.where(inside, bias + squares, 1)
    sums = region.sums(dy * x * np.power(base, -beta - 1))
    result = region.inner(dy) * np.power(region.inner(base), -beta) - 2 * share * beta * region.inner(x) * sums
    found = AsMeasured(result, region.any(of_values(np.less_equal, base, 0)))
    return PartlyUndefined(found, region.any(may_have_root(base, bias, squares)))


KERNELS: dict[str, Kernel] = {
    "AVERAGE_POOLING_GRAD": Kernel(average_pooling_grad, from_averages, spread=Spread()),
    "BATCH_NORMALIZATION_GRAD": Kernel(batch_normalization_grad, shared_by("mean")),
    "BATCH_NORMALIZATION_TRAINING_GRAD": Kernel(batch_normalization_training_grad, shared_by("mean")),
    "LOCAL_RESPONSE_NORMALIZATION_GRAD": Kernel(local_response_normalization_grad, Neighbours(local, is_twice=True)),
    "MAX_POOLING_GRAD": Kernel(max_pooling_grad, from_maxima),
}
