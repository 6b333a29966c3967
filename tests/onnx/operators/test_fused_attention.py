"""Attention: the descs that the sources of ONNX Runtime's DirectML provider make of it."""

from __future__ import annotations

from typing import Any

import pytest
from onnx_nodes import Desc, descs, found, zeros

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Unmapped

OWN = "com.microsoft."
QUERY = zeros(2, 5, 32)  # four heads of eight elements
WEIGHTS, BIAS = zeros(32, 96), zeros(96)
SCALE = 0.35355338  # 1 / sqrt(8), rounded to FLOAT32
NUMBERS = {"Scale": SCALE, "MaskFilterValue": -10000, "HeadCount": 4}
PLAIN = {"TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 1}
STACKED = Desc(
    "ELEMENT_WISE_IDENTITY",
    {"InputTensor": "FLOAT32 2 5 4 3 8 by 480 96 8 32 1", "OutputTensor": "FLOAT32 2 5 4 3 8"},
    "1_0",
)


# ---- MultiHeadAttention


def attention(*inputs: Any, **attributes: Any) -> Any:
    return found(f"{OWN}MultiHeadAttention", inputs, QUERY, num_heads=4, **attributes)


def test_attention_of_three_tensors_has_the_scale_of_its_heads() -> None:
    """Heads of 32 / 4 = 8 elements are scaled by 1 / sqrt(8)."""
    made = attention(QUERY, zeros(2, 7, 32), zeros(2, 7, 32))
    assert made.operator == "MULTIHEAD_ATTENTION"
    assert {name for name, value in made.fields.items() if isinstance(value, TensorRef)} == {
        "QueryTensor",
        "KeyTensor",
        "ValueTensor",
        "OutputTensor",
    }
    assert (made.fields["HeadCount"], made.fields["MaskType"], made.fields["MaskFilterValue"]) == (4, "NONE", -10000)
    assert made.fields["Scale"] == pytest.approx(0.35355339, abs=1e-7)
    assert attention(QUERY, zeros(2, 7, 32), zeros(2, 7, 32), scale=0.5).fields["Scale"] == 0.5


@pytest.mark.parametrize(
    ("sizes", "kind", "shape"),
    [
        ((2,), "KEY_SEQUENCE_LENGTH", (1, 2)),
        ((8,), "KEY_QUERY_SEQUENCE_LENGTH_START_END", (8,)),
        ((2, 7), "BOOLEAN", (2, 4, 5, 7)),
        ((2, 5, 7), "BOOLEAN", (2, 4, 5, 7)),
        ((2, 4, 5, 7), "BOOLEAN", (2, 4, 5, 7)),
    ],
)
def test_a_mask_goes_by_its_dimensions(sizes: tuple[int, ...], kind: str, shape: tuple[int, ...]) -> None:
    made = attention(QUERY, zeros(2, 7, 32), zeros(2, 7, 32), None, zeros(*sizes, dtype="int32"))
    mask = made.fields["MaskTensor"]
    assert (made.fields["MaskType"], getattr(mask, "shape", None)) == (kind, shape)


# ---- Attention


def product(bias: str | None) -> Desc:
    more = {} if bias is None else {"CTensor": bias}
    tensors = {"ATensor": "FLOAT32 2 5 32", "BTensor": "FLOAT32 2 32 96 by 0 96 1", "OutputTensor": "FLOAT32 2 5 96"}
    return Desc("GEMM", {**tensors, **more, **PLAIN}, "4_0")


def attend(kind: str = "NONE", **more: str) -> Desc:
    tensors = {"StackedQueryKeyValueTensor": "FLOAT32 2 5 4 3 8", **more, "OutputTensor": "FLOAT32 2 5 32"}
    return Desc("MULTIHEAD_ATTENTION", {**tensors, **NUMBERS, "MaskType": kind}, "6_1")


def test_attention_multiplies_stacks_and_attends() -> None:
    assert descs(f"{OWN}Attention", [QUERY, WEIGHTS, BIAS], QUERY, num_heads=4) == [
        product("FLOAT32 2 5 96 by 0 0 1"),
        STACKED,
        attend(),
    ]


@pytest.mark.parametrize(
    ("inputs", "attributes", "said"),
    [
        ([QUERY, WEIGHTS], {}, "has no attribute num_heads"),
        ([QUERY, WEIGHTS], {"num_heads": 0}, "num_heads of com.microsoft.Attention is 0"),
        ([QUERY, WEIGHTS], {"num_heads": 2.5}, "is 2.5, not a whole number"),
        ([QUERY, WEIGHTS], {"num_heads": 5}, "of 5 heads"),
        ([QUERY, zeros(32, 97)], {"num_heads": 4}, "97 columns"),
        ([QUERY, WEIGHTS], {"num_heads": 4, "qkv_hidden_sizes": [32, 32]}, r"are \[32, 32\]"),
        ([QUERY, WEIGHTS], {"num_heads": 4, "qkv_hidden_sizes": [0, 0, 96]}, r"are \[0, 0, 96\]"),
        ([QUERY, WEIGHTS], {"num_heads": 4, "qkv_hidden_sizes": [64, 64, -32]}, r"are \[64, 64, -32\]"),
        ([zeros(5, 32), WEIGHTS], {"num_heads": 4}, "has 2 dimensions"),
        ([QUERY], {"num_heads": 4}, "has no input 1"),
        ([QUERY, WEIGHTS, None, zeros(3)], {"num_heads": 4}, "3 numbers for a batch of 2"),
        ([QUERY, WEIGHTS, None, zeros(1, 1, 1, 1, 1)], {"num_heads": 4}, "mask of 5 dimensions"),
    ],
)
def test_what_does_not_go_together_is_refused(inputs: list[Any], attributes: dict[str, Any], said: str) -> None:
    with pytest.raises(Unmapped, match=said):
        descs(f"{OWN}Attention", inputs, QUERY, **attributes)


# ---- QAttention


def test_quantized_attention_with_earlier_steps_cuts_and_joins_them() -> None:
    """Three earlier steps and five new ones; the causal mask has ones up to three diagonals right of the main one."""
    bytes_of = [zeros(2, 5, 32, dtype="uint8"), zeros(32, 96, dtype="uint8")]
    zero = zeros(dtype="uint8")
    inputs = [*bytes_of, BIAS, zeros(), zeros(), None, zero, zero, zeros(2, 2, 4, 3, 8)]
    made = descs(f"{OWN}QAttention", inputs, QUERY, zeros(2, 2, 4, 8, 8), num_heads=4, unidirectional=1)
    multiply, stacked, diagonals, key, value, last, joined = made
    assert multiply == Desc(
        "MATRIX_MULTIPLY_INTEGER_TO_FLOAT",
        {
            "ATensor": "UINT8 2 5 32",
            "AScaleTensor": "FLOAT32 1",
            "AZeroPointTensor": "UINT8 1",
            "BTensor": "UINT8 2 32 96 by 0 96 1",
            "BScaleTensor": "FLOAT32 1",
            "BZeroPointTensor": "UINT8 1",
            "BiasTensor": "FLOAT32 2 5 96 by 0 0 1",
            "OutputTensor": "FLOAT32 2 5 96",
        },
        "6_2",
    )
    assert stacked == STACKED
    assert diagonals == Desc(
        "DIAGONAL_MATRIX1",
        {
            "OutputTensor": "INT32 1 1 5 8",
            "ValueDataType": "INT32",
            "Value": 1,
            "DiagonalFillBegin": -2147483648,
            "DiagonalFillEnd": 4,
        },
        "5_1",
    )
    assert [each.fields["InputWindowOffsets"] for each in (key, value)] == [[0, 0, 0, 0, 0], [1, 0, 0, 0, 0]]
    assert key.fields["InputTensor"] == "FLOAT32 2 2 4 3 8"
    earlier, present = "FLOAT32 1 2 4 3 8", "FLOAT32 1 2 4 8 8"
    assert last == attend(
        "BOOLEAN",
        MaskTensor="INT32 2 4 5 8 by 0 0 8 1",
        PastKeyTensor=earlier,
        PastValueTensor=earlier,
        OutputPresentKeyTensor=present,
        OutputPresentValueTensor=present,
    )
    fields = {"InputTensors": [present, present], "OutputTensor": "FLOAT32 2 2 4 8 8", "Axis": 0}
    assert joined == Desc("JOIN", fields, "3_0")


@pytest.mark.parametrize(
    ("query", "heads", "said"),
    [
        (zeros(5, 32), 4, "of a query of 2 dimensions"),
        (QUERY, 33, r"of 33 heads, which a query of the sizes \[2, 5, 32\] does not have"),
    ],
)
def test_attention_of_several_heads_that_has_no_desc_is_refused(query: Any, heads: int, said: str) -> None:
    with pytest.raises(Unmapped, match=said):
        descs(f"{OWN}MultiHeadAttention", [query, QUERY, QUERY], QUERY, num_heads=heads)
