"""What the reference engine computes for a case, whatever the case expects."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from judged import answering, giving

from dmlcheck.cases.records import Case
from dmlcheck.implementations import Unsupported
from dmlcheck.reference import engine
from dmlcheck.running.evaluate import evaluate_case

TENSOR = {"DataType": "FLOAT32", "Sizes": [2]}
ADD = {"ATensor": TENSOR, "BTensor": TENSOR, "OutputTensor": TENSOR}
ONE = Case("f::one", "one", "f", "ELEMENT_WISE_ADD", None, ADD, {"ATensor": [1, 2], "BTensor": [3, 4]})


@pytest.mark.parametrize("outputs", [None, {"OutputTensor": [0, 0]}, {"OutputTensor": "wrong"}])
def test_a_case_is_computed_whatever_it_expects(outputs: Any) -> None:
    evaluated = evaluate_case(ONE._replace(outputs=outputs))
    ((name, (values, data_type)),) = evaluated.outputs.items()
    assert (evaluated.name, name, values.tolist(), data_type) == ("one", "OutputTensor", [4, 6], "FLOAT32")
    assert (evaluated.remark, evaluated.diagnostics) == (None, ())


def test_what_the_documentation_leaves_open_is_marked() -> None:
    desc = {name: {**TENSOR, "DataType": "INT32"} for name in ADD}
    divided = ONE._replace(operator="ELEMENT_WISE_DIVIDE", desc=desc)
    evaluated = evaluate_case(divided._replace(inputs={"ATensor": [15, 2], "BTensor": [3, 0]}))
    assert evaluated.outputs["OutputTensor"][0].tolist()[0] == 5
    assert {name: mask.tolist() for name, mask in evaluated.undefined.items()} == {"OutputTensor": [False, True]}
    assert evaluate_case(ONE).undefined == {}


def test_what_was_measured_has_its_value() -> None:
    evaluated = evaluate_case(
        ONE._replace(operator="ELEMENT_WISE_MAX", inputs={"ATensor": [5, 2], "BTensor": [3, "nan"]})
    )
    assert (evaluated.outputs["OutputTensor"][0].tolist(), evaluated.undefined) == ([5, 2], {})


def test_a_negative_case_has_nothing_to_compute() -> None:
    assert evaluate_case(ONE._replace(invalid=())).remark == "a negative case: nothing to compute"


@pytest.mark.parametrize(
    ("fields", "rules"),
    [
        ({"desc": {**ADD, "BTensor": {"DataType": "FLOAT16", "Sizes": [2]}}}, ["data-type-mismatch"]),
        ({"inputs": {"ATensor": [1]}}, ["element-count", "missing-tensor"]),
        ({"inputs": None}, ["missing-tensor", "missing-tensor"]),
    ],
)
def test_what_is_wrong_with_a_case_is_told(fields: dict[str, Any], rules: list[str]) -> None:
    evaluated = evaluate_case(ONE._replace(**fields))
    assert ([found.rule for found in evaluated.diagnostics], evaluated.outputs) == (rules, {})


def test_memory_that_ends_is_told_with_the_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "evaluate", Mock(side_effect=MemoryError))
    (found,) = evaluate_case(ONE).diagnostics
    assert (found.rule, "ATensor FLOAT32 {2}" in found.message) == ("tensor-too-large", True)


def test_another_implementation_may_compute_a_case() -> None:
    evaluated = evaluate_case(ONE, giving([7, 8]))
    assert evaluated.outputs["OutputTensor"][0].tolist() == [7, 8]
    assert evaluated.undefined == {}


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


@pytest.mark.parametrize("implementation", [answering(None, "no ADD"), answering(Unsupported("no ADD"))])
def test_what_an_implementation_cannot_run_is_remarked(implementation: Any) -> None:
    evaluated = evaluate_case(ONE, implementation)
    assert (evaluated.remark, evaluated.outputs) == ("unsupported-by-implementation: no ADD", {})


def test_a_case_that_lists_nothing_wrong_and_has_outputs_is_computed() -> None:
    evaluated = evaluate_case(ONE._replace(invalid=(), outputs={"OutputTensor": [1, 2]}))
    assert evaluated.outputs["OutputTensor"][0].tolist() == [4, 6]
