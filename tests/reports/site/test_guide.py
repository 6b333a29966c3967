"""The guide as pages of the site."""

from __future__ import annotations

import pytest

from dmlcheck.reports.site.guide import GuidePage, first_sentences, guide_page, guide_pages, guide_values, slug


def of(text: str) -> GuidePage:
    return guide_page("guide-a.html", text)


def test_a_page_has_its_title_its_first_paragraph_and_its_sections() -> None:
    found = of("# A `page`\n\nIt says\nthis. And that.\n\n## One\n\n### Deeper\n\n## Two & more\n")
    assert (found.title, found.summary) == ("A page", "It says this. And that.")
    assert found.sections == (("one", "One"), ("two--more", "Two & more"))


@pytest.mark.parametrize(
    ("most", "expected"),
    [(30, "One is short. Two is longer."), (20, "One is short."), (5, "One is short.")],
)
def test_a_description_has_whole_sentences(most: int, expected: str) -> None:
    assert first_sentences("One is short. Two is longer.", most) == expected
    assert first_sentences("Without an end", 5) == "Without an end"


def test_headings_have_the_anchors_that_github_gives_them() -> None:
    body = of("# T\n\n## 1. Write the desc down\n\n## Same\n\n## Same\n").body
    assert '<h2 id="1-write-the-desc-down">' in body
    assert '<h2 id="same">' in body
    assert '<h2 id="same-1">' in body


@pytest.mark.parametrize(
    ("words", "anchor"),
    [("E_INVALIDARG: why?", "e_invalidarg-why"), ("`run` and `eval`", "run-and-eval"), ("A - B", "a---b")],
)
def test_an_anchor_is_in_lower_case_without_punctuation(words: str, anchor: str) -> None:
    assert slug(words) == anchor


def test_links_lead_to_the_pages_of_the_site() -> None:
    text = "[a](ci.md#gate) [b](README.md) [c](https://x.org/y.md) [d](#here) [e](../../cases) [f](code.md#tests)"
    body = of(text).body
    assert '<a href="guide-ci.html#gate">a</a>' in body
    assert '<a href="guide.html">b</a>' in body
    assert '<a href="https://x.org/y.md">c</a>' in body
    assert '<a href="#here">d</a>' in body
    assert "<a>e</a>" in body
    assert "<a>f</a>" in body


def test_markup_in_the_text_is_escaped() -> None:
    assert "&lt;script&gt;" in of("`<script>`").body


def test_wide_blocks_can_be_scrolled_by_keyboard() -> None:
    body = of("| a |\n|---|\n| b |\n\n```yaml\nx: 1\n```\n").body
    assert '<div class="wide" tabindex="0" role="region"' in body
    assert '<pre tabindex="0" aria-label="Code">' in body


def test_regions_of_tables_have_names_of_their_own() -> None:
    body = of("| a |\n|---|\n| b |\n\nText.\n\n| c |\n|---|\n| d |\n").body
    assert [body.count(f'aria-label="Table {number}"') for number in (1, 2, 3)] == [1, 1, 0]


def test_the_site_has_the_pages_for_users() -> None:
    addresses = [page.address for page in guide_pages()]
    assert {"guide.html", "guide-tutorial.html", "rules.html"} <= set(addresses)
    assert "guide-code.html" not in addresses


def test_the_body_is_the_only_value_that_is_marked_as_markup() -> None:
    values = guide_values(of("# T\n\nA & B\n"), lambda text: ("markup", text))
    assert values["body"][0] == "markup"
    assert values["summary"] == "A & B"
