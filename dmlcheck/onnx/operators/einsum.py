"""Einsum: the equations that one operator of DirectML computes, and the equations that the provider takes.

The provider's are from DmlOperatorEinSum.cpp, and EinSumHelper in its OperatorHelper.cpp; others it leaves to the CPU.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from dmlcheck.descs.strides import packed_strides
from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, Unmapped
from dmlcheck.onnx.descs.tensors import permuted, ranked, repeated
from dmlcheck.onnx.operators.row import Row, not_taken

# ---- as one operator computes it: a copy, a sum, a product of elements or of matrices, by strides

_Labels = tuple[str, ...]
_DOTS = re.compile(r"\.\.\.|[A-Za-z]")


class _Operand(NamedTuple):
    """Values with a label for each dimension, and the strides of the buffer that they lie in."""

    values: TensorRef
    strides: tuple[int, ...]
    labels: _Labels

    def by(self, labels: Sequence[str], sizes: dict[str, int]) -> TensorRef:
        """Return the values with a dimension for each of some labels, repeated along dimensions that they lack."""
        steps = dict(zip(self.labels, self.strides, strict=True))
        own = dict(zip(self.labels, self.values.shape, strict=True))
        strides = [steps.get(label, 0) if own.get(label, 1) == sizes[label] else 0 for label in labels]
        return self.values.view([sizes[label] for label in labels] or [1], strides or [1])


def _einsum(node: OnnxNode) -> list[Counterpart]:
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
    raise Unmapped(f"Einsum of {len(operands)} inputs, of which DirectML multiplies two")


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
    """Return an operand with each label once; a label that comes twice is replaced by the diagonal."""
    if len(labels) != values.ndim:
        raise Unmapped(f"Einsum with {len(labels)} labels for sizes {list(values.shape)}")
    names = tuple(dict.fromkeys(labels))
    sizes = dict(zip(labels, values.shape, strict=True))
    if any(sizes[label] != size for label, size in zip(labels, values.shape, strict=True)):
        raise Unmapped(f"Einsum with one label for several of the sizes {list(values.shape)}")
    steps: Counter[str] = Counter()
    for label, step in zip(labels, packed_strides(values.shape), strict=True):
        steps[label] += step
    strides = [steps[name] for name in names]
    return _Operand(values.view([sizes[name] for name in names], strides), tuple(strides), names)


def _of_one(x: _Operand, output: _Operand, sizes: dict[str, int]) -> list[Counterpart]:
    """Copy the values in the order of the output, or add them up along labels that it lacks."""
    summed = [label for label in x.labels if label not in output.labels]
    if not summed:
        tensors = {"InputTensor": x.by(output.labels, sizes), "OutputTensor": output.values}
        return [Counterpart("ELEMENT_WISE_IDENTITY", tensors)]
    kept = len(output.labels)
    tensors = {
        "InputTensor": x.by([*output.labels, *summed], sizes),
        "OutputTensor": output.values.reshape(*output.values.shape, *(1 for _ in summed)),
    }
    axes = list(range(kept, kept + len(summed)))
    return [Counterpart("REDUCE", {"Function": "SUM", **tensors, "Axes": axes})]


def _of_two(a: _Operand, b: _Operand, output: _Operand, sizes: dict[str, int]) -> list[Counterpart]:
    """MULTIPLY where nothing is added up, else GEMM of batches."""
    summed = [label for label in sizes if label not in output.labels]
    if not summed:
        views = {f"{side}Tensor": x.by(output.labels, sizes) for side, x in (("A", a), ("B", b))}
        return [Counterpart("ELEMENT_WISE_MULTIPLY", {**views, "OutputTensor": output.values})]
    if len(summed) > 1 or summed[0] not in a.labels or summed[0] not in b.labels:
        raise Unmapped("Einsum that adds up other than one dimension of both inputs")
    row = next((label for label in reversed(output.labels) if label not in b.labels), "row")
    column = next((label for label in reversed(output.labels) if label not in a.labels), "column")
    batch = [label for label in output.labels if label not in (row, column)]
    sizes = {"row": 1, "column": 1, **sizes}
    tensors = {
        "ATensor": a.by([*batch, row, *summed], sizes),
        "BTensor": b.by([*batch, *summed, column], sizes),
        "OutputTensor": output.by([*batch, row, column], sizes),
    }
    return [Counterpart("GEMM", {**tensors, "TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 0})]


# ---- as the provider makes it

_TERM = re.compile(r"[A-Za-z]*")
_HEADS_SECOND = (0, 2, 1, 3)  # the axes of a product whose heads lie between rows and columns
# Products by their equations, with letters in the order of first use: the factors that are transposed.
_PRODUCTS = {
    "ab,bc->ac": "",
    "abc,acd->abd": "",
    "abcd,abde->abce": "",
    "ab,ac->bc": "A",
    "abc,abd->acd": "A",
    "abcd,abce->abde": "A",
    "ab,cb->ac": "B",
    "abc,adc->abd": "B",
    "abcd,abed->abce": "B",
    "a,a->": "B",
    "abcd,adce->abce": "heads",
    "abcd,abce->adce": "heads A",
    "abcd,aecd->abce": "heads B",
}
_OUTER = "a,b->ab"
_SUMS = ("ab->a", "ab->b")


class Equation(NamedTuple):
    """The letters of each input and of the output."""

    inputs: tuple[str, ...]
    output: str

    @property
    def plain(self) -> str:
        """The equation with its letters renamed in the order in which they are used."""
        names: dict[str, str] = {}
        text = f"{','.join(self.inputs)}->{self.output}"
        return "".join(names.setdefault(one, chr(97 + len(names))) if one.isalpha() else one for one in text)


def equation_of(text: Any) -> Equation | None:
    """Return an equation; without an output, that is the letters that occur once. None for dots and other signs."""
    if not isinstance(text, str):
        return None
    left, arrow, right = text.replace(" ", "").partition("->")
    inputs = tuple(left.split(","))
    if not all(map(_TERM.fullmatch, (*inputs, right))):
        return None
    letters = "".join(inputs)
    return Equation(inputs, right if arrow else "".join(sorted(one for one in letters if letters.count(one) == 1)))


def is_known(text: Any) -> bool:
    """Whether the provider takes an equation."""
    equation = equation_of(text)
    return equation is not None and _maker(equation) is not None


def _maker(equation: Equation) -> Any:
    """Return the maker of an equation's desc, or None if the provider has none."""
    if len(equation.inputs) == 1:
        (term,) = equation.inputs
        if len(term) == len(equation.output):
            return _copy
        return _sum if not equation.output or equation.plain in _SUMS else None
    if equation.inputs == (equation.output,) * 2:
        return _multiply
    if equation.plain == _OUTER:
        return _outer
    return _product if equation.plain in _PRODUCTS else None


