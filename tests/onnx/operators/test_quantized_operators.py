"""ONNX's operators on quantized numbers as DirectML's, and as the provider makes several descs of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from node_graphs import computed, node_of
from onnx_nodes import Array, Desc, descs, found, zeros

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.onnx.operators.table import row_of


def whole(*sizes: int) -> Array:
    return zeros(*sizes, dtype="uint8")


def shapes(made: Any) -> dict[str, tuple[int, ...]]:
    return {
        name.removesuffix("Tensor"): value.shape for name, value in made.fields.items() if isinstance(value, TensorRef)
    }


def test_numbers_of_rows_and_columns_lie_along_them() -> None:
    a, b, one = whole(5, 2, 3), whole(3, 4), zeros()
    inputs = [a, zeros(2), whole(2), b, zeros(4), whole(1), one, whole()]
    made = found("QLinearMatMul", inputs, whole(5, 2, 4))
    assert made.operator == "QUANTIZED_LINEAR_MATRIX_MULTIPLY"
    assert shapes(made) == {
        "A": (5, 2, 3), "B": (5, 3, 4), "Output": (5, 2, 4),
        "AScale": (1, 2, 1), "AZeroPoint": (1, 2, 1),
        "BScale": (1, 1, 4), "BZeroPoint": (1, 1, 1),
        "OutputScale": (1, 1, 1), "OutputZeroPoint": (1, 1, 1),
    }  # fmt: skip
    assert made.fields["BTensor"].strides == (0, 4, 1)
    with pytest.raises(Unmapped, match="QLinearMatMul of a vector"):
        found("QLinearMatMul", [whole(3), *inputs[1:]], whole(4))


# ---- as several descs


OWN = "com.microsoft."
SCALE, ZERO = zeros(), zeros(dtype="uint8")


def scaled(operator: str, sizes: str) -> Desc:
    """Return the desc between bytes and floating point, whose scale and zero point repeat everywhere."""
    tensors = [f"UINT8 {sizes}", f"FLOAT32 {sizes}"]
    first, last = tensors if operator == "DEQUANTIZE" else tensors[::-1]
    numbers = {"ScaleTensor": f"FLOAT32 {sizes} by 0 0 0 0", "ZeroPointTensor": f"UINT8 {sizes} by 0 0 0 0"}
    return Desc(f"ELEMENT_WISE_{operator}_LINEAR", {"InputTensor": first, **numbers, "OutputTensor": last}, "1_0")


def test_quantized_tensors_are_joined_in_floating_point() -> None:
    a, b = zeros(2, 3, dtype="uint8"), zeros(2, 4, dtype="uint8")
    inputs = [SCALE, ZERO, a, SCALE, ZERO, b, SCALE, ZERO]
    made = descs(f"{OWN}QLinearConcat", inputs, zeros(2, 7, dtype="uint8"), axis=1)
    parts = ["FLOAT32 1 1 2 3", "FLOAT32 1 1 2 4"]
    assert made == [
        scaled("DEQUANTIZE", "1 1 2 3"),
        scaled("DEQUANTIZE", "1 1 2 4"),
        Desc("JOIN", {"InputTensors": parts, "OutputTensor": "FLOAT32 1 1 2 7", "Axis": 3}, "1_0"),
        scaled("QUANTIZE", "1 1 2 7"),
    ]
    with pytest.raises(Unmapped, match="of 7 inputs"):
        descs(f"{OWN}QLinearConcat", inputs[:-1], zeros(2, 7, dtype="uint8"), axis=1)


def test_the_first_factor_is_quantized_by_its_range() -> None:
    """The zero point of the first factor has the type of the second one."""
    x, weights = zeros(5, 32), zeros(32, 8, dtype="int8")
    inputs = [x, weights, zeros(8), zeros(8, dtype="int8"), zeros(8)]
    made = descs(f"{OWN}DynamicQuantizeMatMul", inputs, zeros(5, 8))
    scale, zero = "FLOAT32 1 1 1 1", "INT8 1 1 1 1"
    ranges = {
        "InputTensor": "FLOAT32 1 1 5 32",
        "OutputTensor": "INT8 1 1 5 32",
        "OutputScaleTensor": scale,
        "OutputZeroPointTensor": zero,
    }
    factors = {
        "ATensor": "INT8 1 1 5 32",
        "AScaleTensor": scale,
        "AZeroPointTensor": zero,
        "BTensor": "INT8 1 1 32 8",
        "BScaleTensor": "FLOAT32 1 1 1 8",
        "BZeroPointTensor": "INT8 1 1 1 8",
        "BiasTensor": "FLOAT32 1 1 5 8 by 0 0 0 1",
        "OutputTensor": "FLOAT32 1 1 5 8",
    }
    assert made == [
        Desc("DYNAMIC_QUANTIZE_LINEAR", ranges, "4_0"),
        Desc("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", factors, "6_2"),
    ]


def test_weights_in_blocks_are_read_by_each_batch() -> None:
    """16 rows of 48 columns in three blocks; a row of three zero points takes two bytes."""
    x, weights = zeros(2, 5, 48), zeros(16, 3, 8, dtype="uint8")
    inputs = [x, weights, zeros(48), zeros(32, dtype="uint8")]
    made = descs(f"{OWN}MatMulNBits", inputs, zeros(2, 5, 16), N=16, K=48, bits=4, block_size=16)
    blocks = {
        "InputTensor": "UINT4 2 16 48 by 0 48 1",
        "QuantizationType": "SCALE_ZERO_POINT",
        "QuantizationTensors": ["FLOAT32 2 16 3 by 0 3 1", "UINT4 2 16 3 by 0 4 1"],
        "OutputTensor": "FLOAT32 2 16 48",
    }
    product = {
        "ATensor": "FLOAT32 2 5 48",
        "BTensor": "FLOAT32 2 16 48",
        "OutputTensor": "FLOAT32 2 5 16",
        "TransA": "NONE",
        "TransB": "TRANSPOSE",
        "Alpha": 1,
        "Beta": 0,
    }
    assert made == [Desc("DEQUANTIZE", blocks, "6_3"), Desc("GEMM", product, "4_0")]


@pytest.mark.parametrize("has_bias", [False, True])
def test_factors_of_different_types_are_multiplied_as_whole_numbers(*, has_bias: bool) -> None:
    """By NumPy; ONNX Runtime's quantize_dynamic makes them, UINT8 by INT8, with a scale for each column."""
    a, b = np.array([[0, 200, 255], [7, 8, 9]], np.uint8), np.array([[-128, 3], [4, 127], [-6, 7]], np.int8)
    scales, zeros_of_b = np.array([0.25, 2], np.float32), np.array([1, -2], np.int8)
    bias = np.array([10, -20], np.float32) if has_bias else None
    inputs = [a, b, np.float32(0.5), scales, np.uint8(128), zeros_of_b, bias]
    right = (a.astype("i8") - 128) @ (b.astype("i8") - zeros_of_b) * 0.5 * scales + (0 if bias is None else bias)
    (made,) = computed(node_of(f"{OWN}MatMulIntegerToFloat", inputs, TensorRef("FLOAT32", (2, 2))))
    assert made.tolist() == right.tolist()


