"""Random descs near valid ones: with one change that breaks exactly one constraint, or with some that break none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any, NamedTuple

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.descs.write import without_counts
from dmlcheck.drawing.chance import Chance
from dmlcheck.drawing.draft import Raw
from dmlcheck.drawing.repair import give
from dmlcheck.drawing.suited import suit
from dmlcheck.specs.names import DATA_TYPES, ENUMS
from dmlcheck.specs.records import Field, OperatorSpec
from dmlcheck.specs.shapes import without_leading_ones
from dmlcheck.validation import validate
from dmlcheck.validation.constraint_rows import is_for_none

_TRIES = 60  # changes that are tried on a desc to break a constraint
_VARIATIONS = 8  # changes that are tried on a desc that stays valid


class BrokenDesc(NamedTuple):
    """The fields of a desc that is not valid, and the one rule or labelled constraint that it breaks."""

    fields: Raw
    entry: str


def broken(desc: OperatorDesc, chance: Chance, level: str) -> BrokenDesc | None:
    """Return a valid desc with a change that breaks one constraint, or None if none of many changes does."""
    raw = without_counts(desc)
    for _ in range(_TRIES):
        fields = deepcopy(raw)
        change(desc.spec, fields, chance)
        entry = broken_entry(desc.spec.operator, fields, level)
        if entry is not None:
            return BrokenDesc(fields, entry)
    return None


def varied(desc: OperatorDesc, chance: Chance, level: str, most: int) -> OperatorDesc:
    """Return a valid desc with changes that leave it valid, and no tensor of more than `most` elements.

    Floats stay as they are: with extreme ones few results are defined.
    """
    for _ in range(_VARIATIONS):
        fields = without_counts(desc)
        floats = {name: value for name, value in fields.items() if desc.spec.fields[name].type.startswith("FLOAT")}
        change(desc.spec, fields, chance)
        fields.update(floats)
        suit(desc.spec, fields, chance)
        made, findings = validate(desc.spec.operator, fields, level)
        if made is not None and not findings and all(part.tensor.element_count <= most for part in made.tensors()):
            desc = made
    return desc


def broken_entry(operator: str, fields: Raw, level: str) -> str | None:
    """Return the one rule or constraint that a desc breaks, as `invalid` lists it.

    None if there are several, or one whose breach is for no implementation.
    """
    desc, findings = validate(operator, fields, level)
    entries = {found.constraint or found.rule for found in findings}
    if desc is None or len(entries) != 1 or is_for_none(desc) or any(found.rule in _OF_NOTATION for found in findings):
        return None
    return entries.pop()


_OF_NOTATION = ("unknown-field", "missing-field", "field-type", "unknown-enum-value", "count-mismatch")


# ---- changes to descs: they know only the kinds and types of fields, and may break a rule or none


_TYPES = [name for name, kind in DATA_TYPES.items() if kind.kind != "none"]
_OPTIONAL, _PAIRED = 0.15, 0.2  # the shares of changes of optional fields, and of tensors that match others
_EDGE = 0.35  # the share of numbers that are at an edge of their type
_ENDS = {
    "UINT": (0, 2**32 - 1),
    "INT": (0, -1, -(2**31), 2**31 - 1),
    "FLOAT": (0.0, -0.0, -1.0, 2.0**-24, 2.0**-23, 2.0**-149, 3.4028234663852886e38, float("inf"), float("-inf")),
}
_POWERS = (4, 8, 16, 31)  # of two, around which integers are drawn


def change(spec: OperatorSpec, raw: Raw, chance: Chance) -> None:
    """Change one thing: one tensor or several together, an attribute, or which optional fields are there."""
    if chance.often(_OPTIONAL):
        _other_fields(spec, raw, chance)
    elif chance.often(_PAIRED):
        chance.of(_OF_PAIRS)(list(_tensors(raw)), chance)
    else:
        name = chance.of(sorted(raw))
        field, value = spec.fields[name], raw[name]
        if field.kind == "attribute":
            raw[name] = _other(field, value, chance)
        else:
            chance.of(_OF_TENSORS)(chance.of(value) if isinstance(value, list) else value, chance)


def edges(kind: str) -> tuple[float, ...]:
    """Return the numbers at the edges of a type of DirectML.h: its ends, 0, and those around powers of two."""
    if kind == "FLOAT":
        return _ENDS[kind]
    around = (2**power + more for power in _POWERS for more in (-1, 0, 1))
    return (*_ENDS[kind], *(number for number in around if kind == "UINT" or number < 2**31))


def _tensors(raw: Raw) -> Iterator[Raw]:
    for value in raw.values():
        yield from (part for part in (value if isinstance(value, list) else [value]) if _is_tensor(part))


def _is_tensor(value: Any) -> bool:
    return isinstance(value, dict) and "Sizes" in value


# ---- optional fields


def _other_fields(spec: OperatorSpec, raw: Raw, chance: Chance) -> None:
    """Leave out one optional field that is there, or add one that is not; or do so with any of them."""
    optional = [field.name for field in spec.fields.values() if field.optional]
    if not optional:
        return
    for name in optional if chance.often(0.5) else [chance.of(optional)]:
        if chance.often(0.5) and len(raw) > 1:
            raw.pop(name, None)
        elif name not in raw:
            give(spec, raw, (name,), chance)


# ---- attributes


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
    kind = field.type.partition("_")[0]
    if kind in _ENDS and not field.boolean and chance.often(_EDGE):
        number = chance.of(edges(kind))
        return number if kind == "FLOAT" else type(value)(number)
    others = [0, 1, value + 1, value * 2 + 1, 9, 100]
    others += [-1, -value] if isinstance(value, float) or kind == "INT" else []
    return type(value)(chance.of(others))


# ---- one tensor


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


# ---- tensors that match others


def _resize(tensor: Raw, sizes: list[int]) -> None:
    tensor["Sizes"] = sizes
    for key in ("Strides", "TotalTensorSizeInBytes"):
        tensor.pop(key, None)


def _core(tensor: Raw) -> list[int]:
    """Return sizes without leading ones; one is left."""
    return list(without_leading_ones(tensor["Sizes"])) or [1]


def _like_another(tensors: list[Raw], chance: Chance) -> None:
    """Give one tensor the sizes of another, with their leading ones, without, or with as many as its own rank needs."""
    one, other = chance.of(tensors), chance.of(tensors)
    core = _core(other)
    led = [1] * (len(one["Sizes"]) - len(core)) + core
    _resize(one, chance.of((list(other["Sizes"]), core, led)))


def _other_lead(tensors: list[Raw], chance: Chance) -> None:
    """Give one tensor other leading ones: none, or as many as lead to the rank of another."""
    one, core = chance.of(tensors), _core(chance.of(tensors))
    own = _core(one)
    _resize(one, chance.of((own, [1] * (len(core) - len(own)) + own, [1] * chance.integer(1, 3) + own)))


def _lead_of_all(tensors: list[Raw], chance: Chance) -> None:
    """Add a leading one to all tensors, or take one from all that have one."""
    is_longer = chance.often(0.5)
    for tensor in tensors:
        sizes = tensor["Sizes"]
        _resize(tensor, [1, *sizes] if is_longer else sizes[sizes[0] == 1 and len(sizes) > 1 :])


def _one_behind(tensors: list[Raw], chance: Chance) -> None:
    """Add a one behind the sizes of a tensor, or take its last size."""
    one = chance.of(tensors)
    _resize(one, [*one["Sizes"], 1] if chance.often(0.5) else one["Sizes"][:-1] or [1])


def _type_of_all(tensors: list[Raw], chance: Chance) -> None:
    """Give all tensors of one type another."""
    own, other = chance.of(tensors)["DataType"], chance.of(_TYPES)
    for tensor in tensors:
        if tensor["DataType"] == own:
            tensor["DataType"] = other
            tensor.pop("TotalTensorSizeInBytes", None)


_OF_PAIRS: tuple[Callable[[list[Raw], Chance], None], ...] = (_like_another, _like_another, _other_lead, _other_lead,
                                                              _lead_of_all, _one_behind, _type_of_all)  # fmt: skip
