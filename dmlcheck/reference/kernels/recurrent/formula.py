"""RNN, GRU and LSTM: a function for the equations of one step of each.

x is the input of the step, {batch, input size}; h is the hidden state before it, {batch, hidden size}, and c the cell
state before it. Activations return their results and a mask of the undefined ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.reference.functions.nested import Nested, activation, of_either
from dmlcheck.reference.functions.overflowing import may_overflow
from dmlcheck.reference.functions.several_ways import blended, summed_in_type
from dmlcheck.reference.kernels.recurrent.gates import Gate, gates_of, step_inputs, summed, summed_with_share
from dmlcheck.reference.results import PartlyUndefined
from dmlcheck.reference.rows import PRODUCTS, Direction, Given, Kernel, Recurrence, State

# ---- the equations of a step


def rnn(x: Any, h: Any, *, gates: Sequence[Gate], activation_descs: Sequence[Nested]) -> list[PartlyUndefined]:
    """H(t) = f(X(t) W^T + H(t-1) R^T + Wb + Rb); after the end of a sequence, OutputSequence is 0.

    Backward, H(t+1) takes the place of H(t-1). The first H is HiddenInit, or 0; OutputSingle is the last one.
    """
    (gate,), (f,) = gates, activation_descs
    return [PartlyUndefined(*activation(f, is_last=True)(summed(gate, step_inputs(x, h))))]


def gru(
    x: Any, h: Any, *, gates: Sequence[Gate], activation_descs: Sequence[Nested], linear_before_reset: bool
) -> list[PartlyUndefined]:
    """H(t) = (1 - z) . n + z . H(t-1).

    z = f(X(t) Wz^T + H(t-1) Rz^T + Wbz + Rbz).

    r = f(X(t) Wr^T + H(t-1) Rr^T + Wbr + Rbr).

    n = g(X(t) Wh^T + (r . H(t-1)) Rh^T + Wbh + Rbh), with LinearBeforeReset g(X(t) Wh^T + r . (H(t-1) Rh^T + Rbh) +
    Wbh).

    The dot multiplies element by element. Backward, H(t+1) takes the place of H(t-1). The first H is HiddenInit, or 0;
    OutputSingle is the last one.
    """
    (of_z, of_r, of_n), (f, g), data_type = gates, map(activation, activation_descs), activation_descs[0].data_type
    inputs = step_inputs(x, h)
    z, z_undefined = f(summed(of_z, inputs))
    r, r_undefined = f(summed(of_r, inputs))
    if linear_before_reset:
        n, n_undefined = g(summed_with_share(of_n, inputs, r, data_type))
    else:
        reset = r * h
        n, n_undefined = g(summed(of_n, step_inputs(x, reset)))
        r_undefined = np.atleast_2d(r_undefined | may_overflow(data_type, reset)).any(axis=1, keepdims=True)
    found, is_undefined = blended(z, n, h, data_type)
    return [PartlyUndefined(found, is_undefined | z_undefined | r_undefined | n_undefined)]


def lstm(
    x: Any,
    h: Any,
    c: Any,
    *,
    gates: Sequence[Gate],
    activation_descs: Sequence[Nested],
    clip_threshold: Any,
    use_clip_threshold: bool,
    couple_input_forget: bool,
) -> list[PartlyUndefined]:
    """H(t) = ot . h(C(t)) and C(t) = ft . C(t-1) + it . gt.

    it = f(clip(X(t) Wi^T + H(t-1) Ri^T + Pi . C(t-1) + Wbi + Rbi)).

    ft = f(clip(X(t) Wf^T + H(t-1) Rf^T + Pf . C(t-1) + Wbf + Rbf)); with CoupleInputForget, ft = 1 - it.

    gt = g(clip(X(t) Wc^T + H(t-1) Rc^T + Wbc + Rbc)).

    ot = f(clip(X(t) Wo^T + H(t-1) Ro^T + Po . C(t) + Wbo + Rbo)).

    The dot multiplies element by element; clip limits to ClipThreshold on both sides of 0 where UseClipThreshold is
    TRUE. Backward, H(t+1) and C(t+1) take the place of H(t-1) and C(t-1).
    """
    limit = clip_threshold if use_clip_threshold else None
    of_i, of_o, of_f, of_g = gates
    f, g = (activation(each, limit) for each in activation_descs[:2])
    inputs = step_inputs(x, h, c)
    i, i_undefined = f(summed(of_i, inputs))
    forget, f_undefined = (1 - i, i_undefined) if couple_input_forget else f(summed(of_f, inputs))
    new, g_undefined = g(summed(of_g, inputs))
    cell, is_lost = summed_in_type(activation_descs[0].data_type, forget * c, i * new)
    o, o_undefined = of_either(lambda cell: f(summed(of_o, inputs, cell)), cell, activation_descs[0].data_type)
    hidden, h_undefined = activation(activation_descs[2])(cell)
    is_undefined = i_undefined | f_undefined | g_undefined | is_lost
    return [PartlyUndefined(o * hidden, is_undefined | o_undefined | h_undefined), PartlyUndefined(cell, is_undefined)]


# ---- directions


def directions(count: int, given: Given) -> list[Direction]:
    """Return the directions; each has `count` activations."""
    are_backward = {"FORWARD": [False], "BACKWARD": [True], "BIDIRECTIONAL": [False, True]}[given["direction"]]
    functions = given["activation_descs"]
    return [
        Direction(is_backward, {"activation_descs": functions[way * count :][:count]})
        for way, is_backward in enumerate(are_backward)
    ]


HIDDEN = State("hidden_init", "recurrence", "output_single")
CELL = State("cell_mem_init", "peephole", "output_cell_single")

KERNELS: dict[str, Kernel] = {
    "GRU": Kernel(gru, Recurrence(partial(gates_of, 3), [HIDDEN], partial(directions, 2)), sums=PRODUCTS),
    "LSTM": Kernel(lstm, Recurrence(partial(gates_of, 4), [HIDDEN, CELL], partial(directions, 3)), sums=PRODUCTS),
    "RNN": Kernel(rnn, Recurrence(partial(gates_of, 1), [HIDDEN], partial(directions, 1)), sums=PRODUCTS),
}
