"""Small networks as exporters write them, with random weights: what one of each kind has."""

from __future__ import annotations

from typing import Any

import numpy as np
from run_models import constant, random
from whole_models import FLOAT16, INT64, model, node, tensor

OWN = "com.microsoft"


def residual() -> Any:
    """Return a block of a ResNet: convolutions, a shortcut, pooling and a classifier."""
    one, three = {"kernel_shape": [1, 1]}, {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    nodes = [
        node("Conv", "x w1 b1", "c1", "stem", strides=[2, 2], **three),
        node("BatchNormalization", "c1 g h m v", "n1", "norm", epsilon=1e-3),
        node("Relu", "n1", "r1", "relu"),
        node("MaxPool", "r1", "p1", "pool", kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", "p1 w2", "c2", "conv", **three),
        node("Conv", "p1 w3", "c3", "shortcut", **one),
        node("Add", "c2 c3", "a", "add"),
        node("GlobalAveragePool", "a", "gap", "average"),
        node("Flatten", "gap", "f", "flatten"),
        node("Gemm", "f w4 b4", "z", "classifier", transB=1),
        node("Softmax", "z", "y", "softmax", axis=-1),
    ]
    weights = [random("w1", 8, 3, 3, 3), random("b1", 8), random("w2", 16, 8, 3, 3), random("w3", 16, 8, 1, 1)]
    weights += [random("g", 8), random("h", 8), random("m", 8), constant("v", np.linspace(0.5, 2, 8))]
    weights += [random("w4", 10, 16), random("b4", 10)]
    return model(nodes, {"x": [1, 3, 32, 32]}, {"y": [1, 10]}, weights)


def transformer() -> Any:
    """Return embeddings and a layer of BERT: attention of two heads with a mask, and Gelu by Erf."""
    nodes = [
        node("Gather", "table ids", "w", "embed"),
        node("Add", "w places", "x", "places/Add"),
        node("LayerNormalization", "x g h", "n", "norm", epsilon=1e-3),
        *_heads("n"),
        node("MatMul", "q k", "s0", "scores"),
        node("Div", "s0 root", "s1", "scale"),
        node("Where", "mask s1 lowest", "s2", "mask"),
        node("Softmax", "s2", "s", "softmax"),
        node("MatMul", "s v", "o0", "context"),
        node("Transpose", "o0", "o1", "o/Transpose", perm=[0, 2, 1, 3]),
        node("Reshape", "o1 flat", "o", "o/Reshape"),
        node("Add", "o x", "r", "residual"),
        node("Div", "r sqrt2", "e0", "gelu/Div"),
        node("Erf", "e0", "e1", "gelu/Erf"),
        node("Add", "e1 one", "e2", "gelu/Add"),
        node("Mul", "r e2", "y", "gelu/Mul"),
    ]
    weights = [random(f"{part}w", 32, 32) for part in "qkv"] + [random("g", 32), random("h", 32)]
    weights += [constant("heads", [1, 8, 2, 16], np.int64), constant("flat", [1, 8, 32], np.int64)]
    weights += [constant("root", 4.0), constant("sqrt2", 2**0.5), constant("one", 1.0), constant("lowest", -1e9)]
    weights += [random("table", 50, 32), random("places", 8, 32), constant("mask", [[[[1] * 6 + [0] * 2]]], bool)]
    return _with_inputs(model(nodes, {}, {"y": [1, 8, 32]}, weights), {"ids": ([1, 8], INT64)})


def _heads(x: str, keys: str = "k", values: str = "v") -> list[Any]:
    """Return the nodes that make queries, keys and values of two heads."""
    orders = (("q", "q", [0, 2, 1, 3]), ("k", keys, [0, 2, 3, 1]), ("v", values, [0, 2, 1, 3]))
    return [
        *(node("MatMul", f"{x} {part}w", f"{part}0", f"{part}/MatMul") for part in "qkv"),
        *(node("Reshape", f"{part}0 heads", f"{part}1", f"{part}/Reshape") for part in "qkv"),
        *(node("Transpose", f"{part}1", to, f"{part}/Transpose", perm=order) for part, to, order in orders),
    ]


def generating() -> Any:
    """Return a layer of GPT that reads and extends the keys and values of the tokens before, and Gelu by Tanh."""
    nodes = [
        node("LayerNormalization", "x g h", "n", "norm", epsilon=1e-3),
        *_heads("n", "k2", "v2"),
        node("Concat", "past_k k2", "k", "keys", axis=3),
        node("Concat", "past_v v2", "v", "values", axis=2),
        node("MatMul", "q k", "s0", "scores"),
        node("Mul", "s0 root", "s1", "scale"),
        node("Add", "s1 mask", "s2", "mask"),
        node("Softmax", "s2", "s", "softmax"),
        node("MatMul", "s v", "o0", "context"),
        node("Transpose", "o0", "o1", "o/Transpose", perm=[0, 2, 1, 3]),
        node("Reshape", "o1 flat", "o", "o/Reshape"),
        node("Gemm", "o wide wide_b", "f", "up"),
        node("Pow", "f three", "t0", "gelu/Pow"),
        node("Mul", "t0 cube", "t1", "gelu/Mul"),
        node("Add", "f t1", "t2", "gelu/Add"),
        node("Mul", "t2 slope", "t3", "gelu/Mul_1"),
        node("Tanh", "t3", "t4", "gelu/Tanh"),
        node("Add", "t4 one", "t5", "gelu/Add_1"),
        node("Mul", "f t5", "y", "gelu/Mul_2"),
    ]
    weights = [random(f"{part}w", 32, 32) for part in "qkv"] + [random("g", 32), random("h", 32)]
    weights += [constant("heads", [1, 2, 2, 16], np.int64), constant("flat", [2, 32], np.int64)]
    weights += [constant("root", 0.25), constant("mask", [[0, 0, 0, 0, 0, 0, 0, -1e9], [0] * 8])]
    weights += [constant("three", 3.0), constant("cube", 0.044715), constant("slope", 0.7978845), constant("one", 1.0)]
    weights += [random("wide", 32, 48), random("wide_b", 48)]
    past = {"past_k": [1, 2, 16, 6], "past_v": [1, 2, 6, 16]}
    given = {"y": [2, 48], "k": [1, 2, 16, 8], "v": [1, 2, 8, 16]}
    return model(nodes, {"x": [1, 2, 32], **past}, given, weights)


def quantized() -> Any:
    """Return a network of quantized products: with scales of the inputs' own range, and with fixed ones."""
    nodes = [
        node("DynamicQuantizeLinear", "x", "q s z", "range"),
        node("MatMulInteger", "q w z", "i", "integers"),
        node("Cast", "i", "c", "cast", to=1),
        node("Mul", "c s", "f", "scale"),
        node("QuantizeLinear", "f s2 z2", "q2", "quantize"),
        node("DequantizeLinear", "q2 s2 z2", "d", "dequantize"),
        node("MatMul", "d v", "y", "floats"),
    ]
    weights = [constant("w", np.random.default_rng(1).integers(-20, 20, (16, 24)), np.int8), random("v", 24, 4)]
    weights += [constant("s2", 0.75), constant("z2", 120, np.uint8)]
    return model(nodes, {"x": [3, 16]}, {"y": [3, 4]}, weights)


def quantized_image() -> Any:
    """Return a quantized network for images: convolutions, a sum and a product of quantized numbers."""
    nodes = [
        node("QuantizeLinear", "x s z", "q", "quantize"),
        node("QLinearConv", "q s z w ws wz s2 z2 b", "c", "conv", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        node("QLinearAdd", "c s2 z2 q s z s2 z2", "a", "sum", domain=OWN),
        node("DequantizeLinear", "a s2 z2", "d", "dequantize"),
        node("GlobalAveragePool", "d", "g", "average"),
        node("Flatten", "g", "f", "flatten"),
        node("QuantizeLinear", "f s z", "r", "quantize2"),
        node("QLinearMatMul", "r s z v vs vz s2 z2", "m", "product"),
        node("DequantizeLinear", "m s2 z2", "y", "dequantize2"),
    ]
    rng = np.random.default_rng(3)
    weights = [constant("w", rng.integers(-99, 99, (4, 4, 3, 3)), np.int8), constant("ws", rng.uniform(0.01, 0.02, 4))]
    weights += [constant("wz", [0] * 4, np.int8), constant("b", [-99, 50, 0, 99], np.int32)]
    weights += [constant("v", rng.integers(-99, 99, (4, 6)), np.int8), constant("vs", 0.02)]
    weights += [constant("vz", 3, np.int8), constant("s", 0.03), constant("z", 128, np.uint8)]
    weights += [constant("s2", 0.07), constant("z2", 120, np.uint8)]
    return model(nodes, {"x": [1, 4, 8, 8]}, {"y": [1, 6]}, weights)


def recurrent() -> Any:
    """Return a tagger: embeddings, an LSTM in both directions, and a product."""
    nodes = [
        node("Gather", "table ids", "x", "embed"),
        node("LSTM", "x w r b", "s h c", "lstm", hidden_size=8, direction="bidirectional"),
        node("Transpose", "s", "t", "order", perm=[0, 2, 1, 3]),
        node("Reshape", "t merged", "m", "merge"),
        node("MatMul", "m out", "l", "tags"),
        node("Softmax", "l", "y", "softmax"),
    ]
    weights = [random("table", 50, 12), random("w", 2, 32, 12, scale=0.25), random("r", 2, 32, 8), random("b", 2, 64)]
    weights += [random("out", 16, 9), constant("merged", [0, 0, -1], np.int64)]
    made = model(nodes, {}, {"y": [5, 2, 9], "c": [2, 2, 8]}, weights, opset=14)
    return _with_inputs(made, {"ids": ([5, 2], INT64)})


def diffusion() -> Any:
    """Return a block of a diffusion network in FLOAT16: groups normalized, a convolution, attention, packed weights."""
    nodes = [
        node("GroupNormalization", "x gs gb", "n0", "groups", num_groups=4, epsilon=1e-3),
        node("Conv", "n0 w b", "c", "conv", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        node("Reshape", "c tokens", "t0", "flat"),
        node("Transpose", "t0", "t", "last", perm=[0, 2, 1]),
        node("LayerNormalization", "t g h", "n", "norm", epsilon=1e-3),
        node("MatMul", "n qw", "q", "q/MatMul"),
        node("MatMul", "n kw", "k", "k/MatMul"),
        node("Transpose", "k", "kt", "k/Transpose", perm=[0, 2, 1]),
        node("MatMul", "q kt", "s0", "scores"),
        node("Softmax", "s0", "s", "softmax"),
        node("MatMul", "s n", "o", "context"),
        node("SkipLayerNormalization", "o t g h", "m", "skip", domain=OWN, epsilon=1e-3),
        node("MatMulNBits", "m packed scales", "y", "packed", domain=OWN, K=32, N=32, bits=4, block_size=32),
    ]
    half = np.float16
    weights = [random("gs", 32, dtype=half), random("gb", 32, dtype=half), random("b", 32, dtype=half)]
    weights += [random("w", 32, 32, 3, 3, scale=1 / 17, dtype=half), random("g", 32, dtype=half)]
    weights += [random("h", 32, dtype=half), constant("tokens", [1, 32, 64], np.int64)]
    weights += [random(f"{part}w", 32, 32, scale=1 / 12, dtype=half) for part in "qk"]
    rng = np.random.default_rng(2)
    weights += [constant("packed", rng.integers(0, 256, (32, 1, 16)), np.uint8)]
    weights += [constant("scales", rng.uniform(0.01, 0.1, 32), half)]
    return model(nodes, {"x": [1, 32, 8, 8]}, {"y": [1, 64, 32]}, weights, opset=21, kind=FLOAT16)


def several_steps() -> Any:
    """Return nodes that become several operators of DirectML: fused normalizations and activations, packed weights."""
    nodes = [
        node("SkipLayerNormalization", "x skip g h", "n", "norm", domain=OWN, epsilon=1e-5),
        node("MatMulNBits", "n w s", "m", "weights", domain=OWN, K=64, N=32, bits=4, block_size=32),
        node("FastGelu", "m b", "f", "gelu", domain=OWN),
        node("RotaryEmbedding", "f p cos sin", "r", "rotary", domain=OWN, num_heads=2),
        node("Max", "r r f f", "y", "largest"),
    ]
    rng = np.random.default_rng(2)
    weights = [random("skip", 1, 4, 64), random("g", 64), random("h", 64), random("b", 32)]
    weights += [constant("w", rng.integers(0, 256, (32, 2, 16)), np.uint8), constant("s", rng.uniform(0.01, 0.1, 64))]
    weights += [random("cos", 8, 8), random("sin", 8, 8), constant("p", [[0, 1, 2, 3]], np.int64)]
    return model(nodes, {"x": [1, 4, 64]}, {"y": [1, 4, 32]}, weights)


def _with_inputs(made: Any, inputs: dict[str, tuple[list[int], int]]) -> Any:
    """Add inputs of types of their own."""
    for name, (sizes, kind) in inputs.items():
        made.graph.input.append(tensor(name, sizes, kind))
    return made
