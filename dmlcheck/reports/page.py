"""The pages of the tool's own knowledge: operators (`show`) and rules (`explain`)."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from dmlcheck.comparison.tolerances import DATA_TYPE
from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.diagnostics.wording import dimension_counts_text
from dmlcheck.reports.text import columns_of
from dmlcheck.specs.names import ENUMS, LEVEL_ORDER, level_and_version
from dmlcheck.specs.records import INPUT, OUTPUT, Constraint, Field, OperatorSpec, SupportTable, Tolerance

_KINDS = {INPUT: "input", OUTPUT: "output"}
_LEAST = 40  # columns that a text gets, however far it is indented


class Text(NamedTuple):
    """A text that goes on under its own beginning where a line is full."""

    lead: str
    text: str


Line = str | Text


def printed(lines: Iterable[Line], columns: int | None) -> Iterator[str]:
    """Yield lines as they are printed, texts cut into as many as `columns` ask for; None for no limit."""
    for line in lines:
        if isinstance(line, str):
            yield line
        elif columns is None:
            yield (line.lead + line.text).rstrip()
        else:
            yield from textwrap.wrap(
                line.text,
                max(columns, len(line.lead) + _LEAST),
                initial_indent=line.lead,
                subsequent_indent=" " * len(line.lead),
            ) or [line.lead.rstrip()]


def operator_dict(spec: OperatorSpec) -> dict[str, Any]:
    """Return what `show OPERATOR --format json` prints."""
    return {
        "operator": spec.operator,
        "introduced": spec.introduced,
        "in_place": spec.in_place,
        "fields": [
            {"name": field.name, "kind": field.kind, "type": field.type, "optional": field.optional}
            for field in spec.fields.values()
        ],
        "support": [
            {
                "when": None if table.when is None else {field: list(values) for field, values in table.when.items()},
                "levels": [
                    {
                        "level": level,
                        "tensors": {
                            name: {"dims": list(support.dims), "types": list(support.types)}
                            for name, support in row.items()
                        },
                    }
                    for level, row in table.rows.items()
                ],
            }
            for table in spec.support
        ],
        "constraints": [{"id": row.id, "text": row.text} for row in spec.constraints],
        "tolerance": [_tolerance_dict(row) for row in spec.tolerance],
        "errata": [erratum._asdict() for erratum in spec.errata],
        "unspecified": list(spec.unspecified),
        "known_deviations": [deviation._asdict() for deviation in spec.known_deviations],
        "reference": spec.kernel is not None,
    }


def operator_lines(spec: OperatorSpec) -> Iterator[Line]:
    """Yield the page of an operator: all that its web page says, and what it gets wrong."""
    yield f"{spec.operator}   from {level_and_version(spec.introduced)}"
    yield f"  page: {spec.page['url']} ({spec.page['date']})"
    if spec.supersedes:
        yield f"  supersedes: {', '.join(spec.supersedes)}"
    yield f"  in place: {'yes' if spec.in_place else 'no'}; reference kernel: {'yes' if spec.kernel else 'not yet'}"
    yield from _section("Fields")
    yield from _fields(spec)
    for table in spec.support:
        yield from _section("Support" + (f" when {condition_text(table.when)}" if table.when else ""))
        yield from _support(table)
    if spec.constraints:
        yield from _section("Constraints")
    for row in spec.constraints:
        yield from _item(row.id, row.text + _when(row))
    for name, meaning in spec.let.items():
        yield from _item("", f"{name} is {meaning}")
    if spec.tolerance:
        yield from _section("Tolerance")
    for tolerance in spec.tolerance:
        yield from _item("-", _tolerance(tolerance))
    if spec.unspecified:
        yield from _section("Unspecified (no implementation fails on it)")
        for text in spec.unspecified:
            yield from _item("-", text)
    yield from _errata(spec)
    yield from _deviations(spec)


def _errata(spec: OperatorSpec) -> Iterator[Line]:
    if spec.errata:
        yield from _section("Errata and open points of the page")
    for erratum in spec.errata:
        yield from _item(erratum.id, f"page: {erratum.page}")
        yield from _item("", f"holds: {erratum.holds}")
        yield from _item("", f"source: {erratum.source}")


def _deviations(spec: OperatorSpec) -> Iterator[Line]:
    if spec.known_deviations:
        yield from _section("Known deviations of DirectML")
    for deviation in spec.known_deviations:
        yield from _item("-", deviation.text)
        yield from _item("", f"versions: {deviation.versions}")
        yield from _item("", f"source: {deviation.source}")


def errata_lines(specs: list[OperatorSpec]) -> Iterator[Line]:
    """Yield the errata of all operators that have any."""
    for spec in specs:
        if spec.errata:
            yield f"{spec.operator}   {spec.page['url']}"
        for erratum in spec.errata:
            yield from _item(erratum.id, f"page: {erratum.page}")
            yield from _item("", f"holds: {erratum.holds}")
            yield from _item("", f"source: {erratum.source}")


def operators_lines(specs: list[OperatorSpec]) -> Iterator[Line]:
    """Yield one line for each operator."""
    rows = [[spec.operator, spec.introduced, "yes" if spec.kernel else "not yet"] for spec in specs]
    yield from columns_of(("operator", "from", "reference"), rows, right=False)


def rule_lines(rule: str) -> Iterator[Line]:
    """Yield the page of a rule: what is wrong, why it matters, the smallest wrong file and the same file mended."""
    page = RULES[rule]
    yield f"{rule}   ({page.group})"
    yield ""
    yield page.summary[:1].upper() + page.summary[1:] + "."
    yield ""
    yield Text("", page.why)
    for title, text in (("Wrong", page.wrong), ("Right", page.right)):
        if text:
            yield ""
            yield f"{title}:"
            yield ""
            yield from ("    " + line for line in text.rstrip("\n").split("\n"))


def constraint_lines(spec: OperatorSpec, row: Constraint) -> Iterator[Line]:
    """Yield the page of a labelled constraint."""
    yield f"{spec.operator}/{row.id}"
    yield ""
    yield Text("", row.text + _when(row))
    if row.help:
        yield Text("", row.help + ".")
    yield ""
    yield f"page: {spec.page['url']} ({spec.page['date']})"


def rules_lines() -> Iterator[Line]:
    """Yield one line for each rule."""
    yield from columns_of(
        ("rule", "group", "summary"),
        [[name, rule.group, rule.summary] for name, rule in RULES.items()],
        right=False,
    )


def _section(title: str) -> Iterator[Line]:
    yield ""
    yield title


def _item(label: str, text: str) -> Iterator[Text]:
    yield Text(f"  {label:<4}", text)


def _fields(spec: OperatorSpec) -> Iterator[Line]:
    rows = []
    for field in spec.fields.values():
        kind = _KINDS.get(field.kind, "")
        optional = "optional" if field.optional or field.counts else ""
        rows.append(
            [
                field.name,
                " ".join(filter(None, (optional, kind, field.enum or ("BOOL" if field.boolean else field.type)))),
                _about(field),
            ]
        )
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    for name, kind, about in rows:
        yield Text(f"  {name:<{widths[0]}}  {kind:<{widths[1]}}  ", about)


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
    for line in columns_of(("level", "tensor", "dimensions", "data types"), rows, right=False):
        yield "  " + line


def condition_text(condition: Mapping[str, tuple[Any, ...]]) -> str:
    """Return a condition in words: `Function is ARGMIN or ARGMAX`."""
    return " and ".join(f"{field} is {' or '.join(map(_word, values))}" for field, values in condition.items())


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _when(row: Constraint) -> str:
    parts = []
    if row.when:
        parts.append(f"when {condition_text(row.when)}")
    if row.unless:
        parts.append(f"unless {condition_text(row.unless)}")
    if row.present:
        parts.append(f"with {' and '.join(row.present)}")
    if row.absent:
        parts.append(f"without {' and '.join(row.absent)}")
    if row.since:
        parts.append(f"from {row.since}")
    if row.until:
        parts.append(f"before {row.until}")
    return f" ({', '.join(parts)})" if parts else ""


def _tolerance_dict(row: Tolerance) -> dict[str, Any]:
    """Return what a row says; what it leaves out does not apply."""
    said = {key: value for key, value in row._asdict().items() if value not in (None, False, (), "")}
    return {key: list(value) if isinstance(value, tuple) else value for key, value in said.items()}


def _tolerance(tolerance: Tolerance) -> str:
    if tolerance.exact:
        limit = "exact"
    else:
        parts = ["n * u * sum|terms|"] if tolerance.accumulate else []
        if tolerance.ulp is not None:
            parts.append(f"{tolerance.ulp:g} ULP")
        if tolerance.ulp_per_exponent is not None:
            parts.append(f"{tolerance.ulp_per_exponent:g} * |ln result| ULP")
        if tolerance.absolute is not None:
            times = f" * {tolerance.times}" if tolerance.times else ""
            parts.append(f"{tolerance.absolute:g}{times} absolute")
        if tolerance.relative is not None:
            parts.append(f"{tolerance.relative:g} relative")
        limit = " + ".join(parts) + ("" if DATA_TYPE in (tolerance.when or ()) else ", integers exact")
    chosen = [condition_text(tolerance.when)] if tolerance.when else []
    chosen += [f"with {name}" for name in tolerance.present]
    where = f"{', '.join(chosen)}: " if chosen else ""
    return f"{where}{limit} ({tolerance.source})"
