"""Whether bundled cases leave nothing of a spec out: what is planted is found."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import dmlcheck
from dmlcheck.cases.records import Case
from dmlcheck.inspection.coverage import case_problems
from dmlcheck.specs.load import data_folder, load_spec
from dmlcheck.specs.records import Tolerance

SPEC = load_spec("DML_OPERATOR_ARGMAX")
CASES = dmlcheck.load_cases(f"{data_folder('cases')}/argmax")
NEGATIVE = next(case for case in CASES if case.invalid is not None)
POSITIVE = next(case for case in CASES if case.outputs is not None)
OWN = Tolerance(ulp=2.0)


def problems(cases: list[Case]) -> list[str]:
    return list(case_problems(SPEC, cases))


def test_the_shipped_cases_have_nothing_wrong() -> None:
    assert problems(CASES) == []


@pytest.mark.parametrize(
    ("case", "words"),
    [
        (POSITIVE._replace(operator="ARGMIN"), "is a case of ARGMIN"),
        (POSITIVE._replace(source=None), "has no source"),
        (POSITIVE._replace(tolerance=OWN), "has its own tolerance and no reason for it"),
        (POSITIVE._replace(desc={}), "is not valid: missing-field: "),
    ],
)
def test_what_is_wrong_with_a_case_is_found(case: Case, words: str) -> None:
    assert any(problem.startswith(case.id) and words in problem for problem in problems([*CASES, case]))


def test_no_source_of_a_case_names_a_release_before_the_operator() -> None:
    case = POSITIVE._replace(source="measured: releases 1.4.0 to 1.15.4, 2026-11-29")
    wrong = f"{case.id} names DirectML 1.4.0, which does not have the operator"
    assert wrong not in problems([case])
    assert wrong in list(case_problems(SPEC._replace(introduced="3_1"), [case]))


@pytest.mark.parametrize(
    "fields",
    [
        {"tolerance": OWN._replace(reason="measured")},
        {"tolerance": OWN, "note": "measured"},
        {"tolerance": Tolerance(exact=True)},
    ],
)
def test_a_tolerance_of_its_own_needs_a_reason_or_a_source_for_what_is_exact(fields: dict[str, object]) -> None:
    assert problems([*CASES, POSITIVE._replace(**fields)]) == []


@pytest.mark.parametrize(
    ("is_kept", "words"),
    [
        (lambda case: "ARGMAX/C1" not in (case.invalid or ()), "no case breaks C1"),
        (lambda case: case.invalid is None, "no case is rejected for the operator at 2_1"),
        (lambda case: case.invalid is not None, "no case is accepted in table 1 from 4_1"),
        (lambda case: case.outputs is None, "no case with outputs has "),
        (lambda case: not case.is_without_results, "no case has inputs without outputs"),
        (lambda case: "example" not in (case.source or ""), "no case has the page's example"),
    ],
)
def test_what_no_case_is_about_is_found(is_kept: Callable[[Case], bool], words: str) -> None:
    found = problems([case for case in CASES if is_kept(case)])
    assert any(problem.startswith(words) for problem in found), found