@pytest.mark.parametrize("batch", [(), (2,)])
def test_the_last_block_may_reach_beyond_the_columns(batch: tuple[int, ...]) -> None:
    """Three columns in blocks of two, by hand: 2 * (1, 2), 10 * 3; 1 * (4, 5), 0.5 * 6. What is behind is left out."""
    packed = np.array([[[1, 2], [3, 99]], [[4, 5], [6, 77]]], np.uint8)
    scales, zero_points = np.array([2, 10, 1, 0.5], np.float32), np.zeros((2, 2), np.uint8)
    x = np.array([[1, 1, 1], [0, 2, 1]], np.float32)
    inputs = [np.broadcast_to(x, (*batch, 2, 3)).copy(), packed, scales, zero_points]
    sizes = {"N": 2, "K": 3, "bits": 8, "block_size": 2}
    (made,) = computed(node_of(f"{OWN}MatMulNBits", inputs, TensorRef("FLOAT32", (*batch, 2, 2)), **sizes))
    assert made.reshape(-1, 2, 2)[-1].tolist() == [[36, 12], [38, 13]]


@pytest.mark.parametrize(
    ("count", "attributes", "said"),
    [
        (3, {"K": 48}, "has no attribute N"),
        (3, {"N": 16, "K": 32}, "is not of 32 columns"),
        (3, {"N": 16, "K": 48, "bits": 2}, "of 2 bits"),
        (6, {"N": 16, "K": 48}, "group indices or a bias"),
        (2, {"N": 16, "K": 48}, "has no input 2"),
    ],
)
def test_blocks_that_do_not_go_together_are_refused(count: int, attributes: dict[str, Any], said: str) -> None:
    inputs = [zeros(5, 48), *[zeros(48, dtype="uint8")] * (count - 1)]
    with pytest.raises(Unmapped, match=said):
        descs(f"{OWN}MatMulNBits", inputs, zeros(5, 16), **attributes)


@pytest.mark.parametrize(
    ("level", "slack"),
    [(1, None), (2, [0.5, 4, 1, 0]), (3, [4, 32, 8, 0]), (4, [32.25, 32.25, 8.0625, 8.0625])],
)
def test_a_first_factor_may_be_rounded(level: int, slack: list[float] | None) -> None:
    """To 11 bits, to 8 bits, or to a step of the largest of a block over 127: half of each, by hand."""
    x = np.array([[1024, -8192, 2048, 0]], np.float32)
    one = node_of(
        f"{OWN}MatMulNBits", [x], TensorRef("FLOAT32", (1, 4)), K=4, N=4, bits=8, block_size=2, accuracy_level=level
    )
    found = row_of(one.type).slack(one)
    assert {index: each.ravel().tolist() for index, each in found.items()} == (
        {} if slack is None else {0: pytest.approx(slack, rel=1e-3)}
    )


# ---- operators on quantized numbers by way of floats, by hand: scaled, computed, scaled back and rounded to even


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


def test_joined_numbers_without_zero_points_have_those_of_0() -> None:
    """4 halves and -6 ones are 2 and -6, or 4 and -12 halves."""
    half, one = np.float32(0.5), np.float32(1)
    inputs = [half, None, np.int8([[4]]), half, None, np.int8([[-6]]), one, None]
    (made,) = computed(node_of("com.microsoft.QLinearConcat", inputs, TensorRef("INT8", (1, 2)), axis=1))
    assert made.tolist() == [[4, -12]]


def test_a_leaky_rectifier_of_quantized_numbers_goes_through_floats() -> None:
    x = np.array([[-100, -4, 0, 50]], np.int8)
    inputs = [x, np.float32(0.5), np.int8(0), np.float32(0.25), np.int8(-10)]
    (made,) = computed(node_of("com.microsoft.QLinearLeakyRelu", inputs, TensorRef("INT8", (1, 4)), alpha=0.125))
    assert made.tolist() == [[-35, -11, -10, 90]]


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
