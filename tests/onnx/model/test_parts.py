"""Parts of models as models of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
from run_models import constant, ort, perceptron
from whole_models import model, node, tensor

from dmlcheck.onnx.model.parts import (
    SHAPE_OF,
    bytes_of_kind,
    bytes_of_node,
    element_types,
    has_graphs,
    join_weights,
    model_of_node,
    model_of_nodes,
    read_by,
    read_from_outside,
    with_outputs,
)


def session(made: Any) -> Any:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    return ort.InferenceSession(made.SerializeToString(), options, providers=["CPUExecutionProvider"])


def conditional(inner: str = "outside") -> Any:
    from onnx import helper

    def branch(name: str) -> Any:
        parts = [node("Add", f"{inner} x", f"{name}_a"), node("Neg", f"{name}_a", name)]
        return helper.make_graph(parts, name, [], [tensor(name, [2])])

    return node("If", "yes", "y", then_branch=branch("t"), else_branch=branch("e"))


def test_a_node_reads_its_inputs_and_what_its_graphs_take_from_outside() -> None:
    assert read_by(node("Clip", "x - most", "y")) == ["x", "most"]
    assert read_by(conditional()) == ["yes", "outside", "x"]
    assert (has_graphs(conditional()), has_graphs(node("Relu", "x", "y"))) == (True, False)


def test_a_model_of_one_node_has_its_constants_and_typed_inputs() -> None:
    constants = {"w": constant("w", np.ones((2, 3))), "other": constant("other", [1.0])}
    x = np.ones((4, 2), np.float32)
    made = model_of_node(node("MatMul", "x w", "y"), perceptron(), constants, {"x": x})
    assert [value.name for value in made.graph.initializer] == ["w"]
    (given,) = made.graph.input
    assert given.type == tensor("x", [4, 2]).type
    assert session(made).run(["y"], {"x": x})[0].tolist() == [[2, 2, 2]] * 4


def test_the_bytes_of_a_node_are_those_of_its_model() -> None:
    constants = {"w": constant("w", np.ones((2, 300))), "b": constant("b", [1.0] * 300), "other": constant("other", 1)}
    x = {"x": np.ones((4, 2), np.float32)}
    for each in (node("Gemm", "x w b", "y"), node("Relu", "x", "y"), node("Add", "x x", "y")):
        found = b"".join(bytes_of_node(each, perceptron(), constants, x))
        assert type(perceptron()).FromString(found) == model_of_node(each, perceptron(), constants, x)


def test_nodes_read_from_outside_what_none_before_them_gives() -> None:
    nodes = [node("Neg", "x", "a"), node("Mul", "a w", "b"), node("Add", "b a", "c")]
    assert read_from_outside(nodes) == ["x", "w"]
    assert read_from_outside([nodes[0], nodes[2]]) == ["x", "b"]
    assert read_from_outside([*nodes, conditional("c")]) == ["x", "w", "yes"]


def test_a_model_of_several_nodes_gives_what_it_is_asked_for() -> None:
    nodes = [node("Neg", "x", "a"), node("Mul", "a w", "b"), node("Abs", "b", "c")]
    x = np.array([1, 2], np.float32)
    made = model_of_nodes(nodes, perceptron(), {"w": constant("w", [3.0]), "v": constant("v", [1.0])}, {"x": x}, ["c"])
    assert [value.name for value in made.graph.initializer] == ["w"]
    assert [value.name for value in made.graph.output] == ["c"]
    assert session(made).run(None, {"x": x})[0].tolist() == [3, 6]


def test_a_node_with_graphs_is_a_model_too() -> None:
    x = np.array([1, 2], np.float32)
    yes = {"yes": constant("yes", True, bool)}
    made = model_of_node(conditional(), perceptron(), yes, {"outside": x, "x": x})
    assert session(made).run(["y"], {"outside": x, "x": x})[0].tolist() == [-2, -4]


def test_a_branch_that_is_not_taken_need_not_go_with_the_sizes() -> None:
    from onnx import ValueInfoProto, helper

    def branch(name: str, order: list[int]) -> Any:
        return helper.make_graph([node("Transpose", "x", name, perm=order)], name, [], [ValueInfoProto(name=name)])

    graphs = {"then_branch": branch("t", [1, 0]), "else_branch": branch("e", [0, 2, 1])}
    x, yes = np.array([[1, 2]], np.float32), {"yes": constant("yes", True, bool)}
    made = model_of_node(node("If", "yes", "y", **graphs), perceptron(), yes, {"x": x})
    assert session(made).run(["y"], {"x": x})[0].tolist() == [[1], [2]]


def test_sequences_are_inputs_too() -> None:
    parts = [np.array([1], np.int64), np.array([2], np.int64)]
    made = model_of_node(node("SequenceLength", "s", "y"), perceptron(), {}, {"s": parts})
    assert session(made).run(["y"], {"s": parts})[0] == 2


def test_a_model_gives_any_of_its_tensors_for_as_long_as_it_is_asked() -> None:
    made = perceptron()
    before = made.SerializeToString()
    x = np.ones((3, 16), np.float32)
    with with_outputs(made, ["m1", "y"], ["r1"]) as more:
        m1, y, shape = session(more).run(None, {"x": x})
    assert (m1.shape, y.shape, shape.tolist()) == ((3, 32), (3, 8), [3, 32])
    assert made.SerializeToString() == before


def test_a_model_gets_its_weights_back_but_for_what_its_nodes_make() -> None:
    made = perceptron()
    weights = {tensor.name: tensor for tensor in made.graph.initializer}
    del made.graph.initializer[:]
    joined = join_weights(made, {**weights, "a1": constant("a1", [1.0])})
    assert [tensor.name for tensor in joined.graph.initializer] == ["w1", "b1", "w2"]
    assert session(joined).run(["y"], {"x": np.ones((3, 16), np.float32)})[0].shape == (3, 8)


def test_the_shapes_have_names_of_their_own() -> None:
    with with_outputs(perceptron(), [], ["m1"]) as more:
        assert [value.name for value in more.graph.output] == [f"{SHAPE_OF}m1"]


def test_the_types_of_tensors_are_inferred() -> None:
    nodes = [
        node("Cast", "x", "h", to=10),
        node("ArgMax", "w", "i"),
        node("Own", "x", "z", domain="own"),
        node("SequenceConstruct", "x", "s"),
    ]
    kinds = element_types(model(nodes, {"x": [4]}, {}), [constant("w", [1.0])])
    assert {name: kinds.get(name) for name in "xhisz"} == {
        "x": "FLOAT",
        "h": "FLOAT16",
        "i": "INT64",
        "s": "sequence",
        "z": None,
    }
    sizes = [bytes_of_kind(kind) for kind in ("FLOAT", "FLOAT16", "INT64", "BOOL", "BFLOAT16", "INT4", "sequence")]
    assert sizes == [4, 2, 8, 1, None, None, None]


def test_the_file_format_is_one_that_runtimes_read() -> None:
    made = perceptron()
    made.ir_version = 99
    assert model_of_node(node("Relu", "x", "y"), made, {}, {"x": np.ones(1)}).ir_version == 11
