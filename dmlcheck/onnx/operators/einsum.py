"""Einsum as products and sums of DirectML, by ONNX's meaning and as the provider makes it.

The provider's are from DmlOperatorEinSum.cpp, and EinSumHelper in its OperatorHelper.cpp, since ONNX Runtime 1.19.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from dmlcheck.descs.strides import packed_strides
from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, RefusedNode, Unmapped
from dmlcheck.onnx.descs.steps import identity, product, step
from dmlcheck.onnx.operators.row import Row, check_sizes, not_taken

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
    terms, result = _parsed(node.get("equation"), [values.shape for values in inputs])
    operands = [_without_repeats(values, labels) for values, labels in zip(inputs, terms, strict=True)]
    sizes = _broadcast(terms, [values.shape for values in inputs])
    return _in_pairs(operands, _Operand(node.output(), packed_strides(node.output().shape), result), sizes)


def _sizes(given: Mapping[str, Any], _: int, shapes: Sequence[Any]) -> tuple[int, ...]:
    terms, result = _parsed(given["equation"], shapes)
    sizes = _broadcast(terms, shapes)
    return tuple(sizes[label] for label in result)


def _broadcast(terms: Sequence[_Labels], shapes: Sequence[Sequence[int]]) -> dict[str, int]:
    """Return the size of each label, which is repeated where it is 1, as NumPy has it."""
    sizes: dict[str, int] = {}
    for labels, shape in zip(terms, shapes, strict=True):
        for label, size in zip(labels, shape, strict=True):
            sizes[label] = max(size, sizes.get(label, 1))
    return sizes


def _in_pairs(operands: Sequence[_Operand], output: _Operand, sizes: dict[str, int]) -> list[Counterpart]:
    """Return the operators of one or two inputs; of more, after the product of the first two."""
    if len(operands) == 1:
        return _of_one(operands[0], output, sizes)
    first, second, *others = operands
    if not others:
        return _of_two(first, second, output, sizes)
    needed = {*output.labels, *(label for each in others for label in each.labels)}
    kept = tuple(dict.fromkeys(label for label in (*first.labels, *second.labels) if label in needed))
    made = output.values.like([sizes[label] for label in kept])
    pair = _Operand(made, packed_strides(made.shape), kept)
    return [*_of_two(first, second, pair, sizes), *_in_pairs([pair, *others], output, sizes)]


def _parsed(equation: str, shapes: Sequence[Sequence[int]]) -> tuple[list[_Labels], _Labels]:
    """Return the labels of each input and of the output; the dimensions of an ellipsis are numbers, the last is 0."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    letters = [_DOTS.findall(term) for term in left.split(",")]
    terms = [
        _labels(term, len(shape) - sum(label != "..." for label in term))
        for term, shape in zip(letters, shapes, strict=True)
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
    steps = _steps(labels, values)
    strides = [steps[name] for name in names]
    return _Operand(values.view([sizes[name] for name in names], strides), tuple(strides), names)


def _steps(labels: Iterable[str], values: TensorRef) -> Counter[str]:
    """Return the stride of each label in packed values; the diagonal's for one that comes twice."""
    steps: Counter[str] = Counter()
    for label, stride in zip(labels, packed_strides(values.shape), strict=True):
        steps[label] += stride
    return steps


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
    """MULTIPLY where nothing is added up, GEMM of batches where one label of both is, else MULTIPLY and REDUCE."""
    labels = tuple(dict.fromkeys((*a.labels, *b.labels)))
    summed = [label for label in labels if label not in output.labels]
    if not summed:
        views = {f"{side}Tensor": x.by(output.labels, sizes) for side, x in (("A", a), ("B", b))}
        return [Counterpart("ELEMENT_WISE_MULTIPLY", {**views, "OutputTensor": output.values})]
    if len(summed) > 1 or summed[0] not in a.labels or summed[0] not in b.labels:
        made = output.values.like([sizes[label] for label in labels])
        whole = _Operand(made, packed_strides(made.shape), labels)
        return [*_of_two(a, b, whole, sizes), *_of_one(whole, output, sizes)]
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
_MOST_LETTERS = 8  # the dimensions that a tensor of DirectML has
_MOST_OF_PRODUCT = 5  # letters of a GEMM: four dimensions, and the one that is added up


class Equation(NamedTuple):
    """The letters of each input and of the output."""

    inputs: tuple[str, ...]
    output: str

    @property
    def letters(self) -> str:
        """All letters of the inputs, each once, in the order in which they are used."""
        return "".join(dict.fromkeys("".join(self.inputs)))

    @property
    def is_taken(self) -> bool:
        """Whether the provider takes it: of one or two inputs, with as many letters as tensors have dimensions."""
        return len(self.inputs) <= 2 and len(self.letters) <= _MOST_LETTERS

    @property
    def is_product(self) -> bool:
        """Whether it is one GEMM: a letter of both inputs is gone, and no input has a letter twice."""
        gone = set(self.letters) - set(self.output)
        are_plain = all(len(set(term)) == len(term) for term in self.inputs)
        return (
            len(gone) == 1
            and gone <= set.intersection(*map(set, self.inputs))
            and are_plain
            and (len(self.letters) <= _MOST_OF_PRODUCT)
        )


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
    """Whether the provider takes an equation as it is written."""
    equation = equation_of(text)
    return equation is not None and equation.is_taken


def _einsum_of_provider(node: OnnxNode) -> list[Counterpart]:
    """IDENTITY, REDUCE, MULTIPLY, GEMM, or MULTIPLY and REDUCE, of tensors with a dimension for each letter."""
    text = node.get("equation")
    equation = equation_of(text)
    if equation is None or not equation.is_taken or len(equation.inputs) != len(node.inputs):
        raise Unmapped(f"Einsum of the equation {text!r} and {len(node.inputs)} inputs")
    inputs = [node.input(index) for index in range(len(node.inputs))]
    if not set(equation.output) <= set(equation.letters):
        raise Unmapped(f"Einsum of the equation {text!r}, whose output has a letter that no input has")
    if any(x.ndim != len(term) for x, term in zip(inputs, equation.inputs, strict=True)):
        raise Unmapped(f"Einsum of the equation {text!r} and inputs of {[x.ndim for x in inputs]} dimensions")
    sizes = _sizes_of_letters(equation, inputs)
    check_sizes(node, [sizes[letter] for letter in equation.output], "give the output the sizes of its letters")
    if len(inputs) == 2 and equation.is_product:
        return [_product(equation, inputs, node.output(), sizes)]
    views = [_projected(x, term, equation.letters, sizes) for x, term in zip(inputs, equation.inputs, strict=True)]
    output = _projected(node.output(), equation.output, equation.letters, {**sizes, **_gone(equation)})
    if not _gone(equation):
        return _all_of(views, output)
    return _added(views, output, [sizes[letter] for letter in equation.letters])


def _gone(equation: Equation) -> dict[str, int]:
    """Return the letters that the output lacks, each with the size 1."""
    return {letter: 1 for letter in equation.letters if letter not in equation.output}


def _sizes_of_letters(equation: Equation, inputs: Sequence[TensorRef]) -> dict[str, int]:
    """Return the size of each letter; EinSumHelper of OperatorHelper refuses letters of several sizes."""
    sizes: dict[str, int] = {}
    for term, x in zip(equation.inputs, inputs, strict=True):
        for letter, size in zip(term, x.shape, strict=True):
            if sizes.setdefault(letter, size) != size:
                raise RefusedNode(
                    f"the DirectML provider refuses Einsum with the sizes {sizes[letter]} and {size} of {letter}",
                    "expand the inputs to the same sizes",
                )
    return sizes


def _projected(x: TensorRef, term: str, letters: Sequence[str], sizes: Mapping[str, int]) -> TensorRef:
    """Return a tensor with a dimension for each letter: repeated for one that it lacks, diagonal for one twice."""
    steps = _steps(term, x)
    return x.view([sizes.get(letter, 1) for letter in letters] or [1], [steps[letter] for letter in letters] or [1])


def _all_of(views: Sequence[TensorRef], output: TensorRef) -> list[Counterpart]:
    """Return the operator of an equation that adds nothing up."""
    if len(views) == 1:
        return [identity(views[0], output)]
    return [step("ELEMENT_WISE_MULTIPLY", ATensor=views[0], BTensor=views[1], OutputTensor=output)]


def _added(views: Sequence[TensorRef], output: TensorRef, sizes: Sequence[int]) -> list[Counterpart]:
    """Return REDUCE along all dimensions of size 1 of the output, after the product of two inputs."""
    whole = views[0] if len(views) == 1 else views[0].like(sizes)
    axes = [axis for axis, size in enumerate(output.shape) if size == 1]
    first = [] if len(views) == 1 else _all_of(views, whole)
    return [*first, step("REDUCE", Function="SUM", InputTensor=whole, OutputTensor=output, Axes=axes)]


def _product(
    equation: Equation, inputs: Sequence[TensorRef], output: TensorRef, sizes: Mapping[str, int]
) -> Counterpart:
    """Return GEMM of four dimensions, the second factor transposed: rows, columns, and first the letters left over."""
    left, right = equation.inputs
    (gone,) = _gone(equation)
    row = next((letter for letter in equation.letters if letter != gone and letter not in right), "")
    column = next((letter for letter in equation.letters if letter not in (gone, row) and letter not in left), "")
    others = [letter for letter in equation.letters if letter not in (gone, row, column)]
    batch = [*others, *("" for _ in range(2 - len(others)))]
    return product(
        _projected(inputs[0], left, [*batch, row, gone], sizes),
        _projected(inputs[1], right, [*batch, column, gone], sizes),
        _projected(output, equation.output, [*batch, row, column], sizes),
        TransB="TRANSPOSE",
    )


def _query(node: OnnxNode) -> str | None:
    """DmlOperatorEinSum.cpp, QueryEinSum."""
    return None if is_known(node.get("equation")) else not_taken(node, f"of the equation {node.get('equation')!r}")


OPERATORS: dict[str, Row] = {"Einsum": Row(exact=_einsum, provider=_einsum_of_provider, query=_query, sizes=_sizes)}
