"""One desc at one feature level: what is wrong with it, and the lowest level that accepts it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc, Part
from dmlcheck.diagnostics.record import Finding
from dmlcheck.files.document import Path
from dmlcheck.specs.load import full_name, load_spec
from dmlcheck.specs.names import DATA_TYPES, LEVEL_ORDER, LEVELS, level_and_version, level_name
from dmlcheck.specs.records import OUTPUT, Constraint, Field, OperatorSpec, SupportTable, TensorSupport
from dmlcheck.validation import constraint_words


def validate(operator: str, raw: Any, level: str) -> tuple[OperatorDesc | None, list[Finding]]:
    """Return a desc's fields and everything that is wrong with it at a feature level, in no particular order."""
    read = read_desc(operator, raw)
    if read.desc is None:
        return None, list(read.findings)
    return read.desc, [*read.findings, *_at_level(read.desc, level)]


def minimum_level(operator: str, raw: Any) -> str | None:
    """Return the lowest feature level at which a desc is valid, or None when there is none."""
    read = read_desc(operator, raw)
    if read.desc is None or read.findings:
        return None
    for level in LEVELS:
        if next(_at_level(read.desc, level), None) is None:
            return level
    return None


def _at_level(desc: OperatorDesc, level: str) -> Iterator[Finding]:
    yield from _support_findings(desc, level)
    for path, nested in desc.nested():
        if LEVEL_ORDER[level] < LEVEL_ORDER[nested.spec.introduced]:
            yield _unavailable(nested.spec, level, ("desc", *path, "Type"))
    yield from _constraint_findings(desc, level)


# ---- constraints


_MOST_DIMENSIONS = 64  # no level takes more than 8, which the support tables say; more would only take time


def _constraint_findings(desc: OperatorDesc, level: str) -> Iterator[Finding]:
    if any(len(part.tensor.sizes) > _MOST_DIMENSIONS for part in desc.tensors()):
        return
    yield from _row_findings(desc, level, ("desc",))
    for path, nested in desc.nested():
        yield from _row_findings(nested, level, ("desc", *path, *nested.steps))


def _row_findings(desc: OperatorDesc, level: str, path: Path) -> Iterator[Finding]:
    """Yield what breaks the rows of one operator's spec; its fields stand at a path."""
    broken: set[str] = set()
    for row in desc.spec.constraints:
        if broken.isdisjoint(row.given) and _applies(row, desc, level):
            for finding in constraint_words.WORDS[row.word](desc, row.args):
                broken.add(row.id)
                yield _of_row(finding, row, desc, level)._replace(path=(*path, *finding.path))


def _of_row(finding: Finding, row: Constraint, desc: OperatorDesc, level: str) -> Finding:
    """Return what a word found with what its row says of it, and from which level it would be no mistake."""
    lifted = None if row.until is None else _accepted_from(finding, row, desc, level)
    helps = (row.help or finding.help, f"accepted from {level_and_version(lifted)}" if lifted else None)
    if lifted and finding.rule == "value-out-of-range":
        field, found = finding.params["field"], finding.params["found"]
        params = {"field": field, "found": found, "operator": desc.spec.operator, "level": level_name(level)}
        finding = finding._replace(rule="unsupported-value", params=params)
    if row.word == "holds":
        said = f"as the row says: {row.text}"
        finding = finding._replace(params={**finding.params, "expected": said, "problem": f"must be {said}"})
    elif finding.rule == "excluded-field" and row.present:
        finding = finding._replace(params={**finding.params, "why": f"beside {' and '.join(row.present)}"})
    return finding._replace(
        constraint=f"{desc.spec.short}/{row.id}",
        note=finding.note or row.text,
        help="; ".join(filter(None, helps)) or None,
    )


def _accepted_from(finding: Finding, row: Constraint, desc: OperatorDesc, level: str) -> str | None:
    """Return the lowest level above one at which no row says the same of the same place, or None."""
    for higher in LEVELS[LEVEL_ORDER[level] + 1 :]:
        alike = [other for other in applicable(desc, higher) if other.word == row.word]
        again = (later.path for other in alike for later in constraint_words.WORDS[other.word](desc, other.args))
        if finding.path not in again:
            return higher
    return None


def applicable(desc: OperatorDesc, level: str) -> Iterator[Constraint]:
    """Yield the rows of a desc's operator that apply to it at a level."""
    return (row for row in desc.spec.constraints if _applies(row, desc, level))


def _applies(row: Constraint, desc: OperatorDesc, level: str) -> bool:
    if row.is_unconditional:
        return True
    values = desc.values
    if row.when is not None and not _matches(row.when, desc):
        return False
    if row.unless is not None and (_matches(row.unless, desc) or not _is_known(row.unless, desc)):
        return False
    if any(name not in values for name in row.present) or any(name in values for name in row.absent):
        return False
    if row.since is not None and LEVEL_ORDER[level] < LEVEL_ORDER[row.since]:
        return False
    return row.until is None or LEVEL_ORDER[level] < LEVEL_ORDER[row.until]


def _matches(condition: Mapping[str, tuple[str, ...]], desc: OperatorDesc) -> bool:
    for name, allowed in condition.items():
        field, _, member = name.partition(".")
        value = desc.values.get(field)
        if (getattr(value, member, None) if member else value) not in allowed:
            return False
    return True


def _is_known(condition: Mapping[str, tuple[str, ...]], desc: OperatorDesc) -> bool:
    """Whether every field of a condition has a value, or may do without one."""
    names = [name.partition(".")[0] for name in condition]
    return all(name in desc.values or desc.spec.fields[name].optional for name in names)


# ---- support tables


