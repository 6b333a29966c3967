"""Support tables as matrices: the data types of a tensor by feature level."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dmlcheck.diagnostics.wording import dimension_counts_text
from dmlcheck.reports.conditions import condition_text
from dmlcheck.specs.names import DATA_TYPES, LEVEL_ORDER, LEVELS
from dmlcheck.specs.records import OperatorSpec, SupportTable, TensorSupport


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
