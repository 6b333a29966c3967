"""Values that are simpler than others: zeros, ones, small whole numbers, fewer digits."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Inputs = Mapping[str, Any]

FEW = 6  # elements for which hypothesis searches simple values
_EXAMPLES = 150  # that it tries
_SMALL = 9


def weight_of(inputs: Inputs) -> int:
    """Return how complicated values are in total."""
    return sum(int(weights(values).sum()) for _, _, values in _arrays(inputs))


def weights(values: Array) -> Array:
    """Return how complicated each value is: 0, 1, small whole numbers, a larger one, one of few bits, any other.

    Small whole numbers weigh what they are, negative ones and -0 one more than their magnitude, and -0 at least 2.
    """
    wide = values.astype(np.float64)
    with np.errstate(all="ignore"):
        size = np.abs(wide)
        is_whole = wide == np.rint(wide)
        small = np.where(np.signbit(wide), np.maximum(size + 1, 2), size)
        kinds = [is_whole & (size <= _SMALL), is_whole & (size < 2**20), is_whole | (wide * 16 == np.rint(wide * 16))]
        return np.select(kinds, [small, _SMALL + 2, _SMALL + 3], _SMALL + 4)


def simpler_values(inputs: Inputs) -> Iterator[dict[str, Any]]:
    """Yield inputs with some simpler elements: first whole tensors, then smaller and smaller runs of elements."""
    places = [(name, index, values.size) for name, index, values in _arrays(inputs)]
    longest = max((size for *_, size in places), default=0)
    length = longest
    while length >= 1:
        for name, index, size in places:
            if length == longest or length <= size // 2 + 1:
                for start in range(0, size, length):
                    yield from _in_run(inputs, (name, index), slice(start, start + length))
        length = 0 if length == 1 else (length + 1) // 2


def _in_run(inputs: Inputs, place: tuple[str, int | None], stretch: slice) -> Iterator[dict[str, Any]]:
    """Yield inputs in which a run of a tensor's elements is simpler."""
    values = _at(inputs, place)
    before = weights(values.reshape(-1)[stretch])
    if not before.any():
        return
    for change in _CHANGES:
        flat = values.reshape(-1).copy()
        with np.errstate(all="ignore"):
            changed = change(flat[stretch]).astype(values.dtype)
            flat[stretch] = np.where(weights(changed) < before, changed, flat[stretch])
        if (weights(flat[stretch]) < before).any():
            yield _with(inputs, place, flat.reshape(values.shape))


def _whole(values: Array) -> Array:
    return np.rint(values) if values.dtype.kind == "f" else values


_CHANGES: tuple[Callable[[Array], Array], ...] = (
    np.zeros_like,
    np.ones_like,
    lambda values: np.clip(_whole(values), 0 if values.dtype.kind == "u" else -_SMALL, _SMALL),
    lambda values: np.where(values < 0, -1, 2),
    _whole,
    lambda values: np.rint(values * 16) / 16 if values.dtype.kind == "f" else values,
)


# ---- the simplest, by hypothesis


def simplest(inputs: Inputs, fails: Callable[[dict[str, Any]], bool]) -> dict[str, Any] | None:
    """Return inputs that still fail, with the simplest values that hypothesis finds for elements that are not simple.

    None if there are no such elements, or too many, or if nothing simpler fails.
    """
    places = [
        (name, index, int(at))
        for name, index, values in _arrays(inputs)
        for at in np.flatnonzero(weights(values.reshape(-1)) > 1)
    ]
    if not 0 < len(places) <= FEW:
        return None
    from hypothesis import strategies as st

    known: dict[str, bool] = {}  # what failed once counts as failing, even after the time is over

    def does_fail(drawn: tuple[Any, ...]) -> bool:
        text = repr(drawn)
        if text not in known:
            known[text] = fails(_placed(inputs, places, drawn))
        return known[text]

    elements = [_element(st, _at(inputs, (name, index)), at) for name, index, at in places]
    found = _simplest_of(st.tuples(*elements), does_fail)
    return None if found is None else _placed(inputs, places, found)


def _simplest_of(strategy: Any, does_fail: Callable[[tuple[Any, ...]], bool]) -> tuple[Any, ...] | None:
    """Return the simplest value of a strategy that hypothesis finds to fail, always by the same search; or None."""
    from hypothesis import HealthCheck, Phase, find, settings
    from hypothesis.errors import NoSuchExample

    few = settings(
        max_examples=_EXAMPLES,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    try:
        found: tuple[Any, ...] = find(strategy, does_fail, settings=few, random=random.Random(0))  # noqa: S311
    except NoSuchExample:
        return None
    return found


def _element(st: Any, values: Array, at: int) -> Any:
    """Return a strategy for an element: any number, or its present one.

    Hypothesis prefers values of fewer choices, so the present one has one choice more than it needs.
    """
    number = values.reshape(-1)[at].item()
    there = st.booleans().map(lambda _: number)
    if values.dtype.kind == "f":
        return st.floats(width=8 * values.dtype.itemsize) | there
    limits = np.iinfo(values.dtype)
    return st.integers(int(limits.min), int(limits.max)) | there


def _placed(inputs: Inputs, places: list[tuple[str, int | None, int]], drawn: tuple[Any, ...]) -> dict[str, Any]:
    found = dict(inputs)
    for (name, index, at), number in zip(places, drawn, strict=True):
        values = _at(found, (name, index)).copy()
        values.reshape(-1)[at] = number
        found = _with(found, (name, index), values)
    return found


# ---- places of tensors


def _arrays(inputs: Inputs) -> Iterator[tuple[str, int | None, Array]]:
    for name, given in inputs.items():
        if isinstance(given, list):
            yield from ((name, index, values) for index, values in enumerate(given))
        else:
            yield name, None, given


def _at(inputs: Inputs, place: tuple[str, int | None]) -> Array:
    name, index = place
    values: Array = inputs[name] if index is None else inputs[name][index]
    return values


def _with(inputs: Inputs, place: tuple[str, int | None], values: Array) -> dict[str, Any]:
    name, index = place
    if index is None:
        return {**inputs, name: values}
    return {**inputs, name: [values if at == index else other for at, other in enumerate(inputs[name])]}
