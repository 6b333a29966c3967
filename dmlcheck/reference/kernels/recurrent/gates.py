"""The gates of recurrent networks: their weights, and the sums that are the operands of their activations.

x is the input of a step, {batch, input size}; h is the hidden state before it, {batch, hidden size}, and c the cell
state before it. W and R are the weights of a gate for x and h, P those for c, and Wb and Rb its biases. A dot
multiplies element by element.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.ball.numbers import Condition, raw, sum_of_products
from dmlcheck.reference.functions.nested import Nested
from dmlcheck.reference.functions.overflowing import (
    NONE,
    infinite_beyond,
    is_beyond,
    may_overflow,
    norm,
    products_depend_on_order,
)
from dmlcheck.reference.results import PartlyUndefined, separated, ways_of
from dmlcheck.values.number_formats import NUMPY_TYPES


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

    def without(self, *, hidden: bool, cell: bool) -> Gate:
        """Return the gate without the products of h, of c, or of both."""
        left_out: dict[str, Any] = {name: None for name, is_out in (("hidden", hidden), ("cell", cell)) if is_out}
        return self._replace(**left_out)


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


class RecurrentStep:
    """A step of a network: the operands of its gates, and a mask of the results that are undefined so far."""

    def __init__(self, data_type: str, x: Any, h: Any, c: Any = None) -> None:
        """Take the input, the hidden state and the cell state, which is None in a network without one."""
        self.data_type, self.x, self.h, self.c = data_type, x, h, c
        self.norms = norm(x), norm(h)
        self.undefined: Any = NONE

    def defined(self, result: Any) -> Any:
        """Return a result without its mask of undefined elements, in which everything that follows is undefined."""
        value, mark = separated(result)
        self.undefined = self.undefined | (mark.value if isinstance(mark, Condition) else mark)
        return value

    def result(self, value: Any) -> PartlyUndefined:
        """Return a result of the step, undefined where anything before it is."""
        return PartlyUndefined(value, self.undefined)

    def sum(self, gate: Gate, *, reset: Any = None, new_c: Any = None) -> Any:
        """Return x W^T + h R^T + P . c + Wb + Rb: one sum, whose terms may be added in any order.

        `reset` takes the place of h, `new_c` of c. The sum is undefined where it overflows in only one order.
        """
        h, of_h = (self.h, self.norms[1]) if reset is None else (reset, norm(reset))
        state, weights = (self.c, gate.cell) if new_c is None else (new_c, gate.new_cell)
        of_cell = [] if state is None or weights is None else [(np.multiply, state, weights)]
        most = self._most(gate, of_h) + gate.largest * sum(norm(x) for _, x, _ in of_cell)
        return self._sum([*_of_input(gate, self.x), *_of_hidden(gate, h), *of_cell], most)

    def sum_with_reset(self, gate: Gate, r: Any) -> Any:
        """Return x W^T + (r . h) R^T + Wb + Rb.

        A product r . h that is undefined, or may overflow, makes the whole state of its sequence undefined.
        """
        reset = r * self.h
        is_lost = self.undefined | may_overflow(self.data_type, reset)
        self.undefined = np.atleast_2d(is_lost).any(axis=1, keepdims=True)
        return self.sum(gate, reset=reset)

    def sum_with_share(self, gate: Gate, r: Any) -> Any:
        """Return x W^T + r . (h R^T + Rb) + Wb; without R and Rb, the share is of 0.

        It is undefined where one of the sums overflows in only one order, or where only the inner one overflows the
        data type, and not the share of it.
        """
        of_hidden, most = _of_hidden(gate, self.h), self._most(gate, self.norms[1])
        if not of_hidden:
            return self._sum([*_of_input(gate, self.x), (np.multiply, r, 0.0)], most)
        inner = self._sum(of_hidden, most)
        self.undefined |= may_overflow(self.data_type, inner) & ~may_overflow(self.data_type, r * inner)
        return self._sum([*_of_input(gate, self.x), (np.multiply, r, inner)], most + norm(r) * norm(inner))

    def _most(self, gate: Gate, of_h: float) -> float:
        """Return a number that the sizes of the products of x and h and the biases do not exceed in one sum."""
        (of_x, _), (inputs, hidden) = self.norms, (int(x.shape[-1]) for x in (self.x, self.h))
        return gate.largest * (of_x * inputs + of_h * hidden + 2)

    def _sum(self, products: list[Any], most: float) -> Any:
        total = sum_of_products(products)
        return self.defined(PartlyUndefined(total, products_depend_on_order(total, products, most)))

    def either(self, function: Callable[[Any], Any], x: Any) -> Any:
        """Return results of a function, undefined where they are others for infinity in place of numbers too large."""
        found, known = function(x), self.undefined
        if is_beyond(self.data_type, x).any():
            other = function(infinite_beyond(x, self.data_type))
            self.undefined = known | _differ(raw(other), raw(found))
        return found

    def function(self, nested: Nested, limit: Any = None, *, is_last: bool = False) -> Callable[[Any], Any]:
        """Return an activation, clipped to a limit; unless it `is_last`, its results are not rounded to the data type.

        Undefined are results for NaN that is clipped, which is the limit below, and those that differ if a number is
        rounded to infinity first. Unless the activation `is_last`, so are results that overflow. DirectML leaves a
        number as it is for a limit of NaN, and all are the limit if that is negative, where -infinity is undefined.
        """

        def clipped(x: Any) -> Any:
            if np.isnan(raw(limit)):
                return activated(x)
            is_nan = np.isnan(raw(x))
            self.undefined = self.undefined | is_nan & (raw(limit) >= 0) | np.isneginf(raw(limit))
            return activated(np.clip(np.where(is_nan, -limit, x), -limit, limit))

        def activated(x: Any) -> Any:
            value, *others = ways_of(self.defined(nested._replace(is_step=True)(x)))
            dtype = NUMPY_TYPES[self.data_type if is_last else "FLOAT64"]
            for other in others:
                self.undefined = self.undefined | _differ(raw(other).astype(dtype), raw(value).astype(dtype))
            return value if is_last else self.defined(PartlyUndefined(value, may_overflow(self.data_type, value)))

        return activated if limit is None else clipped


def _differ(x: Any, y: Any) -> Any:
    """Return a mask of the numbers that differ; NaN equals NaN."""
    return (x != y) & ~(np.isnan(x) & np.isnan(y))


def _of_input(gate: Gate, x: Any) -> list[Any]:
    """Return the products of x W^T + Wb."""
    return _products(x, gate.input, gate.input_bias)


def _of_hidden(gate: Gate, h: Any) -> list[Any]:
    """Return the products of h R^T + Rb."""
    return _products(h, gate.hidden, gate.hidden_bias)


def _products(x: Any, weights: Any, bias: Any) -> list[Any]:
    terms = ((np.matmul, x, weights), (np.multiply, 1.0, bias))
    return [term for term in terms if term[2] is not None]
