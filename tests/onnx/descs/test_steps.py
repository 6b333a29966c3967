"""Operators that nodes of several descs are made of."""

from __future__ import annotations

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.steps import identity, join, product, step, window

X, WIDE = TensorRef("FLOAT32", (1, 3)), TensorRef("FLOAT32", (2, 3))


def test_fields_that_are_none_are_left_out() -> None:
    assert step("CAST", InputTensor=X, OutputTensor=None).fields == {"InputTensor": X}


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
