"""The sentences of the site are short."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from guide_pages import ROOT
from lxml import html
from site_pages import trees

from dmlcheck.reports.site.build import guide_page

# No prose: code, drawings, and the lists of links around a page.
_NOT_PROSE = {"pre", "script", "style", "svg", "nav", "template"}
# Lists of names and numbers, by the classes of the elements that have them, and the labels before a text.
_NAMES = {"grid", "levels", "tables", "labels", "lineage", "names", "values", "pattern", "turn", "enum", "id", "tag"}
_ONE_WORD = {"code", "math"}
_INLINE = {
    "a", "abbr", "b", "code", "data", "del", "em", "i", "ins", "kbd", "math", "s", "span", "strong", "sub", "sup",
    "wbr",
}  # fmt: skip
_ABBREVIATION = re.compile(r"(?:^|[\s(\"“])(?:e\.g|i\.e|vs|cf|approx|No|Fig)\.$")
_END = re.compile(r"(?<=\S)[.?!][\"”')\]]*(?=\s)")
_INDICES = re.compile(r"\[[^\[\]]*\]|\{[^{}]*\}")  # of an element, or sizes: [0, 0, 1], {N, C, H, W}


def sentences_of(tree: Any) -> Iterator[str]:
    """Yield the sentences of a page: of its description, and of each block of its body."""
    for element in tree.iterfind(".//meta[@name='description']"):
        yield from split(element.get("content"))
    for text in _blocks(tree.find("body")):
        yield from split(text)


def split(text: str) -> Iterator[str]:
    """Yield the sentences of a text that has no marks.

    A sentence ends at a full stop, a question mark or an exclamation mark before a space, with the quotes and brackets
    that close there. The full stop of an abbreviation does not end it.
    """
    text = " ".join(text.split())
    begin = 0
    for found in _END.finditer(text):
        if not _ABBREVIATION.search(text[begin : found.start() + 1]):
            yield text[begin : found.end()]
            begin = found.end() + 1
    if text[begin:]:
        yield text[begin:]


def word_count(sentence: str) -> int:
    """Return the number of words: what stands between spaces and has a letter or a digit; `[0, 1]` is part of one."""
    one = _INDICES.sub(lambda found: found[0].replace(" ", ""), sentence)
    return sum(any(letter.isalnum() for letter in word) for word in one.split())


def _blocks(body: Any) -> Iterator[str]:
    """Yield the text of each block, and each citation of a source apart from the text around it."""
    for text in "".join(_pieces(body)).split(_BREAK):
        if text.strip():
            yield text


_BREAK = "\x00"


def _pieces(element: Any) -> Iterator[str]:
    """Yield the text of an element in pieces, with a break before and after each block."""
    tag = element.tag
    if tag in _ONE_WORD:
        yield "".join(element.text_content().split()) if tag == "code" else "x"
    elif not isinstance(tag, str) or tag in _NOT_PROSE or _NAMES & set(element.get("class", "").split()):
        yield _BREAK
    elif "source" in (element.get("class"), element.get("data-fact", "").rpartition(".")[2]):
        yield _BREAK + element.text_content().replace(";", _BREAK) + _BREAK
    else:
        end = "" if tag in _INLINE else _BREAK
        yield end + (element.text or "")
        for child in element:
            yield from _pieces(child)
            yield child.tail or ""
        yield end


MOST_WORDS = 25


@pytest.mark.slow
def test_no_sentence_has_more_than_25_words() -> None:
    """Every page is read: its description, and each block of its body (paragraph, item, cell, heading, caption).

    - A sentence ends at a full stop, question mark or exclamation mark before a space, and at the end of its block.
      So a colon ends one where a list follows, which is a block. Commas, semicolons and dashes end none.
    - A full stop inside a number, a version or a file name ends none, and neither does that of "e.g." or "i.e.", or one
      that stands between spaces: a product of a formula.
    - A word is what stands between spaces and has a letter or a digit. Inline code, an equation and the indices or
      sizes in brackets are one word or part of one.
    - Not read: code in blocks, drawings, navigation, grids of numbers, tables of data types, lists of names, labels.
    - A source is a list of citations; each of them, up to a semicolon, is read like a sentence.
    """
    counted = [(name, word_count(text), text) for name, tree in trees().items() for text in sentences_of(tree)]
    assert len(counted) > 10_000
    longer = [row for row in counted if row[1] > MOST_WORDS]
    assert longer == []


@pytest.mark.parametrize("name", ["README.md", "dmlcheck/guide/code.md", ".github/CONTRIBUTING.md"])
def test_no_sentence_of_the_pages_for_developers_has_more_than_25_words(name: str) -> None:
    page = guide_page("page.html", (ROOT / name).read_text(encoding="utf-8"))
    texts = list(sentences_of(html.document_fromstring(f"<body>{page.body}</body>")))
    assert len(texts) > 30
    assert [text for text in texts if word_count(text) > MOST_WORDS] == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<p>It is so. It is <b>not</b> so!</p>", ["It is so.", "It is not so!"]),
        ("<p>Is it 1.12.0? It is of case.yaml.</p>", ["Is it 1.12.0?", "It is of case.yaml."]),
        ("<p>Others, e.g. GEMM (i.e. products), too.</p>", ["Others, e.g. GEMM (i.e. products), too."]),
        ("<p>It says “no.” Then nothing.</p>", ["It says “no.”", "Then nothing."]),
        ("<p>It is a . b. Others are 0.</p>", ["It is a . b.", "Others are 0."]),
        ("<p>There are:</p><ul><li>one; two</li><li>three</li></ul>", ["There are:", "one; two", "three"]),
        ("<li>One <p>two</p> three</li>", ["One", "two", "three"]),
        ("<p>a<br>b<small>c</small></p>", ["a", "b", "c"]),
        ("<p>Run <code>dmlcheck  run a. b</code> now.</p>", ["Run dmlcheckruna.b now."]),
        ("<p>The <math><mi>a</mi><mo>+</mo><mi>b</mi></math> of it.</p>", ["The x of it."]),
        ("<pre>No. Prose.</pre><nav><a>Home</a></nav><p><a class='id'>C1</a>Equal sizes.</p>", ["Equal sizes."]),
        ("<dd data-fact='errata.E1.source'>the page; issue 7 (a; b)</dd>", ["the page", "issue 7 (a", "b)"]),
        ("<p>1 ULP (<span class='source'>a book</span>)</p>", ["1 ULP (", "a book", ")"]),
    ],
)
def test_sentences_are_found_in_the_blocks_of_a_page(body: str, expected: list[str]) -> None:
    assert list(sentences_of(html.document_fromstring(f"<body><div>{body}</div></body>"))) == expected


def test_the_description_of_a_page_is_read() -> None:
    page = '<html><head><meta name="description" content="One. Two."></head><body><h1>Three</h1></body></html>'
    assert list(sentences_of(html.document_fromstring(page))) == ["One.", "Two.", "Three"]


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("Output[0, 1] = {N, C, H, W}, as before.", 4),
        ("x * Scale + Bias", 3),
        ("one-by-one, 1.5 ULP — no more", 5),
    ],
)
def test_words_have_a_letter_or_a_digit(sentence: str, words: int) -> None:
    assert (word_count(sentence), list(split(sentence))) == (words, [sentence])
