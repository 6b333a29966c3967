"""What the queries of the families say of a node."""

from __future__ import annotations

from onnx_nodes import node, zeros

from dmlcheck.onnx.operators.row import Row, is_given, is_set, not_taken

X = zeros(2)
RESIZE = node("Resize", [X], X, exclude_outside=0, extrapolation_value=2.5)


def test_a_node_that_is_not_taken_is_named() -> None:
    assert not_taken(RESIZE, "of mode cubic") == "the DirectML provider does not take Resize of mode cubic"


def test_the_first_attribute_that_is_set_is_named() -> None:
    assert is_set(RESIZE, "antialias", "exclude_outside") is None
    assert is_set(RESIZE, "exclude_outside", "extrapolation_value") == not_taken(RESIZE, "of extrapolation_value 2.5")


def test_an_output_is_given_also_where_its_type_is_not_known() -> None:
    two = node("Skip", [X], X, None)
    assert [is_given(two, index) for index in range(3)] == [True, False, False]
    assert is_given(two._replace(untyped=frozenset([1])), 1)


def test_a_row_is_mapped_by_any_of_its_makers() -> None:
    assert not Row(reason="draws random numbers").is_mapped
    assert Row(exact=lambda _: []).is_mapped
    assert Row(provider=lambda _: []).is_mapped
