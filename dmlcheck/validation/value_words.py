"""The constraint words about the values of input tensors, checked where a case gives them.

Like the words of a desc, each yields a finding for every way in which the claim is broken, the first few of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import Finding
from dmlcheck.diagnostics.wording import brackets
from dmlcheck.validation.conditions import applicable, evaluate

Array = NDArray[Any]
Inputs = Mapping[str, Any]
_MOST = 10  # elements reported of one tensor


def findings(desc: OperatorDesc, inputs: Inputs, level: str) -> Iterator[Finding]:
    """Yield the broken rows about the values of a desc's inputs."""
    for row in applicable(desc, level):
        word = WORDS.get(row.word)
        if word is not None:
            for finding in word(desc, row.args, inputs):
                label = f"{desc.spec.short}/{row.id}"
                yield finding._replace(constraint=label, note=row.text, help=row.help or finding.help)


def elements_not_zero(desc: OperatorDesc, names: list[str], inputs: Inputs) -> Iterator[Finding]:
    """No element of some tensors is 0."""
    for label, path, values in _given(desc, names, inputs):
        yield from _wrong(label, path, values, values == 0, "other than 0")


def elements_one_of(desc: OperatorDesc, claims: dict[str, list[Any]], inputs: Inputs) -> Iterator[Finding]:
    """Every element of a tensor is one of a list of numbers."""
    for name, allowed in claims.items():
        for label, path, values in _given(desc, [name], inputs):
            others = reduce(np.logical_and, (values != number for number in allowed))
            yield from _wrong(label, path, values, others, " or ".join(map(str, allowed)))


def elements_between(desc: OperatorDesc, claims: dict[str, list[Any]], inputs: Inputs) -> Iterator[Finding]:
    """Every element of a tensor is from one number or expression to another, both included."""
    for name, bounds in claims.items():
        low, high = (evaluate(bound, desc) for bound in bounds)
        for label, path, values in _given(desc, [name], inputs) if low is not None and high is not None else ():
            yield from _wrong(label, path, values, ~((values >= low) & (values <= high)), f"from {low} to {high}")


