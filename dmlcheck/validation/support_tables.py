"""The support tables of an operator: the one for a desc at a level, and the values of its tensors that it refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from dmlcheck.descs.records import OperatorDesc, TensorPart
from dmlcheck.diagnostics.record import ONE_OF, RANK, Claim, Finding
from dmlcheck.diagnostics.wording import dimension_counts_text, dimensions_text, plural
from dmlcheck.specs.names import DATA_TYPES, LEVEL_ORDER, level_and_version, level_name
from dmlcheck.specs.records import OUTPUT, Field, OperatorSpec, SupportTable, TensorSupport
from dmlcheck.validation.conditions import applicable, tensors_of

Remedy = Callable[[OperatorDesc, TensorPart, "tuple[int, ...]", str], "str | None"]


def findings(desc: OperatorDesc, level: str, remedy: Remedy | None = None) -> Iterator[Finding]:
    """Yield the findings of the support table of a desc at a level from which its operator exists.

    `remedy` returns the help for a tensor whose rank is none of some dimension counts, or None.
    """
    table = support_table(desc)
    if table is None:
        return
    heading = heading_at(table, level)
    if heading is None:
        yield from _value_findings(desc, table, level)
        return
    for name, support in table.rows[heading].items():
        for part in desc.parts[name]:
            if len(part.tensor.sizes) not in support.dims:
                row = _SupportRow(desc.spec, table, desc.spec.fields[name], heading, level)
                yield _taken(_dimension_finding(row, part, desc, remedy), row, part, desc)
            if support.types and part.tensor.data_type not in support.types:
                row = _SupportRow(desc.spec, table, desc.spec.fields[name], heading, level)
                yield _taken(_type_finding(row, part, desc), row, part, desc)


def heading_at(table: SupportTable, level: str) -> str | None:
    """Return the level of the row that applies at a target level, or None below the first row."""
    order = LEVEL_ORDER[level]
    return next((heading for heading in table.rows if LEVEL_ORDER[heading] <= order), None)


def support_table(desc: OperatorDesc) -> SupportTable | None:
    """Return the support table that a desc's fields select, or None where a field that decides it is wrong."""
    for table in desc.spec.support:
        if table.when is None or desc.matches(table.when):
            return table
    return None


def support_at(desc: OperatorDesc, name: str, level: str) -> TensorSupport | None:
    """Return the data types and ranks of a field's tensors at a level, or None without a table."""
    table = support_table(desc)
    heading = None if table is None else heading_at(table, level)
    return None if table is None or heading is None else table.rows[heading].get(name)


def accepted_types(desc: OperatorDesc, name: str, level: str) -> tuple[str, ...]:
    """Return the data types that a field's tensors may have at a level; none if no table says so."""
    support = support_at(desc, name, level)
    return () if support is None else support.types


class _SupportRow(NamedTuple):
    """The row of a support table that applies to a tensor field at a target level."""

    spec: OperatorSpec
    table: SupportTable
    field: Field
    heading: str
    level: str

    @property
    def support(self) -> TensorSupport:
        return self.table.rows[self.heading][self.field.name]

    def lowest(self, accepts: Callable[[TensorSupport], bool]) -> str | None:
        """Return the lowest level whose row for the same field satisfies a condition."""
        name = self.field.name
        levels = [level for level, row in self.table.rows.items() if name in row and accepts(row[name])]
        return min(levels, key=LEVEL_ORDER.__getitem__, default=None)


def _value_findings(desc: OperatorDesc, table: SupportTable, level: str) -> Iterator[Finding]:
    """Yield the fields that select a table which begins above a level."""
    lowest = min(table.rows, key=LEVEL_ORDER.__getitem__)
    operator = desc.spec.operator
    for field in table.when or ():
        params = {"field": field, "found": desc.values[field], "operator": operator, "level": level_name(level)}
        others = (other.when or {} for other in desc.spec.support if heading_at(other, level) is not None)
        own = Claim(("desc", field), ONE_OF, tuple(value for when in others for value in when.get(field, ())))
        help = f"accepted from {level_and_version(lowest)}"
        yield Finding("unsupported-value", own.field, params, help=help, claim=own if own.limit else None)


