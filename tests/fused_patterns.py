"""Patterns of nodes that ONNX Runtime fuses, as exporters write them, each as nodes and constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from whole_models import FLOAT, INT64, model, node

helper = pytest.importorskip("onnx.helper")

Pattern = tuple[list[Any], list[Any]]
WIDTH = 16
SIZES = [2, 8, WIDTH]


def number(name: str, value: float) -> Any:
    return helper.make_tensor(name, FLOAT, [], [value])


def vector(name: str, *sizes: int) -> Any:
    count = 1
    for size in sizes or (WIDTH,):
        count *= size
    return helper.make_tensor(name, FLOAT, list(sizes) or [WIDTH], [1.0] * count)


def layer_norm(x: str, y: str, *, twice: bool = False, axes: Sequence[int] = (-1,), opset: int = 14) -> Pattern:
    """Return a normalization as exporters write it before opset 17; `twice` computes the difference twice."""
    is_input = opset >= 18
    given, attributes = (" axes", {}) if is_input else ("", {"axes": list(axes)})
    nodes = [
        node("ReduceMean", f"{x}{given}", "mean", **attributes),
        node("Sub", f"{x} mean", "d"),
        *([node("Sub", f"{x} mean", "d2")] if twice else []),
        node("Pow", "d2 two" if twice else "d two", "square"),
        node("ReduceMean", f"square{given}", "variance", **attributes),
        node("Add", "variance epsilon", "shifted"),
        node("Sqrt", "shifted", "deviation"),
        node("Div", "d deviation", "ratio"),
        node("Mul", "ratio scale", "scaled"),
        node("Add", "scaled shift", y, "norm"),
    ]
    constants = [number("two", 2), number("epsilon", 1e-12), vector("scale"), vector("shift")]
    return nodes, [*constants, *([helper.make_tensor("axes", INT64, [len(axes)], list(axes))] if is_input else [])]


def gelu(x: str, y: str, *, halves_first: bool = False, root: float = 1.4142135) -> Pattern:
    ends = (
        [node("Mul", f"{x} half", "xh"), node("Mul", "xh plus", y, "gelu")]
        if halves_first
        else [node("Mul", f"{x} plus", "xp"), node("Mul", "xp half", y, "gelu")]
    )
    nodes = [node("Div", f"{x} root", "ratio"), node("Erf", "ratio", "erf"), node("Add", "erf one", "plus"), *ends]
    return nodes, [number("root", root), number("one", 1), number("half", 0.5)]


def fast_gelu(x: str, y: str, *, is_factored: bool = False, cubic: float = 0.044715) -> Pattern:
    """Return GPT-2's Gelu; the other one factors x out of the sum, as Megatron does."""
    inside = (
        [
            node("Mul", f"{x} cubic", "xc"),
            node("Mul", f"xc {x}", "xcx"),
            node("Add", "xcx one", "sum"),
            node("Mul", f"{x} root", "xr"),
            node("Mul", "xr sum", "scaled"),
        ]
        if is_factored
        else [
            node("Pow", f"{x} three", "cube"),
            node("Mul", "cube cubic", "cc"),
            node("Add", f"{x} cc", "sum"),
            node("Mul", "sum root", "scaled"),
        ]
    )
    ends = [
        node("Tanh", "scaled", "tanh"),
        node("Add", "tanh one", "plus"),
        node("Mul", f"{x} half", "xh"),
        node("Mul", "xh plus", y, "gelu"),
    ]
    constants = [("root", 0.7978845608), ("cubic", cubic), ("three", 3), ("one", 1), ("half", 0.5)]
    return [*inside, *ends], [number(*each) for each in constants]


def quick_gelu(x: str, y: str, *, alpha: float | None = None) -> Pattern:
    if alpha is None:
        return [node("Sigmoid", x, "s"), node("Mul", f"{x} s", y, "swish")], []
    nodes = [node("Mul", f"{x} alpha", "xa"), node("Sigmoid", "xa", "s"), node("Mul", f"s {x}", y, "swish")]
    return nodes, [number("alpha", alpha)]


def integer_product(x: str, y: str, bias: str = "") -> Pattern:
    """Return a product of quantized factors that is scaled; the quantized input is read by another product too."""
    nodes = [
        node("DynamicQuantizeLinear", x, "q qs qz"),
        node("MatMulInteger", "q w qz wz", "i"),
        node("Cast", "i", "f", to=FLOAT),
        node("Mul", "qs ws", "both"),
        node("Mul", "f both", "product" if bias else y, "scale"),
        *([node("Add", bias, y, "biased")] if bias else []),
        node("MatMulInteger", "q v qz wz", "other"),
    ]
    weights = [helper.make_tensor(name, 2, [WIDTH, WIDTH], [size] * WIDTH**2) for name, size in (("w", 1), ("v", 3))]
    return nodes, [*weights, helper.make_tensor("wz", 2, [], [1]), number("ws", 0.5), vector("bias")]


