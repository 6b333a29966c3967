"""Patterns of wrong elements: never written, a batch repeated, neighbours exchanged, too few bits, rounded inputs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.comparison.compare import Bounds, Comparison, JudgedOutputs, compare, same
from dmlcheck.comparison.regions import region_text
from dmlcheck.comparison.tolerances import Limit, is_float
from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference.ball.factors import UNITS
from dmlcheck.reference.bindings import row
from dmlcheck.reference.bounds import arithmetic_of, bounds
from dmlcheck.reference.engine import Array
from dmlcheck.reference.limits.precision import FACTORS, Precision
from dmlcheck.reference.rows import PRODUCTS

_FEW = 4  # wrong elements: fewer may be so by chance
_MOST_BITS = 3.0  # that one element tells
_ENOUGH_BITS = 12.0
_NEAR = 2  # how far off integers are that all have the same error
_BOTH = 0.1  # the share of results that roundings make larger, or smaller, at least
_MANY = 12  # wrong elements that show how many bits are right
_LANES = {
    (0, 2, 1, 3): "the second and third",
    (1, 0, 3, 2): "the first and second, and the third and fourth,",
    (2, 3, 0, 1): "the first and second half",
    (3, 2, 1, 0): "the first and last, and both between them,",
}


def patterns(expected: Array, actual: Array, wrong: Array) -> Iterator[str]:
    """Yield the explanations of all wrong elements that need only the values of the output."""
    for found, least in ((_limited, 3), (_repeated, _FEW), (_exchanged, _FEW), (_unwritten, _FEW), (_moved, _FEW)):
        text = found(expected, actual, wrong) if int(wrong.sum()) >= least else None
        if text is not None:
            yield text


def _unwritten(expected: Array, actual: Array, wrong: Array) -> str | None:
    """Return the words for wrong elements that all have one number, as in a buffer that is never written."""
    held = actual[wrong]
    is_nan = _is_filled(held)
    is_blank = is_nan or ((held == held[0]).all() and held[0] in (0, _unset(held.dtype)) and not _is_signed(held))
    if not is_blank or _bits(expected[wrong], held) < _ENOUGH_BITS:
        return None
    is_held = np.isnan(actual) if is_nan else actual == held[0]
    box = _box(wrong, is_held)
    where = "the output" if box.all() else region_text(box) or region_text(wrong)
    return where and f"nothing seems to be written to {where}: all {held[0].item():g} there"


def _is_filled(held: Array) -> bool:
    """Whether floats are all NaN of one pattern of bits that no operation gives: a buffer's, from before."""
    if held.dtype.kind != "f" or not np.isnan(held).all():
        return False
    bits = held.view(f"u{held.itemsize}")
    computed = np.array([np.nan, -np.nan], held.dtype).view(bits.dtype)
    return bool((bits == bits[0]).all() and bits[0] not in computed)


def _is_signed(held: Array) -> bool:
    """Whether one of some floats has the sign of -0, which no cleared buffer has."""
    return held.dtype.kind == "f" and bool(np.signbit(held).any())


def _unset(dtype: np.dtype[Any]) -> Any:
    """Return the integer with all bits set, 0 for floats: a possible content of an unwritten buffer."""
    return np.array(-1).astype(dtype)[()] if dtype.kind in "iu" else 0


def _bits(expected: Array, held: Array) -> float:
    """Return the information, in bits, in finding some numbers in the place of others."""
    if expected.dtype.kind == "f":
        return _MOST_BITS * expected.size
    distance = np.abs(expected.astype(np.float64) - held.astype(np.float64))
    return float(np.log2(1 + distance).clip(0, _MOST_BITS).sum())


def _box(wrong: Array, is_held: Array) -> Array:
    """Return the smallest part of an output with all wrong elements, if all elements of it have their value."""
    for places in (wrong, wrong.reshape(-1)):
        cut = tuple(slice(int(indices.min()), int(indices.max()) + 1) for indices in np.nonzero(places))
        found = np.zeros(places.shape, bool)
        found[cut] = True
        if is_held.reshape(places.shape)[cut].all():
            return found.reshape(wrong.shape)
    return wrong


