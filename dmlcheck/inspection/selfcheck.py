"""Self-check: whether the specs, kernels, bundled cases and rules agree, in place of a checklist."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import chain
from typing import Any, NamedTuple

from dmlcheck.cases.records import Case, CaseFile
from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.diagnostics.wording import counted
from dmlcheck.formats.find import find_files
from dmlcheck.formats.registry import read_file
from dmlcheck.inspection.bases import basis_problems
from dmlcheck.inspection.coverage import case_problems, table_edges
from dmlcheck.reference.bindings import parameter
from dmlcheck.reference.rows import (
    JUMPS,
    NORMS,
    OVERFLOWS,
    PRODUCTS,
    RANKS,
    SEEKS,
    SHARES,
    SUMS,
    TERMS,
    WINOGRAD,
    Correlations,
    Kernel,
    Products,
    Recurrence,
    Spread,
)
from dmlcheck.specs.about import AboutOperator, has_about, load_about, older_operator
from dmlcheck.specs.load import data_folder, full_name, load_spec, operator_names
from dmlcheck.specs.names import DATA_TYPES, ENUMS, LEVEL_ORDER, LEVELS, NEWEST_LEVEL, parse_version, short_operator
from dmlcheck.specs.records import (
    DATA_TYPE,
    NAMED,
    PARTS,
    Constraint,
    Deviation,
    Field,
    OperatorSpec,
    SupportTable,
    Tolerance,
)
from dmlcheck.validation import conditions, constraint_words, validate
from dmlcheck.validation.support_tables import heading_at
from dmlcheck.values.number_formats import FORMATS


class SelfCheck(NamedTuple):
    """The result of a self-check: the problems, and one line with the numbers of the checked things."""

    problems: list[str]
    summary: str


def check() -> SelfCheck:
    """Check everything; nothing else where a spec cannot be read, since cases and kernels need them all."""
    unread = list(_unread_specs())
    if unread:
        return SelfCheck(
            unread, f"specs that cannot be read; nothing else was checked: {counted(len(unread), 'problem')}"
        )
    known = [load_spec(operator) for operator in operator_names()]
    files = list(_bundled_files())
    cases: dict[str, list[Case]] = {}
    for folder, file in files:
        cases.setdefault(folder, []).extend(file.cases)
    problems = [*_file_problems(file for _, file in files), *_problems(known, cases)]
    verdict = "all agree" if not problems else counted(len(problems), "problem")
    return SelfCheck(problems, f"{_counts(known, cases)}: {verdict}")


def _unread_specs() -> Iterator[str]:
    for operator in operator_names():
        try:
            load_spec(operator)
        except ValueError as problem:
            yield str(problem)


def _bundled_files() -> Iterator[tuple[str, CaseFile]]:
    root = data_folder("cases")
    for path in find_files(root) or []:
        name = os.path.relpath(path, root).replace(os.sep, "/")
        yield name.partition("/")[0], read_file(path, name)


def _file_problems(files: Iterable[CaseFile]) -> Iterator[str]:
    for file in files:
        for problem in (*file.problems, *chain.from_iterable(file.broken.values())):
            yield f"{file.document.name}:{problem.line}: {problem.rule}: {problem.message}"


def _problems(known: list[OperatorSpec], cases: Mapping[str, list[Case]]) -> Iterator[str]:
    for spec in known:
        own = cases.get(spec.short.lower(), [])
        for text in (*_spec_problems(spec), *case_problems(spec, own), *about_problems(spec, own)):
            yield f"{spec.operator}: {text}"
    yield from kernel_problems(known)
    used = {row.word for spec in known for row in spec.constraints}
    yield from (
        f"constraint_words.py: no constraint uses the word {word}"
        for word in sorted(constraint_words.WORDS.keys() - used)
    )
    for folder in sorted(cases):
        if full_name(folder.upper()) is None:
            yield f"cases/{folder}: no operator of this name"


def _counts(known: list[OperatorSpec], cases: Mapping[str, list[Case]]) -> str:
    constraints = sum(len(spec.constraints) for spec in known)
    edges = sum(len(list(table_edges(spec))) for spec in known)
    total = sum(len(found) for found in cases.values())
    numbers = {
        "operator": len(known),
        "constraint": constraints,
        "table edge": edges,
        "bundled case": total,
        "rule": len(RULES),
    }
    return ", ".join(counted(number, noun) for noun, number in numbers.items())


# ---- specs


def _spec_problems(spec: OperatorSpec) -> Iterator[str]:
    for number, row in enumerate(spec.constraints):
        yield from _constraint_problems(spec, row, {other.id for other in spec.constraints[:number]})
    for number, table in enumerate(spec.support):
        yield from condition_problems(spec, f"support table {number + 1}", table.when)
        yield from _table_problems(spec, table)
        yield from unreached(f"support table {number + 1}", table.when, (other.when for other in spec.support[:number]))
    for number, tolerance in enumerate(spec.tolerance):
        where, earlier = f"row {number + 1} of the tolerance", spec.tolerance[:number]
        yield from _row_problems(spec, where, tolerance)
        for_any = (other.when for other in earlier if {*other.present} <= {*tolerance.present})
        yield from unreached(where, tolerance.when, for_any)
    if spec.half is not None:
        yield from _desc_problems(spec, "half", None, spec.half.given)
        if spec.half.parts_beyond is not None and "products" not in spec.let:
            yield "half counts products, which `let` does not have"
        if spec.half.stored not in ("", "stored", PARTS, NAMED):
            yield f"half is stored as {spec.half.stored}, which is not possible"
    for deviation in (*spec.known_deviations, *chain.from_iterable(spec.deviations_of.values())):
        yield from _deviation_problems(spec, deviation)
    yield from _field_problems(spec)
    yield from basis_problems(spec)


def _field_problems(spec: OperatorSpec) -> Iterator[str]:
    for field in spec.fields.values():
        if field.enum is not None and field.enum not in ENUMS:
            yield f"{field.name} is of the enumeration {field.enum}, which does not exist"
        yield from (
            f"{field.name} counts {array}, which does not exist" for array in field.counts if array not in spec.fields
        )


def _constraint_problems(spec: OperatorSpec, row: Constraint, before: set[str]) -> Iterator[str]:
    """Yield the problems of a constraint; `before` has the ids of earlier ones."""
    if row.id in before:
        yield f"two constraints are called {row.id}"
    if row.word not in constraint_words.WORDS:
        yield f"{row.id} uses the word {row.word}, which constraint_words.py does not have"
    yield from (f"{row.id}: {text}" for text in _name_problems(spec, row.word, row.args))
    yield from (f"{row.id} asks for the field {name}, which does not exist" for name in _unknown(spec, row))
    yield from (
        f"{row.id} is given {other}, which does not stand before it" for other in row.given if other not in before
    )
    yield from row_problems(spec, row)


_OF_EXPRESSIONS = (
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
)


def _unknown(spec: OperatorSpec, row: Constraint) -> Iterator[str]:
    named = [name.partition(".")[0] for name in row.args] if isinstance(row.args, (dict, list)) else []
    if row.word in ("joined_along", "distinct_indices", "distinct_tuples"):
        named = list(row.args.values())
    yield from (name for name in (*named, *row.present, *row.absent) if name.partition("[")[0] not in spec.fields)


def _name_problems(spec: OperatorSpec, word: str, args: Any) -> Iterator[str]:
    """Yield the unknown names in an expression: neither a field, nor a name of `let`, nor `i`."""
    texts = list(_texts(args.values())) if word in _OF_EXPRESSIONS else []
    known = {*spec.fields, *spec.let, "i"}
    for text in (*texts, *spec.let.values()):
        for name in sorted(conditions.free_names(text) - known):
            yield f"{name} in an expression is not a field"


def _texts(args: Iterable[Any]) -> Iterator[str]:
    for part in args:
        if isinstance(part, str):
            yield part
        elif isinstance(part, list):
            yield from _texts(part)


def _row_problems(spec: OperatorSpec, where: str, row: Tolerance) -> Iterator[str]:
    """Yield the problems of a row of an operator's tolerance."""
    yield from _desc_problems(spec, where, row.when, row.present)
    limits = (row.ulp, row.absolute, row.relative, row.ulp_per_exponent)
    if row.exact == any(limit is not None for limit in limits):
        yield f"{where} must either be exact or have limits"
    if not row.source:
        yield f"{where} has no source"


