"""What the queries of the families say of a node."""

from __future__ import annotations

from onnx_nodes import node, zeros

from dmlcheck.onnx.operators.row import is_set, not_taken

X = zeros(2)
RESIZE = node("Resize", [X], X, exclude_outside=0, extrapolation_value=2.5)


def test_a_node_that_is_not_taken_is_named() -> None:
    assert not_taken(RESIZE, "of mode cubic") == "the DirectML provider does not take Resize of mode cubic"


def test_the_first_attribute_that_is_set_is_named() -> None:
    assert is_set(RESIZE, "antialias", "exclude_outside") is None
    assert is_set(RESIZE, "exclude_outside", "extrapolation_value") == not_taken(RESIZE, "of extrapolation_value 2.5")
