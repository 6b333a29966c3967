"""Operators of onnxruntime's own that others are fused to: products with transposed factors, sums with Gelu.

From DmlOperatorFusedMatMul.cpp, DmlOperatorBiasGelu.cpp, DmlOperatorBiasAdd.cpp, DmlOperatorBiasSplitGelu.cpp and
DmlOperatorQuickGelu.cpp of ONNX Runtime's DirectML provider.
"""

from __future__ import annotations

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, Maker, Makers, Node, Refused, axis_of, number
from dmlcheck.onnx.descs.steps import identity, padded_steps, pair, step, unary
from dmlcheck.onnx.descs.tensors import permuted, repeated
from dmlcheck.onnx.operators.products_and_windows import batches, matrices

# ---- products


def _fused_product(node: Node) -> Counterpart:
    """GEMM of batches that keeps dimensions; batches that are transposed are read through strides."""
    if 0 in (node.input(0).ndim, node.input(1).ndim):
        raise Refused(f"{node.type} of a scalar")
    a, b, output = matrices(node.input(0), node.input(1), node.output())
    tensors = batches(_factor(node, 0, "A", a), _factor(node, 1, "B", b), output)
    sides = {f"Trans{side}": _transform(node, index, side) for index, side in enumerate("AB")}
    fields = {**sides, "Alpha": number(node.get("alpha", 1.0)), "Beta": 0}
    return Counterpart("GEMM", {**tensors, **fields}, least=1)


def _transform(node: Node, index: int, side: str) -> str:
    return "TRANSPOSE" if node.whole(f"trans{side}", 0) and node.input(index).ndim > 1 else "NONE"


def _factor(node: Node, index: int, side: str, x: TensorRef) -> TensorRef:
    """Return a factor with its batches transposed where that is asked for; a vector has none."""
    order = list(range(x.ndim))
    if node.input(index).ndim > 1 and node.whole(f"transBatch{side}", 0):
        if x.ndim < 3:
            raise Refused(f"{node.type} whose factor {side} has no batches that could be transposed")
        order[:-1] = [*order[1:-1], order[0]]
    return permuted(x, order)


def _fused_product_with_activation(node: Node) -> Counterpart:
    """Return the GEMM with a softmax after it, the only activation that the provider takes here."""
    if node.get("activation", "Softmax") != "Softmax":
        raise Refused(f"{node.type} with the activation {node.get('activation')}")
    made = _fused_product(node)
    axis = axis_of(node.whole("activation_axis", -1), node.input(0).ndim)
    fused = {"FusedActivation": {"Type": "ACTIVATION_SOFTMAX1", "Axes": [axis]}} if node.get("activation") else {}
    return made.with_fields(**fused)


# ---- Gelu


def _gelu(node: Node) -> Counterpart:
    return Counterpart("ACTIVATION_GELU", node.tensors())


def _gelu_of_sum(node: Node) -> Counterpart:
    """ADD1 with a Gelu after it; without a bias the Gelu alone."""
    x, output = node.input(0), node.output()
    if not node.has(1):
        return _gelu(node)
    tensors = {"ATensor": x, "BTensor": repeated(node.input(1), x.shape), "OutputTensor": output}
    return Counterpart("ELEMENT_WISE_ADD1", {**tensors, "FusedActivation": {"Type": "ACTIVATION_GELU"}})


def _fast_gelu(node: Node) -> list[Counterpart]:
    """Compute the same as BiasGelu, not by the tanh of a polynomial."""
    return [_gelu_of_sum(node)]


def _quick_gelu(node: Node) -> list[Counterpart]:
    """Multiply x by the sigmoid of alpha * x."""
    x, output = node.input(0), node.output()
    alpha = number(node.get("alpha", 1.702))
    scaled, gates = x if alpha == 1 else x.unknown(), x.unknown()
    first = [] if alpha == 1 else [identity(x, scaled, ScaleBias={"Scale": alpha, "Bias": 0})]
    return padded_steps([*first, unary("ACTIVATION_SIGMOID", scaled, gates), pair("MULTIPLY", x, gates, output)])


# ---- sums


def _sum_of_three(node: Node) -> list[Counterpart]:
    """ADD of the bias, then of the skipped input."""
    x = node.input(0)
    biased = x.unknown()
    return padded_steps([pair("ADD", x, node.input(1), biased), pair("ADD", biased, node.input(2), node.output())])


def _gelu_of_half(node: Node) -> list[Counterpart]:
    """ADD of the bias; one half of the last dimension multiplied by the Gelu of the other."""
    x = node.input(0)
    if not x.ndim or x.shape[-1] % 2:
        raise Refused(f"{node.type} of the sizes {list(x.shape)}, which have no halves")
    sizes = (*x.shape[:-1], x.shape[-1] // 2)
    biased, (left, right, gates) = x.unknown(), (x.like(sizes) for _ in range(3))
    return padded_steps(
        [
            pair("ADD", x, node.input(1), biased),
            step("SPLIT", InputTensor=biased, OutputTensors=[left, right], Axis=x.ndim - 1),
            unary("ACTIVATION_GELU", right, gates),
            pair("MULTIPLY", left, gates, node.output()),
        ]
    )


OPERATORS: dict[str, Maker] = {
    "com.microsoft.BiasGelu": _gelu_of_sum,
    "com.microsoft.FusedMatMul": _fused_product,
    "com.microsoft.FusedMatMulActivation": _fused_product_with_activation,
    "com.microsoft.Gelu": _gelu,
}
SEVERAL: dict[str, Makers] = {
    "com.microsoft.BiasAdd": _sum_of_three,
    "com.microsoft.BiasSplitGelu": _gelu_of_half,
    "com.microsoft.FastGelu": _fast_gelu,
    "com.microsoft.QuickGelu": _quick_gelu,
}
