"""The places of expected values in a case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dmlcheck.descs.records import TensorDesc


def path_in_case(
    name: str, given: Mapping[str, Any], sizes: tuple[int, ...], element: tuple[int, ...] | None
) -> tuple[str | int, ...]:
    """Return the path to an element of an output.

    If no list has the element, or the case no value, it is the path to the tensor.

    `given` has the values that the case gives; `name` is the output's label, which may be `OutputTensors[1]`.
    """
    steps = _steps(name)
    if steps[0] not in given:  # compared with the reference engine's
        return ("desc", *steps)
    path: tuple[str | int, ...] = ("outputs", *steps)
    raw = given[steps[0]] if len(steps) == 1 else given[steps[0]][steps[1]]
    if element is not None and isinstance(raw, list):
        return (*path, *(element if isinstance(raw[0], list) else (_flat_index(element, sizes),)))
    return path


def written_at(
    name: str, given: Mapping[str, Any], tensor: TensorDesc, element: tuple[int, ...]
) -> tuple[tuple[str | int, ...], Any]:
    """Return the path to an element of an output in a case, and its text there.

    That is its place in a list, in the elements of a buffer or in bit patterns; for other forms the form itself.
    """
    steps = _steps(name)
    raw = given[steps[0]] if len(steps) == 1 else given[steps[0]][steps[1]]
    form = next(iter(raw), None) if isinstance(raw, Mapping) else None
    listed = raw[form] if form in ("bits", "buffer") else raw
    path: tuple[str | int, ...] = ("outputs", *steps, *(() if listed is raw else (form,)))
    if not isinstance(listed, list):
        return path, None
    if isinstance(listed[0], list):
        for index in element:
            listed = listed[index]
        return (*path, *element), listed
    if form == "buffer" and tensor.strides is not None:
        index = sum(step * stride for step, stride in zip(element, tensor.strides, strict=True))
    else:
        index = _flat_index(element, tensor.sizes)
    return (*path, index), listed[index]


def _flat_index(element: tuple[int, ...], sizes: tuple[int, ...]) -> int:
    index = 0
    for step, size in zip(element, sizes, strict=True):
        index = index * size + step
    return index


def _steps(name: str) -> tuple[Any, ...]:
    """Return `OutputTensors[1]` as the path to its values."""
    field, bracket, index = name.partition("[")
    return (field, int(index[:-1])) if bracket else (field,)
