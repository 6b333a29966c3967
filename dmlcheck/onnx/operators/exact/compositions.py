"""Operators of ONNX that several of DirectML's compute exactly, where the provider computes something else."""

from __future__ import annotations

from functools import partial

import numpy as np

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, Makers, Node, Refused
from dmlcheck.onnx.descs.steps import identity, pair, unary
from dmlcheck.onnx.descs.tensors import vector
from dmlcheck.onnx.operators.exact import grouped_attention, skip_groups
from dmlcheck.onnx.operators.provider import dequantized
from dmlcheck.onnx.operators.shared import counterpart

_SLOPE = 0.7978845608028654  # sqrt(2 / pi)
_CUBE = 0.044715


def _cast(node: Node) -> list[Counterpart]:
    """CAST; to truth values the opposite of being equal to 0."""
    x, output = node.input(0), node.output()
    if output.element != "BOOL" or x.element == "BOOL":
        return [counterpart(node)]
    x, output = vector(x), vector(output)
    is_zero = output.unknown()
    zero = TensorRef.of(np.zeros(1, x.dtype), x.element)
    equal = pair("LOGICAL_EQUALS", x, zero.reshape((1,) * x.ndim), is_zero)
    return [equal, unary("ELEMENT_WISE_LOGICAL_NOT", is_zero, output)]


def _gelu_by_tanh(node: Node) -> list[Counterpart]:
    """Half of x, multiplied by 1 and the tanh of a polynomial; com.microsoft.FastGelu adds a bias first."""
    x, output = vector(node.input(0)), vector(node.output())
    made = []
    if node.type == "com.microsoft.FastGelu" and node.has(1):
        biased = x.unknown()
        made.append(pair("ADD", x, node.input(1), biased))
        x = biased
    square, slope, place, bent, share = (x.unknown() for _ in range(5))
    return [
        *made,
        pair("MULTIPLY", x, x, square),
        identity(square, slope, ScaleBias={"Scale": _SLOPE * _CUBE, "Bias": _SLOPE}),
        pair("MULTIPLY", x, slope, place),
        unary("ACTIVATION_TANH", place, bent),
        identity(bent, share, ScaleBias={"Scale": 0.5, "Bias": 0.5}),
        pair("MULTIPLY", x, share, output),
    ]


def _gelu(node: Node) -> list[Counterpart]:
    return _gelu_by_tanh(node) if node.get("approximate", "none") == "tanh" else [counterpart(node)]


def _combined(operator: str, node: Node) -> list[Counterpart]:
    """Combine the first two inputs, then the result so far with each other one; of one input a copy."""
    inputs, output = [node.input(index) for index in range(len(node.inputs))], vector(node.output())
    if len(inputs) == 1:
        return [identity(vector(inputs[0]), output)]
    results = [*(output.unknown() for _ in inputs[2:]), output]
    firsts = [inputs[0], *results]
    return [pair(operator, *each) for each in zip(firsts, inputs[1:], results, strict=False)]


def _product_of_blocks(node: Node) -> list[Counterpart]:
    """DEQUANTIZE of the weights and GEMM, with the zero points that ONNX Runtime has where none are given."""
    if node.whole("accuracy_level", 0) == 4:
        raise Refused(f"{node.type} of accuracy_level 4, which lets an implementation round the first factor to INT8")
    bits, rows = node.whole("bits", 4), node.positive("N")
    if node.has(3) and node.input(3).element != "UINT8":
        raise Refused(f"{node.type} whose zero points are {node.input(3).data_type}, not packed in UINT8")
    bias, inputs = node.optional(5), list(node.inputs[:4])
    if not node.has(3):
        blocks = node.input(2).size // rows
        packed = np.full(rows * (-(-blocks * bits // 8)), 0x88 if bits == 4 else 0x80, np.uint8)
        inputs = [*node.inputs[:3], TensorRef.of(packed)]
    output = node.output()
    product = output if bias is None else output.unknown()
    plain = node._replace(inputs=(*inputs, *node.inputs[4:5]), outputs=(product,))
    made = dequantized.SEVERAL[node.type](plain)
    return made if bias is None else [*made, pair("ADD", product, bias, output)]


OPERATORS: dict[str, Makers] = {
    "Cast": _cast,
    "CastLike": _cast,
    "Gelu": _gelu,
    "Max": partial(_combined, "MAX"),
    "Min": partial(_combined, "MIN"),
    "Sum": partial(_combined, "ADD"),
    "com.microsoft.FastGelu": _gelu_by_tanh,
    "com.microsoft.MatMulNBits": _product_of_blocks,
    **grouped_attention.OPERATORS,
    **skip_groups.OPERATORS,
}
