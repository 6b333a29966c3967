"""Operators as they are named on the command line."""

from __future__ import annotations

import click
import pytest

from dmlcheck.cli.operators import operator_name


@pytest.mark.parametrize("given", ["DML_OPERATOR_GEMM", "GEMM", "gemm", "dml_operator_gemm"])
def test_an_operator_goes_by_its_name_with_or_without_prefix_in_any_case(given: str) -> None:
    assert operator_name(given) == "DML_OPERATOR_GEMM"


@pytest.mark.parametrize("given", ["SCATTER", "SCATTER_ELEMENTS", "dml_operator_scatter_elements"])
def test_scatter_goes_by_both_names_of_the_header(given: str) -> None:
    assert operator_name(given) == "DML_OPERATOR_SCATTER"


@pytest.mark.parametrize(
    ("given", "hint"), [("GEMMM", "did you mean GEMM?"), ("Zzzz", "`dmlcheck show` lists the operators")]
)
def test_another_name_is_refused_with_the_closest_or_with_where_they_are_listed(given: str, hint: str) -> None:
    with pytest.raises(click.UsageError) as refused:
        operator_name(given)
    assert refused.value.message == f"{given} is not an operator that dmlcheck knows; {hint}"
