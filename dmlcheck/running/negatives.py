"""Negative cases: whether what was found is exactly what they list."""

from __future__ import annotations

from collections.abc import Iterable

from dmlcheck.cases.records import Case
from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.diagnostics.record import Finding
from dmlcheck.diagnostics.wording import did_you_mean
from dmlcheck.specs.load import full_name, load_spec
from dmlcheck.specs.records import OperatorSpec
from dmlcheck.validation import constraint_words


def check_invalid(case: Case, findings: Iterable[Finding]) -> Finding | None:
    """Return what is wrong with a negative case's list, or None when the findings are exactly those that it lists."""
    listed = case.invalid or ()
    found = list(findings)
    missing = [entry for entry in listed if not any(is_listed(finding, (entry,)) for finding in found)]
    unlisted = sorted({finding.constraint or finding.rule for finding in found if not is_listed(finding, listed)})
    if not missing and not unlisted:
        return None
    parts = []
    if missing:
        parts.append(f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} listed and not found")
    if unlisted:
        parts.append(f"{', '.join(unlisted)} {'is' if len(unlisted) == 1 else 'are'} found and not listed")
    if not found:
        parts.append("the desc is valid")
    help = None
    unknown = [entry for entry in missing if not _is_known(entry)]
    if unknown:
        help = did_you_mean(unknown[0], [*RULES, *_rows(case)]) or "`dmlcheck explain` lists the rules"
    return Finding("diagnostics-mismatch", ("invalid",), {"problem": "; ".join(parts)}, help=help)


def lists_values(case: Case) -> bool:
    """Whether a negative case lists something about values, which only a run reads."""
    rows = {
        f"{spec.short}/{row.id}"
        for spec in _spec_of(case)
        for row in spec.constraints
        if row.word in constraint_words.VALUE_WORDS
    }
    entries = [entry.removeprefix("DML_OPERATOR_") for entry in case.invalid or ()]
    return any(entry in rows or (entry in RULES and RULES[entry].group == "data") for entry in entries)


def _spec_of(case: Case) -> list[OperatorSpec]:
    name = full_name(case.operator)
    return [load_spec(name)] if name else []


def is_listed(finding: Finding, entries: Iterable[str]) -> bool:
    """Whether one of the entries of `invalid` names a finding: by its rule, or by its row."""
    return any(entry.removeprefix("DML_OPERATOR_") in (finding.rule, finding.constraint) for entry in entries)


def _rows(case: Case) -> list[str]:
    """Return the constraints of a case's operator as `invalid` names them."""
    name = full_name(case.operator)
    spec = load_spec(name) if name else None
    return [f"{spec.short}/{row.id}" for row in spec.constraints] if spec else []


def _is_known(entry: str) -> bool:
    if entry in RULES:
        return True
    operator, _, row = entry.rpartition("/")
    name = full_name(operator) if operator else None
    return name is not None and any(constraint.id == row for constraint in load_spec(name).constraints)
