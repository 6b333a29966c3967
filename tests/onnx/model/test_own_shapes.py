"""Types and sizes of what onnxruntime's own operators give, by the shape inference of ONNX Runtime's schemas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from whole_models import node

from dmlcheck.onnx.model.own_shapes import own_types
from dmlcheck.onnx.model.values import Value, of_numbers

onnx = pytest.importorskip("onnx")
import numpy as np  # noqa: E402
from onnx import helper  # noqa: E402

FLOAT, UINT8, INT8, INT32, FLOAT16 = 1, 2, 3, 6, 10
Sizes = Sequence["int | str"]


def value(sizes: Sizes, kind: int = FLOAT) -> Value:
    return Value(helper.make_tensor_type_proto(kind, list(sizes)))


def inferred(operator: str, inputs: Sequence[Any], count: int = 1, opset: int = 8, **attributes: Any) -> list[Any]:
    """Return the type and sizes of each output, None where nothing is known of it."""
    values = [given if given is None or isinstance(given, Value) else value(given) for given in inputs]
    outputs = [f"y{index}" for index in range(count)]
    made = node(operator.rpartition(".")[2], "", " ".join(outputs), domain=operator.rpartition(".")[0], **attributes)
    types = own_types(operator, made, values, opset)
    found = [Value(types[name]) if name in types else None for name in outputs]
    return [None if one is None else (one.type.tensor_type.elem_type, one.sizes) for one in found]


def sizes(operator: str, inputs: Sequence[Any], **attributes: Any) -> Any:
    (one,) = inferred(f"com.microsoft.{operator}", inputs, **attributes)
    return None if one is None else one[1]


X = ("batch", 5, 32)


def test_a_normalization_has_the_type_of_its_scale() -> None:
    scale = value((32,), FLOAT16)
    assert inferred("SimplifiedLayerNormalization", [X, scale]) == [(FLOAT16, X)]
    assert inferred("LayerNormalization", [X, scale]) == [(FLOAT16, X)]
    made = inferred("com.microsoft.SkipLayerNormalization", [X, X, (32,)], 4)
    assert made == [(FLOAT, X), None, None, (FLOAT, X)]


def test_quantized_values_have_the_type_of_the_zero_point() -> None:
    assert inferred("com.microsoft.QuantizeLinear", [X, (), value((), INT8)]) == [(INT8, X)]
    assert inferred("com.microsoft.DequantizeLinear", [value((4,), INT8), value((), FLOAT16)]) == [(FLOAT16, (4,))]
    joined = [(), value((), INT8), value((2, 3), INT8), (), value((), INT8), value((2, 4), INT8), (), value((), INT8)]
    assert inferred("com.microsoft.QLinearConcat", joined, axis=-1) == [(INT8, (2, 7))]


def number(value: int) -> Value:
    return of_numbers(np.array(value))


@pytest.mark.parametrize(
    ("inputs", "attributes", "sizes"),
    [
        ([(2, 128, 1), number(8), None, number(16)], {}, (2, 15, 9, 2)),  # ONNX's test of STFT
        ([(2, 128), number(8), (16,)], {"onesided": 0}, (2, 15, 16, 2)),
        ([("b", "n"), number(8), (15,)], {}, ("b", "", 8, 2)),
    ],
)
def test_by_default_half_of_the_frequencies_are_given(inputs: Any, attributes: Any, sizes: Sizes) -> None:
    assert inferred("STFT", inputs, opset=17, **attributes) == [(FLOAT, sizes)]


def test_frequencies_are_unknown_without_a_step_or_a_length() -> None:
    assert inferred("STFT", [(2, 128), (), (16,)], opset=17) == [None]
    assert inferred("STFT", [(2, 128), number(8), None, ()], opset=17) == [None]


@pytest.mark.parametrize(
    ("a", "b", "attributes", "expected"),
    [
        ((2, 3), (3, 4), {}, (2, 4)),
        ((3, 2), (4, 3), {"transA": 1, "transB": 1}, (2, 4)),
        (("batch", 5, 2, 3), (3, 4), {}, ("batch", 5, 2, 4)),
        ((7, 1, 2, 3), (5, 3, 4), {}, (7, 5, 2, 4)),
        ((2, 7, 3), (7, 3, 4), {"transBatchA": 1}, (7, 2, 4)),
        ((3,), (7, 3, 4), {}, (7, 4)),
        ((7, 2, 3), (3,), {}, (7, 2)),
    ],
)
def test_products_have_rows_of_one_and_columns_of_the_other(
    a: Sizes, b: Sizes, attributes: Any, expected: Sizes
) -> None:
    assert sizes("FusedMatMul", [a, b], **attributes) == expected
    assert sizes("FusedMatMulActivation", [a, b], **attributes) == expected


def test_present_keys_follow_earlier_ones() -> None:
    query, keys, past = (2, 5, 32), (2, 5, 32), (2, 4, 3, 8)
    inputs = [query, keys, keys, None, None, None, past, past]
    made = inferred("com.microsoft.MultiHeadAttention", inputs, 3, num_heads=4)
    assert made == [(FLOAT, query), (FLOAT, (2, 4, 8, 8)), (FLOAT, (2, 4, 8, 8))]
    scale = value((), FLOAT16)
    quantized = [query, (32, 96), None, scale, scale, None, None, None, (2, 2, 4, 3, 8)]
    made = inferred("com.microsoft.QAttention", quantized, 2, num_heads=4)
    assert made == [(FLOAT16, query), (FLOAT16, (2, 2, 4, 8, 8))]


def test_groups_have_the_total_number_of_steps_where_it_is_constant() -> None:
    total = of_numbers(np.array([9], np.int32))
    inputs = [(2, 5, 32), (2, 5, 16), (2, 5, 16), None, None, value((2,), INT32), total]
    attributes = {"num_heads": 4, "kv_num_heads": 2}
    made = inferred("com.microsoft.GroupQueryAttention", inputs, 3, **attributes)
    assert made == [(FLOAT, (2, 5, 32)), *[(FLOAT, (2, 2, 9, 8))] * 2]
    inputs[3] = inputs[4] = (2, 2, 12, 8)
    made = inferred("com.microsoft.GroupQueryAttention", inputs, 3, **attributes)
    assert made[1:] == [(FLOAT, (2, 2, 12, 8))] * 2
    made = inferred("com.microsoft.GroupQueryAttention", [*inputs[:-1], value((1,), INT32)], 3, **attributes)
    assert made == [(FLOAT, (2, 5, 32)), None, None]


def test_half_of_a_size_that_is_not_known_is_not_known() -> None:
    assert sizes("BiasSplitGelu", [(2, 5, 32), (32,)]) == (2, 5, 16)
    assert sizes("BiasSplitGelu", [(2, 5, "hidden"), (32,)]) == (2, 5, "")


def test_windows_of_channels_last_have_their_places() -> None:
    """10 rows in steps of 2 for a window of 3 and a padding of 1 and 1: (12 - 3) // 2 + 1 = 5."""
    image, filters = (1, 10, 7, 3), (4, 3, 2, 3)
    attributes = {"strides": [2, 1], "pads": [1, 0, 1, 0]}
    assert sizes("NhwcConv", [image, filters], **attributes) == (1, 5, 6, 4)
    assert sizes("NhwcConv", [image, filters], strides=[3, 2], auto_pad="SAME_UPPER") == (1, 4, 4, 4)
    assert sizes("NhwcConv", [image, filters], dilations=[2, 3], auto_pad="VALID") == (1, 6, 4, 4)
    one = value((), UINT8)
    assert sizes("QLinearAveragePool", [(1, 3, 10, 7), (), one, (), one], kernel_shape=[3, 2], **attributes) == (
        1,
        3,
        5,
        6,
    )
    pool = {"kernel_shape": [3, 2], "strides": [2, 2], "channels_last": 1, "ceil_mode": 1}
    assert sizes("QLinearAveragePool", [image, (), one, (), one], **pool) == (1, 5, 4, 3)
    assert sizes("QLinearGlobalAveragePool", [image, (), one, (), one], channels_last=1) == (1, 1, 1, 3)
    assert sizes("QLinearGlobalAveragePool", [(1, 3, 10, 7), (), one, (), one]) == (1, 3, 1, 1)


