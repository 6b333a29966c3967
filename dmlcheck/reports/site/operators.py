"""The values of an operator's page: its record, as `show --format json` prints it, and texts made of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from latex2mathml.converter import convert
from markupsafe import Markup

from dmlcheck.cases.records import Case
from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.diagnostics.pages import page
from dmlcheck.diagnostics.wording import counted, dimension_counts_text
from dmlcheck.inspection.coverage import KINDS, Evidence, evidence
from dmlcheck.inspection.executed import runs_of
from dmlcheck.inspection.level_diff import differences, level_evidence
from dmlcheck.inspection.messages import messages
from dmlcheck.inspection.operator_pages import OperatorRecord, operator_dict, rounding_limits
from dmlcheck.inspection.selfcheck import example
from dmlcheck.reports.conditions import condition_text, constraint_text, deviation_text, taken_text, taken_values_text
from dmlcheck.reports.executed import executed_text
from dmlcheck.reports.level_diff import change_texts
from dmlcheck.reports.operator_page import derived_texts, general_texts, limit_text
from dmlcheck.reports.site.example import example_of, recipe_yaml
from dmlcheck.reports.site.mistakes import Mistake, mistakes, output_of
from dmlcheck.reports.site.pictures.table import pictures
from dmlcheck.specs.about import FOUND_IN
from dmlcheck.specs.names import (
    DATA_TYPES,
    FEATURE_LEVELS,
    LEVEL_ORDER,
    LEVELS,
    first_windows,
    releases_of,
    releases_text,
    releases_with,
    short_operator,
)
from dmlcheck.specs.records import (
    ALTERNATIVES,
    ERRATUM_KINDS,
    UNDEFINED,
    Constraint,
    Deviation,
    Erratum,
    OperatorSpec,
    SupportTable,
    TensorSupport,
)
from dmlcheck.validation.support_tables import heading_at


class NearbyOperators(NamedTuple):
    """The operators related to one: the title and the members of its family, and those before and after it by name."""

    family: str
    members: tuple[str, ...]
    before: str | None
    after: str | None


def operator_values(record: OperatorRecord, cases: Sequence[Case], around: NearbyOperators) -> dict[str, Any]:
    """Return the values that the template of an operator's page asks for."""
    spec, about = record.spec, record.about
    plain = operator_dict(record)
    case = example(about, cases)
    shown = None if case is None else example_of(spec, case)
    return {
        "spec": spec,
        "record": plain,
        "around": around,
        "struct": f"DML_{spec.short}_OPERATOR_DESC",
        "directml": FEATURE_LEVELS[spec.introduced].directml,
        "windows": first_windows(spec.introduced),
        "newest": _newest(plain),
        "levels": levels_of(spec),
        "example": shown,
        "pictures": [] if case is None or shown is None else pictures(about.family, case, shown.grids),
        "recipes": [recipe_yaml(spec, recipe) for recipe in about.recipes],
        "equations": list(zip(about.equations, map(_drawn, about.equations), strict=True)),
        "symbols": {symbol: _drawn(symbol, "inline") for symbol in about.where},
        "supports": supports(spec),
        "tables": _tables(plain),
        "beyond": [f"{row.releases.accept} {taken_values_text(row)}" for row in spec.taken],
        "asked": releases_text(releases_with(spec.introduced)),
        "constraints": _constraints(spec, plain),
        "naming": {field["name"]: _naming(spec, field) for field in plain["fields"]},
        "mistakes": mistakes(spec, [case for case in cases if case.invalid]),
        "affected": [_affected(row) for row in spec.known_deviations],
        "alternatives": _of_kind(plain, ALTERNATIVES),
        "undefined": _of_kind(plain, UNDEFINED),
        "general": general_texts(spec),
        "derived": derived_texts(spec),
        "roundings": rounding_limits(spec.operator),
        "limits": [limit_text(row) for row in spec.tolerance],
        "libraries": list(_libraries(plain)),
        "found_in": {library: ", ".join(packages) for library, packages in FOUND_IN.items()},
        "evidence": _evidence_rows(evidence(spec.operator, cases)),
    }


def _drawn(equation: str, display: str = "block") -> Markup:
    return Markup(mathml(equation, display))  # noqa: S704 - made of a spec


