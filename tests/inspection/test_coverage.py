"""What cases exercise of the support tables, constraints, values and layouts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from shipped import cases_of

import dmlcheck
from dmlcheck.cases.records import Case
from dmlcheck.inspection.coverage import (
    KINDS,
    case_problems,
    evidence,
    newest_parts,
    of_operator,
    source_kinds,
    table_edges,
)
from dmlcheck.specs.load import data_folder, load_spec, operator_names
from dmlcheck.specs.records import Tolerance

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


# ---- whether bundled cases leave nothing of a spec out: what is planted is found


SPEC = load_spec("DML_OPERATOR_ARGMAX")
CASES = dmlcheck.load_cases(f"{data_folder('cases')}/argmax")
NEGATIVE = next(case for case in CASES if case.invalid is not None)
POSITIVE = next(case for case in CASES if case.outputs is not None)
OWN = Tolerance(ulp=2.0)


def problems(cases: list[Case]) -> list[str]:
    return list(case_problems(SPEC, cases))


def test_the_shipped_cases_have_nothing_wrong() -> None:
    assert problems(CASES) == []


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


# ---- where the expected results of cases come from


@pytest.mark.parametrize(
    ("source", "kinds"),
    [
        ("by hand", ["hand"]),
        ("DML_GEMM_OPERATOR_DESC, example 1", ["page"]),
        ("the page's formula (errata, E1)", ["page"]),
        ("constraint row C3; the value by hand", ["page", "hand"]),
        ("mpmath 1.4, 60 digits, rounded once to the type", ["program"]),
        ("exact fractions in plain Python, rounded to the nearest integer", ["program"]),
        ("IEEE 754-2019, 9.2.1; by hand", ["hand", "standard"]),
        ("onnxruntime 1.31, Resize", ["onnxruntime"]),
        ("ONNX Runtime's QuantizeLinearOpTest, which runs on DirectML", ["onnxruntime", "vendor"]),
        ("onnx's ReferenceEvaluator", ["onnx"]),
        ("PyTorch 2.9, in float64", ["PyTorch"]),
        ("the known-answer tests of Random123", ["vendor"]),
        ("the spec's list of what is unspecified", ["open"]),
        ("the documentation, which does not say by what Alpha is divided there", ["page", "open"]),
        ("no source says what a single element is reflected to", ["open"]),
        ("DirectML's outputs: ONNX Runtime, roialign_test.cc, AvgModePositive", ["onnxruntime", "vendor"]),
        ("the derivatives in exact fractions, in plain Python", ["program"]),
        ("a colleague", ["other"]),
        ("", ["other"]),
    ],
)
def test_a_source_is_of_the_kinds_that_it_names(source: str, kinds: list[str]) -> None:
    assert list(source_kinds(source)) == kinds


def case(source: str | None, *, outputs: bool = True, inputs: bool = False) -> Case:
    given = {"ATensor": [1]} if inputs else None
    results = {"OutputTensor": [1]} if outputs else None
    return Case("", "", "", "GEMM", None, {}, inputs=given, outputs=results, source=source)


def test_results_are_counted_by_the_kinds_of_their_sources() -> None:
    cases = [case("by hand"), case("by hand"), case("IEEE 754; by hand"), case(None), case("by hand", outputs=False)]
    cases += [case("compared", outputs=False, inputs=True)] * 2
    found = evidence("DML_OPERATOR_GEMM", cases)
    assert (found.operator, found.results, found.has_onnx) == ("DML_OPERATOR_GEMM", 4, True)
    assert (found.compared, found.legality) == (2, 1)
    assert {kind: count for kind, count in found.kinds.items() if count} == {"hand": 3, "standard": 1, "other": 1}
    assert list(found.kinds) == list(KINDS)
    assert found.sources == {"by hand": 2, "IEEE 754; by hand": 1, "": 1}


def test_an_operator_that_onnx_lacks_does_not_run_there() -> None:
    assert not evidence("DML_OPERATOR_ADAM_OPTIMIZER", []).has_onnx
