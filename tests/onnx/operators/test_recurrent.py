"""ONNX's RNN, GRU and LSTM as DirectML's: dimensions, directions, activations, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from onnx_nodes import fields, found, node, zeros

from dmlcheck.onnx.descs.node import RefusedNode, Unmapped
from dmlcheck.onnx.operators.table import provider_steps

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def tensors(type: str, ways: int = 1) -> list[Any]:
    """Return X, W and R of five steps, a batch of three, an input size of two and a hidden size of four."""
    rows = 4 * GATES[type]
    return [zeros(5, 3, 2), zeros(ways, rows, 2), zeros(ways, rows, 4)]


def test_attributes_become_fields() -> None:
    made = found("LSTM", tensors("LSTM"), zeros(5, 1, 3, 4), direction="reverse", clip=0.5, input_forget=1)
    assert fields(made) | {"ActivationDescs": None} == {
        "Direction": "BACKWARD",
        "ClipThreshold": 0.5,
        "UseClipThreshold": True,
        "CoupleInputForget": True,
        "ActivationDescs": None,
    }
    plain = fields(found("LSTM", tensors("LSTM"), zeros(5, 1, 3, 4)))
    assert (plain["UseClipThreshold"], plain["CoupleInputForget"]) == (False, False)
    assert fields(found("GRU", tensors("GRU"), zeros(5, 1, 3, 4), linear_before_reset=1))["LinearBeforeReset"] is True


@pytest.mark.parametrize(
    ("type", "attributes", "says"),
    [
        ("RNN", {"clip": 1.0}, "RNN with clip, which DirectML has only for LSTM"),
        ("RNN", {"activations": ["Sin"]}, "RNN with the activation Sin"),
        ("RNN", {"activations": ["ScaledTanh"], "activation_alpha": [1.0]}, "ScaledTanh without its numbers"),
        ("RNN", {"direction": "sideways"}, "direction 'sideways'"),
        ("RNN", {"opset": 1}, "RNN of opset 1"),
    ],
)
def test_what_directml_has_not_is_refused(type: str, attributes: dict[str, Any], says: str) -> None:
    with pytest.raises(Unmapped, match=says):
        found(type, tensors(type), zeros(5, 1, 3, 4), **attributes)


def test_an_activation_that_the_provider_refuses_has_no_desc() -> None:
    x, w, r = zeros(7, 2, 5), zeros(1, 3, 5), zeros(1, 3, 3)
    affine = node("RNN", [x, w, r], zeros(7, 1, 2, 3), activations=["Affine"], activation_alpha=[1.0])
    with pytest.raises(RefusedNode, match=r"^the DirectML provider refuses RNN with the activation Affine$"):
        provider_steps(affine)