def test_a_transposed_convolution_needs_the_numbers_of_its_padding() -> None:
    """(4 - 1) * 2 + 3 - 1 - 2 = 6 rows, and (4 - 1) * 2 + 3 - 0 - 1 = 8 columns."""
    pads = of_numbers(np.array([1, 0, 2, 1]))
    inputs = [(1, 6, 4, 4), (6, 5, 3, 3)]
    assert sizes("ConvTransposeWithDynamicPads", [*inputs, pads], strides=[2, 2], group=2) == (1, 10, 6, 8)
    assert sizes("ConvTransposeWithDynamicPads", [*inputs, value((4,))], strides=[2, 2]) is None


def test_the_sizes_of_a_crop_are_what_the_border_leaves() -> None:
    assert inferred("Crop", [(1, 3, 8, 8)], border=[1, 2, 4, 1]) == [(FLOAT, (1, 3, 5, 3))]
    assert inferred("Crop", [(1, 3, 8, 8)], border=[1, 2, 0, 0], scale=[4, 6]) == [(FLOAT, (1, 3, 4, 6))]


def test_the_tensors_of_a_sequence_lie_side_by_side_or_one_behind_the_other() -> None:
    assert inferred("ConcatFromSequence", [(2, 3), (2, 4)], axis=1) == [(FLOAT, (2, 7))]
    assert inferred("ConcatFromSequence", [(2, 3), (2, 3)], axis=-1, new_axis=1) == [(FLOAT, (2, 3, 2))]


