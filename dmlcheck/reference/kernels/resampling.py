"""Resampling to other sizes, with the nearest element or those beside a place along each axis, and its gradients."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference import pieces
from dmlcheck.reference.ball.numbers import Array, raw
from dmlcheck.reference.interpolation import (
    REACH,
    Rounding,
    clamped,
    computed,
    coordinates,
    half_up,
    is_lost,
    left_open,
    linear,
    nearest,
    shares,
    spread,
    taken,
)
from dmlcheck.reference.pieces import Open, alternatives, is_float
from dmlcheck.reference.places import Index
from dmlcheck.reference.rows import Kernel
from dmlcheck.reference.tiling.blocks import BLOCK, share_of_block, tiles_along
from dmlcheck.reference.tiling.piece import Piece

Numbers = Sequence[float]

ROUNDINGS: dict[str, Rounding] = {"INCREASING": np.ceil, "DECREASING": np.floor}


# ---- to other sizes


def resampled(
    scales: Any,
    input_offsets: Any,
    output_offsets: Any,
    *,
    input: Array,
    places: Sequence[Array],
    mode: str,
    rounding: Rounding,
    is_filtered: bool,
) -> Any:
    """What is at some places of an output: the nearest element, or the weighted average of those beside it."""
    numbers = (scales, input_offsets, output_offsets)
    if is_filtered or not has_places(*numbers):
        return left_open([len(at) for at in places])
    found = list(map(coordinates, places, *numbers))
    if mode == "NEAREST_NEIGHBOR":
        return nearest(input, found, rounding)
    average = linear(input, found)
    return average if is_float(input) else Open(integers(average.value), average.where)


def has_places(scales: Any, input_offsets: Any, output_offsets: Any) -> bool:
    """Whether the formula gives coordinates."""
    return bool((raw(scales) > 0).all() and np.isfinite([raw(input_offsets), raw(output_offsets)]).all())


def integers(x: Any) -> Any:
    """Return averages as integers, rounded to the nearest ones, or down, or up."""
    return alternatives(pieces.nearest(x), np.floor(x), np.ceil(x))


def resamplings(
    input: Array,
    output: TensorDesc,
    numbers: Sequence[Numbers],
    mode: str,
    rounding: Rounding = half_up,
    *,
    is_filtered: bool = False,
) -> Iterator[Piece]:
    """Yield the pieces of an output, given scales, input offsets and output offsets."""
    given = tuple(np.array(x, np.float32) for x in numbers)
    formula = partial(resampled, input=input, mode=mode, rounding=rounding, is_filtered=is_filtered)
    for index, places in tiled(output.sizes, BLOCK):
        yield Piece(index, partial(formula, places=places), given)


def tiled(sizes: tuple[int, ...], limit: int) -> Iterator[tuple[Index, list[Array]]]:
    """Yield parts of an output of at most so many elements: index, and the places of each dimension."""
    places = list(map(np.arange, sizes))
    for index in tiles_along(range(len(sizes)), sizes, limit):
        yield index, list(map(np.ndarray.__getitem__, places, index))


def resample(input: Any, *, interpolation_mode: str, scales: Numbers, output: TensorDesc) -> Iterator[Piece]:
    """Input at x = (o + 0.5) / Scales - 0.5.

    Outside the input, the edge element is used. NEAREST_NEIGHBOR: the element at floor(x + 0.5). LINEAR: the average of
    the elements at floor(x) and floor(x) + 1, each weighted by 1 - its distance from x.
    """
    offsets = ([0.5] * len(scales), [-0.5] * len(scales))
    return resamplings(input, output, (scales, *offsets), interpolation_mode)


def resample1(
    input: Any,
    *,
    interpolation_mode: str,
    scales: Numbers,
    input_pixel_offsets: Numbers,
    output_pixel_offsets: Numbers,
    output: TensorDesc,
) -> Iterator[Piece]:
    """Input at x = (o - OutputPixelOffsets) / Scales - InputPixelOffsets.

    Outside the input, the edge element is used. NEAREST_NEIGHBOR: the element at floor(x + 0.5). LINEAR: the average of
    the elements at floor(x) and floor(x) + 1, each weighted by 1 - its distance from x.
    """
    numbers = (scales, input_pixel_offsets, output_pixel_offsets)
    return resamplings(input, output, numbers, interpolation_mode)


def resample2(
    input: Any,
    *,
    interpolation_mode: str,
    rounding_direction: str,
    scales: Numbers,
    input_pixel_offsets: Numbers,
    output_pixel_offsets: Numbers,
    output: TensorDesc,
) -> Iterator[Piece]:
    """Input at x = (o - OutputPixelOffsets) / Scales - InputPixelOffsets.

    Outside the input, the edge element is used. NEAREST_NEIGHBOR: the element at ceil(x) with INCREASING, at floor(x)
    with DECREASING. LINEAR: the average of the elements at floor(x) and floor(x) + 1, each weighted by 1 - its distance
    from x.
    """
    numbers = (scales, input_pixel_offsets, output_pixel_offsets)
    return resamplings(input, output, numbers, interpolation_mode, ROUNDINGS[rounding_direction])


def resample3(
    input: Any,
    *,
    interpolation_mode: str,
    rounding_direction: str,
    scales: Numbers,
    input_pixel_offsets: Numbers,
    output_pixel_offsets: Numbers,
    antialiased: bool,
    output: TensorDesc,
) -> Iterator[Piece]:
    """Input at x = (o - OutputPixelOffsets) / Scales - InputPixelOffsets.

    Outside the input, the edge element is used. NEAREST_NEIGHBOR: the element at ceil(x) with INCREASING, at floor(x)
    with DECREASING. LINEAR: the average of the elements at floor(x) and floor(x) + 1, each weighted by 1 - its distance
    from x.
    """
    numbers = (scales, input_pixel_offsets, output_pixel_offsets)
    is_filtered = antialiased and interpolation_mode == "LINEAR" and np.float32(min(scales)) < 0.5
    rounding = ROUNDINGS[rounding_direction]
    return resamplings(input, output, numbers, interpolation_mode, rounding, is_filtered=bool(is_filtered))


def upsample_2d(input: Any, *, scale_size: Any, interpolation_mode: str, output: TensorDesc) -> Iterator[Piece]:
    """NEAREST_NEIGHBOR: Input[..., floor(y / Height), floor(x / Width)].

    Height and Width are the factors of ScaleSize. LINEAR: the reference gives the values of RESAMPLE.
    """
    factors = (*[1] * (input.ndim - 2), scale_size.Height, scale_size.Width)
    for index, places in tiled(output.sizes, BLOCK):
        yield Piece(index, partial(enlarged, input=input, places=places, factors=factors, mode=interpolation_mode))


def enlarged(*, input: Array, places: Sequence[Array], factors: Sequence[int], mode: str) -> Any:
    """What is at some places of an output that has whole factors."""
    if mode == "NEAREST_NEIGHBOR":
        return taken(input, list(map(np.floor_divide, places, factors)))
    found = list(map(partial(coordinates, input_offset=0.5, output_offset=-0.5), places, factors))
    return Open(linear(input, found), max(factors) > 1)


# ---- gradients


def returned(
    scales: Any,
    input_offsets: Any,
    output_offsets: Any,
    *,
    gradient: Array,
    elements: Sequence[Array],
    seen: Sequence[range],
    sizes: Sequence[int],
    rounding: Rounding | None,
) -> Any:
    """What some places give back to some elements of the forward input, which has these sizes."""
    counts = [len(at) for at in elements]
    # The offsets change their roles.
    places = list(map(coordinates, map(np.array, seen), scales, output_offsets, input_offsets))
    if not has_places(scales, input_offsets, output_offsets) or np.any(is_lost(places)):
        return left_open(counts)
    near = list(map(partial(shares, rounding=rounding), places, sizes, (own[0] for own in elements)))
    given = gradient[tuple(slice(at.start, at.stop) for at in seen)]
    return spread(computed(given, [scales]), near, counts).rounded()


def reached(places: Array, elements: Array) -> range:
    """Return which places, given by the elements that they are at, may read some elements: a few more than do."""
    start, stop = np.searchsorted(places, (elements[0] - REACH, elements[-1] + REACH)).tolist()
    return range(start, stop) or range(1)  # the first place gives nothing to elements that it does not read


def gradients(
    gradient: Array, output: TensorDesc, numbers: Sequence[Numbers], rounding: Rounding | None
) -> Iterator[Piece]:
    """Yield the pieces of a gradient, given scales, input offsets and output offsets; no rounding is for LINEAR."""
    scales, input_offsets, output_offsets = given = tuple(np.array(x, np.float32) for x in numbers)
    formula = partial(returned, gradient=gradient, sizes=output.sizes, rounding=rounding)
    places = list(map(coordinates, map(np.arange, gradient.shape), scales, output_offsets, input_offsets))
    held = list(map(clamped, places, output.sizes))
    for index, elements in tiled(output.sizes, share_of_block(math.prod(output.sizes), gradient.size, BLOCK)):
        seen = list(map(reached, held, elements))
        yield Piece(index, partial(formula, elements=elements, seen=seen), given)


def resample_grad(
    input_gradient: Any,
    *,
    interpolation_mode: str,
    scales: Numbers,
    input_pixel_offsets: Numbers,
    output_pixel_offsets: Numbers,
    output_gradient: TensorDesc,
) -> Iterator[Piece]:
    """The sum of InputGradient[o] times the weight at x = (o - InputPixelOffsets) / Scales - OutputPixelOffsets.

    NEAREST_NEIGHBOR: the element at floor(x + 0.5) has weight 1. LINEAR: the elements at floor(x) and floor(x) + 1 each
    have weight 1 - their distance from x. Where x is outside the output, the nearest edge element has these weights.
    """
    numbers = (scales, input_pixel_offsets, output_pixel_offsets)
    return gradients(input_gradient, output_gradient, numbers, None if interpolation_mode == "LINEAR" else half_up)


def resample_grad1(
    input_gradient: Any,
    *,
    interpolation_mode: str,
    rounding_direction: str,
    scales: Numbers,
    input_pixel_offsets: Numbers,
    output_pixel_offsets: Numbers,
    output_gradient: TensorDesc,
) -> Iterator[Piece]:
    """The sum of InputGradient[o] times the weight at x = (o - InputPixelOffsets) / Scales - OutputPixelOffsets.

    NEAREST_NEIGHBOR: the element at ceil(x) with INCREASING, at floor(x) with DECREASING, has weight 1. LINEAR: the
    elements at floor(x) and floor(x) + 1 each have weight 1 - their distance from x. Where x is outside the output, the
    nearest edge element has these weights.
    """
    numbers = (scales, input_pixel_offsets, output_pixel_offsets)
    rounding = None if interpolation_mode == "LINEAR" else ROUNDINGS[rounding_direction]
    return gradients(input_gradient, output_gradient, numbers, rounding)


KERNELS: dict[str, Kernel] = {
    "RESAMPLE": Kernel(resample),
    "RESAMPLE1": Kernel(resample1),
    "RESAMPLE2": Kernel(resample2),
    "RESAMPLE3": Kernel(resample3),
    "RESAMPLE_GRAD": Kernel(resample_grad),
    "RESAMPLE_GRAD1": Kernel(resample_grad1),
    "UPSAMPLE_2D": Kernel(upsample_2d),
}
