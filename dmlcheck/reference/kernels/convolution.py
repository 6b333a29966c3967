"""CONVOLUTION, CONVOLUTION_INTEGER and QUANTIZED_LINEAR_CONVOLUTION."""

from __future__ import annotations

from typing import Any

import numpy as np

from dmlcheck.reference.arrays.grouped import grouped
from dmlcheck.reference.arrays.shapes import Batch, Channel, Floats, Group, Integers, One, Place, Term
from dmlcheck.reference.functions.conversions import difference, requantized, whole
from dmlcheck.reference.functions.edges import SumsAtEdges, sums_at_edges
from dmlcheck.reference.functions.nested import Nested
from dmlcheck.reference.functions.products import dot, dot_of_scaled, of_convolution, plus
from dmlcheck.reference.functions.windows import Window
from dmlcheck.reference.results import AsMeasured
from dmlcheck.reference.rows import PRODUCTS, WINOGRAD, Correlations, Given, Kernel, Spread


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
    input: Floats[Batch, Group, Term, Place],
    filter: Floats[Group, Channel, Term],
    bias: Floats[Group, Channel, One] | None,
    *,
    edges: SumsAtEdges,
    fused_activation: Nested,
) -> Any:
    """FusedActivation(Bias[k] + the sum over a group's channels c and the window w of Filter[k, c, w] * Input[c, i]).

    FORWARD: i = o * Strides + w * Dilations - StartPadding, and Input is 0 outside InputTensor.

    BACKWARD: i * Strides = o + StartPadding - w * Dilations, over the w for which there is such an i, with Filter[c, k,
    w].

    Mode CONVOLUTION uses w in the opposite order. The last elements, as many as OutputPadding says, are
    FusedActivation(0), or such sums as ONNX has there.
    """
    sums = edges.of_all(dot(filter, input))
    return edges.results(fused_activation, plus(sums, bias))


# ---- integers


def convolution_integer(
    input: Integers[Batch, Group, Term, Place],
    input_zero_point: Integers[One] | None,
    filter: Integers[Group, Channel, Term],
    filter_zero_point: Integers[Group, Channel, One] | None,
) -> Any:
    """The sum over c and w of (Input[c, i] - InputZeroPoint) * (Filter[k, c, w] - FilterZeroPoint[k]).

    i = o * Strides + w * Dilations - StartPadding; outside InputTensor, Input is InputZeroPoint. Sums of up to
    2^35 products are exact in float64.
    """
    return whole(dot(difference(filter, filter_zero_point), difference(input, input_zero_point)))


def zero_point(given: Given) -> Any:
    """Return the zero point of the input, which pads it."""
    return 0 if given["input_zero_point"] is None else given["input_zero_point"].flat[0]


def quantized_linear_convolution(
    input: Integers[Batch, Group, Term, Place],
    input_scale: Floats[One],
    input_zero_point: Integers[One] | None,
    filter: Integers[Group, Channel, Term],
    filter_scale: Floats[Group, Channel, One],
    filter_zero_point: Integers[Group, Channel, One] | None,
    bias: Integers[Group, Channel, One] | None,
    output_scale: Floats[One],
    output_zero_point: Integers[One] | None,
    *,
    output_type: str,
) -> AsMeasured:
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


CONVOLVED = Correlations(window_of, in_groups, is_backward=is_backward, edges=sums_at_edges, magnitudes=of_convolution)
QUANTIZED = Correlations(window_of, in_groups, zero_point)

KERNELS: dict[str, Kernel] = {
    "CONVOLUTION": Kernel(
        convolution,
        CONVOLVED,
        sums=PRODUCTS,
        algorithms=(WINOGRAD,),
        spread=Spread(factors=("filter",), multiplied=("input",)),
    ),
    "CONVOLUTION_INTEGER": Kernel(convolution_integer, QUANTIZED, overflow="all"),
    "QUANTIZED_LINEAR_CONVOLUTION": Kernel(quantized_linear_convolution, QUANTIZED, sums=PRODUCTS),
}