def _einsum_of_provider(node: OnnxNode) -> list[Counterpart]:
    text = node.get("equation")
    equation = equation_of(text)
    make = None if equation is None else _maker(equation)
    if equation is None or make is None or len(equation.inputs) != len(node.inputs):
        raise Unmapped(f"Einsum of the equation {text!r} and {len(node.inputs)} inputs")
    inputs = [node.input(index) for index in range(len(node.inputs))]
    if any(len(set(term)) < len(term) for term in equation.inputs):
        raise Unmapped(f"Einsum of the equation {text!r}, which has a letter twice in one input")
    if not set(equation.output) <= set("".join(equation.inputs)):
        raise Unmapped(f"Einsum of the equation {text!r}, whose output has a letter that no input has")
    if any(x.ndim != len(term) for x, term in zip(inputs, equation.inputs, strict=True)):
        raise Unmapped(f"Einsum of the equation {text!r} and inputs of {[x.ndim for x in inputs]} dimensions")
    made: Counterpart = make(equation, inputs, node.output())
    return [made]


def _copy(equation: Equation, inputs: list[TensorRef], output: TensorRef) -> Counterpart:
    """Return the IDENTITY that reads through strides; in the order that it is in, with four dimensions."""
    order = [equation.inputs[0].index(letter) for letter in equation.output]
    tensors = {"InputTensor": permuted(inputs[0], order), "OutputTensor": output}
    return Counterpart("ELEMENT_WISE_IDENTITY", tensors, least=4 if order == sorted(order) else 1)


def _sum(equation: Equation, inputs: list[TensorRef], output: TensorRef) -> Counterpart:
    """REDUCE, whose output has the dimensions of the input."""
    (x,), (term,) = inputs, equation.inputs
    axes = [axis for axis, letter in enumerate(term) if letter not in equation.output]
    kept = output.reshape([1 if axis in axes else size for axis, size in enumerate(x.shape)])
    return Counterpart("REDUCE", {"Function": "SUM", "InputTensor": x, "OutputTensor": kept, "Axes": axes})


def _multiply(_: Equation, inputs: list[TensorRef], output: TensorRef) -> Counterpart:
    tensors = {f"{name}Tensor": repeated(x, output.shape) for name, x in zip("AB", inputs, strict=True)}
    return Counterpart("ELEMENT_WISE_MULTIPLY", {**tensors, "OutputTensor": output})


def _outer(_: Equation, inputs: list[TensorRef], output: TensorRef) -> Counterpart:
    return _gemm(inputs[0].reshape(1, 1, -1, 1), inputs[1].reshape(1, 1, 1, -1), ranked(output, 4), "")


def _product(equation: Equation, inputs: list[TensorRef], output: TensorRef) -> Counterpart:
    """GEMM, of vectors as rows; where heads lie between rows and columns, of tensors that are read through strides.

    The output has no strides then: if there are several heads, its elements have another order than ONNX's.
    """
    kind = _PRODUCTS[equation.plain]
    if "heads" in kind:
        a, b = (permuted(x, _HEADS_SECOND) for x in inputs)
        return _gemm(a, b, output.view([output.shape[axis] for axis in _HEADS_SECOND]), kind)
    rank = max(2, inputs[0].ndim)
    a, b = (ranked(x, rank) for x in inputs)
    return _gemm(a, b, ranked(output, rank), kind)


def _gemm(a: TensorRef, b: TensorRef, output: TensorRef, transposed: str) -> Counterpart:
    sides = {f"Trans{side}": "TRANSPOSE" if side in transposed else "NONE" for side in "AB"}
    return Counterpart("GEMM", {"ATensor": a, "BTensor": b, "OutputTensor": output, **sides, "Alpha": 1, "Beta": 0})


def _query(node: OnnxNode) -> str | None:
    """DmlOperatorEinSum.cpp, QueryEinSum."""
    return None if is_known(node.get("equation")) else not_taken(node, f"of the equation {node.get('equation')!r}")


OPERATORS: dict[str, Row] = {"Einsum": Row(exact=_einsum, provider=_einsum_of_provider, query=_query)}
