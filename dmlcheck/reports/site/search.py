"""The search index of the site: a script with one entry for each thing that a reader may look for."""

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
from dmlcheck.reports.site.templates import with_minus
from dmlcheck.specs.names import ENUMS, LEVELS, first_windows, level_and_version
from dmlcheck.specs.records import OperatorSpec


class SearchEntry(NamedTuple):
    """A name to find, its kind, the address of its page, other words that find it, and how many constraints it has."""

    name: str
    kind: str
    address: str
    words: str = ""
    constraints: int = 0


LISTS = (
    SearchEntry(
        "Corrections", "errors, contradictions and silences of Microsoft's pages", "corrections.html", "errata"
    ),
    SearchEntry("Known deviations", "of DirectML from its documentation", "corrections.html#deviations", "bugs"),
    SearchEntry("Feature levels", "with the versions of DirectML and Windows", "levels.html"),
    SearchEntry("Data types", "with the operators that take them", "levels.html#types"),
    SearchEntry("Messages", "of DirectML, its debug layer and the programs that use it", "messages.html"),
)


def index_text(records: Sequence[OperatorRecord], guide: Sequence[GuidePage], messages: Sequence[Any]) -> str:
    """Return the script that defines INDEX, one entry a line; an entry without other words ends before them."""
    specs = [record.spec for record in records]
    entries = [*_operators(records), *fields(specs), *enums(specs), *_others(guide), *_messages(messages)]
    rows = (list(entry) if entry.constraints else list(entry[: 4 if entry.words else 3]) for entry in entries)
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    return '"use strict";\nconst INDEX = [\n' + ",\n".join(lines) + "\n];\n"


def _operators(records: Iterable[OperatorRecord]) -> Iterator[SearchEntry]:
    """Yield the operators, found by their names in other libraries, with and without a domain, and by search words."""
    for record in records:
        short, names = record.spec.short, [one.name for one in record.counterparts]
        words = dict.fromkeys([*names, *(name.rpartition(".")[2] for name in names), *record.about.keywords])
        purpose = with_minus(record.about.purpose.partition(". ")[0].rstrip("."))
        kind = f"operator, from {record.spec.introduced}: {purpose}"
        numbers = (int(row.id[1:]) for row in record.spec.constraints)
        yield SearchEntry(short, kind, address_of_operator(short), " ".join(words), max(numbers, default=0))
        for number, recipe in enumerate(record.about.recipes, 1):
            yield SearchEntry(recipe.title, f"recipe with {short}", f"{address_of_operator(short)}#R{number}")


def fields(specs: Iterable[OperatorSpec]) -> Iterator[SearchEntry]:
    """Yield each field once, with the operators that have it; it leads to the first of these."""
    having: dict[str, list[str]] = {}
    for spec in specs:
        for name in spec.fields:
            having.setdefault(name, []).append(spec.short)
    for name, operators in having.items():
        some = ", ".join(operators[:3]) + (f" and {len(operators) - 3} more" if len(operators) > 3 else "")
        yield SearchEntry(name, f"field of {some}", f"{address_of_operator(operators[0])}#{name}")


def enums(specs: Iterable[OperatorSpec]) -> Iterator[SearchEntry]:
    """Yield each enumeration once, with its values; it leads to the first field that has it."""
    first: dict[str, str] = {}
    for spec in specs:
        for field in spec.fields.values():
            if field.enum is not None:
                first.setdefault(field.enum, f"{address_of_operator(spec.short)}#{field.name}")
    for enum, address in first.items():
        yield SearchEntry(enum, "enumeration", address, " ".join(ENUMS[enum]))


def _others(guide: Iterable[GuidePage]) -> Iterator[SearchEntry]:
    for rule in RULES:
        yield SearchEntry(rule, f"error: {page(rule).summary}", address_of_rule(rule))
    for level in LEVELS:
        windows = first_windows(level)
        words = f"{level} {windows.name}" if windows else level
        yield SearchEntry(f"DML_FEATURE_LEVEL_{level}", level_and_version(level), address_of_level(level), words)
    for data_type in TYPES:
        yield SearchEntry(data_type, "data type", address_of_type(data_type), f"DML_TENSOR_DATA_TYPE_{data_type}")
    yield from LISTS
    for one in guide:
        yield SearchEntry(one.title, "guide", one.address)
        yield from (SearchEntry(words, f"guide: {one.title}", f"{one.address}#{at}") for at, words in one.sections)


def _messages(messages: Iterable[Any]) -> Iterator[SearchEntry]:
    for row in messages:
        first, *others = row["patterns"]
        yield SearchEntry(first, f"message of {row['by']}", f"messages.html#{row['id']}", " ".join(others))
