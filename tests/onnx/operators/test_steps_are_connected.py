"""Nodes of several steps: each reads what is given, known or written before, and all that is written is of use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from onnx_nodes import node, zeros
from provider_descs import without_values

from dmlcheck.graphs.tensors import Buffer, TensorRef
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode
from dmlcheck.onnx.operators.table import exact_steps, provider_steps
from dmlcheck.specs.load import load_spec

OWN = "com.microsoft."
X, HALF, VECTOR = zeros(2, 5, 32), zeros(2, 5, 32, dtype="float16"), zeros(32)
BYTES, SCALE, ZERO = zeros(2, 5, 32, dtype="uint8"), zeros(), zeros(dtype="uint8")
IDS = zeros(2, 5, dtype="int32")
CACHE, LAST, STEPS = zeros(1, 2, 9, 8), np.array([4], np.int32), np.array(5, np.int32)
COSINES = [zeros(9, 4), zeros(9, 4)]
POSITIONS = zeros(2, 5, dtype="int64")


def many(type: str, count: int) -> OnnxNode:
    return node(type, [X, VECTOR, *[X] * count][:count], X)


def group_norm(*, is_last: bool, activation: int, dtype: str = "float32") -> OnnxNode:
    x = zeros(*((2, 6, 8, 4) if is_last else (2, 4, 6, 8)), dtype=dtype)
    attributes = {"groups": 2, "channels_last": int(is_last), "activation": activation}
    return node(f"{OWN}GroupNorm", [x, zeros(4), zeros(4)], x, **attributes)


def skipped(bias: list[Any], *more: Any, dtype: str = "float32") -> OnnxNode:
    inputs = [zeros(2, 5, 32, dtype=dtype)] * 2 + [zeros(32, dtype=dtype)] * 2
    return node(f"{OWN}SkipLayerNormalization", [*inputs, *bias], zeros(2, 5, 32, dtype=dtype), *more)


def embedded(segments: Any, mask: Any, positions: Any) -> OnnxNode:
    tables = [zeros(9, 32), zeros(7, 32), None if segments is None else zeros(2, 32)]
    inputs = [IDS, segments, *tables, VECTOR, VECTOR, mask, positions]
    return node(f"{OWN}EmbedLayerNormalization", inputs, X, zeros(2, dtype="int32"), X)


def n_bits(bits: int, zeros_of: int | None, *sizes: int, **attributes: Any) -> OnnxNode:
    packed = zeros(24, 2, 16 if bits == 4 else 32, dtype="uint8")
    points = [] if zeros_of is None else [zeros(zeros_of, dtype="uint8")]
    inputs = [zeros(*sizes, 64), packed, zeros(48), *points]
    return node(f"{OWN}MatMulNBits", inputs, zeros(*sizes, 24), bits=bits, K=64, N=24, block_size=32, **attributes)


def rotated(x: Any, positions: Any, *, turned: int = 8, **attributes: Any) -> OnnxNode:
    tables = [zeros(9, turned // 2)] * 2
    return node(f"{OWN}RotaryEmbedding", [x, positions, *tables], x, **attributes)


def grouped(length: int, *, do_rotary: int, dtype: str = "float32") -> OnnxNode:
    parts = [zeros(1, length, heads * 8, dtype=dtype) for heads in (4, 2, 2)]
    present = [zeros(1, 2, 9, 8, dtype=dtype)] * 2
    last = np.array([length - 1], np.int32)
    inputs = [*parts, *present, last, STEPS, *(table.astype(dtype) for table in COSINES)]
    heads = {"num_heads": 4, "kv_num_heads": 2, "do_rotary": do_rotary}
    return node(f"{OWN}GroupQueryAttention", inputs, parts[0], *present, **heads)


def attention(*inputs: Any, **attributes: Any) -> OnnxNode:
    return node(f"{OWN}Attention", [X, zeros(32, 96), *inputs], X, num_heads=4, **attributes)


def quantized_attention(mask: Any, past: Any, *outputs: Any, **attributes: Any) -> OnnxNode:
    inputs = [BYTES, zeros(32, 96, dtype="uint8"), zeros(96), SCALE, SCALE, mask, ZERO, ZERO, past]
    return node(f"{OWN}QAttention", inputs, X, *outputs, num_heads=4, **attributes)


def layer(x: Any, scale: Any) -> OnnxNode:
    return node("LayerNormalization", [x, scale, scale], zeros(2, 5, 32, dtype=str(scale.dtype)), opset=16)


NODES: dict[str, OnnxNode] = {
    **{f"{name} of {count}": many(name, count) for name in ("Max", "Min", "Sum", "Mean") for count in (1, 2, 3, 5)},
    "Cast to BOOL": node("Cast", [X], zeros(2, 5, 32, dtype="bool")),
    "Cast of a scalar to BOOL": node("Cast", [zeros()], zeros(dtype="bool")),
    "SkipLayerNormalization": skipped([]),
    "SkipLayerNormalization with bias": skipped([VECTOR]),
    "SkipLayerNormalization with the sum": skipped([], None, None, X),
    "SkipLayerNormalization with both": skipped([VECTOR], None, None, X),
    "EmbedLayerNormalization": embedded(None, None, None),
    "EmbedLayerNormalization with segments and a mask": embedded(IDS, IDS, None),
    "EmbedLayerNormalization with positions": embedded(IDS, None, IDS),
    **{
        f"GroupNorm, last {is_last}, activation {activation}": group_norm(is_last=is_last, activation=activation)
        for is_last in (False, True)
        for activation in (0, 1)
    },
    **{
        f"GroupNorm of FLOAT16, channels last {is_last}": group_norm(is_last=is_last, activation=1, dtype="float16")
        for is_last in (False, True)
    },
    "BiasAdd": node(f"{OWN}BiasAdd", [X, VECTOR, X], X),
    "BiasSplitGelu": node(f"{OWN}BiasSplitGelu", [X, VECTOR], zeros(2, 5, 16)),
    "QuickGelu": node(f"{OWN}QuickGelu", [X], X),
    "FastGelu": node(f"{OWN}FastGelu", [X, VECTOR], X),
    "Gelu by tanh": node("Gelu", [X], X, opset=20, approximate="none"),
    "QLinearSigmoid": node(f"{OWN}QLinearSigmoid", [BYTES, SCALE, ZERO, SCALE, ZERO], BYTES),
    "QLinearConcat": node(f"{OWN}QLinearConcat", [SCALE, ZERO, *[BYTES, SCALE, ZERO] * 2],
                          zeros(2, 10, 32, dtype="uint8"), axis=1),
    "DynamicQuantizeMatMul": node(f"{OWN}DynamicQuantizeMatMul", [zeros(3, 4), zeros(4, 5, dtype="uint8"), zeros(5),
                                                                  zeros(5, dtype="uint8"), zeros(5)], zeros(3, 5)),
    "MatMulNBits of 4": n_bits(4, None, 5),
    "MatMulNBits of 4 with zero points": n_bits(4, 24, 2, 5),
    "MatMulNBits of 8": n_bits(8, None, 2, 5),
    "MatMulNBits of 8 with zero points": n_bits(8, 48, 5),
    "RotaryEmbedding of 3 dimensions": rotated(X, POSITIONS),
    "RotaryEmbedding of 4 dimensions": rotated(zeros(2, 4, 5, 8), POSITIONS),
    "RotaryEmbedding from one position on": rotated(X, zeros(1, dtype="int64")),
    "RotaryEmbedding interleaved": rotated(zeros(2, 4, 5, 8), POSITIONS, interleaved=1),
    "RotaryEmbedding of a part": rotated(X, POSITIONS, turned=4, num_heads=4, rotary_embedding_dim=4),
    "RotaryEmbedding of a part of 4 dimensions": rotated(
        zeros(2, 4, 5, 8), POSITIONS, turned=4, num_heads=4, rotary_embedding_dim=4, interleaved=1
    ),
    "Attention": attention(zeros(96)),
    "Attention with a mask that is cut": attention(None, zeros(2, 1, 9, 9, dtype="int32")),
    "Attention with values of another size": node(
        f"{OWN}Attention", [X, zeros(32, 80)], zeros(2, 5, 16), num_heads=4, qkv_hidden_sizes=[32, 32, 16]
    ),
    "QAttention": quantized_attention(None, None),
    "QAttention with past": quantized_attention(
        None, zeros(2, 2, 4, 3, 8), zeros(2, 2, 4, 8, 8), unidirectional=1
    ),
    "GroupQueryAttention of one step": grouped(1, do_rotary=0),
    "GroupQueryAttention of several": grouped(5, do_rotary=0),
    "GroupQueryAttention rotated": grouped(5, do_rotary=1),
    "GroupQueryAttention of FLOAT16": grouped(5, do_rotary=0, dtype="float16"),
    "LayerNormalization of FLOAT16 by FLOAT32": layer(HALF, VECTOR),
    "LayerNormalization of FLOAT32 by FLOAT16": layer(X, VECTOR.astype("float16")),
    "QuantizeLinear-21 without a zero point": node("QuantizeLinear", [X, SCALE], BYTES, opset=21),
    "DequantizeLinear-21 without a zero point": node("DequantizeLinear", [BYTES, SCALE], X, opset=21),
}  # fmt: skip
# Without a mask the provider writes one zero, where a length of each batch element is asked for.
NOT_WRITTEN = {"EmbedLayerNormalization": 1, "EmbedLayerNormalization with positions": 1}


def tensors(made: Counterpart, kind: str) -> Iterator[TensorRef]:
    for field in load_spec(f"DML_OPERATOR_{made.operator}").fields.values():
        given = made.fields.get(field.name)
        if field.kind == kind and given is not None:
            yield from given if isinstance(given, list) else [given]


def sources(x: TensorRef) -> Iterator[Buffer]:
    """Yield the buffer of a tensor, and that of what it is a copy of."""
    yield x.buffer
    if x.buffer.copied is not None:
        yield from sources(x.buffer.copied)


@pytest.mark.parametrize("steps", [exact_steps, provider_steps])
@pytest.mark.parametrize("name", NODES)
def test_what_is_read_is_there_and_what_is_written_is_of_use(
    name: str, steps: Callable[[OnnxNode], list[Counterpart]]
) -> None:
    one = without_values(NODES[name])
    there = {x.buffer for x in one.inputs if x is not None}
    wanted = [x.buffer for x in one.outputs if x is not None]
    written, read = set[Buffer](), set(wanted)
    for made in steps(one):
        for x in tensors(made, "input_tensor"):
            assert x.buffer.values is not None or there & {*sources(x)}, (made.operator, x)
            read |= {*sources(x)}
        written |= {buffer for x in tensors(made, "output_tensor") for buffer in sources(x)}
        there |= written
    assert sum(buffer not in written for buffer in wanted) == NOT_WRITTEN.get(name, 0)
    assert len(written - read) == NOT_WRITTEN.get(name, 0)
