"""The pages that list something across operators: levels, data types, rules, corrections, messages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.diagnostics.pages import page
from dmlcheck.diagnostics.wording import counted
from dmlcheck.inspection.level_diff import differences
from dmlcheck.inspection.messages import messages
from dmlcheck.reports.level_diff import change_texts
from dmlcheck.reports.site.mistakes import Mistake
from dmlcheck.specs.names import DATA_TYPES, FEATURE_LEVELS, LEVEL_ORDER, LEVELS, short_operator
from dmlcheck.specs.records import ERRATUM_KINDS, OperatorSpec

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
    return {
        "rule": rule,
        "page": own,
        "lede": own.summary[:1].upper() + own.summary[1:] + ".",
        "why": own.why,
        "constraints": [
            (operator, label) for operator, rows in found.items() for label, one in rows.items() if one.rule == rule
        ],
    }


# ---- corrections and messages


def corrections_values(specs: Sequence[OperatorSpec]) -> dict[str, Any]:
    """Return the values of the list of errata and known deviations."""
    corrections = []
    for spec in specs:
        kinds: dict[str, list[str]] = defaultdict(list)
        for row in spec.errata:
            kinds[row.kind].append(row.id)
        if kinds:
            corrections.append((spec.short, {kind: kinds[kind] for kind in ERRATUM_KINDS}))
    return {
        "corrections": corrections,
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
