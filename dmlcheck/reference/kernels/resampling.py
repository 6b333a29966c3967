"""Resampling by the nearest element or linear interpolation, and its gradients."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference.arrays.needs import WHOLE
from dmlcheck.reference.arrays.places import Places
from dmlcheck.reference.functions.interpolation import (
    Rounding,
    coordinates,
    half_up,
    interpolated,
    is_enlarged,
    linear,
    repeated,
    returned,
    stepped,
)
from dmlcheck.reference.limits.work import BLOCKS_OF_SAMPLES
from dmlcheck.reference.results import AsMeasured, all_undefined
from dmlcheck.reference.rows import Cut, Given, Kernel, Spread

ROUNDINGS: dict[str, Rounding] = {"INCREASING": np.ceil, "DECREASING": np.floor}


# ---- to other sizes


def resample1(
    input: Any,
    *,
    interpolation_mode: str,
    scales: Any,
    input_pixel_offsets: Any,
    output_pixel_offsets: Any,
    places: Places,
) -> Any:
    """Input at x = (o - OutputPixelOffsets) / Scales - InputPixelOffsets.

    Outside the input, the edge element is used. NEAREST_NEIGHBOR: the element at floor(x + 0.5). LINEAR: the average of
    the elements at floor(x) and floor(x) + 1, each weighted by 1 - its distance from x.
    """
    x = coordinates(places, scales, input_pixel_offsets, output_pixel_offsets)
    return interpolated(input, x, interpolation_mode, half_up)


def resample(input: Any, *, interpolation_mode: str, scales: Any, places: Places) -> Any:
    """Input at x = (o + 0.5) / Scales - 0.5.

    Outside the input, the edge element is used. NEAREST_NEIGHBOR: the element at floor(x + 0.5). LINEAR: the average of
    the elements at floor(x) and floor(x) + 1, each weighted by 1 - its distance from x.
    """
    x = coordinates(places, scales, [0.5] * input.ndim, [-0.5] * input.ndim)
    return interpolated(input, x, interpolation_mode, half_up)


def resample2(
    input: Any,
    *,
    interpolation_mode: str,
    rounding_direction: str,
    scales: Any,
    input_pixel_offsets: Any,
    output_pixel_offsets: Any,
    places: Places,
) -> Any:
    """Input at x = (o - OutputPixelOffsets) / Scales - InputPixelOffsets.

    Outside the input, the edge element is used. NEAREST_NEIGHBOR: the element at ceil(x) with INCREASING, at floor(x)
    with DECREASING. LINEAR: the average of the elements at floor(x) and floor(x) + 1, each weighted by 1 - its distance
    from x.
    """
    x = coordinates(places, scales, input_pixel_offsets, output_pixel_offsets)
    return interpolated(input, x, interpolation_mode, ROUNDINGS[rounding_direction])


def resample3(
    input: Any,
    *,
    interpolation_mode: str,
    rounding_direction: str,
    scales: Any,
    input_pixel_offsets: Any,
    output_pixel_offsets: Any,
    antialiased: bool,
    places: Places,
) -> Any:
    """Input at x = (o - OutputPixelOffsets) / Scales - InputPixelOffsets.

    Outside the input, the edge element is used. NEAREST_NEIGHBOR: the element at ceil(x) with INCREASING, at floor(x)
    with DECREASING. LINEAR: the average of the elements at floor(x) and floor(x) + 1, each weighted by 1 - its distance
    from x.
    """
    if antialiased and interpolation_mode == "LINEAR" and bool((scales < 0.5).any()):
        return all_undefined([*map(len, places)])
    return resample2(
        input,
        interpolation_mode=interpolation_mode,
        rounding_direction=rounding_direction,
        scales=scales,
        input_pixel_offsets=input_pixel_offsets,
        output_pixel_offsets=output_pixel_offsets,
        places=places,
    )


def upsample_2d(input: Any, *, scale_size: Any, interpolation_mode: str, places: Places) -> Any:
    """NEAREST_NEIGHBOR: Input[..., floor(y / Height), floor(x / Width)].

    Height and Width are the factors of ScaleSize. LINEAR: the reference gives the values of RESAMPLE, as DirectML does.
    """
    factors = (*[1] * (input.ndim - 2), scale_size.Height, scale_size.Width)
    if interpolation_mode == "NEAREST_NEIGHBOR":
        return repeated(input, places, factors)
    x = coordinates(places, factors, [0.5] * input.ndim, [-0.5] * input.ndim)
    return AsMeasured(linear(input, x), is_enlarged(factors))


# ---- gradients


def resample_grad(
    input_gradient: Any,
    *,
    interpolation_mode: str,
    scales: Any,
    input_pixel_offsets: Any,
    output_pixel_offsets: Any,
    output_gradient: TensorDesc,
    places: Places,
) -> Any:
    """The sum of InputGradient[o] times the weight at x = (o - InputPixelOffsets) / Scales - OutputPixelOffsets.

    NEAREST_NEIGHBOR: the element at floor(x + 0.5) has weight 1. LINEAR: the elements at floor(x) and floor(x) + 1 each
    have weight 1 - their distance from x. Where x is outside the output, the nearest edge element has these weights.
    """
    x = _places_of_gradient(input_gradient, scales, output_pixel_offsets, input_pixel_offsets)
    rounding = None if interpolation_mode == "LINEAR" else half_up
    return returned(input_gradient, x, scales, places, output_gradient.sizes, rounding)


def resample_grad1(
    input_gradient: Any,
    *,
    interpolation_mode: str,
    rounding_direction: str,
    scales: Any,
    input_pixel_offsets: Any,
    output_pixel_offsets: Any,
    output_gradient: TensorDesc,
    places: Places,
) -> Any:
    """The sum of InputGradient[o] times the weight at x = (o - InputPixelOffsets) / Scales - OutputPixelOffsets.

    NEAREST_NEIGHBOR: the element at ceil(x) with INCREASING, at floor(x) with DECREASING, has weight 1. LINEAR: the
    elements at floor(x) and floor(x) + 1 each have weight 1 - their distance from x. Where x is outside the output, the
    nearest edge element has these weights.
    """
    x = _places_of_gradient(input_gradient, scales, output_pixel_offsets, input_pixel_offsets)
    rounding = None if interpolation_mode == "LINEAR" else ROUNDINGS[rounding_direction]
    return returned(input_gradient, x, scales, places, output_gradient.sizes, rounding)


def _places_of_gradient(gradient: Any, scales: Any, before: Any, after: Any) -> list[Any]:
    """Return the places of a gradient's elements along each axis, reached at once or in steps."""
    return list(map(stepped, coordinates(map(range, gradient.shape), scales, before, after), scales))


def terms(given: Given) -> float:
    """Return the number of elements of InputGradient for each element of OutputGradient."""
    return float(given["input_gradient"].size / math.prod(given["output_gradient"].sizes))


RESAMPLED = Cut(needs={"input": WHOLE}, as_is=("input",))
RETURNED = Cut(needs={"input_gradient": WHOLE}, blocks=BLOCKS_OF_SAMPLES, depth=terms, as_is=("input_gradient",))

resampling_row = partial(Kernel, spread=Spread(), interpolates=True)

KERNELS: dict[str, Kernel] = {
    "RESAMPLE": resampling_row(resample, RESAMPLED),
    "RESAMPLE1": resampling_row(resample1, RESAMPLED),
    "RESAMPLE2": resampling_row(resample2, RESAMPLED),
    "RESAMPLE3": resampling_row(resample3, RESAMPLED),
    "RESAMPLE_GRAD": resampling_row(resample_grad, RETURNED),
    "RESAMPLE_GRAD1": resampling_row(resample_grad1, RETURNED),
    "UPSAMPLE_2D": resampling_row(upsample_2d, RESAMPLED),
}
