"""Nodes of a graph as the patterns of fusions see them."""

from __future__ import annotations

import numpy as np
import pytest

from dmlcheck.onnx.model.fusion_parts import FusionPart, Parts
from dmlcheck.onnx.model.values import CONSTANT, Value, of_numbers

pytest.importorskip("onnx")


def part(place: int, operator: str, inputs: str, output: str) -> FusionPart:
    return FusionPart(operator, tuple(inputs.split()), (output,), {}, (place,))


ROOT, ERF, SUM = part(0, "Div", "x r", "a"), part(1, "Erf", "a", "b"), part(2, "Add", "b one", "c")
VALUES = {
    "r": of_numbers(np.array([1.414], np.float16))._replace(origin=CONSTANT),
    "one": of_numbers(np.array(1.0, np.float32)),
    "wide": of_numbers(np.array([1.0, 1.0])),
    "text": Value(None),
}


def parts(*others: FusionPart, kept: frozenset[str] = frozenset()) -> Parts:
    return Parts([ROOT, ERF, SUM, *others], VALUES, kept)


def test_values_have_makers_and_constants_numbers() -> None:
    index = parts()
    assert index.maker("a", "Mul", "Div") is ROOT
    assert index.maker("a", "Mul") is None
    assert index.maker("x", "Div") is None
    assert list(index.made_inputs(SUM, "Erf")) == [(ERF, "one")]
    assert list(index.made_inputs(ERF, "Div")) == []  # of one input
    assert index.number("one") == 1
    assert (index.number("wide"), index.number("text"), index.number("x")) == (None, None, None)
    assert (index.sizes("wide"), index.sizes("x")) == ((2,), None)
    assert (index.is_constant("r"), index.is_constant("one"), index.is_constant("x")) == (True, False, False)


def test_a_constant_of_float16_is_near_enough() -> None:
    index = parts()
    assert index.other_input(ROOT, 2**0.5) == "x"
    assert index.other_input(ROOT, 1.5) is None
    assert index.other_input(SUM, 1) == "b"
    assert index.other_input(ERF, 1) is None


def test_parts_are_apart_if_nothing_else_reads_what_is_inside() -> None:
    found = (SUM, ERF, ROOT)
    assert parts().are_apart(found)
    assert parts(part(3, "Neg", "c", "d")).are_apart(found)  # what they make in the end
    assert not parts(part(3, "Neg", "b", "d")).are_apart(found)
    assert not parts(kept=frozenset("a")).are_apart(found)
