"""Random layouts of the tensors of a desc: permuted, padded, and broadcast by strides of 0."""

from __future__ import annotations

import numpy as np

from dmlcheck import validation
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.descs.write import notation
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.specs.records import INPUT

Generator = np.random.Generator


def laid(desc: OperatorDesc, generator: Generator) -> OperatorDesc:
    """Return a desc most of whose tensors have strides; as it is where that would not be valid."""
    raw = notation(desc)
    for field in (*desc.spec.inputs, *desc.spec.outputs):
        value = raw.get(field.name)
        for tensor in value if isinstance(value, list) else [value]:
            if isinstance(tensor, dict) and generator.random() < 0.75:
                tensor["Strides"] = strides(tuple(tensor["Sizes"]), generator, is_input=field.kind == INPUT)
                tensor.pop("TotalTensorSizeInBytes", None)
    made, findings = validation.validate(desc.spec.operator, raw, NEWEST_LEVEL)
    return desc if made is None or findings else made


def strides(sizes: tuple[int, ...], generator: Generator, *, is_input: bool) -> list[int]:
    """Return strides: of dimensions in another order, with gaps, or 0 where an input is repeated."""
    order = generator.permutation(len(sizes)) if generator.random() < 0.6 else np.arange(len(sizes))
    found, step = [0] * len(sizes), 1
    repeats = is_input and generator.random() < 0.5
    for axis in reversed(order.tolist()):
        if repeats and generator.random() < 0.4:
            continue
        found[axis] = step
        step *= sizes[axis] + (int(generator.integers(0, 3)) if sizes[axis] > 1 else 0)
    return found
