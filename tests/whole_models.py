"""Whole ONNX models for tests, made with onnx.helper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

pytest.importorskip("onnx", reason="the package onnx is not installed")

from onnx import TensorProto, helper

FLOAT, FLOAT16, INT64 = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT64
Sizes = Sequence["int | str"]


def tensor(name: str, sizes: Sizes, kind: int = FLOAT) -> Any:
    return helper.make_tensor_value_info(name, kind, list(sizes))


def weight(name: str, sizes: Sequence[int], kind: int = FLOAT) -> Any:
    """Return an initializer whose values lie in a file that is not there."""
    made = TensorProto(name=name, data_type=kind, dims=sizes, data_location=TensorProto.EXTERNAL)
    entry = made.external_data.add()
    entry.key, entry.value = "location", "nowhere.bin"
    return made


def numbers(name: str, values: Sequence[int]) -> Any:
    return helper.make_tensor(name, INT64, [len(values)], list(values))


def model(
    nodes: Sequence[Any],
    inputs: Mapping[str, Sizes],
    outputs: Mapping[str, Sizes],
    constants: Sequence[Any] = (),
    *,
    opset: int = 17,
    kind: int = FLOAT,
    infos: Sequence[Any] = (),
    functions: Sequence[Any] = (),
) -> Any:
    """Return a model; weights are not inputs of it."""
    graph = helper.make_graph(
        nodes,
        "g",
        [tensor(name, sizes, kind) for name, sizes in inputs.items()],
        [tensor(name, sizes, kind) for name, sizes in outputs.items()],
        list(constants),
        value_info=list(infos),
    )
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1), helper.make_opsetid("own", 1)]
    return helper.make_model(graph, opset_imports=opsets, functions=list(functions), ir_version=8)


def node(type: str, inputs: str, outputs: str, name: str = "", **attributes: Any) -> Any:
    """Return a node; its inputs and outputs are words, `-` for one that is left out."""
    named = [["" if word == "-" else word for word in words.split()] for words in (inputs, outputs)]
    return helper.make_node(type, *named, name=name, **attributes)


def save(made: Any, path: str = "model.onnx") -> str:
    with open(path, "wb") as file:
        file.write(made.SerializeToString())
    return path


# ---- small architectures


def residual_block() -> Any:
    """Return a block of ResNet with its head: convolutions, normalizations, a sum, pooling, a product, softmax."""
    return model(
        [
            node("Conv", "x w1", "c1", "conv1", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
            node("BatchNormalization", "c1 s b m v", "n1", "norm1"),
            node("Relu", "n1", "r1", "relu1"),
            node("Conv", "r1 w2", "c2", "conv2", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
            node("Add", "c2 x", "a", "add"),
            node("MaxPool", "a", "p", "pool", kernel_shape=[2, 2], strides=[2, 2]),
            node("GlobalAveragePool", "p", "g", "average"),
            node("Flatten", "g", "f", "flatten"),
            node("Gemm", "f wf bf", "l", "gemm", transB=1),
            node("Softmax", "l", "y", "softmax"),
        ],
        {"x": ["batch", 64, 56, 56]},
        {"y": ["batch", 1000]},
        [
            weight("w1", [64, 64, 3, 3]),
            weight("w2", [64, 64, 3, 3]),
            *(weight(name, [64]) for name in "sbmv"),
            weight("wf", [1000, 64]),
            weight("bf", [1000]),
        ],
    )


def mobile_block() -> Any:
    """Return a block of MobileNet: a depth-wise convolution between two of 1x1, clipped, opset 10."""
    return model(
        [
            node("Conv", "x w1", "c1", "expand", kernel_shape=[1, 1]),
            node("Clip", "c1", "k1", "clip1", min=0.0, max=6.0),
            node("Conv", "k1 w2", "c2", "depthwise", kernel_shape=[3, 3], pads=[1, 1, 1, 1], group=96),
            node("Clip", "c2", "k2", "clip2", min=0.0, max=6.0),
            node("Conv", "k2 w3", "c3", "project", kernel_shape=[1, 1]),
            node("Add", "c3 x", "y", "add"),
        ],
        {"x": [1, 16, 28, 28]},
        {"y": [1, 16, 28, 28]},
        [weight("w1", [96, 16, 1, 1]), weight("w2", [96, 1, 3, 3]), weight("w3", [16, 96, 1, 1])],
        opset=10,
    )


def attention_layer() -> Any:
    """Return a layer of BERT, whose shapes are reckoned in the model: batch and sequence are open."""
    heads = [
        node("Shape", "x", "shape", "shape"),
        node("Gather", "shape zero", "batch", "batch"),
        node("Gather", "shape one", "length", "length"),
        node("Unsqueeze", "batch first", "batch1", "batch1"),
        node("Unsqueeze", "length first", "length1", "length1"),
        node("Concat", "batch1 length1 twelve sixty_four", "split", "split", axis=0),
    ]
    for letter in "qkv":
        heads += [
            node("MatMul", f"x w{letter}", f"{letter}0", f"project_{letter}"),
            node("Reshape", f"{letter}0 split", f"{letter}1", f"reshape_{letter}"),
            node(
                "Transpose",
                f"{letter}1",
                letter,
                f"transpose_{letter}",
                perm=[0, 2, 3, 1] if letter == "k" else [0, 2, 1, 3],
            ),
        ]
    rest = [
        node("MatMul", "q k", "scores", "scores"),
        node("Div", "scores eight", "scaled", "scaled"),
        node("Softmax", "scaled", "weights", "weights"),
        node("MatMul", "weights v", "context", "context"),
        node("Transpose", "context", "context1", "context1", perm=[0, 2, 1, 3]),
        node("Reshape", "context1 merged", "context2", "context2"),
        node("Add", "context2 x", "sum", "sum"),
        node("LayerNormalization", "sum gamma beta", "y", "norm"),
    ]
    return model(
        [*heads, *rest],
        {"x": ["batch", "sequence", 768]},
        {"y": ["batch", "sequence", 768]},
        [
            helper.make_tensor("zero", INT64, [], [0]),
            helper.make_tensor("one", INT64, [], [1]),
            numbers("first", [0]),
            numbers("twelve", [12]),
            numbers("sixty_four", [64]),
            numbers("merged", [0, 0, 768]),
            helper.make_tensor("eight", FLOAT, [], [8.0]),
            *(weight(f"w{letter}", [768, 768]) for letter in "qkv"),
            weight("gamma", [768]),
            weight("beta", [768]),
        ],
    )


OWN = "com.microsoft"


def fused_transformer() -> Any:
    """Return embeddings and a layer of BERT as onnxruntime fuses them: four heads of 16 elements."""
    own = {"domain": OWN}
    vectors = ["gamma", "beta", "qkv_bias", "out_bias", "up_bias", "down_bias"]
    sizes = [64, 64, 192, 64, 256, 64]
    made = model(
        [
            node(
                "EmbedLayerNormalization",
                "ids segments words positions types gamma beta mask",
                "x lengths",
                "embed",
                **own,
            ),
            node("Attention", "x qkv qkv_bias lengths", "a", "attend", num_heads=4, **own),
            node("MatMul", "a out", "b", "project"),
            node("SkipLayerNormalization", "b x gamma beta out_bias", "c", "norm1", epsilon=1e-5, **own),
            node("MatMul", "c up", "d", "up"),
            node("BiasGelu", "d up_bias", "e", "gelu", **own),
            node("MatMul", "e down", "f", "down"),
            node("SkipLayerNormalization", "f c gamma beta down_bias", "y", "norm2", epsilon=1e-5, **own),
        ],
        {},
        {"y": ["batch", "sequence", 64]},
        [
            *(weight(name, [size]) for name, size in zip(vectors, sizes, strict=True)),
            *(weight(name, [size, 64]) for name, size in (("words", 1000), ("positions", 128), ("types", 2))),
            *(
                weight(name, size)
                for name, size in (("qkv", [64, 192]), ("out", [64, 64]), ("up", [64, 256]), ("down", [256, 64]))
            ),
        ],
    )
    for name in ("ids", "segments", "mask"):
        made.graph.input.append(tensor(name, ["batch", "sequence"], TensorProto.INT32))
    return made


def diffusion_blocks() -> Any:
    """Return what Stable Diffusion's UNet has around its convolutions, as onnxruntime fuses it, in FLOAT16."""
    own = {"domain": OWN}
    return model(
        [
            node("GroupNorm", "x g_scale g_bias", "n", "norm", groups=4, activation=1, epsilon=1e-5, **own),
            node("NhwcConv", "n filters c_bias", "c", "convolve", kernel_shape=[3, 3], pads=[1, 1, 1, 1], **own),
            node("Reshape", "c rows", "t", "tokens"),
            node("MatMul", "t qkv", "p0", "project"),
            node("Reshape", "p0 packed", "p", "pack"),
            node("MultiHeadAttention", "p", "m", "attend", num_heads=4, **own),
            node("BiasAdd", "m out_bias t", "s", "skip", **own),
            node("MatMul", "s up", "u", "up"),
            node("BiasSplitGelu", "u up_bias", "y", "gelu", **own),
        ],
        {"x": [2, 8, 8, 32]},
        {"y": [2, 64, 128]},
        [
            *(weight(name, [32]) for name in ("g_scale", "g_bias")),
            *(weight(name, [32], FLOAT16) for name in ("c_bias", "out_bias")),
            weight("filters", [32, 3, 3, 32], FLOAT16),
            weight("qkv", [32, 96], FLOAT16),
            weight("up", [32, 256], FLOAT16),
            weight("up_bias", [256], FLOAT16),
            numbers("rows", [2, 64, 32]),
            numbers("packed", [2, 64, 4, 3, 8]),
        ],
        kind=FLOAT16,
    )


