"""A graph as it grows."""

from __future__ import annotations

import pytest
from onnx_models import A, B, identity, of, simple

from dmlcheck.onnx.export.builder import Builder
from dmlcheck.onnx.export.records import ExportedNode, Inexpressible


def test_a_tensor_that_is_left_out_is_not_there() -> None:
    builder = Builder(simple("ELEMENT_WISE_ADD1", {A: of("FLOAT32", 1), B: of("FLOAT32", 1)}))
    assert builder.has(A)
    assert not builder.has("ZeroPointTensor")
    with pytest.raises(Inexpressible, match="ZeroPointTensor is left out"):
        builder.input("ZeroPointTensor")


def test_absent_inputs_at_the_end_are_cut_off_and_those_between_are_empty() -> None:
    g = Builder(identity())
    x = g.input("InputTensor")
    g.node("Clip", [x, None, g.constant([1], "FLOAT32", ())], x.sizes, x.data_type)
    g.node("Clip", [x, None, None], x.sizes, x.data_type)
    assert [node.inputs for node in g.nodes] == [("InputTensor", "", "constant_1"), ("InputTensor",)]


def test_what_changes_nothing_adds_no_node() -> None:
    g = Builder(identity())
    x = g.input("InputTensor")
    assert g.cast(x, "FLOAT32") is x
    assert g.reshape(x, [2, 3]) is x
    assert g.transpose(x, [0, 1]) is x
    assert not g.nodes


def test_an_input_that_is_the_output_passes_through_a_node() -> None:
    g = Builder(identity())
    g.output("OutputTensor", g.input("InputTensor"))
    assert g.graph().nodes == (ExportedNode("Identity", ("InputTensor",), ("OutputTensor",), {}),)


def test_inputs_are_in_the_order_of_the_desc_whatever_is_asked_for_first() -> None:
    g = Builder(simple("ELEMENT_WISE_ADD1", {A: of("FLOAT32", 1), B: of("FLOAT32", 1)}))
    g.input(B)
    g.input(A)
    assert [value.name for value in g.graph().inputs] == [A, B]


def test_attributes_may_be_any_mapping_and_those_that_are_none_are_left_out() -> None:
    g = Builder(identity())
    x = g.input("InputTensor")
    g.node("Made", [x], x.sizes, x.data_type, type=1, element=2, sizes=None)
    assert g.nodes == [ExportedNode("Made", ("InputTensor",), ("made_1",), {"type": 1, "element": 2})]
