"""The page of an operator, as `show` prints it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dmlcheck.comparison.tolerances import limit_parts
from dmlcheck.diagnostics.wording import dimension_counts_text
from dmlcheck.inspection.executed import runs_of
from dmlcheck.inspection.operator_pages import OperatorRecord
from dmlcheck.reports.conditions import condition_text, constraint_text, taken_text, taken_values_text
from dmlcheck.reports.executed import executed_text
from dmlcheck.reports.layout import Line, Table, Text
from dmlcheck.specs.about import FAMILIES
from dmlcheck.specs.names import DATA_TYPES, ENUMS, LEVEL_ORDER, level_and_version, releases_text, short_operator
from dmlcheck.specs.records import (
    ALTERNATIVES,
    DATA_TYPE,
    DOCUMENTATION,
    INPUT,
    MEASURED,
    OUTPUT,
    UNDEFINED,
    Erratum,
    Field,
    Half,
    OperatorSpec,
    SupportTable,
    Tolerance,
)
from dmlcheck.specs.search import ForeignName, foreign_text

_KINDS = {INPUT: "input", OUTPUT: "output"}


def operator_lines(record: OperatorRecord) -> Iterator[Line]:
    """Yield the page of an operator: the content of its web page, and corrections to it."""
    spec = record.spec
    yield from _head(record)
    yield from _section("Fields")
    yield from _fields(spec)
    for table in spec.support:
        yield from _section("Support" + (f" when {condition_text(table.when)}" if table.when else ""))
        yield from _support(table)
    yield from _taken(spec)
    yield from _constraints(spec)
    yield from _formula(record)
    yield from _recipes(record)
    yield from _tolerances(spec)
    yield from _alternatives(spec)
    yield from _undefined(spec)
    yield from _errata(spec)
    yield from _deviations(spec)
    yield from _differences(spec)
    yield from _executed(spec)


def _head(record: OperatorRecord) -> Iterator[Line]:
    spec, about = record.spec, record.about
    yield Text(f"{spec.operator}   ", f"from {level_and_version(spec.introduced)}")
    yield Text("  page: ", f"{spec.page['url']} ({spec.page['date']})")
    yield Text("  ", about.purpose)
    yield Text("  family: ", FAMILIES[about.family])
    if spec.supersedes:
        yield Text("  supersedes: ", ", ".join(spec.supersedes))
    if record.older is not None:
        yield Text(f"  after {short_operator(record.older)}: ", record.version.text)
    for library, names in (*spec.names.items(), *about.names.items()):
        yield Text(f"  in {library}: ", ", ".join(names))
    yield Text("  example: ", f"cases/{spec.short.lower()}/{about.example}")
    yield f"  in place: {'yes' if spec.in_place else 'no'}"


def _taken(spec: OperatorSpec) -> Iterator[Line]:
    """Yield the types and numbers of dimensions that releases take beyond the tables."""
    if spec.taken:
        yield from _section("Beyond the tables (measured)")
    for row in spec.taken:
        yield from _item("-", f"{taken_values_text(row)} ({releases_text(row.releases.all)})")


def _constraints(spec: OperatorSpec) -> Iterator[Line]:
    if spec.constraints:
        yield from _section("Constraints")
    for row in spec.constraints:
        yield from _item(row.id, constraint_text(row))
        if row.basis != DOCUMENTATION:
            yield from _item("", f"Basis: {row.basis}")
        if taken := taken_text(row):
            yield from _item("", taken)
    for name, meaning in spec.let.items():
        yield from _item("", f"{name} is {meaning}")


def _alternatives(spec: OperatorSpec) -> Iterator[Line]:
    rows = [row for row in spec.undefined if row.kind == ALTERNATIVES]
    if rows:
        yield from _section("Several results are right (each of these, and nothing between)")
    for row in rows:
        yield from _item("-", " ".join(filter(None, (row.condition, row.reason))))
        for number, outcome in enumerate(row.outcomes, 1):
            yield from _item("", f"{number}. {outcome}")
        yield from _item("", " ".join(filter(None, (row.reference, row.told))))


def _undefined(spec: OperatorSpec) -> Iterator[Line]:
    texts = [row.text for row in spec.undefined if row.kind == UNDEFINED] + general_texts(spec)
    if texts:
        yield from _section("Undefined by the documentation (what was measured judges only DirectML)")
    for text in texts:
        yield from _item("-", text)


def general_texts(spec: OperatorSpec) -> list[str]:
    """Return the undefined results of every operator with floating-point outputs: no page mentions them."""
    return [_ZEROS] if _has_float_outputs(spec) else []


# No page says of any operator which zero or which NaN it gives.
_ZEROS = "The sign of a zero, and the bits of a NaN: the page gives neither, so 0 equals -0, and any NaN any other."


def _has_float_outputs(spec: OperatorSpec) -> bool:
    outputs = [field.name for field in spec.outputs]
    rows = (row for table in spec.support for row in table.rows.values())
    types = {data_type for row in rows for name in outputs if name in row for data_type in row[name].types}
    return any(DATA_TYPES[data_type].kind == "float" for data_type in types)


def _errata(spec: OperatorSpec) -> Iterator[Line]:
    if spec.errata:
        yield from _section("Errata: errors and gaps of Microsoft's page")
    for erratum in spec.errata:
        yield from _erratum(erratum)


def _erratum(erratum: Erratum) -> Iterator[Line]:
    yield from _item(erratum.id, f"Microsoft's page ({erratum.kind}): {erratum.page}")
    yield from _item("", f"Correct: {erratum.correct}")
    measured = "" if erratum.basis == MEASURED else f", {'measured' if erratum.measured else 'not measured'}"
    yield from _item("", f"Basis: {erratum.basis}{measured}")
    if erratum.sources:
        yield from _item("", f"Source: {erratum.sources}")


def _deviations(spec: OperatorSpec) -> Iterator[Line]:
    for name, rows in (("DirectML", spec.known_deviations), *spec.deviations_of.items()):
        if rows:
            yield from _section(f"Known deviations of {name}")
        for deviation in rows:
            yield from _item("-", deviation.text)
            yield from _item("", f"Versions: {deviation.versions}")
            yield from _item("", f"Source: {deviation.source}")


def _differences(spec: OperatorSpec) -> Iterator[Line]:
    if spec.differences:
        yield from _section("Differences from ONNX")
    for difference in spec.differences:
        yield from _item("-", f"{difference.name}: {difference.text}")
        yield from _item("", f"Source: {difference.source}")


def _executed(spec: OperatorSpec) -> Iterator[Line]:
    """Yield how many of the shipped cases agree with DirectML itself."""
    found = runs_of(spec.operator)
    if found:
        yield from _section("On DirectML itself")
    for run, counts in found:
        yield from _item("-", executed_text(run, counts))


def errata_lines(specs: list[OperatorSpec]) -> Iterator[Line]:
    """Yield the errata of all operators that have any, below the operator and the address of its page."""
    for spec in specs:
        if spec.errata:
            yield Text(f"{spec.operator}   ", spec.page["url"])
        for erratum in spec.errata:
            yield from _erratum(erratum)


def foreign_name_text(names: Sequence[ForeignName], own: str | None) -> str:
    """Return the meaning of a name in another library: `Conv is ONNX's name; see CONVOLUTION`; `own` is DirectML's."""
    operators = " or ".join(dict.fromkeys(operator for name in names for operator in name.operators))
    if own is not None:
        whose = " and ".join(f"{name.library}'s {name.name}" for name in names)
        return f"{whose} is {operators}; this is DirectML's {own}"
    return f"{foreign_text(names)}; see {operators}"


