"""CONVOLUTION, and those of quantized numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference.ball.numbers import plus_start
from dmlcheck.reference.correlations import Box, Pass, backward, beyond, correlations, forward, unmet
from dmlcheck.reference.nested import NONE, Nested
from dmlcheck.reference.pieces import Open, opened
from dmlcheck.reference.products import absolute
from dmlcheck.reference.quantization import difference, requantized
from dmlcheck.reference.rows import Kernel
from dmlcheck.reference.tiling.piece import Piece, sizes_of
from dmlcheck.reference.tiling.piece import Sizes as Sums
from dmlcheck.reference.windows import Window, placed
from dmlcheck.reference.work import Work, multiplications

Sizes = tuple[int, ...]


def convolution(
    input: Any,
    filter: Any,
    bias: Any,
    *,
    mode: str,
    direction: str,
    strides: Sizes,
    dilations: Sizes,
    start_padding: Sizes,
    end_padding: Sizes,
    output_padding: Sizes,
    group_count: int,
    fused_activation: Nested,
    output: TensorDesc,
) -> Iterator[Piece]:
    """FusedActivation(Bias[k] + the sum over a group's channels c and the window w of Filter[k, c, w] * Input[c, i]).

    FORWARD: i = o * Strides + w * Dilations - StartPadding, and Input is 0 outside InputTensor.

    BACKWARD: i * Strides = o + StartPadding - w * Dilations, over the w for which there is such an i, with Filter[c, k,
    w].

    Mode CONVOLUTION uses w in the opposite order.
    """
    flipped = np.flip(filter, tuple(range(2, filter.ndim))) if mode == "CONVOLUTION" else filter
    taps = grouped(flipped, group_count, 0)
    passes, reach = forward, placed
    if direction == "BACKWARD":
        taps, passes, reach = taps.swapaxes(1, 2), backward, spread
    window = Window(filter.shape[2:], strides, dilations, start_padding)
    ends = map(reach, input.shape[2:], *window, end_padding)
    added = [end if more else None for end, more in zip(ends, output_padding, strict=True)]
    return correlations(
        partial(biased, fused=fused_activation),
        grouped(input, group_count, 1),
        passes(taps, window, output.sizes[2:]),
        of_channels(bias, group_count),
        mark=partial(left_open, taps=taps, sizes=input.shape[2:], added=added),
        sizes=sizes_of_products if fused_activation is NONE else None,
    )


def grouped(x: Any, count: int, axis: int) -> Any:
    """Return a tensor with an axis of channels split into groups, and channels of a group."""
    return x.reshape(*x.shape[:axis], count, x.shape[axis] // count, *x.shape[axis + 1 :])


def of_channels(x: Any, count: int) -> Any:
    """Return one element, or one for each output channel, as {groups, channels of a group, 1}; None stays None."""
    return x if x is None else x.reshape(1 if x.size == 1 else count, -1, 1)


def spread(size: int, taps: int, stride: int, dilation: int, padding: int, end: int) -> int:
    """Return how many outputs elements at every stride-th place spread over."""
    return (size - 1) * stride + (taps - 1) * dilation + 1 - padding - end


def left_open(one: Pass, box: Box, *, taps: Any, sizes: Sizes, added: list[int | None]) -> Any:
    """Return which results of a piece are left open, and which OutputPadding adds; None where there are neither."""
    marks = unmet(one, box, taps, sizes), beyond(one, box, added)
    return marks if any(map(np.any, marks)) else None


def biased(rows: Any, columns: Any, bias: Any, marks: Any, *, fused: Nested) -> Any:
    """Return the sums with the bias and after the activation; what is added is open where it is not 0 anyway."""
    sums = rows @ columns
    found = fused(sums if bias is None else plus_start(sums, bias))
    if marks is None:
        return found
    is_open, is_added = marks
    return Open(found, is_open | is_added & ((sums != 0) | (opened(found)[0] != 0)))


def sizes_of_products(rows: Any, columns: Any, bias: Any, _: Any) -> Sums:
    """Return the sums of the sizes of what is added up for each output."""
    return sizes_of(absolute(rows, columns), rows.shape[-1], bias)


def convolution_integer(
    input: Any,
    input_zero_point: Any,
    filter: Any,
    filter_zero_point: Any,
    *,
    strides: Sizes,
    dilations: Sizes,
    start_padding: Sizes,
    group_count: int,
    output: TensorDesc,
) -> Iterator[Piece]:
    """The sum over c and w of (Input[c, i] - InputZeroPoint) * (Filter[k, c, w] - FilterZeroPoint[k]).

    i = o * Strides + w * Dilations - StartPadding; outside InputTensor, Input is InputZeroPoint.
    """
    window = Window(filter.shape[2:], strides, dilations, start_padding)
    zeros = (of_channels(x, group_count) for x in (input_zero_point, filter_zero_point))
    passes = forward(grouped(filter, group_count, 0), window, output.sizes[2:])
    return correlations(of_integers, grouped(input, group_count, 1), passes, *zeros, fill=only(input_zero_point))


def only(x: Any) -> Any:
    """Return the one element of a tensor, 0 without a tensor."""
    return 0 if x is None else x.flat[0]


def of_integers(rows: Any, columns: Any, input_zero: Any, filter_zero: Any, _: Any) -> Any:
    """Return the sums of products of 8-bit integers: float64 has every sum of up to 2^35 of them."""
    return (difference(rows, filter_zero) @ difference(columns, input_zero)).astype(np.int64)


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
    strides: Sizes,
    dilations: Sizes,
    start_padding: Sizes,
    group_count: int,
    output: TensorDesc,
    output_type: str,
) -> Iterator[Piece]:
    """clamp(rint(q) + OutputZeroPoint, Min, Max), q = (Bias[k] + s) * InputScale * FilterScale[k] / OutputScale.

    s is the result of CONVOLUTION_INTEGER. Min and Max are the limits of OutputTensor's type.
    """
    window = Window(filter.shape[2:], strides, dilations, start_padding)
    more = (input_scale, input_zero_point, filter_scale, filter_zero_point, bias, output_scale, output_zero_point)
    passes = forward(grouped(filter, group_count, 0), window, output.sizes[2:])
    return correlations(
        partial(to_quantized, output_type=output_type),
        grouped(input, group_count, 1),
        passes,
        *(of_channels(x, group_count) for x in more),
        fill=only(input_zero_point),
    )


def to_quantized(
    rows: Any,
    columns: Any,
    input_scale: Any,
    input_zero: Any,
    filter_scale: Any,
    filter_zero: Any,
    bias: Any,
    scale: Any,
    zero: Any,
    _: Any,
    *,
    output_type: str,
) -> Open:
    """Return the quantized sums; implementations scale sums of integers, or add up scaled numbers."""
    left, right = difference(rows, filter_zero), difference(columns, input_zero)
    more, factor = 0 if bias is None else difference(bias, None), input_scale * filter_scale
    return requantized(
        left @ right + more,
        lambda: (left * filter_scale) @ (right * input_scale) + more * factor,
        factor,
        scale,
        zero,
        output_type,
    )


def work_of_products(given: Mapping[str, Any]) -> Work:
    """Return the work of the products; of a transposed convolution each pass besides takes what many products take."""
    weights, output = given["filter"], given["output"]
    of_each = weights.size // weights.shape[0]
    if given.get("direction", "FORWARD") == "FORWARD":
        return multiplications(math.prod(output.sizes) * of_each)
    passes = math.prod(map(min, given["strides"], output.sizes[2:]))
    return multiplications(given["input"].size * of_each + passes * _PASS)


_PASS = 1 << 22  # multiplications that take as long as what comes with a pass

KERNELS: dict[str, Kernel] = {
    "CONVOLUTION": Kernel(convolution, work=work_of_products),
    "CONVOLUTION_INTEGER": Kernel(convolution_integer, overflow="all", work=work_of_products),
    "QUANTIZED_LINEAR_CONVOLUTION": Kernel(quantized_linear_convolution, work=work_of_products),
}
