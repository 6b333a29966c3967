"""Activations as ONNX graphs: values by hand or with Python's math, and what has no exact words."""

from __future__ import annotations

from typing import Any

import pytest
from onnx_models import of, simple

from dmlcheck.onnx.export.mappings import build
from dmlcheck.onnx.export.records import Inexpressible

INEXPRESSIBLE = [
    ("ACTIVATION_HARD_SWISH", {"Alpha": 0.25, "Beta": 0.5}, "Alpha 1/6"),
    ("ACTIVATION_LINEAR", {"Alpha": 0.1, "Beta": 1}, "rounded twice"),
    ("ACTIVATION_SCALED_TANH", {"Alpha": 1.7, "Beta": 0.5}, "Alpha 1.7"),
    ("ACTIVATION_SOFTPLUS", {"Steepness": 3}, "Steepness 3"),
    ("ACTIVATION_SOFTPLUS", {"Steepness": 0}, "divides by 0"),
]


@pytest.mark.parametrize(("operator", "fields", "reason"), INEXPRESSIBLE)
def test_what_onnx_has_no_exact_words_for_is_refused_with_the_reason(
    operator: str, fields: dict[str, Any], reason: str
) -> None:
    with pytest.raises(Inexpressible, match=reason):
        build(simple(operator, {"InputTensor": of("FLOAT32", 1, 2)}, **fields))
