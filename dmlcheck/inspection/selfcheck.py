"""Whether the specs, kernels, bundled cases and rules agree: what a checklist would leave to chance."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from dmlcheck import validation
from dmlcheck.cases.find import find_files
from dmlcheck.cases.records import Case
from dmlcheck.comparison.tolerances import DATA_TYPE
from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.formats.reading import read_file
from dmlcheck.inspection import coverage
from dmlcheck.specs.load import data_folder, full_name, load_spec, operator_names
from dmlcheck.specs.names import DATA_TYPES, ENUMS, LEVEL_ORDER
from dmlcheck.specs.records import Constraint, OperatorSpec, SupportTable, Tolerance
from dmlcheck.validation import constraint_words, expressions


class Checked(NamedTuple):
    """What a self-check found: the problems, and one line that counts what was looked at."""

    problems: list[str]
    summary: str


def check() -> Checked:
    """Check everything."""
    known = [load_spec(operator) for operator in operator_names()]
    cases, problems = _bundled_cases()
    for spec in known:
        problems.extend(f"{spec.operator}: {text}" for text in _spec_problems(spec))
        own = cases.get(spec.short.lower(), [])
        problems.extend(f"{spec.operator}: {text}" for text in _case_problems(spec, own))
    problems.extend(_kernel_problems(known))
    problems.extend(_word_problems(known))
    problems.extend(f"cases/{folder}: no operator of this name" for folder in sorted(cases) if not _has_spec(folder))
    constraints = sum(len(spec.constraints) for spec in known)
    edges = sum(len(list(coverage.table_edges(spec))) for spec in known)
    total = sum(len(found) for found in cases.values())
    verdict = "all agree" if not problems else f"{len(problems)} problems"
    summary = (
        f"{len(known)} operators, {constraints} constraints, {edges} table edges, {total} bundled cases, "
        f"{len(RULES)} rules: {verdict}"
    )
    return Checked(problems, summary)


def _has_spec(folder: str) -> bool:
    return full_name(folder.upper()) is not None


def _bundled_cases() -> tuple[dict[str, list[Case]], list[str]]:
    root = data_folder("cases")
    found: dict[str, list[Case]] = {}
    problems: list[str] = []
    for path in find_files(root) or []:
        name = os.path.relpath(path, root).replace(os.sep, "/")
        file = read_file(path, name)
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
        if row.word not in constraint_words.WORDS:
            yield f"{row.id} uses the word {row.word}, which constraint_words.py does not have"
        yield from (f"{row.id}: {text}" for text in _name_problems(spec, row.word, row.args))
        yield from (f"{row.id} asks for the field {name}, which does not exist" for name in _unknown(spec, row))
        yield from (
            f"{row.id} is given {other}, which does not stand before it" for other in row.given if other not in seen
        )
        for condition in (row.when, row.unless):
            yield from _condition_problems(spec, row.id, condition)
    for number, table in enumerate(spec.support):
        yield from _condition_problems(spec, f"support table {number + 1}", table.when)
        yield from _table_problems(spec, table)
    for number, tolerance in enumerate(spec.tolerance):
        yield from _row_problems(spec, f"row {number + 1} of the tolerance", tolerance)
    if not spec.tolerance:
        yield "it has no tolerance"
    for field in spec.fields.values():
        if field.enum is not None and field.enum not in ENUMS:
            yield f"{field.name} is of the enumeration {field.enum}, which does not exist"
        yield from (
            f"{field.name} counts {array}, which does not exist" for array in field.counts if array not in spec.fields
        )


_OF_EXPRESSIONS = [
    "at_least",
    "at_most",
    "between",
    "dimension_count",
    "element_count",
    "elements_between",
    "holds",
    "right_aligned_sizes",
    "sizes",
    "sizes_are",
    "value",
]


def _unknown(spec: OperatorSpec, row: Constraint) -> Iterator[str]:
    named = [name.partition(".")[0] for name in row.args] if isinstance(row.args, (dict, list)) else []
    if row.word in ("joined_along", "distinct_indices", "distinct_tuples"):
        named = list(row.args.values())
    yield from (name for name in (*named, *row.present, *row.absent) if name not in spec.fields)


def _name_problems(spec: OperatorSpec, word: str, args: Any) -> Iterator[str]:
    """Yield what an expression names that is neither a field, nor named by `let`, nor `i`."""
    texts = list(_texts(args.values())) if word in _OF_EXPRESSIONS else []
    known = {*spec.fields, *spec.let, "i"}
    for text in (*texts, *spec.let.values()):
        for name in sorted(expressions.names_in(text) - known):
            yield f"{name} in an expression is not a field"


def _texts(args: Iterable[Any]) -> Iterator[str]:
    for part in args:
        if isinstance(part, str):
            yield part
        elif isinstance(part, list):
            yield from _texts(part)


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


def _row_problems(spec: OperatorSpec, where: str, row: Tolerance) -> Iterator[str]:
    """Yield what is wrong with a row of an operator's tolerance."""
    when = dict(row.when or {})
    yield from (f"{where} has the type {kind}" for kind in when.pop(DATA_TYPE, ()) if kind not in DATA_TYPES)
    yield from _condition_problems(spec, where, when)
    named = {*row.present, *expressions.names_in(row.times or "0")}
    yield from (f"{where} names {name}, which is not a field" for name in sorted(named - spec.fields.keys()))
    if row.times is not None and row.absolute is None:
        yield f"{where} multiplies an absolute limit that it does not have"
    limits = (row.ulp, row.absolute, row.relative, row.ulp_per_exponent)
    if row.exact == (row.accumulate or any(limit is not None for limit in limits)):
        yield f"{where} must either be exact or have limits"
    if not row.source:
        yield f"{where} has no source"


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
        kernels = import_module(f"dmlcheck.reference.kernels.{family}").KERNELS
        named = {spec.short for spec in known if spec.kernel == family}
        yield from (
            f"{name}: kernels/{family}.py has a kernel and no spec names it" for name in sorted(kernels.keys() - named)
        )
        yield from (f"{name}: kernels/{family}.py has no kernel for it" for name in sorted(named - kernels.keys()))


