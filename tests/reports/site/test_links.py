"""Addresses of the site's pages."""

from __future__ import annotations

import pytest

from dmlcheck.reports.site.templates import (
    address_of_guide_page,
    address_of_level,
    address_of_operator,
    address_of_rule,
    address_of_type,
)


def test_an_operator_has_one_address_by_either_name() -> None:
    assert address_of_operator("DML_OPERATOR_GEMM") == address_of_operator("GEMM") == "gemm.html"


def test_rules_levels_and_types_have_addresses_of_their_own_kind() -> None:
    found = [address_of_rule("size-mismatch"), address_of_level("4_1"), address_of_type("FLOAT32")]
    assert found == ["rule-size-mismatch.html", "level-4_1.html", "type-float32.html"]


@pytest.mark.parametrize(
    ("file", "address"),
    [
        ("ci.md", "guide-ci.html"),
        ("README.md", "guide.html"),
        ("rules.md", "rules.html"),
        ("code.md", None),
        ("harness.cpp", None),
        ("../../README", None),
    ],
)
def test_a_page_of_the_guide_has_an_address_if_the_site_has_it(file: str, address: str | None) -> None:
    assert address_of_guide_page(file) == address
