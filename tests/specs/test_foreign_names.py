"""The names that ONNX and WebNN have for DirectML's operators."""

from __future__ import annotations

import pytest

from dmlcheck.specs.foreign_names import _table, foreign_name
from dmlcheck.specs.load import full_name


def test_every_name_leads_to_an_operator_that_there_is() -> None:
    operators = [operator for _, _, operator in _table().values()]
    assert len(operators) > 100
    assert [operator for operator in operators if full_name(operator) is None] == []


def test_no_name_is_directmls_own() -> None:
    assert [name for name, _, _ in _table().values() if full_name(name.upper())] == []


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("Conv", ("Conv", "ONNX", "CONVOLUTION")),
        ("CONV", ("Conv", "ONNX", "CONVOLUTION")),
        ("conv2d", ("conv2d", "WebNN", "CONVOLUTION")),
        ("MatMul", ("MatMul", "ONNX", "GEMM")),
        ("Convo", None),
        ("GEMM", None),
    ],
)
def test_a_name_is_found_in_any_case(given: str, found: object) -> None:
    assert foreign_name(given) == found
