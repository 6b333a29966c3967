"""The input elements that an output element is made of: those that change it in the reference engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference import engine

Place = tuple[str, tuple[int, ...]]  # the label of a tensor, and the index of an element
Array = np.ndarray[Any, np.dtype[Any]]
INDICES = ("IndicesTensor", "SequenceLengthsTensor")  # they choose elements, and are no operands
_NOT_CHANGED = ("ROITensor", "BatchIndicesTensor")  # they say where all elements come from
_FAR = 1000  # what an element is moved by: farther than the numbers of any example lie apart
_SHIFT = 7  # what elements are raised by first, elements of later tensors by more, so that no factor is 0


def influences(desc: OperatorDesc, inputs: Mapping[str, Any]) -> dict[Place, tuple[Place, ...]]:
    """Return the input elements that change an output element, for every output element.

    Each input element is raised by itself, and lowered where that changes nothing. An index becomes each other index of
    its tensor, and an element is made of it that changes with all of these: one of them may be another element's too.
    """
    raised = {field: _raised(field, given, _SHIFT * (1 + 2 * at)) for at, (field, given) in enumerate(inputs.items())}
    before = engine.run(desc, raised)
    found: dict[Place, list[Place]] = {
        (label, index): [] for label, values in before.items() for index in np.ndindex(values.shape)
    }
    for place, ways in _changes(raised):
        each = filter(None, (set(_changed(before, engine.run(desc, changed))) for changed in ways))
        first = next(each, set())
        for output in first.intersection(*each) if place[0] in INDICES else first:
            found[output].append(place)
    return {output: tuple(places) for output, places in found.items()}


def _changed(before: Mapping[str, Array], after: Mapping[str, Array]) -> Iterator[Place]:
    for label, values in after.items():
        for index in zip(*np.nonzero(_differ(before[label], values)), strict=True):
            yield label, tuple(map(int, index))


def _differ(one: Array, other: Array) -> Any:
    return (one != other) & ~(np.isnan(one) & np.isnan(other))


def _raised(field: str, given: Any, by: int) -> Any:
    """Return the numbers of a field, raised, but not its indices."""
    if isinstance(given, list):
        return [_raised(field, one, by) for one in given]
    if field in INDICES or field in _NOT_CHANGED:
        return given
    most = np.inf if given.dtype.kind == "f" else np.iinfo(given.dtype).max
    return np.minimum(given.astype(np.float64) + by, most).astype(given.dtype)


def _changes(inputs: Mapping[str, Any]) -> Iterator[tuple[Place, Iterator[dict[str, Any]]]]:
    """Yield each input element with inputs in which only this element has another number."""
    for field, given in inputs.items():
        if field in _NOT_CHANGED:
            continue
        arrays = given if isinstance(given, list) else [given]
        for at, array in enumerate(arrays):
            label = f"{field}[{at}]" if isinstance(given, list) else field
            for index in np.ndindex(array.shape):
                others = (_with(array, index, value) for value in _others(label, array, index))
                wholes = ([*arrays[:at], one, *arrays[at + 1 :]] if isinstance(given, list) else one for one in others)
                yield (label, index), ({**inputs, field: whole} for whole in wholes)


def _with(array: Array, index: tuple[int, ...], value: Any) -> Array:
    changed = array.copy()
    changed[index] = value
    return changed


def _others(label: str, array: Array, index: tuple[int, ...]) -> list[Any]:
    """Return the numbers that an element is changed to."""
    own = array[index]
    if label in INDICES:
        return [other for other in range(int(array.min()), int(array.max()) + 1) if other != own]
    if array.dtype.kind == "f":
        return [own + _FAR, own - _FAR]
    limits = np.iinfo(array.dtype)
    both = (min(int(own) + _FAR, int(limits.max)), max(int(own) - _FAR, int(limits.min)))
    return [other for other in both if other != own]
