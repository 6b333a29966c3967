"""Negative cases: what they list against what was found."""

from __future__ import annotations

import pytest

from dmlcheck.cases.records import Case
from dmlcheck.diagnostics.record import Finding
from dmlcheck.running.negatives import check_invalid, is_listed, lists_values


def listing(*invalid: str, operator: str = "ELEMENT_WISE_DEQUANTIZE_LINEAR") -> Case:
    return Case("", "", "", operator, None, {}, invalid=invalid)


SIZES = Finding("size-mismatch", ("desc",), {}, constraint="ELEMENT_WISE_DEQUANTIZE_LINEAR/C2")
FLAGS = Finding("invalid-flags", ("desc",), {})


@pytest.mark.parametrize(
    ("invalid", "found", "problem", "help"),
    [
        (["size-mismatch"], [SIZES], None, None),
        (["ELEMENT_WISE_DEQUANTIZE_LINEAR/C2"], [SIZES, SIZES], None, None),
        (["DML_OPERATOR_ELEMENT_WISE_DEQUANTIZE_LINEAR/C2", "invalid-flags"], [FLAGS, SIZES], None, None),
        (
            ["size-mismatch"],
            [SIZES, FLAGS],
            "invalid-flags is found and not listed",
            None,
        ),
        (
            [],
            [SIZES, FLAGS],
            "ELEMENT_WISE_DEQUANTIZE_LINEAR/C2, invalid-flags are found and not listed",
            None,
        ),
        (["size-mismatch"], [], "size-mismatch is listed and not found; the desc is valid", None),
        (
            ["size-mismatch", "size-mismach"],
            [SIZES],
            "size-mismach is listed and not found",
            "did you mean size-mismatch?",
        ),
        (["nothing-like-it"], [SIZES], None, "`dmlcheck explain` lists the rules"),
        (["ARGMAX/C99"], [SIZES], None, "`dmlcheck explain` lists the rules"),
    ],
)
def test_what_is_found_is_exactly_what_is_listed(
    invalid: list[str], found: list[Finding], problem: str | None, help: str | None
) -> None:
    mismatch = check_invalid(listing(*invalid), found)
    if problem is None and help is None:
        assert mismatch is None
        return
    assert mismatch is not None
    assert problem is None or mismatch.params["problem"] == problem
    assert mismatch.help == help


@pytest.mark.parametrize("operator", ["SCATTER", "SCATTER_ELEMENTS", "DML_OPERATOR_SCATTER_ELEMENTS"])
def test_a_row_is_listed_by_either_name_of_its_operator(operator: str) -> None:
    finding = SIZES._replace(constraint="SCATTER/C7")
    assert is_listed(finding, [f"{operator}/C7"])
    assert not is_listed(finding, [f"{operator}/C6"])
    assert lists_values(listing(f"{operator}/C7", operator=operator))
    assert not lists_values(listing(f"{operator}/C6", operator=operator))


@pytest.mark.parametrize(
    ("invalid", "is_of_values"),
    [
        (["element-count"], True),
        (["size-mismatch", "missing-tensor"], True),
        (["ELEMENT_WISE_DEQUANTIZE_LINEAR/C6"], True),
        (["DML_OPERATOR_ELEMENT_WISE_DEQUANTIZE_LINEAR/C6"], True),
        (["ELEMENT_WISE_DEQUANTIZE_LINEAR/C2"], False),
        (["size-mismatch"], False),
        ([], False),
    ],
)
def test_what_is_listed_of_values_only_a_run_can_find(invalid: list[str], is_of_values: bool) -> None:
    assert lists_values(listing(*invalid)) == is_of_values
    assert not lists_values(listing("C6", operator="NOTHING"))
