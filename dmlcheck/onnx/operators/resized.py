"""Resize and Upsample as ONNX Runtime's DirectML provider makes them: RESAMPLE3.

The source is DmlOperatorResize.cpp with ResizeHelper of OperatorHelper.cpp, as of ONNX Runtime 1.24. It computes in
FLOAT32.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dmlcheck.diagnostics.wording import counted, dimensions_text
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, RefusedNode, Unmapped, axis_of, shortest
from dmlcheck.onnx.operators.row import check_sizes

_LEAST = 4  # dimensions
_FLOAT = np.float32
_LARGEST = float(np.finfo(np.float32).max)  # a scale that has all outputs read element 0


class _Axis(NamedTuple):
    """A dimension: its sizes, the given factor, and the part of the input that is used, from 0 to 1."""

    size: int
    resized: int
    scale: float = 1.0
    start: float = 0.0
    end: float = 1.0


class _Line(NamedTuple):
    """The fields of a dimension: output element o reads the input at (o - output) / scale - input."""

    scale: float
    input: float
    output: float


_NEW = _Line(1.0, 0.5, -0.5)  # of a dimension that the provider adds


def _symmetric(axis: _Axis) -> _Line:
    half, whole = _FLOAT(axis.size) / _FLOAT(2), _FLOAT(axis.scale) * _FLOAT(axis.size)
    moved = half * (_FLOAT(1) - _FLOAT(axis.resized) / whole)
    return _Line(axis.scale, float(_FLOAT(0.5) - moved), -0.5)


def _corners(axis: _Axis) -> _Line:
    scale = _LARGEST if min(axis.size, axis.resized) <= 1 else (axis.resized - 1) / (axis.size - 1)
    return _Line(scale, 0.0, 0.0)


def _cropped(axis: _Axis) -> _Line:
    last = axis.size - 1
    if last < 1:
        return _Line(1.0, -0.5 * (axis.start + axis.end) * last, 0.0)
    return _Line((axis.resized - 1) / max((axis.end - axis.start) * last, 1.0), -axis.start * last, 0.0)


_LINES: dict[str, Callable[[_Axis], _Line]] = {
    "align_corners": _corners,
    "asymmetric": lambda axis: _Line(axis.scale, 0.0, 0.0),
    "half_pixel": lambda axis: _Line(axis.scale, 0.5, -0.5),
    "half_pixel_symmetric": _symmetric,
    "pytorch_half_pixel": lambda axis: _Line(_LARGEST, 0.0, 0.0) if axis.size <= 1 else _Line(axis.scale, 0.5, -0.5),
    "tf_crop_and_resize": _cropped,
    "tf_half_pixel_for_nn": lambda axis: _Line(axis.scale, 0.0, -0.5),
}
# The direction in which a coordinate is rounded, and the addition to the offset of the input, by nearest_mode.
_NEAREST = {
    "ceil": ("INCREASING", 0.0),
    "floor": ("DECREASING", 0.0),
    "round_prefer_ceil": ("DECREASING", -0.5),
    "round_prefer_floor": ("INCREASING", 0.5),
}
_MODES = {"bilinear": "LINEAR", "linear": "LINEAR", "nearest": "NEAREST_NEIGHBOR"}


@np.errstate(all="ignore")  # of the numbers of hostile models
def resized(node: OnnxNode) -> list[Counterpart]:
    """RESAMPLE3 without the dimensions that have size 1 before and after."""
    asked, coordinates = node.get("mode", "nearest"), node.get("coordinate_transformation_mode", "half_pixel")
    mode, line = _MODES.get(asked), _LINES.get(coordinates)
    if mode is None:
        raise Unmapped(f"{node.type} in mode {asked}, not {', '.join(_MODES)}")
    if line is None:
        raise Unmapped(f"{node.type} with the coordinate_transformation_mode {coordinates}, not {', '.join(_LINES)}")
    axes = _axes(node)
    check_sizes(node, [axis.resized for axis in axes], _help(node))
    kept = [axis for axis in axes if (axis.size, axis.resized) != (1, 1)] or axes[-1:]
    lines = [*(_NEW for _ in range(_LEAST - len(kept))), *map(line, kept)]
    direction, moved = "DECREASING", 0.0
    if mode == "NEAREST_NEIGHBOR":
        nearest = node.get("nearest_mode", "round_prefer_floor")
        if nearest not in _NEAREST:
            raise Unmapped(f"{node.type} with the nearest_mode {nearest}, not {', '.join(_NEAREST)}")
        direction, moved = _NEAREST[nearest]
    x, output = node.input(0), node.output()
    fields = {
        "InputTensor": x.reshape((1,) * (_LEAST - len(kept)) + tuple(axis.size for axis in kept)),
        "OutputTensor": output.view([1] * (_LEAST - len(kept)) + [axis.resized for axis in kept]),
        "InterpolationMode": mode,
        "RoundingDirection": direction,
        "Scales": [shortest(each.scale) for each in lines],
        "InputPixelOffsets": [shortest(each.input + moved) for each in lines],
        "OutputPixelOffsets": [shortest(each.output) for each in lines],
        "Antialiased": int(bool(node.get("antialias", 0))),
    }
    return [Counterpart("RESAMPLE3", fields)]


def _help(node: OnnxNode) -> str:
    """Return how to change a node whose sizes the provider computes otherwise."""
    if node.get("keep_aspect_ratio_policy", "stretch") != "stretch":
        return "the provider does not read keep_aspect_ratio_policy: give the sizes that it makes, and leave it out"
    return "give sizes in place of scales"


def _axes(node: OnnxNode) -> list[_Axis]:
    """Return all dimensions; those that are not in `axes` keep their size, and sizes are as given."""
    x = node.input(0)
    named = [axis_of(axis, x.ndim) for axis in node.get("axes") or range(x.ndim)]
    scales = _scales(node)
    sizes = (node.numbers("sizes", 3) or []) if scales is None else []
    given = counted(len(sizes), "size") if scales is None else counted(len(scales), "scale")
    if len(sizes if scales is None else scales) != len(named):
        raise Unmapped(f"{node.type} of {dimensions_text(len(named))} with {given}")
    axes = [_Axis(size, size) for size in x.shape]
    for place, axis in enumerate(named):
        size = x.shape[axis]
        if scales is None:
            axes[axis] = _Axis(size, sizes[place], float(_FLOAT(sizes[place]) / _FLOAT(max(size, 1))))
        else:
            scale = _FLOAT(scales[place])
            axes[axis] = _Axis(size, int(np.floor(_FLOAT(size) * scale)), float(scale))
    return _taken(node, axes)


def _scales(node: OnnxNode) -> list[float] | None:
    given = node.get("scales")
    values = node.known(2 if node.opset >= 11 and node.type == "Resize" else 1) if given is None else np.asarray(given)
    if values is None or not values.size:
        return None
    scales = [float(scale) for scale in values]
    for scale in scales:
        if not np.finfo(_FLOAT).eps < scale < np.inf:
            raise RefusedNode(f"the DirectML provider refuses {node.type} by the scale {scale}", "give a scale above 0")
    return scales


def _taken(node: OnnxNode, axes: list[_Axis]) -> list[_Axis]:
    """Return the dimensions with the part that tf_crop_and_resize takes of each."""
    if node.get("coordinate_transformation_mode") != "tf_crop_and_resize":
        return axes
    part = node.known(1)
    if part is None or part.size != 2 * len(axes):
        raise Unmapped(f"{node.type} with tf_crop_and_resize whose roi does not name all dimensions")
    starts, ends = part.reshape(2, -1).tolist()
    return [axis._replace(start=start, end=end) for axis, start, end in zip(axes, starts, ends, strict=True)]
