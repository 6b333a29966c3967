"""Einsum, by the equations that ONNX Runtime's DirectML provider knows; others it leaves to the CPU.

From DmlOperatorEinSum.cpp of the provider, and EinSumHelper in its OperatorHelper.cpp.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, Makers, Node, Refused
from dmlcheck.onnx.descs.tensors import permuted, ranked, repeated

_TERM = re.compile(r"[A-Za-z]*")
_HEADS_SECOND = (0, 2, 1, 3)  # the axes of a product whose heads lie between rows and columns
# Products by their equations, each letter the next one of the alphabet where it is first used: what is transposed.
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
    """The letters of each input, and those of the output."""

    inputs: tuple[str, ...]
    output: str

    @property
    def plain(self) -> str:
        """The equation with its letters renamed in the order in which they are used."""
        names: dict[str, str] = {}
        text = f"{','.join(self.inputs)}->{self.output}"
        return "".join(names.setdefault(one, chr(97 + len(names))) if one.isalpha() else one for one in text)


def read(text: Any) -> Equation | None:
    """Return an equation, its output the letters that occur once where none is given; None for dots and other signs."""
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
    equation = read(text)
    return equation is not None and _maker(equation) is not None


def _maker(equation: Equation) -> Any:
    """Return what makes the desc of an equation, None where the provider has none."""
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


def _einsum(node: Node) -> list[Counterpart]:
    text = node.get("equation")
    equation = read(text)
    make = None if equation is None else _maker(equation)
    if equation is None or make is None or len(equation.inputs) != len(node.inputs):
        raise Refused(f"Einsum of the equation {text!r} and {len(node.inputs)} inputs")
    inputs = [node.input(index) for index in range(len(node.inputs))]
    if any(len(set(term)) < len(term) for term in equation.inputs):
        raise Refused(f"Einsum of the equation {text!r}, which has a letter twice in one input")
    if not set(equation.output) <= set("".join(equation.inputs)):
        raise Refused(f"Einsum of the equation {text!r}, whose output has a letter that no input has")
    if any(x.ndim != len(term) for x, term in zip(inputs, equation.inputs, strict=True)):
        raise Refused(f"Einsum of the equation {text!r} and inputs of {[x.ndim for x in inputs]} dimensions")
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
    """GEMM, of vectors as rows; where heads lie between rows and columns, of tensors that are read through strides."""
    kind = _PRODUCTS[equation.plain]
    if "heads" in kind:
        a, b = (permuted(x, _HEADS_SECOND) for x in inputs)
        return _gemm(a, b, output.transpose(_HEADS_SECOND), kind)
    rank = max(2, inputs[0].ndim)
    a, b = (ranked(x, rank) for x in inputs)
    return _gemm(a, b, ranked(output, rank), kind)


def _gemm(a: TensorRef, b: TensorRef, output: TensorRef, transposed: str) -> Counterpart:
    sides = {f"Trans{side}": "TRANSPOSE" if side in transposed else "NONE" for side in "AB"}
    return Counterpart("GEMM", {"ATensor": a, "BTensor": b, "OutputTensor": output, **sides, "Alpha": 1, "Beta": 0})


SEVERAL: dict[str, Makers] = {"Einsum": _einsum}
