"""The pages that list something across operators: levels, data types, rules, corrections, messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.diagnostics.pages import page
from dmlcheck.diagnostics.wording import counted
from dmlcheck.inspection.level_diff import differences, level_evidence
from dmlcheck.inspection.messages import messages
from dmlcheck.reports.level_diff import change_texts
from dmlcheck.reports.site.mistakes import Mistake, output_of
from dmlcheck.specs.names import (
    DATA_TYPES,
    FEATURE_LEVELS,
    LEVEL_ORDER,
    LEVELS,
    first_windows,
    releases_of,
    short_operator,
)
from dmlcheck.specs.records import ERRATUM_KINDS, Erratum, OperatorSpec

_KINDS = {"float": "a floating-point number", "uint": "an unsigned integer", "int": "a signed integer"}
TYPES = tuple(name for name, kind in DATA_TYPES.items() if kind.bits)


# ---- feature levels


def level_values(specs: Sequence[OperatorSpec], level: str) -> dict[str, Any]:
    """Return the values of the page of a feature level."""
    at = LEVEL_ORDER[level]
    before = LEVELS[at - 1] if at else None
    changes = differences(specs, before, level) if before else []
    return {
        "level": level,
        "value": hex(FEATURE_LEVELS[level].value),
        "directml": FEATURE_LEVELS[level].directml,
        "windows": first_windows(level),
        "evidence": level_evidence(level),
        "before": before,
        "after": LEVELS[at + 1] if at + 1 < len(LEVELS) else None,
        "new": [spec.short for spec in specs if spec.introduced == level],
        "changed": [
            (short_operator(change.operator), list(change_texts(change))) for change in changes if not change.is_new
        ],
    }


def levels_values(specs: Sequence[OperatorSpec]) -> dict[str, Any]:
    """Return the values of the list of levels and data types."""
    return {
        "levels": [
            {
                "level": name,
                "directml": level.directml,
                "windows": first_windows(name),
                "asked": ", ".join(releases_of(name)),
                "value": hex(level.value),
                "new": sum(spec.introduced == name for spec in specs),
            }
            for name, level in FEATURE_LEVELS.items()
        ],
        "types": [{"name": name, "bits": DATA_TYPES[name].bits, "count": len(takers(specs, name))} for name in TYPES],
    }


# ---- data types


def type_values(specs: Sequence[OperatorSpec], name: str) -> dict[str, Any]:
    """Return the values of the page of a data type."""
    kind, bits = DATA_TYPES[name]
    rows = takers(specs, name)
    return {
        "name": name,
        "lede": f"An element is {_KINDS[kind]} of {bits} bits. {counted(len(rows), 'operator')} can take it.",
        "rows": rows,
    }


def takers(specs: Sequence[OperatorSpec], data_type: str) -> list[tuple[str, str, list[str]]]:
    """Return the operators that take a data type, each with the first level and the tensors that can have it."""
    found = []
    for spec in specs:
        levels = sorted(
            {level for level, _ in _places(spec, data_type)},
            key=LEVEL_ORDER.__getitem__,
        )
        if levels:
            tensors = list(dict.fromkeys(tensor for _, tensor in _places(spec, data_type)))
            found.append((spec.short, levels[0], [name for name in spec.fields if name in tensors]))
    return found


def _places(spec: OperatorSpec, data_type: str) -> Iterator[tuple[str, str]]:
    for table in spec.support:
        for level, row in table.rows.items():
            yield from ((level, tensor) for tensor, support in row.items() if data_type in support.types)


# ---- rules


def rule_groups() -> dict[str, list[tuple[str, str]]]:
    """Return the rules with their summaries, by their groups."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for name, rule in RULES.items():
        groups.setdefault(rule.group, []).append((name, page(name).summary))
    return groups


def rule_values(rule: str, found: Mapping[str, Mapping[str, Mistake]]) -> dict[str, Any]:
    """Return the values of the page of a rule; `found` has the mistakes of constraints by operator."""
    own = page(rule)
    given = {operator: [label for label, one in rows.items() if one.rule == rule] for operator, rows in found.items()}
    return {
        "rule": rule,
        "page": own,
        "lede": own.summary[:1].upper() + own.summary[1:] + ".",
        "why": own.why,
        "output": output_of(own.wrong, rule) if own.wrong else "",
        "constraints": [(operator, sorted(labels, key=_number)) for operator, labels in given.items() if labels],
    }


def _number(label: str) -> int:
    return int(label[1:])


# ---- corrections and messages


def corrections_values(specs: Sequence[OperatorSpec]) -> dict[str, Any]:
    """Return the values of the list of errata and known deviations."""
    told: dict[str, list[tuple[str, Erratum]]] = {kind: [] for kind in ERRATUM_KINDS}
    for spec in specs:
        for row in spec.errata:
            told[row.kind].append((spec.short, row))
    silences: dict[str, list[str]] = {}
    for operator, row in told["silence"]:
        silences.setdefault(operator, []).append(row.id)
    return {
        "told": told,
        "silences": silences,
        "deviations": [
            {"operator": spec.short, "id": f"D{number}", "row": row}
            for spec in specs
            for number, row in enumerate(spec.known_deviations, 1)
        ],
    }


def messages_values() -> dict[str, Any]:
    """Return the values of the list of messages."""
    rows = [{**message._asdict(), "id": f"M{number}"} for number, message in enumerate(messages(), 1)]
    for row in rows:
        row["patterns"] = [pattern.replace(" | ", " ") for pattern in row["patterns"]]
    return {"messages": rows}
