"""Products of matrices; the ones of com.microsoft may have transposed batches, and a softmax after them.

From DmlOperatorFusedMatMul.cpp of ONNX Runtime's DirectML provider.
"""

from __future__ import annotations

from typing import Any

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, Unmapped, axis_of, shortest
from dmlcheck.onnx.descs.tensors import permuted, ranked, repeated
from dmlcheck.onnx.operators.row import Row


def _gemm(node: OnnxNode) -> list[Counterpart]:
    output = node.output()
    fields: dict[str, Any] = {"ATensor": node.input(0), "BTensor": node.input(1)}
    c = node.optional(2)
    if c is not None:
        fields["CTensor"] = repeated(c, output.shape)
    sides = {f"Trans{side}": "TRANSPOSE" if node.get(f"trans{side}", 0) else "NONE" for side in "AB"}
    factors = {"Alpha": shortest(node.get("alpha", 1.0)), "Beta": shortest(node.get("beta", 1.0))}
    return [Counterpart("GEMM", {**fields, "OutputTensor": output, **sides, **factors})]


def _matmul(node: OnnxNode) -> list[Counterpart]:
    """GEMM of batches, which repeat where one side has fewer of them."""
    tensors = batches(*matrices(node.input(0), node.input(1), node.output()))
    return [Counterpart("GEMM", {**tensors, "TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 0})]


def matrices(a: TensorRef, b: TensorRef, output: TensorRef) -> tuple[TensorRef, TensorRef, TensorRef]:
    """Return two factors and their product as matrices: a vector is a row on the left, and a column on the right."""
    if a.ndim == 1:
        a, output = ranked(a, 2), _expanded(output, output.ndim - (b.ndim > 1))
    if b.ndim == 1:
        b, output = b.reshape(-1, 1), _expanded(output, output.ndim)
    return a, b, output


def _expanded(x: TensorRef, axis: int) -> TensorRef:
    return x.reshape((*x.shape[:axis], 1, *x.shape[axis:]))


def batches(a: TensorRef, b: TensorRef, output: TensorRef) -> dict[str, TensorRef]:
    """Return the tensors of a product of matrices, which repeat to the batches of the output."""
    batch = output.shape[:-2]
    left, right = (repeated(x, (*batch, *x.shape[-2:])) for x in (a, b))
    return {"ATensor": left, "BTensor": right, "OutputTensor": output}


# ---- onnxruntime's own


def _fused_product(node: OnnxNode) -> list[Counterpart]:
    """GEMM of batches that keeps dimensions; batches that are transposed are read through strides."""
    if 0 in (node.input(0).ndim, node.input(1).ndim):
        raise Unmapped(f"{node.type} of a scalar")
    a, b, output = matrices(node.input(0), node.input(1), node.output())
    tensors = batches(_factor(node, 0, "A", a), _factor(node, 1, "B", b), output)
    sides = {f"Trans{side}": _transform(node, index, side) for index, side in enumerate("AB")}
    fields = {**sides, "Alpha": shortest(node.get("alpha", 1.0)), "Beta": 0}
    return [Counterpart("GEMM", {**tensors, **fields}, least=1)]


def _transform(node: OnnxNode, index: int, side: str) -> str:
    return "TRANSPOSE" if node.whole(f"trans{side}", 0) and node.input(index).ndim > 1 else "NONE"


def _factor(node: OnnxNode, index: int, side: str, x: TensorRef) -> TensorRef:
    """Return a factor with its batches transposed where that is asked for; a vector has none."""
    order = list(range(x.ndim))
    if node.input(index).ndim > 1 and node.whole(f"transBatch{side}", 0):
        if x.ndim < 3:
            raise Unmapped(f"{node.type} whose factor {side} has no batches that could be transposed")
        order[:-1] = [*order[1:-1], order[0]]
    return permuted(x, order)


def _fused_product_with_activation(node: OnnxNode) -> list[Counterpart]:
    """Return the GEMM with a softmax after it, the only activation that the provider takes here."""
    if node.get("activation", "Softmax") != "Softmax":
        raise Unmapped(f"{node.type} with the activation {node.get('activation')}")
    (made,) = _fused_product(node)
    axis = axis_of(node.whole("activation_axis", -1), node.input(0).ndim)
    fused = {"FusedActivation": {"Type": "ACTIVATION_SOFTMAX1", "Axes": [axis]}} if node.get("activation") else {}
    return [made.with_fields(**fused)]


def _deviation(node: OnnxNode) -> str | None:
    x = node.input(1)
    if x.ndim != 1 or x.size < 2:
        return None
    return "a MatMul whose second factor is a vector multiplies all elements by its first"


OPERATORS: dict[str, Row] = {
    "Gemm": Row(_gemm),
    "MatMul": Row(_matmul, deviation=_deviation),
    "com.microsoft.FusedMatMul": Row(_fused_product),
    "com.microsoft.FusedMatMulActivation": Row(_fused_product_with_activation),
}
