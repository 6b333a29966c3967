"""The guide as pages of the site: Markdown to HTML, with links that lead to the site's own pages."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from dmlcheck.reports.site.templates import address_of_guide_page

if TYPE_CHECKING:
    from markdown_it.token import Token

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "guide")


class GuidePage(NamedTuple):
    """A page of the guide: its address, title and first paragraph, the body as HTML, and its sections by their ids."""

    address: str
    title: str
    summary: str
    body: str
    sections: tuple[tuple[str, str], ...]


def guide_pages() -> Iterator[GuidePage]:
    """Yield the pages of the guide that the site has, by the names of their files."""
    for file in sorted(os.listdir(FOLDER)):
        address = address_of_guide_page(file)
        if address is not None:
            with open(os.path.join(FOLDER, file), encoding="utf-8") as page:
                yield guide_page(address, page.read())


def guide_page(address: str, text: str) -> GuidePage:
    """Return a page of the guide from its Markdown."""
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark").enable("table")
    tokens = markdown.parse(text)
    headings = list(_number_headings(tokens))
    for token in _every(tokens):
        _link(token)
    title = next((words for level, _, words in headings if level == "h1"), address)
    summary = next((_plain(token) for token in tokens if token.type == "inline" and not _is_heading(token, tokens)), "")
    body = markdown.renderer.render(tokens, markdown.options, {})
    sections = tuple((anchor, words) for level, anchor, words in headings if level == "h2")
    return GuidePage(address, title, summary, _focusable(body), sections)


def _number_headings(tokens: Sequence[Token]) -> Iterator[tuple[str, str, str]]:
    """Give every heading an id, as GitHub does, and yield its level, id and words."""
    taken: dict[str, int] = {}
    for token, content in pairwise(tokens):
        if token.type == "heading_open":
            words = _plain(content)
            anchor = slug(words)
            taken[anchor] = taken.get(anchor, -1) + 1
            anchor += f"-{taken[anchor]}" if taken[anchor] else ""
            token.attrSet("id", anchor)
            yield token.tag, anchor, words


def slug(words: str) -> str:
    """Return the anchor that GitHub gives a heading: in lower case, hyphens for spaces, without punctuation."""
    return re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")


def first_sentences(text: str, most: int) -> str:
    """Return as many whole sentences of a text as have at most `most` characters, at least one."""
    begun = text if len(text) <= most else text[: max(text.find(". "), text.rfind(". ", 0, most + 1)) + 1]
    return begun or text


def _is_heading(token: Token, tokens: Sequence[Token]) -> bool:
    return tokens[tokens.index(token) - 1].type == "heading_open"


def _plain(token: Token) -> str:
    """Return the words of a line without its marks."""
    kinds = ("text", "code_inline", "softbreak")
    parts = (part for part in token.children or () if part.type in kinds)
    return "".join(" " if part.type == "softbreak" else part.content for part in parts)


def _every(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _every(token.children or ())


def _link(token: Token) -> None:
    """Make a link to a file lead to the site's page of it; where the site has none it is text."""
    if token.type != "link_open":
        return
    target = str(token.attrGet("href"))
    if re.match(r"[a-z]+:", target) or target.startswith("#"):
        return
    file, sign, anchor = target.partition("#")
    address = address_of_guide_page(file)
    if address is None:
        token.attrs.clear()
    else:
        token.attrSet("href", address + sign + anchor)


def _focusable(body: str) -> str:
    """Let wide blocks be scrolled by keyboard: code, and tables in regions of their own, whose names are unique."""
    body = body.replace("<pre>", '<pre tabindex="0" aria-label="Code">')
    numbers = count(1)
    region = '<div class="wide" tabindex="0" role="region" aria-label="Table {}"><table>'
    body = re.sub("<table>", lambda _: region.format(next(numbers)), body)
    return body.replace("</table>", "</table></div>")


def guide_values(page: GuidePage, markup: Any) -> dict[str, Any]:
    """Return the values of the template for a page of the guide; `markup` marks HTML that needs no escaping."""
    return {
        "title": page.title,
        "summary": first_sentences(page.summary, 200),
        "address": page.address,
        "body": markup(page.body),
        "sections": page.sections,
    }
