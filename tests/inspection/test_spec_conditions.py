"""Conditions of specs that no desc can meet are found, and none is in the shipped specs."""

from __future__ import annotations

from typing import Any

import pytest

from dmlcheck.inspection.spec_conditions import condition_problems, row_problems, unreached
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.records import Constraint

REDUCE = load_spec("DML_OPERATOR_REDUCE")  # INT64 from 4_1 on, INT32 as the indices of ARGMAX from 3_0 on
JOIN = load_spec("DML_OPERATOR_JOIN")
CONVOLUTION = load_spec("DML_OPERATOR_CONVOLUTION")
AVERAGE_POOLING = load_spec("DML_OPERATOR_AVERAGE_POOLING")


def row(**fields: Any) -> Constraint:
    return REDUCE.constraints[0]._replace(id="C1", is_unconditional=False, **fields)


@pytest.mark.parametrize("operator", operator_names())
def test_the_shipped_rows_can_be_met(operator: str) -> None:
    spec = load_spec(operator)
    assert [problem for one in spec.constraints for problem in row_problems(spec, one)] == []


@pytest.mark.parametrize(
    ("spec", "condition", "problem"),
    [
        (REDUCE, {"InputTensor": ("FLOAT64",)}, "C1: no support table gives InputTensor the type FLOAT64"),
        (REDUCE, {"DataType": ("FLOAT64", "FLOAT32")}, "C1: no support table gives DataType the type FLOAT64"),
        (REDUCE, {"Axes": ("FLOAT32",)}, "C1 compares Axes, which is neither one value nor a tensor"),
        (REDUCE, {"AxisCount": ("1",)}, "C1: AxisCount is never 1"),
        (REDUCE, {"AxisCount": (True,)}, "C1: AxisCount is never True"),
        (JOIN, {"InputTensors": ("FLOAT32",)}, "C1 compares InputTensors, of which there may be several"),
        (AVERAGE_POOLING, {"IncludePadding": ("true",)}, "C1: IncludePadding is never true"),
        (CONVOLUTION, {"FusedActivation": ("ACTIVATION_RELU",)}, "C1 compares FusedActivation, which is neither"),
    ],
)
def test_a_value_that_a_field_never_has_is_found(spec: Any, condition: Any, problem: str) -> None:
    (found,) = condition_problems(spec, "C1", condition)
    assert found.startswith(problem)


@pytest.mark.parametrize(
    ("spec", "condition"),
    [
        (REDUCE, None),
        (REDUCE, {"InputTensor": ("FLOAT32", "INT64"), "Function": ("SUM",)}),
        (REDUCE, {"AxisCount": (1,)}),
        (AVERAGE_POOLING, {"IncludePadding": (True, False)}),
    ],
)
def test_a_value_that_a_field_may_have_is_none(spec: Any, condition: Any) -> None:
    assert list(condition_problems(spec, "C1", condition)) == []


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"since": "4_0", "until": "4_0"}, "C1 is for no feature level from 1_0 on"),
        ({"until": "1_0"}, "C1 is for no feature level from 1_0 on"),
        (
            {"until": "3_0", "when": {"InputTensor": ("INT64",)}},
            "C1: no support table gives InputTensor the type INT64",
        ),
        ({"absent": ("Axes",), "present": ("Axes",)}, "C1 asks for Axes and that it is left out"),
        ({"absent": ("Function",), "when": {"Function": ("SUM",)}}, "C1 asks for Function and that it is left out"),
        ({"when": {"Function": ("SUM",)}, "unless": {"Function": ("SUM", "MAX")}}, "C1 is for no desc: unless is met"),
    ],
)
def test_a_row_that_is_for_no_desc_is_found(fields: Any, problem: str) -> None:
    found = list(row_problems(REDUCE, row(**fields)))
    assert len(found) == 1
    assert found[0].startswith(problem)


@pytest.mark.parametrize(
    "fields",
    [
        {"since": "4_0"},
        {"since": "4_1", "when": {"InputTensor": ("INT64",)}},
        {"when": {"Function": ("SUM", "MAX")}, "unless": {"Function": ("SUM",)}},
        {"when": {"Function": ("SUM",)}, "unless": {"InputTensor": ("FLOAT16",)}},
    ],
)
def test_a_row_that_is_for_some_desc_is_none(fields: Any) -> None:
    assert list(row_problems(REDUCE, row(**fields))) == []


def test_a_row_behind_one_for_the_same_descs_is_never_reached() -> None:
    narrow, wide = {"Function": ("SUM",)}, {"Function": ("SUM", "MAX")}
    assert list(unreached("row 2", narrow, [wide])) == ["row 2 is never reached: an earlier one is for the same descs"]
    assert list(unreached("row 2", narrow, [None]))
    assert list(unreached("row 2", None, [None]))
    assert list(unreached("row 2", wide, [narrow])) == []
    assert list(unreached("row 1", narrow, [])) == []
