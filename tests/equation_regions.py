"""What names in the equations of operators of regions are for a case."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from equation_tensors import Names, Pair, array, attributes_of, checked, inputs_of, places, reads
from equations import RANGE, Equation, Lazy, elements, parts_of

from dmlcheck.cases.records import Case
from dmlcheck.specs.about import load_about

AXES = {"h": 1, "w": 0}  # of the corners x1, y1, x2 and y2


class At(NamedTuple):
    """A sample's number along an axis."""

    axis: str
    number: int


# ---- samples


class Samples:
    """The samples of a region: along each axis their number, their places, and the ones of an output element."""

    def __init__(self, case: Case, equations: Sequence[str], corners: Any, sizes: Sequence[int]) -> None:
        *self.parts, limits = sorted(parts_of(equations), key=lambda part: " < " in part)
        attributes = attributes_of(case)
        self.counts: dict[str, int] = {}
        self.places: dict[str, list[float]] = {}
        self.of: dict[str, list[list[int]]] = {}
        for (axis, first), n in zip(AXES.items(), sizes, strict=True):
            scale = attributes[f"SpatialScale{'Y' if axis == 'h' else 'X'}"]
            own = {"ROI_1": float(corners[first]), "ROI_2": float(corners[first + 2]), "SpatialScale": scale, "n": n}
            names = {**attributes, **own}
            self.counts[axis] = int(self.value("p", names))
            every = range(n * self.counts[axis])
            self.places[axis] = [float(self.value("x_s", {**names, "s": s})) for s in every]
            known = {"p": self.counts[axis]}
            self.of[axis] = [
                [s for s in every if Equation(limits, {**known, "s": s, "i": i}).holds()] for i in range(n)
            ]

    def value(self, name: str, names: Names) -> Any:
        return next(elements([f"y = {name}", *self.parts[1:]], {}, names))[1]

    def at(self, place: tuple[int, int]) -> list[tuple[float, ...]]:
        """Return the places of the samples of an output element."""
        along = ([self.places[axis][s] for s in self.of[axis][i]] for axis, i in zip(AXES, place, strict=True))
        return list(itertools.product(*along))

    def names(self, place: tuple[int, int]) -> Names:
        """Return what names are at an output element."""
        found: Names = {"x_": lambda at: self.places[at.axis][at.number]}
        for axis, i in zip(AXES, place, strict=True):
            found[f"p_{axis}"] = self.counts[axis]
            found[f"{RANGE}s_{axis}"] = [At(axis, s) for s in self.of[axis][i]]
        return found


def sample(plane: Any, mode: str, outside: float, *, margin: int = 1) -> Callable[..., float]:
    """Return the function that reads an image between its elements, and up to a margin beyond its edges."""

    def along(x: float, n: int) -> list[tuple[int, float]]:
        """Return the elements beside a place, and their weights."""
        x = min(max(x, 0), n - 1)
        below = math.floor(x)
        if mode == "NEAREST_NEIGHBOR":
            return [(math.floor(x + 0.5), 1.0)]
        return [(below, 1 - (x - below)), (min(below + 1, n - 1), x - below)]

    def read(y: float, x: float) -> float:
        if any(at < -margin or at > n - 1 + margin for at, n in zip((y, x), plane.shape, strict=True)):
            return outside
        near = itertools.product(along(y, plane.shape[0]), along(x, plane.shape[1]))
        return math.fsum(plane[row, column] * above * beside for (row, above), (column, beside) in near)

    return read


# ---- ROI_ALIGN and its gradients


