"""Which support rows, table edges, constraints, enumeration values and layouts a set of cases exercises."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise, product
from typing import NamedTuple

from dmlcheck.cases.records import Case
from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.specs.names import ENUMS, LEVEL_ORDER, LEVELS
from dmlcheck.specs.records import OperatorSpec, SupportTable
from dmlcheck.validation.support_tables import support_table

LAYOUTS = ("packed", "strided", "broadcast", "padded", "owned by DirectML")


class Edge(NamedTuple):
    """A type or dimension count of a tensor in a row of a support table, or one that the row does not have.

    `table` is the table's number, or the value of the field that selects it.
    """

    table: int | str
    tensor: str
    kind: str
    value: str | int
    level: str

    def __str__(self) -> str:
        return _edges_text((self.table, self.tensor, self.kind, self.level), [self])


class Part(NamedTuple):
    """How much of one kind of thing is covered: what there is, and which of it no case has, briefly."""

    total: int
    covered: int
    missing: tuple[str, ...]


class Coverage(NamedTuple):
    """What the cases of one operator exercise, part by part, and the layouts of the tensors that they accept."""

    operator: str
    cases: int
    parts: Mapping[str, Part]
    layouts: tuple[str, ...]


def of_operator(spec: OperatorSpec, cases: list[Case]) -> Coverage:
    """Return what cases of one operator exercise; a case is accepting unless it is a negative one."""
    descs = [(case, read_desc(case.operator, case.desc).desc) for case in cases]
    rejected, accepted = seen(spec, cases)
    listed = {entry.removeprefix("DML_OPERATOR_") for case in cases for entry in case.invalid or ()}
    good = [(case, desc) for case, desc in descs if case.invalid is None and desc is not None]
    rows = {row for case, desc in good for row in _rows_of(spec, case, desc)}
    values = {entry for _, desc in good for entry in _values_of(desc)}
    labels = [f"{spec.short}/{row.id}" for row in spec.constraints if row.word != "unchecked"]
    parts = {
        "support rows accepted": _part(_rows(spec), rows),
        "types and dimensions accepted": _part_of_edges(newest_parts(spec), accepted),
        "table edges rejected": _part_of_edges(table_edges(spec), rejected),
        "constraints rejected": _part(labels, listed),
        "enumeration values accepted": _part(_values(spec), values),
    }
    layouts = {layout for _, desc in good for part in desc.tensors() for layout in _layouts(part.tensor)}
    return Coverage(spec.operator, len(cases), parts, tuple(name for name in LAYOUTS if name in layouts))


def _part(there: Iterable[str], found: Iterable[str]) -> Part:
    known, covered = list(there), set(found)
    missing = tuple(name for name in known if name not in covered)
    return Part(len(known), len(known) - len(missing), missing)


def _part_of_edges(there: Iterable[Edge], found: set[Edge]) -> Part:
    known = list(there)
    missing: dict[tuple[int | str, str, str, str], list[Edge]] = {}
    for edge in known:
        if edge not in found:
            missing.setdefault((edge.table, edge.tensor, edge.kind, edge.level), []).append(edge)
    texts = tuple(_edges_text(key, edges) for key, edges in missing.items())
    return Part(len(known), len(known) - sum(map(len, missing.values())), texts)


def _edges_text(key: tuple[int | str, str, str, str], edges: list[Edge]) -> str:
    """Return edges that differ in their value only as one text: `SUM InputTensor type INT64 UINT64 at 5_0`."""
    table, tensor, kind, level = key
    if kind == "operator":
        return f"the operator at {level}"
    name = table if isinstance(table, str) else f"table {table + 1}"
    return f"{name} {tensor} {kind} {' '.join(str(edge.value) for edge in edges)} at {level}"


# ---- support tables


def table_edges(spec: OperatorSpec) -> Iterator[Edge]:
    """Yield every edge of an operator's support: each needs a case that is rejected one step below it."""
    if spec.introduced != LEVELS[0]:
        yield Edge(0, "", "operator", spec.short, LEVELS[LEVEL_ORDER[spec.introduced] - 1])
    for number, table in enumerate(spec.support):
        levels = sorted(table.rows, key=LEVEL_ORDER.__getitem__)
        for below, above in pairwise(levels):
            if LEVEL_ORDER[above] <= LEVEL_ORDER[spec.introduced]:
                continue
            for name, support in table.rows[above].items():
                older = table.rows[below].get(name)
                for kind in support.types:
                    if older is None or (older.types and kind not in older.types):
                        yield Edge(number, name, "type", kind, below)
                for count in support.dims:
                    if older is None or count not in older.dims:
                        yield Edge(number, name, "dimensions", count, below)


