"""Recurrent networks and their cells; biases are joined, and gates reordered, in the values of the tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dmlcheck.formats.webnn.operators.row import Call, WebnnRow
from dmlcheck.graphs.tensors import Array, TensorRef
from dmlcheck.onnx.descs.node import Counterpart, Unmapped
from dmlcheck.onnx.descs.tensors import ranked, sized

_RANK = 4  # of GRU and LSTM tensors
_DIRECTIONS = {"forward": "FORWARD", "backward": "BACKWARD", "both": "BIDIRECTIONAL"}
_ACTIVATIONS = {"relu": "ACTIVATION_RELU", "sigmoid": "ACTIVATION_SIGMOID", "tanh": "ACTIVATION_TANH"}
# Where the gates of DirectML's order are in a layout: GRU has zrn and LSTM iofg.
_GRU_GATES: Mapping[str, Sequence[int]] = {"zrn": (0, 1, 2)}
_LSTM_GATES: Mapping[str, Sequence[int]] = {"iofg": (0, 1, 2, 3), "ifgo": (0, 3, 1, 2)}


def _gru(call: Call) -> Counterpart:
    tensors, gates = _tensors(call, _GRU_GATES, "zrn")
    fields = {**_fields(call, ["sigmoid", "tanh"]), "LinearBeforeReset": call.flag("resetAfter", default=True)}
    return Counterpart("GRU", {**tensors, **gates, **_outputs(call, ["OutputSingleTensor"]), **fields})


def _lstm(call: Call) -> Counterpart:
    tensors, gates = _tensors(call, _LSTM_GATES, "iofg")
    states = {"CellMemInitTensor": ("cellState", "initialCellState"), "PeepholeTensor": ("peepholeWeight",)}
    for field, names in states.items():
        given = _first(call, *names)
        if given is not None:
            tensors[field] = ranked(given, _RANK)
    fields = {
        **_fields(call, ["sigmoid", "tanh", "tanh"]),
        "ClipThreshold": 0,
        "UseClipThreshold": False,
        "CoupleInputForget": False,
    }
    outputs = _outputs(call, ["OutputSingleTensor", "OutputCellSingleTensor"])
    return Counterpart("LSTM", {**tensors, **gates, **outputs, **fields})


def _first(call: Call, *names: str) -> TensorRef | None:
    return next((call.tensor(name) for name in names if call.has(name)), None)


def _tensors(
    call: Call, layouts: Mapping[str, Sequence[int]], layout: str
) -> tuple[dict[str, TensorRef], dict[str, TensorRef]]:
    """Return the input and the hidden state, and the weights and biases with their gates in DirectML's order."""
    tensors = {"InputTensor": ranked(call.tensor("input"), _RANK)}
    hidden = _first(call, "hiddenState", "initialHiddenState")
    if hidden is not None:
        tensors["HiddenInitTensor"] = ranked(hidden, _RANK)
    order = call.choice("layout", layouts, layout)
    weights = {"WeightTensor": "weight", "RecurrenceTensor": "recurrentWeight"}
    gates = {field: ranked(_ordered(call.tensor(name), order, -2), _RANK) for field, name in weights.items()}
    bias = _bias(call, order)
    return tensors, gates if bias is None else {**gates, "BiasTensor": bias}


def _bias(call: Call, order: Sequence[int]) -> TensorRef | None:
    """Return the biases of the input and of the hidden state as one tensor, zeros for one that is left out."""
    given = [call.optional(name) for name in ("bias", "recurrentBias")]
    known = next((one for one in given if one is not None), None)
    if known is None:
        return None
    halves = [_values(_ordered(known.like(known.shape) if one is None else one, order, -1)) for one in given]
    joined = TensorRef.of(np.concatenate(halves, axis=-1), known.element)
    return ranked(joined, _RANK)


def _values(x: TensorRef) -> Array:
    """Return the values of a tensor, zeros where it has none."""
    return np.zeros(x.shape, dtype=x.dtype) if x.values is None else x.values


def _ordered(x: TensorRef, order: Sequence[int], axis: int) -> TensorRef:
    """Return a tensor whose parts along an axis, one for each gate, are in another order."""
    values = x.values
    if list(order) == sorted(order) or values is None:
        return x
    if x.shape[axis] % len(order):
        raise Unmapped(f"{x.shape[axis]} rows are not for {len(order)} gates")
    parts = np.split(values, len(order), axis=axis)
    return TensorRef.of(np.concatenate([parts[gate] for gate in order], axis=axis), x.element)


def _fields(call: Call, default: list[str]) -> dict[str, Any]:
    """Return the direction, and the activations of each direction."""
    direction = call.choice("direction", _DIRECTIONS, "forward")
    names = call.given.get("activations") or default
    unknown = next((name for name in names if name not in _ACTIVATIONS), None)
    if unknown is not None or len(names) != len(default):
        raise Unmapped(f"Chromium's DirectML backend does not take these activations of {call.name}: {names}")
    activations = [{"Type": _ACTIVATIONS[name]} for name in names]
    return {"ActivationDescs": activations * (2 if direction == "BIDIRECTIONAL" else 1), "Direction": direction}


def _outputs(call: Call, fields: Sequence[str]) -> dict[str, TensorRef]:
    """Return the outputs: of the last step, and the sequence where it is asked for."""
    count, names = len(fields), [*fields, "OutputSequenceTensor"]
    if not count <= len(call.outputs) <= count + 1:
        raise Unmapped(f"{call.name} has {len(call.outputs)} outputs")
    # The sequence has four dimensions in WebNN too, and what a cell gives two.
    return {name: sized(x, (1,) * (_RANK - x.ndim) + x.shape) for name, x in zip(names, call.outputs, strict=False)}


_STATES = ("input", "weight", "recurrentWeight")
OPERATORS: dict[str, WebnnRow] = {
    "gru": WebnnRow((*_STATES, "steps", "hiddenSize"), _gru, ("GRU",)),
    "gruCell": WebnnRow((*_STATES, "hiddenState", "hiddenSize"), _gru, ("GRU",)),
    "lstm": WebnnRow((*_STATES, "steps", "hiddenSize"), _lstm, ("LSTM",)),
    "lstmCell": WebnnRow((*_STATES, "hiddenState", "cellState", "hiddenSize"), _lstm, ("LSTM",)),
}
