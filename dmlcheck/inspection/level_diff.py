"""Differences between feature levels: everything that a higher level accepts and a lower one does not, by operator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from dmlcheck.specs.names import LEVEL_ORDER
from dmlcheck.specs.records import Constraint, OperatorSpec, SupportTable

Condition = Mapping[str, tuple[Any, ...]]


class TensorChange(NamedTuple):
    """The additions to a tensor: data types and dimension counts; `when` names the fields that select its table."""

    tensor: str
    when: Condition | None
    types: tuple[str, ...]
    dims: tuple[int, ...]


class OperatorChange(NamedTuple):
    """The additions to an operator between two levels.

    `values` are those of the fields that select a support table which the lower level does not have; `lifted` are the
    constraints of the lower level only, `added` those of the higher level only.
    """

    operator: str
    is_new: bool
    tensors: tuple[TensorChange, ...] = ()
    values: tuple[Condition, ...] = ()
    lifted: tuple[Constraint, ...] = ()
    added: tuple[Constraint, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is any difference."""
        return self.is_new or any((self.tensors, self.values, self.lifted, self.added))


def differences(specs: Iterable[OperatorSpec], low: str, high: str) -> list[OperatorChange]:
    """Return the additions to each operator from one level to a higher one, without operators that have none."""
    return [change for change in (_operator(spec, low, high) for spec in specs) if change]


def _operator(spec: OperatorSpec, low: str, high: str) -> OperatorChange:
    if _below(high, spec.introduced):
        return OperatorChange(spec.operator, is_new=False)
    if _below(low, spec.introduced):
        return OperatorChange(spec.operator, is_new=True)
    return OperatorChange(
        spec.operator,
        is_new=False,
        tensors=tuple(change for table in spec.support for change in _tensors(table, low, high)),
        values=tuple(table.when for table in spec.support if table.when and _starts_between(table, low, high)),
        lifted=tuple(row for row in spec.constraints if row.until and _between(row.until, low, high)),
        added=tuple(row for row in spec.constraints if row.since and _between(row.since, low, high)),
    )


def _tensors(table: SupportTable, low: str, high: str) -> Iterator[TensorChange]:
    below, above = table.heading_at(low), table.heading_at(high)
    if below is None or above is None or below == above:
        return
    for name, support in table.rows[above].items():
        older = table.rows[below].get(name)
        types = tuple(kind for kind in support.types if older is None or kind not in older.types)
        dims = tuple(count for count in support.dims if older is None or count not in older.dims)
        if types or dims:
            yield TensorChange(name, table.when, types, dims)


def _starts_between(table: SupportTable, low: str, high: str) -> bool:
    return table.heading_at(low) is None and table.heading_at(high) is not None


def _between(level: str, low: str, high: str) -> bool:
    return _below(low, level) and not _below(high, level)


def _below(level: str, other: str) -> bool:
    return LEVEL_ORDER[level] < LEVEL_ORDER[other]
