"""Negative cases: whether the findings are exactly those that a case lists."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from dmlcheck.cases.records import Case
from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.diagnostics.record import Finding
from dmlcheck.diagnostics.wording import did_you_mean, first_few, is_or_are
from dmlcheck.specs.load import full_name, load_spec
from dmlcheck.specs.names import short_operator
from dmlcheck.validation.constraint_words import VALUE_WORDS


def check_invalid(case: Case, findings: Iterable[Finding]) -> Finding | None:
    """Return the finding about a negative case's list, or None if the findings are exactly those that it lists."""
    listed = case.invalid or ()
    found = list(findings)
    missing = [entry for entry in listed if not any(is_listed(finding, (entry,)) for finding in found)]
    unlisted = sorted({finding.constraint or finding.rule for finding in found if not is_listed(finding, listed)})
    if not missing and not unlisted:
        return None
    parts = [
        f"{first_few(missing, _MOST_NAMED)} {is_or_are(len(missing))} listed and not found" if missing else "",
        f"{first_few(unlisted, _MOST_NAMED)} {is_or_are(len(unlisted))} found and not listed" if unlisted else "",
        "" if found else "the desc is valid",
    ]
    params = {"problem": "; ".join(filter(None, parts))}
    return Finding("diagnostics-mismatch", ("invalid",), params, _help(case, missing))


_MOST_NAMED = 20


def _help(case: Case, missing: list[str]) -> str | None:
    """Return the help for the first entry that names no rule and no row."""
    unknown = next((entry for entry in missing if not _is_known(entry)), None)
    if unknown is None:
        return None
    return did_you_mean(unknown, [*RULES, *_rows(case)]) or "`dmlcheck explain` lists the rules"


def lists_values(case: Case) -> bool:
    """Whether a negative case lists something about values, which only a run reads."""
    entries = set(map(_short, case.invalid or ()))
    rules = (RULES[entry] for entry in entries if entry in RULES)
    return any(rule.group == "data" for rule in rules) or not entries.isdisjoint(_rows(case, VALUE_WORDS))


def is_listed(finding: Finding, entries: Iterable[str]) -> bool:
    """Whether one of the entries of `invalid` names a finding: by its rule, or by its row."""
    return any(_short(entry) in (finding.rule, finding.constraint) for entry in entries)


def _short(entry: str) -> str:
    """Return an entry with the short name of its operator, if it has one."""
    operator, slash, row = entry.partition("/")
    return short_operator(operator) + slash + row


def _rows(case: Case, words: Collection[str] | None = None) -> list[str]:
    """Return the constraints of a case's operator, or those with some words, by their names in `invalid`."""
    name = full_name(case.operator)
    if name is None:
        return []
    spec = load_spec(name)
    return [f"{spec.short}/{row.id}" for row in spec.constraints if words is None or row.word in words]


def _is_known(entry: str) -> bool:
    if entry in RULES:
        return True
    operator, _, row = entry.rpartition("/")
    name = full_name(operator) if operator else None
    return name is not None and any(constraint.id == row for constraint in load_spec(name).constraints)
