"""The gates of recurrent networks: their weights, and the sums that their activations take.

x is {batch, input size}, what the input has at a step, h {batch, hidden size}, the hidden state before it, and c the
cell state before it. W and R are the weights of a gate for x and h, P those for c, and Wb and Rb its biases. A point is
a product of elements.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.ball.numbers import sum_of_products


class Gate(NamedTuple):
    """The weights of a gate, W and R transposed, and its biases and P, each None where there is none."""

    input: Any
    hidden: Any
    input_bias: Any
    hidden_bias: Any
    cell: Any


def gates_of(count: int, weight: Any, recurrence: Any, bias: Any, peephole: Any) -> list[Gate]:
    """Return gates, whose weights are one after the other; the last of four has none for the cell state."""
    size = recurrence.shape[1]
    inputs, hidden = (x.reshape(count, size, x.shape[1]).swapaxes(1, 2) for x in (weight, recurrence))
    biases = [[None] * count] * 2 if bias is None else bias.reshape(2, count, size)
    cells = [None] * count if peephole is None else [*peephole.reshape(count - 1, size), None]
    return [Gate(*each) for each in zip(inputs, hidden, *biases, cells, strict=True)]


def summed(gate: Gate, x: Any, h: Any, c: Any = None) -> Any:
    """Return x W^T + h R^T + P . c + Wb + Rb: one sum, whose terms may be added in any order."""
    of_cell = [] if c is None or gate.cell is None else [(np.multiply, c, gate.cell)]
    return sum_of_products([*_of_input(gate, x), *_of_hidden(gate, h), *of_cell])


def summed_with_share(gate: Gate, x: Any, h: Any, share: Any) -> Any:
    """Return x W^T + share . (h R^T + Rb) + Wb."""
    of_hidden = (np.multiply, share, sum_of_products(_of_hidden(gate, h)))
    return sum_of_products([*_of_input(gate, x), of_hidden])


def _of_input(gate: Gate, x: Any) -> list[Any]:
    """Return the products of x W^T + Wb."""
    return _products(x, gate.input, gate.input_bias)


def _of_hidden(gate: Gate, h: Any) -> list[Any]:
    """Return the products of h R^T + Rb."""
    return _products(h, gate.hidden, gate.hidden_bias)


def _products(x: Any, weights: Any, bias: Any) -> list[Any]:
    return [(np.matmul, x, weights), *([] if bias is None else [(np.multiply, 1.0, bias)])]