def plain_diffusion_blocks() -> Any:
    """Return the same as exporters write it: groups by a reshape, attention by products and a softmax."""
    return model(
        [
            node("Reshape", "x grouped", "r", "groups"),
            node("InstanceNormalization", "r ones zeros", "i", "norm"),
            node("Reshape", "i whole", "w", "back"),
            node("Mul", "w g_scale", "m", "scale"),
            node("Add", "m g_bias", "n", "shift"),
            node("Reshape", "n tokens", "t0", "flat"),
            node("Transpose", "t0", "t", "last", perm=[0, 2, 1]),
            *(node("MatMul", f"t w_{letter}", f"{letter}0", f"project_{letter}") for letter in "qkv"),
            *(node("Reshape", f"{letter}0 heads", f"{letter}1", f"split_{letter}") for letter in "qkv"),
            *(node("Transpose", f"{letter}1", letter, f"heads_{letter}", perm=[0, 2, 1, 3]) for letter in "qv"),
            node("Transpose", "k1", "k", "heads_k", perm=[0, 2, 3, 1]),
            node("MatMul", "q k", "scores", "scores"),
            node("Mul", "scores size", "scaled", "scaled"),
            node("Softmax", "scaled", "weights", "weights", axis=-1),
            node("MatMul", "weights v", "y", "mix"),
        ],
        {"x": [2, 32, 8, 8]},
        {"y": [2, 4, 64, 8]},
        [
            *(weight(name, [4]) for name in ("ones", "zeros")),
            *(weight(name, [32, 1, 1]) for name in ("g_scale", "g_bias")),
            *(weight(f"w_{letter}", [32, 32]) for letter in "qkv"),
            weight("size", []),
            numbers("grouped", [0, 4, -1]),
            numbers("whole", [2, 32, 8, 8]),
            numbers("tokens", [2, 32, 64]),
            numbers("heads", [2, 64, 4, 8]),
        ],
    )