def support_table(desc: OperatorDesc) -> SupportTable | None:
    """Return the support table that a desc's fields select, or None where a field that decides it is wrong."""
    for table in desc.spec.support:
        if table.when is None or _matches(table.when, desc):
            return table
    return None


def row_at(table: SupportTable, level: str) -> str | None:
    """Return the level that heads the row of a table which holds at a target level, or None below the first."""
    order = LEVEL_ORDER[level]
    for row in table.rows:
        if LEVEL_ORDER[row] <= order:
            return row
    return None


class _Row(NamedTuple):
    """The row of a support table that holds for a tensor field at a target level."""

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


def _support_findings(desc: OperatorDesc, level: str) -> Iterator[Finding]:
    spec = desc.spec
    if LEVEL_ORDER[level] < LEVEL_ORDER[spec.introduced]:
        yield _unavailable(spec, level, ("operator",))
        return
    table = support_table(desc)
    if table is None:
        return
    heading = row_at(table, level)
    if heading is None:
        yield from _value_findings(desc, table, level)
        return
    for name, support in table.rows[heading].items():
        for part in desc.parts[name]:
            if len(part.tensor.sizes) not in support.dims:
                yield _dimension_finding(_Row(spec, table, spec.fields[name], heading, level), part)
            if support.types and part.tensor.data_type not in support.types:
                yield _type_finding(_Row(spec, table, spec.fields[name], heading, level), part)


def _unavailable(spec: OperatorSpec, level: str, path: Path) -> Finding:
    params = {"operator": spec.operator, "level": level_name(level)}
    return Finding("operator-unavailable", path, params, help=_available_help(spec, level))


def _available_help(spec: OperatorSpec, level: str) -> str:
    help = f"it came with {level_and_version(spec.introduced)}"
    for older in spec.supersedes:
        if full_name(older) and LEVEL_ORDER[load_spec(older).introduced] <= LEVEL_ORDER[level]:
            help += f"; {older}, which it supersedes, exists from {level_name(load_spec(older).introduced)}"
    return help


def _value_findings(desc: OperatorDesc, table: SupportTable, level: str) -> Iterator[Finding]:
    lowest = min(table.rows, key=LEVEL_ORDER.__getitem__)
    operator = desc.spec.operator
    for field in table.when or ():
        params = {"field": field, "found": desc.values[field], "operator": operator, "level": level_name(level)}
        yield Finding("unsupported-value", ("desc", field), params, help=f"accepted from {level_and_version(lowest)}")


def _dimension_finding(row: _Row, part: Part) -> Finding:
    sizes = part.tensor.sizes
    found, dims = len(sizes), row.support.dims
    lowest = row.lowest(lambda support: found in support.dims)
    higher = [count for count in dims if count > found]
    surplus = found - max(dims)
    remedy = None
    if higher:
        remedy = f"add leading dimensions of size 1 to rank {min(higher)}"
    elif all(size == 1 for size in sizes[:surplus]):
        remedy = f"drop leading dimensions of size 1 to rank {max(dims)}"
    params = {
        "tensor": part.label,
        "found": constraint_words.dimensions(found),
        "operator": row.spec.operator,
        "level": level_name(row.level),
    }
    help = _level_help(lowest, "no feature level accepts that many", remedy)
    note = f"{row.heading} takes {dims_text(dims)} dimensions"
    return Finding("unsupported-dimension-count", ("desc", *part.path, "Sizes"), params, help=help, note=note)


def _type_finding(row: _Row, part: Part) -> Finding:
    data_type, types = part.tensor.data_type, row.support.types
    verb = "write" if row.field.kind == OUTPUT else "read"
    lowest = row.lowest(lambda support: data_type in support.types)
    nearest = _nearest_type(data_type, types)
    remedy = None
    if nearest is not None:
        remedy = f"cast to {nearest}" if verb == "read" else f"use {nearest}"
    params = {
        "tensor": part.label,
        "found": data_type,
        "operator": row.spec.operator,
        "verb": verb,
        "level": level_name(row.level),
    }
    help = _level_help(lowest, f"no feature level accepts {data_type} here", remedy)
    note = f"{row.heading} {verb}s {' '.join(types)}"
    return Finding("unsupported-data-type", ("desc", *part.path, "DataType"), params, help=help, note=note)


def _level_help(lowest: str | None, never: str, remedy: str | None) -> str:
    """Say from which level on something is accepted, and what to do below it."""
    if lowest is None:
        return f"{never}; {remedy}" if remedy else never
    accepted = f"accepted from {level_and_version(lowest)}"
    return f"{accepted}; below it, {remedy}" if remedy else accepted


def _nearest_type(data_type: str, types: tuple[str, ...]) -> str | None:
    """Return the widest supported type of the same kind that is no wider, else the narrowest that is wider."""
    kind, bits = DATA_TYPES[data_type]
    same = sorted((DATA_TYPES[name].bits, name) for name in types if DATA_TYPES[name].kind == kind)
    narrower = [name for width, name in same if width <= bits]
    if narrower:
        return narrower[-1]
    return same[0][1] if same else None


def dims_text(dims: tuple[int, ...]) -> str:
    """Return dimension counts as people write them: `1 to 8`, `4`, `4 or 5`, `1 to 3 or 5 to 8`."""
    runs: list[list[int]] = []
    for dimension in dims:
        if runs and dimension == runs[-1][-1] + 1:
            runs[-1].append(dimension)
        else:
            runs.append([dimension])
    parts = [f"{run[0]} to {run[-1]}" if len(run) > 2 else " or ".join(map(str, run)) for run in runs]
    return " or ".join(parts)