def _newest(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the data types and the numbers of dimensions that the newest rows of the support tables have."""
    rows = [row for table in record["support"] for row in table["levels"][0]["tensors"].values()]
    types = dict.fromkeys(data_type for row in rows for data_type in row["types"])
    dims = sorted({count for row in rows for count in row["dims"]})
    return {"types": ", ".join(types), "dims": dimension_counts_text(tuple(dims))}


def _tables(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the support tables as the specs have them, with their conditions in words."""
    return [{**table, "words": condition_text(table["when"]) if table["when"] else ""} for table in record["support"]]


def _constraints(spec: OperatorSpec, record: Mapping[str, Any]) -> list[dict[str, Any]]:
    pairs = zip(spec.constraints, record["constraints"], strict=True)
    return [{**given, "words": _untold(row), "accepted": taken_text(row)} for row, given in pairs]


def _naming(spec: OperatorSpec, field: Mapping[str, Any]) -> list[str]:
    """Return the ids of the constraints whose text names a field, without those that are shown as its limits."""
    shown = {limit["constraint"] for limit in field["limits"]}
    named = re.compile(rf"\b{field['name']}\b")
    return [row.id for row in spec.constraints if row.id not in shown and named.search(row.text)]


def _untold(row: Constraint) -> str:
    """Return the conditions of a constraint in words; none where its text says them."""
    return constraint_text(row).removeprefix(row.text).strip(" ()")


def _affected(row: Deviation) -> str:
    """Return in words the descs and elements that a deviation is about, with expressions as code."""
    words = deviation_text(row)
    for expression in filter(None, (row.where, row.values)):
        words = words.replace(expression, f"`{expression}`")
    return words


def _of_kind(record: Mapping[str, Any], kind: str) -> list[tuple[int, Any]]:
    """Return the undefined results of a kind, each with its number in the record."""
    return [(number, row) for number, row in enumerate(record["undefined"]) if row["kind"] == kind]


def _libraries(record: Mapping[str, Any]) -> Iterator[tuple[str, list[tuple[int, Any]]]]:
    libraries: dict[str, list[tuple[int, Any]]] = {}
    for number, row in enumerate(record["counterparts"]):
        libraries.setdefault(row["library"], []).append((number, row))
    yield from libraries.items()


def _evidence_rows(found: Evidence) -> dict[str, Any]:
    """Return the numbers of cases by the kind of their source, the largest first, and of other cases."""
    kinds = sorted(((count, KINDS[kind]) for kind, count in found.kinds.items() if count), reverse=True)
    return {
        "kinds": [(words, f"{count:,}") for count, words in kinds],
        "results": counted(found.results, "case"),
        "compared": counted(found.compared, "case"),
        "validity": counted(found.legality, "case"),
        "has_onnx": found.has_onnx,
        "executed": [executed_text(*one) for one in runs_of(found.operator)],
    }


# ---- MathML


# Commands and texts stay as they are.
_KEPT = re.compile(r"(\\text\{[^}]*\}|\\(?:begin|end)\{[^}]*\}|\\[a-zA-Z]+|\\.)")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]+")


def mathml(equation: str, display: str = "block") -> str:
    """Return an equation as an element `math`, on a line of its own or `inline`, with words upright."""
    text: str = convert(_with_names(equation), display=display)
    return text


def _with_names(equation: str) -> str:
    """Return an equation with each name as a text, which is set as one word."""
    parts = _KEPT.split(equation)
    return "".join(part if number % 2 else _NAME.sub(r"\\text{\g<0>}", part) for number, part in enumerate(parts))


# ---- support tables as matrices


class TypeRow(NamedTuple):
    """A data type and one mark for each feature level: "" for no support, "new" for the first level, "on" after it."""

    data_type: str
    marks: tuple[str, ...]


class Matrix(NamedTuple):
    """The common part of some tensors of one support table: types by level, and the numbers of dimensions by level."""

    tensors: tuple[str, ...]
    rows: tuple[TypeRow, ...]
    dimensions: tuple[tuple[str, str], ...]  # from a level on: `4_1`, `1 to 8`


class Support(NamedTuple):
    """A support table: its condition in words, "" for all descs, and a matrix for each different tensor."""

    when: str
    matrices: tuple[Matrix, ...]


def levels_of(spec: OperatorSpec) -> tuple[str, ...]:
    """Return the feature levels that have an operator, which are the columns of its matrices."""
    return LEVELS[LEVEL_ORDER[spec.introduced] :]


def supports(spec: OperatorSpec) -> tuple[Support, ...]:
    """Return the support tables of an operator."""
    return tuple(
        Support(condition_text(table.when) if table.when else "", tuple(_matrices(spec, table)))
        for table in spec.support
    )


def _matrices(spec: OperatorSpec, table: SupportTable) -> Iterator[Matrix]:
    names = [name for name in spec.fields if any(name in row for row in table.rows.values())]
    groups: dict[tuple[TensorSupport | None, ...], list[str]] = {}
    for name in names:
        groups.setdefault(_by_level(spec, table, name), []).append(name)
    for found, tensors in groups.items():
        yield Matrix(tuple(tensors), tuple(_type_rows(found)), tuple(_dimensions(spec, found)))


def _by_level(spec: OperatorSpec, table: SupportTable, name: str) -> tuple[TensorSupport | None, ...]:
    headings = [heading_at(table, level) for level in levels_of(spec)]
    return tuple(None if heading is None else table.rows[heading].get(name) for heading in headings)


def _type_rows(found: tuple[TensorSupport | None, ...]) -> Iterator[TypeRow]:
    for data_type in DATA_TYPES:
        has = [support is not None and data_type in support.types for support in found]
        if any(has):
            before = [False, *has[:-1]]
            yield TypeRow(
                data_type,
                tuple("" if not now else "on" if earlier else "new" for now, earlier in zip(has, before, strict=True)),
            )


