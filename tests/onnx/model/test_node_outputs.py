"""The types and sizes that the outputs of a node must have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from whole_models import helper, node

from dmlcheck.onnx.model.node_outputs import Form, forms_from_values, forms_of_outputs, true_sizes

X = np.ones((2, 3), np.float32)


def test_nothing_is_said_of_what_does_not_follow() -> None:
    assert forms_of_outputs(node("NonZero", "x", "y"), 17, [X]) == {}
    assert forms_of_outputs(node("Relu", "x", "y", domain="own"), 17, [X]) == {}
    assert forms_of_outputs(node("MatMul", "x x", "y"), 17, [X, X]) == {}
    assert forms_of_outputs(node("None", "x", "y"), 17, [X]) == {}


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


# ---- sizes that onnx infers otherwise
def sizes(type: str, *shapes: Any, opset: int = 14, **attributes: Any) -> Any:
    names = [f"input{index}" for index in range(len(shapes))]
    return true_sizes(helper.make_node(type, names, ["y"], **attributes), opset, shapes)


@pytest.mark.parametrize(
    ("x", "pads", "stride", "dilation", "expected"),
    [
        (5, [1, 1], 3, 1, 2),  # of 7 a window begins at 0, 3 and 6, which is in the padding
        (6, [1, 1], 3, 1, 3),  # at 6 of 8: 7 is the first in the padding
        (3, [1, 1], 3, 1, 2),
        (4, [0, 0], 2, 1, 2),
        (6, [0, 2], 4, 1, 2),
        (7, [0, 3], 4, 2, 2),  # a window of 5: 0 and 4 of 10; at 8 it would begin in the padding
    ],
)
@pytest.mark.parametrize("type", ["AveragePool", "LpPool", "MaxPool"])
def test_a_window_that_begins_in_the_padding_at_the_end_is_dropped(
    type: str, x: int, pads: list[int], stride: int, dilation: int, expected: int
) -> None:
    given = {"kernel_shape": [3], "pads": pads, "strides": [stride], "dilations": [dilation]}
    assert sizes(type, (1, 2, x), ceil_mode=1, **given) == (1, 2, expected)
    assert sizes(type, (1, 2, x), **given) is None
    assert sizes(type, (1, 2, x), ceil_mode=1, opset=22, **given) is None  # which onnx infers so itself


def test_dimensions_are_each_for_themselves() -> None:
    """ONNX Runtime 1.32.0: onnxruntime#15446."""
    given = {"kernel_shape": [3, 3, 3], "pads": [1] * 6, "strides": [3, 3, 3], "ceil_mode": 1}
    assert sizes("MaxPool", (1, 2, 3, 6, 5), **given) == (1, 2, 2, 3, 2)


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"strides": [2, 3]}, (1, 2, 9, 15)),
        ({"strides": [2, 3], "pads": [1, 2, 1, 0], "output_padding": [1, 0]}, (1, 2, 8, 13)),
        ({"dilations": [2, 1]}, (1, 2, 8, 7)),
        ({"auto_pad": "SAME_UPPER", "strides": [2, 3]}, (1, 2, 8, 15)),
        ({"auto_pad": "SAME_LOWER", "strides": [2, 3], "output_padding": [1, 1]}, (1, 2, 8, 15)),
        ({"auto_pad": "VALID", "pads": [1, 1, 1, 1]}, (1, 2, 6, 7)),
        ({"output_shape": [3, 4]}, (1, 2, 3, 4)),
        ({"output_shape": [1, 2, 7, 9]}, (1, 2, 7, 9)),
        ({"group": 3}, (1, 6, 6, 7)),
    ],
)
def test_sizes_of_transposed_convolutions(attributes: dict[str, Any], expected: tuple[int, ...]) -> None:
    assert sizes("ConvTranspose", (1, 3, 4, 5), (3, 2, 3, 3), **attributes) == expected


@pytest.mark.parametrize(
    ("type", "shapes", "attributes"),
    [
        ("Relu", [(2,)], {}),
        ("Einsum", [(2, 3)], {"equation": "ij,jk->ik"}),
        ("ConvTranspose", [(1, 3, 4, 5), None], {}),
        ("ConvTranspose", [(1, 3, 4), (3, 2, 3, 3)], {}),
        ("MaxPool", [(1, 2, 5)], {"kernel_shape": [3], "ceil_mode": 1, "strides": [0]}),
    ],
)
def test_sizes_that_do_not_follow_are_none(type: str, shapes: Any, attributes: dict[str, Any]) -> None:
    assert sizes(type, *shapes, **attributes) is None
    assert true_sizes(helper.make_node(type, ["x"], ["y"], domain="own"), 14, shapes) is None


def test_forms_of_outputs_have_them() -> None:
    x = np.zeros((1, 1, 5), np.float32)
    node = helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[3], pads=[1, 1], strides=[3], ceil_mode=1)
    assert forms_of_outputs(node, 14, [x])["y"].sizes == (1, 1, 2)
    assert forms_from_values(node, {"": 14}, {"x": x})["y"].sizes == (1, 1, 2)
