"""RNN, GRU and LSTM: networks that take a sequence step by step, the equations of a step in a function each.

x is {batch, input size}, what the input has at a step, h {batch, hidden size}, the hidden state before it, and c the
cell state before it. W and R are the weights of a gate for x and h, P those for c, and Wb and Rb its biases. A point is
a product of elements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.ball.numbers import Ball, Condition, raw, sum_of_products
from dmlcheck.reference.nested import Nested, stored
from dmlcheck.reference.pieces import Open, alternatives, any_of, opened, overflows, ways_of
from dmlcheck.reference.places import Index
from dmlcheck.reference.rows import Kernel
from dmlcheck.reference.tiling.blocks import Blocks, blockwise
from dmlcheck.reference.tiling.piece import Piece
from dmlcheck.values.number_formats import NUMPY_TYPES

STEPS = 8  # that are in memory as float64 together
LARGEST = 1 << 21  # elements of the sequences of a piece, each taken to have STEPS at least: 16 megabytes of float64
SINGLE = ("output_single", "output_cell_single")

Step = Callable[..., list[Open]]


# ---- the equations of a step


class Gate(NamedTuple):
    """The weights of a gate, W and R transposed, and its biases and P, each None where there is none."""

    input: Any
    hidden: Any
    input_bias: Any
    hidden_bias: Any
    cell: Any


def of_input(x: Any, gate: Gate) -> list[Any]:
    """Return the products of x W^T + Wb."""
    return _products(x, gate.input, gate.input_bias)


def of_hidden(h: Any, gate: Gate) -> list[Any]:
    """Return the products of h R^T + Rb."""
    return _products(h, gate.hidden, gate.hidden_bias)


def _products(x: Any, weights: Any, bias: Any) -> list[Any]:
    return [(np.matmul, x, weights), *([] if bias is None else [(np.multiply, 1.0, bias)])]


def summed(gate: Gate, x: Any, h: Any, c: Any = None) -> Any:
    """Return x W^T + h R^T + P . c + Wb + Rb: one sum, whose terms may be added in any order."""
    of_cell = [] if c is None or gate.cell is None else [(np.multiply, c, gate.cell)]
    return sum_of_products([*of_input(x, gate), *of_hidden(h, gate), *of_cell])


def rnn_step(x: Any, h: Any, *, gates: Sequence[Gate], functions: Sequence[Nested]) -> list[Open]:
    """Return h = f(x W^T + h R^T + Wb + Rb)."""
    (gate,), (f,) = gates, functions
    return [Open(*activated(f, summed(gate, x, h)))]


def gru_step(
    x: Any, h: Any, *, gates: Sequence[Gate], functions: Sequence[Nested], linear_before_reset: bool
) -> list[Open]:
    """Return h = (1 - z) . n + z . h, with z = f(x Wz^T + h Rz^T + Wbz + Rbz), r = f(x Wr^T + h Rr^T + Wbr + Rbr).

    n = g(x Wh^T + (r . h) Rh^T + Wbh + Rbh), with LinearBeforeReset g(x Wh^T + r . (h Rh^T + Rbh) + Wbh).
    """
    (of_z, of_r, of_n), (f, g) = gates, map(inner, functions)
    z, z_open = f(summed(of_z, x, h))
    r, r_open = f(summed(of_r, x, h))
    if linear_before_reset:
        n, n_open = g(sum_of_products([*of_input(x, of_n), (np.multiply, r, sum_of_products(of_hidden(h, of_n)))]))
    else:
        n, n_open = g(summed(of_n, x, r * h))
        r_open = np.atleast_2d(r_open).any(axis=1, keepdims=True)
    return [Open(blended(z, n, h), z_open | r_open | n_open)]


def blended(z: Any, n: Any, h: Any) -> Any:
    """Return (1 - z) . n + z . h; the bound has the roundings of n + z . (h - n), as others compute it, too."""
    value = (1 - z) * n + z * h
    if not isinstance(value, Ball):
        return value
    z, n, h = (Ball(raw(x), None, value.arithmetic) for x in (z, n, h))
    return Ball(value.value, value.radius + (n + z * (h - n)).radius, value.arithmetic, value.terms)


def lstm_step(
    x: Any,
    h: Any,
    c: Any,
    *,
    gates: Sequence[Gate],
    functions: Sequence[Nested],
    limit: Any,
    is_coupled: bool,
    sees_new_cell: bool,
    is_cell_clipped: bool,
) -> list[Open]:
    """Return h = o . h(C) and C = f . c + i . g, with i and f = f(clip(x W^T + h R^T + P . c + Wb + Rb)).

    g = g(clip(x Wc^T + h Rc^T + Wbc + Rbc)); coupled, f = 1 - i. o = f(clip(x Wo^T + h Ro^T + Po . C + Wbo + Rbo)), or
    with Po . c unless it `sees_new_cell`; h(C) is h(clip(C)) where `is_cell_clipped`.
    """
    (of_i, of_o, of_f, of_g), (f, g) = gates, (inner(each, limit) for each in functions[:2])
    i, i_open = f(summed(of_i, x, h, c))
    forget, f_open = (1 - i, i_open) if is_coupled else f(summed(of_f, x, h, c))
    new, g_open = g(summed(of_g, x, h))
    cell = forget * c + i * new
    o, o_open = f(summed(of_o, x, h, cell if sees_new_cell else c))
    shown, h_open = inner(functions[2], limit if is_cell_clipped else None)(cell)
    is_open = i_open | f_open | g_open
    return [Open(o * shown, is_open | o_open | h_open), Open(cell, is_open)]


def differs(x: Any, y: Any) -> Any:
    """Say where numbers differ; NaN is like NaN."""
    return (x != y) & ~(np.isnan(x) & np.isnan(y))


def activated(nested: Nested, x: Any, limit: Any = None) -> tuple[Any, Any]:
    """Return the results of an activation for numbers that are clipped where there is a limit, and what is left open.

    That is all where it reduces, here along the hidden state, and where NaN is clipped or the limit is NaN or negative;
    also what depends on whether a number is rounded to infinity before it, as all later states would.
    """
    if limit is not None:
        value, mark = activated(nested, np.clip(x, -limit, limit))
        return value, mark | np.isnan(raw(x)) | ~(raw(limit) >= 0)
    if nested.axes:
        value, _ = opened(nested.formula(raw(x), axes=(1,)))
        return value.astype(np.float64), True
    found, mark = opened(nested(x))
    value, *others = ways_of(found)
    dtype = NUMPY_TYPES[nested.data_type if nested.is_last else "FLOAT64"]
    for other in others:
        mark = mark | differs(raw(other).astype(dtype), raw(value).astype(dtype))
    return value, mark.holds if isinstance(mark, Condition) else mark


def inner(nested: Nested, limit: Any = None) -> Callable[[Any], tuple[Any, Any]]:
    """Return an activation within a step, of numbers that are clipped where there is a limit."""
    return partial(activated, nested._replace(is_last=False), limit=limit)


# ---- the steps of a sequence


class Network(NamedTuple):
    """What a recurrent operator computes: a step with so many gates, whose activations are in the order of directions.

    `readings` are the steps that the documentation allows, the reference's first: each is right for a whole sequence.
    The states after the end of a sequence are 0; unless it `is_padded` they may be the state that it had there.
    """

    readings: Sequence[Step]
    gates: int
    functions: Sequence[Nested]
    direction: str
    data_type: str
    is_padded: bool = False


class Tensors(NamedTuple):
    """The inputs of a recurrent operator, as the fields have them; `states` are the initial ones."""

    input: Any
    lengths: Any
    weight: Any
    recurrence: Any
    bias: Any
    states: Sequence[Any]
    peephole: Any = None

    def part(self, way: int, batch: slice) -> list[Any]:
        """Return what some sequences have to do with in one direction."""
        of_way = [self.weight[0, way], self.recurrence[0, way]]
        of_way += [x if x is None else x[0, 0, way] for x in (self.bias, self.peephole)]
        states = [x if x is None else x[0, way, batch] for x in self.states]
        lengths = None if self.lengths is None else self.lengths[0, 0, 0, batch]
        return [in_steps(self.input[0, :, batch]), lengths, *of_way, *states]


def recurrences(network: Network, tensors: Tensors) -> Iterator[Piece]:
    """Yield the pieces of a recurrent operator: a direction and some sequences each."""
    ways = {"FORWARD": [False], "BACKWARD": [True], "BIDIRECTIONAL": [False, True]}[network.direction]
    own = len(network.functions) // len(ways)
    _, count, total, size = tensors.input.shape
    width = max(1, LARGEST // (max(count, STEPS) * (size + tensors.recurrence.shape[3])))
    for way, is_backward in enumerate(ways):
        functions = network.functions[way * own :][:own]
        formula = partial(of_direction, network._replace(functions=functions), is_backward=is_backward)
        for start in range(0, total, width):
            batch = slice(start, min(total, start + width))
            where = {"output_sequence": (slice(None), way, batch), **dict.fromkeys(SINGLE, (0, way, batch))}
            yield Piece(where, formula, tuple(tensors.part(way, batch)))


def in_steps(x: Any) -> Blocks:
    """Return sequences in blocks of some steps."""
    return Blocks(x.shape, [(slice(at, at + STEPS),) for at in range(0, len(x), STEPS)], x.__getitem__)


def of_direction(network: Network, *operands: Any, is_backward: bool) -> Iterator[dict[str, Any]]:
    """Yield the states of some sequences in one direction, a block of steps after another, and then the last ones."""
    readings = (of_reading(network, step, *operands, is_backward=is_backward) for step in network.readings)
    for parts in zip(*readings, strict=True):
        yield {name: blockwise(any_of, *(part[name] for part in parts)) for name in parts[0]}


def of_reading(
    network: Network, of_step: Step, x: Blocks, lengths: Any, *operands: Any, is_backward: bool
) -> Iterator[dict[str, Any]]:
    """Yield the states as `of_direction` does, as one reading has them."""
    (count, batch, _), (weight, recurrence, bias, peephole, *initial) = x.shape, operands
    lengths = np.full(batch, count) if lengths is None else lengths
    is_wrong = ((lengths < 1) | (lengths > count))[:, None]
    gates, shape = gates_of(network.gates, weight, recurrence, bias, peephole), (batch, recurrence.shape[1])
    step = partial(of_step, gates=gates, functions=network.functions)
    states = [first(*each, shape) for each in zip(initial, (recurrence, peephole), strict=False)]
    for cut in reversed(x.cuts) if is_backward else x.cuts:
        rows: dict[int, tuple[Any, Any, Any]] = {}
        for t, now in steps(x, cut, is_backward=is_backward):
            runs = (t < lengths)[:, None]
            states = after(step, now, states, runs, network.data_type)
            value, mark = states[0]
            rows[t] = (value, mark, np.broadcast_to(runs, shape))
        block = partial(stacked, rows, is_padded=network.is_padded, is_wrong=is_wrong)
        yield {"output_sequence": Blocks((count, *shape), [cut], block)}
    yield {name: Open(value, mark | is_wrong) for name, (value, mark) in zip(SINGLE, states, strict=False)}


def steps(x: Blocks, cut: Index, *, is_backward: bool) -> Iterator[tuple[int, Any]]:
    """Yield the number of each step of a block with what the input has at it."""
    part, times = x.block(cut), range(*cut[0].indices(x.shape[0]))
    for t in reversed(times) if is_backward else times:
        yield t, part[t - times.start]


def stacked(rows: dict[int, tuple[Any, Any, Any]], _: Index, *, is_padded: bool, is_wrong: Any) -> Open:
    """Return the states of a block of steps as one array: those of sequences at their end 0, or as they were there."""
    value, mark, runs = (np.stack(each) for each in zip(*(rows[t] for t in sorted(rows)), strict=True))
    ended = np.where(runs, value, 0.0)
    if is_padded:
        return Open(ended, mark & runs | is_wrong)
    return Open(alternatives(ended, value), mark | is_wrong)


def gates_of(count: int, weight: Any, recurrence: Any, bias: Any, peephole: Any) -> list[Gate]:
    """Return gates, whose weights are one after the other; the last of four has none for the cell state."""
    size = recurrence.shape[1]
    inputs, hidden = (x.reshape(count, size, x.shape[1]).swapaxes(1, 2) for x in (weight, recurrence))
    biases = [[None] * count] * 2 if bias is None else bias.reshape(2, count, size)
    cells = [None] * count if peephole is None else [*peephole.reshape(count - 1, size), None]
    return [Gate(*each) for each in zip(inputs, hidden, *biases, cells, strict=True)]


def first(state: Any, weights: Any, shape: tuple[int, int]) -> Open:
    """Return the state before the first step; one of 0 is left open where it meets infinity or NaN."""
    if state is not None:
        return Open(state, np.zeros(shape, bool))
    return Open(np.zeros(shape), np.full(shape, weights is not None and not np.isfinite(raw(weights)).all()))


def after(step: Step, x: Any, states: Sequence[Open], runs: Any, data_type: str) -> list[Open]:
    """Return the states after a step of the sequences that have it, and for the others those before.

    Where a state is left open, or overflows, all states of its sequence after the step are left open.
    """
    doubts = [(mark | overflows(data_type, value)).any(axis=1, keepdims=True) for value, mark in states]
    doubt = np.logical_or.reduce(doubts)
    found = [
        Open(stored(value, data_type), np.broadcast_to(doubt | mark, value.shape))
        for value, mark in step(x, *(value for value, _ in states))
    ]
    if runs.all():
        return found
    return [Open(*map(partial(np.where, runs), now, before)) for now, before in zip(found, states, strict=True)]


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
    """H(t) = f(X(t) W^T + H(t-1) R^T + Wb + Rb); after the end of a sequence, OutputSequence is 0.

    Backward, H(t+1) takes the place of H(t-1). The first H is HiddenInit, or 0; OutputSingle is the last one.
    """
    network = Network([rnn_step], 1, activation_descs, direction, input_type, is_padded=True)
    return recurrences(network, Tensors(input, sequence_lengths, weight, recurrence, bias, [hidden_init]))


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
    """H(t) = (1 - z) . n + z . H(t-1).

    z = f(X(t) Wz^T + H(t-1) Rz^T + Wbz + Rbz).

    r = f(X(t) Wr^T + H(t-1) Rr^T + Wbr + Rbr).

    n = g(X(t) Wh^T + (r . H(t-1)) Rh^T + Wbh + Rbh), with LinearBeforeReset g(X(t) Wh^T + r . (H(t-1) Rh^T + Rbh) +
    Wbh).

    The dot multiplies element by element. Backward, H(t+1) takes the place of H(t-1). The first H is HiddenInit, or 0;
    OutputSingle is the last one.
    """
    step = partial(gru_step, linear_before_reset=linear_before_reset)
    network = Network([step], 3, activation_descs, direction, input_type)
    return recurrences(network, Tensors(input, sequence_lengths, weight, recurrence, bias, [hidden_init]))


def lstm(
    input: Any,
    weight: Any,
    recurrence: Any,
    bias: Any,
    hidden_init: Any,
    cell_mem_init: Any,
    sequence_lengths: Any,
    peephole: Any,
    *,
    activation_descs: Sequence[Nested],
    direction: str,
    clip_threshold: Any,
    use_clip_threshold: bool,
    couple_input_forget: bool,
    input_type: str,
) -> Iterator[Piece]:
    """H(t) = ot . h(C(t)) and C(t) = ft . C(t-1) + it . gt.

    it = f(clip(X(t) Wi^T + H(t-1) Ri^T + Pi . C(t-1) + Wbi + Rbi)).

    ft = f(clip(X(t) Wf^T + H(t-1) Rf^T + Pf . C(t-1) + Wbf + Rbf)); with CoupleInputForget, ft = 1 - it.

    gt = g(clip(X(t) Wc^T + H(t-1) Rc^T + Wbc + Rbc)).

    ot = f(clip(X(t) Wo^T + H(t-1) Ro^T + Po . C(t) + Wbo + Rbo)), or with Po . C(t-1) at every step.

    The dot multiplies element by element; clip limits to ClipThreshold on both sides of 0 where UseClipThreshold is
    TRUE, and may be in h(clip(C(t))) too. Backward, H(t+1) and C(t+1) take the place of H(t-1) and C(t-1).
    """
    limit = clip_threshold if use_clip_threshold else None
    of_output = [True] if peephole is None else [True, False]
    of_cell = [False] if limit is None else [False, True]
    readings = [
        partial(
            lstm_step, limit=limit, is_coupled=couple_input_forget, sees_new_cell=sees_new_cell, is_cell_clipped=clips
        )
        for sees_new_cell, clips in product(of_output, of_cell)
    ]
    tensors = Tensors(input, sequence_lengths, weight, recurrence, bias, [hidden_init, cell_mem_init], peephole)
    return recurrences(Network(readings, 4, activation_descs, direction, input_type), tensors)


KERNELS: dict[str, Kernel] = {
    "GRU": Kernel(gru),
    "LSTM": Kernel(lstm),
    "RNN": Kernel(rnn),
}
