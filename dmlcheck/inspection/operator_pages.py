"""The page of an operator, as plain values."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.inspection.executed import executed_dict, runs_of
from dmlcheck.inspection.level_diff import level_evidence
from dmlcheck.reference.ball.roundings import limits_and_sources, rounding, words
from dmlcheck.reference.bindings import row
from dmlcheck.specs.about import (
    FAMILIES,
    AboutOperator,
    LibraryCounterpart,
    Recipe,
    Version,
    counterparts,
    lineage,
    load_about,
    older_operator,
    thread_address,
    version,
)
from dmlcheck.specs.load import load_spec
from dmlcheck.specs.names import ENUMS, FEATURE_LEVELS, LEVELS, first_windows, releases_of
from dmlcheck.specs.records import (
    UNDEFINED,
    Constraint,
    Deviation,
    Erratum,
    Field,
    Measured,
    OperatorSpec,
    Releases,
    SupportTable,
    TakenValues,
    Tolerance,
    Undefined,
    c_type,
)


def operator_dict(record: OperatorRecord) -> dict[str, Any]:
    """Return the page that `show OPERATOR --format json` prints."""
    spec, about = record.spec, record.about
    return {
        "operator": spec.operator,
        "purpose": about.purpose,
        "family": {"id": about.family, "title": FAMILIES[about.family]},
        "keywords": list(about.keywords),
        "counterparts": [each._asdict() for each in record.counterparts],
        "changes": _plain(record.version._asdict()),
        "lineage": [_plain(each._asdict()) for each in record.versions],
        "introduced": spec.introduced,
        "in_place": spec.in_place,
        "supersedes": list(spec.supersedes),
        "names": {library: list(names) for library, names in spec.names.items()},
        "page": {"url": spec.page["url"], "date": spec.page["date"]},
        "fields": [_field_dict(field, spec, about) for field in spec.fields.values()],
        "support": [_support_dict(table) for table in spec.support],
        "taken": [taken_dict(row) for row in spec.taken],
        "constraints": [_constraint_dict(row) for row in spec.constraints],
        "formula": list(record.formula),
        "equations": list(about.equations),
        "where": [{"symbol": symbol, "meaning": meaning} for symbol, meaning in about.where.items()],
        "example": about.example,
        "recipes": [_recipe_dict(recipe) for recipe in about.recipes],
        "tolerance": [_tolerance_dict(row) for row in spec.tolerance],
        "half": None if spec.half is None else _plain(spec.half._asdict()),
        "errata": [erratum_dict(erratum) for erratum in spec.errata],
        "unspecified": [row.text for row in spec.undefined if row.kind == UNDEFINED],
        "undefined": [_undefined_dict(row) for row in spec.undefined],
        "measured": [_measured_dict(row) for row in spec.measured],
        "executed": [executed_dict(run, counts) for run, counts in runs_of(spec.operator)],
        "known_deviations": [_deviation_dict(row) for row in spec.known_deviations],
        "deviations_of": {name: [row.words for row in rows] for name, rows in spec.deviations_of.items()},
        "differences": [difference._asdict() for difference in spec.differences],
        "reference": True,  # the engine computes them all
    }


def _undefined_dict(row: Undefined) -> dict[str, Any]:
    measured = [] if row.measured is None else [_measured_dict(row.measured)]
    return {**_plain(row._asdict()), "measured": measured}


def _measured_dict(row: Measured) -> dict[str, Any]:
    return {"text": row.text, **row.run._asdict()}


def _deviation_dict(row: Deviation) -> dict[str, Any]:
    """Return a deviation with the versions and devices that have it, the conditions, and what DirectML gives."""
    given = {name: getattr(row, name) for name in ("when", "absent", "strided", "where", "values")}
    return {
        **row.words,
        **{name: getattr(row, name) for name in ("since", "until", "as_of", "device")},
        "graphs_alone": row.is_of_graphs,
        "conditions": {name: _plain(value) for name, value in given.items() if value},
        **{name: _plain(getattr(row, name)) for name in ("gives", "as_if", "refusal")},
    }


def _recipe_dict(recipe: Recipe) -> dict[str, Any]:
    """Return a recipe with the addresses of the threads that ask for it."""
    asked = [{"thread": thread, "source": thread_address(thread)} for thread in recipe.asked]
    return {**recipe._asdict(), "asked": asked}


def levels_dict() -> list[dict[str, Any]]:
    """Return the feature levels: the number, and the first DirectML and the first Windows that have each."""
    return [_level_dict(level) for level in LEVELS]


def _level_dict(level: str) -> dict[str, Any]:
    number, directml = FEATURE_LEVELS[level]
    windows = first_windows(level)
    return {
        "level": level,
        "value": f"{number:#x}",
        "directml": directml,
        "windows": windows and windows.name,
        "asked": list(releases_of(level)),
        "evidence": level_evidence(level),
    }


# Words of constraints that limit a field's own value.
_LIMITS = ("at_least", "at_most", "between", "one_of", "value", "axes_within", "operators")


def _field_dict(field: Field, spec: OperatorSpec, about: AboutOperator) -> dict[str, Any]:
    """Return a field; a count may be left out of a desc, as it follows from its array."""
    rows = (row for row in spec.constraints if row.word in _LIMITS and field.name in row.args)
    return {
        "name": field.name,
        "kind": field.kind,
        "type": field.type,
        "c_type": c_type(field),
        "limits": [{"constraint": row.id, "word": row.word, "argument": row.args[field.name]} for row in rows],
        "typical": about.typical.get(field.name),
        "optional": field.optional or bool(field.counts),
        "about": field.about,
        "enum": field.enum,
        "values": list(ENUMS[field.enum]) if field.enum else [],
    }


def _constraint_dict(row: Constraint) -> dict[str, Any]:
    """Return a constraint with the conditions under which it applies, none for all descs."""
    given = {name: getattr(row, name) for name in ("when", "unless", "present", "absent", "since", "until")}
    conditions = {name: _plain(value) for name, value in given.items() if value}
    taken = {name: _released(getattr(row, name)) for name in ("taken", "taken_inside")}
    return {"id": row.id, "text": row.text, "conditions": conditions, "basis": row.basis, **taken}


def _released(row: Releases | None) -> list[str]:
    return list(row.all) if row else []


def taken_dict(row: TakenValues) -> dict[str, Any]:
    """Return a row of values beyond the tables: tensors with types or dimensions, operators by field, releases."""
    return {**_plain(row._asdict()), "releases": list(row.releases.all)}


def _plain(value: Any) -> Any:
    """Return conditions as JSON has them: lists for tuples."""
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    return list(value) if isinstance(value, tuple) else value


def erratum_dict(erratum: Erratum) -> dict[str, Any]:
    """Return an erratum; `holds` is the correct statement."""
    return {
        "id": erratum.id,
        "kind": erratum.kind,
        "page": erratum.page,
        "holds": erratum.correct,
        "basis": erratum.basis,
        "measured": erratum.measured,
        "source": erratum.sources or erratum.basis,
    }


def _support_dict(table: SupportTable) -> dict[str, Any]:
    levels = [
        {
            "level": level,
            "tensors": {
                name: {"dims": list(support.dims), "types": list(support.types)} for name, support in row.items()
            },
        }
        for level, row in table.rows.items()
    ]
    when = None if table.when is None else {field: list(values) for field, values in table.when.items()}
    return {"when": when, "levels": levels}


def _tolerance_dict(row: Tolerance) -> dict[str, Any]:
    """Return the arguments and conditions of a row, without those that it does not have."""
    said = {key: value for key, value in row._asdict().items() if value not in (None, False, (), "")}
    return {key: list(value) if isinstance(value, tuple) else value for key, value in said.items()}


# ---- all that is known of an operator in one record


class OperatorRecord(NamedTuple):
    """An operator's spec, its texts for readers, and the facts that follow from both.

    `formula` is how the reference engine computes it, in words; `older` is the operator that it comes after; `version`
    is the change since then, and `versions` has all of a line.
    """

    spec: OperatorSpec
    about: AboutOperator
    formula: tuple[str, ...]
    counterparts: tuple[LibraryCounterpart, ...]
    older: str | None
    version: Version
    versions: tuple[Version, ...]


def operator_record(spec: OperatorSpec) -> OperatorRecord:
    """Return the record of an operator."""
    about = load_about(spec.operator)
    return OperatorRecord(
        spec=spec,
        about=about,
        formula=tuple(formula_texts(spec.operator)),
        counterparts=tuple(counterparts(spec, about)),
        older=older_operator(spec),
        version=version(spec),
        versions=lineage(spec),
    )


# ---- the formulas of kernels as text, and the elementary functions in them


def formula_texts(operator: str) -> list[str]:
    """Return the paragraphs of a kernel's docstring: its formula, and the meaning of the names in it.

    Functions of NumPy and of `special` have none, since their names say what they compute.
    """
    function = row(operator).kernel.function
    text = None if isinstance(function, np.ufunc) or function.__module__ == _SPECIAL else inspect.getdoc(function)
    return [" ".join(part.split()) for part in (text or "").split("\n\n") if part]


def is_computed(operator: str) -> bool:
    """Whether an operator rounds, so that its tolerance follows from its formula."""
    return row(operator).kernel.is_exact is not True


def rounding_texts(operator: str, data_type: str = "FLOAT32") -> list[tuple[str, str]]:
    """Return the elementary functions in an operator's formula, each with its rounding and the source of that."""
    return [(name, words(rounding(name, data_type))) for name in load_spec(operator).functions]


def rounding_limits(operator: str, data_type: str = "FLOAT32") -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the elementary functions in an operator's formula, each with its limits and their sources."""
    return [(name, limits_and_sources(rounding(name, data_type))) for name in load_spec(operator).functions]


_SPECIAL = "dmlcheck.reference.functions.special"
