"""Support tables as matrices of types and levels."""

from __future__ import annotations

import pytest

from dmlcheck.reports.site.matrix import levels_of, supports
from dmlcheck.specs.load import load_spec
from dmlcheck.specs.names import LEVELS


def test_tensors_of_the_same_support_share_a_matrix() -> None:
    (support,) = supports(load_spec("DML_OPERATOR_GEMM"))
    (matrix,) = support.matrices
    assert matrix.tensors == ("ATensor", "BTensor", "CTensor", "OutputTensor")
    assert matrix.dimensions == (("1_0", "4"), ("4_0", "2 to 4"))
    assert [row.data_type for row in matrix.rows] == ["FLOAT32", "FLOAT16"]


def test_the_level_that_added_a_type_is_marked() -> None:
    spec = load_spec("DML_OPERATOR_ARGMAX")
    input, output = supports(spec)[0].matrices
    rows = {row.data_type: dict(zip(levels_of(spec), row.marks, strict=True)) for row in input.rows}
    assert (input.tensors, output.tensors) == (("InputTensor",), ("OutputTensor",))
    assert [rows["INT64"][level] for level in ("3_0", "4_0", "4_1", "5_0")] == ["", "", "new", "on"]
    assert [rows["FLOAT32"][level] for level in ("3_0", "4_0")] == ["new", "on"]


@pytest.mark.parametrize(
    ("operator", "expected"), [("GEMM", LEVELS), ("RESAMPLE3", ("6_4",)), ("QUANTIZE", ("6_3", "6_4"))]
)
def test_levels_before_the_operator_have_no_column(operator: str, expected: tuple[str, ...]) -> None:
    spec = load_spec(f"DML_OPERATOR_{operator}")
    assert levels_of(spec) == expected
    marks = {len(row.marks) for support in supports(spec) for matrix in support.matrices for row in matrix.rows}
    assert marks == {len(expected)}


def test_a_table_that_is_for_some_descs_says_for_which() -> None:
    whens = [support.when for support in supports(load_spec("DML_OPERATOR_REDUCE"))]
    assert any(when.startswith("Function is ") for when in whens)