def cropped(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """ROI_ALIGN and ROI_ALIGN1: a region and a channel at a time."""
    given, written = _given(case), _written(case, "OutputTensor")
    first, *_ = parts_of(equations)
    if case.desc["ReductionFunction"] == "MAX":
        first = first.replace(r"\frac{1}{p_h p_w} \sum_", r"\max_")
    for region, corners in enumerate(given["ROITensor"]):
        samples = Samples(case, equations, corners, written.shape[2:])
        for channel, place in itertools.product(range(written.shape[1]), places(written.shape[2:])):
            image = given["InputTensor"][int(given["BatchIndicesTensor"][region]), channel]
            read = _read(case, image, case.desc["OutOfBoundsInputValue"])
            names = {**samples.names(place), "sample": read}
            at = (region, channel, *place)
            yield from checked([first], {}, {**names, "i_h": 0, "i_w": 0}, lambda *_, at=at: float(written[at]))


def _read(case: Case, image: Any, outside: float) -> Callable[..., float]:
    """Return the samples of an image at places; between corners, every place beyond an edge is outside."""
    margin = 0 if case.desc.get("AlignRegionsToCorners") else 1
    return sample(image, case.desc["InterpolationMode"], outside, margin=margin)


def cropped_back(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """ROI_ALIGN_GRAD, whose samples are those of ROI_ALIGN1: the image's gradient, then the regions'."""
    if "OutputGradientTensor" in (case.outputs or {}):
        yield from _of_images(case, equations)
    if "OutputROIGradientTensor" in (case.outputs or {}):
        yield from _of_corners(case, equations)


def _of_images(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    given, written = _given(case), _written(case, "OutputGradientTensor")
    g = given["InputGradientTensor"]
    every = [Samples(case, _forward(), corners, g.shape[2:]) for corners in given["ROITensor"]]
    for image, channel, *place in places(written.shape):
        unit = np.zeros(written.shape[2:])
        unit[tuple(place)] = 1
        weight = _read(case, unit, 0)
        total = 0.0
        for region in np.flatnonzero(given["BatchIndicesTensor"] == image):
            samples = every[region]
            names: Names = {
                RANGE + "o": places(g.shape[2:]),
                RANGE + "s": lambda names, samples=samples: samples.at(names["o"]),
                "InputGradient": reads(g[region, channel]),
                "weight": lambda _, s, weight=weight: weight(*s),
                **{f"p_{axis}": samples.counts[axis] for axis in AXES},
            }
            if case.desc["ReductionFunction"] == "MAX":
                read = _read(case, given["InputTensor"][image, channel], 0)
                names |= {RANGE + "s": partial(_largest, samples, read), "p_h": 1, "p_w": 1}
            ((_, value),) = elements(equations[:1], {"i": [0]}, names)
            total += float(value)
        yield total, float(written[(image, channel, *place)])


def _largest(samples: Samples, read: Callable[..., float], names: Names) -> list[tuple[float, ...]]:
    """Return the place of the largest sample of an output element, which has the whole gradient of a maximum."""
    return [max(samples.at(names["o"]), key=lambda place: read(*place))]


def _of_corners(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """The equations of x, and the same with the scale, the size and the sample's number along y."""
    given, written = _given(case), _written(case, "OutputROIGradientTensor")
    g = given["InputGradientTensor"]
    attributes = attributes_of(case)
    for region, corners in enumerate(given["ROITensor"]):
        samples = Samples(case, _forward(), corners, g.shape[2:])
        image = given["InputTensor"][int(given["BatchIndicesTensor"][region])]
        for corner, (axis, text) in enumerate((axis, text) for text in equations[1:3] for axis in "wh"):
            dimension = "hw".index(axis)
            names: Names = {
                **attributes,
                "n": g.shape[2 + dimension],
                RANGE + "o": places(g.shape[1:]),
                "InputGradient": reads(g[region]),
                "slope": Lazy(partial(_slope, image, samples, axis)),
                "SpatialScaleX": attributes["SpatialScaleX" if axis == "w" else "SpatialScaleY"],
                "s": Lazy(lambda names, dimension=dimension: names["o"][1 + dimension]),
            }
            right = text.partition(" = ")[2].replace(r"\frac{\partial v}{\partial x}", "slope")
            ((_, value),) = elements([f"y = {right}", *equations[3:]], {}, names)
            yield float(value), float(written[region, corner])


def _slope(image: Any, samples: Samples, axis: str, names: Mapping[str, Any]) -> float:
    """Return the slope of the sample of an output element: a difference inside one cell, in which it is linear."""
    channel, *place = names["o"]
    at = dict(zip(AXES, samples.at(place)[0], strict=True))  # there is one
    n = image.shape[1 + "hw".index(axis)]
    if not 0 < at[axis] < n - 1:
        return 0.0
    read, step = sample(image[channel], "LINEAR", 0), min(at[axis] % 1, 1 - at[axis] % 1) / 2
    below, above = (read(*{**at, axis: at[axis] + sign * step}.values()) for sign in (-1, 1))
    return (above - below) / (2 * step)


def _forward() -> Sequence[str]:
    return load_about("DML_OPERATOR_ROI_ALIGN1").equations


def _given(case: Case) -> Mapping[str, Any]:
    """Return the inputs with as many dimensions as the operator reads."""
    found = inputs_of(case)
    found["ROITensor"] = found["ROITensor"].reshape(-1, 4)
    found["BatchIndicesTensor"] = found["BatchIndicesTensor"].ravel()
    return found


def _written(case: Case, name: str) -> Any:
    written = array(case.desc[name], (case.outputs or {})[name])
    return written.reshape(-1, 4) if "ROI" in name else written


def pooled_regions(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """ROI_POOLING: rows by the equation, and columns by the same one."""
    given = inputs_of(case)
    x, regions = given["InputTensor"], given["ROITensor"].reshape(-1, 5)
    written = array(case.desc["OutputTensor"], (case.outputs or {})["OutputTensor"])
    size = (case.desc["PooledSize"]["Height"], case.desc["PooledSize"]["Width"])
    for region, (batch, x1, y1, x2, y2) in enumerate(regions.tolist()):
        for channel in range(x.shape[1]):
            values = x[int(batch), channel]
            for axis, (first, last) in enumerate(((y1, y2), (x1, x2))):
                values = np.apply_along_axis(
                    _pooled, axis, values, equations, first, last, size[axis], case.desc["SpatialScale"]
                )
            yield from zip(values.ravel().tolist(), written[region, channel].ravel().tolist(), strict=True)


def _pooled(line: Any, equations: Sequence[str], first: float, last: float, n: int, scale: float) -> list[float]:
    names = {"ROI_y1": first, "ROI_y2": last, "SpatialScale": scale, "n": n, "Input": reads(line)}
    names[RANGE + "r"] = range(len(line))
    return [float(value) for _, value in elements(equations, {"i": range(n)}, names)]
