"""Operators whose tolerances depend on what their formulas have: those whose kernels compute it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dmlcheck import load_cases
from dmlcheck.reference import engine
from dmlcheck.reference.ball.operators import OF_PRODUCTS, WITH_VARIANCE
from dmlcheck.reference.functions import sums
from dmlcheck.reference.kernels import normalization
from dmlcheck.specs.load import load_spec


def test_they_are_operators() -> None:
    for name in OF_PRODUCTS | WITH_VARIANCE:
        assert load_spec(f"DML_OPERATOR_{name}").short == name


def test_the_operators_with_a_variance_are_those_whose_kernels_compute_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: set[str] = set()
    variance, name = sums.variance, [""]

    def noted(*args: Any) -> Any:
        asked.add(name[0])
        return variance(*args)

    monkeypatch.setattr(sums, "variance", noted)
    for operator in (row for row in normalization.KERNELS):
        name[0] = operator
        for case in load_cases(f"cases/{operator.lower()}"):
            if case.inputs and case.invalid is None:
                engine_of(case)
    assert asked == WITH_VARIANCE


def engine_of(case: Any) -> None:
    from dmlcheck.cases.prepare import prepare

    prepared = prepare(case, case.level)
    if prepared.desc is not None:
        with np.errstate(all="ignore"):
            engine.run(prepared.desc, prepared.inputs)
