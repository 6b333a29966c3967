"""The tolerances: how far an implementation may be from the reference, by running the formulas on balls."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, reduce
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference.arrays.blocks import as_balls, as_numbers
from dmlcheck.reference.arrays.data_types import limits
from dmlcheck.reference.ball.errors import largest
from dmlcheck.reference.ball.numbers import Arithmetic, Ball, radius, raw
from dmlcheck.reference.ball.winograd import lost_by_winograd, may_be_winograd
from dmlcheck.reference.bindings import Inputs, parameter, row
from dmlcheck.reference.engine import Array, blocks_of, overflowed, refuse_too_much
from dmlcheck.reference.limits.precision import IN_FLOAT32, Precision
from dmlcheck.reference.results import Alternatives, union, ways_of
from dmlcheck.reference.rows import ELEMENTS, VARIANCE, WINOGRAD
from dmlcheck.reference.tiling.plan import tiles_of
from dmlcheck.reference.tiling.request import Tile, parts_of
from dmlcheck.specs.records import NAMED, OUTPUT
from dmlcheck.validation.conditions import half_of
from dmlcheck.validation.deviations import of_peer
from dmlcheck.values.number_formats import FORMATS, NUMPY_TYPES

FEW = 16  # elements of a tile; so few sums of products are computed one by one


def _few(size: int) -> int:
    """Return how many elements of a tile take less time one by one than the whole tile."""
    return max(FEW, size >> 12)


def _are_few(mask: Array) -> bool:
    """Whether a mask picks so few elements of a tile that they are computed one by one."""
    return not is_all(mask) and bool(np.count_nonzero(mask) <= _few(mask.size) < mask.size)


Place = tuple[int, ...]


class Bound(NamedTuple):
    """The engine's bounds for some elements of an output.

    `value` is the unrounded result, `radius` how far the roundings of an implementation may take it from there,
    `undefined` marks undefined elements; `terms` is the number of terms of the longest sum on the way. Computed
    results are rounded once more, to the output's type; moved elements are not (`is_rounded`). Where rounding decides
    which whole number is the nearest, `value` is the midpoint of the right ones. `others` are the bounds of further
    right results, where the documentation does not say in which type they are computed. `unlimited` marks the elements
    whose bound is infinite, or has all results of the operator; None for none.
    """

    value: Array
    radius: Array
    undefined: Array
    terms: int = 0
    is_rounded: bool = True
    others: tuple[Bound, ...] = ()
    unlimited: Array | None = None

    def of(self, mask: Array) -> Bound:
        """Return the bound of the elements at the places of a mask."""
        others = tuple(other.of(mask) for other in self.others)
        parts = self.value[mask], self.radius[mask], self.undefined[mask]
        unlimited = None if self.unlimited is None else self.unlimited[mask]
        return Bound(*parts, self.terms, self.is_rounded, others, unlimited)


def bounds(
    desc: OperatorDesc,
    inputs: Inputs,
    asked: Mapping[str, Array],
    precision: Precision = IN_FLOAT32,
    *,
    is_likely: bool = False,
    unit: str = "",
    has_one_cause: bool = False,
    with_measured: bool = False,
    without_roundings: bool = False,
    with_overflows: bool = False,
) -> Iterator[tuple[str, Array, Bound]]:
    """Yield the bounds of the elements where the masks `asked` are true, tile by tile.

    Each comes with the output's label, and the positions of the elements in row-major order. Only tiles with an asked
    element are computed. With a `unit`, nearest or cut, the bounds are for a matrix unit that rounds every factor so.
    `is_likely` asks for the bounds of likely errors. `has_one_cause` adds up the errors of inputs as correlated ones.
    `with_measured` also bounds the undefined elements whose results were measured on DirectML. `without_roundings` asks
    only for the exact results. `with_overflows` leaves results without a bound that follow from a number beyond the
    type. TooMuchWork if that would take too long.
    """
    refuse_too_much(desc, inputs)
    is_winograd = WINOGRAD in precision.algorithms and may_be_winograd(desc)
    arithmetic = arithmetic_of(desc, precision, is_likely=is_likely)
    arithmetic = arithmetic._replace(
        unit=unit,
        has_one_cause=has_one_cause or arithmetic.has_one_cause,
        is_exact=without_roundings,
        has_overflows=with_overflows,
    )
    found = _quietly(_bounds(desc, inputs, asked, arithmetic, with_measured=with_measured))
    if not is_winograd:
        yield from found
        return
    lost = lost_by_winograd(desc, inputs, arithmetic).reshape(-1)
    for label, at, bound in found:
        yield label, at, bound._replace(radius=bound.radius + lost[at])


def own_errors(desc: OperatorDesc, inputs: Inputs, asked: Mapping[str, Array]) -> Iterator[tuple[str, Array, Bound]]:
    """Yield how far the reference itself may be from the exact results, as `bounds` does for an implementation.

    Its unit roundoff is taken twice: half a unit in the last place, added to a float64, is lost again.
    """
    arithmetic = arithmetic_of(desc, Precision("FLOAT64"))
    yield from _quietly(_bounds(desc, inputs, asked, arithmetic._replace(unit_roundoff=2 * arithmetic.unit_roundoff)))


def _quietly(found: Iterator[tuple[str, Array, Bound]]) -> Iterator[tuple[str, Array, Bound]]:
    while True:
        with np.errstate(all="ignore"):  # set for each tile: a generator does not keep it
            part = next(found, None)
        if part is None:
            return
        yield part


def _bounds(
    desc: OperatorDesc,
    inputs: Inputs,
    asked: Mapping[str, Array],
    arithmetic: Arithmetic,
    *,
    with_measured: bool = False,
) -> Iterator[tuple[str, Array, Bound]]:
    blocks = partial(_blocks, desc, with_measured=with_measured)
    labels = {parameter(label): label for label in asked}
    only = next(iter(labels), "")
    is_elementwise = row(desc.spec.operator).kernel.tiles is ELEMENTS
    for tile in tiles_of(desc, inputs, arithmetic):
        places = tile.where if isinstance(tile.where, dict) else {only: tile.where}
        picked = {name: asked[labels[name]][where] for name, where in places.items() if name in labels}
        if not any(is_all(mask) or mask.any() for mask in picked.values()):
            continue
        if is_elementwise:
            operands, own = _chosen(tile.operands, picked[only])
            found = _computed(tile._replace(operands=operands), arithmetic)
            at = positions(asked[labels[only]].shape, tile.where, (), picked[only])
            ((_, value, is_undefined),) = blocks(found)
            yield labels[only], at, _bound(desc, labels[only], value, is_undefined, own)
            continue
        mask = None if tile.of_element is None else picked[only]
        if mask is not None and tile.of_element is not None and _are_few(mask):
            at = positions(asked[labels[only]].shape, tile.where, (), mask)
            elements = zip(*np.unravel_index(at, asked[labels[only]].shape), strict=True)
            each = [_of_element(desc, labels[only], tile.of_element, place, arithmetic, blocks) for place in elements]
            yield labels[only], at, _joined(each)
            continue
        for part in parts_of(_computed(tile, arithmetic)):
            results = part if isinstance(tile.where, dict) else {only: part}
            for name in filter(picked.__contains__, results):
                label, mask = labels[name], picked[name]
                for cut, value, is_undefined in blocks(results[name], partial(_is_asked, mask)):
                    at = positions(asked[label].shape, places[name], cut, mask[cut])
                    own = _counted(0, at.size) if is_all(mask[cut]) else np.flatnonzero(mask[cut])
                    yield label, at, _bound(desc, label, value, is_undefined, own)


def _blocks(
    desc: OperatorDesc, result: Any, is_asked: Callable[[Any], Any] = lambda _: True, *, with_measured: bool
) -> Iterator[tuple[Any, Any, Any]]:
    """Yield the blocks of a result: index, values, and the mask of elements by which nothing is judged."""
    overflow, dtype = row(desc.spec.operator).kernel.overflow, NUMPY_TYPES[desc.tensors(OUTPUT)[0].tensor.data_type]
    for cut, value, is_undefined, is_measured in blocks_of(result, is_asked):
        if with_measured:
            yield cut, value, is_undefined
            continue
        is_wrapped = overflowed(overflow, raw(ways_of(value)[0]), np.dtype(dtype)) if overflow else False
        yield cut, value, union(union(is_undefined, is_measured), is_wrapped)


def _of_element(
    desc: OperatorDesc,
    label: str,
    of_element: Callable[[Place], Tile],
    place: Any,
    arithmetic: Arithmetic,
    blocks: Callable[[Any], Iterator[tuple[Any, Any, Any]]],
) -> Bound:
    tile = of_element(tuple(map(int, place)))
    ((_, value, is_undefined),) = blocks(_computed(tile, arithmetic))
    sizes = next(part.tensor.sizes for part in desc.tensors() if part.label == label)
    places = [range(size)[at] for size, at in zip(sizes, tile.where, strict=True)]
    numbers = [own.index(int(at)) for own, at in zip(places, place, strict=True)]
    return _bound(desc, label, value, is_undefined, np.array([np.ravel_multi_index(numbers, [*map(len, places)])]))


def _joined(parts: Sequence[Bound]) -> Bound:
    """Return the bounds of several parts as one; a part with fewer readings than others repeats its first."""
    count = max(len(part.others) for part in parts)
    ways = [(*part.others, *[part._replace(others=())] * (count - len(part.others))) for part in parts]
    others = tuple(map(_joined, zip(*ways, strict=True)))
    unlimited = [np.zeros(part.radius.shape, bool) if part.unlimited is None else part.unlimited for part in parts]
    return Bound(
        np.concatenate([part.value for part in parts]),
        np.concatenate([part.radius for part in parts]),
        np.concatenate([part.undefined for part in parts]),
        max(part.terms for part in parts),
        any(part.is_rounded for part in parts),
        others=others,
        unlimited=np.concatenate(unlimited) if np.any(unlimited) else None,
    )


def _is_asked(mask: Array, cut: Any) -> bool:
    return is_all(mask[cut]) or bool(mask[cut].any())


def arithmetic_of(desc: OperatorDesc, precision: Precision, *, is_likely: bool = False) -> Arithmetic:
    """Return the arithmetic that an implementation of a desc may use: FLOAT64 tensors are computed in FLOAT64.

    The factors of sums of products are rounded only if all float tensors are FLOAT32. A mean of nearly
    equal elements, added one by one, loses their differences: a variance needs more.
    """
    types = {part.tensor.data_type for part in desc.tensors()}
    used = "FLOAT64" if "FLOAT64" in types else precision.accumulate
    attributes = "FLOAT16" if "FLOAT16" in (used, *types) else "FLOAT32"
    of = FORMATS[used]
    rounded = precision.factors if types & FORMATS.keys() == {"FLOAT32"} else "FLOAT32"
    given = (used, attributes, of.unit_roundoff, 2.0**of.least_exponent, is_likely, rounded)
    known = tuple(known for row in of_peer(desc, precision.peer) for known in row.errors.items())
    found = Arithmetic(*given, has_short_sums=row(desc.spec.operator).kernel.sums == VARIANCE, errors=known)
    half = half_of(desc) if precision.is_directml and used == "FLOAT32" else None
    if half is None:
        return found
    own = {name: getattr(half, name) for name in ("stored", "has_narrow_functions", "has_one_cause")}
    return (found if half.stored == NAMED else _stored_in_halves(found))._replace(**own)


def _stored_in_halves(arithmetic: Arithmetic) -> Arithmetic:
    """Return the arithmetic of one that stores every result in FLOAT16, cut off as Direct3D's conversions may be."""
    of = FORMATS["FLOAT16"]
    return arithmetic._replace(
        data_type="FLOAT16",
        attributes="FLOAT16",
        unit_roundoff=2 * of.unit_roundoff,
        smallest=2.0**of.least_exponent,
        computed_in=arithmetic.data_type,
    )


