"""RNN, GRU and LSTM in plain loops over numbers of any kind: fractions, mpmath's, or FLOAT32 one rounding at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Number = Any
Function = Callable[[Number], Number]
Row = list[Number]


class Part:
    """The tensors of a direction, as numbers of one kind."""

    def __init__(self, inputs: dict[str, Array], way: int, of: Callable[[float], Number]) -> None:
        """Take the tensors of a desc, the number of the direction and what makes a number of a float."""

        def numbers(name: str, *at: int) -> Any:
            return None if name not in inputs else numbers_of(inputs[name][at].tolist(), of)

        self.weights, self.recurrence = numbers("WeightTensor", 0, way), numbers("RecurrenceTensor", 0, way)
        self.bias = numbers("BiasTensor", 0, 0, way)
        self.hidden, self.cell = numbers("HiddenInitTensor", 0, way), numbers("CellMemInitTensor", 0, way)
        peepholes = numbers("PeepholeTensor", 0, 0, way)
        self.size = len(self.recurrence[0])
        self.gates = len(self.recurrence) // self.size
        self.peepholes = peepholes and [peepholes[at : at + self.size] for at in range(0, 3 * self.size, self.size)]

    def of_input(self, gate: int, x: Row) -> Row:
        """Return W x + Wb of a gate."""
        return [self._sum(self.weights, gate * self.size + j, 0, x) for j in range(self.size)]

    def of_hidden(self, gate: int, h: Row) -> Row:
        """Return R h + Rb of a gate."""
        return [self._sum(self.recurrence, gate * self.size + j, self.gates * self.size, h) for j in range(self.size)]

    def of_cell(self, gate: int, c: Row) -> Row:
        """Return P . c of a gate."""
        return [v * 0 for v in c] if self.peepholes is None else times(self.peepholes[gate], c)

    def _sum(self, rows: list[Row], row: int, start: int, x: Row) -> Number:
        total = x[0] * 0 if self.bias is None else self.bias[start + row]
        for weight, element in zip(rows[row], x, strict=True):
            total = total + weight * element
        return total


def numbers_of(values: Any, of: Callable[[float], Number]) -> Any:
    return [numbers_of(value, of) for value in values] if isinstance(values, list) else of(values)


def added(*rows: Row) -> Row:
    return [sum(terms[1:], terms[0]) for terms in zip(*rows, strict=True)]


def times(*rows: Row) -> Row:
    return [a * b for a, b in zip(*rows, strict=True)]


def rnn(part: Part, functions: Sequence[Function], x: Row, states: list[Row]) -> list[Row]:
    """Return the state after a step."""
    return [[functions[0](v) for v in added(part.of_input(0, x), part.of_hidden(0, states[0]))]]


def gru(
    part: Part, functions: Sequence[Function], x: Row, states: list[Row], *, linear_before_reset: bool
) -> list[Row]:
    """Return the state after a step."""
    (f, g), (h, *_) = functions, states
    z, r = ([f(v) for v in added(part.of_input(gate, x), part.of_hidden(gate, h))] for gate in (0, 1))
    inner = times(r, part.of_hidden(2, h)) if linear_before_reset else part.of_hidden(2, times(r, h))
    n = [g(v) for v in added(part.of_input(2, x), inner)]
    return [[(a * 0 + 1 - a) * b + a * c for a, b, c in zip(z, n, h, strict=True)]]


def lstm(
    part: Part,
    functions: Sequence[Function],
    x: Row,
    states: list[Row],
    *,
    limit: Number = None,
    is_coupled: bool,
) -> list[Row]:
    """Return the states after a step."""
    (f, g, last), (h, c) = functions, states

    def summed(gate: int, *more: Row) -> Row:
        total = added(part.of_input(gate, x), part.of_hidden(gate, h), *more)
        return total if limit is None else [min(max(v, -limit), limit) for v in total]

    i = [f(v) for v in summed(0, part.of_cell(0, c))]
    forget = [v * 0 + 1 - v for v in i] if is_coupled else [f(v) for v in summed(2, part.of_cell(2, c))]
    new = added(times(forget, c), times(i, [g(v) for v in summed(3)]))
    o = [f(v) for v in summed(1, part.of_cell(1, new))]
    return [times(o, [last(v) for v in new]), new]


def network(
    step: Callable[..., list[Row]],
    inputs: dict[str, Array],
    functions: Sequence[Function],
    direction: str,
    of: Callable[[float], Number],
    **options: Any,
) -> tuple[dict[tuple[int, int, int], Row], dict[tuple[int, int], list[Row]]]:
    """Return the hidden states by step, direction and sequence, and the last states by direction and sequence."""
    _, count, batch, _ = inputs["InputTensor"].shape
    lengths = inputs.get("SequenceLengthsTensor", np.full((1, 1, 1, batch), count))[0, 0, 0].tolist()
    ways = ["FORWARD", "BACKWARD"] if direction == "BIDIRECTIONAL" else [direction]
    sequence, last = {}, {}
    for way, name in enumerate(ways):
        part = Part(inputs, way, of)
        own = functions[way * len(functions) // len(ways) :][: len(functions) // len(ways)]
        for b in range(batch):
            states = first(part, b, of)
            order = range(lengths[b]) if name == "FORWARD" else reversed(range(lengths[b]))
            for t in order:
                x = numbers_of(inputs["InputTensor"][0, t, b].tolist(), of)
                states = step(part, own, x, states, **options)
                sequence[t, way, b] = states[0]
            last[way, b] = states
    return sequence, last


def first(part: Part, b: int, of: Callable[[float], Number]) -> list[Row]:
    """Return the states before the first step."""
    zeros = [of(0.0)] * part.size
    return [zeros if state is None else state[b] for state in (part.hidden, part.cell)]


def arrays(found: Any, inputs: dict[str, Array], convert: Callable[[Number], Any]) -> dict[str, Array]:
    """Return the results of a network as the output tensors, 0 after the end of a sequence."""
    sequence, last = found
    _, count, batch, _ = inputs["InputTensor"].shape
    ways, size = inputs["RecurrenceTensor"].shape[1], inputs["RecurrenceTensor"].shape[3]
    whole = np.zeros((count, ways, batch, size), inputs["InputTensor"].dtype)
    single = np.zeros((2, 1, ways, batch, size), whole.dtype)
    for at, row in sequence.items():
        whole[at] = [convert(v) for v in row]
    for (way, b), states in last.items():
        for kind, row in enumerate(states):
            single[kind, 0, way, b] = [convert(v) for v in row]
    return {"OutputSequenceTensor": whole, "OutputSingleTensor": single[0], "OutputCellSingleTensor": single[1]}
