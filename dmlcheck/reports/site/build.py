"""The files of the site, made from the specs, the kernels, the rules, the cases and the guide, and its search."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dmlcheck import __version__
from dmlcheck.cases.records import Case
from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.diagnostics.pages import page
from dmlcheck.diagnostics.wording import first_few
from dmlcheck.inspection.executed import executed_runs
from dmlcheck.inspection.operator_pages import OperatorRecord, operator_record
from dmlcheck.reports.executed import executed_text
from dmlcheck.reports.site.guide import GuidePage, guide_pages, guide_values
from dmlcheck.reports.site.lists import (
    TYPES,
    corrections_values,
    level_values,
    levels_values,
    messages_values,
    rule_groups,
    rule_values,
    type_values,
)
from dmlcheck.reports.site.mistakes import Mistake
from dmlcheck.reports.site.operators import NearbyOperators, operator_values
from dmlcheck.reports.site.templates import (
    address_of_level,
    address_of_operator,
    address_of_rule,
    address_of_type,
    file_text,
    render,
    with_minus,
)
from dmlcheck.reports.style import styled
from dmlcheck.specs.about import FAMILIES
from dmlcheck.specs.names import ENUMS, LEVELS, first_windows, level_and_version
from dmlcheck.specs.ranking import EMPTY_WORDS
from dmlcheck.specs.records import OperatorSpec
from dmlcheck.specs.search import enums_of, fields_of, operator_entry, type_entry


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
        yield _page(address_of_operator(short), "operator.html", "index.html", _of_operator(record, values))
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


def _of_operator(record: OperatorRecord, values: Mapping[str, Any]) -> dict[str, Any]:
    title = f"{record.spec.short}: fields, data types, constraints, formula"
    return {**values, "title": title, "summary": record.about.purpose, "sections": _sections(values)}


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
