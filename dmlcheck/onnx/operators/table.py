"""All known operators of ONNX, and the steps of a node: by ONNX's meaning, or as the provider makes them.

The steps of a family are checked against DirectML's tables afterwards, so that a family only checks conditions outside
these tables.
"""

from __future__ import annotations

from importlib import import_module

from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, Unmapped
from dmlcheck.onnx.descs.padded import padded
from dmlcheck.onnx.descs.steps import of_fewer_batches
from dmlcheck.onnx.operators.row import Maker, Row

FAMILIES = (
    "activation",
    "attention",
    "convolution",
    "einsum",
    "elementwise",
    "experimental",
    "fills_and_diagonals",
    "fused_attention",
    "fused_normalization",
    "gathering",
    "grouped_attention",
    "matrix_products",
    "moved_elements",
    "normalization",
    "pooling",
    "quantization",
    "quantized_operators",
    "recurrent",
    "reduction",
    "resampling",
    "selection",
    "transforms",
    "without_operators",
)
OPERATORS: dict[str, Row] = {
    operator: row
    for family in FAMILIES
    for operator, row in import_module(f"dmlcheck.onnx.operators.{family}").OPERATORS.items()
}
_UNKNOWN = Row()
_LEFT = "nothing is computed where a tensor has no elements: outputs that have some hold what was in memory before"


def row_of(operator: str) -> Row:
    """Return the row of an operator; an empty one if none is known."""
    return OPERATORS.get(operator, _UNKNOWN)


def exact_steps(node: OnnxNode) -> list[Counterpart]:
    """Return the steps that compute ONNX's meaning; Unmapped if there are none."""
    row = row_of(node.type)
    if row.reason is not None:
        raise Unmapped(f"{node.type} {row.reason}")
    make = row.exact or row.make
    if make is None and node.type.startswith("com.microsoft."):
        raise Unmapped(f"{node.type} is not one of the operators that are known")
    if make is None:
        raise Unmapped(f"DirectML has no operator that computes {node.type}")
    return [step for made in _made(make, row, node) for step in of_fewer_batches(made)]


def provider_steps(node: OnnxNode) -> list[Counterpart]:
    """Return the steps that the DirectML provider makes of a node; Unmapped if there are none."""
    row = row_of(node.type)
    make = row.provider or row.make
    if make is None:
        raise Unmapped(f"the DirectML provider has no descs of {node.type}")
    return list(map(padded, _made(make, row, node)))


def is_left_out(node: OnnxNode) -> bool:
    """Whether the provider makes no operator of a node that it takes, since a tensor has no elements."""
    row = row_of(node.type)
    read = [x for index, x in enumerate(node.inputs) if index != row.may_be_empty and not row.leaves_out_empty]
    return any(x is not None and not x.size for x in (*read, *node.outputs))


def deviation_of(node: OnnxNode) -> str | None:
    """Return the known mistake of the provider in a node that it takes, None if none is known."""
    if is_left_out(node):
        return _LEFT if any(x is not None and x.size for x in node.outputs) else None
    query = row_of(node.type).deviation
    return None if query is None else query(node)


def _made(make: Maker, row: Row, node: OnnxNode) -> list[Counterpart]:
    if row.outputs is not None:
        node.only_outputs(row.outputs)
    return make(node)
