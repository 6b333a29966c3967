"""A part of the page: what stands in full, what in rows, and what is only counted."""

from __future__ import annotations

from dmlcheck.reports.html.parts import Group, PageSection
from dmlcheck.reports.html.templates import Markup

ROW = Markup("<li>a\n")
GROUP = Group("failed", "GEMM", "a.yaml", "")


def text_of(part: PageSection) -> str:
    text = "".join(part.texts())
    part.close()
    return text


def test_rows_stand_in_the_lists_of_their_groups() -> None:
    part = PageSection(full=1000, rows=10_000)
    for name, group in (("a", GROUP), ("b", GROUP), ("c", GROUP._replace(reason="why <not>"))):
        part.add_row(group, f"<li>{name}\n")
    part.add_full("<p>in full</p>")
    text = text_of(part)
    assert text.count("<ul>") == text.count("</ul></div>") == 2
    assert "<li>a\n<li>b\n</ul></div>" in text
    assert '<span class="reason">why &lt;not&gt;</span>' in text
    assert text.endswith("</ul></div>\n<p>in full</p>")
    assert part.total == 4


def test_where_there_is_no_room_cases_are_only_counted() -> None:
    part = PageSection(full=0, rows=1)
    for _ in range(3):
        part.add_row(GROUP, "<li>a\n")
    text = text_of(part)
    assert (text.count("<li>"), part.total) == (1, 3)
    assert "2 more cases are only counted, to keep this page of a size that opens" in text


def test_cases_that_end_as_another_does_are_listed_behind_it() -> None:
    part = PageSection(full=1000, rows=1000)
    part.add_full("<p>first</p>", 7, "error")
    part.add_full("<p>second</p>", 8, "failed")
    part.add_alike(7, ROW)
    part.add_full("<p>third</p>")
    part.add_alike(7, ROW)
    text = text_of(part)
    before, _, after = text.partition("<details")
    assert before == "<p>first</p>"
    assert '<details class="group alike" data-outcome="error"><summary>2 more cases with the same message' in text
    assert after.count(ROW) == 2
    assert after.endswith("</details>\n<p>second</p><p>third</p>")
    assert part.total == 5


def test_a_list_behind_a_case_has_an_end() -> None:
    part = PageSection(full=1000, rows=1000)
    part.add_full("<p>first</p>", 7, "error")
    row = Markup("<li>" + "x" * 996)
    for _ in range(500):
        part.add_alike(7, row)
    text = text_of(part)
    assert text.count("<li>") == 263  # as many as 2 ** 18 characters hold, and the one that goes beyond
    assert "500 more cases with the same message" in text
    assert "and 237 more cases" in text
