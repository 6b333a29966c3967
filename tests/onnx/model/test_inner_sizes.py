"""Sizes of tensors inside of a model, which follow from those of its inputs."""

from __future__ import annotations

from typing import Any

from whole_models import INT64, model, node, numbers, tensor, weight

from dmlcheck.onnx.model.inner_sizes import InnerSizes

GIVEN = {"x": (2, 3)}


def sizes(nodes: list[Any], **more: Any) -> InnerSizes:
    """Return the sizes of a model with an input of one size that has a name."""
    made = model(nodes, {"x": [2, "n"]}, {}, **more)
    return InnerSizes(made, {one.name: one for one in made.graph.initializer}, GIVEN)


def test_sizes_follow_from_those_that_are_given() -> None:
    found = sizes([node("MatMul", "x w", "a"), node("Transpose", "a", "b")], constants=[weight("w", [3, 5])])
    assert (found["b"], found["a"], found["x"]) == ((5, 2), (2, 5), (2, 3))
    assert found.get("c") is None


def test_sizes_follow_from_numbers_that_are_computed_and_from_constants() -> None:
    nodes = [
        node("Shape", "x", "s"),
        node("Constant", "", "one", value=numbers("", [1])),
        node("Concat", "s one", "more", axis=0),
        node("Reshape", "x more", "y"),
    ]
    assert sizes(nodes)["y"] == (2, 3, 1)


def test_nodes_are_followed_once_and_only_for_a_size_that_is_not_given() -> None:
    found = sizes([node("Relu", "x", "y")])
    assert found["x"] == (2, 3)
    assert len(found) == 1
    assert found["y"] == (2, 3)
    assert sorted(found) == ["x", "y"]


def test_what_a_model_declares_counts_where_nothing_follows() -> None:
    nodes = [node("Own", "x", "y", domain="own"), node("MatMul", "x x", "wrong"), node("Relu", "wrong", "z")]
    made = sizes(nodes, infos=[tensor("y", [7], INT64), tensor("z", [4])])
    assert (made["y"], made.get("wrong"), made["z"]) == ((7,), None, (4,))
