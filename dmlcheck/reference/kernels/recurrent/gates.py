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
from dmlcheck.reference.functions.overflowing import may_overflow, norm, products_depend_on_order
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
    inputs, hidden = (transposed(x.reshape(count, size, x.shape[1])) for x in (weight, recurrence))
    biases = [[None] * count] * 2 if bias is None else bias.reshape(2, count, size)
    cells = [None] * count if peephole is None else [*peephole.reshape(count - 1, size), None]
    most = float(np.max([norm(x) for x in (weight, recurrence, bias, peephole) if x is not None]))
    return [Gate(*each)._replace(largest=most) for each in zip(inputs, hidden, *biases, cells, cells, strict=True)]


def transposed(weights: Any) -> Any:
    """Return the weights of gates, transposed; small ones are copied, since BLAS multiplies by rows faster.

    A copy of large ones would take more time than a few steps.
    """
    found = weights.swapaxes(1, 2)
    return np.copy(found, order="C") if found.size <= SMALL else found


SMALL = 1 << 18  # elements: 2 megabytes of float64


def without(gates: Sequence[Gate], *, hidden: bool, cell: bool) -> list[Gate]:
    """Return gates without the products of h, of c, or of both."""
    left_out: dict[str, Any] = {name: None for name, is_out in (("hidden", hidden), ("cell", cell)) if is_out}
    return [gate._replace(**left_out) for gate in gates]


class StepInputs(NamedTuple):
    """The factors of the gates of a step: x, h, and the cell state before it; `norms` has the norms of x and h."""

    x: Any
    h: Any
    c: Any
    norms: tuple[float, float]


def step_inputs(x: Any, h: Any, c: Any = None) -> StepInputs:
    """Return the inputs of a step; `c` is None in a network without a cell state."""
    return StepInputs(x, h, c, (norm(x), norm(h)))


def summed(gate: Gate, of: StepInputs, new_c: Any = None) -> PartlyUndefined:
    """Return x W^T + h R^T + P . c + Wb + Rb: one sum, whose terms may be added in any order.

    P multiplies `new_c` instead of c if it is given. The sum is undefined where it overflows in only one order.
    """
    state, weights = (of.c, gate.cell) if new_c is None else (new_c, gate.new_cell)
    of_cell = [] if state is None or weights is None else [(np.multiply, state, weights)]
    most = _most(gate, of) + gate.largest * sum(norm(x) for _, x, _ in of_cell)
    return _sum([*_of_input(gate, of.x), *_of_hidden(gate, of.h), *of_cell], most)


def summed_with_share(gate: Gate, of: StepInputs, share: Any, data_type: str) -> PartlyUndefined:
    """Return x W^T + share . (h R^T + Rb) + Wb; without R and Rb, the share is of 0.

    It is undefined where one of the sums overflows in only one order, or where only the inner one overflows the data
    type, and not the share of it.
    """
    of_hidden = _of_hidden(gate, of.h)
    if not of_hidden:
        return _sum([*_of_input(gate, of.x), (np.multiply, share, 0.0)], _most(gate, of))
    inner, inner_mark = _sum(of_hidden, _most(gate, of))
    total, mark = _sum(
        [*_of_input(gate, of.x), (np.multiply, share, inner)], _most(gate, of) + norm(share) * norm(inner)
    )
    is_lost = may_overflow(data_type, inner) & ~may_overflow(data_type, share * inner)
    return PartlyUndefined(total, inner_mark | mark | is_lost)


def _most(gate: Gate, of: StepInputs) -> float:
    """Return a number that the sizes of the products of x and h and the biases do not exceed in one sum."""
    (of_x, of_h), (inputs, hidden) = of.norms, (int(x.shape[-1]) for x in (of.x, of.h))
    return gate.largest * (of_x * inputs + of_h * hidden + 2)


def _sum(products: list[Any], most: float) -> PartlyUndefined:
    total = sum_of_products(products)
    return PartlyUndefined(total, products_depend_on_order(total, products, most))


def _of_input(gate: Gate, x: Any) -> list[Any]:
    """Return the products of x W^T + Wb."""
    return _products(x, gate.input, gate.input_bias)


def _of_hidden(gate: Gate, h: Any) -> list[Any]:
    """Return the products of h R^T + Rb."""
    return _products(h, gate.hidden, gate.hidden_bias)


def _products(x: Any, weights: Any, bias: Any) -> list[Any]:
    terms = ((np.matmul, x, weights), (np.multiply, 1.0, bias))
    return [term for term in terms if term[2] is not None]
