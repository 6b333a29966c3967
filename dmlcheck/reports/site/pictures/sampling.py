"""Drawings of sampling: the places of output elements between input elements, along one axis or in a region."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dmlcheck.reports.site.example import with_minus_signs
from dmlcheck.reports.site.pictures.calculations import value_of
from dmlcheck.reports.site.pictures.reads import (
    WIDEST,
    Picture,
    Rectangle,
    Shown,
    arrow,
    dot,
    drawing,
    line,
    rect,
    text,
)

_HEIGHT, _AXIS, _LOWER, _MARGIN = 30.0, 74.0, 142.0, 8.0


class ResampledAxis(NamedTuple):
    """The last axis of a resampled tensor: the numbers of both sides, and where the numbers of the finer side lie."""

    coarse: tuple[str, str, list[str]]  # the label of the tensor, its name in calculations, and its numbers
    fine: tuple[str, str, list[str]]
    places: list[float]
    is_linear: bool
    is_gradient: bool


def resampled(shown: Shown) -> list[Picture]:
    """Return the drawing of the last axis of a resampling operator."""
    row = row_of(shown)
    title = (
        "Each gradient of the lower row is added to the upper elements next to its place x."
        if row.is_gradient
        else "The place x of each output element on the last axis, between the centres of the input elements."
    )
    lines = [(f"[{at}]", _words(row, at)) for at in range(len(row.places))]
    width, parts = _drawn(row)
    words = " ".join(f"{row.fine[1]}{letter}: {words}." for letter, words in lines)
    return [Picture(drawing(width, _LOWER + _HEIGHT + 22, "places", title, words, parts), title, tuple(lines))]


def row_of(shown: Shown) -> ResampledAxis:
    """Return the first row of an example along its last axis."""
    values, short = shown.desc.values, shown.desc.spec.short
    is_gradient = "_GRAD" in short
    fine, coarse = (
        (shown.grid("InputGradientTensor"), shown.grid("OutputGradientTensor"))
        if is_gradient
        else (shown.grid("OutputTensor"), shown.grid("InputTensor"))
    )
    is_linear = values["InterpolationMode"] == "LINEAR"
    own, other = (values.get(f"{side}PixelOffsets") for side in ("Input", "Output"))
    ends = (float(own[-1]), float(other[-1])) if own and other else (0.5, -0.5)
    if is_gradient:
        ends = ends[1], ends[0]
    if "ScaleSize" in values and not is_linear:
        ends = 0.0, 0.0
    scale = float(values["ScaleSize"].Width if "ScaleSize" in values else values["Scales"][-1])
    places = [(at - ends[1]) / scale - ends[0] for at in range(fine.sizes[-1])]
    sides = [
        (grid.name.replace("Tensor", ""), grid.name, [cell.text for cell in grid.matrices[0][0]])
        for grid in (coarse, fine)
    ]
    return ResampledAxis(sides[0], sides[1], places, is_linear, is_gradient)


def _drawn(row: ResampledAxis) -> tuple[float, list[str]]:
    """Return the width of the drawing and its shapes."""
    count, step = len(row.coarse[2]), 1.0
    if len(row.places) > 1:
        step = row.places[1] - row.places[0]
    low = min(-0.5, row.places[0] - step / 2)
    high = max(count - 0.5, row.places[-1] + step / 2)
    unit = min(140.0, (WIDEST - 2 * _MARGIN) / (high - low))

    def across(x: float) -> float:
        return _MARGIN + (x - low) * unit

    parts = [text(_MARGIN, 12, row.coarse[0], "of"), text(_MARGIN, _LOWER + _HEIGHT + 16, row.fine[0], "of")]
    for at, number in enumerate(row.coarse[2]):
        parts += _cell(Rectangle(across(at - 0.5), 20, unit, _HEIGHT), number)
        parts += [line((across(at), 20 + _HEIGHT), (across(at), _AXIS + 4), "axis")]
        parts += [text(across(at) + 4, _AXIS - 6, str(at), "quiet")]
    parts.append(line((across(low), _AXIS), (across(high), _AXIS), "axis"))
    for x, number in zip(row.places, row.fine[2], strict=True):
        parts += _cell(Rectangle(across(x - step / 2), _LOWER, step * unit, _HEIGHT), number)
        parts.append(arrow((across(x), _LOWER), (across(x), _AXIS + 2), "a"))
        parts.append(text(across(x) + 4, _LOWER - 22, with_minus_signs(f"{x:.3g}"), "quiet"))
    return across(high) + _MARGIN, parts


def _cell(box: Rectangle, number: str) -> Iterator[str]:
    yield rect(box, "cell")
    yield text(box.middle[0], box.middle[1] + 4, number, "mid")


def _words(row: ResampledAxis, at: int) -> str:
    """Return the place of an element of the finer side, and the calculation if it gives the element's number."""
    x = row.places[at]
    start = with_minus_signs(f"x = {x:.4g}")
    shares = shares_of(x, len(row.coarse[2]), is_linear=row.is_linear)
    if row.is_gradient:
        if not row.is_linear:
            return f"{start}: {row.fine[2][at]} to {row.coarse[1]}[{shares[0][0]}]" if _adds_up(row) else start
        parts = [f"{weight:g} × {row.fine[2][at]} to {row.coarse[1]}[{index}]" for index, weight in shares]
        return f"{start}: {' and '.join(parts)}"
    result = row.fine[2][at]
    terms = [f"{weight:g} × {row.coarse[2][index]}" for index, weight in shares]
    calculation = " + ".join(terms)
    if row.is_linear and math.isclose(value_of(calculation), value_of(result), rel_tol=1e-3, abs_tol=1e-6):
        return f"{start}: {calculation} = {result}"
    return f"{start}: {result}"


