"""RNN, GRU and LSTM: a function for the equations of one step of each.

x is the input of the step, h the hidden state before it, and c the cell state before it. A RecurrentStep knows which
results are undefined: where anything before them is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from dmlcheck.reference.arrays.shapes import Batch, Floats, Hidden, Size
from dmlcheck.reference.functions.nested import Nested
from dmlcheck.reference.functions.several_ways import blended, summed_in_type
from dmlcheck.reference.kernels.recurrent.gates import Gate, RecurrentStep, gates_of
from dmlcheck.reference.results import PartlyUndefined
from dmlcheck.reference.rows import PRODUCTS, Direction, Given, Kernel, Recurrence, State

# ---- the equations of a step


def rnn(
    x: Floats[Batch, Size], h: Floats[Batch, Hidden], *, gates: Sequence[Gate], activation_descs: Sequence[Nested]
) -> list[PartlyUndefined]:
    """H(t) = f(X(t) W^T + H(t-1) R^T + Wb + Rb); after the end of a sequence, OutputSequence is 0.

    Backward, H(t+1) takes the place of H(t-1). The first H is HiddenInit, or 0; OutputSingle is the last one.
    """
    (gate,), (f,), step = gates, activation_descs, RecurrentStep(activation_descs[0].data_type, x, h)
    return [step.result(step.function(f, is_last=True)(step.sum(gate)))]


def gru(
    x: Floats[Batch, Size],
    h: Floats[Batch, Hidden],
    *,
    gates: Sequence[Gate],
    activation_descs: Sequence[Nested],
    linear_before_reset: bool,
) -> list[PartlyUndefined]:
    """H(t) = (1 - z) . n + z . H(t-1).

    z = f(X(t) Wz^T + H(t-1) Rz^T + Wbz + Rbz).

    r = f(X(t) Wr^T + H(t-1) Rr^T + Wbr + Rbr).

    n = g(X(t) Wh^T + (r . H(t-1)) Rh^T + Wbh + Rbh), with LinearBeforeReset g(X(t) Wh^T + r . (H(t-1) Rh^T + Rbh) +
    Wbh).

    The dot multiplies element by element. Backward, H(t+1) takes the place of H(t-1). The first H is HiddenInit, or 0;
    OutputSingle is the last one.
    """
    (of_z, of_r, of_n), step = gates, RecurrentStep(activation_descs[0].data_type, x, h)
    f, g = map(step.function, activation_descs)
    r = f(step.sum(of_r))
    n = g(step.sum_with_share(of_n, r) if linear_before_reset else step.sum_with_reset(of_n, r))
    z = f(step.sum(of_z))
    return [step.result(step.defined(blended(z, n, h, step.data_type)))]


def lstm(
    x: Floats[Batch, Size],
    h: Floats[Batch, Hidden],
    c: Floats[Batch, Hidden],
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
    (of_i, of_o, of_f, of_g), step = gates, RecurrentStep(activation_descs[0].data_type, x, h, c)
    limit = clip_threshold if use_clip_threshold else None
    f, g = (step.function(each, limit) for each in activation_descs[:2])
    i = f(step.sum(of_i))
    forget = 1 - i if couple_input_forget else f(step.sum(of_f))
    cell = step.defined(summed_in_type(step.data_type, forget * c, i * g(step.sum(of_g))))
    new_c = step.result(cell)
    o = step.either(lambda new_c: f(step.sum(of_o, new_c=new_c)), cell)
    return [step.result(o * step.function(activation_descs[2])(cell)), new_c]


# ---- directions


def directions(count: int, given: Given) -> list[Direction]:
    """Return the directions; each has `count` activations."""
    are_backward = {"FORWARD": [False], "BACKWARD": [True], "BIDIRECTIONAL": [False, True]}[given["direction"]]
    functions = given["activation_descs"]
    return [
        Direction(is_backward, {"activation_descs": functions[way * count :][:count]})
        for way, is_backward in enumerate(are_backward)
    ]


def is_clipped_to_no_limit(given: Given) -> bool:
    """Whether sums are clipped to a limit that is none, for which only DirectML's results are known."""
    return bool(given["use_clip_threshold"]) and not given["clip_threshold"] >= 0


HIDDEN = State("hidden_init", "recurrence", "output_single")
CELL = State("cell_mem_init", "peephole", "output_cell_single")

KERNELS: dict[str, Kernel] = {
    "GRU": Kernel(gru, Recurrence(partial(gates_of, 3), [HIDDEN], partial(directions, 2)), sums=PRODUCTS),
    "LSTM": Kernel(
        lstm,
        Recurrence(partial(gates_of, 4), [HIDDEN, CELL], partial(directions, 3), is_clipped_to_no_limit),
        sums=PRODUCTS,
    ),
    "RNN": Kernel(rnn, Recurrence(partial(gates_of, 1), [HIDDEN], partial(directions, 1)), sums=PRODUCTS),
}
