"""What the operators of indices compute, in plain Python: an element at a time, from the formulas of their pages.

A tensor is its sizes and a flat list of Python numbers in row-major order; results are flat lists. OPEN stands for an
element that the documentation leaves open.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from dmlcheck.descs.records import OperatorDesc

OPEN = "any"

Sizes = Sequence[int]
Place = tuple[int, ...]


def coordinates(sizes: Sizes) -> Iterator[Place]:
    """Yield the coordinates of all elements in row-major order."""
    return itertools.product(*map(range, sizes))


def table(sizes: Sizes, values: Sequence[Any]) -> dict[Place, Any]:
    """Return the elements of a tensor by their coordinates."""
    return dict(zip(coordinates(sizes), values, strict=True))


def from_start(index: int, size: int) -> int | None:
    """Return an index as counted from the start of a dimension, None where it is outside."""
    index += size if index < 0 else 0
    return index if 0 <= index < size else None


def with_axis(place: Place, axis: int, index: int) -> Place:
    """Return coordinates with another one for an axis."""
    return (*place[:axis], index, *place[axis + 1 :])


# ---- gathering


def gather(
    sizes: Sizes, values: Sequence[Any], indices: Sizes, numbers: Sequence[int], axis: int, count: int
) -> list[Any]:
    """Return GATHER's output; `count` is IndexDimensions, and all other sizes of the indices are 1."""
    x, at = table(sizes, values), table(indices, numbers)
    own, lead = tuple(indices[len(indices) - count :]), (0,) * (len(indices) - count)
    found = []
    for place in coordinates((*sizes[:axis], *own, *sizes[axis + 1 :])):
        index = from_start(at[(*lead, *place[axis : axis + count])], sizes[axis])
        found.append(OPEN if index is None else x[(*place[:axis], index, *place[axis + count :])])
    return found


def gather_elements(
    sizes: Sizes, values: Sequence[Any], indices: Sizes, numbers: Sequence[int], axis: int
) -> list[Any]:
    """Return GATHER_ELEMENTS' output."""
    x = table(sizes, values)
    found = []
    for place, number in table(indices, numbers).items():
        index = from_start(number, sizes[axis])
        found.append(OPEN if index is None else x[with_axis(place, axis, index)])
    return found


def gather_nd(
    sizes: Sizes, values: Sequence[Any], indices: Sizes, numbers: Sequence[int], batches: int = 0
) -> list[Any]:
    """Return GATHER_ND's or GATHER_ND1's output, of tensors of the dimensions that count only."""
    x, at, width = table(sizes, values), table(indices, numbers), indices[-1]
    found = []
    for place in coordinates(indices[:-1]):
        index = [from_start(at[(*place, p)], sizes[batches + p]) for p in range(width)]
        rests = coordinates(sizes[batches + width :])
        found += [OPEN if None in index else x[(*place[:batches], *index, *rest)] for rest in rests]  # type: ignore[index]
    return found


# ---- replacing


def scatter(
    sizes: Sizes, values: Sequence[Any], indices: Sizes, numbers: Sequence[int], updates: Sequence[Any], axis: int
) -> list[Any]:
    """Return SCATTER's output. An index outside may hit either end of its line."""
    x, size = table(sizes, values), sizes[axis]
    ends = set()
    for (place, number), update in zip(table(indices, numbers).items(), updates, strict=True):
        index = from_start(number, size)
        if index is None:
            ends |= {with_axis(place, axis, 0), with_axis(place, axis, size - 1)}
        else:
            x[with_axis(place, axis, index)] = update
    return [OPEN if place in ends else value for place, value in x.items()]


def scatter_nd(
    sizes: Sizes, values: Sequence[Any], indices: Sizes, numbers: Sequence[int], updates: Sequence[Any]
) -> list[Any]:
    """Return SCATTER_ND's output, of tensors of the dimensions that count only.

    Coordinates outside may be taken for the first, the last or the nearest. DirectML counts them on into the other
    dimensions, which is open too where 32 bits hold all of them.
    """
    x, at, width = table(sizes, values), table(indices, numbers), indices[-1]
    new = iter(updates)
    is_undefined, is_near = set(), all(-(2**31) < number < 2**31 for number in numbers)
    every = list(coordinates(sizes[:width]))
    for place in coordinates(indices[:-1]):
        numbers_here = [at[(*place, p)] for p in range(width)]
        index = list(map(from_start, numbers_here, sizes))
        guesses = [
            [found if found is not None else guess for found, guess in zip(index, ends, strict=True)]
            for ends in (
                [0] * width,
                [size - 1 for size in sizes[:width]],
                [0 if number < 0 else size - 1 for number, size in zip(numbers_here, sizes, strict=False)],
            )
        ]
        for rest in coordinates(sizes[width:]):
            update = next(new)
            if None in index:
                is_undefined |= {(*guess, *rest) for guess in guesses}
                counted = functools.reduce(
                    lambda so_far, own: so_far * own[1] + own[0] + own[1] * (own[0] < 0),
                    zip(numbers_here, sizes, strict=False),
                    0,
                )
                if is_near and counted % 2**32 < len(every):
                    is_undefined.add((*every[counted % 2**32], *rest))
            else:
                x[(*index, *rest)] = update  # type: ignore[index]
    return [OPEN if place in is_undefined else value for place, value in x.items()]


# ---- making sequences, sorting, counting


def one_hot(indices: Sizes, numbers: Sequence[int], off: Any, on: Any, size: int, axis: int) -> list[Any]:
    """Return ONE_HOT's output, of this size along the axis."""
    at = table(indices, numbers)
    found = []
    for place in coordinates(with_axis(tuple(indices), axis, size)):
        number = at[with_axis(place, axis, 0)]
        value = on if place[axis] == from_start(number, size) else off
        found.append(OPEN if number < -size else value)
    return found