def _deviation_problems(spec: OperatorSpec, row: Deviation) -> Iterator[str]:
    """Yield the problems of a known deviation's choice of descs and versions."""
    where = f'the known deviation "{row.text}"'
    yield from _desc_problems(spec, where, row.when, (*row.absent, *row.strided))
    names = conditions.free_names(row.where) if row.where else frozenset()
    yield from (f"{where} names {name}, which is not a field" for name in sorted(names - spec.fields.keys()))
    yield from _values_problems(spec, where, row)
    versions = [version for version in (row.since, row.until) if version is not None]
    yield from (f"{where}: {version} is no version" for version in versions if parse_version(version) is None)


def _values_problems(spec: OperatorSpec, where: str, row: Deviation) -> Iterator[str]:
    """Yield the problems of a known deviation's expressions over values, and of its code."""
    from dmlcheck.comparison.deviating import FUNCTIONS, NAMES
    from dmlcheck.reference.functions.several_ways import KNOWN_ERRORS

    expressions_of = [row.values, row.gives, *(row.as_if or {}).values()]
    names = {name for text in expressions_of if text is not None for name in conditions.of_values(text, FUNCTIONS)[1]}
    names |= {path.partition(".")[0] for path in row.as_if or {}}
    yield from (f"{where} names {name}, which is not a field" for name in sorted(names - spec.fields.keys() - NAMES))
    if row.is_given and row.values is None:
        yield f"{where} says what DirectML gives, and not where"
    yield from (f"{where} names {name}, no function with known errors" for name in row.errors.keys() - KNOWN_ERRORS)
    if not row.of and row.refusal is not None and re.fullmatch("0x8[0-9A-F]{7}", row.refusal) is None:
        yield f"{where}: {row.refusal} is no code of a refusal"


