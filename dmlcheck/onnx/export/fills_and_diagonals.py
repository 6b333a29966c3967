"""Tensors made only from fields: constants, sequences, diagonals."""

from __future__ import annotations

import math

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.onnx.export.builder import Builder, Maker
from dmlcheck.onnx.export.records import GraphValue, Inexpressible
from dmlcheck.onnx.export.representable import as_element, as_float32, is_float


def constant(g: Builder, desc: OperatorDesc) -> None:
    """FILL_VALUE_CONSTANT: one element, repeated."""
    tensor = g.tensor("OutputTensor")
    g.output("OutputTensor", g.fill(tensor.sizes, as_element(desc.values["Value"], tensor.data_type), tensor.data_type))


def sequence(g: Builder, desc: OperatorDesc) -> None:
    """FILL_VALUE_SEQUENCE: start + index * delta in a wider type; a Cast leaves integers their lower bits."""
    tensor = g.tensor("OutputTensor")
    start, delta = desc.values["ValueStart"], desc.values["ValueDelta"]
    count = math.prod(tensor.sizes)
    if tensor.data_type == "FLOAT64":
        raise Inexpressible("ONNX's Range has no exact sum of FLOAT64")
    limits = g.scalar(0, "INT64"), g.scalar(count, "INT64"), g.scalar(1, "INT64")
    x = g.node("Range", limits, (count,), "INT64")
    if is_float(tensor.data_type):
        x = g.cast(x, "FLOAT64")
        start, delta = as_element(start, tensor.data_type), as_element(delta, tensor.data_type)
    elif max(abs(start), abs(delta), abs(start + (count - 1) * delta)) >= 2**62:
        raise Inexpressible("the sequence runs past the numbers that INT64 can count")
    x = g.with_number("Add", g.with_number("Mul", x, delta), start)
    g.output("OutputTensor", x)


def diagonal(g: Builder, desc: OperatorDesc) -> None:
    """DIAGONAL_MATRIX: a span of one diagonal, on zeros."""
    offset = desc.values["Offset"]
    _spanned(g, as_float32(desc.values["Value"]), offset, offset + 1)


def diagonals(g: Builder, desc: OperatorDesc) -> None:
    """DIAGONAL_MATRIX1: a span of diagonals, or all but a span where it begins after its end."""
    _spanned(g, desc.values["Value"], desc.values["DiagonalFillBegin"], desc.values["DiagonalFillEnd"])


def _spanned(g: Builder, value: float, begin: int, end: int) -> None:
    tensor = g.tensor("OutputTensor")
    kind = tensor.data_type
    rest = g.input("InputTensor") if g.has("InputTensor") else g.fill(tensor.sizes, 0, kind)
    height, width = tensor.sizes[-2:]
    ones = g.fill((height, width), 1, "INT64")
    above_begin, above_end = (_upper(g, ones, edge) for edge in (min(begin, end), max(begin, end)))
    span = g.node("Sub", [above_begin, above_end], (height, width), "INT64")
    inside = g.cast(span, "INT64", "BOOL")
    fill = g.scalar(as_element(value, kind), kind)
    choices = [fill, rest] if begin <= end else [rest, fill]
    g.output("OutputTensor", g.node("Where", [inside, *choices], tensor.sizes, kind))


def _upper(g: Builder, ones: GraphValue, edge: int) -> GraphValue:
    """Keep the elements at or above a diagonal; all diagonals beyond the matrix are alike."""
    height, width = ones.sizes
    return g.node("Trilu", [ones, g.scalar(min(max(edge, -height), width), "INT64")], ones.sizes, "INT64", upper=1)


MAPPINGS: dict[str, Maker] = {
    "DIAGONAL_MATRIX": diagonal,
    "DIAGONAL_MATRIX1": diagonals,
    "FILL_VALUE_CONSTANT": constant,
    "FILL_VALUE_SEQUENCE": sequence,
}
