"""What the kernels say of themselves is what they compute."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from shipped import cases_of

from dmlcheck.cases.prepare import prepare
from dmlcheck.cases.records import Case
from dmlcheck.inspection.operator_pages import formula_texts, is_computed, rounding_limits, rounding_texts
from dmlcheck.reference.ball import elementwise
from dmlcheck.reference.ball.roundings import ROUNDINGS
from dmlcheck.reference.bounds import bounds
from dmlcheck.reference.functions.nested import Nested
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.records import OUTPUT

KERNELS = [name for name in operator_names() if load_spec(name).kernel]
PLAIN = {"add", "subtract", "multiply", "square"}


def named(operator: str, data_type: str = "FLOAT32") -> dict[str, str]:
    return dict(rounding_texts(f"DML_OPERATOR_{operator}", data_type))


@pytest.mark.parametrize(
    ("operator", "texts"),
    [
        ("ACTIVATION_SOFTSIGN", ["x / (1 + |x|)."]),
        (
            "SPACE_TO_DEPTH",
            [
                (
                    "Output[n, (row * BlockSize + column) * C + c, y, x] = "
                    "Input[n, c, y * BlockSize + row, x * BlockSize + column]."
                ),
                (
                    "C is the number of channels of InputTensor. With COLUMN_ROW_DEPTH the channel is "
                    "(c * BlockSize + row) * BlockSize + column."
                ),
            ],
        ),
        ("ELEMENT_WISE_EXP", []),  # a function of NumPy
        ("ELEMENT_WISE_ERF", []),  # one that NumPy has not
        ("ELEMENT_WISE_MODULUS_FLOOR", []),
    ],
)
def test_the_formula_is_told_in_the_words_of_the_kernel(operator: str, texts: list[str]) -> None:
    assert formula_texts(f"DML_OPERATOR_{operator}") == texts


def test_a_formula_is_one_line_and_what_follows_has_no_lines() -> None:
    texts = [formula_texts(operator) for operator in KERNELS]
    formulas, all_lines = [text for found in texts for text in found[:1]], [text for found in texts for text in found]
    assert [text for text in formulas if len(text) > 200] == []
    assert [text for text in all_lines if not re.fullmatch(r"\S[^\n]*\.", text)] == []


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        ("ELEMENT_WISE_ABS", False),
        ("ELEMENT_WISE_EXP", True),
        ("ELEMENT_WISE_QUANTIZE_LINEAR", True),
        ("ACTIVATION_RELU", False),
        ("ACTIVATION_HARDMAX", False),
        ("ACTIVATION_HARDMAX1", False),
        ("ARGMAX", False),
        ("ARGMIN", False),
        ("REDUCE", True),
    ],
)
def test_what_only_chooses_elements_computes_nothing(operator: str, expected: bool) -> None:
    assert is_computed(f"DML_OPERATOR_{operator}") is expected


@pytest.mark.parametrize(
    ("operator", "functions"),
    [
        ("ELEMENT_WISE_ADD", set()),
        ("ELEMENT_WISE_EXP", {"exp"}),
        ("ELEMENT_WISE_ERF", {"erf"}),
        ("ELEMENT_WISE_DIVIDE", {"divide"}),
        ("ELEMENT_WISE_MODULUS_TRUNCATE", {"divide", "fmod"}),
        ("ACTIVATION_SOFTSIGN", {"divide"}),
        ("ACTIVATION_SIGMOID", {"divide", "exp"}),
        ("ACTIVATION_SWISH", {"divide", "exp"}),
        ("ACTIVATION_LOG_SOFTMAX", {"exp", "log1p"}),
        ("REDUCE", {"divide", "exp", "log", "log1p", "sqrt"}),
    ],
)
def test_the_functions_in_a_formula_are_named(operator: str, functions: set[str]) -> None:
    assert named(operator).keys() == functions


def test_a_function_is_named_with_its_rounding_in_the_type_and_the_source() -> None:
    (exp,) = named("ELEMENT_WISE_EXP").values()
    assert exp.startswith("4 ULP, and 1 ULP of the operand (HLSL, exp (sm4 - asm): ")
    (exp,) = named("ELEMENT_WISE_EXP", "FLOAT16").values()
    assert exp.startswith("1 ULP, and 2 ULP of the operand (WGSL, ")
    assert named("ACTIVATION_ELU") == {"expm1": "as exp(x) - 1: HLSL has no other way"}
    assert rounding_limits("DML_OPERATOR_ACTIVATION_ELU") == [("expm1", [("", "as exp(x) - 1: HLSL has no other way")])]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Gather the names of the functions whose roundings are asked for, but those inside the formula of another."""
    found: set[str] = set()
    depth = [0]
    rounding, formula = elementwise.rounding, elementwise._of_a_formula

    def noted(name: str, data_type: str, **given: Any) -> Any:
        if not depth[0]:
            found.add(name)
        return rounding(name, data_type, **given)

    def inside(*args: Any) -> Any:
        depth[0] += 1
        try:
            return formula(*args)
        finally:
            depth[0] -= 1

    def deeper(function: Callable[..., Any]) -> Callable[..., Any]:
        def noting(*args: Any) -> Any:
            depth[0] += 1
            try:
                return function(*args)
            finally:
                depth[0] -= 1

        return noting

    monkeypatch.setattr(elementwise, "rounding", noted)
    monkeypatch.setattr(elementwise, "_of_a_formula", inside)
    monkeypatch.setattr(Nested, "_of_numbers", deeper(Nested._of_numbers))  # whose functions are on their own pages
    return found


def form_of(value: Any) -> Any:
    """Return what a desc gives but for sizes and other lists, on which no function depends."""
    if isinstance(value, dict):
        return tuple((name, form_of(part)) for name, part in sorted(value.items()))
    return type(value) if isinstance(value, list) else value


def of_each_form(operator: str) -> Iterator[Case]:
    """Yield the first case with inputs of each form of a desc."""
    seen = set()
    for case in cases_of(operator):
        if case.inputs is None or case.invalid is not None or form_of(case.desc) in seen:
            continue
        seen.add(form_of(case.desc))
        yield case


@pytest.mark.slow
@pytest.mark.parametrize("operator", KERNELS)
def test_the_functions_that_are_computed_with_are_named_and_no_others(operator: str, asked: set[str]) -> None:
    for case in of_each_form(operator):
        prepared = prepare(case)
        desc = prepared.desc
        assert desc is not None
        if prepared.findings or sum(part.tensor.element_count for part in desc.tensors()) > 10_000:
            continue
        every = {part.label: np.ones(part.tensor.sizes, bool) for part in desc.tensors(OUTPUT)}
        assert list(bounds(desc, prepared.inputs, every))
    assert (asked - PLAIN) & ROUNDINGS.keys() == set(load_spec(operator).functions)