def _chosen(operands: tuple[Any, ...], mask: Array) -> tuple[tuple[Any, ...], Array]:
    """Return the operands of an element-wise tile at the places of a mask, and the numbers of the results to take.

    Where operands repeat their elements, the results of all places take less time than those of many single ones.
    """
    if is_all(mask):
        return operands, _counted(0, mask.size)
    count = np.count_nonzero(mask)
    has_repeats = any(isinstance(x, (np.ndarray, Ball)) and x.shape != mask.shape for x in operands)
    if has_repeats and _MANY_OF_A_TILE * count >= mask.size:
        return operands, np.flatnonzero(mask)
    chosen = (_at_mask(x, mask) if isinstance(x, (np.ndarray, Ball)) and np.ndim(x) else x for x in operands)
    return tuple(chosen), _counted(0, int(count))


_MANY_OF_A_TILE = 4


def _at_mask(x: Any, mask: Array) -> Any:
    return (x if x.shape == mask.shape else np.broadcast_to(x, mask.shape))[mask]


def _computed(tile: Tile, arithmetic: Arithmetic) -> Any:
    if arithmetic.is_exact:
        return tile.formula(*(x if tile.is_exact else as_numbers(x, None) for x in tile.operands))
    return tile.formula(*(as_balls(x, arithmetic, is_exact=tile.is_exact) for x in tile.operands))


