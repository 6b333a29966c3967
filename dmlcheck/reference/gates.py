"""The gates of recurrent networks: their weights, and the sums that are the operands of their activations.

x is the input of a step, {batch, input size}; h is the hidden state before it, {batch, hidden size}, and c the cell
state before it. W and R are the weights of a gate for x and h, P those for c, and Wb and Rb its biases. A dot
multiplies element by element.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.ball.numbers import sum_of_products
from dmlcheck.reference.overflowing import may_overflow, norm, products_depend_on_order
from dmlcheck.reference.results import PartlyUndefined


class Gate(NamedTuple):
    """The weights of a gate: W and R transposed, the biases Wb and Rb, and P; None for those left out.

    P multiplies the cell state before the step (`cell`) or after it (`new_cell`). No weight or bias is
    larger than `largest`, infinity if nothing is known of them.
    """

    input: Any
    hidden: Any
    input_bias: Any
    hidden_bias: Any
    cell: Any
    new_cell: Any
    largest: float = math.inf


def gates_of(count: int, weight: Any, recurrence: Any, bias: Any, peephole: Any) -> list[Gate]:
    """Return `count` gates from the stacked tensors; the last gate of LSTM has no weights for the cell state."""
    size = recurrence.shape[1]
    inputs, hidden = (x.reshape(count, size, x.shape[1]).swapaxes(1, 2) for x in (weight, recurrence))
    biases = [[None] * count] * 2 if bias is None else bias.reshape(2, count, size)
    cells = [None] * count if peephole is None else [*peephole.reshape(count - 1, size), None]
    most = max(norm(x) for x in (weight, recurrence, bias, peephole) if x is not None)
    return [Gate(*each)._replace(largest=most) for each in zip(inputs, hidden, *biases, cells, cells, strict=True)]


def without(gates: Sequence[Gate], *, hidden: bool, cell: bool) -> list[Gate]:
    """Return gates without the products of h, of c, or of both."""
    left_out: dict[str, Any] = {name: None for name, is_out in (("hidden", hidden), ("cell", cell)) if is_out}
    return [gate._replace(**left_out) for gate in gates]


def summed(gate: Gate, x: Any, h: Any, c: Any = None, new_c: Any = None) -> PartlyUndefined:
    """Return x W^T + h R^T + P . c + Wb + Rb: one sum, whose terms may be added in any order.

    It is undefined where it overflows in one order alone.
    """
    cells = ((c, gate.cell), (new_c, gate.new_cell))
    of_cell = [(np.multiply, state, weights) for state, weights in cells if state is not None and weights is not None]
    return _sum([*_of_input(gate, x), *_of_hidden(gate, h), *of_cell], gate.largest)


def summed_with_share(gate: Gate, x: Any, h: Any, share: Any, data_type: str) -> PartlyUndefined:
    """Return x W^T + share . (h R^T + Rb) + Wb.

    It is undefined where one of the sums overflows in one order alone, or where only the inner one overflows the data
    type, and not the share of it.
    """
    of_hidden = _of_hidden(gate, h)
    if not of_hidden:
        return _sum(_of_input(gate, x), gate.largest)
    inner, inner_mark = _sum(of_hidden, gate.largest)
    largest = max(gate.largest, norm(inner))
    total, mark = _sum([*_of_input(gate, x), (np.multiply, share, inner)], largest)
    is_lost = may_overflow(data_type, inner) & ~may_overflow(data_type, share * inner)
    return PartlyUndefined(total, inner_mark | mark | is_lost)


def _sum(products: list[Any], largest: float) -> PartlyUndefined:
    total = sum_of_products(products)
    return PartlyUndefined(total, products_depend_on_order(total, products, largest))


def _of_input(gate: Gate, x: Any) -> list[Any]:
    """Return the products of x W^T + Wb."""
    return _products(x, gate.input, gate.input_bias)


def _of_hidden(gate: Gate, h: Any) -> list[Any]:
    """Return the products of h R^T + Rb."""
    return _products(h, gate.hidden, gate.hidden_bias)


def _products(x: Any, weights: Any, bias: Any) -> list[Any]:
    terms = ((np.matmul, x, weights), (np.multiply, 1.0, bias))
    return [term for term in terms if term[2] is not None]
