"""Operators that nodes of several descs are made of."""

from __future__ import annotations

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart
from dmlcheck.onnx.descs.steps import identity, join, padded_steps, pair, product, step, unary, window

X, WIDE = TensorRef("FLOAT32", (1, 3)), TensorRef("FLOAT32", (2, 3))


def test_fields_that_are_none_are_left_out() -> None:
    assert step("CAST", InputTensor=X, OutputTensor=None).fields == {"InputTensor": X}


def test_a_step_keeps_its_dimensions_unless_it_is_padded() -> None:
    made = unary("ACTIVATION_RELU", X, X)
    assert made == Counterpart("ACTIVATION_RELU", {"InputTensor": X, "OutputTensor": X}, least=1)
    assert [each.least for each in padded_steps([made, made])] == [4, 4]


def test_tensors_of_a_pair_repeat_to_the_output_through_strides() -> None:
    made = pair("ADD", X, WIDE.view((2, 3), (1, 2)), WIDE)
    assert made.operator == "ELEMENT_WISE_ADD"
    assert made.fields["ATensor"].strides == (0, 1)
    assert made.fields["BTensor"].strides == (1, 2)


def test_other_fields_of_a_product_take_the_place_of_the_usual_ones() -> None:
    fields = product(WIDE, X, WIDE, TransB="TRANSPOSE", Beta=1).fields
    assert {name: fields[name] for name in ("TransA", "TransB", "Alpha", "Beta")} == {
        "TransA": "NONE",
        "TransB": "TRANSPOSE",
        "Alpha": 1,
        "Beta": 1,
    }


def test_a_window_has_the_sizes_of_its_output() -> None:
    fields = window(WIDE, X.view((1, 3), (3, 1)), (1, 0)).fields
    assert (fields["InputWindowOffsets"], fields["InputWindowSizes"], fields["InputWindowStrides"]) == (
        [1, 0],
        [1, 3],
        [1, 1],
    )


def test_a_copy_may_be_scaled_and_a_join_has_an_axis() -> None:
    scale = {"Scale": 2, "Bias": 0}
    assert identity(X, X, ScaleBias=scale).fields["ScaleBias"] == scale
    assert join([X, X], WIDE, 0).fields == {"InputTensors": [X, X], "OutputTensor": WIDE, "Axis": 0}
