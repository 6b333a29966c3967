"""RNN, GRU and LSTM as ONNX graphs: the values of their equations in plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_models import expect, small
from recurrences_of import described

from dmlcheck.onnx.export.mappings import build
from dmlcheck.onnx.export.records import Inexpressible

Array = np.ndarray[Any, Any]


def steps_of(direction: str, length: int) -> range:
    return range(length) if direction == "FORWARD" else range(length - 1, -1, -1)


def network(gates: int, direction: str, **more: Array) -> tuple[dict[str, Array], str]:
    """Return inputs of 3 steps, a batch of 2, 2 elements in and a hidden size of 2."""
    return {
        "InputTensor": small(1, 3, 2, 2),
        "WeightTensor": small(1, 1, 2 * gates, 2, step=3),
        "RecurrenceTensor": small(1, 1, 2 * gates, 2, step=7),
        "BiasTensor": small(1, 1, 1, 4 * gates, step=11),
        "HiddenInitTensor": small(1, 1, 2, 2, step=13),
        **more,
    }, direction


def pieces(inputs: dict[str, Any], gates: int) -> tuple[Any, ...]:
    x, w, r = inputs["InputTensor"][0], inputs["WeightTensor"][0, 0], inputs["RecurrenceTensor"][0, 0]
    return x, np.split(w, gates), np.split(r, gates), np.split(inputs["BiasTensor"][0, 0, 0], 2 * gates)


def test_numbers_of_activations_go_to_those_that_have_them() -> None:
    """Of two with numbers in results, and of one with and one without in the attributes of the node."""
    inputs, _ = network(1, "FORWARD")
    both = {name: np.concatenate([value, value], 1 if value.shape[2] > 1 else 2) for name, value in inputs.items()}
    both["InputTensor"] = inputs["InputTensor"]
    both["BiasTensor"] = inputs["BiasTensor"].repeat(2, 2)
    x, (w,), (r,), (bw, br) = pieces(inputs, 1)

    def leaky(value: Any) -> Array:
        return np.where(value < 0, 0.25 * value, value)

    def elu(value: Any) -> Array:
        return np.where(value < 0, 0.5 * np.expm1(value), value)

    made = np.empty((3, 2, 2, 2), np.float32)
    for place, function, order in ((0, elu, "FORWARD"), (1, leaky, "BACKWARD")):
        h = inputs["HiddenInitTensor"][0, 0]
        for t in steps_of(order, 3):
            h = function(x[t] @ w.T + h @ r.T + bw + br)
            made[t, place] = h
    with_numbers = [{"Type": "ACTIVATION_ELU", "Alpha": 0.5}, {"Type": "ACTIVATION_LEAKY_RELU", "Alpha": 0.25}]
    fields = {"ActivationDescs": with_numbers, "Direction": "BIDIRECTIONAL"}
    expect("RNN", both, {"OutputSequenceTensor": made}, 1e-5, by=("onnxruntime",), **fields)
    fields["ActivationDescs"] = [{"Type": "ACTIVATION_TANH"}, with_numbers[1]]
    graph = build(described("RNN", both, {"OutputSequenceTensor": made.shape}, **fields))
    attributes = next(node.attributes for node in graph.nodes if node.type == "RNN")
    assert (attributes["activations"], attributes["activation_alpha"]) == (["Tanh", "LeakyRelu"], [0.25])
    assert "activation_beta" not in attributes


@pytest.mark.parametrize(
    ("activation", "expected"),
    [
        ({"Type": "ACTIVATION_CELU", "Alpha": 1}, ("Elu", [1], None)),
        ({"Type": "ACTIVATION_CELU", "Alpha": 2}, None),
        ({"Type": "ACTIVATION_IDENTITY"}, ("Affine", [1], [0])),
        ({"Type": "ACTIVATION_PARAMETRIC_SOFTPLUS", "Alpha": 1, "Beta": 1}, ("Softplus", None, None)),
        ({"Type": "ACTIVATION_PARAMETRIC_SOFTPLUS", "Alpha": 1, "Beta": 2}, None),
        ({"Type": "ACTIVATION_SCALED_ELU", "Alpha": 2, "Gamma": 1}, ("Elu", [2], None)),
        ({"Type": "ACTIVATION_SCALED_ELU", "Alpha": 1, "Gamma": 2}, None),
        ({"Type": "ACTIVATION_SOFTPLUS", "Steepness": 1}, ("Softplus", None, None)),
        ({"Type": "ACTIVATION_SOFTPLUS", "Steepness": 2}, None),
        ({"Type": "ACTIVATION_GELU"}, None),
    ],
)
def test_an_activation_is_a_function_that_onnx_has_with_its_numbers(activation: Any, expected: Any) -> None:
    inputs, _ = network(1, "FORWARD")
    desc = described(
        "RNN", inputs, {"OutputSequenceTensor": (3, 1, 2, 2)}, ActivationDescs=[activation], Direction="FORWARD"
    )
    if expected is None:
        with pytest.raises(Inexpressible, match=f"no {activation['Type']} with its parameters"):
            build(desc)
        return
    attributes = next(node.attributes for node in build(desc).nodes if node.type == "RNN")
    name, alpha, beta = expected
    assert attributes["activations"] == [name]
    assert (attributes.get("activation_alpha"), attributes.get("activation_beta")) == (alpha, beta)
