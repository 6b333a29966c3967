"""Normalizations that become several descs, as the sources of ONNX Runtime's DirectML provider have them."""

from __future__ import annotations

from typing import Any

import pytest
from onnx_nodes import Array, Desc, descs, zeros

from dmlcheck.onnx.descs.node import Unmapped

OWN = "com.microsoft."
X, VECTOR = zeros(2, 5, 32), zeros(32)


def added(b: str, sizes: str) -> Desc:
    whole = f"FLOAT32 {sizes}"
    return Desc("ELEMENT_WISE_ADD", {"ATensor": whole, "BTensor": b, "OutputTensor": whole}, "1_0")


# ---- layers


def normalized(epsilon: float, *, use_mean: int, **factors: str) -> Desc:
    whole = "FLOAT32 2 5 32 1"
    tensors = {"InputTensor": whole, **factors, "OutputTensor": whole}
    fields = {"Axes": [2, 3], "UseMean": use_mean, "UseVariance": 1, "Epsilon": epsilon}
    return Desc("MEAN_VARIANCE_NORMALIZATION2", {**tensors, **fields}, "6_3")


FACTORS = {"ScaleTensor": "FLOAT32 1 1 32 1", "BiasTensor": "FLOAT32 1 1 32 1"}


def test_input_skip_and_bias_are_added_before_they_are_normalized() -> None:
    plain = added("FLOAT32 2 5 32 1", "2 5 32 1")
    name = f"{OWN}SkipLayerNormalization"
    scale = {"ScaleTensor": FACTORS["ScaleTensor"]}
    assert descs(name, [X, X, VECTOR], X) == [plain, normalized(1e-12, use_mean=1, **scale)]
    assert descs(name, [X, X, VECTOR, VECTOR, VECTOR], X, epsilon=1e-5) == [
        plain,
        added("FLOAT32 2 5 32 1 by 0 0 1 0", "2 5 32 1"),
        normalized(1e-5, use_mean=1, **FACTORS),
    ]
    name = f"{OWN}SkipSimplifiedLayerNormalization"
    assert descs(name, [X, X, VECTOR], X) == [plain, normalized(1e-12, use_mean=0, **scale)]


def test_rows_without_a_batch_have_one_step() -> None:
    first, _ = descs(f"{OWN}SkipLayerNormalization", [zeros(5, 32), zeros(5, 32), VECTOR], zeros(5, 32))
    assert first.fields["ATensor"] == "FLOAT32 5 1 32 1"
    with pytest.raises(Unmapped, match="of 1 dimensions"):
        descs(f"{OWN}SkipLayerNormalization", [VECTOR, VECTOR, VECTOR], VECTOR)
    with pytest.raises(Unmapped, match=r"values of the sizes \[2, 5, 16\]"):
        descs(f"{OWN}SkipLayerNormalization", [X, zeros(2, 5, 16), VECTOR], X)


# ---- embeddings

IDS = zeros(2, 5, dtype="int32")
MADE = "FLOAT32 1 2 5 32"


def gathered(table: str, indices: str) -> Desc:
    tensors = {"InputTensor": table, "IndicesTensor": indices, "OutputTensor": MADE}
    return Desc("GATHER", {**tensors, "Axis": 2, "IndexDimensions": 2}, "3_0")


WORDS, POSITIONS, SEGMENTS = (f"FLOAT32 1 1 {count} 32" for count in (100, 20, 3))
SUM = added(MADE, "1 2 5 32")
LAST = Desc(
    "MEAN_VARIANCE_NORMALIZATION1",
    {
        "InputTensor": MADE,
        "ScaleTensor": "FLOAT32 1 1 1 32",
        "BiasTensor": "FLOAT32 1 1 1 32",
        "OutputTensor": MADE,
        "Axes": [3],
        "NormalizeVariance": 1,
        "Epsilon": 1e-12,
    },
    "4_0",
)


def filled(value: int) -> Desc:
    fields = {"OutputTensor": "INT32 1 1 1 1", "ValueDataType": "INT32", "Value": value}
    return Desc("FILL_VALUE_CONSTANT", fields, "2_1")


def embedded(*more: Array | None, segments: bool = True) -> list[Desc]:
    of_segments = (IDS, zeros(3, 32)) if segments else (None, None)
    inputs = [IDS, of_segments[0], zeros(100, 32), zeros(20, 32), of_segments[1], VECTOR, VECTOR, *more]
    return descs(f"{OWN}EmbedLayerNormalization", inputs, X, zeros(2, dtype="int32"))


