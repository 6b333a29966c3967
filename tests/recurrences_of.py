"""RNN, GRU and LSTM of given arrays: their gates, activations, outputs and descs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from made_descs import built, tensor

from dmlcheck.descs.records import OperatorDesc

Array = np.ndarray[Any, Any]


class Kind(NamedTuple):
    """How many gates a network has, and its usual activations."""

    gates: int
    functions: tuple[str, ...]


RECURRENCES = {
    "GRU": Kind(3, ("SIGMOID", "TANH")),
    "LSTM": Kind(4, ("SIGMOID", "TANH", "TANH")),
    "RNN": Kind(1, ("TANH",)),
}
OUTPUTS = {
    "GRU": ("OutputSequenceTensor", "OutputSingleTensor"),
    "LSTM": ("OutputSequenceTensor", "OutputSingleTensor", "OutputCellSingleTensor"),
    "RNN": ("OutputSequenceTensor", "OutputSingleTensor"),
}


def described(operator: str, inputs: dict[str, Array], outputs: dict[str, Any], **fields: Any) -> OperatorDesc:
    """Return the desc of a network with these inputs, and outputs of these sizes."""
    tensors = {name: tensor(x.dtype.name.upper(), x.shape) for name, x in inputs.items()}
    tensors |= {name: tensor(tensors["InputTensor"]["DataType"], sizes) for name, sizes in outputs.items()}
    return built(operator, {**tensors, **fields}, inputs)[0]


def outputs_of(inputs: dict[str, Array], names: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    """Return the sizes of some outputs."""
    _, steps, batch, _ = inputs["InputTensor"].shape
    state = (inputs["RecurrenceTensor"].shape[1], batch, inputs["RecurrenceTensor"].shape[3])
    return {name: (steps if name == "OutputSequenceTensor" else 1, *state) for name in names}
