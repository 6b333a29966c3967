"""Random layouts of the tensors of a desc: permuted, padded, and broadcast by strides of 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dmlcheck import validation
from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.descs.write import notation
from dmlcheck.drawing.chance import Chance
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.specs.records import INPUT


def laid(desc: OperatorDesc, chance: Chance, level: str = NEWEST_LEVEL) -> OperatorDesc:
    """Return a desc with strides for most tensors; without them if that is not valid at the level."""
    raw = notation(desc)
    for field in (*desc.spec.inputs, *desc.spec.outputs):
        value = raw.get(field.name)
        for tensor in value if isinstance(value, list) else [value]:
            if isinstance(tensor, dict) and chance.often(0.75):
                repeats = field.kind == INPUT and field.name not in _PLACES and chance.often(0.5)
                tensor["Strides"] = strides(tensor["Sizes"], chance, repeats=repeats)
                tensor.pop("TotalTensorSizeInBytes", None)
            if isinstance(tensor, dict) and chance.often(0.15):
                _enlarge(tensor, chance)
    made, findings = validation.validate(desc.spec.operator, raw, level)
    return desc if made is None or findings else made


def _enlarge(tensor: dict[str, Any], chance: Chance) -> None:
    """Give a tensor a buffer that is larger than it needs, and an alignment."""
    laid = TensorDesc(
        tensor["DataType"], tuple(tensor["Sizes"]), tuple(tensor["Strides"]) if "Strides" in tensor else None
    )
    tensor["TotalTensorSizeInBytes"] = laid.implied_bytes + 4 * chance.integer(0, 9)
    tensor["GuaranteedBaseOffsetAlignment"] = chance.of((0, 16, 64, 256))


_PLACES = ("IndicesTensor", "ROITensor")  # tensors whose elements must not repeat


def strides(sizes: Sequence[int], chance: Chance, *, repeats: bool) -> list[int]:
    """Return strides: of dimensions in another order, channels last, with gaps, or some 0 where elements may repeat.

    Gaps are between rows; between elements only of a single row.
    """
    count = len(sizes)
    order = chance.of((chance.some(range(count), count), [0, *range(2, count), 1][:count], list(range(count))))
    found, step = [0] * count, chance.of((1, 2, 3)) if sum(size > 1 for size in sizes) == 1 else 1
    for axis in reversed(order):
        if repeats and chance.often(0.4):
            continue
        found[axis] = step
        step *= sizes[axis] + (chance.of((0, 0, 1, 2)) if sizes[axis] > 1 else 0)
    return found
