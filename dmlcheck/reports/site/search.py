"""The search of the site: a script with an entry for everything that a reader may look for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.diagnostics.pages import page
from dmlcheck.inspection.operator_record import OperatorRecord
from dmlcheck.reports.site.guide import GuidePage
from dmlcheck.reports.site.links import address_of_level, address_of_operator, address_of_rule, address_of_type
from dmlcheck.reports.site.lists import TYPES
from dmlcheck.reports.site.templates import file_text, with_minus
from dmlcheck.specs.names import ENUMS, LEVELS, first_windows, level_and_version
from dmlcheck.specs.ranking import EMPTY_WORDS
from dmlcheck.specs.records import OperatorSpec
from dmlcheck.specs.search import enums_of, fields_of, operator_entry, type_entry


class SearchEntry(NamedTuple):
    """Something to find, and its place in the site; the other values are those of `IndexEntry` of `specs`."""

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
        some = ", ".join(operators[:3]) + (f" and {len(operators) - 3} more" if len(operators) > 3 else "")
        yield SearchEntry(name, f"field of {some}", f"{address_of_operator(operators[0])}#{name}")


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
