"""Random valid descs of any operator: a draft from its spec, repaired by the findings about it."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from math import prod
from types import MappingProxyType
from typing import Any

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.drawing.attention import attention
from dmlcheck.drawing.chance import Chance
from dmlcheck.drawing.draft import SMALL, Raw, Sizes, draft
from dmlcheck.drawing.repair import repaired
from dmlcheck.drawing.suited import suit
from dmlcheck.specs.load import load_spec
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.specs.records import OperatorSpec
from dmlcheck.validation import validate

_ROUNDS = 40  # of repair
_TRIES = 60  # drafts for one desc
_MOST_ELEMENTS = 10**7  # of a tensor that is repaired
_FITTING = 0.85  # the share of attentions whose tensors fit each other
_NO_WISHES: Mapping[str, Any] = MappingProxyType({})


def drawn(
    operator: str,
    chance: Chance,
    sizes: Sizes = SMALL,
    level: str = NEWEST_LEVEL,
    wishes: Mapping[str, Any] = _NO_WISHES,
) -> OperatorDesc | None:
    """Return a random valid desc of an operator with the wished fields, or None if no draft could be repaired."""
    fields = drawn_fields(operator, chance, sizes, level, wishes)
    return None if fields is None else validate(operator, fields, level)[0]


def drawn_fields(
    operator: str,
    chance: Chance,
    sizes: Sizes = SMALL,
    level: str = NEWEST_LEVEL,
    wishes: Mapping[str, Any] = _NO_WISHES,
) -> Raw | None:
    """Return the fields of a random valid desc in the notation of files; a field that is wished as None is left out."""
    spec = load_spec(operator)
    for _ in range(_TRIES):
        first = draft(spec, chance, sizes, level)
        if "MaskType" in spec.fields and chance.often(_FITTING):
            attention(spec, first, chance, sizes)
        wished = {**first, **deepcopy(dict(wishes))}
        given = {name: value for name, value in wished.items() if value is not None}
        fields = made_valid(spec, given, chance, sizes, level)
        if fields is not None and any(field.name in fields for field in spec.outputs) and _has(fields, wishes):
            return fields
    return None


def _has(fields: Raw, wishes: Mapping[str, Any]) -> bool:
    return all(fields.get(name) == value for name, value in wishes.items())


def made_valid(spec: OperatorSpec, fields: Raw, chance: Chance, sizes: Sizes, level: str) -> Raw | None:
    """Return a repaired desc, or None if the rounds of repair do not end, or make it too large."""
    for _ in range(_ROUNDS):
        suit(spec, fields, chance)
        desc, findings = validate(spec.operator, fields, level)
        if not findings:
            is_large = desc is None or any(part.tensor.element_count > sizes.most for part in desc.tensors())
            if not is_large:
                return fields
            changed = _smaller(spec, fields, chance)
        else:
            changed = repaired(spec, fields, findings, chance)
        if changed == fields or _is_too_large(changed):
            return None
        fields = changed
    return None


def _smaller(spec: OperatorSpec, fields: Raw, chance: Chance) -> Raw:
    """Return a desc with halved sizes, and halved attributes that sizes follow from: windows, paddings, repeats."""
    found = deepcopy(fields)
    for name, value in found.items():
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, dict) and "Sizes" in part:
                part["Sizes"] = [max(1, size // 2) for size in part["Sizes"]]
        if spec.fields[name].type == "UINT_ARRAY" and name not in _AXES:
            found[name] = [number if chance.often(0.5) else (number + 1) // 2 for number in value]
    return found


_AXES = ("Axes", "OutputSizes")


def _is_too_large(fields: dict[str, Any]) -> bool:
    tensors = (value for value in fields.values() if isinstance(value, dict) and "Sizes" in value)
    return any(prod(tensor["Sizes"]) > _MOST_ELEMENTS for tensor in tensors)
