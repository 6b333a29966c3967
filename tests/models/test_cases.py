"""Models made ready to run: their nodes as cases, their constants, their inputs."""

from __future__ import annotations

from typing import Any

import pytest
from onnx import helper
from run_models import Runtime, constant, one_input, perceptron
from whole_models import node, save, tensor

from dmlcheck.diagnostics.record import Finding
from dmlcheck.formats.find import Target
from dmlcheck.models.cases import Loaded, ModelOrigin, ModelRequest, UnusableModel, loaded

pytestmark = pytest.mark.usefixtures("folder")


def read(made: Any, **asked: Any) -> Loaded | UnusableModel:
    return loaded(Target(save(made), "in/m.onnx"), ModelRequest({"batch": 3})._replace(**asked), Runtime())


def test_each_node_is_a_case_with_its_operator_and_what_it_reads() -> None:
    found = read(perceptron())
    assert isinstance(found, Loaded)
    first = found.nodes[0]
    assert (first.case.id, first.case.file, first.operator) == ("in/m.onnx::up", "in/m.onnx", "MatMul-13")
    assert first.reads == ("x", "w1")
    assert sorted(found.constants) == ["b1", "w1", "w2"]
    assert found.inputs["x"].shape == (3, 16)
    assert found.symbols == {"batch"}


def test_constants_of_nodes_are_constants() -> None:
    nodes = [node("Constant", "", "c", value=constant("c", [1.0])), node("Constant", "", "d", value_float=2.0)]
    found = read(one_input([*nodes, node("Sum", "x c d", "y", "sum")], [1]))
    assert isinstance(found, Loaded)
    assert ([each.case.name for each in found.nodes], sorted(found.constants)) == (["sum"], ["c", "d"])


def test_no_node_has_the_name_of_another_case_of_the_model() -> None:
    nodes = [node("Relu", "x", "a", "together"), node("Neg", "a", "b", "output:y"), node("Neg", "b", "y", "together")]
    found = read(one_input(nodes, [1]))
    assert isinstance(found, Loaded)
    assert [each.case.name for each in found.nodes] == ["together_2", "output:y_2", "together_3"]


def test_a_node_without_a_name_takes_none_that_another_node_has() -> None:
    nodes = [node("Relu", "x", "a"), node("Neg", "a", "y", "Relu_0")]
    found = read(one_input(nodes, [1]))
    assert isinstance(found, Loaded)
    assert [each.case.name for each in found.nodes] == ["Relu_0_2", "Relu_0"]


def test_a_node_has_no_place_in_a_model() -> None:
    origin = ModelOrigin("m.onnx")
    assert origin.position()[:2] == (1, 1)
    assert (origin.line(1), origin.literal(())) == ("", None)
    made = origin.diagnostic(Finding("not-mapped", (), {"problem": "so"}))
    assert (made.where, made.message) == ("m.onnx", "so")


BRANCH = helper.make_graph([node("RandomUniform", "", "r", "r", shape=[2])], "branch", [], [tensor("r", [2])])


@pytest.mark.parametrize(
    ("first", "drawn"),
    [
        (node("RandomNormalLike", "x", "a", "first"), "first"),
        (node("Dropout", "x - yes", "a", "first"), "first"),
        (node("Dropout", "x - asked", "a", "first"), "first"),
        (node("Dropout", "x - no", "a", "first"), None),
        (node("Dropout", "x", "a", "first"), None),
        (node("If", "yes", "a", "first", then_branch=BRANCH, else_branch=BRANCH), "first"),
        (node("Relu", "x", "a", "first"), None),
    ],
    ids=lambda each: getattr(each, "op_type", each),
)
def test_tensors_that_follow_from_random_numbers_are_known(first: Any, drawn: str | None) -> None:
    nodes = [first, node("RandomUniform", "", "b", "other", shape=[2]), node("Neg", "a", "y", "last")]
    made = one_input(nodes, [2], [constant("yes", True, bool), constant("no", False, bool)])
    made.graph.input.append(tensor("asked", [], helper.TensorProto.BOOL))
    found = read(made)
    assert isinstance(found, Loaded)
    assert (found.random_before("y"), found.random_before("x")) == (drawn, None)
