"""Quantization: element by element, in blocks, by the range of a tensor, and of sums."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.reference.ball.numbers import raw
from dmlcheck.reference.pieces import Open, alternatives, as_float, infinite, limits, nearest, wrapped
from dmlcheck.reference.quantization import difference, quantized
from dmlcheck.reference.rows import EVERYTHING, Axes, Kernel, elementwise
from dmlcheck.reference.tiling.blocks import BLOCK, Index, blockwise, tiles
from dmlcheck.reference.tiling.piece import Piece


def quantize_linear(input: Any, scale: Any, zero_point: Any, *, output_type: str) -> Open:
    """clamp(rint(x / Scale) + ZeroPoint, Min, Max), Min and Max being the limits of OutputTensor's type."""
    return quantized(as_float(input, scale) / scale, zero_point, output_type)


def dequantize_linear(input: Any, scale: Any, zero_point: Any, *, input_type: str, output_type: str) -> Any:
    """(x - ZeroPoint) * Scale, where the difference may wrap in 32 bits, or become infinite in FLOAT16."""
    whole = difference(input, zero_point)
    ways = (whole, wrapped(input_type, whole))
    beyond = (infinite(output_type, x) for x in ways)
    return alternatives(*ways, *beyond, of=lambda x: as_float(x, scale) * scale)


# ---- blocks


def quantize(input: Any, quantizations: Sequence[Any], *, output_type: str) -> Iterator[Piece]:
    """clamp(rint(x / Scale) + ZeroPoint, Min, Max), with the Scale and ZeroPoint of the block that x is in.

    Along each dimension, block size = InputTensor size / scale size. Min and Max are the limits of OutputTensor's type.
    """
    return of_blocks(partial(quantized_block, output_type=output_type), input, *quantizations)


def quantized_block(x: Any, scale: Any, zero_point: Any, *, output_type: str) -> Open:
    """clamp(rint(x / Scale) + ZeroPoint, Min, Max); left open for a Scale of 0."""
    return Open(quantize_linear(x, scale, zero_point, output_type=output_type), scale == 0)


def dequantize(input: Any, quantizations: Sequence[Any], *, input_type: str, output_type: str) -> Iterator[Piece]:
    """(x - ZeroPoint) * Scale, with the Scale and ZeroPoint of the block that x is in.

    Along each dimension, block size = InputTensor size / scale size.
    """
    return of_blocks(partial(dequantize_linear, input_type=input_type, output_type=output_type), input, *quantizations)


def of_blocks(formula: Callable[..., Any], input: Any, scale: Any, zero_point: Any = None) -> Iterator[Piece]:
    """Yield the pieces of an element-wise formula, where scale and zero point repeat to the sizes of the input."""
    given = [x for x in (scale, zero_point) if x is not None]
    is_open = any(any(np.mod(input.shape, x.shape)) for x in given)
    for index in tiles(input.shape, BLOCK):
        parts = (None if x is None else part_of_blocks(x, index, input.shape) for x in (scale, zero_point))
        yield Piece(index, lambda *operands: Open(formula(*operands), is_open), (input[index], *parts))


def part_of_blocks(x: Any, index: Index, sizes: tuple[int, ...]) -> Any:
    """Return the part of a tensor at an index once its elements repeat to fill `sizes`."""
    whole = (*index, *[slice(None)] * (len(sizes) - len(index)))
    for axis, at in reversed(list(enumerate(whole))):
        own, size = x.shape[axis], sizes[axis]
        places = np.arange(*at.indices(size)) if isinstance(at, slice) else at
        x = x[(*[slice(None)] * axis, at if own == size else places * own // size)]
    return x


# ---- ranges


def dynamic_quantize_linear(input: Any, *, axes: Axes, output_type: str) -> dict[str, Any]:
    """clamp(rint(x / Scale) + ZeroPoint, Min, Max).

    Scale = (high - low) / (Max - Min) and ZeroPoint = rint(Min - low / Scale); low and high are the least and the
    largest element, or 0 if that is less or larger. Min and Max are the limits of OutputTensor's type.
    """
    x, (least, most) = blockwise(lambda part: as_float(part, part), input), limits(output_type)
    low = np.minimum(np.minimum.reduce(x, axis=axes), 0)
    high = np.maximum(np.maximum.reduce(x, axis=axes), 0)
    scale = (high - low) / (most - least)
    zero_point = nearest(np.clip(least - low / scale, least, most))
    found = {"output": quantized(x / scale, zero_point, output_type), "output_scale": scale}
    is_open = (raw(scale) == 0) | ~np.isfinite(raw(scale))
    return {name: Open(value, is_open) for name, value in (found | {"output_zero_point": zero_point}).items()}


# ---- sums


def quantized_linear_add(
    a: Any,
    a_scale: Any,
    a_zero_point: Any,
    b: Any,
    b_scale: Any,
    b_zero_point: Any,
    output_scale: Any,
    output_zero_point: Any,
    *,
    output_type: str,
) -> Open:
    """(A - AZeroPoint) * AScale + (B - BZeroPoint) * BScale, quantized by OutputScale and OutputZeroPoint."""
    sums = difference(a, a_zero_point) * a_scale + difference(b, b_zero_point) * b_scale
    return Open(quantized(sums / output_scale, output_zero_point, output_type), output_scale == 0)


KERNELS: dict[str, Kernel] = {
    "DEQUANTIZE": Kernel(dequantize),
    "DYNAMIC_QUANTIZE_LINEAR": Kernel(dynamic_quantize_linear, EVERYTHING),
    "ELEMENT_WISE_DEQUANTIZE_LINEAR": elementwise(dequantize_linear),
    "ELEMENT_WISE_QUANTIZE_LINEAR": elementwise(quantize_linear),
    "ELEMENT_WISE_QUANTIZED_LINEAR_ADD": elementwise(quantized_linear_add),
    "QUANTIZE": Kernel(quantize),
}