def _repeated(expected: Array, actual: Array, wrong: Array) -> str | None:
    """Return the words for batches or channels that repeat others."""
    for axis, name in ((0, "batch"), (1, "channel")):
        if expected.ndim <= axis + 1 or expected.shape[axis] < 2:
            continue
        for count in (1, 2, 4, 8) if axis else (1,):
            taken = np.arange(expected.shape[axis]) % count
            if count < expected.shape[axis] and _is(np.take(expected, taken, axis), expected, actual, wrong):
                first = f"the first {name}" if count == 1 else f"the first {count} {name}s"
                return f"every {name} seems to be {first} again"
    return None


def _exchanged(expected: Array, actual: Array, wrong: Array) -> str | None:
    """Return the words for vectors of four elements in another order."""
    if expected.ndim == 0 or expected.shape[-1] < 4:
        return None
    for lanes, words in _LANES.items():
        order = np.arange(expected.shape[-1])
        whole = order[: order.size // 4 * 4].reshape(-1, 4)
        whole[:] = whole[:, lanes]
        if _is(expected[..., order], expected, actual, wrong):
            return f"{words} element of each vector of four in a row seem to be exchanged"
    return None


def _limited(expected: Array, actual: Array, wrong: Array) -> str | None:
    """Return the words for the largest number in the place of infinity."""
    if expected.dtype.kind != "f":
        return None
    if not np.isinf(expected[wrong]).all():
        return None
    limited = np.where(np.isinf(expected), np.copysign(np.finfo(expected.dtype).max, expected), expected)
    return "infinities seem to be replaced by the largest number" if _is(limited, expected, actual, wrong) else None


def _moved(expected: Array, actual: Array, wrong: Array) -> str | None:
    """Return the words for integers that all differ from the expected ones by the same number."""
    if expected.dtype.kind not in "iu" or not wrong.all():
        return None
    by = actual - expected  # which wraps as they do
    distance = int(by.flat[0].astype(np.int64))
    if (by != by.flat[0]).any() or abs(distance) > _NEAR:
        return None
    return f"every element is {distance:+} off"


def _is(predicted: Array, expected: Array, actual: Array, wrong: Array) -> bool:
    """Whether wrong elements are as predicted, and so are all others that are as expected."""
    near = _close(actual, predicted)
    return bool(near[wrong].all()) and bool((near | ~_close(actual, expected))[~wrong].all())


def _close(some: Array, others: Array) -> Array:
    """Return where two arrays are equal, apart from the last bits of floats."""
    found = same(some, others)
    if some.dtype.kind == "f":
        wide, other = some.astype(np.float64), others.astype(np.float64)
        room = np.where(np.isfinite(other), 4 * np.finfo(some.dtype).eps * np.abs(other), 0.0)
        found |= np.abs(wide - other) <= room
    return found


def few_bits(expected: Array, actual: Array, wrong: Array) -> str | None:
    """Return how many bits of the results are right, where many are wrong and none by much."""
    wanted, found = expected[wrong].astype(np.float64), actual[wrong].astype(np.float64)
    size = np.abs(expected[np.isfinite(expected)].astype(np.float64)).max(initial=0.0)
    difference = found - wanted
    if expected.dtype.kind != "f" or not np.isfinite(difference).all():
        return None
    if wanted.size < max(_MANY, expected.size / 8) or not ((difference < 0).any() and (difference > 0).any()):
        return None
    if not goes_both_ways(wanted, difference):
        return None
    error = float((np.abs(difference) / np.maximum(np.abs(wanted), size / 2**8)).max())
    bits = math.floor(-math.log2(error)) if error > 0 else 0
    least, most = (7, 18) if expected.dtype == np.float32 else (4, 8)
    if not least <= bits <= most:
        return None
    return f"results seem to be right in the first {bits} bits only: fewer bits on the way, or a fast approximation?"


def goes_both_ways(wanted: Array, errors: Array) -> bool:
    """Whether errors make some results larger and some smaller, as roundings do and a wrong factor does not."""
    growing = float(((errors > 0) == (wanted > 0))[errors != 0].mean())
    return _BOTH <= growing <= 1 - _BOTH


# ---- a type of inputs with which no output would be wrong


MOST = 2**22  # elements of all tensors together: an output is computed up to ten times
_LEAST = 0.7  # correlation of the errors with the errors of rounded factors
_CHANCE = 3.0  # standard deviations of the correlation of errors that have nothing to do with each other
_MANY_OFF = 36  # elements: with fewer, the correlation may be lower if the unit's own results match


def consistent_type(judged: JudgedOutputs) -> str | None:
    """Return the type to which the factors of products seem to be rounded, TF32 or BFLOAT16; None if neither fits.

    It is for outputs that are wrong or unlikely, of FLOAT32 tensors and operators that compute products.
    """
    limit, off = judged.limit, [name for name, one in judged.compared.items() if _is_off(one)]
    if not off or not _may_be_rounded(judged) or not all(map(partial(_is_comparable, judged), off)):
        return None
    with np.errstate(all="ignore"):
        for data_type in FACTORS[FACTORS.index(limit.precision.factors) + 1 :]:
            looser = limit._replace(precision=limit.precision._replace(factors=data_type))
            is_made = any(_is_made_by(judged, unit, looser, off) for unit in UNITS)
            if is_made and _within(judged, looser, judged.expected):
                return data_type
    return None


def _is_off(one: Comparison) -> bool:
    return bool(one.result.mismatches or one.result.unlikely or one.result.systematic)


def _may_be_rounded(judged: JudgedOutputs) -> bool:
    """Whether rounded factors may be the cause: the case has no tolerance of its own, and the search is short."""
    desc, limit = judged.desc, judged.limit
    if limit.is_own or row(desc.spec.operator).kernel.sums != PRODUCTS:
        return False
    if sum(max(part.tensor.element_count, part.tensor.extent) for part in desc.tensors()) > MOST:
        return False
    return arithmetic_of(desc, Precision(limit.precision.accumulate, FACTORS[-1])).factors == FACTORS[-1]


def _is_comparable(judged: JudgedOutputs, name: str) -> bool:
    """Whether an output has numbers whose errors can be compared."""
    result = judged.compared[name].result
    return result.shape is None and is_float(result.data_type)


def _is_made_by(judged: JudgedOutputs, unit: str, looser: Limit, off: list[str]) -> bool:
    """Whether the errors look like a matrix unit's; few elements may equal the unit's own results instead."""
    made = _made_by(judged, unit, looser)
    others = [name for name in off if not _are_alike(judged, name, made[name])]
    if any(judged.compared[name].result.elements >= _MANY_OFF for name in others):
        return False
    right = {
        name: (tensor, made[name].astype(values.dtype) if name in others else judged.actual[name])
        for name, (tensor, values) in judged.expected.items()
    }
    return not others or _within(judged, looser, right, unit)


def _are_alike(judged: JudgedOutputs, name: str, made: Array) -> bool:
    """Whether the errors of an output have the size of rounded factors' errors, and correlate with them.

    With few elements, the correlation must be higher.
    """
    wanted = judged.expected[name][1].astype(np.float64)
    found, predicted = judged.actual[name] - wanted, made - wanted
    counts = np.isfinite(found) & np.isfinite(predicted) & ((found != 0) | (predicted != 0))
    undefined = judged.undefined.get(name)
    counts = counts if undefined is None else counts & ~undefined
    error, other = found[counts], predicted[counts]
    size, own, both = float(other @ other), float(error @ error), float(error @ other)
    if not size or not own:
        return False
    least = max(_LEAST, _CHANCE / np.sqrt(error.size))
    return bool(both >= least * np.sqrt(size * own) and size / 16 <= own <= size * 16)


def _within(
    judged: JudgedOutputs, limit: Limit, expected: Mapping[str, tuple[TensorDesc, Array]], unit: str = ""
) -> bool:
    """Whether outputs are inside the tolerance, and inside the likely one, of an arithmetic."""
    bounds_of = partial(_bounds_of, judged, limit=limit, unit=unit)
    found = compare(expected, judged.actual, limit, bounds_of, judged.undefined)
    return not any(_is_off(one) for one in found.values())


def _bounds_of(
    judged: JudgedOutputs, asked: Mapping[str, Array], *, is_likely: bool = False, limit: Limit, unit: str = ""
) -> Bounds:
    """Return the bounds of some elements in an arithmetic, or of a unit that rounds factors in one way."""
    return bounds(judged.desc, judged.inputs, asked, limit.precision, is_likely=is_likely, unit=unit)


def _made_by(judged: JudgedOutputs, unit: str, limit: Limit) -> dict[str, Array]:
    """Return the outputs, unrounded, of a unit that rounds every factor in one way."""
    made = {name: np.full(tensor.sizes, np.nan) for name, (tensor, _) in judged.expected.items()}
    asked = {name: np.ones(values.shape, dtype=bool) for name, values in made.items()}
    for name, at, bound in _bounds_of(judged, asked, limit=limit, unit=unit):
        made[name].reshape(-1)[at] = bound.value
    return made
