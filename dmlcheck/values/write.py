"""The values of tensors as text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat

from dmlcheck.values.literals import ANY, Array
from dmlcheck.values.number_formats import spell


def values_text(values: Array, data_type: str, is_any: Array | None = None) -> Iterator[str]:
    """Yield an array as a nested YAML flow list, piece by piece, each element as the shortest text that reads back.

    The elements of a mask `is_any` are `any`.
    """
    if values.ndim <= 1:
        marks = repeat(False) if is_any is None else is_any.reshape(-1).tolist()  # noqa: FBT003 - of each element
        elements = zip(values.reshape(-1).tolist(), marks, strict=False)
        yield "[" + ", ".join(ANY if mark else spell(element, data_type) for element, mark in elements) + "]"
        return
    yield "["
    for index, part in enumerate(values):
        if index:
            yield ", "
        yield from values_text(part, data_type, None if is_any is None else is_any[index])
    yield "]"
