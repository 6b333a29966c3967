"""Arrays that add up or round in another way, to compute the results of an implementation with this fault."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]
Rounding = Callable[[Array], Array]

_LONGEST = 1 << 13  # terms that are added up one by one
_MOST = 1 << 22  # products that are in memory at once

# ---- roundings of FLOAT32 numbers to fewer bits


def to_bits(bits: int, x: Array) -> Array:
    """Return FLOAT32 numbers rounded to a significand of `bits` bits, halves to even."""
    single = np.asarray(x).astype(np.float32)
    drop = np.uint32(24 - bits)
    raw = single.view(np.uint32)
    half = (np.uint32(1) << (drop - np.uint32(1))) - np.uint32(1) + ((raw >> drop) & np.uint32(1))
    rounded = ((raw + half) >> drop << drop).view(np.float32)
    return np.where(np.isfinite(single), rounded, single)


bfloat16 = partial(to_bits, 8)
tf32 = partial(to_bits, 11)


def float32(x: Array) -> Array:
    """Return numbers rounded to FLOAT32."""
    return np.asarray(x).astype(np.float32)


def float16(x: Array) -> Array:
    """Return numbers rounded to FLOAT16, in FLOAT32."""
    return np.asarray(x).astype(np.float16).astype(np.float32)


def away_from_zero(x: Array) -> Array:
    """Return the nearest whole numbers, halves away from 0."""
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


# ---- numbers that add up in another way

VANISHING = "vanishing exp"


class Narrowing(NamedTuple):
    """A way to add up terms, and to round to whole numbers.

    `rounding` rounds each partial sum; `lost` takes the number of terms and returns the slice of those left out. `step`
    rounds the result of every operation, and `seen` gets the names of the operations that it took to infinity, and
    VANISHING where it took a power to 0. If `is_unshifted`, the largest element, which formulas take out of exponents,
    is 0 to them.
    """

    rounding: Rounding | None = None
    lost: Callable[[int], slice] | None = None
    nearest: Callable[[Array], Array] = np.rint
    step: Rounding | None = None
    seen: set[str] | None = None
    is_unshifted: bool = False

    def total(self, terms: Array) -> Array:
        """Return the sums along the last axis."""
        count = terms.shape[-1]
        if self.lost is not None and count > 1:
            terms = terms.copy()
            terms[..., self.lost(count)] = 0
        if self.rounding is None or count > _LONGEST:
            return np.asarray(terms.sum(axis=-1))
        sums = np.zeros(terms.shape[:-1])
        for index in range(count):
            sums = self.rounding(sums + terms[..., index]).astype(np.float64)
        return sums


def narrowed(way: Narrowing, x: Any) -> Any:
    """Return a float64 array as one that adds up in this way; anything else as it is."""
    return _Narrow.of(x, way) if isinstance(x, np.ndarray) and x.dtype == np.float64 else x


class _Narrow(np.ndarray):
    """A float64 array with another way to add up, which results of operations on it inherit."""

    way: Narrowing

    @classmethod
    def of(cls, x: Array, way: Narrowing) -> _Narrow:
        found = x.view(cls)
        found.way = way
        return found

    def __array_finalize__(self, source: Any) -> None:
        self.way = getattr(source, "way", Narrowing())

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Compute on plain arrays, except sums, matrix products and rounding to whole numbers."""
        plain = [_bare(x) for x in inputs]
        if "out" in options:
            options["out"] = tuple(map(_bare, options["out"]))
        if ufunc is np.add and method == "reduce" and _is_sum(plain[0]):
            return self._again(_stepped(self.way, ufunc, plain[:1], _reduced(self.way, plain[0], **options)))
        if ufunc is np.matmul and method == "__call__":
            return self._again(_stepped(self.way, ufunc, plain, _product(self.way, *plain)))
        if ufunc is np.rint and method == "__call__":
            return self._again(self.way.nearest(plain[0]))
        found = getattr(ufunc, method)(*plain, **options)
        if ufunc is np.maximum and method == "reduce" and self.way.is_unshifted:
            return self._again(np.zeros_like(found))
        if self.way.step is None:
            return self._again(found)
        is_square = ufunc is np.multiply and inputs[0] is inputs[-1]
        return self._again(_stepped(self.way, np.square if is_square else ufunc, plain, found))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Compute on plain arrays, except sums of products and running sums."""
        if function is np.einsum:
            return self._again(_einsum(self.way, *args))
        if function is np.cumsum and self.way.rounding is not None:
            return self._again(_running(self.way.rounding, *args, **kwargs))
        found = function(*map(_stripped, args), **{name: _stripped(value) for name, value in kwargs.items()})
        return [self._again(part) for part in found] if isinstance(found, list) else self._again(found)

    def _again(self, found: Any) -> Any:
        if isinstance(found, tuple):
            return tuple(map(self._again, found))
        return narrowed(self.way, np.asarray(found)) if isinstance(found, (np.ndarray, np.floating)) else found


def _stepped(way: Narrowing, ufunc: np.ufunc, operands: list[Any], found: Any) -> Any:
    """Return the result of an operation after the rounding of a step, and note where that is infinite."""
    if way.step is None or not isinstance(found, (np.ndarray, np.floating)) or found.dtype != np.float64:
        return found
    rounded = way.step(np.asarray(found)).astype(np.float64)
    if way.seen is not None and np.isinf(rounded).any() and all(np.isfinite(x).all() for x in operands):
        way.seen.add(ufunc.__name__)
    if way.seen is not None and ufunc is np.exp and bool((np.asarray(rounded == 0) & np.isfinite(operands[0])).any()):
        way.seen.add(VANISHING)
    return rounded


def _reduced(way: Narrowing, x: Array, axis: Any = 0, **options: Any) -> Array:
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(one % x.ndim for one in axes)
    others = [one for one in range(x.ndim) if one not in axes]
    terms = x.transpose(*others, *sorted(axes)).reshape(*(x.shape[one] for one in others), -1)
    shape = [1 if one in axes else size for one, size in enumerate(x.shape)]
    sums = way.total(terms)
    return sums.reshape(shape) if options.get("keepdims") else sums


def _product(way: Narrowing, a: Any, b: Any) -> Any:
    if a.shape[-1] > _LONGEST or a.size * b.shape[-1] > _MOST:
        return np.matmul(a, b)
    return way.total(a[..., :, None, :] * np.swapaxes(b, -1, -2)[..., None, :, :])


def _einsum(way: Narrowing, subscripts: str, *operands: Any) -> Any:
    operands = tuple(map(_bare, operands))
    inputs, _, output = subscripts.replace(" ", "").partition("->")
    letters = "".join(dict.fromkeys(letter for letter in inputs if letter.isalpha()))
    summed = "".join(letter for letter in letters if letter not in output)
    sizes: dict[str, int] = {}
    for part, x in zip(inputs.split(","), operands, strict=True):
        named = part.replace("...", "")
        sizes.update(zip(named, x.shape[x.ndim - len(named) :], strict=True))
    if not summed or "..." in subscripts or math.prod(sizes[letter] for letter in letters) > _MOST:
        return np.einsum(subscripts, *operands)
    terms = np.einsum(f"{inputs}->{output}{summed}", *operands)
    return way.total(terms.reshape(*terms.shape[: len(output)], -1))


def _running(rounding: Rounding, x: Any, axis: Any = None, **_: Any) -> Array:
    values = np.moveaxis(_bare(x).reshape(-1) if axis is None else _bare(x), axis or 0, 0)
    sums = np.empty(values.shape)
    total = np.zeros(values.shape[1:])
    for index, part in enumerate(values):
        total = rounding(total + part)
        sums[index] = total
    return np.moveaxis(sums, 0, axis or 0)


def _is_sum(x: Any) -> bool:
    """Whether an operand is a float64 array with elements to add up."""
    return isinstance(x, np.ndarray) and x.dtype == np.float64 and x.ndim > 0


def _bare(x: Any) -> Any:
    return x.view(np.ndarray) if isinstance(x, _Narrow) else x


def _stripped(x: Any) -> Any:
    return type(x)(map(_bare, x)) if type(x) in (list, tuple) else _bare(x)