def recurrent_model() -> Any:
    """Return a tagger: embeddings, an LSTM in both directions with lengths and states, opset 14, and a product."""
    made = model(
        [
            node("Gather", "table ids", "x", "embed"),
            node("LSTM", "x w r b lengths h0 c0", "s h c", "lstm", hidden_size=16, direction="bidirectional"),
            node("Transpose", "s", "t", "order", perm=[0, 2, 1, 3]),
            node("Reshape", "t merged", "m", "merge"),
            node("MatMul", "m out", "y", "tags"),
        ],
        {},
        {"y": ["steps", "batch", 9], "c": [2, "batch", 16]},
        [
            weight("table", [500, 24]),
            weight("w", [2, 64, 24]),
            weight("r", [2, 64, 16]),
            weight("b", [2, 128]),
            weight("out", [32, 9]),
            numbers("merged", [0, 0, -1]),
        ],
        opset=14,
    )
    for name, sizes, kind in (
        ("ids", ["steps", "batch"], INT64),
        ("lengths", ["batch"], TensorProto.INT32),
        ("h0", [2, "batch", 16], FLOAT),
        ("c0", [2, "batch", 16], FLOAT),
    ):
        made.graph.input.append(tensor(name, sizes, kind))
    return made


def quantized_block() -> Any:
    """Return a convolution between a QuantizeLinear and a DequantizeLinear."""
    scale, zero = helper.make_tensor("s", FLOAT, [], [0.5]), helper.make_tensor("z", TensorProto.UINT8, [], [128])
    return model(
        [
            node("QuantizeLinear", "x s z", "q", "quantize"),
            node("QLinearConv", "q s z w s z s z", "c", "convolve", kernel_shape=[3, 3]),
            node("DequantizeLinear", "c s z", "y", "dequantize"),
        ],
        {"x": [1, 3, 8, 8]},
        {"y": [1, 4, 6, 6]},
        [scale, zero, weight("w", [4, 3, 3, 3], TensorProto.UINT8)],
        opset=13,
    )
