"""Tensors of attention that fit each other, of which arbitrary ones would leave the results undefined."""

from __future__ import annotations

from typing import NamedTuple

from dmlcheck.drawing.chance import Chance
from dmlcheck.drawing.draft import Raw, Sizes
from dmlcheck.specs.records import OperatorSpec

FORMS = ("separate", "StackedQueryKey", "StackedKeyValue", "StackedQueryKeyValue")
MASKS = ("NONE", "BOOLEAN", "KEY_SEQUENCE_LENGTH", "KEY_SEQUENCE_END_START")


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
