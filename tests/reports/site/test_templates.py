"""The templates of the site."""

from __future__ import annotations

import pytest
from jinja2 import UndefinedError

from dmlcheck.reports.site.templates import (
    address_of_guide_page,
    address_of_level,
    address_of_operator,
    address_of_rule,
    address_of_type,
    breakable,
    file_text,
    leaves,
    linked,
    prose,
    render,
    with_minus,
)

VALUES = {"title": "<A>", "summary": '"b"', "section": "", "version": "1", "sections": (), "address": "a", "body": "&"}


def test_values_are_escaped() -> None:
    found = render("guide.html", VALUES)
    assert "<title>&lt;A&gt; · DirectML reference</title>" in found
    assert 'content="&#34;b&#34;"' in found
    assert "&amp;" in found


def test_a_value_that_is_missing_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        render("guide.html", {"title": "A"})


def test_a_name_breaks_after_underscores_and_before_capitals() -> None:
    assert breakable("DML_<A>") == "DML_<wbr>&lt;A&gt;"
    assert breakable("OutputTensor") == "Output<wbr>Tensor"
    assert breakable("FLOAT32") == "FLOAT32"


def test_names_in_backticks_are_code() -> None:
    assert prose("Set `a < b`, or `c`.") == "Set <code>a &lt; b</code>, or <code>c</code>."
    assert prose("one ` alone & <b>") == "one ` alone &amp; &lt;b&gt;"


def test_a_hyphen_that_stands_for_a_minus_is_one() -> None:
    assert with_minus("from -Alpha to (-1), x - 2 {-0.5}") == "from \u2212Alpha to (\u22121), x \u2212 2 {\u22120.5}"
    kept = "half-pixel 1e-5 --strict t-1 2018-12-05 2^-21 A-"
    assert with_minus(kept) == kept
    assert prose("`-1` is -1") == "<code>-1</code> is \u22121"


def test_addresses_and_threads_are_links() -> None:
    assert linked("<a/b#12>; page 4") == '&lt;<a href="https://github.com/a/b/issues/12">a/b#12</a>&gt;; page 4'
    assert linked("c.d/e-f#3, https://g.h/i#j; k") == (
        '<a href="https://github.com/c.d/e-f/issues/3">c.d/e-f#3</a>, <a href="https://g.h/i#j">https://g.h/i#j</a>; k'
    )


def test_style_and_script_are_files() -> None:
    assert ".frame" in file_text("style.css")
    assert len(file_text("script.js")) < 10_000


# ---- the facts of a record that a page says in words


def test_each_leaf_has_its_place() -> None:
    record = {"when": {"Function": ["MIN", "MAX"]}, "since": "4_1", "exact": True, "ulp": 1.5}
    assert list(leaves(record, "row.0")) == [
        ("row.0.when.Function", "MIN MAX"),
        ("row.0.since", "4_1"),
        ("row.0.exact", "true"),
        ("row.0.ulp", "1.5"),
    ]


# ---- addresses of the site's pages


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
