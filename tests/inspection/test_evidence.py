"""Where the expected results of cases come from."""

from __future__ import annotations

import pytest

from dmlcheck.cases.records import Case
from dmlcheck.inspection.coverage import KINDS, evidence, source_kinds


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