def _word_problems(known: list[OperatorSpec]) -> Iterator[str]:
    used = {row.word for spec in known for row in spec.constraints}
    yield from (
        f"constraint_words.py: no constraint uses the word {word}"
        for word in sorted(constraint_words.WORDS.keys() - used)
    )


# ---- cases


def _case_problems(spec: OperatorSpec, cases: list[Case]) -> Iterator[str]:
    """Yield what the bundled cases of an operator leave out, or get wrong about it."""
    listed = {entry for case in cases for entry in case.invalid or ()}
    for case in cases:
        if full_name(case.operator) != spec.operator:
            yield f"{case.id} is a case of {case.operator}"
        if not case.source:
            yield f"{case.id} has no source"
        yield from _tolerance_problems(case)
        yield from _positive_problems(case)
    for row in spec.constraints:
        if row.word != "unchecked" and f"{spec.short}/{row.id}" not in listed:
            yield f"no case breaks {row.id}"
    sources = [case.source or "" for case in cases if case.invalid is None]
    for example in spec.examples:
        if not any(source.endswith(example) for source in sources):
            yield f"no case has the page's {example}"
    yield from _table_problems_of(spec, cases)


def _tolerance_problems(case: Case) -> Iterator[str]:
    """Yield whether a case has a tolerance of its own that nothing explains; the source does for an exact one."""
    own = case.tolerance
    if own is not None and not (own.reason or case.note or (own.exact and case.source)):
        yield f"{case.id} has its own tolerance and no reason for it"


def _positive_problems(case: Case) -> Iterator[str]:
    """Yield why a case that claims to be legal is not: `run` does not say so of a plain desc."""
    if case.invalid is None:
        _, findings = validation.validate(case.operator, case.desc, case.level)
        yield from (f"{case.id} is not legal: {finding.rule}: {finding.message}" for finding in findings)


def _table_problems_of(spec: OperatorSpec, cases: list[Case]) -> Iterator[str]:
    rejected, _ = coverage.seen(spec, cases)
    yield from (f"no case is rejected for {edge}" for edge in coverage.table_edges(spec) if edge not in rejected)
    found = coverage.of_operator(spec, cases).parts["support rows accepted"]
    yield from (f"no case is accepted in {row}" for row in found.missing)
    if spec.kernel is not None:
        _, computed = coverage.seen(spec, [case for case in cases if case.outputs is not None])
        yield from (f"no case with outputs has {part}" for part in coverage.newest_parts(spec) if part not in computed)
