"""Differences between feature levels: everything that a higher level accepts and a lower one does not, by operator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from dmlcheck.specs.names import LEVEL_ORDER, PRERELEASES, RELEASES, REPORTED, releases_of
from dmlcheck.specs.records import Constraint, OperatorSpec, Releases, SupportTable, TakenValues
from dmlcheck.validation.support_tables import heading_at

Condition = Mapping[str, tuple[Any, ...]]


class TensorChange(NamedTuple):
    """The additions to a tensor: data types and dimension counts; `when` names the fields that select its table."""

    tensor: str
    when: Condition | None
    types: tuple[str, ...]
    dims: tuple[int, ...]


class OperatorChange(NamedTuple):
    """The additions to an operator between two levels.

    `values` select a support table that the lower level does not have; `lifted` are the constraints of only the lower
    level, `added` of only the higher one. `taken` are the rows of descs that releases take despite the level, where
    the releases begin or end between the levels, or take an addition at a lower level.
    """

    operator: str
    is_new: bool
    tensors: tuple[TensorChange, ...] = ()
    values: tuple[Condition, ...] = ()
    lifted: tuple[Constraint, ...] = ()
    added: tuple[Constraint, ...] = ()
    taken: tuple[Constraint | TakenValues, ...] = ()

    def __bool__(self) -> bool:
        return self.is_new or self.is_of_level or bool(self.taken)

    @property
    def is_of_level(self) -> bool:
        """Whether the higher level changes the operator, and not only its releases."""
        return any((self.tensors, self.values, self.lifted, self.added))


def differences(specs: Iterable[OperatorSpec], low: str, high: str) -> list[OperatorChange]:
    """Return the additions to each operator from one level to a higher one, without operators that have none."""
    return [change for change in (_operator(spec, low, high) for spec in specs) if change]


def _operator(spec: OperatorSpec, low: str, high: str) -> OperatorChange:
    if _below(high, spec.introduced):
        return OperatorChange(spec.operator, is_new=False)
    if _below(low, spec.introduced):
        return OperatorChange(spec.operator, is_new=True)
    change = OperatorChange(
        spec.operator,
        is_new=False,
        tensors=tuple(change for table in spec.support for change in _tensors(table, low, high)),
        values=tuple(table.when for table in spec.support if table.when and _starts_between(table, low, high)),
        lifted=tuple(row for row in spec.constraints if row.until and _between(row.until, low, high)),
        added=tuple(row for row in spec.constraints if row.since and _between(row.since, low, high)),
    )
    return change._replace(taken=tuple(_taken(spec, change, low, high)))


def _taken(spec: OperatorSpec, change: OperatorChange, low: str, high: str) -> Iterator[Constraint | TakenValues]:
    for values in spec.taken:
        if _differs(values.releases, low, high) or any(_has(values, tensor) for tensor in change.tensors):
            yield values
    for row in spec.constraints:
        if row.taken and (_differs(row.taken, low, high) or row in change.lifted):
            yield row


def _differs(taking: Releases, low: str, high: str) -> bool:
    """Whether the newest release of the higher level takes something and that of the lower does not, or the reverse."""
    newest = [[release for release, own in RELEASES.items() if not _below(level, own)][-1:] for level in (low, high)]
    return all(newest) and (newest[0][0] in taking.all) != (newest[1][0] in taking.all)


def _has(values: TakenValues, change: TensorChange) -> bool:
    """Whether releases take some of the additions to a tensor at any level."""
    added = {*values.types} & {*change.types} or {*values.dims} & {*change.dims}
    return change.tensor in values.tensors and bool(added)


def _tensors(table: SupportTable, low: str, high: str) -> Iterator[TensorChange]:
    below, above = heading_at(table, low), heading_at(table, high)
    if below is None or above is None or below == above:
        return
    for name, support in table.rows[above].items():
        older = table.rows[below].get(name)
        types = tuple(kind for kind in support.types if older is None or kind not in older.types)
        dims = tuple(count for count in support.dims if older is None or count not in older.dims)
        if types or dims:
            yield TensorChange(name, table.when, types, dims)


def _starts_between(table: SupportTable, low: str, high: str) -> bool:
    return heading_at(table, low) is None and heading_at(table, high) is not None


def _between(level: str, low: str, high: str) -> bool:
    return _below(low, level) and not _below(high, level)


def _below(level: str, other: str) -> bool:
    return LEVEL_ORDER[level] < LEVEL_ORDER[other]


# ---- the evidence for the rows of a feature level


_UNFOUND = "No build of DirectML that reports this level was found."


def level_evidence(level: str) -> str:
    """Return in sentences what the rows of a feature level stand on."""
    releases = releases_of(level)
    if releases and releases[-1] in REPORTED:
        reported = REPORTED[releases[-1]]
        return f"{_UNFOUND} DirectML {releases[-1]} reports {reported}, takes the descs of this level, and was asked."
    if releases:
        return f"DirectML {' and '.join(releases)} has this level, and was asked which descs it accepts."
    asked = [build for build, reported in PRERELEASES.items() if reported == level]
    if asked:
        return f"Of the builds that report this level, only a pre-release was found and asked: {asked[0]}."
    return f"{_UNFOUND} Its rows come from the documentation."
