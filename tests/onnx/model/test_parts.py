"""Parts of models as models of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
from run_models import constant, ort, perceptron
from whole_models import node

from dmlcheck.onnx.model.parts import (
    join_weights,
    model_of_node,
)


def session(made: Any) -> Any:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    return ort.InferenceSession(made.SerializeToString(), options, providers=["CPUExecutionProvider"])


def test_a_branch_that_is_not_taken_need_not_go_with_the_sizes() -> None:
    from onnx import ValueInfoProto, helper

    def branch(name: str, order: list[int]) -> Any:
        return helper.make_graph([node("Transpose", "x", name, perm=order)], name, [], [ValueInfoProto(name=name)])

    graphs = {"then_branch": branch("t", [1, 0]), "else_branch": branch("e", [0, 2, 1])}
    x, yes = np.array([[1, 2]], np.float32), {"yes": constant("yes", True, bool)}
    made = model_of_node(node("If", "yes", "y", **graphs), perceptron(), yes, {"x": x})
    assert session(made).run(["y"], {"x": x})[0].tolist() == [[1], [2]]


def test_a_model_gets_its_weights_back_but_for_what_its_nodes_make() -> None:
    made = perceptron()
    weights = {tensor.name: tensor for tensor in made.graph.initializer}
    del made.graph.initializer[:]
    joined = join_weights(made, {**weights, "a1": constant("a1", [1.0])})
    assert [tensor.name for tensor in joined.graph.initializer] == ["w1", "b1", "w2"]
    assert session(joined).run(["y"], {"x": np.ones((3, 16), np.float32)})[0].shape == (3, 8)
