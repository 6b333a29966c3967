"""The files of the site, made from the specs, the kernels, the rules, the cases and the guide, and its search."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from dmlcheck import __version__
from dmlcheck.cases.records import Case
from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.diagnostics.pages import page
from dmlcheck.diagnostics.wording import first_few
from dmlcheck.inspection.executed import executed_runs
from dmlcheck.inspection.operator_pages import OperatorRecord, operator_record
from dmlcheck.reports.executed import executed_text
from dmlcheck.reports.site.mistakes import Mistake
from dmlcheck.reports.site.operators import (
    TYPES,
    NearbyOperators,
    corrections_values,
    level_values,
    levels_values,
    messages_values,
    operator_values,
    rule_groups,
    rule_values,
    type_values,
)
from dmlcheck.reports.style import styled
from dmlcheck.specs.about import FAMILIES
from dmlcheck.specs.names import ENUMS, LEVELS, first_windows, level_and_version, short_operator
from dmlcheck.specs.ranking import EMPTY_WORDS
from dmlcheck.specs.records import OperatorSpec
from dmlcheck.specs.search import enums_of, fields_of, operator_entry, type_entry

if TYPE_CHECKING:
    from jinja2 import Environment
    from markdown_it.token import Token


class File(NamedTuple):
    """A file of the site: its name in the folder, and its text."""

    name: str
    text: str


def site_files(specs: Sequence[OperatorSpec], cases: Mapping[str, Sequence[Case]]) -> Iterator[File]:
    """Yield every file of the site; `cases` has the bundled cases by the full name of their operator."""
    guide = list(guide_pages())
    records = list(map(operator_record, specs))
    found: dict[str, Mapping[str, Mistake]] = {}
    yield File("style.css", styled(file_text("style.css")))
    yield File("script.js", file_text("script.js"))
    for record, around in zip(records, neighbours(records), strict=True):
        short = record.spec.short
        values = operator_values(record, cases.get(record.spec.operator, ()), around)
        found[short] = values["mistakes"]
        title = f"{record.spec.short}: fields, data types, constraints, formula"
        yield _page(
            address_of_operator(short),
            "operator.html",
            "index.html",
            {**values, "title": title, "summary": record.about.purpose, "sections": _sections(values)},
        )
    yield _page("index.html", "index.html", "index.html", _index(records))
    yield from _lists(specs, found, guide)
    for one in guide:
        if one.address != "rules.html":
            yield _page(one.address, "guide.html", "guide.html", guide_values(one, _markup))
    yield File("search.js", search_script(site_entries(records, guide, messages_values()["messages"])))


def _page(address: str, template: str, section: str, values: Mapping[str, Any]) -> File:
    given = {"sections": (), "summary": values["title"], **values, "section": section, "version": __version__}
    return File(address, render(template, given))


def _markup(text: str) -> Any:
    from markupsafe import Markup

    return Markup(text)  # noqa: S704 - made by the Markdown renderer, which escapes


def _sections(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the sections that an operator's page has, in its order."""
    record = values["record"]
    there = (
        ("example", "Example", values["example"]),
        ("recipes", "Recipes", values["recipes"]),
        ("formula", "Formula", True),
        ("fields", "Fields", True),
        ("levels", "Data types by feature level", True),
        ("constraints", "Constraints", values["constraints"]),
        ("alternatives", "Several right results", values["alternatives"]),
        ("undefined", "Undefined results", values["undefined"] or values["general"]),
        ("errata", "Corrections", record["errata"]),
        ("accuracy", "Accuracy", values["derived"] or values["limits"]),
        ("deviations", "Known deviations", record["known_deviations"]),
        *((f"deviations-of-{name}", f"Known deviations of {name}", True) for name in record["deviations_of"]),
        ("others", "In other APIs", True),
        ("evidence", "Evidence", True),
    )
    return [(anchor, words) for anchor, words, is_there in there if is_there]


