"""Random descs of RNN, GRU and LSTM with their inputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from dmlcheck import validation
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.specs.load import load_spec
from dmlcheck.specs.names import NEWEST_LEVEL

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

# Activations with parameters of more than a few bits.
ACTIVATIONS: tuple[dict[str, Any], ...] = (
    {"Type": "ACTIVATION_CELU", "Alpha": 1},
    {"Type": "ACTIVATION_ELU", "Alpha": 0.7},
    {"Type": "ACTIVATION_HARD_SIGMOID", "Alpha": 0.2, "Beta": 0.5},
    {"Type": "ACTIVATION_LEAKY_RELU", "Alpha": 0.1},
    {"Type": "ACTIVATION_LINEAR", "Alpha": 0.6, "Beta": 0.1},
    {"Type": "ACTIVATION_PARAMETRIC_SOFTPLUS", "Alpha": 1, "Beta": 1},
    {"Type": "ACTIVATION_RELU"},
    {"Type": "ACTIVATION_SCALED_ELU", "Alpha": 1.7, "Gamma": 1},
    {"Type": "ACTIVATION_SCALED_TANH", "Alpha": 1.3, "Beta": 0.4},
    {"Type": "ACTIVATION_SIGMOID"},
    {"Type": "ACTIVATION_SOFTPLUS", "Steepness": 1},
    {"Type": "ACTIVATION_SOFTSIGN"},
    {"Type": "ACTIVATION_TANH"},
    {"Type": "ACTIVATION_THRESHOLDED_RELU", "Alpha": 0.2},
)


def described(operator: str, inputs: dict[str, Array], outputs: dict[str, Any], **fields: Any) -> OperatorDesc:
    """Return the desc of a network with these inputs, and outputs of these sizes."""
    tensors = {name: {"DataType": x.dtype.name.upper(), "Sizes": list(x.shape)} for name, x in inputs.items()}
    data_type = tensors["InputTensor"]["DataType"]
    tensors |= {name: {"DataType": data_type, "Sizes": list(sizes)} for name, sizes in outputs.items()}
    desc, findings = validation.validate(load_spec(operator).operator, {**tensors, **fields}, NEWEST_LEVEL)
    assert desc is not None
    assert not findings, [finding.message for finding in findings]
    return desc


def outputs_of(inputs: dict[str, Array], names: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    """Return the sizes of some outputs."""
    _, steps, batch, _ = inputs["InputTensor"].shape
    state = (inputs["RecurrenceTensor"].shape[1], batch, inputs["RecurrenceTensor"].shape[3])
    return {name: (steps if name == "OutputSequenceTensor" else 1, *state) for name in names}


def network(operator: str, generator: np.random.Generator) -> tuple[OperatorDesc, dict[str, Array]]:
    """Return a network with each optional tensor there or not, and any direction and activations."""
    gates, functions = RECURRENCES[operator]
    steps, batch, size, hidden = generator.integers(1, 7, 4).tolist()
    direction = str(generator.choice(["FORWARD", "BACKWARD", "BIDIRECTIONAL"]))
    ways = 2 if direction == "BIDIRECTIONAL" else 1
    dtype = generator.choice(["float32", "float16"])
    sizes: dict[str, tuple[int, ...]] = {
        "InputTensor": (1, steps, batch, size),
        "WeightTensor": (1, ways, gates * hidden, size),
        "RecurrenceTensor": (1, ways, gates * hidden, hidden),
    }
    optional = {
        "BiasTensor": (1, 1, ways, 2 * gates * hidden),
        "HiddenInitTensor": (1, ways, batch, hidden),
    }
    if operator == "LSTM":
        optional |= {"CellMemInitTensor": (1, ways, batch, hidden), "PeepholeTensor": (1, 1, ways, 3 * hidden)}
    sizes |= {name: shape for name, shape in optional.items() if generator.random() < 0.6}
    inputs = {name: (generator.normal(size=shape) * 0.7).astype(dtype) for name, shape in sizes.items()}
    if "PeepholeTensor" in inputs and generator.random() < 0.7:
        inputs["PeepholeTensor"][..., hidden : 2 * hidden] = 0  # of the output gate, which else leaves results open
    if generator.random() < 0.6:
        inputs["SequenceLengthsTensor"] = generator.integers(1, steps + 1, (1, 1, 1, batch), np.uint32)
    chosen = [{"Type": f"ACTIVATION_{name}"} for name in functions * ways]
    if generator.random() < 0.6:
        chosen = [dict(ACTIVATIONS[at]) for at in generator.integers(0, len(ACTIVATIONS), len(chosen))]
    fields: dict[str, Any] = {"ActivationDescs": chosen, "Direction": direction}
    if operator == "GRU":
        fields["LinearBeforeReset"] = bool(generator.random() < 0.5)
    if operator == "LSTM":
        is_clipped, is_coupled = (generator.random(2) < 0.3).tolist()
        fields |= {"UseClipThreshold": is_clipped, "ClipThreshold": 0.8, "CoupleInputForget": is_coupled}
    return described(operator, inputs, outputs_of(inputs, OUTPUTS[operator]), **fields), inputs


def recurrences(operator: str, count: int = 80) -> Iterator[tuple[OperatorDesc, dict[str, Array]]]:
    """Yield descs of an operator with their inputs, always the same ones."""
    generator = np.random.default_rng(sum(map(ord, operator)))
    for _ in range(count):
        yield network(operator, generator)
