"""The sentences of the site's pages, and how many words each has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

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