def neighbours(records: Sequence[OperatorRecord]) -> Iterator[NearbyOperators]:
    """Yield the neighbours of each operator, in the order of the operators."""
    names = [None, *(record.spec.short for record in records), None]
    for at, record in enumerate(records):
        family = record.about.family
        members = tuple(one.spec.short for one in records if one.about.family == family)
        yield NearbyOperators(FAMILIES[family], members, names[at], names[at + 2])


def _lists(
    specs: Sequence[OperatorSpec], found: Mapping[str, Mapping[str, Mistake]], guide: Sequence[GuidePage]
) -> Iterator[File]:
    title = {"title": "Feature levels and data types", "sections": [("levels", "Levels"), ("types", "Data types")]}
    yield _page("levels.html", "levels.html", "levels.html", {**levels_values(specs), **title})
    for level in LEVELS:
        values = {**level_values(specs, level), "title": f"Feature level {level}"}
        yield _page(address_of_level(level), "level.html", "levels.html", values)
    for name in TYPES:
        yield _page(address_of_type(name), "type.html", "levels.html", {**type_values(specs, name), "title": name})
    yield _rules(guide)
    for rule in RULES:
        values = {**rule_values(rule, found), "title": rule}
        yield _page(address_of_rule(rule), "rule.html", "rules.html", values)
    sections = [
        ("corrections", "Corrections"),
        ("error", "Errors"),
        ("contradiction", "Contradictions"),
        ("silence", "Silences"),
        ("deviations", "Known deviations"),
    ]
    title = {"title": "Corrections and known deviations", "sections": sections}
    yield _page("corrections.html", "corrections.html", "corrections.html", {**corrections_values(specs), **title})
    values = {**messages_values(), "title": "Messages of DirectML"}
    yield _page("messages.html", "messages.html", "messages.html", values)


def _index(records: Sequence[OperatorRecord]) -> dict[str, Any]:
    rows = [
        {"id": family, "name": title, "records": [one for one in records if one.about.family == family]}
        for family, title in FAMILIES.items()
    ]
    specs = [record.spec for record in records]
    return {
        "title": "Operators",
        "count": len(records),
        "families": rows,
        "executed": [executed_text(run, run.counts()) for run in executed_runs()],
        "names": sorted([*fields(specs), *enums(specs)], key=lambda entry: entry.name.lower()),
        "sections": [*((row["id"], row["name"]) for row in rows), ("names", "Fields, A to Z")],
    }


def _rules(guide: Sequence[GuidePage]) -> File:
    """Return the list of the rules, below what the guide says of them before its own list."""
    own = next(page for page in guide if page.address == "rules.html")
    body = own.body.partition("<pre")[0]
    groups = rule_groups()
    sections = [(f"group-{group.replace(' ', '-')}", group.capitalize()) for group in groups]
    values = {"title": own.title, "summary": own.summary, "body": _markup(body), "groups": groups, "sections": sections}
    return _page("rules.html", "rules.html", "rules.html", values)


# ---- the search: a script with an entry for everything that a reader may look for


class SearchEntry(NamedTuple):
    """Something to find, and its place in the site; the other values are the ones of `IndexEntry` of `specs`."""

    name: str
    text: str
    address: str
    names: str = ""
    words: str = ""
    labels: str = ""


LISTS = (
    SearchEntry("Operators", "by family", "index.html"),
    SearchEntry(
        "Corrections", "errors, contradictions and silences of Microsoft's pages", "corrections.html", names="errata"
    ),
    SearchEntry("Known deviations", "of DirectML from its documentation", "corrections.html#deviations", names="bugs"),
    SearchEntry("Feature levels", "with the versions of DirectML and Windows", "levels.html"),
    SearchEntry("Data types", "with the operators that take them", "levels.html#types"),
    SearchEntry("Messages", "of DirectML, its debug layer and the programs that use it", "messages.html"),
)


