"""Tensors made from numbers, and diagonals of matrices."""

from __future__ import annotations

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, shortest
from dmlcheck.onnx.operators.row import Row

_LOWEST, _HIGHEST = -(2**31), 2**31 - 1  # which no diagonal reaches


def _constant(node: OnnxNode) -> list[Counterpart]:
    """FILL_VALUE_CONSTANT, of the value that the whole output has."""
    output = node.output()
    given = output.values if node.has_outputs else node.get("value")
    value = 0 if given is None else given.reshape(-1)[0]
    fields = {"ValueDataType": output.data_type, "Value": shortest(value, output.dtype)}
    return [Counterpart("FILL_VALUE_CONSTANT", {"OutputTensor": output, **fields})]


def _sequence(node: OnnxNode) -> list[Counterpart]:
    output = node.output()
    given = [node.known(index) for index in (0, 2)]
    start, delta = (shortest(value.reshape(-1)[0], output.dtype) for value in given if value is not None)
    fields = {"ValueDataType": output.data_type, "ValueStart": start, "ValueDelta": delta}
    return [Counterpart("FILL_VALUE_SEQUENCE", {"OutputTensor": output, **fields})]


def _triangle(node: OnnxNode) -> list[Counterpart]:
    """DIAGONAL_MATRIX1: 0 on all diagonals below the first that stays, or above the last."""
    return _triangles(node, node.tensors())


def _triangle_of_any_rank(node: OnnxNode) -> list[Counterpart]:
    """DIAGONAL_MATRIX1 of all matrices in one dimension, as it takes up to four dimensions."""
    x, output = node.input(0), node.output()
    sizes = (-1, *x.shape[-2:])
    return _triangles(node, {"InputTensor": x.reshape(*sizes), "OutputTensor": output.reshape(*sizes)})


def _triangles(node: OnnxNode, tensors: dict[str, TensorRef]) -> list[Counterpart]:
    first = (node.numbers("k", 1) or [0])[0]
    begin, end = (_LOWEST, first) if node.get("upper", 1) else (first + 1, _HIGHEST)
    value = {"ValueDataType": node.output().data_type, "Value": 0}
    ends = {"DiagonalFillBegin": begin, "DiagonalFillEnd": end}
    return [Counterpart("DIAGONAL_MATRIX1", {**tensors, **value, **ends})]


def _ones(node: OnnxNode) -> list[Counterpart]:
    fields = {"Offset": node.get("k", 0), "Value": 1}
    return [Counterpart("DIAGONAL_MATRIX", {"OutputTensor": node.output(), **fields})]


OPERATORS: dict[str, Row] = {
    "ConstantOfShape": Row(_constant),
    "EyeLike": Row(_ones),
    "Range": Row(_sequence),
    "Trilu": Row(_triangle, exact=_triangle_of_any_rank),
}
