"""The coverage by cases: support rows, edges, constraints, enumeration values, layouts; and where results come from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise, product
from typing import NamedTuple

from dmlcheck import validation
from dmlcheck.cases.records import Case
from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.inspection.bases import earlier_releases
from dmlcheck.onnx.export.mappings import mappings
from dmlcheck.specs.load import full_name
from dmlcheck.specs.names import ENUMS, LEVEL_ORDER, LEVELS, short_operator
from dmlcheck.specs.records import Constraint, OperatorSpec, SupportTable
from dmlcheck.validation.support_tables import heading_at, support_table

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


class PartCoverage(NamedTuple):
    """The coverage of one kind of thing: the number of things, and those without a case, briefly."""

    total: int
    covered: int
    missing: tuple[str, ...]


class Coverage(NamedTuple):
    """The coverage of one operator's cases, kind by kind, and the layouts of the tensors that they accept."""

    operator: str
    cases: int
    parts: Mapping[str, PartCoverage]
    layouts: tuple[str, ...]


def of_operator(spec: OperatorSpec, cases: list[Case]) -> Coverage:
    """Return the coverage of one operator's cases; a case is accepting unless it is a negative one."""
    good = [(case, desc) for case, desc in _descs(spec, cases) if not case.is_negative]
    listed = (entry.removeprefix("DML_OPERATOR_") for case in cases for entry in case.invalid or ())
    labels = (f"{spec.short}/{row.id}" for row in rows_to_break(spec))
    parts = {
        "support rows accepted": _part(_rows(spec), (row for case, desc in good for row in _rows_of(case, desc))),
        "types and dimensions accepted": _part_of_edges(newest_parts(spec), accepted(spec, cases)),
        "table edges rejected": _part_of_edges(table_edges(spec), rejected(spec, cases)),
        "constraints rejected": _part(labels, listed),
        "enumeration values accepted": _part(_values(spec), (value for _, desc in good for value in _values_of(desc))),
    }
    layouts = {layout for _, desc in good for part in desc.tensors() for layout in _layouts(part.tensor)}
    return Coverage(spec.operator, len(cases), parts, tuple(name for name in LAYOUTS if name in layouts))


def rows_to_break(spec: OperatorSpec) -> Iterator[Constraint]:
    """Yield the constraints that cases are to break: those that are checked, and whose descs may be asked for."""
    return (row for row in spec.constraints if row.word != "unchecked" and not row.is_unasked)


def _descs(spec: OperatorSpec, cases: Iterable[Case]) -> Iterator[tuple[Case, OperatorDesc]]:
    for case in cases:
        desc = read_desc(case.operator, case.desc).desc
        if desc is not None and desc.spec.operator == spec.operator:
            yield case, desc


def _part(there: Iterable[str], found: Iterable[str]) -> PartCoverage:
    known, covered = list(there), set(found)
    missing = tuple(name for name in known if name not in covered)
    return PartCoverage(len(known), len(known) - len(missing), missing)


def _part_of_edges(there: Iterable[Edge], found: set[Edge]) -> PartCoverage:
    known = list(there)
    missing: dict[tuple[int | str, str, str, str], list[Edge]] = {}
    for edge in known:
        if edge not in found:
            missing.setdefault((edge.table, edge.tensor, edge.kind, edge.level), []).append(edge)
    texts = tuple(_edges_text(key, edges) for key, edges in missing.items())
    return PartCoverage(len(known), len(known) - sum(map(len, missing.values())), texts)


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
            if LEVEL_ORDER[above] > LEVEL_ORDER[spec.introduced]:
                yield from _edges_between(number, table, below, above)


def _edges_between(number: int, table: SupportTable, below: str, above: str) -> Iterator[Edge]:
    """Yield the parts of a row of a support table that the row below it lacks."""
    for name, support in table.rows[above].items():
        older = table.rows[below].get(name)
        for kind in support.types:
            if older is None or (older.types and kind not in older.types):
                yield Edge(number, name, "type", kind, below)
        for count in support.dims:
            if older is None or count not in older.dims:
                yield Edge(number, name, "dimensions", count, below)