def distinct_indices(desc: OperatorDesc, claim: dict[str, str], inputs: Inputs) -> Iterator[Finding]:
    """No two indices along an axis name one element, of which negative indices count from the end."""
    axis, target = desc.values.get(claim["axis"]), desc.tensor(claim["of"])
    for label, path, values in _given(desc, [claim["indices"]], inputs):
        if axis is None or target is None or axis >= len(target.sizes):
            continue
        if _repeats(_named(values, axis, target.sizes[axis]), values.size // values.shape[axis] * target.sizes[axis]):
            rows = np.moveaxis(_from_start(values, target.sizes[axis]), axis, -1)
            twice = np.moveaxis(_repeated(rows) & (rows >= 0), -1, axis)
            yield from _wrong(label, path, values, twice, "an index of its own")


def distinct_tuples(desc: OperatorDesc, claim: dict[str, str], inputs: Inputs) -> Iterator[Finding]:
    """No two tuples of indices name one element, of which negative indices count from the end."""
    target, count = desc.tensor(claim["of"]), desc.values.get(claim["dimensions"])
    for label, path, values in _given(desc, [claim["indices"]], inputs):
        if target is None or count is None:
            continue
        width = values.shape[-1]
        sizes = target.sizes[len(target.sizes) - count :][:width]
        if len(sizes) == width:
            rows = values.reshape(-1, width)
            if _repeats((flat[flat >= 0] for flat in _named_by_tuples(rows, sizes)), math.prod(sizes)):
                flat = np.concatenate(list(_named_by_tuples(rows, sizes)))
                twice = (_repeated(flat) & (flat >= 0)).reshape(*values.shape[:-1], 1)
                first = np.arange(width) == 0
                yield from _wrong(label, path, values, twice & first, "part of a tuple of its own")


def columns_in_order(desc: OperatorDesc, claims: dict[str, list[list[int]]], inputs: Inputs) -> Iterator[Finding]:
    """In every row of a tensor, the last dimension, one element is no more than another."""
    for name, pairs in claims.items():
        for label, path, values in _given(desc, [name], inputs):
            wrong = np.zeros(values.shape, dtype=bool)
            for lower, upper in pairs:
                wrong[..., upper] = ~(values[..., lower] <= values[..., upper])
            yield from _wrong(label, path, values, wrong, "at least the coordinate that it goes with")


WORDS: dict[str, Callable[[OperatorDesc, Any, Inputs], Iterator[Finding]]] = {
    word.__name__: word
    for word in (
        columns_in_order,
        distinct_indices,
        distinct_tuples,
        elements_between,
        elements_not_zero,
        elements_one_of,
    )
}


def _given(desc: OperatorDesc, names: list[str], inputs: Inputs) -> Iterator[tuple[str, tuple[str | int, ...], Array]]:
    """Yield the arrays of some tensors, each with its name and its path in the case."""
    for name in names:
        values = inputs.get(name)
        arrays = values if isinstance(values, list) else [values]
        for part, array in zip(desc.parts[name], arrays, strict=False):
            if array is not None:
                yield part.label, ("inputs", *part.path), array


def _wrong(label: str, path: tuple[str | int, ...], values: Array, wrong: Array, expected: str) -> Iterator[Finding]:
    for place in islice(_marked(wrong.reshape(-1)), _MOST):
        index = tuple(int(step) for step in np.unravel_index(place, wrong.shape))
        params = {
            "field": f"{label}{brackets(index)}",
            "found": str(values[index]),
            "expected": expected,
            "worked": "",
        }
        yield Finding("value-out-of-range", (*path, *index), params)


def _marked(flat: Array) -> Iterator[int]:
    """Yield where a mask is set, one place after the other: to list them all might take more memory than the mask."""
    start = 0
    while start < flat.size:
        at = start + int(flat[start:].argmax())
        if not flat[at]:
            return
        yield at
        start = at + 1


def _repeats(named: Iterator[Array], count: int) -> bool:
    """Whether an element, of a number of them, is named twice."""
    seen, total = np.zeros(count, dtype=bool), 0
    for elements in named:
        seen[elements] = True
        total += elements.size
    return total > int(np.count_nonzero(seen))


def _named(values: Array, axis: int, size: int) -> Iterator[Array]:
    """Yield which elements of a tensor of this size along an axis the indices along it name, a block after another."""
    flat, inner = values.reshape(-1), math.prod(values.shape[axis + 1 :])
    for start in range(0, flat.size, _BLOCK):
        index = _from_start(flat[start : start + _BLOCK], size)
        at = np.arange(start, start + index.size)[index >= 0]
        yield (at // (values.shape[axis] * inner) * size + index[index >= 0]) * inner + at % inner


def _named_by_tuples(rows: Array, sizes: tuple[int, ...]) -> Iterator[Array]:
    """Yield the positions of the elements that tuples of indices name, -1 for those outside, block by block."""
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        places = np.stack([_from_start(block[:, number], size) for number, size in enumerate(sizes)])
        yield np.where((places >= 0).all(axis=0), np.ravel_multi_index(tuple(np.maximum(places, 0)), sizes), -1)


_BLOCK = 1 << 18


def _from_start(values: Array, size: int) -> Array:
    """Return indices counted from the start, and -1 for those outside."""
    wide = (np.minimum(values, size) if values.dtype.kind == "u" else values).astype(np.int64)
    wide = np.where(wide < 0, wide + size, wide)
    return np.where((wide >= 0) & (wide < size), wide, -1)


def _repeated(rows: Array) -> Array:
    """Return which elements of each row stand in it already."""
    order = np.argsort(rows, axis=-1, kind="stable")
    ranked = np.take_along_axis(rows, order, axis=-1)
    again = np.zeros(rows.shape, dtype=bool)
    again[..., 1:] = ranked[..., 1:] == ranked[..., :-1]
    twice = np.zeros(rows.shape, dtype=bool)
    np.put_along_axis(twice, order, again, axis=-1)
    return twice
