"""Descs as ONNX graphs: the operator that ONNX has for each, by families that end in their table MAPPINGS."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.onnx.export.builder import Builder, Maker
from dmlcheck.onnx.export.records import ExportedGraph, Inexpressible

_FAMILIES = (
    "activation",
    "attention",
    "elementwise",
    "fills_and_diagonals",
    "gathering",
    "gradients",
    "matrix_products",
    "moved_elements",
    "normalization",
    "quantization",
    "quantized_operators",
    "recurrent",
    "reduction",
    "resampling",
    "windows",
)


def build(desc: OperatorDesc) -> ExportedGraph:
    """Return a valid desc as a graph; Inexpressible if ONNX has no exact words for it."""
    mapping = mappings().get(desc.spec.short)
    if mapping is None:
        raise Inexpressible(f"ONNX has no operator for {desc.spec.operator}")
    builder = Builder(desc)
    mapping(builder, desc)
    return builder.graph()


@cache
def mappings() -> dict[str, Maker]:
    """Return the mappings of all families by operator, without its prefix."""
    found: dict[str, Maker] = {}
    for family in _FAMILIES:
        found.update(import_module(f"dmlcheck.onnx.export.{family}").MAPPINGS)
    return found