def _desc_problems(
    spec: OperatorSpec, where: str, when: Mapping[str, tuple[str, ...]] | None, names: tuple[str, ...]
) -> Iterator[str]:
    """Yield the problems of a row's choice of descs: a condition, and names of fields."""
    yield from condition_problems(spec, where, when)
    yield from (f"{where} names {name}, which is not a field" for name in sorted({*names} - spec.fields.keys()))


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


# ---- the conditions of a spec's rows


Condition = Mapping[str, tuple[Any, ...]]


def condition_problems(
    spec: OperatorSpec, where: str, condition: Condition | None, levels: Sequence[str] = LEVELS
) -> Iterator[str]:
    """Yield the problems of a condition: an unknown field, or a value that it never has."""
    for name, values in (condition or {}).items():
        field = spec.fields.get(name)
        if field is None and name != DATA_TYPE:
            yield f"{where} asks for the field {name}, which does not exist"
        elif field is None or field.is_tensor:
            yield from _type_problems(spec, where, name, values, levels)
        else:
            yield from _value_problems(where, field, values)
        if not values:
            yield f"{where} asks for no value of {name}"


def row_problems(spec: OperatorSpec, row: Constraint) -> Iterator[str]:
    """Yield why no desc at any level is one that a constraint is for."""
    levels = [level for level in LEVELS if _is_at(row, level) and LEVEL_ORDER[spec.introduced] <= LEVEL_ORDER[level]]
    if not levels:
        yield f"{row.id} is for no feature level from {spec.introduced} on"
    for condition in (row.when, row.unless):
        yield from condition_problems(spec, row.id, condition, levels or LEVELS)
    yield from (
        f"{row.id} asks for {name} and that it is left out"
        for name in sorted({*row.present, *(row.when or ())} & {*row.absent})
    )
    if row.unless is not None and row.when is not None and _implies(row.when, row.unless):
        yield f"{row.id} is for no desc: unless is met where when is"


