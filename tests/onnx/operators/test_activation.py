"""ONNX's activations as DirectML's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from node_graphs import computed, node_of
from onnx_nodes import agrees, floats, found

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Unmapped


def test_before_opset_7_slopes_are_those_of_channels() -> None:
    x, slope = -np.arange(18, dtype=np.float32).reshape(2, 3, 3), floats(1, 2, 3)
    assert agrees(found("PRelu", [x, slope], x * slope[:, None], opset=6))
    assert agrees(found("PRelu", [x, slope[1:2]], x * 2, opset=6))
    assert agrees(found("PRelu", [x, slope], x * slope, opset=7))


# ---- convolutions and products with an activation, by hand


IMAGE = np.array([[[[-1, 2, 3]]]], np.float32)
TWICE = np.array([[[[2]]]], np.float32)
OUTPUT = TensorRef("FLOAT32", (1, 1, 1, 3))
BIAS = np.array([1], np.float32)
SUMMAND = np.array([[[[10, -10, 0]]]], np.float32)


@pytest.mark.parametrize(
    ("more", "attributes", "expected"),
    [
        ([], {}, [-2, 4, 6]),
        ([], {"activation": "Relu"}, [0, 4, 6]),
        ([BIAS], {"activation": "Relu"}, [0, 5, 7]),
        ([BIAS, SUMMAND], {"activation": "Relu"}, [9, 0, 7]),
        ([None, SUMMAND], {}, [8, -6, 6]),
        ([], {"activation": "LeakyRelu", "activation_params": [0.25]}, [-0.5, 4, 6]),
        ([], {"activation": "Clip", "activation_params": [-1, 5]}, [-1, 4, 5]),
        ([], {"activation": "HardSigmoid", "activation_params": [0.125, 0.25]}, [0, 0.75, 1]),
    ],
)
def test_a_convolution_has_its_sum_before_its_activation(
    more: list[Any], attributes: dict[str, Any], expected: list[float]
) -> None:
    (made,) = computed(node_of("com.microsoft.FusedConv", [IMAGE, TWICE, *more], OUTPUT, **attributes))
    assert made.reshape(-1).tolist() == expected


def test_a_product_gives_the_parameters_of_its_activation_by_name() -> None:
    inputs = [np.array([[1, -2]], np.float32), np.array([[3, 1], [1, 2]], np.float32), np.array([1, 1], np.float32)]
    attributes = {"activation": "LeakyRelu", "activation_alpha": 0.5, "alpha": 2.0, "beta": 1.0}
    (made,) = computed(node_of("com.microsoft.FusedGemm", inputs, TensorRef("FLOAT32", (1, 2)), **attributes))
    assert made.tolist() == [[3, -2.5]]  # 2 * (3 - 2) + 1 and 2 * (1 - 4) + 1


@pytest.mark.parametrize("name", ["Clip", "Erf"])
def test_an_activation_that_is_not_known_or_lacks_its_limits_is_not_guessed(name: str) -> None:
    with pytest.raises(Unmapped, match=rf"^com\.microsoft\.FusedConv with the activation {name}$"):
        computed(node_of("com.microsoft.FusedConv", [IMAGE, TWICE], OUTPUT, activation=name))
