"""RNN, GRU and LSTM as ONNX graphs: their activations; test_crosscheck compares values."""

from __future__ import annotations

from typing import Any

import pytest
from onnx_models import small
from recurrences_of import described

from dmlcheck.onnx.export.mappings import build
from dmlcheck.onnx.export.records import Inexpressible


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
    inputs = {"InputTensor": small(1, 3, 2, 2)}
    inputs |= dict.fromkeys(["WeightTensor", "RecurrenceTensor"], small(1, 1, 2, 2))
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