def whole(pattern: Pattern, before: Sequence[Any] = (), *, opset: int = 14, sizes: Sequence[Any] = SIZES) -> Any:
    """Return a model of a pattern from x, and z where it is read, to y."""
    nodes, constants = pattern
    every = [*before, *nodes]
    read = {name for each in every for name in each.input}
    made = model(every, {name: sizes for name in ("x", "z") if name in read}, {}, constants, opset=opset)
    made.graph.output.append(helper.make_tensor_value_info("y", FLOAT, list(sizes)))
    if any("other" in each.output for each in every):
        made.graph.output.append(helper.make_tensor_value_info("other", 6, list(sizes)))
    return made


def also(pattern: Pattern, *constants: Any) -> Pattern:
    return pattern[0], [*pattern[1], *constants]


def then(pattern: Pattern, *nodes: Any) -> Pattern:
    return [*pattern[0], *nodes], pattern[1]


def quantized(operator: str, *, kind: int = 2, ends: bool = True, is_shared: bool = False, **attributes: Any) -> Any:
    """Return an operator between DequantizeLinear and, with `ends`, QuantizeLinear, from values a and b of UINT8."""
    sizes = {"Conv": [1, 4, 8, 8], "AveragePool": [1, 4, 8, 8], "GlobalAveragePool": [1, 4, 8, 8]}.get(operator, [8, 8])
    constants = [
        number("s", 0.5),
        helper.make_tensor("z", kind, [], [1]),
        helper.make_tensor("bz", 6, [], [0]),
        number("bs", 0.25),
    ]
    nodes, inputs = [node("DequantizeLinear", "a s z", "af", "first")], "af"
    if operator in ("Add", "MatMul", "Conv"):
        filters = [4, 4, 1, 1] if operator == "Conv" else [8, 8]
        count = filters[0] * filters[1]
        constants.append(helper.make_tensor("b", kind, filters, [index % 7 for index in range(count)]))
        nodes.append(node("DequantizeLinear", "b s z", "bf", "second"))
        inputs = "af bf"
    if operator == "Conv":
        constants.append(helper.make_tensor("c", 6, [4], [1, 2, 3, 4]))
        nodes.append(node("DequantizeLinear", "c bs bz", "cf", "third"))
        inputs = "af bf cf"
    nodes.append(node(operator, inputs, "q" if ends else "y", "target", **attributes))
    nodes += [node("QuantizeLinear", "q s z", "y", "last")] if ends else []
    nodes += [node("Tanh", "af", "t", "other")] if is_shared else []
    made = model(nodes, {}, {}, constants, opset=14)
    made.graph.input.append(helper.make_tensor_value_info("a", kind, sizes))
    for name, made_kind in (("y", kind if ends else FLOAT), *([("t", FLOAT)] if is_shared else [])):
        made.graph.output.append(helper.make_tensor_value_info(name, made_kind, None))
    return made


ADDED = node("Add", "x bias", "xb")
SKIP = node("Add", "x z", "a")
OWN = "com.microsoft."
RELU = node("Relu", "y0", "y")