def operators_lines(specs: list[OperatorSpec]) -> Iterator[Line]:
    """Yield one line for each operator."""
    yield Table(("operator", "from"), [[spec.operator, spec.introduced] for spec in specs], right=False)


def _section(title: str) -> Iterator[Line]:
    yield ""
    yield Text("", title)


def _item(label: str, text: str) -> Iterator[Text]:
    yield Text(f"  {label:<4}", text)


def _fields(spec: OperatorSpec) -> Iterator[Line]:
    rows = [(field.name, _kind(field), _about(field)) for field in spec.fields.values()]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    for name, kind, about in rows:
        yield Text(f"  {name:<{widths[0]}}  {kind:<{widths[1]}}  ", about)


def _kind(field: Field) -> str:
    """Return the type of a field: `optional input TENSOR_DESC`."""
    optional = "optional" if field.optional or field.counts else ""
    kind = field.enum or ("BOOL" if field.boolean else field.type)
    return " ".join(filter(None, (optional, _KINDS.get(field.kind), kind)))


def _about(field: Field) -> str:
    parts = [field.about]
    if field.counts:
        parts.append(f"Follows from {', '.join(field.counts)} when left out.")
    if field.data_type is not None:
        parts.append(f"Of the type that {field.data_type} names.")
    if field.enum is not None and field.enum != "DML_TENSOR_DATA_TYPE":
        parts.append(f"One of {' '.join(ENUMS[field.enum])}.")
    return " ".join(filter(None, parts))


