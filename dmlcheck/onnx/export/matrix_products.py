"""GEMM: ONNX's Gemm and MatMul."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.onnx.export.activation import fused
from dmlcheck.onnx.export.builder import Builder, Maker
from dmlcheck.onnx.export.records import GraphValue, Inexpressible
from dmlcheck.onnx.export.representable import as_float32, fits, multiplies_exactly

_MOST_PRODUCTS = 64  # a model with more nodes than that says little of one operator


def gemm(g: Builder, desc: OperatorDesc) -> None:
    """GEMM: one Gemm, a MatMul of all batches where that is all, or a Gemm for each batch."""
    operands = a, _, c = g.input("ATensor"), g.input("BTensor"), g.optional("CTensor")
    sizes = g.tensor("OutputTensor").sizes
    alpha = as_float32(desc.values["Alpha"])
    count = math.prod(sizes[:-2])
    if count == 1:
        made = _gemm(g, desc, [_matrices(g, x, ()) for x in operands], sizes[-2:])
    elif c is None and multiplies_exactly(alpha) and fits(alpha, a.data_type):
        parts = [_turned(g, g.input(f"{side}Tensor"), desc.values[f"Trans{side}"]) for side in "AB"]
        made = g.times(g.node("MatMul", parts, sizes, parts[0].data_type), alpha)
    elif count > _MOST_PRODUCTS:
        raise Inexpressible(f"MatMul has no Alpha and CTensor, and more than {_MOST_PRODUCTS} Gemm would be needed")
    else:
        stacks = [_batches(g, x, count) for x in operands]
        products = [g.reshape(_gemm(g, desc, each, sizes[-2:]), (1, *sizes[-2:])) for each in zip(*stacks, strict=True)]
        made = g.node("Concat", products, (count, *sizes[-2:]), a.data_type, axis=0)
    g.output("OutputTensor", fused(g, g.reshape(made, sizes), desc))


def _gemm(g: Builder, desc: OperatorDesc, matrices: Sequence[GraphValue | None], sizes: Sequence[int]) -> GraphValue:
    a_turned, b_turned = (int(desc.values[name] == "TRANSPOSE") for name in ("TransA", "TransB"))
    return g.node(
        "Gemm",
        matrices,
        sizes,
        g.input("ATensor").data_type,
        alpha=as_float32(desc.values["Alpha"]),
        beta=as_float32(desc.values["Beta"]),
        transA=a_turned,
        transB=b_turned,
    )


def _turned(g: Builder, x: GraphValue, transform: str) -> GraphValue:
    rank = len(x.sizes)
    return g.transpose(x, [*range(rank - 2), rank - 1, rank - 2]) if transform == "TRANSPOSE" else x


def _matrices(g: Builder, x: GraphValue | None, batches: tuple[int, ...]) -> GraphValue | None:
    return None if x is None else g.reshape(x, (*batches, *x.sizes[-2:]))


def _batches(g: Builder, x: GraphValue | None, count: int) -> Sequence[GraphValue | None]:
    stack = _matrices(g, x, (count,))
    if stack is None:
        return [None] * count
    sizes = (1, *stack.sizes[1:])
    parts = g.nodes_of("Split", [stack, g.constant([1] * count)], [(sizes, stack.data_type, None)] * count, axis=0)
    return [_matrices(g, part, ()) for part in parts]


MAPPINGS: dict[str, Maker] = {"GEMM": gemm}
