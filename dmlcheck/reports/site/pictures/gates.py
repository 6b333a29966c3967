"""Drawings of recurrent cells: the gates of the last step, with the numbers of the example."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from dmlcheck.reports.site.example import with_minus_signs
from dmlcheck.reports.site.pictures.reads import Picture
from dmlcheck.reports.site.pictures.shapes import Rectangle, arrow, drawing, rect, text
from dmlcheck.reports.site.pictures.shown import Shown

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
    """Return the boxes of LSTM, whose weights are those of the gates i, o, f and of the candidate g."""
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
    """Return the boxes of GRU, whose weights are those of the gates z and r and of the candidate n."""
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
    """Yield the boxes in columns, and the arrows to those of other columns and to the box below."""
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