@pytest.mark.parametrize(
    ("name", "inputs", "attributes"),
    [
        ("NoSuch", [X], {}),
        ("Attention", [X], {}),
        ("Attention", [X, ("a", "b")], {"num_heads": 4}),
        ("MultiHeadAttention", [(2, 5, 4, 3, 8)], {}),
        ("MultiHeadAttention", [(2,)], {"num_heads": 4}),
        ("MultiHeadAttention", [(2, 5, 4, 3, 8)], {"num_heads": [4]}),
        ("QLinearConcat", [(), ()], {"axis": 0}),
        ("QLinearConcat", [(), (), (2, 3)], {"axis": 5}),
        ("QLinearAveragePool", [(1, 3, 8, 8)], {}),
        ("MatMulNBits", [X], {}),
        ("NhwcConv", [(1, 8), (4, 3)], {"auto_pad": 3}),
        ("GroupQueryAttention", [Value(None)], {}),
        ("BiasGelu", [], {}),
    ],
)
def test_what_does_not_go_together_is_left_open(name: str, inputs: list[Any], attributes: dict[str, Any]) -> None:
    assert inferred(f"com.microsoft.{name}", inputs, **attributes)[0] is None


# ---- as ONNX Runtime computes them

X3, BYTES, WEIGHTS, ZERO = ("f", 2, 5, 32), ("B", 2, 5, 32), ("B", 32, 96), ("B",)
SCALE, HEADS = ("f",), {"num_heads": 4}
POOL, IMAGE = {"kernel_shape": [3, 2], "strides": [2, 1]}, ("B", 1, 10, 7, 3)


