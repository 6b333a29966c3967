"""Texts in HTML."""

from __future__ import annotations

from dmlcheck.reports.html.templates import plain


def test_text_is_cut_off_and_spelt_out() -> None:
    assert plain("a\tb\nc\x7f\xa0") == "a\\tb\nc\\x7f\\xa0"
    assert plain("x" * 3000, 10) == "xxxxxxx..."