def search_script(entries: Iterable[SearchEntry]) -> str:
    """Return the script with the search and its index: one entry a line, which ends with its last value."""
    words = json.dumps(sorted(EMPTY_WORDS))
    index = [f"const EMPTY_WORDS = {words};", f"const LISTS = {_rows(LISTS)};", f"const INDEX = {_rows(entries)};"]
    return "\n".join(('"use strict";', *index, file_text("search.js")))


def _rows(entries: Iterable[SearchEntry]) -> str:
    lines = (json.dumps(_row(entry), ensure_ascii=False, separators=(",", ":")) for entry in entries)
    return "[\n" + ",\n".join(lines) + "\n]"


def _row(entry: SearchEntry) -> list[str]:
    length = max(at for at, value in enumerate(entry, 1) if value)
    return list(entry[:length])


def site_entries(
    records: Sequence[OperatorRecord], guide: Sequence[GuidePage], messages: Sequence[Any]
) -> list[SearchEntry]:
    """Return everything that the site's search finds."""
    specs = [record.spec for record in records]
    return [*_operators(records), *fields(specs), *enums(specs), *_others(guide), *_messages(messages)]


def _operators(records: Iterable[OperatorRecord]) -> Iterator[SearchEntry]:
    for record in records:
        entry, address = operator_entry(record.spec, record.about), address_of_operator(record.spec.short)
        purpose = with_minus(record.about.purpose.partition(". ")[0].rstrip("."))
        text = f"operator, from {record.spec.introduced}: {purpose}"
        yield SearchEntry(entry.name, text, address, entry.names, entry.words, entry.labels)
        for number, recipe in enumerate(record.about.recipes, 1):
            yield SearchEntry(recipe.title, f"recipe with {entry.name}", f"{address}#R{number}")


def fields(specs: Iterable[OperatorSpec]) -> Iterator[SearchEntry]:
    """Yield each field once, with the operators that have it; it leads to the first of these."""
    for name, operators in fields_of(specs).items():
        yield SearchEntry(name, f"field of {first_few(operators, 3)}", f"{address_of_operator(operators[0])}#{name}")


def enums(specs: Iterable[OperatorSpec]) -> Iterator[SearchEntry]:
    """Yield each enumeration once, with its values; it leads to the first field that has it."""
    for enum, (operator, field) in enums_of(specs).items():
        yield SearchEntry(enum, "enumeration", f"{address_of_operator(operator)}#{field}", " ".join(ENUMS[enum]))


def _others(guide: Iterable[GuidePage]) -> Iterator[SearchEntry]:
    for rule in RULES:
        yield SearchEntry(rule, f"error: {page(rule).summary}", address_of_rule(rule))
    for level in LEVELS:
        windows = first_windows(level)
        of_windows = windows.name if windows else ""
        text, address = level_and_version(level), address_of_level(level)
        yield SearchEntry(f"DML_FEATURE_LEVEL_{level}", text, address, level, of_windows)
    for data_type in TYPES:
        yield SearchEntry(data_type, "data type", address_of_type(data_type), type_entry(data_type).names)
    yield from LISTS
    for one in guide:
        yield SearchEntry(one.title, "guide", one.address)
        yield from (SearchEntry(words, f"guide: {one.title}", f"{one.address}#{at}") for at, words in one.sections)


def _messages(messages: Iterable[Any]) -> Iterator[SearchEntry]:
    for row in messages:
        first, *others = row["patterns"]
        yield SearchEntry(first, f"message of {row['by']}", f"messages.html#{row['id']}", words=" ".join(others))


# ---- the guide as pages of the site: Markdown to HTML, with links that lead to the site's own pages


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


# ---- the templates: Jinja2 with escaping on, and the filters that they use


_TEMPLATES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "templates")


def render(template: str, values: Mapping[str, Any]) -> str:
    """Return a filled template; every value is escaped that is not markup already."""
    return _environment().get_template(template).render(values)


def file_text(name: str) -> str:
    """Return a file of the site that needs no filling in: its style or its script."""
    with open(os.path.join(_TEMPLATES, name), encoding="utf-8") as file:
        return file.read()


