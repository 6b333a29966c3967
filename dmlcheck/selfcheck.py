"""Whether the specs, kernels, bundled cases and rules agree: what a checklist would leave to chance."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from importlib import import_module
from itertools import pairwise, product
from typing import NamedTuple

from dmlcheck import collect, rules, specs, validation
from dmlcheck.desc import read_desc
from dmlcheck.diagnostics import RULES
from dmlcheck.header import DATA_TYPES, ENUMS, LEVEL_ORDER, LEVELS, NEWEST_LEVEL
from dmlcheck.model import Case, OperatorSpec, SupportTable

_ALL_OPERATORS = 177  # the words that the rest of them will use are there already


class Checked(NamedTuple):
    """What a self-check found: the problems, and one line that counts what was looked at."""

    problems: list[str]
    summary: str


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
        table = f"{self.table} " if isinstance(self.table, str) else ""
        return f"{table}{self.tensor} {self.kind} {self.value} at {self.level}"


def check() -> Checked:
    """Check everything."""
    known = [specs.load(operator) for operator in specs.operators()]
    cases, problems = _bundled_cases()
    for spec in known:
        problems.extend(f"{spec.operator}: {text}" for text in _spec_problems(spec))
        own = cases.get(spec.short.lower(), [])
        problems.extend(f"{spec.operator}: {text}" for text in _case_problems(spec, own))
    problems.extend(_kernel_problems(known))
    problems.extend(_word_problems(known))
    problems.extend(f"cases/{folder}: no operator of this name" for folder in sorted(cases) if not _has_spec(folder))
    constraints = sum(len(spec.constraints) for spec in known)
    edges = sum(len(list(table_edges(spec))) for spec in known)
    total = sum(len(found) for found in cases.values())
    verdict = "all agree" if not problems else f"{len(problems)} problems"
    summary = (
        f"{len(known)} operators, {constraints} constraints, {edges} table edges, {total} bundled cases, "
        f"{len(RULES)} rules: {verdict}"
    )
    return Checked(problems, summary)


def _has_spec(folder: str) -> bool:
    return specs.full_name(folder.upper()) is not None


def _bundled_cases() -> tuple[dict[str, list[Case]], list[str]]:
    root = specs.data_folder("cases")
    found: dict[str, list[Case]] = {}
    problems: list[str] = []
    for path in collect.find_files(root) or []:
        name = os.path.relpath(path, root).replace(os.sep, "/")
        file = collect.read_file(path, name)
        wrong = [*file.problems, *(part for parts in file.broken.values() for part in parts)]
        problems.extend(f"{name}:{problem.line}: {problem.rule}: {problem.message}" for problem in wrong)
        found.setdefault(name.partition("/")[0], []).extend(file.cases)
    return found, problems


# ---- specs


def _spec_problems(spec: OperatorSpec) -> Iterator[str]:
    """Yield what is wrong within one spec."""
    seen: set[str] = set()
    for row in spec.constraints:
        if row.id in seen:
            yield f"two constraints are called {row.id}"
        seen.add(row.id)
        if row.word not in rules.RULES:
            yield f"{row.id} uses the word {row.word}, which rules.py does not have"
        yield from (
            f"{row.id} is given {other}, which does not stand before it" for other in row.given if other not in seen
        )
        for condition in (row.when, row.unless):
            yield from _condition_problems(spec, row.id, condition)
    for number, table in enumerate(spec.support):
        yield from _condition_problems(spec, f"support table {number + 1}", table.when)
        yield from _table_problems(spec, table)
    for tolerance in spec.tolerance:
        yield from _condition_problems(spec, "tolerance", tolerance.when)
    for field in spec.fields.values():
        if field.enum is not None and field.enum not in ENUMS:
            yield f"{field.name} is of the enumeration {field.enum}, which does not exist"
        yield from (
            f"{field.name} counts {array}, which does not exist" for array in field.counts if array not in spec.fields
        )


def _condition_problems(
    spec: OperatorSpec, where: str, condition: Mapping[str, tuple[str, ...]] | None
) -> Iterator[str]:
    for name, values in (condition or {}).items():
        field = spec.fields.get(name.partition(".")[0])
        if field is None:
            yield f"{where} asks for the field {name}, which does not exist"
        elif field.enum is not None:
            yield from (
                f"{where}: {value} is not a value of {field.enum}" for value in values if value not in ENUMS[field.enum]
            )


def _table_problems(spec: OperatorSpec, table: SupportTable) -> Iterator[str]:
    for level, row in table.rows.items():
        if level not in LEVEL_ORDER:
            yield f"a support table has the level {level}, which does not exist"
        for name, support in row.items():
            if name not in spec.fields or not spec.fields[name].is_tensor:
                yield f"a support table names {name}, which is no tensor"
            yield from (f"{name} at {level} has the type {kind}" for kind in support.types if kind not in DATA_TYPES)
    order = [LEVEL_ORDER.get(level, -1) for level in table.rows]
    if order != sorted(order, reverse=True):
        yield "the rows of a support table do not stand newest first"


def _kernel_problems(known: list[OperatorSpec]) -> Iterator[str]:
    families = {spec.kernel for spec in known if spec.kernel is not None}
    for family in sorted(families):
        kernels = import_module(f"dmlcheck.kernels.{family}").KERNELS
        named = {spec.short for spec in known if spec.kernel == family}
        yield from (
            f"{name}: kernels/{family}.py has a kernel and no spec names it" for name in sorted(kernels.keys() - named)
        )
        yield from (f"{name}: kernels/{family}.py has no kernel for it" for name in sorted(named - kernels.keys()))


def _word_problems(known: list[OperatorSpec]) -> Iterator[str]:
    if len(known) < _ALL_OPERATORS:
        return
    used = {row.word for spec in known for row in spec.constraints}
    yield from (f"rules.py: no constraint uses the word {word}" for word in sorted(rules.RULES.keys() - used))


# ---- cases


def _case_problems(spec: OperatorSpec, cases: list[Case]) -> Iterator[str]:
    """Yield what the bundled cases of an operator leave out, or get wrong about it."""
    listed = {entry for case in cases for entry in case.invalid or ()}
    for case in cases:
        if specs.full_name(case.operator) != spec.operator:
            yield f"{case.id} is a case of {case.operator}"
        if not case.source:
            yield f"{case.id} has no source"
    yield from (f"no case breaks {row.id}" for row in spec.constraints if f"{spec.short}/{row.id}" not in listed)
    sources = [case.source or "" for case in cases if case.outputs is not None]
    for example in spec.examples:
        if not any(source.endswith(example) for source in sources):
            yield f"no case has the page's {example}"
    rejected, accepted = _coverage(spec, cases)
    yield from (f"no case is rejected for {edge}" for edge in table_edges(spec) if edge not in rejected)
    if spec.kernel is not None:
        yield from (f"no case with outputs has {part}" for part in newest_parts(spec) if part not in accepted)


def table_edges(spec: OperatorSpec) -> Iterator[Edge]:
    """Yield every edge of an operator's support: each needs a case that is rejected one step below it."""
    if spec.introduced != LEVELS[0]:
        yield Edge(0, "", "operator", spec.short, LEVELS[LEVEL_ORDER[spec.introduced] - 1])
    for number, table in enumerate(spec.support):
        levels = sorted(table.rows, key=LEVEL_ORDER.__getitem__)
        for below, above in pairwise(levels):
            for name, support in table.rows[above].items():
                older = table.rows[below].get(name)
                for kind in support.types:
                    if older is None or (older.types and kind not in older.types):
                        yield Edge(number, name, "type", kind, below)
                for count in support.dims:
                    if older is None or count not in older.dims:
                        yield Edge(number, name, "dimensions", count, below)


