"""Tensors made from numbers, and diagonals of matrices."""

from __future__ import annotations

from dmlcheck.formats.onnx.from_onnx.node import Array, Counterpart, Maker, Node, number
from dmlcheck.formats.onnx.from_onnx.tensors import type_name


def _constant(node: Node) -> Counterpart:
    """FILL_VALUE_CONSTANT of what the output has everywhere."""
    output = node.output()
    given = output if node.has_outputs else node.get("value")
    value = 0 if given is None else given.reshape(-1)[0]
    fields = {"ValueDataType": type_name(output), "Value": number(value, output.dtype)}
    return Counterpart("FILL_VALUE_CONSTANT", {"OutputTensor": output, **fields})


def _sequence(node: Node) -> Counterpart:
    output = node.output()
    given = [node.known(index) for index in (0, 2)]
    start, delta = (number(value.reshape(-1)[0], output.dtype) for value in given if value is not None)
    fields = {"ValueDataType": type_name(output), "ValueStart": start, "ValueDelta": delta}
    return Counterpart("FILL_VALUE_SEQUENCE", {"OutputTensor": output, **fields})


def _triangle(node: Node) -> Counterpart:
    """DIAGONAL_MATRIX1: 0 on all diagonals below the first that stays, or above the last."""
    x = node.input(0)
    first = (node.numbers("k", 1) or [0])[0]
    height, width = x.shape[-2:]
    begin, end = (-height, max(first, -height)) if node.get("upper", 1) else (min(first + 1, width), width)
    return _diagonals({"InputTensor": x, "OutputTensor": node.output()}, 0, begin, end)


def _ones(node: Node) -> Counterpart:
    first = node.get("k", 0)
    return _diagonals({"OutputTensor": node.output()}, 1, first, first + 1)


def _diagonals(tensors: dict[str, Array], value: int, begin: int, end: int) -> Counterpart:
    fields = {"Value": value, "DiagonalFillBegin": begin, "DiagonalFillEnd": end}
    return Counterpart("DIAGONAL_MATRIX1", {**tensors, "ValueDataType": type_name(tensors["OutputTensor"]), **fields})


OPERATORS: dict[str, Maker] = {
    "ConstantOfShape": _constant,
    "EyeLike": _ones,
    "Range": _sequence,
    "Trilu": _triangle,
}
