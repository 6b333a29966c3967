"""The labelled rows of a spec's constraints: which of them apply to a desc at a level, and which are broken."""

from __future__ import annotations

from collections.abc import Iterator

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import Finding
from dmlcheck.files.document import Path
from dmlcheck.specs.names import ENUMS, LEVEL_ORDER, LEVELS, NEWEST_LEVEL, level_and_version, level_name
from dmlcheck.specs.records import MEASURED, Constraint, Releases
from dmlcheck.validation import constraint_words, support_tables
from dmlcheck.validation.conditions import applicable, applies, nested

_OF_TYPES = ("data_type", "data_type_of", "same_data_type")  # the words that are only about data types
_OUTSIDE: Path = ("desc",)  # where the fields of an operator are that is not inside another one
_MOST_DIMENSIONS = 64  # no level takes more than 8, which the support tables say; more would only take time


def findings(desc: OperatorDesc, level: str) -> Iterator[Finding]:
    """Yield the broken rows of a desc's operator and of its nested operators at a level."""
    if any(len(part.tensor.sizes) > _MOST_DIMENSIONS for parts in desc.parts.values() for part in parts):
        return
    yield from _of_operator(desc, level, _OUTSIDE)
    for path, inner in nested(desc):
        yield from _of_operator(inner, level, (*_OUTSIDE, *path, *inner.steps))


def broken_places(desc: OperatorDesc, level: str) -> Iterator[Path]:
    """Yield the places in an operator's desc that break one of its rows at a level, even if other rules are broken."""
    for row in applicable(desc, level):
        for finding in constraint_words.WORDS[row.word](desc, row.args):
            yield finding.path


def is_for_none(desc: OperatorDesc) -> bool:
    """Whether a desc is for no implementation: it breaks a row that says so, even if other rules are broken."""
    rows = (row for row in desc.spec.constraints if row.is_unasked and applies(row, desc, NEWEST_LEVEL))
    return any(next(constraint_words.WORDS[row.word](desc, row.args), None) is not None for row in rows)


def _of_operator(desc: OperatorDesc, level: str, path: Path) -> Iterator[Finding]:
    """Yield the broken rows of one operator, whose fields are at a path.

    A tensor with a number of dimensions that the support table refuses is one mistake: its sizes are not checked.
    """
    broken: set[str] = set()
    sized = desc.without(str(place[0]) for place in desc.refused if place[-1] == "Sizes") if desc.refused else desc
    for row in desc.spec.constraints:
        if broken.isdisjoint(row.given) and applies(row, desc, level):
            subject = desc if row.word in _OF_TYPES else sized
            for finding in constraint_words.WORDS[row.word](subject, row.args):
                broken.add(row.id)
                if finding.rule == "data-type-mismatch" and finding.path in desc.refused:
                    continue  # one mistake, which the support table has reported
                yield _of_row(finding, row, subject, level, is_inside=path != _OUTSIDE).under(path)


# ---- what a finding says of its row


def _of_row(finding: Finding, row: Constraint, desc: OperatorDesc, level: str, *, is_inside: bool) -> Finding:
    """Return a word's finding with its row's text and the level from which the desc is valid."""
    lifted = None if row.until is None else _accepted_from(finding, row, desc, level)
    remedy = row.help or _type_help(finding, row, desc, level) or _transform_help(finding, desc, level) or finding.help
    taken = (row.taken_inside if is_inside else None) or row.taken or _operator_taken(finding, row, desc)
    helps = (remedy, f"accepted from {level_and_version(lifted)}" if lifted else None, taken and taken.told)
    if lifted and finding.rule == "value-out-of-range":
        own = {name: finding.params[name] for name in ("field", "found")}
        params = {**own, "operator": desc.spec.operator, "level": level_name(level)}
        finding = finding._replace(rule="unsupported-value", params=params)  # in the words for what a level has not
    finding = _in_words_of_row(finding, row)
    return finding._replace(
        constraint=f"{desc.spec.short}/{row.id}",
        note=finding.note or (None if row.text.removesuffix(".") in finding.message else row.text),
        help="; ".join(filter(None, helps)) or None,
        taken_by=() if taken is None else taken.all,
        is_measured=row.basis == MEASURED,
    )


def _operator_taken(finding: Finding, row: Constraint, desc: OperatorDesc) -> Releases | None:
    """Return the releases that take an operator inside a field which a row does not list, None for no such release."""
    if row.word != "operators":
        return None
    path = finding.path[:-1]  # without Type
    (inner,) = (inner for place, inner in nested(desc) if place == path)
    for taken in desc.spec.taken:
        if inner.spec.short in taken.operators.get(str(path[0]), ()):
            return taken.releases
    return None


def _type_help(finding: Finding, row: Constraint, desc: OperatorDesc, level: str) -> str | None:
    """Return the help that names the data types that a row allows and the level accepts, or None.

    If the level accepts all types of the row's list, the message has them already.
    """
    if finding.claim is None or finding.rule != "data-type-mismatch" or row.word not in _OF_TYPES:
        return None
    wanted = finding.claim.limit
    accepted = support_tables.accepted_types(desc, str(finding.path[0]), level)
    legal = [name for name in wanted if not accepted or name in accepted]
    if row.word != "data_type":
        return f"use {legal[0]} for both{_followers(finding, desc, legal[0])}" if legal else None
    return f"use {' or '.join(legal)}" if 0 < len(legal) < len(wanted) else None


def _followers(finding: Finding, desc: OperatorDesc, data_type: str) -> str:
    """Return the fields that must change too if a tensor gets another data type."""
    claims = (row.args.items() for row in desc.spec.constraints if row.word == "data_type_of")
    fields = (field for claim in claims for field, name in claim if name == finding.path[0])
    return "".join(f", and for {field}" for field in fields if desc.values.get(field) not in (None, data_type))


def _transform_help(finding: Finding, desc: OperatorDesc, level: str) -> str | None:
    """Return which matrix to transpose, or not to, where a size is wrong and that change makes the desc valid."""
    if finding.rule != "size-mismatch":
        return None
    for name, field in desc.spec.fields.items():
        if field.enum == _TRANSFORMS and name in desc.values:
            other = next(value for value in ENUMS[_TRANSFORMS] if value != desc.values[name])
            transformed = OperatorDesc.of(desc.spec, {**desc.values, name: other})
            if next(broken_places(transformed, level), None) is None:
                return f"write {name}: {other} if that is meant"
    return None


_TRANSFORMS = "DML_MATRIX_TRANSFORM"


def _accepted_from(finding: Finding, row: Constraint, desc: OperatorDesc, level: str) -> str | None:
    """Return the lowest level above one at which no row says the same of the same place, or None."""
    for higher in LEVELS[LEVEL_ORDER[level] + 1 :]:
        alike = [other for other in applicable(desc, higher) if other.word == row.word]
        again = (later.path for other in alike for later in constraint_words.WORDS[other.word](desc, other.args))
        if finding.path not in again:
            return higher
    return None


def _in_words_of_row(finding: Finding, row: Constraint) -> Finding:
    """Return a finding completed with the details that only its row has."""
    if row.word == "holds" and "" in (finding.params.get("expected"), finding.params.get("problem")):
        claim = row.text.removesuffix(".")
        return finding._replace(params={**finding.params, "expected": f"such that {claim}", "problem": claim})
    if finding.rule == "excluded-field" and row.present:
        return finding._replace(params={**finding.params, "why": f"together with {' and '.join(row.present)}"})
    return finding
