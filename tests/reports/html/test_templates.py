"""The templates of the page: what is filled in is escaped, and all files are whole and in use."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from html_pages import check

from dmlcheck.reports import html
from dmlcheck.reports.html.templates import Markup, file_text, fill, joined, plain

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
