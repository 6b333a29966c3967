"""The shipped cases: every one passes on the reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from judged import like_reference, result_of
from shipped import CASES, FOLDERS, cases_in, every_case

from dmlcheck import Case, CaseResult, load_cases, run_cases
from dmlcheck.cases.prepare import prepare
from dmlcheck.implementations.protocol import Reference
from dmlcheck.reference.bounds import bounds
from dmlcheck.reference.limits.precision import Precision
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.records import UNDEFINED, Tolerance
from dmlcheck.values.number_formats import ulp

# The arc cosine of 1 - 2^-60, where no float64 is between that and 1.
BESIDE_1 = "element_wise_acos/values.yaml::scale-and-bias-next-to-1[DataType=FLOAT32]"

# What FLOAT32 or FLOAT16 gives for another order of operations or another formula, which is as right: integers, and
# floats next to the exact results.
OTHER_WAYS = (
    "::scaled-numbers-added-in-float32",
    "in-float32-without-a-bias",
    "::bias-of-a-denormal[DataType=FLOAT32]",
    "batch_normalization_training_grad/measured.yaml::another-mean-float32",  # as DirectML added it up
)

# What FLOAT32 gives for another order of operations or another formula, where that is far from the exact result.
FAR_WAYS: dict[str, dict[str, list[float]]] = {
    # x * a + (Bias - Mean * a) with a = Scale / sqrt(Variance + Epsilon)
    "batch_normalization/values.yaml::multiplied-before-the-mean-in-float32": {
        "OutputTensor": [
            *map(float.fromhex, ("0x1.409p-1", "-0x1.0aa4p+2", "0x1.4cb8p+0", "0x1.2b8p+0", "0x1.1342p+2")),
            *map(float.fromhex, ("-0x1.7bc8p+1", "-0x1.0cap+2", "0x1.6a44p+1")),
        ]
    },
    # the sum of dy * x less that of dy times the mean, term by term
    "batch_normalization_grad/edges.yaml::products-with-the-input-in-float32[DataType=FLOAT32]": {
        "OutputScaleGradientTensor": [1.9245433807373047, 2.0102062225341797]
    },
    # Alpha times A first
    "gemm/values.yaml::alpha-times-a-in-float32": {"OutputTensor": [2.0**-17]},
    # the state as n + z * (h - n)
    "gru/special.yaml::state-by-the-difference": {"OutputSingleTensor": [2.0**-10]},
    # one scaled product after the other
    "matrix_multiply_integer_to_float/values.yaml::scaled-numbers-added-in-float32": {
        "OutputTensor": [-5195.5146484375]
    },
    # the second place, or sample, is 0
    "roi_align_grad/values.yaml::one-of-several-samples-is-lost": {"OutputGradientTensor": [2, *[0] * 32]},
    "roi_align_grad/values.yaml::one-of-several-samples-of-a-region-is-lost": {
        "OutputROIGradientTensor": [0, 16, 0, 0]
    },
    # the first of two samples that are equal in FLOAT32, and the first of two elements that are as near
    "roi_align_grad/values.yaml::largest-of-samples-that-float32-makes-equal": {
        "OutputGradientTensor": [4, 4, 0, 0, 0, 0]
    },
    "roi_align_grad/values.yaml::largest-of-nearest-at-a-boundary": {"OutputGradientTensor": [8, 0]},
}


class Shipped(NamedTuple):
    """The cases of an operator, read once for the tests of it."""

    folder: str
    cases: tuple[Case, ...]


@pytest.fixture(scope="module", params=FOLDERS)
def shipped(request: pytest.FixtureRequest) -> Shipped:
    return Shipped(request.param, cases_in(request.param))


@pytest.fixture(scope="module")
def results(shipped: Shipped) -> list[CaseResult]:
    """Run the cases that have results of their own, or expect errors."""
    return list(run_cases(case for case in shipped.cases if not case.is_without_results))


@pytest.mark.slow
def test_every_case_of_an_operator_passes_without_a_warning(results: list[CaseResult]) -> None:
    wrong = [(result.case.id, result.reason, result.diagnostics) for result in results if result.outcome != "passed"]
    assert wrong == []
    assert [(result.case.id, result.diagnostics) for result in results if result.diagnostics] == []
    assert len(results) > 30


@pytest.mark.slow
def test_every_case_for_implementations_has_a_result_to_compare_with(shipped: Shipped) -> None:
    results = run_cases((case for case in shipped.cases if case.is_without_results), like_reference(version="1"))
    assert [(result.case.id, result.reason) for result in results if result.outcome != "passed"] == []
    assert len(results) > 5


def test_the_cases_for_implementations_are_small_files() -> None:
    sizes = {folder: (CASES / folder / "random.yaml").stat().st_size for folder in FOLDERS}
    assert [folder for folder, size in sizes.items() if not 0 < size <= 100_000] == []


@pytest.mark.slow
def test_the_reference_is_right_up_to_what_float64_rounds(shipped: Shipped, results: list[CaseResult]) -> None:
    """An expected value is the exact result, rounded: within half a unit of it, and that is within float64's bound.

    Those that were measured have the errors of the device.
    """
    given = (result for result in results if result.case.outputs is not None and not result.case.is_measured)
    other = (result.case for result in given if _has_other_bits(result))
    again = run_cases(map(_exact, other))
    inexact = [result.case for result in again if _is_inexact(result) and not result.case.id.endswith(OTHER_WAYS)]
    wrong = [case.id for case in inexact if not _is_right_in_float64(case)]
    assert wrong == [case.id for case in inexact if case.id.endswith(BESIDE_1)]
    assert len(inexact) <= {"gru": 6, "lstm": 7}.get(
        shipped.folder, 4
    )  # made to show what float64 or a rounded state loses


def _exact(case: Case) -> Case:
    """Return a case that passes only where the reference gives what it expects, or one of several right results."""
    return case._replace(tolerance=Tolerance(exact=True))


def _has_other_bits(result: CaseResult) -> bool:
    """Whether an element is not the expected one, whatever the tolerance makes of it."""
    return any(output.most_off or output.mismatches or output.undefined for output in result.outputs.values())


def _is_inexact(result: CaseResult) -> bool:
    return any(output.mismatches and not output.undefined for output in result.outputs.values())


def _is_right_in_float64(case: Case) -> bool:
    prepared = prepare(case)
    assert prepared.desc is not None
    assert prepared.expected is not None
    found = Reference().run(prepared.desc, prepared.inputs)
    expected = prepared.expected
    asked = {label: values != found[label] for label, (_, values) in expected.items()}
    for label, at, bound in bounds(prepared.desc, prepared.inputs, asked, Precision("FLOAT64")):
        tensor, values = expected[label]
        wanted = values.reshape(-1)[at].astype(np.float64)
        if not (np.abs(wanted - bound.value) <= bound.radius + ulp(wanted, tensor.data_type) / 2).all():
            return False
    return True


@pytest.mark.slow
def test_the_cases_of_another_way_differ_from_the_reference_and_pass() -> None:
    for folder in ("quantized_linear_convolution", "quantized_linear_matrix_multiply"):
        cases = [case for case in cases_in(folder) if case.id.endswith(OTHER_WAYS)]
        assert cases
        assert all(_is_inexact(result) for result in run_cases(map(_exact, cases)))
        assert all(result.outcome == "passed" for result in run_cases(cases))


@pytest.mark.slow
@pytest.mark.parametrize("name", FAR_WAYS)
def test_a_result_of_another_way_passes_beside_the_exact_one(name: str) -> None:
    path, _, case_name = name.partition("::")
    (case,) = [case for case in load_cases(CASES / path) if case.name == case_name]
    given = FAR_WAYS[name]

    def change(outputs: dict[str, Any]) -> dict[str, Any]:
        return outputs | {
            label: np.array(values, outputs[label].dtype).reshape(outputs[label].shape)
            for label, values in given.items()
        }

    other = result_of(case, like_reference(change))
    # Sums of integers that are exact are likelier than those of scaled numbers.
    rules = ["unlikely-error"] if case_name == "scaled-numbers-added-in-float32" else []
    assert (other.outcome, [found.rule for found in other.diagnostics]) == ("passed", rules)
    (exact,) = run_cases([case])
    assert (exact.outcome, exact.diagnostics) == ("passed", ())
    for label in FAR_WAYS[name]:
        assert other.outputs[label].most_off or other.outputs[label].undefined


def test_every_operator_has_a_folder_of_cases() -> None:
    assert {"DML_OPERATOR_" + folder.upper() for folder in FOLDERS} == set(operator_names())


@pytest.mark.slow
def test_operators_with_undefined_results_have_cases_of_these(shipped: Shipped) -> None:
    is_of_zeros = shipped.folder in ("element_wise_ceil", "element_wise_round")  # no sign of a zero is compared
    spec = load_spec(f"DML_OPERATOR_{shipped.folder.upper()}")
    is_measured = all(row.measured for row in spec.undefined if row.kind == UNDEFINED)
    has_open = any(has_any(list((case.outputs or {}).values())) for case in shipped.cases)
    if spec.has_undefined and is_measured and not has_open and not is_of_zeros:
        assert any(Path(case.file).name == "measured.yaml" for case in shipped.cases)
    else:
        assert has_open == (spec.has_undefined and not is_of_zeros)


def has_any(value: Any) -> bool:
    return any(map(has_any, value)) if isinstance(value, list) else value == "any"


@pytest.mark.slow
def test_every_case_says_where_its_values_come_from() -> None:
    assert [case.id for case in every_case() if not case.source] == []


def test_every_spec_names_its_page_and_date() -> None:
    pages = {operator: load_spec(operator).page for operator in operator_names()}
    for operator, page in pages.items():
        name = f"ns-directml-dml_{operator.removeprefix('DML_OPERATOR_').lower()}"
        assert page["url"].rpartition("/")[2] in (f"{name}_operator_desc", f"{name}_desc")
    assert all(len(page["date"]) == 10 for page in pages.values())


@pytest.mark.parametrize(("folder", "other", "outcome"), [("roi_align", 8, "passed"), ("roi_align1", 9, "failed")])
def test_rounding_may_lead_to_the_next_element_and_no_further(folder: str, other: int, outcome: str) -> None:
    name = "nearest-just-below-a-whole-number"  # and the whole number once the coordinate is rounded
    (case,) = (case for case in load_cases(CASES / folder / "values.yaml") if case.name == name)
    (result,) = run_cases([case._replace(outputs={"OutputTensor": [other]})])
    assert result.outcome == outcome