def _taken(found: Finding, row: _SupportRow, part: TensorPart, desc: OperatorDesc) -> Finding:
    """Return a finding with the releases that take the tensor's type or number of dimensions anyway."""
    tensor = part.tensor
    is_of_type = found.rule == "unsupported-data-type"
    if is_of_type and any(other != tensor.data_type for other in _types_to_share(row, desc)):
        return found
    for taken in desc.spec.taken:
        values: tuple[object, ...] = taken.types if is_of_type else taken.dims
        if row.field.name in taken.tensors and (tensor.data_type if is_of_type else len(tensor.sizes)) in values:
            help = "; ".join(filter(None, (found.help, taken.releases.told)))
            return found._replace(help=help, taken_by=taken.releases.all)
    return found


def _dimension_finding(row: _SupportRow, part: TensorPart, desc: OperatorDesc, remedy: Remedy | None) -> Finding:
    found, dims = len(part.tensor.sizes), row.support.dims
    lowest = row.lowest(lambda support: found in support.dims)
    params = {
        "tensor": part.label,
        "found": dimensions_text(found),
        "operator": row.spec.operator,
        "level": level_name(row.level),
    }
    advice = None if remedy is None else remedy(desc, part, dims, row.level)
    help = _level_help(lowest, f"no feature level accepts {dimensions_text(found)}", advice)
    note = f"{level_name(row.heading)} takes {dimension_counts_text(dims)} {plural(max(dims), 'dimension')}"
    path, own = ("desc", *part.path, "Sizes"), Claim(("desc", *part.path, RANK), ONE_OF, dims)
    return Finding("unsupported-dimension-count", path, params, help=help, note=note, claim=own)


def _type_finding(row: _SupportRow, part: TensorPart, desc: OperatorDesc) -> Finding:
    data_type, types = part.tensor.data_type, row.support.types
    is_output = row.field.kind == OUTPUT
    lowest = row.lowest(lambda support: data_type in support.types)
    nearest = _fitting_type(row, part, desc)
    remedy = None if nearest is None else f"use {nearest}" if is_output else f"cast to {nearest}"
    verb = "write" if is_output else "read"
    params = {
        "tensor": part.label,
        "found": data_type,
        "operator": row.spec.operator,
        "verb": verb,
        "level": level_name(row.level),
    }
    help = _level_help(lowest, f"no feature level accepts {data_type} here", remedy)
    note = f"{level_name(row.heading)} {verb}s {' '.join(types)}"
    path = ("desc", *part.path, "DataType")
    return Finding("unsupported-data-type", path, params, help=help, note=note, claim=Claim(path, ONE_OF, types))


def _level_help(lowest: str | None, never: str, remedy: str | None) -> str:
    """Return the help about a value: the level from which it is accepted, and what to use below it."""
    if lowest is None:
        return f"{never}; {remedy}" if remedy else never
    accepted = f"accepted from {level_and_version(lowest)}"
    return f"{accepted}; below it, {remedy}" if remedy else accepted


_MOST_ASKED = 16  # tensors of an array: more of them would hardly have another answer


def _fitting_type(row: _SupportRow, part: TensorPart, desc: OperatorDesc) -> str | None:
    """Return the accepted type to use instead: that of tensors that must have the same type, or else the nearest."""
    types = row.support.types
    fitting = [data_type for data_type in _types_to_share(row, desc) if data_type in types]
    return max(fitting, key=fitting.count) if fitting else _nearest_type(part.tensor.data_type, types)


def _types_to_share(row: _SupportRow, desc: OperatorDesc) -> list[str]:
    """Return the data types of the tensors that must have one type, with the row's field among them."""
    names = (
        constraint.args
        for constraint in applicable(desc, row.level)
        if constraint.word == "same_data_type" and row.field.name in constraint.args
    )
    fields = (field for args in names for field in args)
    return [part.tensor.data_type for field in fields for part in tensors_of(desc, field)[:_MOST_ASKED]]


def _nearest_type(data_type: str, types: tuple[str, ...]) -> str | None:
    """Return the widest supported type of the same kind that is no wider, or else the narrowest that is wider."""
    kind, bits = DATA_TYPES[data_type]
    same = sorted((DATA_TYPES[name].bits, name) for name in types if DATA_TYPES[name].kind == kind)
    narrower = [name for width, name in same if width <= bits]
    if narrower:
        return narrower[-1]
    return same[0][1] if same else None
