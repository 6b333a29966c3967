"""The templates of the page: what is filled in is escaped, and all files are whole and in use."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from html_pages import check

from dmlcheck.reports import html
from dmlcheck.reports.html.templates import Group, Markup, PageSection, file_text, fill, joined, plain

FOLDER = Path(str(html.__file__)).parent
FILES = sorted(path.stem for path in FOLDER.glob("*.html"))
CODE = "".join(path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.py")))


def parts() -> list[str]:
    return [
        f"{name}.{part}"
        for name in FILES
        for part in re.findall(r"^=== (\w+)$", file_text(f"{name}.html"), re.MULTILINE)
    ]


def test_a_text_is_escaped_and_markup_is_not() -> None:
    assert fill("case.constraint", constraint="<a>&\"$x'\x00") == (
        ' <span class="quiet">(&lt;a&gt;&amp;&quot;$x&#x27;\\x00)</span>'
    )
    assert fill("case.constraint", constraint=Markup("<b>x</b>")) == ' <span class="quiet">(<b>x</b>)</span>'
    assert isinstance(fill("case.line_break"), Markup)


def test_pieces_stay_markup() -> None:
    both = joined([fill("case.line_break"), fill("case.line_break")])
    assert (both, type(both)) == ("<br><br>", Markup)


@pytest.mark.parametrize("values", [{}, {"constraints": "x"}])
def test_a_value_that_is_missing_is_an_error(values: dict[str, str]) -> None:
    with pytest.raises(KeyError):
        fill("case.constraint", **values)


def test_every_part_is_used_and_every_part_that_is_used_is_there() -> None:
    assert FILES
    assert sorted(parts()) == sorted(set(parts()))
    assert set(re.findall(r'fill\(\s*"(\w+\.\w+)"', CODE)) == set(parts())


def test_no_markup_is_written_in_the_code() -> None:
    assert (
        re.findall(r"</|<(?:p|b|a|td|th|li|div|span|dl|pre)[ >]", re.sub(r"^\s*#.*$", "", CODE, flags=re.MULTILINE))
        == []
    )


@pytest.mark.parametrize(
    "name", ["case.diagnostic", "case.facts", "output.elements", "operators.table", "page.filters"]
)
def test_a_part_is_whole(name: str) -> None:
    file, _, part = name.partition(".")
    text = re.split(r"^=== \w+\n", file_text(f"{file}.html").split(f"=== {part}\n")[1], flags=re.MULTILINE)[0]
    names = re.findall(r"\$\{?(\w+)", text)
    check("<main>" + fill(name, **{one: Markup() for one in names}) + "</main>")


# ---- texts in HTML


def test_text_is_cut_off_and_spelt_out() -> None:
    assert plain("a\tb\nc\x7f\xa0") == "a\\tb\nc\\x7f\\xa0"
    assert plain("x" * 3000, 10) == "xxxxxxx..."


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
