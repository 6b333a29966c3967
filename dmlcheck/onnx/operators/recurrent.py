"""RNN, GRU and LSTM, which ONNX and DirectML have with the gates in the same order."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, RefusedNode, Unmapped, shortest
from dmlcheck.onnx.descs.tensors import converted, permuted, ranked
from dmlcheck.onnx.operators.row import Row, is_set

_DIRECTIONS = {"forward": "FORWARD", "reverse": "BACKWARD", "bidirectional": "BIDIRECTIONAL"}
_DEFAULTS = {"RNN": ("Tanh",), "GRU": ("Sigmoid", "Tanh"), "LSTM": ("Sigmoid", "Tanh", "Tanh")}

# ONNX's functions in lower case: DirectML's activation, and the fields that are alpha and beta with their defaults.
_FUNCTIONS: dict[str, tuple[str, dict[str, float | None]]] = {
    "affine": ("LINEAR", {"Alpha": None, "Beta": None}),
    "elu": ("ELU", {"Alpha": 1.0}),
    "hardsigmoid": ("HARD_SIGMOID", {"Alpha": 0.2, "Beta": 0.5}),
    "leakyrelu": ("LEAKY_RELU", {"Alpha": 0.01}),
    "relu": ("RELU", {}),
    "scaledtanh": ("SCALED_TANH", {"Alpha": None, "Beta": None}),
    "sigmoid": ("SIGMOID", {}),
    "softplus": ("SOFTPLUS", {}),
    "softsign": ("SOFTSIGN", {}),
    "tanh": ("TANH", {}),
    "thresholdedrelu": ("THRESHOLDED_RELU", {"Alpha": 1.0}),
}


def _recurrent(type: str, node: OnnxNode) -> list[Counterpart]:
    direction = _DIRECTIONS.get(node.get("direction", "forward"))
    if direction is None or node.opset < 7:
        raise Unmapped(f"{type} of opset {node.opset} with direction {node.get('direction')!r}")
    fields = {**_tensors(type, node), "Direction": direction, **_own(type, node)}
    return [Counterpart(type, {**fields, "ActivationDescs": list(_activations(type, node, direction))})]


def _tensors(type: str, node: OnnxNode) -> dict[str, TensorRef]:
    """Return the tensors in DirectML's four dimensions; with layout 1 the batch comes first in ONNX's."""
    is_batch_first = bool(node.get("layout", 0))

    def sequence(x: TensorRef) -> TensorRef:
        return permuted(x, [*range(1, x.ndim - 1), 0, x.ndim - 1]) if is_batch_first else x

    made = {
        "InputTensor": _inside(sequence(node.input(0))),
        "WeightTensor": _inside(node.input(1)),
        "RecurrenceTensor": _inside(node.input(2)),
    }
    states = {5: "HiddenInitTensor", **({6: "CellMemInitTensor"} if type == "LSTM" else {})}
    made |= {name: _inside(sequence(node.input(index))) for index, name in states.items() if node.has(index)}
    rows = {3: "BiasTensor", **({7: "PeepholeTensor"} if type == "LSTM" else {})}
    made |= {name: _inside(node.input(index)) for index, name in rows.items() if node.has(index)}
    if node.has(4):
        made["SequenceLengthsTensor"] = _inside(converted(node.input(4), np.uint32))
    for index, name in enumerate(("OutputSequenceTensor", "OutputSingleTensor", "OutputCellSingleTensor")):
        if node.gives(index):
            made[name] = _inside(sequence(node.output(index)))
    return made


def _inside(x: TensorRef) -> TensorRef:
    return ranked(x, 4)


def _own(type: str, node: OnnxNode) -> dict[str, Any]:
    clip = node.get("clip")
    if type == "LSTM":
        used = {"ClipThreshold": shortest(clip or 0.0), "UseClipThreshold": clip is not None}
        return {**used, "CoupleInputForget": bool(node.get("input_forget", 0))}
    if clip is not None:
        raise Unmapped(f"{type} with clip, which DirectML has only for LSTM")
    return {"LinearBeforeReset": bool(node.get("linear_before_reset", 0))} if type == "GRU" else {}


def _activations(type: str, node: OnnxNode, direction: str) -> Iterator[dict[str, Any]]:
    """Yield the activations; their numbers are in two lists, without entries for activations that have none."""
    ways = 2 if direction == "BIDIRECTIONAL" else 1
    names = node.get("activations") or _DEFAULTS[type] * ways
    given = {field: iter(node.get(f"activation_{field.lower()}") or []) for field in ("Alpha", "Beta")}
    for name in names[: len(_DEFAULTS[type]) * ways]:
        if name.lower() not in _FUNCTIONS:
            raise Unmapped(f"{type} with the activation {name}")
        short, fields = _FUNCTIONS[name.lower()]
        values = {field: next(given[field], default) for field, default in fields.items()}
        if None in values.values():
            raise Unmapped(f"{type} with the activation {name} without its numbers")
        steepness = {"Steepness": 1} if short == "SOFTPLUS" else {}
        yield {"Type": f"ACTIVATION_{short}", **{field: shortest(v) for field, v in values.items()}, **steepness}


def _recurrent_of_provider(type: str, node: OnnxNode) -> list[Counterpart]:
    """RNN, GRU and LSTM: clip is only for LSTM, and a softplus has no Steepness."""
    if "affine" in (name.lower() for name in node.get("activations") or []):
        raise RefusedNode(
            f"the DirectML provider refuses {node.type} with the activation Affine", "use another activation"
        )
    (made,) = _recurrent(type, node if node.type == "LSTM" else node.with_attributes(clip=None))
    activations = [{**each, "Steepness": 0} if "Steepness" in each else each for each in made.fields["ActivationDescs"]]
    return [made.with_fields(ActivationDescs=activations)]


def _query_recurrent(node: OnnxNode) -> str | None:
    """DmlOperatorRecurrentNeuralNetwork.cpp, QueryRecurrentNeuralNetwork."""
    return is_set(node, "layout")


def _refusal_of_cpu(node: OnnxNode) -> RefusedNode | None:
    """Return why rnn.h, deep_cpu_gru.h and lstm_base.h of the CPU provider refuse a node, or None."""
    if not node.get("layout", 0):
        return None
    return RefusedNode(
        f"neither the DirectML provider nor the CPU computes {node.type} of layout 1",
        "set layout to 0, and transpose the batch and the steps before and after it",
    )


def _row(type: str, outputs: int = 2) -> Row:
    own, provider = (partial(make, type) for make in (_recurrent, _recurrent_of_provider))
    return Row(own, provider=provider, query=_query_recurrent, refusal_of_cpu=_refusal_of_cpu, outputs=outputs)


OPERATORS: dict[str, Row] = {"GRU": _row("GRU"), "LSTM": _row("LSTM", 3), "RNN": _row("RNN")}