def newest_parts(spec: OperatorSpec) -> Iterator[Edge]:
    """Yield every type and dimension count of the newest rows: each needs a case with outputs."""
    for number, table in enumerate(spec.support):
        newest = max(table.rows, key=LEVEL_ORDER.__getitem__)
        selected: list[int | str] = [number]
        if table.when is not None:
            selected = [" ".join(values) for values in product(*table.when.values())]
        for key in selected:
            for name, support in table.rows[newest].items():
                yield from (Edge(key, name, "type", kind, newest) for kind in support.types)
                yield from (Edge(key, name, "dimensions", count, newest) for count in support.dims)


def _coverage(spec: OperatorSpec, cases: list[Case]) -> tuple[set[Edge], set[Edge]]:
    """Return the parts of the support tables that cases are rejected for, and those that cases with outputs use."""
    rejected: set[Edge] = set()
    accepted: set[Edge] = set()
    for case in cases:
        level = case.feature_level or NEWEST_LEVEL
        desc = read_desc(case.operator, case.desc).desc
        if desc is None or desc.spec is not spec:
            continue
        if case.invalid is not None and LEVEL_ORDER[level] < LEVEL_ORDER[spec.introduced]:
            rejected.add(Edge(0, "", "operator", spec.short, level))
        table = validation.support_table(desc)
        row = None if table is None else validation.row_at(table, level)
        if table is None or row is None:
            continue
        number = spec.support.index(table)
        key = number if table.when is None else " ".join(desc.values[field] for field in table.when)
        for part in desc.tensors():
            name = str(part.path[0])
            support = table.rows[row][name]
            for kind, value, listed in (
                ("type", part.tensor.data_type, support.types),
                ("dimensions", len(part.tensor.sizes), support.dims),
            ):
                if value in listed and case.outputs is not None:
                    accepted.add(Edge(key, name, kind, value, row))
                elif value not in listed and case.invalid is not None:
                    rejected.add(Edge(number, name, kind, value, row))
    return rejected, accepted
