"""Einsum that one operator of DirectML computes: a copy, a sum, a product of elements or of matrices, by strides."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from dmlcheck.descs.strides import packed_strides
from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, Maker, Node, Refused

_Labels = tuple[str, ...]
_DOTS = re.compile(r"\.\.\.|[A-Za-z]")


class _Operand(NamedTuple):
    """Values with a label for each dimension, and the strides of the buffer that they lie in."""

    values: TensorRef
    strides: tuple[int, ...]
    labels: _Labels

    def by(self, labels: Sequence[str], sizes: dict[str, int]) -> TensorRef:
        """Return the values with a dimension for each of some labels, repeated along those that they do not have."""
        steps = dict(zip(self.labels, self.strides, strict=True))
        own = dict(zip(self.labels, self.values.shape, strict=True))
        strides = [steps.get(label, 0) if own.get(label, 1) == sizes[label] else 0 for label in labels]
        return self.values.view([sizes[label] for label in labels] or [1], strides or [1])


def _einsum(node: Node) -> Counterpart:
    inputs = [node.input(index) for index in range(len(node.inputs))]
    terms, result = _parsed(node.get("equation"), inputs)
    operands = [_without_repeats(values, labels) for values, labels in zip(inputs, terms, strict=True)]
    sizes: dict[str, int] = {}
    for operand in operands:
        for label, size in zip(operand.labels, operand.values.shape, strict=True):
            sizes[label] = max(size, sizes.get(label, 1))
    output = _Operand(node.output(), packed_strides(node.output().shape), result)
    if len(operands) == 1:
        return _of_one(operands[0], output, sizes)
    if len(operands) == 2:
        return _of_two(operands[0], operands[1], output, sizes)
    raise Refused(f"Einsum of {len(operands)} inputs, of which DirectML multiplies two")


def _parsed(equation: str, inputs: Sequence[TensorRef]) -> tuple[list[_Labels], _Labels]:
    """Return the labels of each input and of the output; the dimensions of an ellipsis are numbers, the last is 0."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    letters = [_DOTS.findall(term) for term in left.split(",")]
    terms = [
        _labels(term, values.ndim - sum(label != "..." for label in term))
        for term, values in zip(letters, inputs, strict=True)
    ]
    rank = max((label.isdigit() and int(label) + 1 for term in terms for label in term), default=0)
    if arrow:
        return terms, _labels(_DOTS.findall(right), rank)
    counts = Counter(label for term in letters for label in term if label != "...")
    once = sorted(label for label, count in counts.items() if count == 1)
    return terms, (*_numbers(rank), *once)


def _labels(term: Sequence[str], rank: int) -> _Labels:
    return tuple(label for each in term for label in (_numbers(rank) if each == "..." else [each]))


def _numbers(rank: int) -> list[str]:
    return [str(place) for place in reversed(range(rank))]


def _without_repeats(values: TensorRef, labels: _Labels) -> _Operand:
    """Return an operand with each label once: along one that it has twice lies the diagonal."""
    if len(labels) != values.ndim:
        raise Refused(f"Einsum with {len(labels)} labels for sizes {list(values.shape)}")
    names = tuple(dict.fromkeys(labels))
    sizes = dict(zip(labels, values.shape, strict=True))
    if any(sizes[label] != size for label, size in zip(labels, values.shape, strict=True)):
        raise Refused(f"Einsum with one label for several of the sizes {list(values.shape)}")
    steps: Counter[str] = Counter()
    for label, step in zip(labels, packed_strides(values.shape), strict=True):
        steps[label] += step
    strides = [steps[name] for name in names]
    return _Operand(values.view([sizes[name] for name in names], strides), tuple(strides), names)


def _of_one(x: _Operand, output: _Operand, sizes: dict[str, int]) -> Counterpart:
    """Copy the values in the order of the output, or add them up along what it does not have."""
    summed = [label for label in x.labels if label not in output.labels]
    if not summed:
        tensors = {"InputTensor": x.by(output.labels, sizes), "OutputTensor": output.values}
        return Counterpart("ELEMENT_WISE_IDENTITY", tensors)
    kept = len(output.labels)
    tensors = {
        "InputTensor": x.by([*output.labels, *summed], sizes),
        "OutputTensor": output.values.reshape(*output.values.shape, *(1 for _ in summed)),
    }
    axes = list(range(kept, kept + len(summed)))
    return Counterpart("REDUCE", {"Function": "SUM", **tensors, "Axes": axes})


def _of_two(a: _Operand, b: _Operand, output: _Operand, sizes: dict[str, int]) -> Counterpart:
    """MULTIPLY where nothing is added up, else GEMM of batches."""
    summed = [label for label in sizes if label not in output.labels]
    if not summed:
        views = {f"{side}Tensor": x.by(output.labels, sizes) for side, x in (("A", a), ("B", b))}
        return Counterpart("ELEMENT_WISE_MULTIPLY", {**views, "OutputTensor": output.values})
    if len(summed) > 1 or summed[0] not in a.labels or summed[0] not in b.labels:
        raise Refused("Einsum that adds up other than one dimension of both inputs")
    row = next((label for label in reversed(output.labels) if label not in b.labels), "row")
    column = next((label for label in reversed(output.labels) if label not in a.labels), "column")
    batch = [label for label in output.labels if label not in (row, column)]
    sizes = {"row": 1, "column": 1, **sizes}
    tensors = {
        "ATensor": a.by([*batch, row, *summed], sizes),
        "BTensor": b.by([*batch, *summed, column], sizes),
        "OutputTensor": output.by([*batch, row, column], sizes),
    }
    return Counterpart("GEMM", {**tensors, "TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 0})


OPERATORS: dict[str, Maker] = {"Einsum": _einsum}
