"""The types and sizes that the outputs of a node must have."""

from __future__ import annotations

import numpy as np
import pytest
from whole_models import helper, node

from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.onnx.model.node_outputs import Form, forms_from_values, forms_of_outputs

X = np.ones((2, 3), np.float32)


def test_types_and_sizes_follow_from_those_of_the_inputs() -> None:
    assert forms_of_outputs(node("Transpose", "x", "y"), 17, [X]) == {"y": Form(np.float32, (3, 2))}
    assert forms_of_outputs(node("ArgMax", "x", "y", axis=1), 17, [X]) == {"y": Form(np.int64, (2, 1))}


def test_sizes_may_follow_from_values() -> None:
    assert forms_of_outputs(node("Reshape", "x s", "y"), 17, [X, np.array([6])]) == {"y": Form(np.float32, (6,))}


def test_nothing_is_said_of_what_does_not_follow() -> None:
    assert forms_of_outputs(node("NonZero", "x", "y"), 17, [X]) == {}
    assert forms_of_outputs(node("Relu", "x", "y", domain="own"), 17, [X]) == {}
    assert forms_of_outputs(node("MatMul", "x x", "y"), 17, [X, X]) == {}
    assert forms_of_outputs(node("None", "x", "y"), 17, [X]) == {}


def test_inputs_that_are_left_out_are_none() -> None:
    made = node("Clip", "x - m", "y")
    assert forms_of_outputs(made, 17, [X, None, np.float32(1)]) == {"y": Form(np.float32, (2, 3))}


def test_forms_of_operators_of_the_runtime_and_of_constants_follow_too() -> None:
    opsets = {"": 17, "com.microsoft": 1}
    gelu = node("Gelu", "x", "y", domain="com.microsoft")
    assert forms_from_values(gelu, opsets, {"x": X}) == {"y": Form(np.float32, (2, 3))}
    sizes = helper.make_tensor("s", 7, [1], [6])
    found = forms_from_values(node("Reshape", "x s", "y"), opsets, {"x": X, "s": sizes})
    assert found == {"y": Form(np.float32, (6,))}
    assert found["y"].bytes == 24
    assert forms_from_values(node("NonZero", "x", "y"), opsets, {"x": X}) == {}
    with pytest.raises(Unmapped, match="Incompatible dimensions"):
        forms_from_values(node("MatMul", "x x", "y"), opsets, {"x": X})


def test_nothing_is_said_of_what_onnx_infers_otherwise_than_it_computes() -> None:
    signal = np.ones((1, 16, 1), np.float32)
    given = [signal, np.array(4), None, np.array(8)]
    assert forms_of_outputs(node("STFT", "s t - l", "y"), 17, given) == {}


@pytest.mark.parametrize(
    ("size", "scale", "sizes"),
    [(10, 0.75, (1, 7)), (10, 0.7, None), (100, 0.29, None), (3, 0.7, (1, 2))],  # 7 or 6, and 29 or 28
)
def test_nothing_is_said_of_sizes_that_a_rounding_to_float32_decides(
    size: int, scale: float, sizes: tuple[int, ...] | None
) -> None:
    given = [np.ones((1, size), np.float32), None, np.array([1, scale], np.float32)]
    expected = {} if sizes is None else {"y": Form(np.float32, sizes)}
    assert forms_of_outputs(node("Resize", "x - s", "y"), 13, given) == expected


@pytest.mark.parametrize("kind", ["MaxPool", "AveragePool"])
def test_a_pooling_with_same_padding_has_the_size_of_the_input_by_the_stride(kind: str) -> None:
    """A window of 1 and a stride of 3 have 3 places in 9 elements: onnx infers 4 where sizes are rounded up."""
    made = node(kind, "x", "y", kernel_shape=[1], strides=[3], auto_pad="SAME_LOWER", ceil_mode=1)
    assert forms_of_outputs(made, 17, [np.ones((1, 1, 9), np.float32)])["y"].sizes == (1, 1, 3)