def top(
    sizes: Sizes, values: Sequence[Any], axis: int, k: int, *, is_decreasing: bool = True
) -> tuple[list[Any], list[Any]]:
    """Return TOP_K1's values and indices."""
    x = table(sizes, values)
    found, at = {}, {}
    for line in coordinates(with_axis(tuple(sizes), axis, 1)):
        sequence = [x[with_axis(line, axis, number)] for number in range(sizes[axis])]
        order = sorted(range(sizes[axis]), key=lambda i: (-sequence[i] if is_decreasing else sequence[i], i))
        has_nan = any(value != value for value in sequence)  # noqa: PLR0124 - NaN is not itself
        zeros = {math.copysign(1, value) for value in sequence if value == 0 and isinstance(value, float)}
        for number, index in enumerate(order[:k]):
            place, value = with_axis(line, axis, number), sequence[index]
            found[place] = OPEN if has_nan else value
            at[place] = OPEN if has_nan or (value == 0 and len(zeros) == 2) else index
    return [found[place] for place in sorted(found)], [at[place] for place in sorted(at)]


def nonzero(sizes: Sizes, values: Sequence[Any], count: int, normal: float = 0.0) -> tuple[Any, list[Any]]:
    """Return NONZERO_COORDINATES' count, and a row of the last `count` coordinates for every element of the tensor.

    Numbers below the smallest normal one, and NaN, may count as 0 or not.
    """
    rows: list[Any] = []
    is_undefined = False
    for place, value in table(sizes, values).items():
        is_undefined = is_undefined or (value != 0 and not abs(value) >= normal)
        rows += (
            [OPEN if is_undefined else coordinate for coordinate in place[len(sizes) - count :]] if value != 0 else []
        )
    total = OPEN if is_undefined else len(rows) // count
    return total, rows + [OPEN] * (math.prod(sizes) * count - len(rows))


# ---- all of them, by their descs


def results(desc: OperatorDesc, inputs: dict[str, Any]) -> dict[str, list[Any]]:
    """Return the outputs of a desc."""
    return _RESULTS[desc.spec.short](
        desc.values, {name: (x.shape, x.reshape(-1).tolist()) for name, x in inputs.items()}
    )


Given = dict[str, tuple[Sizes, list[Any]]]


def _last(tensor: tuple[Sizes, list[Any]], count: int) -> tuple[Sizes, list[Any]]:
    """Return a tensor without the dimensions before the last ones, which are 1."""
    sizes, values = tensor
    return sizes[len(sizes) - count :], values


def _gathered(values: Mapping[str, Any], given: Given) -> dict[str, list[Any]]:
    tensors = (*given["InputTensor"], *given["IndicesTensor"])
    return {"OutputTensor": gather(*tensors, values["Axis"], values["IndexDimensions"])}


def _tuples(values: Mapping[str, Any], given: Given) -> dict[str, list[Any]]:
    x = _last(given["InputTensor"], values["InputDimensionCount"])
    indices = _last(given["IndicesTensor"], values["IndicesDimensionCount"])
    if "UpdatesTensor" in given:
        return {"OutputTensor": scatter_nd(*x, *indices, given["UpdatesTensor"][1])}
    return {"OutputTensor": gather_nd(*x, *indices, values.get("BatchDimensionCount") or 0)}


def _scattered(values: Mapping[str, Any], given: Given) -> dict[str, list[Any]]:
    tensors = (*given["InputTensor"], *given["IndicesTensor"], given["UpdatesTensor"][1])
    return {"OutputTensor": scatter(*tensors, values["Axis"])}


def _hot(values: Mapping[str, Any], given: Given) -> dict[str, list[Any]]:
    size, (off, on, *_) = values["OutputTensor"].sizes[values["Axis"]], given["ValuesTensor"][1]
    return {"OutputTensor": one_hot(*given["IndicesTensor"], off, on, size, values["Axis"])}


def _top(values: Mapping[str, Any], given: Given) -> dict[str, list[Any]]:
    is_decreasing = values.get("AxisDirection", "DECREASING") == "DECREASING"
    found, at = top(*given["InputTensor"], values["Axis"], values["K"], is_decreasing=is_decreasing)
    return {"OutputValueTensor": found, "OutputIndexTensor": at}


def _nonzero(values: Mapping[str, Any], given: Given) -> dict[str, list[Any]]:
    normal = {"FLOAT32": 2.0**-126, "FLOAT16": 2.0**-14}.get(values["InputTensor"].data_type, 0.0)
    count = values["OutputCoordinatesTensor"].sizes[-1]
    total, rows = nonzero(*given["InputTensor"], count, normal)
    return {"OutputCountTensor": [total], "OutputCoordinatesTensor": rows}


_RESULTS: dict[str, Callable[[Mapping[str, Any], Given], dict[str, list[Any]]]] = {
    "GATHER": _gathered,
    "GATHER_ELEMENTS": lambda values, given: {
        "OutputTensor": gather_elements(*given["InputTensor"], *given["IndicesTensor"], values["Axis"])
    },
    "GATHER_ND": _tuples,
    "GATHER_ND1": _tuples,
    "NONZERO_COORDINATES": _nonzero,
    "ONE_HOT": _hot,
    "SCATTER": _scattered,
    "SCATTER_ND": _tuples,
    "TOP_K": _top,
    "TOP_K1": _top,
}
OPERATORS = tuple(_RESULTS)