def _support(table: SupportTable) -> Iterator[Line]:
    rows = []
    for level in sorted(table.rows, key=LEVEL_ORDER.__getitem__, reverse=True):
        for number, (name, support) in enumerate(table.rows[level].items()):
            heading = f"{level} and above" if number == 0 else ""
            rows.append(
                [heading, name, dimension_counts_text(support.dims), " ".join(support.types) or "(the page lists none)"]
            )
    yield Table(("level", "tensor", "dimensions", "data types"), rows, lead="  ", wraps=True)


def _formula(record: OperatorRecord) -> Iterator[Line]:
    """Yield how the reference engine computes the operator, unless its name says so."""
    if record.formula:
        yield from _section("Formula")
    yield from (Text("  ", text) for text in record.formula)


def _recipes(record: OperatorRecord) -> Iterator[Line]:
    if record.about.recipes:
        yield from _section("Recipes (their descs: show --format json)")
    for recipe in record.about.recipes:
        yield from _item("-", f"{recipe.title}: {recipe.text}")


def _tolerances(spec: OperatorSpec) -> Iterator[Line]:
    """Yield the tolerances of results: those that follow from the formula, and the published limits."""
    from dmlcheck.inspection.operator_pages import is_computed, rounding_texts

    roundings = rounding_texts(spec.operator) if is_computed(spec.operator) else []
    lines = [
        *(line for text in derived_texts(spec) for line in _item("-", text)),
        *(line for name, rounding in roundings for line in _item("", f"{name}: {rounding}")),
        *(line for row in spec.tolerance for line in _item("-", f"{limit_text(row)} ({row.source})")),
    ]
    if lines:
        yield from _section("Tolerance")
    yield from lines


def derived_texts(spec: OperatorSpec) -> list[str]:
    """Return the tolerance that follows from the formula in words, nothing where every result is exact."""
    from dmlcheck.inspection.operator_pages import is_computed
    from dmlcheck.reference.bindings import row
    from dmlcheck.reference.rows import PRODUCTS

    if not is_computed(spec.operator) or (spec.tolerance and all(row.exact and not row.when for row in spec.tolerance)):
        return []
    types = "in FLOAT32 (FLOAT16 with `--accumulate float16`)"
    text = f"floats: the rounding of each operation {types}, carried through the formula, + 1 ULP"
    texts = [f"{text}{', or a published limit, if larger' if spec.tolerance else ''}"]
    if row(spec.operator).kernel.sums == PRODUCTS:
        inputs = "rounded to TF32 or BFLOAT16 with `--input-precision tf32` or `--input-precision bfloat16`"
        texts.append(f"FLOAT32 factors in sums of products: not rounded; {inputs}")
    return texts + ([] if spec.half is None else _half_texts(spec.half))


def _half_texts(half: Half) -> list[str]:
    """Return in words the values that DirectML keeps in FLOAT16."""
    when = f", with {' or '.join(half.given)}" if half.given else ""
    texts = [f"DirectML, FLOAT16{when}: it keeps in FLOAT16 {', '.join(half.values)} ({half.source})"]
    if half.parts_beyond is None:
        return texts
    many = f"with more than {half.parts_beyond} products"
    return [*texts, f"DirectML, FLOAT16, {many}: it keeps parts of their sum in FLOAT16"]


def limit_text(tolerance: Tolerance) -> str:
    """Return a limit that a source gives, with its condition."""
    if tolerance.exact:
        limit = "exact"
    else:
        limit = " + ".join(limit_parts(tolerance)) + ("" if DATA_TYPE in (tolerance.when or ()) else ", integers exact")
    chosen = [condition_text(tolerance.when)] if tolerance.when else []
    chosen += [f"with {name}" for name in tolerance.present]
    where = f"{', '.join(chosen)}: " if chosen else ""
    return f"{where}{limit}"