def _dimensions(spec: OperatorSpec, found: tuple[TensorSupport | None, ...]) -> Iterator[tuple[str, str]]:
    last: tuple[int, ...] | None = None
    for level, support in zip(levels_of(spec), found, strict=True):
        if support is not None and support.dims != last:
            last = support.dims
            yield level, dimension_counts_text(last)


# ---- the pages that list something across operators: levels, data types, rules, corrections, messages


_KINDS = {"float": "a floating-point number", "uint": "an unsigned integer", "int": "a signed integer"}
TYPES = tuple(name for name, kind in DATA_TYPES.items() if kind.bits)


# ---- feature levels


def level_values(specs: Sequence[OperatorSpec], level: str) -> dict[str, Any]:
    """Return the values of the page of a feature level."""
    at = LEVEL_ORDER[level]
    before = LEVELS[at - 1] if at else None
    changes = differences(specs, before, level) if before else []
    return {
        "level": level,
        "value": hex(FEATURE_LEVELS[level].value),
        "directml": FEATURE_LEVELS[level].directml,
        "windows": first_windows(level),
        "evidence": level_evidence(level),
        "before": before,
        "after": LEVELS[at + 1] if at + 1 < len(LEVELS) else None,
        "new": [spec.short for spec in specs if spec.introduced == level],
        "changed": [
            (short_operator(change.operator), list(change_texts(change))) for change in changes if not change.is_new
        ],
    }


def levels_values(specs: Sequence[OperatorSpec]) -> dict[str, Any]:
    """Return the values of the list of levels and data types."""
    return {
        "levels": [
            {
                "level": name,
                "directml": level.directml,
                "windows": first_windows(name),
                "asked": ", ".join(releases_of(name)),
                "value": hex(level.value),
                "new": sum(spec.introduced == name for spec in specs),
            }
            for name, level in FEATURE_LEVELS.items()
        ],
        "types": [{"name": name, "bits": DATA_TYPES[name].bits, "count": len(takers(specs, name))} for name in TYPES],
    }


# ---- data types


def type_values(specs: Sequence[OperatorSpec], name: str) -> dict[str, Any]:
    """Return the values of the page of a data type."""
    kind, bits = DATA_TYPES[name]
    rows = takers(specs, name)
    return {
        "name": name,
        "lede": f"An element is {_KINDS[kind]} of {bits} bits. {counted(len(rows), 'operator')} can take it.",
        "rows": rows,
    }


def takers(specs: Sequence[OperatorSpec], data_type: str) -> list[tuple[str, str, list[str]]]:
    """Return the operators that take a data type, each with the first level and the tensors that can have it."""
    found = []
    for spec in specs:
        levels = sorted(
            {level for level, _ in _places(spec, data_type)},
            key=LEVEL_ORDER.__getitem__,
        )
        if levels:
            tensors = list(dict.fromkeys(tensor for _, tensor in _places(spec, data_type)))
            found.append((spec.short, levels[0], [name for name in spec.fields if name in tensors]))
    return found


def _places(spec: OperatorSpec, data_type: str) -> Iterator[tuple[str, str]]:
    for table in spec.support:
        for level, row in table.rows.items():
            yield from ((level, tensor) for tensor, support in row.items() if data_type in support.types)


# ---- rules


def rule_groups() -> dict[str, list[tuple[str, str]]]:
    """Return the rules with their summaries, by their groups."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for name, rule in RULES.items():
        groups.setdefault(rule.group, []).append((name, page(name).summary))
    return groups


def rule_values(rule: str, found: Mapping[str, Mapping[str, Mistake]]) -> dict[str, Any]:
    """Return the values of the page of a rule; `found` has the mistakes of constraints by operator."""
    own = page(rule)
    given = {operator: [label for label, one in rows.items() if one.rule == rule] for operator, rows in found.items()}
    return {
        "rule": rule,
        "page": own,
        "lede": own.summary[:1].upper() + own.summary[1:] + ".",
        "why": own.why,
        "output": output_of(own.wrong, rule) if own.wrong else "",
        "constraints": [(operator, sorted(labels, key=_number)) for operator, labels in given.items() if labels],
    }


def _number(label: str) -> int:
    return int(label[1:])


# ---- corrections and messages


def corrections_values(specs: Sequence[OperatorSpec]) -> dict[str, Any]:
    """Return the values of the list of errata and known deviations."""
    told: dict[str, list[tuple[str, Erratum]]] = {kind: [] for kind in ERRATUM_KINDS}
    for spec in specs:
        for row in spec.errata:
            told[row.kind].append((spec.short, row))
    silences: dict[str, list[str]] = {}
    for operator, row in told["silence"]:
        silences.setdefault(operator, []).append(row.id)
    return {
        "told": told,
        "silences": silences,
        "deviations": [
            {"operator": spec.short, "id": f"D{number}", "row": row}
            for spec in specs
            for number, row in enumerate(spec.known_deviations, 1)
        ],
    }


def messages_values() -> dict[str, Any]:
    """Return the values of the list of messages."""
    rows = [{**message._asdict(), "id": f"M{number}"} for number, message in enumerate(messages(), 1)]
    for row in rows:
        row["patterns"] = [pattern.replace(" | ", " ") for pattern in row["patterns"]]
    return {"messages": rows}
