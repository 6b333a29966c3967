"""The shipped cases: every one passes on the reference, and the tool's own check of itself finds nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from dmlcheck import load_cases, run_cases
from dmlcheck.inspection.selfcheck import check
from dmlcheck.specs.load import load_spec, operator_names

CASES = Path(__file__).parent.parent / "cases"
FOLDERS = sorted(path.name for path in CASES.iterdir())


PLAIN = "a plain desc: nothing to run"


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_case_of_an_operator_passes(folder: str) -> None:
    results = run_cases(load_cases(CASES / folder))
    has_kernel = load_spec("DML_OPERATOR_" + folder.upper()).kernel is not None
    allowed = {PLAIN} if has_kernel else {PLAIN, "no reference kernel yet"}
    wrong = [
        (result.case.id, result.reason, result.diagnostics)
        for result in results
        if result.outcome != "passed" and (result.outcome, result.reason) not in {("skipped", why) for why in allowed}
    ]
    assert wrong == []
    assert len(results) > (30 if has_kernel else 0)


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_reference_meets_expected_values_to_the_last_bit(folder: str) -> None:
    results = run_cases(load_cases(CASES / folder))
    inexact = [
        (result.case.id, name, output.max_ulp)
        for result in results
        for name, output in result.outputs.items()
        if output.max_ulp != 0 and not output.unspecified
    ]
    assert inexact == []


def test_every_operator_has_a_folder_of_cases() -> None:
    assert {"DML_OPERATOR_" + folder.upper() for folder in FOLDERS} == set(operator_names())


def test_every_case_says_where_its_values_come_from() -> None:
    assert [case.id for case in load_cases(CASES) if not case.source] == []


def test_specs_kernels_cases_and_rules_agree() -> None:
    checked = check()
    assert checked.problems == []
    assert "all agree" in checked.summary


def test_every_spec_names_its_page_and_date() -> None:
    pages = {operator: load_spec(operator).page for operator in operator_names()}
    for operator, page in pages.items():
        name = f"ns-directml-dml_{operator.removeprefix('DML_OPERATOR_').lower()}"
        assert page["url"].rpartition("/")[2] in (f"{name}_operator_desc", f"{name}_desc")
    assert all(len(page["date"]) == 10 for page in pages.values())
