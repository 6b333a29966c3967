"""Random valid descs of any operator: a draft from its spec, repaired by the findings about it."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from math import prod
from types import MappingProxyType
from typing import Any, NamedTuple

from dmlcheck.descs.records import OperatorDesc
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


# ---- tensors of attention that fit each other


FORMS = ("separate", "StackedQueryKey", "StackedKeyValue", "StackedQueryKeyValue")
MASKS = (
    "NONE",
    "BOOLEAN",
    "KEY_SEQUENCE_LENGTH",
    "KEY_SEQUENCE_END_START",
    "KEY_QUERY_SEQUENCE_LENGTH_START_END",
)


class _Form(NamedTuple):
    """The sizes of an attention: sizes of heads are {query, key, value}; `keys` counts the keys of this step."""

    name: str
    batch: int
    length: int
    keys: int
    past: int
    heads: int
    groups: int
    size: int
    width: int

    @property
    def products(self) -> list[int]:
        """The sizes of the products of queries and keys."""
        return [self.batch, self.heads, self.length, self.past + self.keys]


def attention(spec: OperatorSpec, raw: Raw, chance: Chance, sizes: Sizes) -> None:
    """Replace all tensors of a draft: query, key and value in one of FORMS, and any mask of MASKS.

    Bias, mask, past and present tensors are there or left out.
    """
    kind, has_groups = raw["OutputTensor"]["DataType"], "KeyValueHeadCount" in spec.fields
    form = _form(chance, sizes, has_groups=has_groups)
    is_first = has_groups and form.name == "separate" and not form.past and chance.often(0.4)
    if is_first:  # with lengths of the past, which are 0, there are as many keys as queries, and no mask
        form = form._replace(keys=form.length)
    tensors = {**_parts(form), **_optional(form, chance), "Output": [form.batch, form.length, form.heads * form.width]}
    for field in (*spec.inputs, *spec.outputs):
        raw.pop(field.name, None)
    raw.update({f"{name}Tensor": {"DataType": kind, "Sizes": of} for name, of in tensors.items()})
    if is_first:
        raw["PastSequenceLengthsTensor"] = {"DataType": "INT32", "Sizes": [form.batch]}
        raw.pop("RelativePositionBiasTensor", None)
    raw["MaskType"] = mask = "NONE" if is_first else chance.of(MASKS)
    masks = {
        "BOOLEAN": form.products,
        "KEY_SEQUENCE_LENGTH": [1, form.batch],
        "KEY_SEQUENCE_END_START": [2, form.batch],
        "KEY_QUERY_SEQUENCE_LENGTH_START_END": [3 * form.batch + 2],
    }
    if mask in masks:
        raw["MaskTensor"] = {"DataType": "INT32", "Sizes": masks[mask]}
    raw.update(
        {"QueryHeadCount": form.heads, "KeyValueHeadCount": form.groups} if has_groups else {"HeadCount": form.heads}
    )


def _form(chance: Chance, sizes: Sizes, *, has_groups: bool) -> _Form:
    few, many = ([size for size in sizes.dimensions if size <= most] for most in (_FEW, _MANY))
    long = [size for size in sizes.dimensions if size > _MANY]
    if long:
        few = many = [1, 2]
    name, (batch, groups, size, width) = chance.of(FORMS), (chance.of(few) for _ in range(4))
    length, count = chance.of(many), chance.of(many)
    form = _Form(
        name,
        batch,
        length,
        length if "Query" in name else count,
        chance.integer(0, 3),
        groups * (chance.integer(1, 3) if has_groups and name == "separate" else 1),
        groups,
        size,
        size if "KeyValue" in name else width,
    )
    return _lengthened(form, chance, chance.of(long)) if long else form


def _lengthened(form: _Form, chance: Chance, size: int) -> _Form:
    """Return a form with one long size: of the batch, of heads, or of queries, unless there are as many keys."""
    places = ("batch", "size", "length")
    place = chance.of(places[:2] if "Query" in form.name else places)
    if place == "size":
        return form._replace(size=size, width=size)
    return form._replace(batch=size) if place == "batch" else form._replace(length=size)


_FEW, _MANY = 5, 70  # the largest size of a batch, a number of heads or a head; and of a sequence


def _parts(form: _Form) -> dict[str, list[int]]:
    """Return the sizes of query, key and value, some of them in one tensor."""
    heads = {"Query": (form.length, form.heads, form.size), "Key": (form.keys, form.groups, form.size)}
    heads["Value"] = (form.keys, form.groups, form.width)
    found = {
        name: [form.batch, length, count * size]
        for name, (length, count, size) in heads.items()
        if name not in form.name and length
    }
    stacked = [name for name in heads if name in form.name]
    if stacked:
        length, count, size = heads[stacked[-1]]
        found[form.name] = [form.batch, length, count, len(stacked), size]
    return found


def _optional(form: _Form, chance: Chance) -> dict[str, list[int]]:
    """Return the sizes of the other tensors that are there."""
    found = {}
    if chance.often(0.5):
        found["Bias"] = [form.heads * form.size + form.groups * (form.size + form.width)]
    if chance.often(0.5):
        found["RelativePositionBias"] = form.products
    for name, size in (("Key", form.size), ("Value", form.width)):
        if form.past:
            found[f"Past{name}"] = [form.batch, form.groups, form.past, size]
        found[f"OutputPresent{name}"] = [form.batch, form.groups, form.past + form.keys, size]
    if chance.often(0.5):
        del found["OutputPresentKey"], found["OutputPresentValue"]
    return found
