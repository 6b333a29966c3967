"""RNN, LSTM and GRU: ONNX's of the same names, with the gates in the same order."""

from __future__ import annotations

from functools import partial
from typing import Any

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.onnx.export.builder import Builder, Maker
from dmlcheck.onnx.export.records import GraphValue, Inexpressible
from dmlcheck.onnx.export.representable import as_float32

# ONNX's function for each activation, the fields that are its alpha and its beta, and the fields that must be 1.
_FUNCTIONS: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "CELU": ("Elu", ("Alpha",), ("Alpha",)),
    "ELU": ("Elu", ("Alpha",), ()),
    "HARD_SIGMOID": ("HardSigmoid", ("Alpha", "Beta"), ()),
    "LEAKY_RELU": ("LeakyRelu", ("Alpha",), ()),
    "LINEAR": ("Affine", ("Alpha", "Beta"), ()),
    "PARAMETRIC_SOFTPLUS": ("Softplus", (), ("Alpha", "Beta")),
    "RELU": ("Relu", (), ()),
    "SCALED_ELU": ("Elu", ("Alpha",), ("Gamma",)),
    "SCALED_TANH": ("ScaledTanh", ("Alpha", "Beta"), ()),
    "SIGMOID": ("Sigmoid", (), ()),
    "SOFTPLUS": ("Softplus", (), ("Steepness",)),
    "SOFTSIGN": ("Softsign", (), ()),
    "TANH": ("Tanh", (), ()),
    "THRESHOLDED_RELU": ("ThresholdedRelu", ("Alpha",), ()),
}


def recurrent(type: str, g: Builder, desc: OperatorDesc) -> None:
    """Run a network without the dimensions of size 1 that ONNX's tensors lack."""
    x, weights, recurrence = (_cut(g, name, 3) for name in ("InputTensor", "WeightTensor", "RecurrenceTensor"))
    inputs = [x, weights, recurrence, *_optional_inputs(type, g)]
    state = (weights.sizes[0], x.sizes[1], recurrence.sizes[2])
    labels = ["OutputSequenceTensor", "OutputSingleTensor", "OutputCellSingleTensor"][: 3 if type == "LSTM" else 2]
    if not any(map(g.has, labels)):
        raise Inexpressible("the desc has no outputs")
    shapes = [(x.sizes[0], *state), state, state][: len(labels)]
    made = g.nodes_of(
        type,
        inputs,
        [(sizes, x.data_type, None) for sizes in shapes],
        direction={"BACKWARD": "reverse"}.get(desc.values["Direction"], desc.values["Direction"].lower()),
        hidden_size=recurrence.sizes[2],
        **_activations(desc),
        **_own(type, desc),
    )
    for label, value in zip(labels, made, strict=True):
        if g.has(label):
            g.output(label, value)


def _optional_inputs(type: str, g: Builder) -> list[GraphValue | None]:
    """Return the inputs that may be left out, in ONNX's order."""
    lengths = _in(g, "SequenceLengthsTensor", 1)
    inputs = [
        _in(g, "BiasTensor", 2),
        None if lengths is None else g.cast(lengths, "INT32"),
        _in(g, "HiddenInitTensor", 3),
    ]
    return [*inputs, _in(g, "CellMemInitTensor", 3), _in(g, "PeepholeTensor", 2)] if type == "LSTM" else inputs


def _in(g: Builder, label: str, rank: int) -> GraphValue | None:
    """Return a tensor that may be left out, in its last dimensions."""
    return _cut(g, label, rank) if g.has(label) else None


def _cut(g: Builder, label: str, rank: int) -> GraphValue:
    """Return a tensor in its last dimensions; all before them are 1."""
    x = g.input(label)
    return g.reshape(x, x.sizes[len(x.sizes) - rank :])


def _own(type: str, desc: OperatorDesc) -> dict[str, Any]:
    """Return the attributes that only one of the networks has."""
    if type == "GRU":
        return {"linear_before_reset": int(bool(desc.values["LinearBeforeReset"]))}
    if type == "RNN":
        return {}
    limit = as_float32(desc.values["ClipThreshold"]) if desc.values["UseClipThreshold"] else None
    if limit is not None and not limit > 0:  # or NaN
        raise Inexpressible(f"ClipThreshold {limit:g} leaves nothing between its limits")
    return {"clip": limit, "input_forget": int(bool(desc.values["CoupleInputForget"]))}


def _activations(desc: OperatorDesc) -> dict[str, Any]:
    """Return the activations as names, and two lists of their numbers, with entries only for those that have some."""
    names: list[str] = []
    numbers: tuple[list[float], list[float]] = [], []
    for activation in desc.values["ActivationDescs"]:
        name, values = _function(activation)
        names.append(name)
        for value, into in zip(values, numbers, strict=False):
            into.append(value)
    alpha, beta = numbers
    return {"activations": names, "activation_alpha": alpha or None, "activation_beta": beta or None}


def _function(activation: OperatorDesc) -> tuple[str, list[float]]:
    """Return an activation's name and its numbers."""
    short = activation.spec.short.removeprefix("ACTIVATION_")
    if short == "IDENTITY":
        return "Affine", [1.0, 0.0]
    name, fields, ones = _FUNCTIONS.get(short, ("", (), ()))
    if not name or any(as_float32(activation.values[each]) != 1 for each in ones):
        raise Inexpressible(f"ONNX's recurrent networks have no {activation.spec.short} with its parameters")
    return name, [as_float32(activation.values[each]) for each in fields]


MAPPINGS: dict[str, Maker] = {name: partial(recurrent, name) for name in ("GRU", "LSTM", "RNN")}
