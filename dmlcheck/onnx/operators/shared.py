"""The operators of ONNX that DirectML has exactly: for each, what makes the desc of a node.

What a family gives is checked against DirectML's tables afterwards, so that it looks at what those cannot see only.
"""

from __future__ import annotations

from dmlcheck.onnx.descs.node import Counterpart, Maker, Node, Refused
from dmlcheck.onnx.operators import (
    contributed,
    elementwise,
    experimental,
    fills_and_diagonals,
    fused_attention,
    gathering,
    moved_elements,
    normalization,
    products_and_windows,
    quantized_operators,
    recurrent,
    reduction,
    resampling,
)

OPERATORS: dict[str, Maker] = {
    **fused_attention.OPERATORS,
    **contributed.OPERATORS,
    **elementwise.OPERATORS,
    **experimental.OPERATORS,
    **fills_and_diagonals.OPERATORS,
    **gathering.OPERATORS,
    **moved_elements.OPERATORS,
    **normalization.OPERATORS,
    **products_and_windows.OPERATORS,
    **quantized_operators.OPERATORS,
    **recurrent.OPERATORS,
    **reduction.OPERATORS,
    **resampling.OPERATORS,
}
_SEVERAL_OUTPUTS = (
    "com.microsoft.MultiHeadAttention",
    "DynamicQuantizeLinear",
    "LayerNormalization",
    "MaxPool",
    "Split",
    "TopK",
    *recurrent.OPERATORS,
)


def counterpart(node: Node) -> Counterpart:
    """Return the operator of DirectML for a node, with its fields; Refused where it has none."""
    make = OPERATORS.get(node.type)
    if make is None:
        raise Refused(f"{node.type} is not one of the operators that are imported")
    if node.type not in _SEVERAL_OUTPUTS:
        node.only_outputs(1)
    return make(node)
