"""Right ways to compute RNN, GRU and LSTM, in float32: products of their own, or one product of all that goes in."""

from __future__ import annotations

from typing import Any

import torch
from acceptance.elementwise import activated
from torch import Tensor
from torch.nn import functional

Inputs = dict[str, Any]
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def recurrence(operator: str, *, is_joined: bool) -> Any:
    """Return a way to compute a network; `is_joined` has one product of x and h, and the second form of activations."""

    def way(d: Any, x: Inputs) -> dict[str, Tensor]:
        own = {"FORWARD": [False], "BACKWARD": [True], "BIDIRECTIONAL": [False, True]}[d["Direction"]]
        found = [_direction(operator, d, x, at, is_back, is_joined=is_joined) for at, is_back in enumerate(own)]
        sequences, *states = zip(*found, strict=True)
        names = ("OutputSingleTensor", "OutputCellSingleTensor")
        outputs = {"OutputSequenceTensor": torch.stack(sequences, 1)}
        return outputs | {name: torch.stack(each).unsqueeze(0) for name, each in zip(names, states, strict=False)}

    return way


def _direction(operator: str, d: Any, x: Inputs, at: int, is_back: bool, *, is_joined: bool) -> tuple[Tensor, ...]:
    given, hidden = x["InputTensor"][0], x["RecurrenceTensor"].shape[3]
    steps, batch = given.shape[:2]
    functions = d["ActivationDescs"]
    count = len(functions) // x["WeightTensor"].shape[1]
    parts = {
        "functions": [_function(each, is_joined=is_joined) for each in functions[at * count :][:count]],
        "w": x["WeightTensor"][0, at].unflatten(0, (GATES[operator], hidden)),
        "r": x["RecurrenceTensor"][0, at].unflatten(0, (GATES[operator], hidden)),
        "b": x["BiasTensor"][0, 0, at].unflatten(0, (2, GATES[operator], hidden)) if "BiasTensor" in x else None,
        "p": x["PeepholeTensor"][0, 0, at].unflatten(0, (3, hidden)) if "PeepholeTensor" in x else None,
        "is_joined": is_joined,
    }
    lengths = x["SequenceLengthsTensor"].reshape(-1) if "SequenceLengthsTensor" in x else torch.full((batch,), steps)
    names = ("HiddenInitTensor", "CellMemInitTensor")[: 2 if operator == "LSTM" else 1]
    states = [x[name][0, at] if name in x else torch.zeros(batch, hidden) for name in names]
    rows = [torch.zeros(batch, hidden)] * steps
    for t in reversed(range(steps)) if is_back else range(steps):
        runs = (t < lengths).unsqueeze(1)
        now = STEPS[operator](d, given[t], *states, parts)
        states = [torch.where(runs, new, old) for new, old in zip(now, states, strict=True)]
        rows[t] = torch.where(runs, states[0], torch.zeros(()))
    return torch.stack(rows), *states


def _function(nested: Any, *, is_joined: bool) -> Any:
    way = 1 if is_joined else 0
    if "Axes" in nested:  # of the state, which has four dimensions
        return lambda x: activated(nested, x[None, None], way)[0, 0]
    return lambda x: activated(nested, x, way)


def _summed(x: Tensor, h: Tensor, gate: int, parts: Any, cell: Any = None) -> Tensor:
    """Return what goes into a gate."""
    w, r, b = parts["w"][gate], parts["r"][gate], parts["b"]
    if parts["is_joined"]:
        found = torch.cat([x, h], 1) @ torch.cat([w, r], 1).T
        found = found if b is None else found + (b[0, gate] + b[1, gate])
    else:
        own, other = (None, None) if b is None else (b[0, gate], b[1, gate])
        found = functional.linear(x, w, own) + functional.linear(h, r, other)
    return found if cell is None else found + cell


def _rnn(_: Any, x: Tensor, h: Tensor, parts: Any) -> list[Tensor]:
    return [parts["functions"][0](_summed(x, h, 0, parts))]


def _gru(d: Any, x: Tensor, h: Tensor, parts: Any) -> list[Tensor]:
    (f, g), b = parts["functions"], parts["b"]
    z, reset = f(_summed(x, h, 0, parts)), f(_summed(x, h, 1, parts))
    if d["LinearBeforeReset"]:
        own, other = (None, None) if b is None else (b[0, 2], b[1, 2])
        new = g(functional.linear(x, parts["w"][2], own) + reset * functional.linear(h, parts["r"][2], other))
    else:
        new = g(_summed(x, reset * h, 2, parts))
    return [torch.lerp(new, h, z) if parts["is_joined"] else (1 - z) * new + z * h]


def _lstm(d: Any, x: Tensor, h: Tensor, c: Tensor, parts: Any) -> list[Tensor]:
    (f, g, last), p = parts["functions"], parts["p"]

    def clipped(y: Tensor) -> Tensor:
        return y.clamp(-d["ClipThreshold"], d["ClipThreshold"]) if d["UseClipThreshold"] else y

    def gate(at: int, cell: Tensor) -> Tensor:
        return f(clipped(_summed(x, h, at, parts, None if p is None else p[at] * cell)))

    i = gate(0, c)
    forget = 1 - i if d["CoupleInputForget"] else gate(2, c)
    cell = forget * c + i * g(clipped(_summed(x, h, 3, parts)))
    return [gate(1, cell) * last(cell), cell]


STEPS = {"RNN": _rnn, "GRU": _gru, "LSTM": _lstm}
WAYS = {name: tuple(recurrence(name, is_joined=joined) for joined in (False, True)) for name in GATES}