def unreached(where: str, when: Condition | None, earlier: Iterable[Condition | None]) -> Iterator[str]:
    """Yield why no desc gets to a row, of which the first that it meets counts: an earlier one has taken it."""
    if any(_implies(when or {}, other or {}) for other in earlier):
        yield f"{where} is never reached: an earlier one is for the same descs"


def _is_at(row: Constraint, level: str) -> bool:
    order = LEVEL_ORDER[level]
    return (row.since is None or LEVEL_ORDER[row.since] <= order) and (
        row.until is None or order < LEVEL_ORDER[row.until]
    )


def _implies(when: Condition, unless: Condition) -> bool:
    """Whether every desc that meets one condition meets another."""
    return all(name in when and {*when[name]} <= {*values} for name, values in unless.items())


def _type_problems(
    spec: OperatorSpec, where: str, name: str, values: tuple[Any, ...], levels: Sequence[str]
) -> Iterator[str]:
    """Yield the data types of a condition that a tensor never has."""
    field = spec.fields.get(name) if name != DATA_TYPE else next(iter(spec.outputs), None)
    if field is not None and name != DATA_TYPE and field.type != "TENSOR_DESC":
        yield f"{where} compares {name}, of which there may be several, with a data type"
        return
    taken = None if field is None else _types_of(spec, field.name, levels)
    for kind in values:
        if kind not in DATA_TYPES:
            yield f"{where} has the type {kind}"
        elif taken is not None and kind not in taken:
            yield f"{where}: no support table gives {name} the type {kind} where it applies"


def _types_of(spec: OperatorSpec, name: str, levels: Sequence[str]) -> set[str] | None:
    """Return the types that the support tables give a tensor at some levels; None if none limits them."""
    rows = [table.rows[heading] for table in spec.support for level in levels if (heading := heading_at(table, level))]
    found = [row[name].types for row in rows if name in row]
    return None if not found or () in found else {kind for types in found for kind in types}


def _value_problems(where: str, field: Field, values: tuple[Any, ...]) -> Iterator[str]:
    """Yield the values of a condition that a field which is no tensor never has."""
    if field.enum is not None:
        known = ENUMS.get(field.enum, ())
        yield from (f"{where}: {value} is not a value of {field.enum}" for value in values if value not in known)
    elif field.boolean:
        yield from (f"{where}: {field.name} is never {value}" for value in values if type(value) is not bool)
    elif field.type in ("UINT", "INT", "FLOAT"):
        numbers = (int, float) if field.type == "FLOAT" else (int,)
        yield from (f"{where}: {field.name} is never {value}" for value in values if type(value) not in numbers)
    else:
        yield f"{where} compares {field.name}, which is neither one value nor a tensor"


# ---- the kernels' rows: whether each operator has one, and each row what it needs


def kernel_problems(known: list[OperatorSpec]) -> Iterator[str]:
    """Yield the problems of the families' tables."""
    for family in sorted({spec.kernel for spec in known}):
        kernels = import_module(f"dmlcheck.reference.kernels.{family}").KERNELS
        named = {spec.short: spec for spec in known if spec.kernel == family}
        yield from (
            f"{name}: kernels/{family}.py has a kernel and no spec names it" for name in sorted(kernels.keys() - named)
        )
        yield from (f"{name}: kernels/{family}.py has no kernel for it" for name in sorted(named.keys() - kernels))
        for name in sorted(named.keys() & kernels.keys()):
            yield from (
                f"{name}: kernels/{family}.py: {text}" for text in kernel_row_problems(named[name], kernels[name])
            )