def _bound(desc: OperatorDesc, label: str, value: Any, is_undefined: Any, at: Array) -> Bound:
    """Return the bound of a part of an output at row-major positions in it."""
    if isinstance(value, Alternatives):
        return _of_any([_bound(desc, label, way, is_undefined, at) for way in value.ways])
    numbers = raw(getattr(value, "value", value))
    numbers = numbers.astype(np.uint8) if numbers.dtype.kind == "b" else numbers

    def picked(x: Any) -> Array:
        if np.ndim(x) == 0:
            return np.full(at.shape, x)
        if np.shape(x) == numbers.shape and at.size == numbers.size:
            return np.asarray(x).reshape(-1)
        return np.broadcast_to(np.asarray(x), numbers.shape).reshape(-1)[at]

    is_rounded = isinstance(value, Ball)
    terms = value.terms if isinstance(value, Ball) else 0
    found = Bound(picked(numbers), picked(radius(value)), picked(is_undefined).astype(bool), terms, is_rounded)
    if isinstance(value, Ball) and value.beyond is not None:
        found = found._replace(others=(_bound(desc, label, value.beyond, is_undefined, at),))
    if not is_rounded or not found.radius.any():
        return found
    least, most = limits(next(part.tensor.data_type for part in desc.tensors() if part.label == label))
    low, high = function_range(desc)
    unlimited = _has_all(found, max(low, least), min(high, most))
    if value.unlimited is not None:
        unlimited |= picked(value.unlimited)
    return found._replace(unlimited=unlimited) if unlimited.any() else found