def newest_parts(spec: OperatorSpec) -> Iterator[Edge]:
    """Yield every type and dimension count of the newest rows that a constraint lets through: each needs a case."""
    fixed = {
        name: count for row in spec.constraints if row.word == "dimension_count" for name, count in row.args.items()
    }
    for number, table in enumerate(spec.support):
        newest = max(table.rows, key=LEVEL_ORDER.__getitem__)
        selected: list[int | str] = [number]
        if table.when is not None:
            selected = [" ".join(map(str, values)) for values in product(*table.when.values())]
        for key in selected:
            for name, support in table.rows[newest].items():
                yield from (Edge(key, name, "type", kind, newest) for kind in support.types)
                dims = support.dims if not isinstance(fixed.get(name), int) else [fixed[name]]
                yield from (Edge(key, name, "dimensions", count, newest) for count in dims)


def rejected(spec: OperatorSpec, cases: Iterable[Case]) -> set[Edge]:
    """Return the edges of the support tables that negative cases are rejected for."""
    found: set[Edge] = set()
    for case, desc in _descs(spec, cases):
        if not case.is_negative:
            continue
        if LEVEL_ORDER[case.level] < LEVEL_ORDER[spec.introduced]:
            found.add(Edge(0, "", "operator", spec.short, case.level))
        table, row = _row_at(desc, case.level)
        if table is not None and row is not None:
            uses = (use for use in _uses(table, row, desc) if not use.is_listed)
            found.update(Edge(spec.support.index(table), use.tensor, use.kind, use.value, row) for use in uses)
    return found


def accepted(spec: OperatorSpec, cases: Iterable[Case]) -> set[Edge]:
    """Return the parts of the support tables that other cases use."""
    found: set[Edge] = set()
    for case, desc in _descs(spec, cases):
        table, row = _row_at(desc, case.level)
        if not case.is_negative and table is not None and row is not None:
            key: int | str = spec.support.index(table)
            if table.when is not None:
                key = " ".join(str(desc.values[field]) for field in table.when)
            uses = (use for use in _uses(table, row, desc) if use.is_listed)
            found.update(Edge(key, use.tensor, use.kind, use.value, row) for use in uses)
    return found


def _row_at(desc: OperatorDesc, level: str) -> tuple[SupportTable | None, str | None]:
    table = support_table(desc)
    return table, None if table is None else heading_at(table, level)


class _Use(NamedTuple):
    """The type or the dimension count of a tensor, and whether a row of a support table has it."""

    tensor: str
    kind: str
    value: str | int
    is_listed: bool


def _uses(table: SupportTable, row: str, desc: OperatorDesc) -> Iterator[_Use]:
    for part in desc.tensors():
        name = str(part.path[0])
        support = table.rows[row][name]
        data_type, count = part.tensor.data_type, len(part.tensor.sizes)
        yield _Use(name, "type", data_type, not support.types or data_type in support.types)
        yield _Use(name, "dimensions", count, count in support.dims)


def _rows(spec: OperatorSpec) -> Iterator[str]:
    for number, table in enumerate(spec.support):
        for level in table.rows:
            if LEVEL_ORDER[level] >= LEVEL_ORDER[spec.introduced]:
                yield f"table {number + 1} from {level}"


def _rows_of(case: Case, desc: OperatorDesc) -> Iterator[str]:
    table, row = _row_at(desc, case.level)
    if table is not None and row is not None:
        yield f"table {desc.spec.support.index(table) + 1} from {row}"


# ---- values and layouts


def _values(spec: OperatorSpec) -> Iterator[str]:
    """Yield the values of enumerations, without those that a constraint leaves out in any case."""
    for field in spec.fields.values():
        if field.enum is not None and field.enum != "DML_TENSOR_DATA_TYPE":
            rows = [row for row in spec.constraints if row.word == "one_of" and row.is_unconditional]
            left = [row.args[field.name] for row in rows if field.name in row.args]
            yield from (f"{field.name} {value}" for value in ENUMS[field.enum] if all(value in each for each in left))


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


# ---- whether the bundled cases of an operator leave nothing of its spec out, and agree with it


def case_problems(spec: OperatorSpec, cases: list[Case]) -> Iterator[str]:
    """Yield the gaps and mistakes of the bundled cases of an operator."""
    for case in cases:
        if full_name(case.operator) != spec.operator:
            yield f"{case.id} is a case of {case.operator}"
        if not case.source:
            yield f"{case.id} has no source"
        yield from earlier_releases(spec, case.id, case.source or "")
        own = case.tolerance  # the source explains an exact one
        if own is not None and not (own.reason or case.note or (own.exact and case.source)):
            yield f"{case.id} has its own tolerance and no reason for it"
        if not case.is_negative:
            _, findings = validation.validate(case.operator, case.desc, case.level)
            yield from (f"{case.id} is not valid: {finding.rule}: {finding.message}" for finding in findings)
    yield from _unbroken(spec, cases)
    yield from _examples(spec, cases)
    yield from _table_problems(spec, cases)
    if spec.kernel and not any(case.is_without_results for case in cases):
        yield "no case has inputs without outputs, to compare implementations with the reference engine"


