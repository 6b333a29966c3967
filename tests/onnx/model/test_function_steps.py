"""An operator that ONNX defines by a function, as the steps of the function's nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from node_graphs import computed as by_graph
from node_graphs import float32, node_of
from onnx import helper

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, Unmapped
from dmlcheck.onnx.model.inner_graphs import steps_of_function
from dmlcheck.onnx.operators.table import exact_steps
from dmlcheck.onnx.reading import attributes_of

Array = Any
SCORES = np.log(np.array([[0.25, 0.5, 0.25], [0.125, 0.125, 0.75]], np.float32))
TARGETS = np.array([1, 2], np.int64)


def steps(type: str, inputs: list[Array], output: list[int], opset: int = 18, **attributes: Any) -> list[Counterpart]:
    names = [f"x{index}" for index in range(len(inputs))]
    proto = helper.make_node(type, names, ["y"], **attributes)
    taken = tuple(map(TensorRef.of, inputs))
    one = OnnxNode(type, opset, attributes_of(proto, opset), taken, (TensorRef("FLOAT32", output),))
    return steps_of_function(proto, one, exact_steps)


def computed(type: str, inputs: list[Array], output: list[int], **attributes: Any) -> Array:
    """Return what the reference computes of the steps."""
    names = [f"x{index}" for index in range(len(inputs))]
    proto = helper.make_node(type, names, ["y"], **attributes)
    node = node_of(type, inputs, float32(*output), opset=18, **attributes_of(proto, 18))
    (made,) = by_graph(node, lambda one: steps_of_function(proto, one, exact_steps))
    return made


def test_the_steps_are_those_of_the_functions_nodes() -> None:
    """The loss of a target is the negative of its score: here of 0.5 and 0.75."""
    losses = computed("NegativeLogLikelihoodLoss", [SCORES, TARGETS], [2], reduction="none")
    np.testing.assert_allclose(losses, [np.log(2), np.log(4 / 3)], rtol=1e-6)
    mean = computed("NegativeLogLikelihoodLoss", [SCORES, TARGETS], [], reduction="mean")
    np.testing.assert_allclose(mean, (np.log(2) + np.log(4 / 3)) / 2, rtol=1e-6)


def test_a_function_may_be_made_of_functions() -> None:
    """Scores that are logarithms of shares are their own softmax: the loss is that of the one above."""
    loss = computed("SoftmaxCrossEntropyLoss", [SCORES, TARGETS], [], reduction="sum")
    np.testing.assert_allclose(loss, np.log(2) + np.log(4 / 3), rtol=1e-5)


def test_a_function_with_a_node_that_has_no_steps_is_refused() -> None:
    with pytest.raises(Unmapped):
        steps("Bernoulli", [SCORES], [2, 3], dtype=1)
