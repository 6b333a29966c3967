"""The rows of the kernels' tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dmlcheck import load_cases
from dmlcheck.cases.prepare import prepare
from dmlcheck.reference import engine
from dmlcheck.reference.bindings import row
from dmlcheck.reference.functions import sums
from dmlcheck.reference.kernels import normalization
from dmlcheck.reference.rows import (
    ELEMENTS,
    EVERYTHING,
    VARIANCE,
    Groups,
    Kernel,
    along,
    elementwise,
    exact,
    exact_row,
    shared_by,
)
from dmlcheck.specs.load import operator_names


def test_a_row_says_how_its_formula_is_run() -> None:
    made = elementwise(np.sqrt, overflow="narrow")
    assert (made.function, made.tiles, made.rounds_nothing({}), made.overflow) == (np.sqrt, ELEMENTS, False, "narrow")
    made = exact(np.abs, integers=np.negative)
    assert (made.tiles, made.rounds_nothing({}), made.integers) == (ELEMENTS, True, np.negative)
    made = exact_row(np.sort, Groups())
    assert (made.tiles, made.rounds_nothing({})) == (Groups(), True)


def test_what_a_formula_rounds_may_depend_on_what_it_gets() -> None:
    made = Kernel(np.sort, Groups(), lambda given: given["function"] == "MAX")
    assert [made.rounds_nothing({"function": name}) for name in ("MAX", "SUM")] == [True, False]


def test_groups_are_along_the_axes_that_a_field_names_or_the_same_whatever_the_desc() -> None:
    given = {"input": np.zeros((2, 3, 4)), "axes": [2, 0], "scale": np.zeros((1, 3, 1))}
    declared = (Groups(), along(-1), along(1, 2), EVERYTHING, shared_by("scale"))
    assert [tiles.axes(given) for tiles in declared] == [(2, 0), (2,), (1, 2), (0, 1, 2), (0, 2)]


@pytest.mark.slow
def test_the_operators_with_a_variance_are_those_whose_kernels_compute_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: set[str] = set()
    variance, name = sums.variance, [""]

    def noted(*args: Any) -> Any:
        asked.add(name[0])
        return variance(*args)

    monkeypatch.setattr(sums, "variance", noted)
    for operator in normalization.KERNELS:
        name[0] = operator
        for case in load_cases(f"cases/{operator.lower()}"):
            if case.inputs and case.invalid is None:
                run(case)
    rows = {operator: row(operator).kernel for operator in operator_names()}
    assert {f"DML_OPERATOR_{operator}" for operator in asked} == {
        operator for operator, kernel in rows.items() if kernel.sums == VARIANCE
    }


def run(case: Any) -> None:
    prepared = prepare(case)
    if prepared.desc is not None:
        with np.errstate(all="ignore"):
            engine.run(prepared.desc, prepared.inputs)
