"""The values of tensors as text."""

from __future__ import annotations

from collections.abc import Iterator

from dmlcheck.values.literals import Array
from dmlcheck.values.number_formats import spell


def values_text(values: Array, data_type: str) -> Iterator[str]:
    """Yield an array as a nested YAML flow list, piece by piece, each element as the shortest text that reads back."""
    if values.ndim <= 1:
        yield "[" + ", ".join(spell(element, data_type) for element in values.reshape(-1).tolist()) + "]"
        return
    yield "["
    for index, part in enumerate(values):
        if index:
            yield ", "
        yield from values_text(part, data_type)
    yield "]"
