"""RNN and GRU: networks that take a sequence step by step, the equations of a step in a function each.

x is {batch, input size}, what the input has at a step, and h {batch, hidden size}, the hidden state before it. W and R
are the weights of a gate for them, Wb and Rb its biases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.nested import Nested, stored
from dmlcheck.reference.numbers import Claim, Tracked, raw, sum_of_products
from dmlcheck.reference.pieces import Kernel, Open, Piece, opened, overflows

LARGEST = 1 << 21  # elements of the sequences of a piece: 16 megabytes of float64

Function = Callable[[Any], tuple[Any, Any]]


# ---- the equations of a step


class Gate(NamedTuple):
    """The weights of a gate, W and R transposed, and its biases, each None where there is none."""

    input: Any
    hidden: Any
    input_bias: Any
    hidden_bias: Any


def of_input(x: Any, gate: Gate) -> list[Any]:
    """Return the products of x W^T + Wb."""
    return _products(x, gate.input, gate.input_bias)


def of_hidden(h: Any, gate: Gate) -> list[Any]:
    """Return the products of h R^T + Rb."""
    return _products(h, gate.hidden, gate.hidden_bias)


def _products(x: Any, weights: Any, bias: Any) -> list[Any]:
    return [(np.matmul, x, weights), *([] if bias is None else [(np.multiply, 1.0, bias)])]


def summed(x: Any, h: Any, gate: Gate) -> Any:
    """Return x W^T + h R^T + Wb + Rb: one sum, whose terms may be added in any order."""
    return sum_of_products([*of_input(x, gate), *of_hidden(h, gate)])


def rnn_step(x: Any, h: Any, *, gates: Sequence[Gate], functions: Sequence[Function]) -> list[Open]:
    """Return h = f(x W^T + h R^T + Wb + Rb)."""
    (f,), (gate,) = functions, gates
    return [Open(*f(summed(x, h, gate)))]


def gru_step(
    x: Any, h: Any, *, gates: Sequence[Gate], functions: Sequence[Function], linear_before_reset: bool
) -> list[Open]:
    """Return h = (1 - z) . n + z . h, with z = f(x Wz^T + h Rz^T + Wbz + Rbz), r = f(x Wr^T + h Rr^T + Wbr + Rbr).

    n = g(x Wh^T + (r . h) Rh^T + Wbh + Rbh), with LinearBeforeReset g(x Wh^T + r . (h Rh^T + Rbh) + Wbh).
    """
    (f, g), (of_z, of_r, of_n) = functions, gates
    z, z_open = f(summed(x, h, of_z))
    r, r_open = f(summed(x, h, of_r))
    if linear_before_reset:
        n, n_open = g(sum_of_products([*of_input(x, of_n), (np.multiply, r, sum_of_products(of_hidden(h, of_n)))]))
    else:
        n, n_open = g(summed(x, r * h, of_n))
        r_open = np.atleast_2d(r_open).any(axis=1, keepdims=True)
    return [Open(blended(z, n, h), z_open | r_open | n_open)]


def blended(z: Any, n: Any, h: Any) -> Any:
    """Return (1 - z) . n + z . h; the bound has the roundings of n + z . (h - n), as others compute it, too."""
    value = (1 - z) * n + z * h
    if not isinstance(value, Tracked):
        return value
    z, n, h = (Tracked(raw(x), 0.0, value.arithmetic) for x in (z, n, h))
    return Tracked(value.value, value.slack + (n + z * (h - n)).slack, value.arithmetic, value.terms)


def activated(nested: Nested, x: Any) -> tuple[Any, Any]:
    """Return the results of an activation and what is left open: all where it reduces, here along the hidden state."""
    if nested.axes:
        value, _ = opened(nested.formula(raw(x), axes=(1,)))
        return value.astype(np.float64), True
    value, mark = opened(nested(x))
    return value, mark.holds if isinstance(mark, Claim) else mark


# ---- the steps of a sequence


class Weights(NamedTuple):
    """The weights of all gates of one or more directions, as the fields have them."""

    input: Any
    hidden: Any
    biases: Any

    def of_direction(self, direction: int) -> tuple[Any, ...]:
        """Return the tensors of a direction, without the dimensions of size 1 and that of the directions."""
        biases = None if self.biases is None else self.biases[0, 0, direction]
        return self.input[0, direction], self.hidden[0, direction], biases


def gates_of(count: int, weight: Any, recurrence: Any, biases: Any) -> list[Gate]:
    """Return gates, whose weights are one after the other."""
    inputs, hidden = (x.reshape(count, -1, x.shape[1]).swapaxes(1, 2) for x in (weight, recurrence))
    of_each = [[None] * count] * 2 if biases is None else biases.reshape(2, count, -1)
    return [Gate(*each) for each in zip(inputs, hidden, *of_each, strict=True)]


def after(step: Callable[..., list[Open]], x: Any, states: Sequence[Open], runs: Any, data_type: str) -> list[Open]:
    """Return the states after a step of the sequences that have it, and for the others those before.

    Where a state is left open, or overflows, all states of its sequence after the step are left open.
    """
    doubts = [(mark | overflows(data_type, value)).any(axis=1, keepdims=True) for value, mark in states]
    doubt = np.logical_or.reduce(doubts)
    return [
        Open(np.where(runs, stored(now, data_type), before), np.where(runs, doubt | mark, marked))
        for (now, mark), (before, marked) in zip(step(x, *(value for value, _ in states)), states, strict=True)
    ]


def of_direction(
    x: Any,
    lengths: Any,
    weight: Any,
    recurrence: Any,
    biases: Any,
    *initial: Any,
    step: Callable[..., list[Open]],
    functions: Sequence[Function],
    gates: int,
    is_backward: bool,
    is_padded: bool,
    data_type: str,
) -> dict[str, Open]:
    """Return the states of all steps of some sequences in one direction, and the last ones."""
    count, batch = x.shape[:2]
    lengths = np.full(batch, count) if lengths is None else lengths
    runs = np.arange(count)[:, None, None] < lengths[:, None]
    step = partial(step, gates=gates_of(gates, weight, recurrence, biases), functions=functions)
    states = [first(state, recurrence, batch) for state in initial]
    found = {}
    for t in reversed(range(count)) if is_backward else range(count):
        states = after(step, x[t], states, runs[t], data_type)
        found[t] = states[0]
    is_wrong = ((lengths < 1) | (lengths > count))[:, None]
    sequence, marks = (np.stack(parts) for parts in zip(*(found[t] for t in range(count)), strict=True))
    return {
        "output_sequence": Open(np.where(runs, sequence, 0.0), np.where(runs, marks, not is_padded) | is_wrong),
        **{name: Open(value, mark | is_wrong) for name, (value, mark) in zip(SINGLE, states, strict=False)},
    }


SINGLE = ("output_single", "output_cell_single")


def first(state: Any, recurrence: Any, batch: int) -> Open:
    """Return the state before the first step; one of 0 is left open where it meets infinity or NaN."""
    shape = (batch, recurrence.shape[1])
    if state is None:
        return Open(np.zeros(shape), np.full(shape, not np.isfinite(raw(recurrence)).all()))
    return Open(state, np.zeros(shape, bool))


def recurrences(
    step: Callable[..., list[Open]],
    input: Any,
    lengths: Any,
    weights: Weights,
    states: Sequence[Any],
    *,
    gates: int,
    functions: Sequence[Nested],
    direction: str,
    data_type: str,
    is_padded: bool = False,
) -> Iterator[Piece]:
    """Yield the pieces of a recurrent operator: a direction and some sequences each."""
    ways = {"FORWARD": [False], "BACKWARD": [True], "BIDIRECTIONAL": [False, True]}[direction]
    own = len(functions) // len(ways)
    _, count, total, size = input.shape
    width = max(1, LARGEST // (count * (size + weights.hidden.shape[3])))
    for way, is_backward in enumerate(ways):
        formula = partial(
            of_direction,
            step=step,
            functions=[partial(activated, nested) for nested in functions[way * own :][:own]],
            gates=gates,
            is_backward=is_backward,
            is_padded=is_padded,
            data_type=data_type,
        )
        for start in range(0, total, width):
            batch = slice(start, min(total, start + width))
            operands = [x if x is None else x[0, way, batch] for x in states]
            of_each = None if lengths is None else lengths[0, 0, 0, batch]
            where = {"output_sequence": (slice(None), way, batch), **dict.fromkeys(SINGLE, (0, way, batch))}
            yield Piece(where, formula, (input[0, :, batch], of_each, *weights.of_direction(way), *operands))


# ---- the operators


def rnn(
    input: Any,
    weight: Any,
    recurrence: Any,
    bias: Any,
    hidden_init: Any,
    sequence_lengths: Any,
    *,
    activation_descs: Sequence[Nested],
    direction: str,
    input_type: str,
) -> Iterator[Piece]:
    """H(t) = f(X(t) W^T + H(t-1) R^T + Wb + Rb), backward with H(t+1), for t within the sequence's length; 0 after it.

    The first H is HiddenInit, or 0; OutputSingle is the last one. All of a sequence is left open whose length is 0 or
    more than there are steps, and after a step what follows from a state that is left open or overflows.
    """
    return recurrences(
        rnn_step,
        input,
        sequence_lengths,
        Weights(weight, recurrence, bias),
        [hidden_init],
        gates=1,
        functions=activation_descs,
        direction=direction,
        data_type=input_type,
        is_padded=True,
    )


def gru(
    input: Any,
    weight: Any,
    recurrence: Any,
    bias: Any,
    hidden_init: Any,
    sequence_lengths: Any,
    *,
    activation_descs: Sequence[Nested],
    direction: str,
    linear_before_reset: bool,
    input_type: str,
) -> Iterator[Piece]:
    """H(t) = (1 - z) . n + z . H(t-1), with n = g(X(t) Wh^T + (r . H(t-1)) Rh^T + Wbh + Rbh).

    z and r are f(X(t) W^T + H(t-1) R^T + Wb + Rb) of their gates; LinearBeforeReset makes n g(X(t) Wh^T + r . (H(t-1)
    Rh^T + Rbh) + Wbh). Left open is what RNN leaves open, and OutputSequence after a sequence's end.
    """
    return recurrences(
        partial(gru_step, linear_before_reset=linear_before_reset),
        input,
        sequence_lengths,
        Weights(weight, recurrence, bias),
        [hidden_init],
        gates=3,
        functions=activation_descs,
        direction=direction,
        data_type=input_type,
    )


KERNELS: dict[str, Kernel] = {
    "GRU": Kernel(gru),
    "RNN": Kernel(rnn),
}
