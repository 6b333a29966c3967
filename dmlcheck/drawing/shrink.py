"""Descs that are simpler than one: fewer fields, default attributes, smaller sizes, fewer groups and dimensions.

Each function yields the fields of descs that may be simpler, in the notation of files. They are made valid where the
claims of findings say how; many cannot be. `weight` says which of two descs is simpler.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from itertools import combinations
from typing import Any

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.descs.write import notation, without_counts
from dmlcheck.drawing.chance import Chance
from dmlcheck.drawing.draft import Raw
from dmlcheck.drawing.repair import repaired
from dmlcheck.specs.names import ENUMS
from dmlcheck.specs.records import Field, OperatorSpec
from dmlcheck.validation import validate

_ROUNDS = 12  # of repair
_LEAST = Chance(lambda low, _: low)
_OF_LAYOUT = ("Strides", "TotalTensorSizeInBytes", "GuaranteedBaseOffsetAlignment", "Flags")
_FROM_1 = ("Dilations", "Strides")  # of windows: 0 says nothing that is simpler

Places = tuple[tuple[int, int], ...]  # each the number of a tensor and an axis
ShrinkStep = Callable[[OperatorSpec, Raw], Iterator[Raw]]


def weight(desc: OperatorDesc) -> tuple[int, ...]:
    """Return how complicated a desc is; earlier parts of the tuple count more."""
    tensors = [part.tensor for part in desc.tensors()]
    numbers = [number for value in _attributes(desc) for number in _numbers(value)]
    return (
        sum(value is not None and name not in desc.derived for name, value in desc.values.items()) + len(tensors),
        sum(tensor.strides is not None for tensor in tensors),
        sum(number not in (0, 1) for number in numbers),
        sum(tensor.element_count for tensor in tensors),
        sum(len(tensor.sizes) for tensor in tensors),
        sum(max(tensor.sizes, default=0) for tensor in tensors),
        sum(bool(tensor.total_size or tensor.alignment or tensor.flags != "NONE") for tensor in tensors),
        sum(map(_size_of, numbers)),
    )


def _attributes(desc: OperatorDesc) -> Iterator[Any]:
    for name, field in desc.spec.fields.items():
        if field.kind == "attribute" and desc.values.get(name) is not None and name not in desc.derived:
            value = desc.values[name]
            is_known = field.enum is not None and value in ENUMS[field.enum]
            yield list(ENUMS[field.enum]).index(value) if is_known and field.enum else value


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, (tuple, list)) and not isinstance(value, OperatorDesc):
        for part in value:
            yield from _numbers(part)
    elif isinstance(value, (int, float)):
        yield value


def _size_of(number: float) -> int:
    """Return how complicated a number is: 0 and 1 are simple, and whole ones simpler than others."""
    if number in (0, 1):
        return int(number)
    if not math.isfinite(number):
        return 100
    return 2 + min(90, abs(int(number))) + (number < 0) + 9 * (number != int(number))


# ---- steps


def without_layouts(spec: OperatorSpec, raw: Raw) -> Iterator[Raw]:
    """Yield the desc without strides and other optional fields of tensors: of all tensors, then of one."""
    everywhere = deepcopy(raw)
    for tensor in _tensors(spec, everywhere):
        for name in _OF_LAYOUT:
            tensor.pop(name, None)
    yield everywhere
    for index in range(len(list(_tensors(spec, raw)))):
        for name in _OF_LAYOUT:
            found = deepcopy(raw)
            if list(_tensors(spec, found))[index].pop(name, None) is not None:
                yield found


def without_fields(spec: OperatorSpec, raw: Raw) -> Iterator[Raw]:
    """Yield the desc without one of its optional fields, or one tensor of an array of them."""
    for name, value in raw.items():
        field = spec.fields[name]
        if field.optional:
            yield {key: other for key, other in deepcopy(raw).items() if key != name}
        if field.type.endswith("_ARRAY") and isinstance(value, list) and field.kind != "attribute":
            for index in range(len(value) if len(value) > 1 else 0):
                found = deepcopy(raw)
                del found[name][index]
                yield found


def without_pairs(spec: OperatorSpec, raw: Raw) -> Iterator[Raw]:
    """Yield the desc without two of its optional fields, or without one and with the first value of an enumeration."""
    optional = [name for name in raw if spec.fields[name].optional]
    for pair in combinations(optional, 2):
        yield {key: value for key, value in deepcopy(raw).items() if key not in pair}
    for name in optional:
        for other, value in raw.items():
            field = spec.fields[other]
            first = next(_simpler(field, value), None) if field.enum is not None and other != name else None
            if first is not None:
                yield {**{key: part for key, part in deepcopy(raw).items() if key != name}, other: first}


def with_defaults(spec: OperatorSpec, raw: Raw) -> Iterator[Raw]:
    """Yield the desc with a simpler attribute: of an enumeration an earlier value, of numbers 0, 1, or closer to it."""
    for name, value in raw.items():
        field = spec.fields[name]
        if field.kind == "attribute" and not field.counts:
            for simpler in _simpler(field, value):
                if name not in _FROM_1 or 0 not in simpler:
                    yield {**deepcopy(raw), name: simpler}


def _simpler(field: Field, value: Any) -> Iterator[Any]:
    if field.enum is not None:
        names = list(ENUMS[field.enum])
        yield from (name for name in names[: names.index(value)] if not name.endswith("UNKNOWN"))
    elif isinstance(value, list):
        yield from _simpler_list(field, value)
    elif isinstance(value, dict):
        for key, part in value.items():
            for simpler in _simpler(field, part):
                yield {**value, key: simpler}
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        kind = type(value)
        whole = int(value) if abs(value) < 2**53 else 0
        for other in (0, 1, 2, whole // 2, whole, whole - (1 if whole > 0 else -1)):
            if other != value and _size_of(other) < _size_of(value):
                yield kind(other)


def _simpler_list(field: Field, value: list[Any]) -> Iterator[list[Any]]:
    for number in (0, 1, 0.0, 1.0):
        if all(isinstance(part, type(number)) for part in value) and set(value) != {number}:
            yield [number] * len(value)
    for index, part in enumerate(value):
        for simpler in _simpler(field, part):
            yield [*value[:index], simpler, *value[index + 1 :]]


def smaller(spec: OperatorSpec, raw: Raw) -> Iterator[Raw]:
    """Yield the desc with a smaller size: wherever that size is, in all tensors along a dimension, or in one tensor."""
    sizes = [tensor["Sizes"] for tensor in _tensors(spec, raw)]
    for places, size in resizings(sizes, counts_in(spec, raw)):
        yield _resized(spec, raw, places, size)


def counts_in(spec: OperatorSpec, raw: Raw) -> list[int]:
    """Return the integer attributes of a desc, by which sizes may be divisible."""
    return [value for name, value in raw.items() if spec.fields[name].kind == "attribute" and type(value) is int]


def resizings(tensors: Sequence[Sequence[int]], counts: Iterable[int]) -> Iterator[tuple[Places, int]]:
    """Yield smaller sizes and their places, each the number of a tensor and an axis, for the sizes of tensors.

    `counts` are numbers that sizes may have to be divisible by.
    """
    counts = [count for count in counts if count > 0]
    for size in sorted({size for sizes in tensors for size in sizes if size > 1}, reverse=True):
        all_places = list(_places(tensors, size))
        groups = [all_places, *([place] for place in all_places)]
        ranks = sorted({len(tensors[index]) - axis for index, axis in all_places})
        groups += [[place for place in all_places if len(tensors[place[0]]) - place[1] == back] for back in ranks]
        distinct = list(dict.fromkeys(tuple(group) for group in groups))
        whole = (count for count in counts if size % count == 0)  # one in each group, or block
        less = (size - (size >> shift) for shift in range(2, size.bit_length()))  # by a quarter, an eighth, ... one
        others = (1, 2, *whole, size // 2, *less, size - 1)
        for other in dict.fromkeys(number for number in others if 0 < number < size):
            yield from ((group, other) for group in distinct)


def _places(tensors: Sequence[Sequence[int]], size: int) -> Iterator[tuple[int, int]]:
    for index, sizes in enumerate(tensors):
        yield from ((index, axis) for axis, there in enumerate(sizes) if there == size)


def _resized(spec: OperatorSpec, raw: Raw, places: Places, size: int) -> Raw:
    found = deepcopy(raw)
    tensors = list(_tensors(spec, found))
    for index, axis in places:
        tensors[index]["Sizes"][axis] = size
    return found


def fewer_groups(spec: OperatorSpec, raw: Raw) -> Iterator[Raw]:
    """Yield a grouped convolution with fewer groups of as many channels."""
    groups = raw.get("GroupCount", 1)
    for other in sorted({1, 2, groups // 2}):
        if 0 < other < groups:
            found = {**deepcopy(raw), "GroupCount": other}
            for name, tensor in found.items():
                if spec.fields[name].kind != "attribute":
                    axis = 0 if name == "FilterTensor" else 1
                    size = tensor["Sizes"][axis]
                    tensor["Sizes"][axis] = size if size % groups else size // groups * other
            yield found


def flatter(spec: OperatorSpec, raw: Raw) -> Iterator[Raw]:
    """Yield the desc without a dimension of one element, in all tensors or in one; in one dimension if sizes agree."""
    tensors = list(_tensors(spec, raw))
    if len({tuple(tensor["Sizes"]) for tensor in tensors}) == 1:
        yield _in_one_dimension(spec, raw)
    ranks = {len(tensor["Sizes"]) for tensor in tensors}
    most = max(ranks, default=0)
    for axis in range(most if most > 1 else 0):
        if all(len(tensor["Sizes"]) < most or tensor["Sizes"][axis] == 1 for tensor in tensors):
            yield _without_axis(spec, raw, axis, most)
    for index, tensor in enumerate(tensors):
        if len(tensor["Sizes"]) > 1 and tensor["Sizes"][0] == 1:
            found = deepcopy(raw)
            _drop(list(_tensors(spec, found))[index], 0)
            yield found


def _in_one_dimension(spec: OperatorSpec, raw: Raw) -> Raw:
    found = deepcopy(raw)
    for tensor in _tensors(spec, found):
        tensor["Sizes"] = [math.prod(tensor["Sizes"])]
        tensor.pop("Strides", None)
        tensor.pop("DimensionCount", None)
    return found


def _without_axis(spec: OperatorSpec, raw: Raw, axis: int, rank: int) -> Raw:
    """Return the desc without a dimension of its tensors of a rank, and of the attributes that have one for each."""
    found = deepcopy(raw)
    for tensor in _tensors(spec, found):
        if len(tensor["Sizes"]) == rank:
            _drop(tensor, axis)
    for name, value in found.items():
        if spec.fields[name].kind != "attribute":
            continue
        if name == "Axes":
            found[name] = [each - (each > axis) for each in value if each != axis]
        elif name == "Axis" and isinstance(value, int):
            found[name] = value - (value > axis)
        elif isinstance(value, list) and len(value) == rank:
            found[name] = value[:axis] + value[axis + 1 :]
    return {name: value for name, value in found.items() if not spec.fields[name].counts}


def _drop(tensor: Raw, axis: int) -> None:
    for name in ("Sizes", "Strides"):
        if isinstance(tensor.get(name), list):
            del tensor[name][axis]
    tensor.pop("DimensionCount", None)


def _tensors(spec: OperatorSpec, raw: Raw) -> Iterator[Raw]:
    for name, value in raw.items():
        if spec.fields[name].kind != "attribute":
            yield from (value if isinstance(value, list) else [value])


STEPS: tuple[ShrinkStep, ...] = (
    without_layouts,
    without_fields,
    fewer_groups,
    smaller,
    with_defaults,
    flatter,
    without_pairs,
)


def simpler_descs(desc: OperatorDesc, level: str, step: ShrinkStep) -> Iterator[OperatorDesc]:
    """Yield the valid descs that a step makes of one, each of them simpler."""
    spec, now = desc.spec, weight(desc)
    known: set[str] = set()
    for raw in step(spec, without_counts(desc)):
        made = made_valid(spec, raw, level)
        if made is not None and weight(made) < now:
            text = repr(notation(made))
            if text not in known:
                known.add(text)
                yield made


def made_valid(spec: OperatorSpec, raw: Raw, level: str) -> OperatorDesc | None:
    """Return a repaired desc, or None if that takes too many rounds."""
    for _ in range(_ROUNDS):
        desc, findings = validate(spec.operator, raw, level)
        if desc is not None and not findings:
            return desc
        changed = repaired(spec, raw, findings, _LEAST)
        if changed == raw:
            return None
        raw = changed
    return None