@pytest.mark.parametrize(
    ("operator", "inputs", "count", "attributes"),
    [
        ("Attention", [X3, ("f", 32, 80), ("f", 80)], 1, {**HEADS, "qkv_hidden_sizes": [32, 32, 16]}),
        ("MultiHeadAttention", [X3, ("f", 2, 7, 32), ("f", 2, 7, 64)], 1, HEADS),
        ("MultiHeadAttention", [X3, X3, X3, None, None, None, *[("f", 2, 4, 3, 8)] * 2], 3, HEADS),
        ("MultiHeadAttention", [X3, *[("f", 2, 4, 7, 8)] * 2], 1, HEADS),
        (
            "QAttention",
            [BYTES, WEIGHTS, ("f", 96), SCALE, SCALE, None, ZERO, ZERO, ("f", 2, 2, 4, 3, 8)],
            2,
            {**HEADS, "unidirectional": 1},
        ),
        ("SkipLayerNormalization", [X3, X3, ("f", 32), ("f", 32)], 1, {}),
        ("SkipSimplifiedLayerNormalization", [X3, X3, ("f", 32)], 1, {}),
        ("BiasGelu", [X3, ("f", 32)], 1, {}),
        ("FastGelu", [X3], 1, {}),
        ("QuickGelu", [X3], 1, {}),
        ("FusedMatMul", [("f", 2, 7, 3), ("f", 7, 3, 4)], 1, {"transBatchA": 1}),
        ("FusedMatMul", [("f", 3, 2), ("f", 4, 3)], 1, {"transA": 1, "transB": 1}),
        ("FusedMatMul", [("f", 3), ("f", 7, 3, 4)], 1, {}),
        ("FusedMatMul", [("f", 7, 1, 2, 3), ("f", 5, 3, 4)], 1, {}),
        (
            "MatMulNBits",
            [("f", 5, 64), ("B", 16, 2, 16), ("f", 32)],
            1,
            {"N": 16, "K": 64, "bits": 4, "block_size": 32},
        ),
        ("DynamicQuantizeMatMul", [("f", 5, 32), ("B", 32, 8), ("f", 8)], 1, {}),
        ("MatMulIntegerToFloat", [("B", 5, 32), ("B", 32, 8), SCALE, SCALE], 1, {}),
        ("QLinearSigmoid", [("B", 2, 3), SCALE, ZERO, SCALE, ZERO], 1, {}),
        ("QLinearConcat", [SCALE, ZERO, ("B", 2, 3), SCALE, ZERO, ("B", 2, 4), SCALE, ZERO], 1, {"axis": 1}),
        ("QLinearAdd", [("B", 2, 1, 3), SCALE, ZERO, ("B", 4, 1), SCALE, ZERO, SCALE, ZERO], 1, {}),
        ("QLinearAveragePool", [("B", 1, 3, 10, 7), SCALE, ZERO, SCALE, ZERO], 1, {**POOL, "pads": [1, 0, 1, 0]}),
        ("QLinearAveragePool", [IMAGE, SCALE, ZERO, SCALE, ZERO], 1, {**POOL, "channels_last": 1, "ceil_mode": 1}),
        ("QLinearAveragePool", [("B", 1, 3, 10, 7), SCALE, ZERO, SCALE, ZERO], 1, {**POOL, "auto_pad": "SAME_UPPER"}),
        ("QLinearGlobalAveragePool", [IMAGE, SCALE, ZERO, SCALE, ZERO], 1, {"channels_last": 1}),
        ("RotaryEmbedding", [X3, ("q", 2, 5), ("f", 9, 4), ("f", 9, 4)], 1, {}),
    ],
)
def test_onnxruntime_gives_the_same_types_and_sizes(
    operator: str, inputs: list[Any], count: int, attributes: dict[str, Any]
) -> None:
    runtime = pytest.importorskip("onnxruntime")
    arrays = [None if given is None else np.ones(given[1:], given[0]) for given in inputs]
    names = ["-" if array is None else f"x{index}" for index, array in enumerate(arrays)]
    outputs = [f"y{index}" for index in range(count)]
    made = node(operator, " ".join(names), " ".join(outputs), domain="com.microsoft", **attributes)
    fed = {name: array for name, array in zip(names, arrays, strict=True) if array is not None}
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for name, x in fed.items()
    ]
    graph = helper.make_graph([made], "g", infos, [onnx.ValueInfoProto(name=name) for name in outputs])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    values = [None if array is None else of_numbers(array) for array in arrays]
    types = own_types(f"com.microsoft.{operator}", made, values, 17)
    found = [(Value(types[name]).sizes, types[name].tensor_type.elem_type) for name in outputs]
    results = session.run(outputs, fed)
    assert found == [(result.shape, helper.np_dtype_to_tensor_dtype(result.dtype)) for result in results]


BYTES, SCALE = value((3, 4), UINT8), value((), FLOAT)
FACTORS = [value((2, 3), UINT8), SCALE, value((), UINT8), value((4, 3), UINT8), SCALE, value((), UINT8)]


