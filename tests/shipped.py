"""The shipped cases, read once by each process of the tests."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from dmlcheck import load_cases
from dmlcheck.cases.records import Case
from dmlcheck.inspection.selfcheck import example
from dmlcheck.specs.about import load_about

CASES = Path(__file__).parent.parent / "cases"
FOLDERS = sorted(path.name for path in CASES.iterdir())


@cache
def cases_in(folder: str) -> tuple[Case, ...]:
    """Return the cases of a folder, in the order of its files."""
    return tuple(load_cases(CASES / folder))


def cases_of(operator: str) -> tuple[Case, ...]:
    """Return the cases of an operator, given in full or without its prefix."""
    return cases_in(operator.removeprefix("DML_OPERATOR_").lower())


def example_case(operator: str) -> Case:
    """Return the case that is the example of an operator."""
    case = example(load_about(operator), cases_of(operator))
    assert case is not None
    return case


def every_case() -> Iterator[Case]:
    """Yield all shipped cases."""
    for folder in FOLDERS:
        yield from cases_in(folder)
