"""One desc at one feature level: the findings about it, and the lowest level that accepts it.

A desc is read once (`read_desc`), and then checked at any number of levels.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from dmlcheck.descs.read import Reading, read_desc
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import MAX_PROBLEMS, Finding
from dmlcheck.files.document import Path
from dmlcheck.specs.load import full_name, load_spec
from dmlcheck.specs.names import LEVEL_ORDER, LEVELS, level_and_version, level_name
from dmlcheck.specs.records import OperatorSpec
from dmlcheck.validation import constraint_rows, support_tables
from dmlcheck.validation.remedies import axis_help, rank_remedy, with_count, with_remedy


def validate(operator: str, raw: Any, level: str) -> tuple[OperatorDesc | None, list[Finding]]:
    """Read a desc and check it at one level: return its fields and everything that is wrong with it."""
    reading = read_desc(operator, raw)
    return reading.desc, check(reading, level)


def check(reading: Reading, level: str) -> list[Finding]:
    """Return the findings about a desc at a feature level, in no particular order: all, or more than are reported."""
    desc = reading.desc
    if desc is None:
        return list(reading.findings)
    found = (with_count(finding, desc, level) for finding in reading.findings)
    read = (finding._replace(help=finding.help or axis_help(desc, finding)) for finding in found)
    return [*read, *islice(_at_level(desc, level, is_told=True), MAX_PROBLEMS + 1)]


def untold(reading: Reading, level: str) -> Iterator[Finding]:
    """Yield all findings about a desc at a feature level without what helps, which takes longer than to find them."""
    yield from reading.findings
    if reading.desc is not None:
        yield from _at_level(reading.desc, level)


def minimum_level(reading: Reading) -> str | None:
    """Return the lowest feature level at which a desc is valid, or None when there is none."""
    if reading.desc is None or reading.findings:
        return None
    for level in LEVELS:
        if next(_at_level(reading.desc, level), None) is None:
            return level
    return None


def _at_level(desc: OperatorDesc, level: str, *, is_told: bool = False) -> Iterator[Finding]:
    """Yield the findings about a desc that depend on the level; reported ones advise right sizes."""
    if LEVEL_ORDER[level] < LEVEL_ORDER[desc.spec.introduced]:
        yield _unavailable(desc.spec, level, ("operator",))
    else:
        refused = set()
        for finding in support_tables.findings(desc, level, rank_remedy if is_told else None):
            refused.add(finding.path[1:])
            yield finding
        if refused:
            desc = desc._replace(refused=frozenset(refused))
    for path, nested in desc.nested():
        if LEVEL_ORDER[level] < LEVEL_ORDER[nested.spec.introduced]:
            yield _unavailable(nested.spec, level, ("desc", *path, "Type"))
    for finding in constraint_rows.findings(desc, level):
        yield with_remedy(finding, desc, level) if is_told else finding


def _unavailable(spec: OperatorSpec, level: str, path: Path) -> Finding:
    params = {"operator": spec.operator, "level": level_name(level)}
    return Finding("operator-unavailable", path, params, help=_available_help(spec, level))


def _available_help(spec: OperatorSpec, level: str) -> str:
    help = f"it came with {level_and_version(spec.introduced)}"
    for older in spec.supersedes:
        if full_name(older) and LEVEL_ORDER[load_spec(older).introduced] <= LEVEL_ORDER[level]:
            help += f"; {older}, which it supersedes, exists from {level_name(load_spec(older).introduced)}"
    return help
