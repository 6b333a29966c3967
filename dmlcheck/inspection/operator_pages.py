"""What is known of an operator, as plain values."""

from __future__ import annotations

from typing import Any

from dmlcheck.specs.records import Erratum, OperatorSpec, SupportTable, Tolerance


def operator_dict(spec: OperatorSpec) -> dict[str, Any]:
    """Return what `show OPERATOR --format json` prints."""
    fields = spec.fields.values()
    return {
        "operator": spec.operator,
        "introduced": spec.introduced,
        "in_place": spec.in_place,
        "fields": [{name: getattr(field, name) for name in ("name", "kind", "type", "optional")} for field in fields],
        "support": [_support_dict(table) for table in spec.support],
        "constraints": [{"id": row.id, "text": row.text} for row in spec.constraints],
        "tolerance": [_tolerance_dict(row) for row in spec.tolerance],
        "errata": [erratum_dict(erratum) for erratum in spec.errata],
        "unspecified": list(spec.unspecified),
        "known_deviations": [
            {"text": row.text, "versions": row.versions, "source": row.source} for row in spec.known_deviations
        ],
        "names": {library: list(names) for library, names in spec.names.items()},
        "differences": [difference._asdict() for difference in spec.differences],
        "reference": True,  # the engine computes them all
    }


def erratum_dict(erratum: Erratum) -> dict[str, Any]:
    """Return an erratum; `holds` is what is correct."""
    return {
        "id": erratum.id,
        "kind": erratum.kind,
        "page": erratum.page,
        "holds": erratum.correct,
        "basis": erratum.basis,
        "measured": erratum.measured,
        "source": erratum.source or erratum.basis,
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
    """Return what a row says; what it leaves out does not apply."""
    said = {key: value for key, value in row._asdict().items() if value not in (None, False, (), "")}
    return {key: list(value) if isinstance(value, tuple) else value for key, value in said.items()}
