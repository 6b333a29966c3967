"""Operators on quantized numbers by way of floats, by hand: scaled, computed, scaled back and rounded to even."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from node_graphs import computed, node_of

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.onnx.operators.table import exact_steps


def test_a_product_of_quantized_numbers_is_rounded_to_the_output() -> None:
    a, b = np.array([[0, 10, 255], [128, 130, 20]], np.uint8), np.array([3, 128, 255], np.uint8)
    numbers = [np.float32(0.5), np.uint8(128), np.float32(0.25), np.uint8(3), np.float32(2), np.uint8(100)]
    inputs = [a, numbers[0], numbers[1], b, numbers[2], numbers[3], numbers[4], numbers[5]]
    scaled = (a.astype("f8") - 128) * 0.5 * (b.astype("f8") - 3) * 0.25
    expected = np.clip(np.rint(scaled / 2 + 100), 0, 255).astype(np.uint8)
    assert expected.tolist() == [[100, 0, 255], [100, 116, 0]]
    (made,) = computed(node_of("com.microsoft.QLinearMul", inputs, TensorRef("UINT8", (2, 3))))
    assert made.tolist() == expected.tolist()
    (signed,) = computed(
        node_of(
            "com.microsoft.QLinearMul",
            [np.int8([-4, 6]), np.float32(0.5), None, np.int8([2]), np.float32(1), None, np.float32(0.5), None],
            TensorRef("INT8", (2,)),
        )
    )
    assert signed.tolist() == [-8, 12]


def test_a_leaky_rectifier_of_quantized_numbers_goes_through_floats() -> None:
    x = np.array([[-100, -4, 0, 50]], np.int8)
    inputs = [x, np.float32(0.5), np.int8(0), np.float32(0.25), np.int8(-10)]
    (made,) = computed(node_of("com.microsoft.QLinearLeakyRelu", inputs, TensorRef("INT8", (1, 4)), alpha=0.125))
    assert made.tolist() == [[-35, -11, -10, 90]]


@pytest.mark.parametrize(("opset", "axis", "count"), [(13, 1, 2), (13, -1, 2), (12, 0, 4), (12, 1, 2)])
def test_a_softmax_of_quantized_numbers_has_the_axes_of_its_opset(opset: int, axis: int, count: int) -> None:
    """Numbers that are all alike share 1 among them: in steps of 1/200, above -128."""
    inputs = [np.full((2, 2), 7, np.int8), np.float32(0.5), np.int8(3), np.float32(1 / 200), np.int8(-128)]
    one = node_of("com.microsoft.QLinearSoftmax", inputs, TensorRef("INT8", (2, 2)), opset=17)
    (made,) = computed(one.with_attributes(opset=opset, axis=axis))
    assert made.tolist() == [[200 // count - 128] * 2] * 2


def test_a_softmax_of_quantized_numbers_is_one_of_floats() -> None:
    """The shares of 0 and log(3) are 1/4 and 3/4."""
    scale = np.float32(np.log(3))
    inputs = [np.array([[2, 3]], np.uint8), scale, np.uint8(2), np.float32(1 / 256), np.uint8(0)]
    one = node_of("com.microsoft.QLinearSoftmax", inputs, TensorRef("UINT8", (1, 2)))
    assert computed(one.with_attributes(opset=13, axis=-1))[0].tolist() == [[64, 192]]


def test_a_choice_of_quantized_numbers_has_a_scale_of_its_own() -> None:
    """(10 - 2) * 0.5 and (6 - 4) * 2 are both 4, which is 9 in steps of 1 above 5; (0 - 4) * 2 is -8, below 0."""
    one = [np.array([10, 10], np.uint8), np.float32(0.5), np.uint8(2)]
    other = [np.array([[6, 6], [0, 0]], np.uint8), np.float32(2), np.uint8(4)]
    inputs = [np.array([[True, False], [True, False]]), *one, *other, np.float32(1), np.uint8(5)]
    (made,) = computed(node_of("com.microsoft.QLinearWhere", inputs, TensorRef("UINT8", (2, 2))))
    assert made.tolist() == [[9, 9], [9, 0]]


A, B, C = np.array([[1, 2], [3, 4]], np.uint8), np.array([[5, 6], [7, 8]], np.int8), np.array([1, -2], np.int32)


@pytest.mark.parametrize("attributes", [{}, {"transB": 1}, {"transA": 1}])
def test_a_product_of_quantized_matrices_is_one_of_whole_numbers(attributes: dict[str, Any]) -> None:
    """Worked out in whole numbers by NumPy, then scaled: 0.5 by 1 and 2 for the columns, and alpha 2."""
    scales = np.array([1, 2], np.float32)
    inputs = [A, np.float32(0.5), np.uint8(1), B, scales, None, C, None, None]
    a, b = A.astype("i8") - 1, B.astype("i8")
    a, b = a.T if "transA" in attributes else a, b.T if "transB" in attributes else b
    whole = (a @ b + C) * 0.5 * scales * 2
    (made,) = computed(node_of("com.microsoft.QGemm", inputs, TensorRef("FLOAT32", (2, 2)), alpha=2.0, **attributes))
    assert made.tolist() == whole.tolist()
    inputs[7:] = [np.float32(4), np.uint8(100)]
    (made,) = computed(node_of("com.microsoft.QGemm", inputs, TensorRef("UINT8", (2, 2)), alpha=2.0, **attributes))
    assert made.tolist() == np.clip(np.rint(whole / 4) + 100, 0, 255).tolist()


def test_quantized_tables_of_embeddings_are_scaled_looked_up_added_and_normalized() -> None:
    """By NumPy: rows of three tables, less their mean, in standard deviations, times gamma plus beta."""
    random = np.random.default_rng(5)
    tables = [random.integers(0, 256, sizes, np.uint8) for sizes in ((7, 4), (5, 4), (2, 4), (4,), (4,))]
    scales = [np.float32(0.01 * (index + 1)) for index in range(5)]
    zeros = [np.uint8(100 + index) for index in range(5)]
    ids, segments, mask = (np.array(rows, np.int32) for rows in ([[3, 6], [0, 3]], [[0, 1], [1, 1]], [[1, 0], [1, 1]]))
    inputs = [ids, segments, *tables, mask, *scales, *zeros]
    made = (TensorRef("FLOAT32", (2, 2, 4)), TensorRef("INT32", (2,)))
    one = node_of("com.microsoft.QEmbedLayerNormalization", inputs, *made, epsilon=0.125)
    words, positions, kinds, gamma, beta = (
        (table.astype("f8") - zero) * scale for table, scale, zero in zip(tables, scales, zeros, strict=True)
    )
    sums = words[ids] + positions[[0, 1]] + kinds[segments]
    away = sums - sums.mean(-1, keepdims=True)
    right = away / np.sqrt((away**2).mean(-1, keepdims=True) + 0.125) * gamma + beta
    found, lengths = computed(one)
    assert found == pytest.approx(right, rel=1e-5, abs=1e-6)
    assert lengths.tolist() == [1, 2]


@pytest.mark.parametrize("name", ["DynamicQuantizeLSTM", "MatMulInteger16"])
def test_what_no_operator_computes_has_a_reason(name: str) -> None:
    with pytest.raises(
        Unmapped, match=f"com.microsoft.{name} (quantizes its state anew|multiplies integers of 16 bits)"
    ):
        exact_steps(node_of(f"com.microsoft.{name}", [A], TensorRef("FLOAT32", (2, 2))))
