"""Tensors as DirectML has them."""

from __future__ import annotations

import numpy as np
import pytest

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, Unmapped
from dmlcheck.onnx.descs.tensors import (
    identity,
    join,
    padded_steps,
    pair,
    permuted,
    product,
    repeated,
    sized,
    step,
    unary,
    unsigned,
    vector,
    window,
)


def of(*values: object, dtype: str = "float32") -> TensorRef:
    return TensorRef.of(np.array(values, dtype))


def values(x: TensorRef) -> object:
    assert x.values is not None
    return x.values.tolist()


def test_a_scalar_has_one_dimension() -> None:
    scalar = TensorRef.of(np.array(5.0))
    assert values(repeated(scalar, ())) == [5]
    assert (vector(scalar).shape, vector(of(1, 2)).shape) == ((1,), (2,))


def test_other_sizes_have_as_many_elements() -> None:
    x = TensorRef("FLOAT32", (6,))
    assert sized(x, [2, 3]).shape == (2, 3)
    with pytest.raises(Unmapped, match=r"^values of the sizes \[6\] are not of \[4\]$"):
        sized(x, [4])


def test_another_order_of_axes_is_one_of_strides() -> None:
    x = of([0, 1, 2], [3, 4, 5])
    found = permuted(x, [1, 0])
    assert (found.strides, values(found)) == ((1, 3), [[0, 3], [1, 4], [2, 5]])
    assert permuted(x, [0, 1]) is x
    with pytest.raises(Unmapped, match=r"^\[0, 0\] is no order of 2 dimensions$"):
        permuted(x, [0, 0])


def test_indices_have_no_sign_and_are_the_same_bytes() -> None:
    x = of(1, 2, dtype="int64")
    found = unsigned(x)
    assert (found.data_type, found.buffer is x.buffer, values(found)) == ("UINT64", True, [1, 2])


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
