"""A node as steps: by ONNX's meaning, or by the descs of the provider, where the two differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from node_graphs import float32, graph, node_of

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Refused
from dmlcheck.onnx.operators.meaning import by_meaning, by_provider

X = np.ones((2, 3), np.float32)


def operators(*given: object) -> list[str]:
    return [step.name for step in graph(*given).steps]  # type: ignore[arg-type]


def test_the_provider_computes_fast_gelu_without_its_tanh() -> None:
    node = node_of("com.microsoft.FastGelu", [X], float32(2, 3))
    assert "ACTIVATION_TANH" in operators(node, by_meaning)
    assert operators(node, by_provider) == ["ACTIVATION_GELU"]


def test_what_no_single_operator_computes_is_what_the_provider_makes() -> None:
    vector = np.ones(3, np.float32)
    node = node_of("com.microsoft.SkipLayerNormalization", [X, X, vector, vector], float32(2, 3))
    assert operators(node, by_meaning) == ["ELEMENT_WISE_ADD", "MEAN_VARIANCE_NORMALIZATION2"]


def test_what_the_provider_computes_in_part_is_refused() -> None:
    with pytest.raises(Refused):
        by_meaning(
            node_of("STFT", [np.ones((1, 8, 1), np.float32), np.array(4), None, np.array(4)], float32(1, 2, 3, 2))
        )


def test_the_descs_of_the_provider_have_four_dimensions() -> None:
    node = node_of("Relu", [X], TensorRef("FLOAT32", (2, 3)))
    assert len(graph(node, by_provider).steps[0].desc.parts["InputTensor"][0].tensor.sizes) == 4
    assert len(graph(node, by_meaning).steps[0].desc.parts["InputTensor"][0].tensor.sizes) == 2


@pytest.mark.parametrize(
    ("type", "inputs", "attributes", "output"),
    [
        ("Dropout", [X, np.float32(0.5), np.array(True)], {}, (2, 3)),
        ("GRU", [np.ones((1, 1, 2), np.float32), *[np.ones((1, 6, 2), np.float32)] * 2], {"clip": 0.5}, (1, 1, 1, 2)),
        (
            "Resize",
            [np.ones((1, 1, 4, 4), np.float32), None, np.array([1, 1, 0.5, 0.5], np.float32)],
            {"mode": "linear", "antialias": 1},
            (1, 1, 2, 2),
        ),
    ],
)
def test_what_the_provider_computes_otherwise_is_refused(
    type: str, inputs: list[Any], attributes: dict[str, Any], output: tuple[int, ...]
) -> None:
    node = node_of(type, inputs, float32(*output), opset=18, **{"hidden_size": 2, **attributes})
    with pytest.raises(Refused):
        by_meaning(node)
    assert by_provider(node)
