"""Normalizations that become several descs, as the sources of ONNX Runtime's DirectML provider have them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from node_graphs import computed, node_of
from onnx_nodes import Array, Desc, descs, zeros

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.onnx.operators.table import provider_steps

OWN = "com.microsoft."
VECTOR = zeros(32)


# ---- groups


def groups(*inputs: Array, **attributes: Any) -> list[Desc]:
    return descs(f"{OWN}GroupNorm", inputs, inputs[0], groups=4, **attributes)


def of_groups(factor: str, dtype: str = "FLOAT32") -> Desc:
    whole = f"{dtype} 2 4 8 48"
    tensors = {"InputTensor": whole, "ScaleTensor": factor, "BiasTensor": factor, "OutputTensor": whole}
    fields = {**tensors, "CrossChannel": 0, "NormalizeVariance": 1, "Epsilon": 1e-5}
    return Desc("MEAN_VARIANCE_NORMALIZATION", fields, "1_0")


LAST_CHANNELS = zeros(2, 6, 8, 32)  # 48 pixels, four groups of eight channels
PLAIN, STRIDED = "FLOAT32 2 4 8 48", "FLOAT32 2 4 8 48 by 1536 8 1 32"
FACTOR = "FLOAT32 2 4 8 48 by 0 8 1 0"


def test_groups_are_channels_and_the_activation_goes_back_to_channels_last() -> None:
    assert groups(LAST_CHANNELS, VECTOR, VECTOR, activation=1) == [
        Desc("ELEMENT_WISE_IDENTITY", {"InputTensor": STRIDED, "OutputTensor": PLAIN}, "1_0"),
        of_groups(FACTOR),
        Desc("ACTIVATION_SIGMOID", {"InputTensor": PLAIN, "OutputTensor": STRIDED}, "1_0"),
        Desc("ELEMENT_WISE_MULTIPLY", {"ATensor": PLAIN, "BTensor": STRIDED, "OutputTensor": STRIDED}, "1_0"),
    ]


@pytest.mark.parametrize("sizes", [(3, 4), (1, 3, 4), (2, 3, 4)])
def test_a_skip_repeats_for_all_batches(sizes: tuple[int, ...]) -> None:
    """By NumPy; the provider takes a smaller skip as if it had all elements."""
    random = np.random.default_rng(2)
    x, skip = (random.standard_normal(each).astype(np.float32) for each in ((2, 3, 4), sizes))
    gamma, beta, bias = (random.standard_normal(4).astype(np.float32) for _ in range(3))
    outputs: list[Any] = [TensorRef("FLOAT32", (2, 3, 4)), None, None, TensorRef("FLOAT32", (2, 3, 4))]
    one = node_of(f"{OWN}SkipLayerNormalization", [x, skip, gamma, beta, bias], *outputs, epsilon=0.125)
    sums = (x.astype("f8") + skip) + bias
    away = sums - sums.mean(-1, keepdims=True)
    right = away / np.sqrt((away**2).mean(-1, keepdims=True) + 0.125) * gamma + beta
    found, summed = computed(one)
    assert found == pytest.approx(right, rel=1e-4, abs=1e-5)
    assert summed == pytest.approx(sums, rel=1e-5)
    if len(sizes) < 3 or sizes[0] == 1:
        with pytest.raises(Unmapped, match="as if it had all elements"):
            provider_steps(one)