def _adds_up(row: ResampledAxis) -> bool:
    """Whether the gradients of the finer side give the others where each is added to only one element."""
    sums = [0.0] * len(row.coarse[2])
    for x, number in zip(row.places, row.fine[2], strict=True):
        sums[shares_of(x, len(sums), is_linear=False)[0][0]] += value_of(number)
    return all(map(math.isclose, sums, map(value_of, row.coarse[2])))


def shares_of(x: float, count: int, *, is_linear: bool) -> list[tuple[int, float]]:
    """Return the elements next to a place with their weights; beyond an edge the edge element has all of it."""
    low = math.floor(x)
    if not is_linear:
        return [(min(max(low, 0), count - 1), 1.0)]
    weights: dict[int, float] = {}
    for index, weight in ((low, 1 - (x - low)), (low + 1, x - low)):
        if weight:
            inside = min(max(index, 0), count - 1)
            weights[inside] = weights.get(inside, 0.0) + weight
    return list(weights.items())


# ---- regions


class SampledRegion(NamedTuple):
    """A region of an image in its elements' coordinates, and the places of the samples along both axes."""

    x: tuple[float, float]
    y: tuple[float, float]
    across: list[float]
    down: list[float]


def region_of(shown: Shown) -> SampledRegion:
    """Return the region of an example, of which each output element is one sample."""
    values = shown.desc.values
    made = shown.grid("InputGradientTensor" if "_GRAD" in shown.desc.spec.short else "OutputTensor")
    x1, y1, x2, y2 = (float(number) for number in shown.inputs["ROITensor"].reshape(-1))
    before, after = float(values.get("InputPixelOffset", 0.5)), float(values.get("OutputPixelOffset", -0.5))
    ends, places = [], []
    for start, end, scale, count in (
        (x1, x2, float(values["SpatialScaleX"]), made.sizes[-1]),
        (y1, y2, float(values["SpatialScaleY"]), made.sizes[-2]),
    ):
        size, first = (end - start) * scale, start * scale
        ends.append((first - before, first + size - before))
        divisor = count - 1 if values.get("AlignRegionsToCorners") else count
        places.append([(sample - after) * size / divisor + first - before for sample in range(count)])
    return SampledRegion(ends[0], ends[1], places[0], places[1])


def sampled(shown: Shown) -> list[Picture]:
    """Return the drawing of a region of interest on its image, with the places of the samples."""
    values = shown.desc.values
    if (values["MinimumSamplesPerOutput"], values["MaximumSamplesPerOutput"]) != (1, 1):
        return []
    region = region_of(shown)
    is_gradient = "_GRAD" in shown.desc.spec.short
    image = shown.grid("OutputGradientTensor" if is_gradient else "InputTensor")
    made = shown.grid("InputGradientTensor" if is_gradient else "OutputTensor")
    title = (
        "The region of interest on the gradient: each dot adds one element of InputGradientTensor to its neighbours."
        if is_gradient
        else "The region of interest on the input: each output element is the sample at one dot."
    )
    lines = []
    for row, y in enumerate(region.down):
        for column, x in enumerate(region.across):
            number = made.matrices[0][row][column].text
            lines.append((f"[{row}, {column}]", with_minus_signs(f"x = {x:g}, y = {y:g}: {number}")))
    unit = 48.0
    parts, numbers = _image([[cell.text for cell in row] for row in image.matrices[0]], unit)
    x, y = ((end + 0.5) * unit + 1 for end in (region.x[0], region.y[0]))
    box = Rectangle(x, y, (region.x[1] - region.x[0]) * unit, (region.y[1] - region.y[0]) * unit)
    parts.append(rect(box, "mark a"))
    parts += [
        dot((across + 0.5) * unit + 1, (down + 0.5) * unit + 1, "tip a")
        for down in region.down
        for across in region.across
    ]
    words = " ".join(f"{made.name}{place}: {words}." for place, words in lines)
    size = image.sizes[-1] * unit + 2, image.sizes[-2] * unit + 2
    return [Picture(drawing(*size, "region", title, words, [*parts, *numbers]), title, tuple(lines))]


def _image(rows: Sequence[Sequence[str]], unit: float) -> tuple[list[str], list[str]]:
    """Return the elements of an image, and their numbers in the upper left corners, off the places of samples."""
    cells, numbers = [], []
    for down, row in enumerate(rows):
        for across, number in enumerate(row):
            box = Rectangle(across * unit + 1, down * unit + 1, unit, unit)
            cells.append(rect(box, "cell"))
            numbers.append(text(box.x + 5, box.y + 14, number, "on"))
    return cells, numbers
