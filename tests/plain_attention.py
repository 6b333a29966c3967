"""MULTIHEAD_ATTENTION and MULTIHEAD_ATTENTION1 of given arrays, and their results query by query."""

from __future__ import annotations

from typing import Any, NamedTuple

import made_descs
import numpy as np
from made_descs import Made, tensor

from dmlcheck.descs.records import OperatorDesc

Array = np.ndarray[Any, Any]


class Attention(NamedTuple):
    """Query {batch, length, heads * size}, key and value likewise, and what else there may be; and some fields."""

    query: Array
    key: Array | None
    value: Array | None
    heads: int
    groups: int
    form: str
    bias: Array | None = None
    position: Array | None = None
    past_key: Array | None = None
    past_value: Array | None = None
    mask: Array | None = None
    mask_type: str = "NONE"
    scale: float = 0.5
    filter_value: float = -10000.0


def read(desc: OperatorDesc, inputs: dict[str, Array]) -> Attention:
    """Return the attention of a desc, whose stacked tensors are taken apart."""
    given = {name.removesuffix("Tensor"): x for name, x in inputs.items()}
    form = next((name for name in given if name.startswith("Stacked")), "separate")
    names = [name for name in ("Query", "Key", "Value") if name in form]
    for index, name in enumerate(names):
        x = given[form][:, :, :, index]
        given[name] = x.reshape(*x.shape[:2], -1)
    heads = desc.values.get("HeadCount") or desc.values["QueryHeadCount"]
    return Attention(
        given["Query"],
        given.get("Key"),
        given.get("Value"),
        heads,
        desc.values.get("KeyValueHeadCount") or heads,
        form,
        given.get("Bias"),
        given.get("RelativePositionBias"),
        given.get("PastKey"),
        given.get("PastValue"),
        given.get("Mask"),
        desc.values["MaskType"],
        desc.values["Scale"],
        desc.values["MaskFilterValue"],
    )


def tensors(made: Attention) -> dict[str, Array]:
    """Return the input tensors by the names of their fields without `Tensor`."""
    parts = {"Query": made.query, "Key": made.key, "Value": made.value}
    given = {name: x for name, x in parts.items() if x is not None and name not in made.form}
    stacks = [
        x.reshape(*x.shape[:2], made.heads, -1) for name, x in parts.items() if x is not None and name in made.form
    ]
    given |= {made.form: np.stack(stacks, 3)} if stacks else {}
    more = {
        "Bias": made.bias,
        "RelativePositionBias": made.position,
        "PastKey": made.past_key,
        "PastValue": made.past_value,
        "Mask": made.mask,
    }
    return given | {name: x for name, x in more.items() if x is not None}


def built(operator: str, made: Attention, *, present: bool = True, **fields: Any) -> Made:
    """Return the desc of an attention with its inputs; the present tensors hold the past and this step."""
    given = {f"{name}Tensor": x for name, x in tensors(made).items()}
    keys, values = (held(*pair, made.groups) for pair in ((made.past_key, made.key), (made.past_value, made.value)))
    outputs = {"OutputTensor": (*made.query.shape[:2], made.heads * values[3])}
    if present:
        outputs |= {"OutputPresentKeyTensor": keys, "OutputPresentValueTensor": values}
    kind = made.query.dtype.name.upper()
    desc: dict[str, Any] = {
        name: tensor("INT32" if name == "MaskTensor" else kind, sizes)
        for name, sizes in {**{name: x.shape for name, x in given.items()}, **outputs}.items()
    }
    desc |= {"Scale": made.scale, "MaskFilterValue": made.filter_value, "MaskType": made.mask_type}
    counts = {"QueryHeadCount": made.heads, "KeyValueHeadCount": made.groups}
    desc |= counts if operator.endswith("1") else {"HeadCount": made.heads}
    return made_descs.built(operator, {**desc, **fields}, given)


def held(past: Array | None, own: Array | None, groups: int) -> tuple[int, int, int, int]:
    """Return the sizes of keys or values, with those of earlier steps."""
    if own is None:
        assert past is not None
        return past.shape
    before = 0 if past is None else past.shape[2]
    return own.shape[0], groups, before + own.shape[1], own.shape[2] // groups


# ---- what is right


def is_hidden(made: Attention, batch: int, head: int, query: int, key: int) -> bool:
    """Say whether the mask hides a key from a query."""
    if made.mask is None:
        return False
    if made.mask_type == "BOOLEAN":
        return bool(made.mask[batch, head, query, key] == 0)
    if made.mask_type == "KEY_SEQUENCE_LENGTH":
        return bool(key >= made.mask[0, batch])
    return bool(key >= made.mask[0, batch] or key < made.mask[1, batch])


def apart(x: Array | None, heads: int) -> Any:
    """Return a tensor with the heads before the length, in extended precision."""
    return None if x is None else x.astype(np.longdouble).reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)


def right(made: Attention, *, is_set: bool = False) -> tuple[Array, Array, Array]:
    """Return the output, the keys and the values, each of those of the past and this step; query by query.

    MaskFilterValue is added to the products of hidden keys, or these are set to it.
    """
    q, k, v = apart(made.query, made.heads), apart(made.key, made.groups), apart(made.value, made.groups)
    size, batch, length = q.shape[3], len(q), q.shape[2]
    if made.bias is not None:
        ends = (made.heads * size, (made.heads + made.groups) * size)
        own = [part.astype(np.longdouble) for part in np.split(made.bias, ends)]
        q = q + own[0].reshape(made.heads, 1, -1)
        k, v = (
            None if x is None else x + part.reshape(made.groups, 1, -1) for x, part in zip((k, v), own[1:], strict=True)
        )
    keys, values = (
        np.concatenate([x.astype(np.longdouble) for x in pair if x is not None], axis=2)
        for pair in ((made.past_key, k), (made.past_value, v))
    )
    found = np.empty((batch, length, made.heads, values.shape[3]), np.longdouble)
    for b, h, s in np.ndindex(batch, made.heads, length):
        group = h // (made.heads // made.groups)
        scores = np.longdouble(np.float32(made.scale)) * (keys[b, group] @ q[b, h, s])
        scores = scores if made.position is None else scores + made.position[b, h, s]
        hidden = [is_hidden(made, b, h, s, t) for t in range(len(scores))]
        scores = np.where(hidden, made.filter_value if is_set else scores + made.filter_value, scores)
        weights = np.exp(scores - scores.max())
        found[b, s, h] = weights @ values[b, group] / weights.sum()
    return found.reshape(batch, length, -1), keys, values
