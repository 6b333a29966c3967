"""Where the wrong elements of an output are, in words: `rows 256 to 511`, `every fourth element`, `all but batch 0`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
_ENOUGH = 0.75  # of a region: some elements in it are right by chance
_LONGEST_STEP = 64
_NAMES = {
    1: ("element",),
    2: ("row", "column"),
    4: ("batch", "channel", "row", "column"),
    5: ("batch", "channel", "depth", "row", "column"),
}
_ORDINALS = ("", "", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


def region_text(wrong: Mask) -> str | None:
    """Return in words which elements are wrong; None for one or all elements, or if there are no simple words."""
    count = int(np.count_nonzero(wrong))
    if count < 2 or wrong.size < 4 or count == wrong.size:
        return None
    found = [*_of_dimensions(wrong, count), *_of_positions(wrong.reshape(-1), count)]
    whole = [words for words, share in found if share == 1]
    most = [f"most of {words}" for words, share in found if count / share <= _ENOUGH * wrong.size]
    return next(iter(whole + most), None)


# ---- dimensions


def _of_dimensions(wrong: Mask, count: int) -> Iterator[tuple[str, float]]:
    """Yield the indices along each dimension outside of which nothing is wrong, with the share of wrong ones inside."""
    held = [np.flatnonzero(wrong.any(axis=_others(wrong.ndim, axis))) for axis in range(wrong.ndim)]
    share = count / int(np.prod([indices.size for indices in held]))
    words = list(_indices(held, wrong.shape))
    if share >= _ENOUGH and words and None not in words:
        yield ", ".join(map(str, words)), share


def _others(rank: int, axis: int) -> tuple[int, ...]:
    return tuple(other for other in range(rank) if other != axis)


def _indices(held: list[Any], sizes: tuple[int, ...]) -> Iterator[str | None]:
    """Yield words for the indices along each dimension that also has other indices; None if there are no words."""
    for axis, (indices, size) in enumerate(zip(held, sizes, strict=True)):
        if indices.size < size:
            yield _named(_name(axis, len(sizes)), indices, size)


def _name(axis: int, rank: int) -> str:
    return _NAMES[rank][axis] if rank in _NAMES else f"index {{}} of dimension {axis}"


def _named(name: str, indices: Any, size: int) -> str | None:
    """Return some indices along a dimension in words."""
    first, last = int(indices[0]), int(indices[-1])
    if indices.size == 1:
        return _joined(name, str(first), is_one=True)
    missing = np.setdiff1d(np.arange(size), indices)
    if missing.size == 1 and size > 2:
        return f"all but {_joined(name, str(missing[0]), is_one=True)}"
    if last - first + 1 == indices.size:
        return _joined(name, f"{first} to {last}")
    if missing[-1] - missing[0] + 1 == missing.size:
        return f"all but {_joined(name, f'{missing[0]} to {missing[-1]}')}"
    step = _step(indices, size)
    return None if step is None else f"{_every(step)} {name.replace(' {}', '')} from {first} on"


def _joined(name: str, indices: str, *, is_one: bool = False) -> str:
    if "{}" in name:
        return name.format(indices) if is_one else name.replace("index", "indices").format(indices)
    return f"{name} {indices}" if is_one else f"{_plural(name)} {indices}"


def _plural(name: str) -> str:
    return {"batch": "batches"}.get(name, f"{name}s")


def _step(indices: Any, size: int) -> int | None:
    """Return the step between indices that go on to the end, or None if there is no such."""
    steps = np.diff(indices)
    step = int(steps[0])
    is_even = bool((steps == step).all()) and int(indices[0]) < step and int(indices[-1]) + step >= size
    return step if is_even and 1 < step <= _LONGEST_STEP and indices.size > 2 else None


def _every(step: int) -> str:
    if step < len(_ORDINALS):
        return f"every {_ORDINALS[step]}"
    ending = {1: "st", 2: "nd", 3: "rd"}.get(step % 10, "th") if step // 10 != 1 else "th"
    return f"every {step}{ending}"


# ---- positions in row-major order


def _of_positions(wrong: Mask, count: int) -> Iterator[tuple[str, float]]:
    """Yield where wrong elements are in row-major order, with the share of wrong ones there."""
    places = np.flatnonzero(wrong)
    first, last = int(places[0]), int(places[-1])
    share = count / (last + 1 - first)
    if (first == 0) != (last == wrong.size - 1) and share >= _ENOUGH:
        yield f"elements {first} to {last} in row-major order", share
    for step in range(2, min(_LONGEST_STEP, wrong.size // 3) + 1):
        share = count / len(range(first % step, wrong.size, step))
        if first < step and share >= _ENOUGH and bool((places % step == first).all()):
            yield f"{_every(step)} element in row-major order, from {first} on", share
