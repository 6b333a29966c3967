"""Gelu, in both of its forms, and what comes before and after it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from node_graphs import computed, float32, node_of
from onnx_nodes import Desc, descs, zeros

from dmlcheck.onnx.descs.node import Unmapped

OWN = "com.microsoft."


QUERY = zeros(2, 5, 32)


BIASED = {"ATensor": "FLOAT32 1 2 5 32", "BTensor": "FLOAT32 1 2 5 32 by 0 0 0 1", "OutputTensor": "FLOAT32 1 2 5 32"}


X = np.array([[-3.0, -0.5, 0.0, -0.0, 0.25, 7.0]], np.float32)


def by_tanh(x: float) -> float:
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def test_gelu_may_be_that_of_a_tanh() -> None:
    expected = [by_tanh(x) for x in X.reshape(-1).tolist()]
    for made in (
        computed(node_of("Gelu", [X], float32(1, 6), opset=20, approximate="tanh")),
        computed(node_of("com.microsoft.FastGelu", [X], float32(1, 6))),
    ):
        assert made[0].reshape(-1) == pytest.approx(expected, rel=3e-6, abs=1e-7)
    exact = computed(node_of("Gelu", [X], float32(1, 6), opset=20))[0].reshape(-1)
    assert exact == pytest.approx([0.5 * x * math.erfc(-x / math.sqrt(2)) for x in X.reshape(-1).tolist()], abs=1e-7)


def test_a_bias_is_added_before_a_fast_gelu() -> None:
    bias = np.array([1, 0, 0, 0, 0, -7], np.float32)
    (made,) = computed(node_of("com.microsoft.FastGelu", [X, bias], float32(1, 6)))
    assert made.reshape(-1)[[0, 5]] == pytest.approx([by_tanh(-2), 0], rel=3e-6)


def test_the_provider_has_no_tanh() -> None:
    with pytest.raises(Unmapped, match="Gelu by the tanh"):
        descs("Gelu", [QUERY], QUERY, approximate="tanh")
    (made,) = descs("Gelu", [QUERY], QUERY, approximate="none")
    assert made.operator == "ACTIVATION_GELU"


@pytest.mark.parametrize("name", ["BiasGelu", "FastGelu"])
def test_gelu_of_a_sum_is_fused_to_it(name: str) -> None:
    fused = {**BIASED, "FusedActivation": {"Type": "ACTIVATION_GELU"}}
    assert descs(f"{OWN}{name}", [QUERY, zeros(32)], QUERY) == [Desc("ELEMENT_WISE_ADD1", fused, "5_1")]
    (alone,) = descs(f"{OWN}{name}", [QUERY], QUERY)
    assert (alone.operator, alone.level) == ("ACTIVATION_GELU", "5_1")


def test_one_half_is_multiplied_by_the_gelu_of_the_other() -> None:
    whole, half = "FLOAT32 1 2 5 32", "FLOAT32 1 2 5 16"
    assert descs(f"{OWN}BiasSplitGelu", [QUERY, zeros(32)], zeros(2, 5, 16)) == [
        Desc("ELEMENT_WISE_ADD", BIASED, "1_0"),
        Desc("SPLIT", {"InputTensor": whole, "OutputTensors": [half, half], "Axis": 3}, "1_0"),
        Desc("ACTIVATION_GELU", {"InputTensor": half, "OutputTensor": half}, "5_1"),
        Desc("ELEMENT_WISE_MULTIPLY", {"ATensor": half, "BTensor": half, "OutputTensor": half}, "1_0"),
    ]
    with pytest.raises(Unmapped, match="have no halves"):
        descs(f"{OWN}BiasSplitGelu", [zeros(2, 3), zeros(3)], zeros(2, 1))


def test_quick_gelu_scales_where_there_is_a_factor() -> None:
    whole = "FLOAT32 1 2 5 32"
    scaled = {"InputTensor": whole, "OutputTensor": whole, "ScaleBias": {"Scale": 1.702, "Bias": 0}}
    sigmoid = Desc("ACTIVATION_SIGMOID", {"InputTensor": whole, "OutputTensor": whole}, "1_0")
    multiplied = {"ATensor": whole, "BTensor": whole, "OutputTensor": whole}
    rest = [sigmoid, Desc("ELEMENT_WISE_MULTIPLY", multiplied, "1_0")]
    assert descs(f"{OWN}QuickGelu", [QUERY], QUERY) == [Desc("ELEMENT_WISE_IDENTITY", scaled, "1_0"), *rest]
    assert descs(f"{OWN}QuickGelu", [QUERY], QUERY, alpha=1.0) == rest