def _table_problems(spec: OperatorSpec, cases: list[Case]) -> Iterator[str]:
    broken = rejected(spec, cases)
    yield from (f"no case is rejected for {edge}" for edge in table_edges(spec) if edge not in broken)
    found = of_operator(spec, cases).parts["support rows accepted"]
    yield from (f"no case is accepted in {row}" for row in found.missing)
    computed = accepted(spec, [case for case in cases if case.outputs is not None])
    yield from (f"no case with outputs has {part}" for part in newest_parts(spec) if part not in computed)


def _unbroken(spec: OperatorSpec, cases: list[Case]) -> Iterator[str]:
    """Yield the rows that no case breaks and one should."""
    listed = {entry for case in cases for entry in case.invalid or ()}
    for row in rows_to_break(spec):
        if f"{spec.short}/{row.id}" not in listed:
            yield f"no case breaks {row.id}"


def _examples(spec: OperatorSpec, cases: list[Case]) -> Iterator[str]:
    sources = [case.source or "" for case in cases if not case.is_negative]
    for example in spec.examples:
        if not any(source.endswith(example) for source in sources):
            yield f"no case has the page's {example}"


# ---- where the expected results of cases come from, operator by operator, as the sources of the cases say


_PATTERNS = {
    "page": r"_OPERATOR_DESC|\bpage|errat|remark|description|documentation|constraint|support table|\bfield",
    "hand": r"by hand|closed form",
    "program": r"mpmath|fraction|exact|arithmetic|python|numpy|program",
    "standard": r"IEEE 754",
    "onnxruntime": r"onnx ?runtime",
    "onnx": r"onnx's|ReferenceEvaluator|onnx node|\bONNX \d",
    "PyTorch": r"pytorch|torch",
    "vendor": r"DirectML's outputs|on DirectML|DirectML took|published|known.answer|Random123",
    "measured": r"DirectML \d[\d., and]* on ",
    "property": r"property|transpose of|inverse of",
    "open": r"unspecified|left open|open point|no source says|does not say",
}
_FINDERS = {kind: re.compile(pattern, re.IGNORECASE).search for kind, pattern in _PATTERNS.items()}
OTHER = "other"
KINDS: Mapping[str, str] = {
    "page": "an example, a formula or a rule of the operator's page, or an erratum",
    "hand": "worked out by hand",
    "program": "an independent program: exact fractions, mpmath, plain Python or NumPy",
    "standard": "IEEE 754",
    "onnxruntime": "ONNX Runtime",
    "onnx": "the evaluator or the tests of onnx",
    "PyTorch": "PyTorch",
    "vendor": "results that a vendor or an author published",
    "measured": "DirectML itself, executed: the source names releases, device and date",
    "property": "a property that the result must have",
    "open": "the documentation leaves the result open",
    OTHER: "something else that the case names",
}


class Evidence(NamedTuple):
    """The evidence for an operator's results: the number of its cases with results, by kind of source.

    A source may be of several kinds. `sources` are the sources themselves with the number of their cases. `compared`
    counts the cases without results, on which implementations are compared with the reference engine, and `legality`
    the cases that only say whether a desc is valid. `has_onnx` says that ONNX has the operator: its cases then run on
    ONNX Runtime too.
    """

    operator: str
    results: int
    kinds: Mapping[str, int]
    sources: Mapping[str, int]
    compared: int
    legality: int
    has_onnx: bool = False


def evidence(operator: str, cases: Iterable[Case]) -> Evidence:
    """Return the evidence for an operator's results in its cases."""
    sources: dict[str, int] = {}
    compared = legality = 0
    for case in cases:
        if case.is_without_results:
            compared += 1
        elif case.outputs is None:
            legality += 1
        else:
            sources[case.source or ""] = sources.get(case.source or "", 0) + 1
    kinds = dict.fromkeys(KINDS, 0)
    for source, count in sources.items():
        for kind in source_kinds(source):
            kinds[kind] += count
    has_onnx = short_operator(operator) in mappings()
    return Evidence(operator, sum(sources.values()), kinds, sources, compared, legality, has_onnx)


def source_kinds(source: str) -> tuple[str, ...]:
    """Return the kinds of a source, in the order of KINDS."""
    return tuple(kind for kind, found in _FINDERS.items() if found(source)) or (OTHER,)
