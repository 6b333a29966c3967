"""The support tables of an operator as matrices of data types by feature level."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dmlcheck.diagnostics.wording import dimension_counts_text
from dmlcheck.reports.conditions import condition_text
from dmlcheck.specs.names import LEVELS
from dmlcheck.specs.records import OperatorSpec, SupportTable, TensorSupport

NO, YES, NEW = "", "on", "new"


class Matrix(NamedTuple):
    """Which data types some tensors take at each level: a state for each of LEVELS, `new` where a type is added."""

    tensors: tuple[str, ...]
    condition: str
    dimensions: str
    rows: tuple[tuple[str, tuple[str, ...]], ...]


def matrices(spec: OperatorSpec) -> list[Matrix]:
    """Return the matrices of an operator; tensors that the tables treat alike share one."""
    return [matrix for table in spec.support for matrix in _of_table(table)]


def _of_table(table: SupportTable) -> Iterator[Matrix]:
    alike: dict[tuple[TensorSupport | None, ...], list[str]] = {}
    for name in dict.fromkeys(name for row in table.rows.values() for name in row):
        alike.setdefault(tuple(_at(table, name, level) for level in LEVELS), []).append(name)
    condition = condition_text(table.when) if table.when else ""
    for supports, names in alike.items():
        yield Matrix(tuple(names), condition, _dimensions(supports), tuple(_rows(supports)))


def _at(table: SupportTable, name: str, level: str) -> TensorSupport | None:
    """Return a tensor's dimensions and types in a table at a level, None below the levels that have it."""
    heading = table.heading_at(level)
    return None if heading is None else table.rows[heading].get(name)


def _rows(supports: tuple[TensorSupport | None, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    newest = next((support for support in reversed(supports) if support is not None), None)
    for data_type in newest.types if newest else ():
        taken = [support is not None and data_type in support.types for support in supports]
        yield data_type, tuple(_state(now, before) for now, before in zip(taken, [False, *taken], strict=False))


def _state(now: bool, before: bool) -> str:  # noqa: FBT001 - two states in a row
    return NO if not now else YES if before else NEW


def _dimensions(supports: tuple[TensorSupport | None, ...]) -> str:
    """Return the numbers of dimensions in words: `4; 1 to 8 from 3_0`."""
    parts: list[str] = []
    before: tuple[int, ...] | None = None
    for level, support in zip(LEVELS, supports, strict=True):
        if support is not None and support.dims != before:
            parts.append(dimension_counts_text(support.dims) + (f" from {level}" if before else ""))
            before = support.dims
    return "; ".join(parts)
