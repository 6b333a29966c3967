"""Resampling: Resize and Upsample as RESAMPLE2 (the provider's are RESAMPLE3), RoiAlign as ROI_ALIGN1."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import islice
from typing import NamedTuple

import numpy as np

from dmlcheck.diagnostics.wording import dimensions_text
from dmlcheck.graphs.tensors import Array, TensorRef
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, Unmapped, axis_of, shortest
from dmlcheck.onnx.descs.tensors import unsigned
from dmlcheck.onnx.operators.cubic import Coordinates, cubic
from dmlcheck.onnx.operators.resized import resized
from dmlcheck.onnx.operators.row import Row, is_set, not_taken

_HALF = Fraction(1, 2)
_MOST = 4  # dimensions that RESAMPLE2 has
_MOST_TIED = 2**16  # elements of a dimension that are looked at
_SAME = Coordinates(Fraction(1), Fraction(0), Fraction(0))


class _Axis(NamedTuple):
    """A dimension: its sizes, the factor between them, and the part of the input that is taken, from 0 to 1."""

    size: int
    resized: int
    scale: Fraction
    start: Fraction = Fraction(0)
    end: Fraction = Fraction(1)


def _half_pixel(axis: _Axis) -> Coordinates:
    return Coordinates(axis.scale, _HALF, _HALF)


def _corner(axis: _Axis) -> Coordinates:
    return Coordinates(axis.scale, Fraction(0), Fraction(0))


def _symmetric(axis: _Axis) -> Coordinates:
    """Around the middle of the input, also where its size times the scale is not whole."""
    whole = axis.scale * axis.size
    return Coordinates(axis.scale, _HALF, _HALF - Fraction(axis.size, 2) * (1 - axis.resized / whole))


def _corners(axis: _Axis) -> Coordinates:
    """From the first element to the last."""
    if axis.scale * axis.size != axis.resized and axis.size > 1:
        raise Unmapped("Resize with align_corners and sizes that are rounded, of which ONNX says different things")
    if min(axis.size, axis.resized) == 1:
        return _SAME
    return Coordinates(Fraction(axis.resized - 1, axis.size - 1), Fraction(0), Fraction(0))


def _cropped(axis: _Axis) -> Coordinates:
    """From the first to the last element of a part of the input, all of it inside; of one, the middle of the part."""
    last = axis.size - 1
    if not 0 <= axis.start <= axis.end <= 1:
        raise Unmapped("Resize with tf_crop_and_resize backwards, or beyond the input's edges")
    length = (axis.end - axis.start) * last
    if axis.resized == 1 or not length:
        return Coordinates(Fraction(1), Fraction(0), -axis.start * last - (length / 2 if axis.resized == 1 else 0))
    return Coordinates((axis.resized - 1) / length, Fraction(0), -axis.start * last)


_LINES: dict[str, Callable[[_Axis], Coordinates]] = {
    "align_corners": _corners,
    "asymmetric": _corner,
    "half_pixel": _half_pixel,
    "half_pixel_symmetric": _symmetric,
    "pytorch_half_pixel": lambda axis: _half_pixel(axis) if axis.resized > 1 else _corner(axis),
    "tf_crop_and_resize": _cropped,
    "tf_half_pixel_for_nn": lambda axis: Coordinates(axis.scale, _HALF, Fraction(0)),
}

# The direction in which a coordinate is rounded, and the addition before it, by nearest_mode.
_NEAREST: dict[str, tuple[str, Fraction]] = {
    "ceil": ("INCREASING", Fraction(0)),
    "floor": ("DECREASING", Fraction(0)),
    "round_prefer_ceil": ("DECREASING", _HALF),
    "round_prefer_floor": ("INCREASING", -_HALF),
}
_MODES = {"linear": "LINEAR", "nearest": "NEAREST_NEIGHBOR"}
_FILTERED = ("cubic", "linear")  # modes that antialias changes


def _resize(node: OnnxNode) -> list[Counterpart]:
    """RESAMPLE2: the element nearest of all is one of a coordinate half an element to a side. GEMMs if it is cubic."""
    lines, nearest = _lines(node)
    if node.get("mode", "nearest") == "cubic":
        return cubic(node, lines)
    lines, tensors = _of_four(node, lines)
    mode = _mode(node)
    direction, moved = _NEAREST[nearest] if mode == "NEAREST_NEIGHBOR" else ("INCREASING", Fraction(0))
    scales = [scale for scale, _, _ in lines]
    if mode == "NEAREST_NEIGHBOR":
        counts = tensors["OutputTensor"].shape
        scales = [_scale(line, moved, count, direction) for line, count in zip(lines, counts, strict=True)]
    fields = {
        "InterpolationMode": mode,
        "RoundingDirection": direction,
        "Scales": [shortest(float(scale)) for scale in scales],
        "InputPixelOffsets": [shortest(float(offset - moved)) for _, _, offset in lines],
        "OutputPixelOffsets": [shortest(float(-shift)) for _, shift, _ in lines],
    }
    return [Counterpart("RESAMPLE2", {**tensors, **fields})]


def _of_four(node: OnnxNode, lines: list[Coordinates]) -> tuple[list[Coordinates], dict[str, TensorRef]]:
    """Return lines and tensors of four dimensions at most: of more the first ones, which stay as they are, are one."""
    tensors, first = node.tensors(), len(lines) - _MOST + 1
    if first < 2:
        return lines, tensors
    shapes = zip(lines, *(x.shape for x in tensors.values()), strict=True)
    if any(size != made or not line.is_identity for line, size, made in islice(shapes, first)):
        raise Unmapped(f"{node.type} of {dimensions_text(len(lines))}, of which more than {_MOST - 1} change")
    merged = {name: x.reshape(math.prod(x.shape[:first]), *x.shape[first:]) for name, x in tensors.items()}
    return [_SAME, *lines[first:]], merged


def _lines(node: OnnxNode) -> tuple[list[Coordinates], str]:
    """Return the coordinates of every dimension, and the nearest_mode; before opset 11 they are only scaled."""
    if node.opset < 11 or node.type == "Upsample":
        given = node.get("scales")
        values = node.known(1) if given is None else np.asarray(given)
        if values is None:
            raise Unmapped(f"{node.type} without scales")
        return [Coordinates(Fraction(scale), Fraction(0), Fraction(0)) for scale in values.tolist()], "floor"
    mode = node.get("coordinate_transformation_mode", "half_pixel")
    if mode not in _LINES:
        raise Unmapped(f"Resize with {mode}")
    axes = _axes(node)
    if node.get("antialias", 0) and node.get("mode") in _FILTERED and any(axis.scale < 1 for axis in axes):
        raise Unmapped("Resize with a filter that DirectML does not document")
    return list(map(_LINES[mode], axes)), node.get("nearest_mode", "round_prefer_floor")


def _mode(node: OnnxNode) -> str:
    mode = _MODES.get(node.get("mode", "nearest"))
    if mode is None:
        raise Unmapped(f"Resize in mode {node.get('mode')}, which DirectML does not have")
    return mode


# ---- ties


def _ties(line: Coordinates, moved: Fraction, count: int) -> list[int]:
    """Return the output elements halfway between two of the input, if rounding the scale may move them to a side."""
    scale, shift, offset = line
    if scale == Fraction(float(np.float32(float(scale)))) or count > _MOST_TIED:
        return []
    return [at for at in range(count) if ((at + shift) / scale - offset + moved).denominator == 1]


def _scale(line: Coordinates, moved: Fraction, count: int, direction: str) -> Fraction:
    """Return a scale that is rounded so that elements halfway between two of the input go where they would without."""
    if not _ties(line, moved, count):
        return line[0]
    held = np.float32(float(line[0]))
    is_larger = Fraction(float(held)) > line[0]
    if is_larger != (direction == "INCREASING"):  # a larger scale leads to a lower place
        held = np.nextafter(held, np.float32(0 if is_larger else np.inf))
    return Fraction(float(held))


def _remark(node: OnnxNode) -> str | None:
    """Return which elements of an output lie halfway between two of the input, or None."""
    if node.get("mode", "nearest") == "cubic" or _mode(node) != "NEAREST_NEIGHBOR":
        return None
    lines, nearest = _lines(node)
    shapes = zip(lines, node.output().shape, strict=True)
    tied = [(axis, at) for axis, (line, count) in enumerate(shapes) for at in _ties(line, _NEAREST[nearest][1], count)]
    if not tied:
        return None
    axis, at = tied[0]
    more = f" and {len(tied) - 1:,} more" if len(tied) > 1 else ""
    return (
        f"a tie: element {at} of dimension {axis}{more} lies halfway between two of the input; where the scale is"
        " rounded to FLOAT32, either is right"
    )


def _deviation(node: OnnxNode) -> str | None:
    """Return the known mistake of the provider in a linear Resize, or None."""
    coordinates = node.get("coordinate_transformation_mode", "half_pixel")
    if node.get("mode", "nearest") != "linear":
        return None
    sizes = list(zip(node.input(0).shape, node.output().shape, strict=True))
    is_to_one = any(new == 1 < old for old, new in sizes)
    if coordinates in ("align_corners", "pytorch_half_pixel") and is_to_one:
        return f"a linear Resize to one element with {coordinates} takes it from another place than ONNX"
    if coordinates == "tf_crop_and_resize":
        return "a linear Resize with tf_crop_and_resize gives other values than ONNX"
    if node.get("antialias", 0) and any(new < old for old, new in sizes):
        return "a Resize with antialias filters otherwise than ONNX"
    return None


def _axes(node: OnnxNode) -> list[_Axis]:
    """Return the coordinates of every dimension; dimensions that are not in `axes` keep their size."""
    x, output = node.input(0), node.output()
    named = [axis_of(axis, x.ndim) for axis in node.get("axes") or range(x.ndim)]
    axes = [_Axis(size, size, Fraction(1)) for size in x.shape]
    roi = node.known(1) if node.get("coordinate_transformation_mode") == "tf_crop_and_resize" else None
    for place, (axis, scale) in enumerate(zip(named, _scales(node, named), strict=True)):
        axes[axis] = _Axis(x.shape[axis], output.shape[axis], scale)
        if roi is not None and roi.size:
            start, end = (Fraction(float(roi[at])) for at in (place, place + len(named)))
            axes[axis] = axes[axis]._replace(start=start, end=end)
    return axes


def _scales(node: OnnxNode, axes: Sequence[int]) -> list[Fraction]:
    """Return the scales that are given, or follow from the sizes that are."""
    x, scales = node.input(0), node.known(2)
    if scales is not None and scales.size:
        return [Fraction(float(scale)) for scale in scales]
    sizes = node.numbers("sizes", 3) or []
    each = [Fraction(size, x.shape[axis]) for axis, size in zip(axes, sizes, strict=True)]
    one = {"not_larger": min, "not_smaller": max}.get(node.get("keep_aspect_ratio_policy", "stretch"))
    return each if one is None else [one(each)] * len(each)


def _regions(node: OnnxNode) -> list[Counterpart]:
    scale = node.get("spatial_scale", 1.0)
    mode = node.get("coordinate_transformation_mode", "half_pixel" if node.opset >= 16 else "output_half_pixel")
    if mode == "output_half_pixel" and _has_less_than_a_pixel(node.numbers_of(1), shortest(scale)):
        raise Unmapped("RoiAlign that widens regions of less than an element")
    if node.get("mode", "avg") != "avg":
        raise Unmapped("RoiAlign of maxima, of which ONNX says different things")
    return _aligned(node, mode)


def _has_less_than_a_pixel(regions: Array, scale: float) -> bool:
    """Whether a region is less than one element wide or high."""
    return bool(((regions[:, 2:] - regions[:, :2]).astype("f8") * scale < 1).any())


def _aligned(node: OnnxNode, mode: str) -> list[Counterpart]:
    """Return ROI_ALIGN1, with a fixed number of samples, or as many as a region is large."""
    x, regions, images = node.input(0), node.input(1), node.input(2)
    scale, count = shortest(node.get("spatial_scale", 1.0)), node.get("sampling_ratio", 0)
    fields = {
        "ReductionFunction": "MAX" if node.get("mode", "avg") == "max" else "AVERAGE",
        "InterpolationMode": "LINEAR",
        "SpatialScaleX": scale,
        "SpatialScaleY": scale,
        "InputPixelOffset": 0.5 if mode == "half_pixel" else 0,
        "OutputPixelOffset": -0.5,
        "OutOfBoundsInputValue": 0,
        "MinimumSamplesPerOutput": count or 1,
        "MaximumSamplesPerOutput": count or 2**32 - 1,
        "AlignRegionsToCorners": 0,
    }
    tensors = {"InputTensor": x, "ROITensor": regions, "BatchIndicesTensor": unsigned(images)}
    return [Counterpart("ROI_ALIGN1", {**tensors, "OutputTensor": node.output(), **fields})]


def _regions_of_provider(node: OnnxNode) -> list[Counterpart]:
    """ROI_ALIGN1, by half pixels also before the opset that has them, of averages or maxima."""
    return _aligned(node, node.get("coordinate_transformation_mode", "half_pixel"))


def _query_resize(node: OnnxNode) -> str | None:
    """DmlOperatorResize.cpp, QueryResize."""
    if node.get("mode", "nearest") == "cubic":
        return not_taken(node, "of mode cubic")
    return is_set(node, "exclude_outside", "extrapolation_value")


OPERATORS: dict[str, Row] = {
    "Resize": Row(
        exact=_resize,
        provider=resized,
        query=_query_resize,
        remark=_remark,
        deviation=_deviation,
        leaves_out_empty=True,
    ),
    "RoiAlign": Row(_regions, provider=_regions_of_provider),
    "Upsample": Row(exact=_resize, provider=resized, remark=_remark),
}