def test_words_positions_and_segments_are_added_and_normalized() -> None:
    """Without positions the steps are counted; without a mask its lengths are zeros."""
    steps = {"OutputTensor": "INT32 1 1 1 5", "ValueDataType": "INT32", "ValueStart": 0, "ValueDelta": 1}
    assert embedded() == [
        filled(0),
        Desc("FILL_VALUE_SEQUENCE", steps, "2_1"),
        gathered(WORDS, "INT32 1 1 2 5"),
        gathered(POSITIONS, "INT32 1 1 2 5 by 0 0 0 1"),
        gathered(SEGMENTS, "INT32 1 1 2 5"),
        SUM,
        SUM,
        LAST,
    ]


def test_the_ones_of_a_mask_are_counted() -> None:
    compared = {
        "ATensor": "INT32 1 1 2 5",
        "BTensor": "INT32 1 1 2 5 by 0 0 0 0",
        "OutputTensor": "UINT32 1 1 2 5",
    }
    counted = {"Function": "SUM", "InputTensor": "INT32 1 1 2 5", "OutputTensor": "INT32 1 1 2 1", "Axes": [3]}
    assert embedded(IDS, IDS, segments=False) == [
        gathered(WORDS, "INT32 1 1 2 5"),
        gathered(POSITIONS, "INT32 1 1 2 5"),
        SUM,
        LAST,
        filled(1),
        Desc("ELEMENT_WISE_LOGICAL_EQUALS", compared, "2_1"),
        Desc("REDUCE", counted, "2_1"),
    ]


def test_positions_of_one_batch_element_are_those_of_all() -> None:
    made = embedded(None, zeros(1, 5, dtype="int32"), segments=False)
    assert made[2] == gathered(POSITIONS, "INT32 1 1 2 5 by 0 0 0 1")


# ---- groups


def groups(*inputs: Array, **attributes: Any) -> list[Desc]:
    return descs(f"{OWN}GroupNorm", inputs, inputs[0], groups=4, **attributes)


def of_groups(factor: str, dtype: str = "FLOAT32") -> Desc:
    whole = f"{dtype} 2 4 8 48"
    tensors = {"InputTensor": whole, "ScaleTensor": factor, "BiasTensor": factor, "OutputTensor": whole}
    fields = {**tensors, "CrossChannel": 0, "NormalizeVariance": 1, "Epsilon": 1e-5}
    return Desc("MEAN_VARIANCE_NORMALIZATION", fields, "1_0")


LAST_CHANNELS = zeros(2, 6, 8, 32)  # 48 pixels, four groups of eight channels
PLAIN, STRIDED = "FLOAT32 2 4 8 48", "FLOAT32 2 4 8 48 by 1536 8 1 32"
FACTOR = "FLOAT32 2 4 8 48 by 0 8 1 0"


def test_groups_are_channels_and_the_activation_goes_back_to_channels_last() -> None:
    assert groups(LAST_CHANNELS, VECTOR, VECTOR, activation=1) == [
        Desc("ELEMENT_WISE_IDENTITY", {"InputTensor": STRIDED, "OutputTensor": PLAIN}, "1_0"),
        of_groups(FACTOR),
        Desc("ACTIVATION_SIGMOID", {"InputTensor": PLAIN, "OutputTensor": STRIDED}, "1_0"),
        Desc("ELEMENT_WISE_MULTIPLY", {"ATensor": PLAIN, "BTensor": STRIDED, "OutputTensor": STRIDED}, "1_0"),
    ]


def test_scales_of_another_type_are_cast() -> None:
    half = "FLOAT16 2 4 8 48"
    strided = f"{half} by 1536 8 1 32"
    cast = Desc("CAST", {"InputTensor": FACTOR, "OutputTensor": strided}, "1_0")
    assert groups(zeros(2, 6, 8, 32, dtype="float16"), VECTOR, VECTOR, activation=0) == [
        Desc("ELEMENT_WISE_IDENTITY", {"InputTensor": strided, "OutputTensor": half}, "1_0"),
        cast,
        cast,
        of_groups(strided, "FLOAT16"),
        Desc("ELEMENT_WISE_IDENTITY", {"InputTensor": half, "OutputTensor": strided}, "1_0"),
    ]


def test_channels_that_come_second_need_no_way_back() -> None:
    assert groups(zeros(2, 32, 6, 8), VECTOR, VECTOR, channels_last=0) == [of_groups(FACTOR)]


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ([X, VECTOR, VECTOR], r"of 4 groups in the sizes \[2, 5, 32\]"),
        ([zeros(2, 6, 8, 30), zeros(30), zeros(30)], "of 4 groups"),
        ([LAST_CHANNELS, zeros(16), VECTOR], "of 4 groups"),
        ([LAST_CHANNELS, VECTOR], "has no input 2"),
    ],
)
def test_groups_that_the_sizes_do_not_have_are_refused(inputs: list[Any], said: str) -> None:
    with pytest.raises(Unmapped, match=said):
        groups(*inputs)