def _of_any(ways: list[Bound]) -> Bound:
    first, *others = (each._replace(others=()) for way in ways for each in (way, *way.others))
    return first._replace(others=tuple(others))


def _has_all(bound: Bound, least: float, most: float) -> Array:
    """Return a mask of the bounds that are infinite, or contain all numbers from the least to the most."""
    if largest(bound.radius) < most / 2 - least / 2:
        return np.zeros(bound.radius.shape, dtype=bool)
    low, high = bound.value - bound.radius, bound.value + bound.radius
    found: Array = np.isinf(bound.radius) | ((bound.radius > 0) & (low <= least) & (high >= most))
    return found


def function_range(desc: OperatorDesc) -> tuple[float, float]:
    """Return the range of an operator's function; infinities if it has no limits."""
    fused = desc.values.get("FusedActivation")
    return (fused if isinstance(fused, OperatorDesc) else desc).spec.range


def is_all(mask: Array) -> bool:
    """Whether a mask is true everywhere; one that repeats an element is not read."""
    return bool(mask.all() if any(mask.strides) or not mask.size else mask.item(0))


def _counted(start: int, stop: int) -> Array:
    """Return the whole numbers from one up to another, of an array that is kept; it may not be written."""
    if stop > _MOST_KEPT:
        return np.arange(start, stop)
    kept = _KEPT[0]  # which another thread may replace
    if stop > kept.size:
        kept = np.arange(min(2 * stop, _MOST_KEPT))
        kept.flags.writeable = False
        _KEPT[0] = kept
    return kept[start:stop]


_KEPT: list[Array] = [np.arange(0)]
_MOST_KEPT = 1 << 20


def positions(sizes: tuple[int, ...], where: Any, cut: Any, mask: Array) -> Array:
    """Return the row-major positions in an output of the elements that a mask picks at `cut` of the part at `where`.

    Both are made of integers and slices.
    """
    start, steps = 0, _packed(sizes)
    for index in (where, cut):
        start, sizes, steps = _at(start, sizes, steps, index if isinstance(index, tuple) else (index,))
    is_whole = is_all(mask)
    if is_whole and steps == _packed(sizes):
        return _counted(start, start + mask.size)
    if sizes and not is_whole and 8 * np.count_nonzero(mask) < mask.size:
        numbers = np.unravel_index(np.flatnonzero(mask), sizes)
        return start + sum((own * step for own, step in zip(numbers, steps, strict=True)), np.zeros(1, np.int64))
    along = (np.arange(size) * step for size, step in zip(sizes, steps, strict=True))
    every: Array = reduce(np.add.outer, along, np.asarray(start)).reshape(-1)
    return every if is_whole else every[np.flatnonzero(mask)]


def _packed(sizes: Sequence[int]) -> list[int]:
    """Return the steps between the elements of a packed array along its axes."""
    return [math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))]


def _at(start: int, sizes: Sequence[int], steps: list[int], index: tuple[Any, ...]) -> tuple[int, Any, list[int]]:
    """Return where the part of an array at an index begins, with the sizes of the part and its steps."""
    kept = []
    along: Any = zip_longest(index, sizes, steps, fillvalue=slice(None))
    for at, size, step in along:
        if isinstance(at, slice):
            part = range(size)[at]
            start += part.start * step
            kept.append((len(part), part.step * step))
        else:
            start += range(size)[at] * step
    return start, [size for size, _ in kept], [step for _, step in kept]
