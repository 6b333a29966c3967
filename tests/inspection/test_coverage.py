"""What cases exercise of the support tables, constraints, values and layouts."""

from __future__ import annotations

from pathlib import Path

import pytest
from shipped import cases_of

import dmlcheck
from dmlcheck.inspection.coverage import newest_parts, of_operator, table_edges
from dmlcheck.specs.load import load_spec, operator_names

FILE = """\
operator: ARGMAX
source: by hand
desc: {Axes: [0], AxisDirection: INCREASING}
cases:
- name: packed
  desc: {InputTensor: {DataType: FLOAT32, Sizes: [2, 3]}, OutputTensor: {DataType: UINT32, Sizes: [1, 3]}}
- name: strided
  feature_level: "3_0"
  desc:
    InputTensor: {DataType: FLOAT16, Sizes: [2, 3], Strides: [4, 1], TotalTensorSizeInBytes: 64}
    OutputTensor: {DataType: UINT32, Sizes: [1, 3]}
- name: broadcast
  desc:
    InputTensor: {DataType: INT8, Sizes: [2, 3], Strides: [0, 1], Flags: OWNED_BY_DML}
    OutputTensor: {DataType: INT64, Sizes: [1, 3]}
- name: too-early
  feature_level: "4_0"
  desc: {InputTensor: {DataType: INT64, Sizes: [2, 3]}, OutputTensor: {DataType: UINT32, Sizes: [1, 3]}}
  invalid: [unsupported-data-type]
- name: no-axis
  desc:
    InputTensor: {DataType: FLOAT32, Sizes: [2, 3]}
    OutputTensor: {DataType: UINT32, Sizes: [2, 3]}
    Axes: [2]
  invalid: [ARGMAX/C2]
- name: before-the-operator
  feature_level: "2_1"
  desc: {InputTensor: {DataType: FLOAT32, Sizes: [2, 3]}, OutputTensor: {DataType: UINT32, Sizes: [1, 3]}}
  invalid: [operator-unavailable]
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "argmax.yaml").write_text(FILE, encoding="utf-8")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["table edges rejected", "constraints rejected"])
def test_the_bundled_cases_reject_every_edge_and_constraint(kind: str) -> None:
    found = {name: of_operator(load_spec(name), cases_of(name)) for name in operator_names()}
    assert {name: one.parts[kind].missing for name, one in found.items() if one.parts[kind].missing} == {}


def test_each_part_is_counted(path: Path) -> None:
    spec = load_spec("DML_OPERATOR_ARGMAX")
    found = of_operator(spec, dmlcheck.load_cases(path))
    assert found.cases == 6
    assert found.layouts == ("packed", "strided", "broadcast", "padded", "owned by DirectML")
    parts = found.parts
    assert parts["support rows accepted"] == (2, 2, ())
    assert parts["constraints rejected"] == (4, 1, ("ARGMAX/C1", "ARGMAX/C3", "ARGMAX/C4"))
    assert parts["enumeration values accepted"] == (2, 1, ("AxisDirection DECREASING",))
    assert parts["table edges rejected"] == (3, 2, ("table 1 InputTensor type UINT64 at 3_0",))
    assert len(list(table_edges(spec))) == 3
    # 10 types and 8 dimension counts of InputTensor, 4 and 8 of OutputTensor; accepted at 4_1 are 2, 1, 2 and 1.
    assert (parts["types and dimensions accepted"].total, parts["types and dimensions accepted"].covered) == (30, 6)


def test_a_case_that_is_rejected_covers_nothing_as_accepted(path: Path) -> None:
    cases = [case for case in dmlcheck.load_cases(path) if case.invalid is not None]
    parts = of_operator(load_spec("DML_OPERATOR_ARGMAX"), cases).parts
    assert parts["support rows accepted"].covered == 0
    assert parts["types and dimensions accepted"].covered == 0
    assert parts["enumeration values accepted"].covered == 0


@pytest.mark.parametrize(
    ("operator", "values"), [("ROI_ALIGN", "AVERAGE, MAX"), ("QUANTIZE", "SCALE, SCALE_ZERO_POINT")]
)
def test_an_enumeration_value_that_a_constraint_refuses_needs_no_case(operator: str, values: str) -> None:
    missing = of_operator(load_spec(f"DML_OPERATOR_{operator}"), []).parts["enumeration values accepted"].missing
    names = [text.split()[1] for text in missing if text.startswith(("ReductionFunction", "QuantizationType"))]
    assert ", ".join(sorted(names)) == values


def test_a_dimension_count_that_a_constraint_refuses_needs_no_case() -> None:
    parts = [part for part in newest_parts(load_spec("DML_OPERATOR_FOLD")) if part.kind == "dimensions"]
    counts = {name: [part.value for part in parts if part.tensor == name] for name in ("InputTensor", "OutputTensor")}
    assert counts == {"InputTensor": [3], "OutputTensor": [3, 4, 5, 6, 7, 8]}
