"""CONVOLUTION, CONVOLUTION_INTEGER and QUANTIZED_LINEAR_CONVOLUTION."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import sub
from typing import Any

import numpy as np

from dmlcheck.reference.arrays.grouped import grouped
from dmlcheck.reference.arrays.places import Places, numbers_of
from dmlcheck.reference.functions.magnitudes import of_convolution
from dmlcheck.reference.functions.nested import Nested
from dmlcheck.reference.functions.products import dot, dot_of_scaled, plus
from dmlcheck.reference.functions.quantization import difference, requantized
from dmlcheck.reference.functions.windows import Window
from dmlcheck.reference.results import AsMeasured, PartlyUndefined, any_of
from dmlcheck.reference.rows import PRODUCTS, WINOGRAD, Correlations, Given, Kernel, Spread

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
    input: Any,
    filter: Any,
    bias: Any,
    *,
    places: Places,
    ends: Sequence[int],
    unmet: Any,
    direction: str,
    fused_activation: Nested,
) -> PartlyUndefined | AsMeasured:
    """FusedActivation(Bias[k] + the sum over a group's channels c and the window w of Filter[k, c, w] * Input[c, i]).

    FORWARD: i = o * Strides + w * Dilations - StartPadding, and Input is 0 outside InputTensor.

    BACKWARD: i * Strides = o + StartPadding - w * Dilations, over the w for which there is such an i, with Filter[c, k,
    w].

    Mode CONVOLUTION uses w in the opposite order. The last elements, as many as OutputPadding says, are
    FusedActivation(0), or such sums as ONNX has there.
    """
    sums, is_added = dot(filter, input), beyond(places[2:], ends)
    if direction == "FORWARD":  # DirectML multiplies all weights, by 0 in the padding
        sums = np.where(unmet, np.nan, sums)
    biased = sums if bias is None else plus(sums, bias)
    found = fused_activation(biased)
    if is_added.any():
        found = any_of(fused_activation(np.where(is_added, 0, biased)), found)
    return AsMeasured(found, unmet) if direction == "FORWARD" else PartlyUndefined(found, unmet)


def beyond(places: Places, ends: Sequence[int]) -> Any:
    """Return a mask of the places, in row-major order, that are at or beyond an end of a dimension."""
    return reduce(np.logical_or.outer, map(np.greater_equal, map(numbers_of, places), ends)).ravel()


def ends_of_sums(given: Given) -> list[int]:
    """Return the first of the last places that are OutputPadding, by dimension."""
    return [*map(sub, given["output"].sizes[2:], given["output_padding"])]


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
