"""The drawings of an operator's example, by the family of the operator."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from dmlcheck.cases.prepare import prepare
from dmlcheck.cases.records import Case
from dmlcheck.reports.site.example import Grid, with_minus_signs
from dmlcheck.reports.site.pictures.influence import Asked, Place, copied, in_words, influences, value_of
from dmlcheck.reports.site.pictures.reads import (
    WIDEST,
    Mark,
    Picture,
    Rectangle,
    Shown,
    arrow,
    dot,
    drawing,
    line,
    reads,
    rect,
    text,
)

_MOST = 64  # elements of the inputs of an example that is drawn


def pictures(family: str, case: Case, grids: Sequence[Grid]) -> list[Picture]:
    """Return the drawings of an example; none for an operator whose examples need none, or a large example."""
    prepared = prepare(case)
    if prepared.desc is None or prepared.desc.spec.short.startswith(WITHOUT):
        return []
    draw = DRAWINGS.get(prepared.desc.spec.short) or DRAWINGS.get(family)
    if draw is None or sum(math.prod(grid.sizes) for grid in grids if grid.role == "input") > _MOST:
        return []
    return draw(Shown(prepared.desc, prepared.inputs, grids))


def _sources(words: Callable[[Asked], str] | None, most: int, title: str) -> Callable[[Shown], list[Picture]]:
    """Return the function that draws a few output elements with the elements that each is made of."""

    def drawn(shown: Shown) -> list[Picture]:
        found = influences(shown.desc, shown.inputs)
        numbers, short = shown.numbers(), shown.desc.spec.short
        marks = []
        for output in _chosen(found, most, is_any=words is not None):
            asked = Asked(output, found[output], numbers)
            marks.append(Mark(output, found[output], words(asked) if words else in_words(short, asked)))
        used = {
            *(place for place, sources in found.items() if sources),
            *(place for sources in found.values() for place in sources),
        }
        caption = title.format(_COUNTS.get(len(marks)))
        return [reads(shown.grids, marks, used.__contains__, caption)] if marks else []

    return drawn


def _chosen(found: Mapping[Place, Sequence[Place]], most: int, *, is_any: bool) -> list[Place]:
    """Return a few output elements with the most sources, or a few of all that have any, one of them with the most."""
    longest = max(map(len, found.values()))
    fullest = [place for place, sources in found.items() if len(sources) == longest]
    if not is_any:
        return _few(fullest, most)
    few = _few([place for place, sources in found.items() if sources], most)
    return few if not set(fullest).isdisjoint(few) else [fullest[0], *few[1:]]


def _few(places: Sequence[Place], most: int) -> list[Place]:
    """Return the first and the last of some, and one between where there is room for it."""
    if len(places) <= most:
        return list(places)
    return [places[at * (len(places) - 1) // max(most - 1, 1)] for at in range(most)]


# ---- recurrent cells: the gates of the last step, with the numbers of the example


_WIDTH, _HEIGHT, _STEP = 352.0, 42.0, 54.0
_COLUMNS = ((1.0, 76.0), (126.0, 90.0), (266.0, 86.0))  # where the boxes of a column begin, and how wide they are


class Part(NamedTuple):
    """A box of the drawing: its column, its name and value, its calculation, and the names of the boxes it reads."""

    column: int
    name: str
    value: float
    words: str = ""
    reads: tuple[str, ...] = ()


class GateCell(NamedTuple):
    """The numbers of a step: the input, the weights of each gate, and the state before it."""

    x: float
    weights: Sequence[float]
    recurrence: Sequence[float]
    hidden: float
    memory: float = 0.0

    def given(self) -> tuple[Part, Part]:
        """Return the boxes of the input and of the state before."""
        return Part(0, "X", self.x), Part(0, "H before", self.hidden)

    def gate(self, at: int, name: str, factor: float = 1.0, reads: tuple[str, ...] = ()) -> Part:
        """Return the box of a gate; `factor` is what the state is multiplied by first, of the boxes `reads`."""
        w, r = self.weights[at], self.recurrence[at]
        state = numbers(factor, self.hidden) if reads else number(self.hidden)
        value = self.x * w + factor * self.hidden * r
        return Part(1, name, value, f"{numbers(self.x, w)} + {state} × {number(r)}", ("X", "H before", *reads))


def gated(shown: Shown) -> list[Picture]:
    """Return the drawing of a cell of one element, whose activations are the identity; no other example is drawn."""
    values, inputs = shown.desc.values, shown.inputs
    gates, parts_of = CELLS[shown.desc.spec.short]
    is_plain = all(one.spec.short == "ACTIVATION_IDENTITY" for one in values["ActivationDescs"])
    is_single = inputs["WeightTensor"].size == inputs["RecurrenceTensor"].size == gates
    if not (is_plain and is_single and values["Direction"] == "FORWARD" and not inputs.keys() - _KNOWN):
        return []
    parts = _last_step(shown, parts_of)
    title = "The last step of the example. A box points to the boxes that read it."
    lines = tuple((part.name, f"{part.words} = {number(part.value)}") for part in parts if part.words)
    words = " ".join(f"{name} = {calculation}." for name, calculation in lines)
    rows = max(sum(part.column == column for part in parts) for column in range(3))
    height = (rows - 1) * _STEP + _HEIGHT + 2
    return [Picture(drawing(_WIDTH + 2, height, "gates", title, words, _drawn(parts, height)), title, lines)]


_KNOWN = {"InputTensor", "WeightTensor", "RecurrenceTensor", "HiddenInitTensor", "CellMemInitTensor"}


def _last_step(shown: Shown, parts_of: Callable[[GateCell], list[Part]]) -> list[Part]:
    """Return the boxes of the last step, after those before it were computed."""
    inputs = {name: [float(one) for one in array.reshape(-1)] for name, array in shown.inputs.items()}
    state = {"H": inputs.get("HiddenInitTensor", [0.0])[0], "C": inputs.get("CellMemInitTensor", [0.0])[0]}
    parts: list[Part] = []
    for x in inputs["InputTensor"]:
        parts = parts_of(GateCell(x, inputs["WeightTensor"], inputs["RecurrenceTensor"], state["H"], state["C"]))
        state = {**state, **{part.name: part.value for part in parts}}
    return parts


def lstm(cell: GateCell) -> list[Part]:
    """Return the boxes of LSTM, whose weights are in the order of the gates i, o, f and the candidate g."""
    i, o, f, g = (cell.gate(at, name) for at, name in enumerate("iofg"))
    memory = f.value * cell.memory + i.value * g.value
    calculation = f"{numbers(f.value, cell.memory)} + {numbers(i.value, g.value)}"
    return [
        *cell.given(),
        Part(0, "C before", cell.memory),
        f,
        i,
        g,
        o,
        Part(2, "C", memory, calculation, ("C before", "f", "i", "g")),
        Part(2, "H", o.value * memory, numbers(o.value, memory), ("o", "C")),
    ]


def gru(cell: GateCell) -> list[Part]:
    """Return the boxes of GRU, whose weights are in the order of the gates z and r and the candidate n."""
    z, r = cell.gate(0, "z"), cell.gate(1, "r")
    n = cell.gate(2, "n", r.value, ("r",))
    hidden = (1 - z.value) * n.value + z.value * cell.hidden
    calculation = f"(1 − {number(z.value)}) × {number(n.value)} + {numbers(z.value, cell.hidden)}"
    return [*cell.given(), z, r, n, Part(2, "H", hidden, calculation, ("z", "n"))]


def rnn(cell: GateCell) -> list[Part]:
    """Return the boxes of RNN, which has no gate."""
    sum_of = cell.gate(0, "H")
    return [*cell.given(), sum_of._replace(column=2)]


# The number of weights of a cell of one element, and the boxes of a step. GRU's state is gated before it is weighted,
# which gives the same as after it where there is no bias.
CELLS: dict[str, tuple[int, Callable[[GateCell], list[Part]]]] = {"LSTM": (4, lstm), "GRU": (3, gru), "RNN": (1, rnn)}


def number(value: float) -> str:
    """Return a number as calculations have it."""
    return with_minus_signs(f"{value:.5g}")


def numbers(one: float, other: float) -> str:
    """Return a product of two numbers."""
    return f"{number(one)} × {number(other)}"


def _drawn(parts: Sequence[Part], height: float) -> Iterator[str]:
    """Yield the boxes in columns, and the arrows to boxes of other columns and to the box below."""
    boxes = dict(_placed(parts, height))
    for part in parts:
        for name in part.reads:
            start, end = boxes[name], boxes[part.name]
            if start.x < end.x:
                yield arrow((start.right, start.middle[1]), (end.x, end.middle[1]), "flow")
            else:
                yield arrow((start.middle[0], start.bottom), (end.middle[0], end.y), "flow")
    for part in parts:
        box = boxes[part.name]
        yield rect(box, "cell")
        yield text(box.middle[0], box.y + 17, part.name, "mid quiet")
        yield text(box.middle[0], box.y + 34, number(part.value), "mid")


def _placed(parts: Sequence[Part], height: float) -> Iterator[tuple[str, Rectangle]]:
    for column, (x, width) in enumerate(_COLUMNS):
        own = [part for part in parts if part.column == column]
        top = (height - (len(own) - 1) * _STEP - _HEIGHT) / 2
        for row, part in enumerate(own):
            yield part.name, Rectangle(x, top + row * _STEP, width, _HEIGHT)


# ---- the drawings of each family


_CELL, _AXIS, _LOWER, _MARGIN = 30.0, 74.0, 142.0, 8.0


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
    width, parts = _drawn_axis(row)
    words = " ".join(f"{row.fine[1]}{letter}: {words}." for letter, words in lines)
    return [Picture(drawing(width, _LOWER + _CELL + 22, "places", title, words, parts), title, tuple(lines))]


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


def _drawn_axis(row: ResampledAxis) -> tuple[float, list[str]]:
    """Return the width of the drawing and its shapes."""
    count, step = len(row.coarse[2]), 1.0
    if len(row.places) > 1:
        step = row.places[1] - row.places[0]
    low = min(-0.5, row.places[0] - step / 2)
    high = max(count - 0.5, row.places[-1] + step / 2)
    unit = min(140.0, (WIDEST - 2 * _MARGIN) / (high - low))

    def across(x: float) -> float:
        return _MARGIN + (x - low) * unit

    parts = [text(_MARGIN, 12, row.coarse[0], "of"), text(_MARGIN, _LOWER + _CELL + 16, row.fine[0], "of")]
    for at, number in enumerate(row.coarse[2]):
        parts += _cell(Rectangle(across(at - 0.5), 20, unit, _CELL), number)
        parts += [line((across(at), 20 + _CELL), (across(at), _AXIS + 4), "axis")]
        parts += [text(across(at) + 4, _AXIS - 6, str(at), "quiet")]
    parts.append(line((across(low), _AXIS), (across(high), _AXIS), "axis"))
    for x, number in zip(row.places, row.fine[2], strict=True):
        parts += _cell(Rectangle(across(x - step / 2), _LOWER, step * unit, _CELL), number)
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


_COUNTS = {1: "one element", 2: "two elements", 3: "three elements"}
_ELEMENTS = _sources(None, 2, "The elements that make {} of the result.")
_WINDOWS = _sources(None, 2, "The windows that make {} of the result.")
_LARGEST = _sources(None, 2, "The elements of which the largest becomes 1.")
_MOVED = _sources(copied, 3, "The places that {} of the result come from.")
# By family, or by the name of an operator whose examples are drawn in another way.
DRAWINGS: dict[str, Callable[[Shown], list[Picture]]] = {
    "matrices": _sources(None, 2, "The rows and columns that make {} of the result."),
    "convolution": _WINDOWS,
    "pooling": _WINDOWS,
    "normalization": _ELEMENTS,
    "softmax": _ELEMENTS,
    "reduction": _ELEMENTS,
    "scans": _ELEMENTS,
    "indexing": _MOVED,
    "layout": _MOVED,
    "quantization": _ELEMENTS,
    "resampling": resampled,
    "regions": sampled,
    "recurrent": gated,
    "attention": _sources(None, 1, "The elements that make the first element of the result."),
    "training": _ELEMENTS,
    "ACTIVATION_HARDMAX": _LARGEST,
    "ACTIVATION_HARDMAX1": _LARGEST,
    "MAX_UNPOOLING": _MOVED,
    "REVERSE_SUBSEQUENCES": _MOVED,
    "RESAMPLE_GRAD": resampled,
    "RESAMPLE_GRAD1": resampled,
    "ROI_ALIGN_GRAD": sampled,
    "ROI_POOLING": _WINDOWS,
    "SLICE_GRAD": _MOVED,
    "UNFOLD": _MOVED,
}
# Each output element of these is made of the elements at its own place, or of all.
WITHOUT = (
    "ELEMENT_WISE_",
    "ACTIVATION_RELU_GRAD",
    "ADAM_OPTIMIZER",
    "DYNAMIC_QUANTIZE_LINEAR",
    "NONZERO_COORDINATES",
    "VALUE_SCALE_2D",
)
