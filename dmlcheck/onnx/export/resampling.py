"""Resampling: ONNX's Resize with the scales of the desc, if the offsets match one of its coordinate modes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.onnx.export.builder import Builder, Maker
from dmlcheck.onnx.export.records import GraphValue, Inexpressible
from dmlcheck.onnx.export.representable import as_float32
from dmlcheck.specs.names import MAX_ELEMENTS

_MODES = {"NEAREST_NEIGHBOR": "nearest", "LINEAR": "linear"}
_LEAST = 2.0**-24  # a scale below this makes an element of more than any tensor has
_HALF = Fraction(1, 2)

# How the nearest element is found, by RoundingDirection: ONNX's name, and its addition before rounding.
_ROUNDINGS: dict[str | None, tuple[tuple[str, Fraction], ...]] = {
    "INCREASING": (("ceil", Fraction(0)), ("round_prefer_floor", _HALF)),
    "DECREASING": (("floor", Fraction(0)), ("round_prefer_ceil", -_HALF)),
    None: (("round_prefer_ceil", Fraction(0)),),
}
# How far a coordinate may be moved off an element that is still the nearest.
_STAYS: dict[str | None, Callable[[Fraction], bool]] = {
    "INCREASING": lambda moved: -1 < moved <= 0,
    "DECREASING": lambda moved: 0 <= moved < 1,
    None: lambda moved: -_HALF <= moved < _HALF,
}
# ONNX's addition to the position of an element / its scale.
_MOVED: dict[str, Callable[[Fraction], Fraction]] = {
    "half_pixel": lambda scale: _HALF / scale - _HALF,
    "asymmetric": lambda _: Fraction(0),
}


def resample(g: Builder, desc: OperatorDesc) -> None:
    """RESAMPLE to RESAMPLE3: pixel centres are in the middle where the desc has no offsets."""
    x = g.input("InputTensor")
    scales = [as_float32(value) for value in desc.values["Scales"]]
    before = [as_float32(value) for value in desc.values.get("InputPixelOffsets", [0.5] * len(scales))]
    after = [as_float32(value) for value in desc.values.get("OutputPixelOffsets", [-0.5] * len(scales))]
    if not all(_LEAST < scale < math.inf for scale in scales):
        raise Inexpressible("Scales has numbers that are not positive, or next to 0")
    if not all(map(math.isfinite, (*before, *after))):
        raise Inexpressible("an offset of pixels is not finite")
    mode = desc.values["InterpolationMode"]
    if desc.values.get("Antialiased") and mode == "LINEAR" and min(scales) < 0.5:
        raise Inexpressible("the filter of Antialiased is not documented")
    numbers = zip(map(Fraction, scales), before, after, strict=True)
    lines = [(scale, -Fraction(end) / scale - Fraction(start)) for scale, start, end in numbers]
    if mode == "LINEAR":
        coordinates, rounding = _words(lines, (("", Fraction(0)),))
    else:
        direction = desc.values.get("RoundingDirection")
        # Axes on which every element stays in its place fit any words.
        changed = [(scale, moved) for scale, moved in lines if scale != 1 or not _STAYS[direction](moved)]
        coordinates, rounding = _words(changed, _ROUNDINGS[direction])
    _resize(g, x, scales, mode, coordinates, rounding)


def _words(lines: Sequence[tuple[Fraction, Fraction]], roundings: Sequence[tuple[str, Fraction]]) -> tuple[str, str]:
    """Return ONNX's names for the coordinates (an element's position / scale plus a number) and for their rounding."""
    for rounding, more in roundings:
        for name, of in _MOVED.items():
            if all(moved + more == of(scale) for scale, moved in lines):
                return name, rounding
    raise Inexpressible("ONNX's Resize has no such InputPixelOffsets and OutputPixelOffsets")


def upsample(g: Builder, desc: OperatorDesc) -> None:
    """UPSAMPLE_2D: no place is halfway between two elements where scales are whole numbers."""
    x = g.input("InputTensor")
    factors = desc.values["ScaleSize"]
    scales = [*[1.0] * (len(x.sizes) - 2), float(factors.Height), float(factors.Width)]
    _resize(g, x, scales, desc.values["InterpolationMode"], "half_pixel", "round_prefer_floor")


def _resize(g: Builder, x: GraphValue, scales: Sequence[float], mode: str, coordinates: str, rounding: str) -> None:
    """Resize by the scales: a missing part of the input repeats the edge, a surplus part of the output is cut off."""
    sizes = g.tensor("OutputTensor").sizes
    more = []
    for have, want, scale in zip(x.sizes, sizes, scales, strict=True):
        count = have
        while _resized(count, scale) < want:
            if count > MAX_ELEMENTS:
                raise Inexpressible("Resize would need more input than a tensor can hold")
            count += max(1, math.floor((want - _resized(count, scale)) / scale))
        more.append(count - have)
    x = g.pad(x, [0] * len(more), more, mode="edge")
    made = tuple(_resized(size, scale) for size, scale in zip(x.sizes, scales, strict=True))
    result = g.node(
        "Resize",
        [x, None, g.constant(scales, "FLOAT32")],
        made,
        x.data_type,
        coordinate_transformation_mode=coordinates,
        mode=_MODES[mode],
        nearest_mode=rounding if mode == "NEAREST_NEIGHBOR" else None,
    )
    if made != sizes:
        result = g.slice(result, [0] * len(sizes), sizes, sizes)
    g.output("OutputTensor", result)


def _resized(size: int, scale: float) -> int:
    """Return the size that Resize gives, which multiplies in FLOAT32."""
    return math.floor(as_float32(as_float32(size) * scale))


MAPPINGS: dict[str, Maker] = {
    **dict.fromkeys(("RESAMPLE", "RESAMPLE1", "RESAMPLE2", "RESAMPLE3"), resample),
    "UPSAMPLE_2D": upsample,
}
