"""Which operators of ONNX are imported, whatever the family."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_nodes import node, zeros

from dmlcheck.formats.onnx.from_onnx.imported import imported
from dmlcheck.formats.onnx.from_onnx.node import Refused

X = zeros(2)


def test_what_the_provider_takes_is_imported_as_it_takes_it() -> None:
    assert imported(node("Relu", [X], X)).operator == "ACTIVATION_RELU"


@pytest.mark.parametrize(
    ("type", "reason"),
    [
        ("Mish", "DirectML has no operator that computes Mish"),
        ("ai.onnx.ml.Binarizer", "DirectML has no operator that computes ai.onnx.ml.Binarizer"),
        ("com.microsoft.Inverse", "com.microsoft.Inverse is not one of the operators that are imported"),
        ("If", "If runs graphs of its own, and DirectML has operators only"),
        ("Multinomial", "Multinomial draws random numbers in a way of its own"),
        ("Shape", "Shape gives sizes, which DirectML has in descs only"),
    ],
)
def test_an_operator_without_a_counterpart_has_a_reason(type: str, reason: str) -> None:
    with pytest.raises(Refused) as refused:
        imported(node(type, [X], np.zeros(1, np.int64)))
    assert str(refused.value) == reason
