"""The bases of constraints and errata: counted, and checked."""

from __future__ import annotations

from typing import Any

import pytest

from dmlcheck.inspection.bases import basis_counts, basis_problems
from dmlcheck.inspection.selfcheck import _spec_problems
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.records import (
    BASES,
    Constraint,
    Deviation,
    Erratum,
    Half,
    Measured,
    MeasuredOn,
    OperatorSpec,
    Releases,
    TakenValues,
    Undefined,
)

DECIDED = Erratum("E1", "silence", "Says nothing.", "It is 0.", "our decision", measured=False)
SOURCE = "CreateOperator of DirectML 1.4.0 to 1.15.4 (the releases that were asked), 2026-11-29"
ASKED = DECIDED._replace(id="E2", basis="measured", measured=True, source=SOURCE)
ROW = Constraint("C1", "A is B.", "sizes", {})
SPEC = load_spec("DML_OPERATOR_GEMM")._replace(
    constraints=(ROW, ROW._replace(id="C2", taken=Releases()), ROW._replace(id="C3", basis="measured")),
    errata=(DECIDED, ASKED),
)


def problems(spec: OperatorSpec) -> list[str]:
    assert {*basis_problems(spec)} <= {*_spec_problems(spec)}
    return list(basis_problems(spec))


def test_every_row_of_the_specs_is_counted() -> None:
    known = [load_spec(name) for name in operator_names()]
    counts = basis_counts(known)
    assert sum(row.constraints for row in counts) == sum(len(spec.constraints) for spec in known)
    assert sum(row.errata for row in counts) == sum(len(spec.errata) for spec in known)
    assert sum(row.accepted for row in counts) == sum(bool(row.taken) for spec in known for row in spec.constraints)


def test_a_basis_that_there_is_not_is_found() -> None:
    assert problems(SPEC) == []
    wrong = SPEC._replace(constraints=(ROW._replace(basis="hearsay"),))
    assert problems(wrong) == [f"C1 has the basis hearsay; write one of {', '.join(BASES)}"]


def test_releases_that_were_not_asked_are_found() -> None:
    taken = ROW._replace(taken=Releases("1.6.0", "1.4.1"))
    none = TakenValues(("ATensor",), ("INT8",), (), {}, Releases("1.7.0", "1.7.0"))
    assert problems(SPEC._replace(constraints=(taken,), taken=(none,))) == [
        "C1 names DirectML 1.6.0, which was not asked",
        "C1 names DirectML 1.4.1, which was not asked",
        "row 1 of taken is taken by no release",
    ]


def test_tensors_types_fields_and_operators_that_there_are_not_are_found() -> None:
    inside = {"Fused": ("ACTIVATION_RELU",), "FusedActivation": ("ACTIVATION_RELOU",)}
    values = TakenValues(("XTensor", "Alpha"), ("INT5",), (), inside, Releases())
    assert problems(SPEC._replace(taken=(values,))) == [
        "row 1 of taken names XTensor, which is no tensor",
        "row 1 of taken names Alpha, which is no tensor",
        "row 1 of taken names Fused, which is no field",
        "row 1 of taken has the type INT5, which does not exist",
        "row 1 of taken has ACTIVATION_RELOU, which is no operator",
    ]


def test_a_measured_erratum_names_the_releases_and_the_date() -> None:
    for wrong in (
        ASKED._replace(measured=False),
        ASKED._replace(source="CreateOperator of DirectML 1.4.0"),
        ASKED._replace(source="CreateOperator, 2026-11-29"),
    ):
        (text,) = problems(SPEC._replace(errata=(wrong,)))
        assert text == "E2 is measured; write measured: true, and the releases and the date in its source"


EARLY = "DirectML 1.12.1 and 1.15.4, a device"
RESULT = Measured("It is 0.", MeasuredOn("DirectML 1.12.1", "a device", "2026-11-29"))


@pytest.mark.parametrize(
    ("changed", "where"),
    [
        ({"errata": (ASKED._replace(source=SOURCE),)}, "E2"),
        ({"known_deviations": (Deviation("Wrong.", "all", EARLY),)}, 'the known deviation "Wrong."'),
        ({"undefined": (Undefined("undefined", "Any.", measured=RESULT),)}, 'the result "It is 0."'),
        ({"half": Half(("it",), EARLY)}, "half"),
    ],
)
def test_every_measurement_of_a_spec_is_of_releases_with_the_operator(changed: dict[str, Any], where: str) -> None:
    spec = load_spec("DML_OPERATOR_QUANTIZED_LINEAR_AVERAGE_POOLING")._replace(**changed)
    assert [text.partition(" names ")[0] for text in problems(spec)] == [where]