@pytest.mark.parametrize(  # the sizes that ONNX Runtime 1.24.4 gives the outputs of such sessions
    ("operator", "inputs", "attributes", "expected"),
    [
        ("QLinearMul", [value((2, 3, 1), UINT8), SCALE, SCALE, BYTES], {}, (UINT8, (2, 3, 4))),
        ("QLinearLeakyRelu", [BYTES], {}, (UINT8, (3, 4))),
        ("QLinearWhere", [value((3, 1), 9), value((4,), UINT8), SCALE, None, BYTES], {}, (UINT8, (3, 4))),
        ("QGemm", [*FACTORS, None, SCALE, value((), INT8)], {"transB": 1}, (INT8, (2, 4))),
        ("QGemm", FACTORS, {"transB": 1}, (FLOAT, (2, 4))),
        ("FusedGemm", [(2, 3), (4, 3)], {"transB": 1}, (FLOAT, (2, 4))),
        ("FusedConv", [(1, 4, 8, 8), (6, 4, 3, 3)], {}, (FLOAT, (1, 6, 6, 6))),
        (
            "NhwcMaxPool",
            [value((1, 8, 8, 4), UINT8)],
            {"kernel_shape": [2, 2], "strides": [2, 2]},
            (UINT8, (1, 4, 4, 4)),
        ),
        ("TransposeMatMul", [(5, 2, 3), (5, 4, 3)], {"transB": 1}, (FLOAT, (5, 2, 4))),
        ("MatMulBnb4", [(5, 2, 64), (2048,), (64,)], {"K": 64, "N": 64}, (FLOAT, (5, 2, 64))),
        ("GatherBlockQuantized", [value((9, 32), UINT8), value((2, 5), 7), (9, 2)], {"bits": 4}, (FLOAT, (2, 5, 64))),
        ("GatherBlockQuantized", [value((9, 64), 22), value((2, 5), 7), (9, 2)], {}, (FLOAT, (2, 5, 64))),
        ("SkipGroupNorm", [(2, 8, 8, 4)], {}, (FLOAT, (2, 8, 8, 4))),
        ("Inverse", [(5, 2, 2)], {}, (FLOAT, (5, 2, 2))),
        ("QLinearReduceMean", [value((2, 3, 4), UINT8)], {"axes": [-1], "keepdims": 0}, (UINT8, (2, 3))),
        ("QLinearReduceMean", [value((2, 3, 4), UINT8)], {"axes": [1]}, (UINT8, (2, 1, 4))),
        ("TorchEmbedding", [(100, 16), value((2, 5), 7)], {}, (FLOAT, (2, 5, 16))),
        ("RelativePositionBias", [(32, 12), *[of_numbers(np.array(7))] * 2], {}, (FLOAT, (1, 12, 7, 7))),
    ],
)
def test_operators_that_directml_does_not_take_have_sizes(
    operator: str, inputs: list[Any], attributes: Any, expected: Any
) -> None:
    assert inferred(f"com.microsoft.{operator}", inputs, **attributes) == [expected]


def test_a_quantized_convolution_says_where_its_channels_are() -> None:
    def convolved(data: Sizes, **attributes: int) -> Any:
        inputs = [value(data, UINT8), SCALE, SCALE, value((6, 4, 3, 3), INT8), SCALE, SCALE, SCALE, value((), UINT8)]
        return inferred("com.microsoft.QLinearConv", inputs, **attributes)

    assert convolved((1, 8, 9, 4), channels_last=1) == [(UINT8, (1, 6, 7, 6))]
    assert convolved((1, 4, 8, 9)) == [(UINT8, (1, 6, 6, 7))]
    assert sizes("NhwcFusedConv", [(1, 8, 9, 4), (6, 4, 3, 3)]) == (1, 6, 7, 6)


def test_a_quantized_embedding_has_the_type_of_its_scales() -> None:
    table = value((100, 16), UINT8)
    inputs = [value((1, 8), INT32), None, table, table, table, table, table, None, value((), FLOAT16)]
    made = inferred("com.microsoft.QEmbedLayerNormalization", inputs, 2)
    assert made == [(FLOAT16, (1, 8, 16)), (INT32, (1,))]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (("n", 3), (1, 3), ("n", 3)),
        (("n", 3), (5, 1), (5, 3)),  # n is 5, or 1
        ((5, 3), ("n", 1), (5, 3)),
        (("n", 3), ("m", 3), ("", 3)),
        (("n",), ("n",), ("n",)),
    ],
)
def test_a_comparison_has_the_sizes_that_both_have_together(a: Sizes, b: Sizes, expected: Sizes) -> None:
    for name in ("GreaterOrEqual", "LessOrEqual"):
        assert inferred(name, [a, b]) == [(9, expected)]
