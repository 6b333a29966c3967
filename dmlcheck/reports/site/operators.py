"""The values of an operator's page: its record, as `show --format json` prints it, and texts made of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from latex2mathml.converter import convert
from markupsafe import Markup

from dmlcheck.cases.records import Case
from dmlcheck.diagnostics.wording import counted, dimension_counts_text
from dmlcheck.inspection.about_checks import example
from dmlcheck.inspection.coverage import KINDS, Evidence, evidence
from dmlcheck.inspection.executed import runs_of
from dmlcheck.inspection.operator_pages import OperatorRecord, operator_dict, rounding_limits
from dmlcheck.reports.conditions import condition_text, constraint_text, deviation_text, taken_text, taken_values_text
from dmlcheck.reports.executed import executed_text
from dmlcheck.reports.operator_page import derived_texts, general_texts, limit_text
from dmlcheck.reports.site.example import example_of, recipe_yaml
from dmlcheck.reports.site.mistakes import mistakes
from dmlcheck.reports.site.pictures.table import pictures
from dmlcheck.specs.counterparts import FOUND_IN
from dmlcheck.specs.names import (
    DATA_TYPES,
    FEATURE_LEVELS,
    LEVEL_ORDER,
    LEVELS,
    first_windows,
    releases_text,
    releases_with,
)
from dmlcheck.specs.records import (
    ALTERNATIVES,
    UNDEFINED,
    Constraint,
    Deviation,
    OperatorSpec,
    SupportTable,
    TensorSupport,
)


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
    """Return the constraints with their conditions in words."""
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
    """Yield the counterparts by library, each with its number in the record."""
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
    headings = [table.heading_at(level) for level in levels_of(spec)]
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
