"""What the reference engine computes for a case, whatever the case expects."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from judged import answering

from dmlcheck.cases.records import Case
from dmlcheck.reference import engine
from dmlcheck.running.evaluate import evaluate_case

TENSOR = {"DataType": "FLOAT32", "Sizes": [2]}
ADD = {"ATensor": TENSOR, "BTensor": TENSOR, "OutputTensor": TENSOR}
ONE = Case("f::one", "one", "f", "ELEMENT_WISE_ADD", None, ADD, {"ATensor": [1, 2], "BTensor": [3, 4]})


def test_memory_that_ends_is_told_with_the_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "evaluate", Mock(side_effect=MemoryError))
    (found,) = evaluate_case(ONE).diagnostics
    assert (found.rule, "ATensor FLOAT32 {2}" in found.message) == ("tensor-too-large", True)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ({"OutputTensor": np.array([7.0, 8.0])}, "returned float64 {2} for OutputTensor instead of float32 {2}"),
        (
            {"OutputTensor": np.array([7], dtype=np.float32)},
            "returned float32 {1} for OutputTensor instead of float32 {2}",
        ),
        ({"OutputTensor": [7, 8]}, "returned list for OutputTensor instead of an array"),
        (ZeroDivisionError("no"), "raised ZeroDivisionError: no"),
    ],
)
def test_an_implementation_that_fails_is_told_as_wrong(answer: Any, problem: str) -> None:
    evaluated = evaluate_case(ONE, answering(answer))
    assert [(found.rule, found.message) for found in evaluated.diagnostics] == [
        ("implementation-error", f"fake {problem}")
    ]
    assert evaluated.outputs == {}


def test_a_case_that_lists_nothing_wrong_and_has_outputs_is_computed() -> None:
    evaluated = evaluate_case(ONE._replace(invalid=(), outputs={"OutputTensor": [1, 2]}))
    assert evaluated.outputs["OutputTensor"][0].tolist() == [4, 6]