# What ONNX Runtime 1.24.4 makes of models: those of two names or none have no fusion that is of interest here.
CASES: dict[str, tuple[Any, list[str]]] = {
    **{f"normalization, opset {opset}": (whole(layer_norm("x", "y", opset=opset), opset=opset), ["LayerNormalization"])
       for opset in (11, 14, 17, 18)},
    "two differences": (whole(layer_norm("x", "y", twice=True)), ["LayerNormalization"]),
    "last axis": (whole(layer_norm("x", "y", axes=[2])), ["LayerNormalization"]),
    "other axis": (whole(layer_norm("x", "y", axes=[1]), sizes=[2, WIDTH, WIDTH]), []),
    "two axes": (whole(layer_norm("x", "y", axes=[-2, -1])), []),
    "gelu": (whole(gelu("x", "y")), [f"{OWN}Gelu"]),
    "gelu, halves first": (whole(gelu("x", "y", halves_first=True)), [f"{OWN}Gelu"]),
    "gelu, opset 20": (whole(gelu("x", "y"), opset=20), ["Gelu"]),
    "gelu of another constant": (whole(gelu("x", "y", root=1.5)), []),
    "gelu with a bias": (whole(also(gelu("xb", "y"), vector("bias")), [ADDED]), [f"{OWN}BiasGelu"]),
    "gelu with a bias before": (
        whole(also(gelu("xb", "y"), vector("bias")), [node("Add", "bias x", "xb")]), [f"{OWN}BiasGelu"]
    ),
    "gelu with a bias of one": (whole(also(gelu("xb", "y"), vector("bias", 1)), [ADDED]), [f"{OWN}Gelu"]),
    "fast gelu": (whole(then(fast_gelu("x", "y0"), RELU)), [f"{OWN}FastGelu"]),
    "fast gelu, factored": (whole(then(fast_gelu("x", "y0", is_factored=True), RELU)), [f"{OWN}FastGelu"]),
    "fast gelu of an output": (whole(fast_gelu("x", "y")), []),
    "fast gelu of another constant": (whole(then(fast_gelu("x", "y0", cubic=0.05), RELU)), []),
    "fast gelu with a bias": (
        whole(also(then(fast_gelu("xb", "y0"), RELU), vector("bias")), [ADDED]), [f"{OWN}FastGelu"]
    ),
    "swish": (whole(quick_gelu("x", "y")), [f"{OWN}QuickGelu"]),
    "quick gelu": (whole(quick_gelu("x", "y", alpha=1.702)), [f"{OWN}QuickGelu"]),
    "sum before": (whole(layer_norm("a", "y"), [SKIP]), [f"{OWN}SkipLayerNormalization"]),
    "sum of named sizes before": (
        whole(layer_norm("a", "y"), [SKIP], sizes=["b", "s", WIDTH]), [f"{OWN}SkipLayerNormalization"]
    ),
    "sum of two dimensions before": (whole(layer_norm("a", "y"), [SKIP], sizes=[8, WIDTH]), ["LayerNormalization"]),
    "sum that is read again": (
        whole(then(layer_norm("a", "y0"), node("Add", "y0 a", "y")), [SKIP]), ["LayerNormalization"]
    ),
    "sum and bias before": (
        whole(also(layer_norm("a", "y"), vector("bias")), [ADDED, node("Add", "z xb", "a")]),
        [f"{OWN}SkipLayerNormalization"],
    ),
    "difference that is read again": (
        whole(then(layer_norm("x", "y0"), node("Add", "y0 d", "y"))), []
    ),
    "quantized sum": (quantized("Add"), [f"{OWN}QLinearAdd"]),
    "quantized sum whose input is read again": (quantized("Add", is_shared=True), [f"{OWN}QLinearAdd"]),
    "sum that is not quantized": (quantized("Add", ends=False), []),
    "quantized product": (quantized("MatMul"), ["QLinearMatMul"]),
    "product that is not quantized": (quantized("MatMul", ends=False), [f"{OWN}MatMulIntegerToFloat"]),
    "quantized convolution": (quantized("Conv"), ["QLinearConv"]),
    "quantized pool": (quantized("AveragePool", kernel_shape=[2, 2]), [f"{OWN}QLinearAveragePool"]),
    "quantized mean": (quantized("GlobalAveragePool"), [f"{OWN}QLinearGlobalAveragePool"]),
    "quantized sigmoid": (quantized("Sigmoid"), [f"{OWN}QLinearSigmoid"]),
    "quantized tanh": (quantized("Tanh"), []),
    "product of integers": (whole(integer_product("x", "y")), [f"{OWN}MatMulIntegerToFloat"]),
    "product of integers with a bias": (
        whole(integer_product("x", "y", "product bias")), [f"{OWN}MatMulIntegerToFloat"]
    ),
}  # fmt: skip


def attention_block(*, normalized: bool = True) -> Pattern:
    """Return embeddings and attention with two heads as BERT has it, and what is added to and normalized after it."""
    nodes = [
        node("Gather", "words ids", "w", "words"),
        node("Gather", "places positions", "p", "places"),
        node("Add", "w p", "e", "sum"),
        node("LayerNormalization", "e scale shift", "n", "embedded") if normalized else node("Neg", "e", "n"),
    ]
    for letter in "qkv":
        nodes += [
            node("MatMul", f"n w{letter}", f"{letter}0"),
            node("Add", f"{letter}0 bias", f"{letter}1"),
            node("Reshape", f"{letter}1 heads", f"{letter}2"),
            node("Transpose", f"{letter}2", letter, perm=[0, 2, 3, 1] if letter == "k" else [0, 2, 1, 3]),
        ]
    nodes += [
        node("MatMul", "q k", "scores"),
        node("Div", "scores root", "scaled"),
        node("Add", "scaled mask", "masked"),
        node("Softmax", "masked", "weights", "attend", axis=-1),
        node("MatMul", "weights v", "mixed"),
        node("Transpose", "mixed", "turned", perm=[0, 2, 1, 3]),
        node("Reshape", "turned joined", "y"),
    ]
    constants = [
        vector("words", 100, WIDTH),
        vector("places", 8, WIDTH),
        vector("scale"),
        vector("shift"),
        vector("bias"),
        number("root", 2.8),
        helper.make_tensor("heads", INT64, [4], [0, 0, 2, WIDTH // 2]),
        helper.make_tensor("joined", INT64, [3], [0, 0, WIDTH]),
        helper.make_tensor("positions", INT64, [1, 8], list(range(8))),
        *(vector(f"w{letter}", WIDTH, WIDTH) for letter in "qkv"),
    ]
    return nodes, constants
