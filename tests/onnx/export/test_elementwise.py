"""Element-wise operators as ONNX graphs: values by hand or with Python's math, and what has no exact words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_models import INF, A, B, evaluate, of, simple

from dmlcheck.onnx.export.mappings import build
from dmlcheck.onnx.export.records import Inexpressible

INEXPRESSIBLE = [
    ("ELEMENT_WISE_ROUND", {"RoundingMode": "TOWARD_ZERO"}, "halves to even"),
    ("ELEMENT_WISE_ROUND", {"RoundingMode": "TOWARD_INFINITY"}, "halves to even"),
    ("ELEMENT_WISE_CLIP1", {"MinMaxDataType": "FLOAT32", "Min": 2, "Max": 1}, "Min above Max"),
]


@pytest.mark.parametrize(("operator", "fields", "reason"), INEXPRESSIBLE)
def test_what_onnx_has_no_exact_words_for_is_refused_with_the_reason(
    operator: str, fields: dict[str, Any], reason: str
) -> None:
    with pytest.raises(Inexpressible, match=reason):
        build(simple(operator, {"InputTensor": of("FLOAT32", 1, 2)}, **fields))


def test_a_remainder_with_the_sign_of_the_divisor_is_for_integers_alone() -> None:
    inputs = {A: of("FLOAT32", 1, 2), B: of("FLOAT32", 1, 2)}
    with pytest.raises(Inexpressible, match="sign of the dividend"):
        build(simple("ELEMENT_WISE_MODULUS_FLOOR", inputs))


def test_an_activation_that_would_round_a_sum_twice_is_not_split_off() -> None:
    inputs = {A: of("FLOAT32", 1, 2), B: of("FLOAT32", 1, 2)}
    fused = {"Type": "ACTIVATION_TANH"}
    with pytest.raises(Inexpressible, match="ACTIVATION_TANH fused into a sum"):
        build(simple("ELEMENT_WISE_ADD1", inputs, FusedActivation=fused))


def test_bounds_are_cast_to_the_tensors_type_as_directml_does() -> None:
    x = of("INT8", -5, 0, 5)
    desc = simple("ELEMENT_WISE_CLIP", {"InputTensor": x}, ("INT8",), Min=-1.9, Max=1.9)
    assert evaluate(desc, {"InputTensor": x})["OutputTensor"].tolist() == [[-1, 0, 1]]
    with pytest.raises(Inexpressible, match="300 is not a number of INT8"):
        build(simple("ELEMENT_WISE_CLIP", {"InputTensor": x}, ("INT8",), Min=-1, Max=300))
    with pytest.raises(Inexpressible, match=r"0\.5 is not a number of INT8"):
        build(simple("ELEMENT_WISE_THRESHOLD", {"InputTensor": x}, ("INT8",), Min=0.5))
    half = of("FLOAT16", 1, INF)
    desc = simple("ELEMENT_WISE_CLIP", {"InputTensor": half}, ("FLOAT16",), Min=0.1, Max=1e9)
    (least,) = (constant.elements[0] for constant in build(desc).constants[:1])
    assert least == float(np.float16(0.1))
    assert evaluate(desc, {"InputTensor": half})["OutputTensor"].tolist() == [[1, INF]]
