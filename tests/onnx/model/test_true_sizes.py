"""Sizes that onnx infers otherwise: by hand, and as ONNX Runtime 1.32.0 gave them on the CPU where it says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dmlcheck.onnx.model.node_outputs import forms_from_values, forms_of_outputs, true_sizes

helper = pytest.importorskip("onnx.helper")


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


def test_labels_of_einsum_are_broadcast() -> None:
    assert sizes("Einsum", (1, 2, 3), (4, 3, 5), equation="bij,bjk->bik") == (4, 2, 5)


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
