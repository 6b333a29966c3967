"""Parts of several families: whole arrays taken by constant indices, tensors in fewer dimensions, fused activations."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.formats.onnx.models._numbers import scalar, whole
from dmlcheck.formats.onnx.models.graph import Builder, Inexpressible, Value

FLOATS = ("FLOAT16", "FLOAT32", "FLOAT64")
BYTES = ("INT8", "UINT8")
_MOST_INDICES = 2**22  # 32 MiB


def few(count: int) -> None:
    """Raise Inexpressible for more constant indices than a model should hold."""
    if count > _MOST_INDICES:
        raise Inexpressible(f"the model would hold {count:,} indices")


def taken(g: Builder, x: Value, axis: int, indices: Sequence[int]) -> Value:
    """Return the elements of an axis that constant indices name: itself where they name all in order."""
    if len(indices) == x.sizes[axis] and list(indices) == list(range(len(indices))):
        return x
    sizes = (*x.sizes[:axis], len(indices), *x.sizes[axis + 1 :])
    return g.node("Gather", [x, g.constant(indices)], sizes, x.data_type, axis=axis)


def padded(
    g: Builder,
    x: Value,
    before: Sequence[int],
    after: Sequence[int],
    value: Value | None = None,
    mode: str = "constant",
) -> Value:
    """Return a value with elements added at the ends of its dimensions: itself where there are none to add."""
    if not any((*before, *after)):
        return x
    sizes = tuple(size + low + high for size, low, high in zip(x.sizes, before, after, strict=True))
    return g.node("Pad", [x, g.constant([*before, *after]), value], sizes, x.data_type, mode=mode)


def extended(g: Builder, x: Value, sizes: Sequence[int]) -> Value:
    """Return a value repeated along its dimensions of size 1."""
    if tuple(sizes) == x.sizes:
        return x
    return g.node("Expand", [x, g.constant(sizes)], sizes, x.data_type)


def filled(g: Builder, sizes: Sequence[int], value: float, data_type: str) -> Value:
    """Return a value whose elements are all the same, without having them all in the model."""
    return extended(g, scalar(g, value, data_type), sizes)


def last_dimensions(g: Builder, x: Value, count: int) -> Value:
    """Return a value in its last dimensions only; Inexpressible where those before them have more than one place."""
    kept = x.sizes[len(x.sizes) - count :]
    if math.prod(x.sizes) != math.prod(kept):
        raise Inexpressible(f"the dimensions of {x.name} that are ignored are not all of size 1")
    return g.reshape(x, kept)


def flat(g: Builder, x: Value) -> Value:
    """Return a value as a vector, or without dimensions where it has one element."""
    count = math.prod(x.sizes)
    return g.reshape(x, (count,) if count > 1 else ())


def optional(g: Builder, label: str) -> Value | None:
    """Return the input of a tensor that may be left out."""
    return g.input(label) if g.has(label) else None


def takes(type: str, x: Value, types: Collection[str]) -> None:
    """Raise Inexpressible where an operator of ONNX does not have a value's type."""
    if x.data_type not in types:
        raise Inexpressible(f"ONNX's {type} has no {x.data_type}")


def at_least_one(desc: OperatorDesc, name: str) -> list[int]:
    """Return a field whose numbers ONNX wants to be 1 or more."""
    numbers = list(desc.values[name])
    if not all(number >= 1 for number in numbers):
        raise Inexpressible(f"{name} holds 0")
    return numbers


def activated(g: Builder, x: Value, desc: OperatorDesc) -> Value:
    """Return a value after FusedActivation, where its own rounding before that changes nothing."""
    fused = desc.values.get("FusedActivation")
    if fused is None or fused.spec.short == "ACTIVATION_IDENTITY":
        return x
    if fused.spec.short == "ACTIVATION_RELU":
        return g.node("Relu", [x], x.sizes, x.data_type)
    if fused.spec.short == "ELEMENT_WISE_CLIP" and fused.values.get("ScaleBias") is None:
        limits = [scalar(g, whole(fused.values[name], x.data_type), x.data_type) for name in ("Min", "Max")]
        return g.node("Clip", [x, *limits], x.sizes, x.data_type)
    raise Inexpressible(f"what {fused.spec.short} is fused with would be rounded before it")