def newest_parts(spec: OperatorSpec) -> Iterator[Edge]:
    """Yield every type and dimension count of the newest rows: each needs a case that is accepted."""
    for number, table in enumerate(spec.support):
        newest = max(table.rows, key=LEVEL_ORDER.__getitem__)
        selected: list[int | str] = [number]
        if table.when is not None:
            selected = [" ".join(map(str, values)) for values in product(*table.when.values())]
        for key in selected:
            for name, support in table.rows[newest].items():
                yield from (Edge(key, name, "type", kind, newest) for kind in support.types)
                yield from (Edge(key, name, "dimensions", count, newest) for count in support.dims)


def seen(spec: OperatorSpec, cases: Iterable[Case]) -> tuple[set[Edge], set[Edge]]:
    """Return the edges of the support tables that cases are rejected for, and the parts that other cases use."""
    rejected: set[Edge] = set()
    accepted: set[Edge] = set()
    for case in cases:
        level = case.level
        desc = read_desc(case.operator, case.desc).desc
        if desc is None or desc.spec is not spec:
            continue
        if case.invalid is not None and LEVEL_ORDER[level] < LEVEL_ORDER[spec.introduced]:
            rejected.add(Edge(0, "", "operator", spec.short, level))
        table = support_table(desc)
        row = None if table is None else table.heading_at(level)
        if table is None or row is None:
            continue
        number = spec.support.index(table)
        key = number if table.when is None else " ".join(str(desc.values[field]) for field in table.when)
        for name, kind, value, is_listed in _uses(table, row, desc):
            if is_listed and case.invalid is None:
                accepted.add(Edge(key, name, kind, value, row))
            elif not is_listed and case.invalid is not None:
                rejected.add(Edge(number, name, kind, value, row))
    return rejected, accepted


def _uses(table: SupportTable, row: str, desc: OperatorDesc) -> Iterator[tuple[str, str, str | int, bool]]:
    """Yield the type and the dimension count of every tensor, and whether the row has it."""
    for part in desc.tensors():
        name = str(part.path[0])
        support = table.rows[row][name]
        data_type, count = part.tensor.data_type, len(part.tensor.sizes)
        yield name, "type", data_type, not support.types or data_type in support.types
        yield name, "dimensions", count, count in support.dims


def _rows(spec: OperatorSpec) -> Iterator[str]:
    for number, table in enumerate(spec.support):
        for level in table.rows:
            if LEVEL_ORDER[level] >= LEVEL_ORDER[spec.introduced]:
                yield f"table {number + 1} from {level}"


def _rows_of(spec: OperatorSpec, case: Case, desc: OperatorDesc) -> Iterator[str]:
    table = support_table(desc)
    row = None if table is None else table.heading_at(case.level)
    if table is not None and row is not None:
        yield f"table {spec.support.index(table) + 1} from {row}"


# ---- values and layouts


def _values(spec: OperatorSpec) -> Iterator[str]:
    for field in spec.fields.values():
        if field.enum is not None and field.enum != "DML_TENSOR_DATA_TYPE":
            yield from (f"{field.name} {value}" for value in ENUMS[field.enum])


def _values_of(desc: OperatorDesc) -> Iterator[str]:
    for field in desc.spec.fields.values():
        if field.enum is not None and field.name in desc.values:
            yield f"{field.name} {desc.values[field.name]}"


def _layouts(tensor: TensorDesc) -> Iterator[str]:
    if tensor.strides is None:
        yield "packed"
    else:
        sized = [stride for size, stride in zip(tensor.sizes, tensor.strides, strict=True) if size > 1]
        yield "broadcast" if 0 in sized else "strided"
    if tensor.total_size is not None and tensor.total_size > tensor.implied_bytes:
        yield "padded"
    if tensor.flags == "OWNED_BY_DML":
        yield "owned by DirectML"
