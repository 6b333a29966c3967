"""Answers: what tells one way to fail from another."""

from __future__ import annotations

from typing import Any

import pytest

from dmlcheck.cases.records import Case
from dmlcheck.comparison.records import Element, OutputResult
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.fuzzing.answers import FailureKind, answer_of
from dmlcheck.running.results import ERRORED, FAILED, CaseResult

NAN, INF = float("nan"), float("inf")
CASE = Case("x", "x", "x", "DML_OPERATOR_GEMM", None, {})


def result(rule: str, message: str, *elements: tuple[Any, Any], outcome: str = FAILED, **more: Any) -> CaseResult:
    found = tuple(Element((0,), expected, actual, 1.0, None) for expected, actual in elements)
    outputs = {"OutputTensor": OutputResult(4, mismatches=len(found), first=found, shape=more.pop("shape", None))}
    return CaseResult(CASE, outcome, "why", (Diagnostic(rule, message, **more),), outputs)


@pytest.mark.parametrize(
    ("elements", "kind"),
    [
        ([(1.0, 2.0)], "value"),
        ([(1.0, NAN)], "nan"),
        ([(NAN, 1.0)], "nan"),
        ([(1.0, INF)], "infinity"),
        ([(0.0, -0.0)], "sign of zero"),
        ([(1.0, NAN), (1.0, 2.0)], "value"),
        ([(7, 9)], "value"),
    ],
)
def test_the_kind_of_a_difference_is_that_of_values_if_there_are_any(elements: Any, kind: str) -> None:
    answer = answer_of(result("output-mismatch", "OutputTensor FLOAT32 {4}: 1 of 4", *elements))
    assert answer.difference == FailureKind("output-mismatch", "OutputTensor", kind)


def test_a_wrong_shape_is_a_kind_of_its_own() -> None:
    answer = answer_of(result("output-mismatch", "OutputTensor has 3 elements", shape="3 elements"))
    assert answer.difference == FailureKind("output-mismatch", "OutputTensor", "shape")


def test_an_error_is_told_by_its_first_words_without_numbers() -> None:
    first, second, other = (
        answer_of(result("implementation-error", f"engine raised ValueError: {text}", outcome=ERRORED))
        for text in ("axis 3 of 7\nmore", "axis 12 of 1.5e-3", "rank 3")
    )
    assert first.difference == second.difference
    assert first.difference != other.difference


def test_the_cause_of_a_fault_counts_without_numbers() -> None:
    given = [
        answer_of(result("output-mismatch", "OutputTensor", (1.0, 2.0), help=f"likely cause: {text}"))
        for text in ("strides ignored after 12", "strides ignored after 7", "TF32 inputs")
    ]
    assert given[0].cause == "strides ignored after 12"
    assert given[0].fault == given[1].fault
    assert given[0].fault != given[2].fault