def kernel_row_problems(spec: OperatorSpec, row: Kernel) -> Iterator[str]:
    """Yield the problems of an operator's row."""
    for word, words in ((row.sums, SUMS), (row.jumps, JUMPS), (row.overflow, OVERFLOWS), (row.seeks, SEEKS)):
        if word not in words:
            yield f"the row says {word}, which is none of {', '.join(filter(None, words))}"
    others = {*row.algorithms} - {WINOGRAD}
    yield from (f"the row has the algorithm {name}, which no option names" for name in others)
    for name, limits in (("range", spec.range), ("domain", spec.domain)):
        if limits is not None and limits[0] >= limits[1]:
            yield f"the {name} from {limits[0]} to {limits[1]} has no numbers"
    if isinstance(row.tiles, (Products, Correlations, Recurrence)) and _has_floats(spec) and row.sums != PRODUCTS:
        yield "the row has tiles of sums of products, and does not say that it has such sums"
    if row.spread is not None:
        yield from _spread_problems(spec, row.spread)


def _spread_problems(spec: OperatorSpec, spread: Spread) -> Iterator[str]:
    tensors = {parameter(field.name) for field in spec.inputs}
    for name in (*spread.places, *spread.factors, *spread.multiplied):
        if name not in tensors:
            yield f"the row spreads errors by {name}, which is no input"
    if spread.by not in (TERMS, NORMS, RANKS, SHARES):
        yield f"the row spreads errors as {spread.by}, which is not possible"
    if spread.by == RANKS:
        needed = ("InputTensor", "Axis", "OutputValueTensor")
        yield from (f"the row sorts elements, and there is no {name}" for name in needed if name not in spec.fields)


def _has_floats(spec: OperatorSpec) -> bool:
    rows = [row for table in spec.support for row in table.rows.values()]
    return any(
        all(row[field.name].types and {*row[field.name].types} <= FORMATS.keys() for row in rows if field.name in row)
        for field in spec.inputs
        if any(field.name in row for row in rows)
    )


# ---- the texts for readers in specs/about: whether they are whole, and agree with the spec and the cases

MOST_WORDS = 25  # of a sentence


def about_problems(spec: OperatorSpec, cases: Sequence[Case]) -> Iterator[str]:
    """Yield the gaps and errors of an operator's file in specs/about; `cases` has the cases of its folder."""
    name = f"specs/about/{spec.short.lower()}.yaml"
    if not has_about(spec.operator):
        yield f"there is no {name}"
        return
    try:
        about = load_about(spec.operator)
    except ValueError as problem:
        yield str(problem)
        return
    yield from (f"{name}: {text}" for text in (*_text_problems(about), *_spec_and_about_problems(spec, about)))
    yield from (f"{name}: {text}" for text in _example_problems(about, cases))


def _text_problems(about: AboutOperator) -> Iterator[str]:
    for text in (about.purpose, about.changes, *about.where.values(), *(recipe.text for recipe in about.recipes)):
        for sentence in re.split(r"(?<=[.;])\s", text):
            if len(sentence.split()) > MOST_WORDS:
                yield f"a sentence has more than {MOST_WORDS} words: {sentence}"
    for text in filter(None, (about.purpose, about.changes)):
        if not text.endswith("."):
            yield f"a sentence has no full stop: {text}"
    joined = " ".join(about.equations)
    yield from (f"no equation has the symbol {symbol}" for symbol in about.where if symbol not in joined)


def _spec_and_about_problems(spec: OperatorSpec, about: AboutOperator) -> Iterator[str]:
    older = older_operator(spec)
    if older is not None and not about.changes:
        yield f"changes must say what the operator changed of {short_operator(older)}"
    if older is None and about.changes:
        yield "changes is of no operator: there is none before this one"
    yield from (f"typical has {name}, which is not a field" for name in about.typical if name not in spec.fields)
    for recipe in about.recipes:
        _, findings = validate(spec.operator, recipe.desc, NEWEST_LEVEL)
        yield from (f"the desc of {recipe.title} is not valid: {finding.message}" for finding in findings)


def _example_problems(about: AboutOperator, cases: Sequence[Case]) -> Iterator[str]:
    case = example(about, cases)
    if case is None:
        yield f"the example {about.example} is not a case of the operator"
    elif not case.gives_outputs or case.source is None:
        yield f"the example {about.example} must give outputs and say their source"


def example(about: AboutOperator, cases: Sequence[Case]) -> Case | None:
    """Return the case that is an operator's example, or None."""
    return next((case for case in cases if case.id.endswith("/" + about.example)), None)
