"""The drawings of an operator's example, by the family of the operator."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from dmlcheck.cases.prepare import prepare
from dmlcheck.cases.records import Case
from dmlcheck.reports.site.example import Grid, with_minus_signs
from dmlcheck.reports.site.pictures.calculations import Asked, copied, in_words
from dmlcheck.reports.site.pictures.influence import Place, influences
from dmlcheck.reports.site.pictures.reads import Mark, Picture, Rectangle, Shown, arrow, drawing, reads, rect, text
from dmlcheck.reports.site.pictures.sampling import resampled, sampled

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
