"""CONVOLUTION, CONVOLUTION_INTEGER and QUANTIZED_LINEAR_CONVOLUTION."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from dmlcheck.reference.arrays.grouped import grouped
from dmlcheck.reference.arrays.places import Places, numbers_of
from dmlcheck.reference.ball.winograd import WINOGRAD
from dmlcheck.reference.functions.magnitudes import of_convolution
from dmlcheck.reference.functions.nested import Nested
from dmlcheck.reference.functions.place_counts import place_count, transposed_size
from dmlcheck.reference.functions.products import dot, dot_of_scaled, plus
from dmlcheck.reference.functions.quantization import difference, requantized
from dmlcheck.reference.functions.windows import Window
from dmlcheck.reference.results import PartlyUndefined, any_of, separated, ways_of
from dmlcheck.reference.rows import PRODUCTS, Correlations, Given, Kernel, Spread

Sizes = tuple[int, ...]


def window_of(given: Given) -> Window:
    """Return the window of the filter."""
    return Window(given["filter"].shape[2:], given["strides"], given["dilations"], given["start_padding"])


def is_backward(given: Given) -> bool:
    """Whether the convolution is transposed."""
    return bool(given.get("direction") == "BACKWARD")


def in_groups(given: Given) -> Any:
    """Return the filter as {groups, output channels, input channels, ...}, flipped if Mode is CONVOLUTION."""
    taps = given["filter"]
    turned = np.flip(taps, tuple(range(2, taps.ndim))) if given.get("mode") == "CONVOLUTION" else taps
    of_groups = grouped(turned, given["group_count"], 0)
    return of_groups.swapaxes(1, 2) if is_backward(given) else of_groups


# ---- floats


def convolution(
    input: Any, filter: Any, bias: Any, *, places: Places, ends: Sequence[float], unmet: Any, fused_activation: Nested
) -> PartlyUndefined:
    """FusedActivation(Bias[k] + the sum over a group's channels c and the window w of Filter[k, c, w] * Input[c, i]).

    FORWARD: i = o * Strides + w * Dilations - StartPadding, and Input is 0 outside InputTensor.

    BACKWARD: i * Strides = o + StartPadding - w * Dilations, over the w for which there is such an i, with Filter[c, k,
    w].

    Mode CONVOLUTION uses w in the opposite order. The elements that OutputPadding adds may be 0 before the bias, before
    FusedActivation or after it.
    """
    sums, is_added = dot(filter, input), beyond(places[2:], ends)
    found = finished(sums, bias, fused_activation)
    if is_added.any():
        found = any_of(found, *zeros_added(sums, is_added, bias, fused_activation))
    return PartlyUndefined(found, unmet)


def finished(sums: Any, bias: Any, fused: Nested) -> Any:
    """fused(sums + bias)."""
    return fused(sums if bias is None else plus(sums, bias))


def zeros_added(sums: Any, is_added: Any, bias: Any, fused: Nested) -> list[Any]:
    """Return the results with 0 in the elements of OutputPadding: before the bias, before `fused`, or after it."""
    biased = sums if bias is None else plus(sums, bias)
    before = finished(np.where(is_added, 0, sums), bias, fused), fused(np.where(is_added, 0, biased))
    found, _ = separated(fused(biased))
    return [*before, *(np.where(is_added, 0, way) for way in ways_of(found))]


def beyond(places: Places, ends: Sequence[float]) -> Any:
    """Return a mask of the places, in row-major order, that are at or beyond an end of a dimension."""
    return reduce(np.logical_or.outer, map(np.greater_equal, map(numbers_of, places), ends)).ravel()


def ends_of_sums(given: Given) -> list[float]:
    """Return the first place that OutputPadding adds, by dimension; infinity where it adds none."""
    count = transposed_size if is_backward(given) else place_count
    ends = [*map(count, given["input"].shape[2:], *window_of(given), given["end_padding"])]
    return list(np.where(given["output_padding"], ends, math.inf))


# ---- integers


def convolution_integer(input: Any, input_zero_point: Any, filter: Any, filter_zero_point: Any) -> Any:
    """The sum over c and w of (Input[c, i] - InputZeroPoint) * (Filter[k, c, w] - FilterZeroPoint[k]).

    i = o * Strides + w * Dilations - StartPadding; outside InputTensor, Input is InputZeroPoint. Sums of up to
    2^35 products are exact in float64.
    """
    return dot(difference(filter, filter_zero_point), difference(input, input_zero_point)).astype(np.int64)


def zero_point(given: Given) -> Any:
    """Return the zero point of the input, which pads it."""
    return 0 if given["input_zero_point"] is None else given["input_zero_point"].flat[0]


def quantized_linear_convolution(
    input: Any,
    input_scale: Any,
    input_zero_point: Any,
    filter: Any,
    filter_scale: Any,
    filter_zero_point: Any,
    bias: Any,
    output_scale: Any,
    output_zero_point: Any,
    *,
    output_type: str,
) -> PartlyUndefined:
    """clamp(rint(q) + OutputZeroPoint, Min, Max), q = (Bias[k] + s) * InputScale * FilterScale[k] / OutputScale.

    s is the result of CONVOLUTION_INTEGER; implementations scale it, or add up scaled numbers. Min and Max are the
    limits of OutputTensor's type.
    """
    left, right = difference(filter, filter_zero_point), difference(input, input_zero_point)
    more, factor = 0 if bias is None else difference(bias, None), input_scale * filter_scale
    return requantized(
        dot(left, right) + more,
        lambda: dot_of_scaled(left, right, filter_scale, input_scale) + more * factor,
        factor,
        output_scale,
        output_zero_point,
        output_type,
    )


CONVOLVED = Correlations(
    window_of,
    in_groups,
    is_backward=is_backward,
    made={"ends": ends_of_sums},
    magnitudes=of_convolution,
)
QUANTIZED = Correlations(window_of, in_groups, zero_point)

KERNELS: dict[str, Kernel] = {
    "CONVOLUTION": Kernel(
        convolution,
        CONVOLVED,
        sums=PRODUCTS,
        has_twins=True,
        algorithms=(WINOGRAD,),
        spread=Spread(factors=("filter",)),
    ),
    "CONVOLUTION_INTEGER": Kernel(convolution_integer, QUANTIZED, overflow="all"),
    "QUANTIZED_LINEAR_CONVOLUTION": Kernel(quantized_linear_convolution, QUANTIZED, sums=PRODUCTS),
}
