"""When a row of a spec applies: the fields, values and feature levels that it is limited to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.specs.names import LEVEL_ORDER
from dmlcheck.specs.records import DATA_TYPE, Constraint


def applicable(desc: OperatorDesc, level: str) -> Iterator[Constraint]:
    """Yield the rows of a desc's operator that apply to it at a level."""
    return (row for row in desc.spec.constraints if applies(row, desc, level))


def applies(row: Constraint, desc: OperatorDesc, level: str) -> bool:
    """Whether a row applies to a desc at a level."""
    return row.is_unconditional or (_is_at(row, level) and _is_about(row, desc))


def _is_at(row: Constraint, level: str) -> bool:
    """Whether a row applies at a level."""
    order = LEVEL_ORDER[level]
    if row.since is not None and order < LEVEL_ORDER[row.since]:
        return False
    return row.until is None or order < LEVEL_ORDER[row.until]


def _is_about(row: Constraint, desc: OperatorDesc) -> bool:
    """Whether a row applies to the fields of a desc."""
    values = desc.values
    if any(name not in values for name in row.present):
        return False
    if any(name in values or name in desc.broken for name in row.absent):
        return False
    if not desc.matches(row.when):
        return False
    return row.unless is None or (_is_known(row.unless, desc) and not desc.matches(row.unless))


def _is_known(condition: Mapping[str, tuple[str, ...]], desc: OperatorDesc) -> bool:
    """Whether every field of a condition has a value, or may do without one."""
    return all(name in desc.values or desc.spec.fields[name].optional for name in condition if name != DATA_TYPE)
