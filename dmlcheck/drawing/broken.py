"""Random descs that break exactly one constraint: valid descs with one change."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any, NamedTuple

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import Finding
from dmlcheck.drawing.chance import Chance
from dmlcheck.drawing.draft import Raw
from dmlcheck.drawing.shrink import without_counts
from dmlcheck.specs.names import DATA_TYPES, ENUMS
from dmlcheck.specs.records import Field, OperatorSpec
from dmlcheck.validation import validate

_TRIES = 60  # changes that are tried on a desc
_TYPES = [name for name, kind in DATA_TYPES.items() if kind.kind != "none"]


class BrokenDesc(NamedTuple):
    """The fields of a desc that is not valid, and the one rule or labelled constraint that it breaks."""

    fields: Raw
    entry: str


def broken(desc: OperatorDesc, chance: Chance, level: str) -> BrokenDesc | None:
    """Return a valid desc with a change that breaks one constraint, or None if none of many changes does."""
    raw = without_counts(desc)
    for _ in range(_TRIES):
        fields = deepcopy(raw)
        _change(desc.spec, fields, chance)
        entry = broken_entry(desc.spec.operator, fields, level)
        if entry is not None:
            return BrokenDesc(fields, entry)
    return None


def broken_entry(operator: str, fields: Raw, level: str) -> str | None:
    """Return the one rule or constraint that a desc breaks, as `invalid` lists it; None if there are several."""
    _, findings = validate(operator, fields, level)
    entries = {found.constraint or found.rule for found in findings}
    return entries.pop() if len(entries) == 1 and not _is_of_notation(findings) else None


def _is_of_notation(findings: list[Finding]) -> bool:
    return any(found.rule in _OF_NOTATION for found in findings)


_OF_NOTATION = ("unknown-field", "missing-field", "field-type", "unknown-enum-value", "count-mismatch")


def _change(spec: OperatorSpec, raw: Raw, chance: Chance) -> None:
    """Change one thing: a tensor, an attribute, or whether an optional field is there."""
    name = chance.of(sorted(raw))
    field, value = spec.fields[name], raw[name]
    if field.optional and chance.often(0.2):
        del raw[name]
    elif field.kind == "attribute":
        raw[name] = _other(field, value, chance)
    else:
        tensor = chance.of(value) if isinstance(value, list) else value
        chance.of(_OF_TENSORS)(tensor, chance)


def _other(field: Field, value: Any, chance: Chance) -> Any:
    """Return another value of an attribute, which may not be valid."""
    if field.enum is not None:
        return chance.of(list(ENUMS[field.enum]))
    if isinstance(value, list) and value:
        return _other_list(field, value, chance)
    if isinstance(value, dict):
        key = chance.of(sorted(value))
        return {**value, key: _other(field, value[key], chance)} if key != "Type" else value
    return _other_number(field, value, chance) if type(value) in (int, float) else value


def _other_list(field: Field, value: list[Any], chance: Chance) -> list[Any]:
    place = chance.integer(0, len(value) - 1)
    others = {1: [], 2: [value[place]] * 2}
    return value[:place] + others.get(chance.integer(1, 4), [_other(field, value[place], chance)]) + value[place + 1 :]


def _other_number(field: Field, value: float, chance: Chance) -> Any:
    others = [0, 1, value + 1, value * 2 + 1, 9, 100]
    others += [-1, -value] if isinstance(value, float) or field.type.startswith("INT") else []
    return type(value)(chance.of(others))


def _size(tensor: Raw, chance: Chance) -> None:
    axis = chance.integer(0, len(tensor["Sizes"]) - 1)
    size = tensor["Sizes"][axis]
    tensor["Sizes"][axis] = chance.of([size + 1, 2 * size, max(1, size - 1), 1, 7])
    tensor.pop("Strides", None)


def _rank(tensor: Raw, chance: Chance) -> None:
    count = len(tensor["Sizes"])
    if count > 1 and chance.often(0.4):
        del tensor["Sizes"][chance.integer(0, count - 1)]
    else:
        tensor["Sizes"][0:0] = [1] * chance.of([1, 1, max(1, 9 - count)])
    tensor.pop("Strides", None)


def _type(tensor: Raw, chance: Chance) -> None:
    tensor["DataType"] = chance.of(_TYPES)


def _strides(tensor: Raw, chance: Chance) -> None:
    count = len(tensor["Sizes"])
    tensor["Strides"] = [chance.of([0, 1, 1, 2]) for _ in range(chance.of([count, count, count + 1]))]


def _total(tensor: Raw, chance: Chance) -> None:
    tensor["TotalTensorSizeInBytes"] = chance.of([0, 1, 4])


def _alignment(tensor: Raw, chance: Chance) -> None:
    tensor["GuaranteedBaseOffsetAlignment"] = chance.of([3, 8, 12])


_OF_TENSORS: tuple[Callable[[Raw, Chance], None], ...] = (_size, _size, _rank, _rank, _type, _type, _strides, _total,
                                                          _alignment)  # fmt: skip
