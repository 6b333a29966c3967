"""A graph as it grows."""

from __future__ import annotations

import pytest
from onnx_models import A, B, identity, of, simple

from dmlcheck.onnx.export.builder import Builder
from dmlcheck.onnx.export.records import Inexpressible


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