def breakable(name: str) -> Any:
    """Return a name that a browser may break after an underscore, or where a new word begins."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"(?<=_)(?=.)|(?<=[a-z])(?=[A-Z])", "<wbr>", str(escape(name))))  # noqa: S704 - escaped


# A hyphen that is a sign or a difference: not one in a word, a name or an option.
_MINUS = re.compile(r"(?<=\S )-(?= )|(?<![^\s(\[{=<>,;*/|])-(?=[\w(.])")
_CODE = re.compile("`([^`]+)`")


def with_minus(text: str) -> str:
    """Return a text with a minus for each hyphen that stands for one."""
    return _MINUS.sub("\N{MINUS SIGN}", text)


def prose(text: str) -> Any:
    """Return a text as markup, with code for the names that stand in backticks, and with minuses outside these."""
    from markupsafe import Markup, escape

    parts = _CODE.split(text)  # every second one is code
    drawn = (f"<code>{escape(part)}</code>" if at % 2 else escape(with_minus(part)) for at, part in enumerate(parts))
    return Markup("".join(drawn))  # noqa: S704 - escaped


_ADDRESS = re.compile(r"(?P<url>https?://[^\s;,)]+)|\b(?P<name>[\w.-]+/[\w.-]+)#(?P<number>\d+)\b")


def linked(text: str) -> Any:
    """Return a text as markup, with links at its addresses and its GitHub threads, as in owner/name#1."""
    from markupsafe import Markup, escape

    def link(found: re.Match[str]) -> str:
        address = found["url"] or f"https://github.com/{found['name']}/issues/{found['number']}"
        return f'<a href="{address}">{found[0]}</a>'

    return Markup(_ADDRESS.sub(link, str(escape(text))))  # noqa: S704 - escaped


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["breakable"] = breakable
    environment.filters["linked"] = linked
    environment.filters["prose"] = prose
    environment.filters["leaves"] = leaves
    environment.filters["short"] = short_operator
    environment.globals.update(
        operator_url=address_of_operator,
        rule_url=address_of_rule,
        level_url=address_of_level,
        type_url=address_of_type,
    )
    return environment


# ---- the facts of a record that a page says in words, as machines read them


def leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each value in a part of a record; a list is one text, empty values are none."""
    if value in (None, "", [], ()):
        return
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from leaves(part, f"{path}.{key}")
    elif isinstance(value, (list, tuple)):
        yield path, " ".join(map(str, value))
    else:
        yield path, value if isinstance(value, str) else json.dumps(value)


# ---- the addresses of the site's pages, relative to its folder


def address_of_operator(operator: str) -> str:
    """Return the address of an operator's page, by its full or short name: `gemm.html`."""
    return f"{short_operator(operator).lower()}.html"


def address_of_rule(rule: str) -> str:
    """Return the address of a rule's page: `rule-size-mismatch.html`."""
    return f"rule-{rule}.html"


def address_of_level(level: str) -> str:
    """Return the address of a feature level's page: `level-4_1.html`."""
    return f"level-{level}.html"


def address_of_type(data_type: str) -> str:
    """Return the address of a data type's page: `type-float32.html`."""
    return f"type-{data_type.lower()}.html"


# Pages of the guide that the site has in another form: the list of the rules is the page of the rules, and an
# operator's evidence is on its own page. The page about the code is for those who have the code.
GUIDE_PAGES = {"README.md": "guide.html", "rules.md": "rules.html"}
GUIDE_LEFT_OUT = frozenset(("evidence.md", "code.md"))


def address_of_guide_page(file: str) -> str | None:
    """Return the address of a page of the guide by its file's name, None where the site does not have it."""
    if file in GUIDE_LEFT_OUT or not file.endswith(".md"):
        return None
    return GUIDE_PAGES.get(file, f"guide-{file.removesuffix('.md')}.html")
