"""Wrong outputs that known deviations of DirectML explain: by the values of inputs and of the right outputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np

from dmlcheck.comparison.compare import JudgedOutputs, allowed, compare, same
from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.descs.strides import is_packed, packed_strides
from dmlcheck.reference import engine
from dmlcheck.reference.arrays.data_types import beginning, limited
from dmlcheck.reference.arrays.places import last_dimensions, with_ones_after, within_all
from dmlcheck.reference.ball.numbers import Array
from dmlcheck.reference.bindings import attributes_of
from dmlcheck.reference.bindings import row as row_of
from dmlcheck.reference.bounds import bounds
from dmlcheck.reference.functions.interpolation import clamped, neighbours
from dmlcheck.reference.functions.nested import NONE
from dmlcheck.reference.kernels.regions.samples import (
    Sampling,
    bounded,
    places_of_samples,
    readings,
    rounding_of,
    sample_counts,
)
from dmlcheck.reference.results import PartlyUndefined, separated, ways_of, with_measured
from dmlcheck.specs.records import Deviation
from dmlcheck.validation.conditions import of_values

# ---- results as DirectML computes them where it departs from the formula

BLOCK, BLOCKS = 8, (8, 4, 1)  # elements of a block along the last axes, and along the axis before those

# of axes, the one that changes fastest at the end; in four dimensions an axis of the first two goes into the last two
ORDERS_OF_BYTES = {(1, 0), (0, 2, 1), (1, 2, 0), (0, 2, 1, 3), (0, 2, 3, 1), (1, 2, 0, 3), (1, 2, 3, 0)}

_ZERO, _ONE = np.float32(0), np.float32(1)  # with numbers of Python, NumPy 1.26 makes FLOAT64 of FLOAT32
AlongAxis = Callable[[Array, int, Array, Any, bool, int], Array]


def low_as_signed(x: Any) -> Any:
    """Return 64-bit integers in whose order the lower halves of these count as signed numbers."""
    return np.bitwise_xor(x, 2**31)


def lower(x: Array, like: Array, scales: Any, input_offsets: Any, output_offsets: Any) -> Array:
    """Return the elements at floor(x), in the sizes of another array."""
    fields = scales, input_offsets, output_offsets
    return _resampled(_lower, x, like, fields, range(x.ndim), _stay(like, *fields), [1] * x.ndim)


def extended(
    x: Array,
    like: Array,
    scales: Any,
    input_offsets: Any,
    output_offsets: Any,
    strides: Any = None,
    staying: Any = None,
) -> Array:
    """Return the places on lines through two elements, in the sizes of another array with strides.

    The axes come as they lie in memory, the one that changes fastest at the end. Along some axes the elements are
    `staying`: by default where there is one before and after, or the scale is 1 and the offsets cancel, but if all
    axes are so, the first is not.
    """
    fields, lines = (scales, input_offsets, output_offsets), _lines(like.shape, strides)
    is_alone = (np.array(x.shape) == 1) & (np.array(like.shape) == 1)
    stay = _stay(like, *fields) | is_alone if staying is None else np.array(staying)
    if staying is None and stay.all():
        stay[lines[0]] = False
    return _resampled(_extended, x.astype(np.float32), like, fields, lines, stay, _blocks(like.shape, lines))


def _lines(sizes: tuple[int, ...], strides: tuple[int, ...] | None) -> list[int]:
    """Return the axes as they lie in memory; those of size 1 come last unless the rest is packed."""
    steps = packed_strides(sizes)
    if strides is not None and not is_packed(sizes, strides):
        steps = tuple(stride if size > 1 else 0 for size, stride in zip(sizes, strides, strict=True))
    return _order(steps)


def layout_of_bytes(source: TensorDesc, output: TensorDesc) -> tuple[int, ...]:
    """Return strides of an output of 8-bit integers that lie in memory in the order in which its axes are resampled.

    It is that of the source's strides, else that of the output's, if one of the orders that DirectML knows, else that
    of the dimensions. Axes of one element do not count.
    """
    every = range(len(output.sizes))
    lines = [*every]
    for tensor in (source, output):
        wide = [axis for axis in every if tensor.sizes[axis] > 1]
        strides = tensor.strides or packed_strides(tensor.sizes)
        order = _order([strides[axis] for axis in wide])
        if len(wide) > 1 and order == sorted(order):
            break
        if tuple(order) in ORDERS_OF_BYTES:
            lines = [axis for axis in every if axis not in wide] + [wide[at] for at in order]
            break
    steps = packed_strides(tuple(output.sizes[axis] for axis in lines))
    return tuple(step for _, step in sorted(zip(lines, steps, strict=True)))


def _order(strides: Sequence[int]) -> list[int]:
    """Return axes as they lie in memory, the one that changes fastest at the end."""
    return sorted(range(len(strides)), key=lambda axis: -strides[axis])


def _stay(like: Array, scales: Any, input_offsets: Any, output_offsets: Any) -> Array:
    stays = (np.asarray(scales) == 1) & (np.float32(input_offsets) + np.float32(output_offsets) == 0)
    return np.broadcast_to(stays, like.ndim).copy()


def _blocks(sizes: Sequence[int], lines: Sequence[int]) -> list[int]:
    """Return the elements of a block along each axis; `lines` are the axes as they lie in memory.

    The neighbours of a place are the elements that an InputPixelOffset limited to [0, 1] gives. Along one axis that is
    so only for the first element of each block: the others are on the line through the neighbours of its place. It is
    the last axis of one block, or of two or more, after which the sizes make up a BLOCK, or else the first one.
    """
    blocks = [next(own for own in BLOCKS if size == own or size >= 2 * own) for size in sizes]
    after = (math.prod(sizes[other] for other in lines[place + 1 :]) for place in range(len(lines)))
    wide = [axis for axis, behind in zip(lines, after, strict=True) if blocks[axis] > 1 and behind >= BLOCK]
    return [own if axis == (wide or lines[:1])[-1] else 1 for axis, own in enumerate(blocks)]


def _resampled(
    along: AlongAxis, x: Array, like: Array, fields: Any, order: Sequence[int], stay: Array, blocks: Sequence[int]
) -> Array:
    """Return an array resampled along one axis after the other; offsets are numbers, or one for each axis."""
    each = [np.broadcast_to(np.asarray(own, np.float32), x.ndim) for own in fields]
    for axis in order:
        scale, before, after = (own[axis] for own in each)
        scaled = (np.arange(like.shape[axis], dtype=np.float32) - after) * (_ONE / scale)
        x = along(x, axis, scaled, before, bool(stay[axis]), blocks[axis])
    return x


def _lower(x: Array, axis: int, scaled: Array, offset: Any, is_still: bool, _: int) -> Array:  # noqa: FBT001
    at = np.arange(scaled.size) if is_still else np.floor(scaled - offset)
    return np.take(x, clamped(at, x.shape[axis]), axis)


def _extended(x: Array, axis: int, scaled: Array, offset: Any, is_still: bool, block: int) -> Array:  # noqa: FBT001
    is_first = np.arange(scaled.size) % block == 0
    at = np.floor(scaled - np.where(is_first, np.clip(offset, _ZERO, _ONE), offset))
    low, high = (np.take(x, clamped(index, x.shape[axis]), axis) for index in (at, at + 1))
    part = with_ones_after(np.where(is_first, scaled - at - offset, scaled - offset - at), x.ndim - axis - 1)
    found: Array = low if is_still else low + (high - low) * part
    return found


# ---- regions


def cropped(x: Array, regions: Array, images: Array, like: Array, outside: Any, *fields: Any) -> Array:
    """Return the crops of regions in FLOAT32, with averages as low + (high - low) * part along height, then width.

    The sum of samples begins with 0, the largest sample with the least number; NaN is left out of it. The fields are
    those of `Sampling`, in order.
    """
    sampling, each = Sampling(*fields), zip(images.reshape(-1).tolist(), regions.reshape(-1, 4), strict=True)
    return np.stack([_crop(x[number], corners, like, sampling, outside) for number, corners in each])


def _crop(image: Array, corners: Array, like: Array, sampling: Sampling, outside: Any) -> Array:
    sizes, plane = like.shape[2:], image.shape[1:]
    (own,) = sample_counts(corners[None], sizes, sampling)
    if own is None:
        return np.full((len(image), *sizes), np.nan)
    at = places_of_samples(corners, [range(size) for size in sizes], sizes, own.counts, sampling)
    samples = image.astype(np.float32)
    for axis, x in ((1, at[0]), (2, at[1])):
        samples = _sampled_along(samples, axis, x.astype(np.float32), rounding_of(sampling))
    inside = bounded(PartlyUndefined(samples, where=False), at, plane, readings(at, plane, sampling)[0], outside)
    (rows, columns), numbers = own.counts, separated(inside)[0].astype(np.float32)
    each = numbers.reshape(len(image), sizes[0], rows, sizes[1], columns).swapaxes(2, 3)
    every = each.reshape(len(image), *sizes, rows * columns)
    if sampling.reduction_function == "MAX":
        return np.asarray(np.fmax.reduce(every, axis=-1, initial=beginning(like.dtype.name.upper())))
    found: Array = np.cumsum(every, axis=-1)[..., -1] / np.float32(rows * columns)
    return found


def _sampled_along(x: Array, axis: int, places: Array, rounding: Any) -> Array:
    if rounding is not None:
        return np.take(x, clamped(rounding(places), x.shape[axis]), axis)
    near = neighbours(places, x.shape[axis])[0]
    low, high = (np.take(x, index, axis) for index in (near.low, near.high))
    found: Array = low + (high - low) * with_ones_after(near.part, 2 - axis)
    return found


# ---- scattering


def scattered(x: Array, indices: Array, updates: Array, axis: int) -> Array:
    """Return a tensor with updates along an axis; an index outside it is counted on into the other lines."""
    grid = np.ogrid[tuple(map(slice, indices.shape))]
    return _replaced(x, (*grid[:axis], indices, *grid[axis + 1 :]), updates)


def scattered_nd(x: Array, indices: Array, updates: Array, x_count: int, indices_count: int) -> Array:
    """Return a tensor with updates at tuples of indices; those outside are counted on, all dimensions together."""
    tuples = last_dimensions(indices, indices_count)
    slices = np.ogrid[tuple(map(slice, x.shape[x.ndim - x_count + tuples.shape[-1] :]))]
    at = [with_ones_after(one, len(slices)) for one in np.moveaxis(tuples, -1, 0)]
    return _replaced(x, (*[0] * (x.ndim - x_count), *at, *slices), updates)


def _replaced(x: Array, indices: Sequence[Any], updates: Array) -> Array:
    """Return a tensor with updates at indices of all its dimensions, where their place is inside it."""
    place, is_inside = within_all(indices, x.shape)
    found = x.copy()
    found.flat[place[is_inside]] = updates.reshape(place.shape)[is_inside]
    return found


# ---- attention


def opened(mask: Array) -> Array:
    """Return a mask of lengths, or of ends and starts, that hides nothing in a batch where it would leave no key."""
    ends, starts = _ends_and_starts(mask)
    is_empty = ends <= starts
    widest = [np.iinfo(np.int32).max, 0][: mask.shape[-2]]
    return np.where(is_empty, np.reshape(widest, (-1, 1)), mask)


def of_visible(position: Array, mask: Array) -> Array:
    """Return biases of positions, 0 for the keys that a mask of lengths, or of ends and starts, hides."""
    ends, starts = (each.reshape(-1, 1, 1, 1) for each in _ends_and_starts(opened(mask)))
    keys = np.arange(position.shape[-1])
    return np.where((keys >= ends) | (keys < starts), np.zeros((), position.dtype), position)


def _ends_and_starts(mask: Array) -> tuple[Array, Array]:
    """Return the rows of a mask: ends, and starts, which are 0 where it has lengths."""
    ends = mask[..., :1, :]
    return ends, mask[..., 1:, :] if mask.shape[-2] > 1 else np.zeros_like(ends)


# ---- wrong outputs that known deviations explain


_NEAR = 2.0**-6  # of what DirectML is known to give, computed in FLOAT32 as it is written, or of its distance
_SHARE = 0.25  # of the distance between that and the right result
_NAMES = ("abs", "cumsum", "exp", "floor", "isfinite", "isinf", "isnan", "log", "sign", "sqrt", "where")
FUNCTIONS: dict[str, Any] = {
    **{name: getattr(np, name) for name in _NAMES},
    "all": np.all,
    "any": np.any,
    "max": np.max,
    "min": np.min,
    "prod": np.prod,
    "mean": partial(np.mean, keepdims=True),
    "sum": partial(np.sum, keepdims=True),
    "float16": np.float16,
    "float32": np.float32,
    "int32": np.int32,
    "inf": np.inf,
    "nan": np.nan,
    "tuple": tuple,
    "cropped": cropped,
    "extended": extended,
    "layout_of_bytes": layout_of_bytes,
    "limited": limited,
    "low_as_signed": low_as_signed,
    "lower": lower,
    "of_visible": of_visible,
    "opened": opened,
    "scattered": scattered,
    "scattered_nd": scattered_nd,
}
ACTUAL, EXPECTED, FINITE, LOWEST = "actual", "expected", "finite", "lowest"
MAY_OVERFLOW, OF_INFINITY = "may_overflow", "of_infinity"
OUTPUT, ROUNDED, SCALED, SOURCE = "output", "rounded", "x", "source"
NAMES = frozenset((ACTUAL, EXPECTED, FINITE, LOWEST, MAY_OVERFLOW, OF_INFINITY, OUTPUT, ROUNDED, SCALED, SOURCE))


def explaining(judged: JudgedOutputs, rows: Iterable[Deviation]) -> tuple[Deviation, ...]:
    """Return the deviations that explain every element outside the tolerance, if their values say so.

    There are none if an element remains, or the elements were not marked: a large output has no mask.
    """
    rows = tuple(rows)
    used = [False] * len(rows)
    off = {name: found for name, found in judged.compared.items() if found.result.mismatches}
    with np.errstate(all="ignore"):
        for name, found in off.items():
            left = found.refused
            if left is None or found.result.shape is not None:
                return ()
            for number, row in enumerate(rows):
                taken = left & _explained(row, judged, name)
                used[number] |= bool(taken.any())
                left = left & ~taken
            if left.any():
                return ()
    return tuple(row for row, is_used in zip(rows, used, strict=True) if is_used)


def _explained(row: Deviation, judged: JudgedOutputs, name: str) -> Array:
    actual = judged.actual[name]
    names = _named(judged, name)
    marked = _value(row.values, names, actual.shape)
    if marked is None:
        return np.zeros(actual.shape, bool)
    marked = marked.astype(bool)
    if not row.is_given or not marked.any():
        return marked
    if row.as_if is not None:
        return marked & _are_right(row.as_if, names, judged, name)
    given = _value(row.gives, names, actual.shape)
    if given is None:
        return np.zeros(actual.shape, bool)
    is_own = judged.limit.precision.is_directml or bool(row.of)
    return marked & _are_near(actual, given, names[EXPECTED], is_own=is_own)


def _are_right(as_if: Mapping[str, str], names: Mapping[str, Any], judged: JudgedOutputs, name: str) -> Array | bool:
    """Return which elements are right for other inputs or attributes, or near without a limit; none if it has none."""
    inputs, desc = {**judged.inputs}, judged.desc
    for field, expression in as_if.items():
        given = inputs.get(field)
        other = _value(expression, names, None if given is None else given.shape)
        if other is None or (given is None and not _has(desc, field)):
            return False
        if given is None:
            desc = _with(desc, field, other.tolist())
        else:
            inputs[field] = other if given.dtype.kind == "f" else other.astype(given.dtype)
    made = engine.evaluate(desc, inputs)[name]
    right = {name: (judged.expected[name][0], made.values)}
    bounds_of = partial(bounds, desc, inputs, precision=judged.limit.precision, with_measured=True)
    found = compare(right, {name: judged.actual[name]}, judged.limit, bounds_of)[name]
    is_limited = np.isfinite(allowed(right, judged.limit, bounds_of)[name])
    is_known = True if made.unknown is None else ~made.unknown
    is_right = is_limited | _are_near(judged.actual[name], made.values)
    return is_right & is_known & (True if found.refused is None else ~found.refused)


def _has(desc: OperatorDesc, path: str) -> bool:
    """Whether a desc has an attribute, or a fused activation one of its own (`FusedActivation.Steepness`)."""
    name, _, inner = path.partition(".")
    own = desc.get(name)
    return own is not None and (not inner or _has(own, inner))


def _with(desc: OperatorDesc, path: str, value: Any) -> OperatorDesc:
    """Return a desc with another value of an attribute that it has."""
    name, _, inner = path.partition(".")
    return desc._replace(values={**desc.values, name: _with(desc.values[name], inner, value) if inner else value})


def _value(expression: str | None, names: Mapping[str, Any], shape: tuple[int, ...] | None) -> Array | None:
    """Return the value of an expression for every element of a shape; None if it speaks of other tensors or shapes."""
    if expression is None:
        return None
    function, free = of_values(expression, FUNCTIONS)
    if any(names.get(each) is None for each in free):
        return None
    try:
        found = np.asarray(function(*(names[each] for each in free)))
        return found if shape is None else np.broadcast_to(_with_dimensions(found, len(shape)), shape)
    except (IndexError, TypeError, ValueError):
        return None


def _with_dimensions(x: Array, most: int) -> Array:
    """Return an array without the leading dimensions of size 1 that are more than `most` dimensions."""
    more = max(x.ndim - most, 0)
    return x if any(size != 1 for size in x.shape[:more]) else x.reshape(x.shape[more:])


def _named(judged: JudgedOutputs, name: str) -> dict[str, Any]:
    """Return the values of names: FLOAT16 is widened, `x` is the first input with its ScaleBias, `source` its desc.

    `rounded` rounds to the type of the output, `lowest` is its lowest finite number, and `output` its name; `actual`
    are the implementation's values, and `finite` says whether all inputs are. `may_overflow` returns a mask of what
    follows from a number that is beyond the type on the way, of finite inputs, and `of_infinity` one of what
    FusedActivation makes of infinity or NaN.
    """
    bound = [*judged.desc.inputs_with(judged.inputs)]
    given = {part.label: _wide(array) for part, array in bound}
    first = next(iter(given.values()), None)
    scaling = judged.desc.values.get("ScaleBias")
    expected = judged.expected[name][1]
    return {
        **{field: _plain(value) for field, value in judged.desc.values.items()},
        **given,
        SCALED: first if scaling is None or first is None else first * scaling[0] + np.float32(scaling[1]),
        SOURCE: next((part.tensor for part, _ in bound), None),
        ACTUAL: _wide(judged.actual[name]),
        EXPECTED: _wide(expected),
        FINITE: np.bool_(all(np.isfinite(array).all() for array in given.values())),
        OUTPUT: name,
        LOWEST: (np.finfo if expected.dtype.kind == "f" else np.iinfo)(expected.dtype).min,
        ROUNDED: lambda values: values.astype(expected.dtype),
        MAY_OVERFLOW: partial(_may_overflow, judged, name),
        OF_INFINITY: partial(_is_of_infinity, judged, name),
    }


def _may_overflow(judged: JudgedOutputs, name: str) -> Array:
    """Return a mask of the wrong elements that nothing bounds, since numbers on the way may be beyond the type.

    Infinity and NaN among the inputs count as 1: what follows from them alone is no overflow.
    """
    refused = judged.compared[name].refused
    inputs = {field: _tame(given) for field, given in judged.inputs.items()}
    found = np.zeros(judged.expected[name][1].shape, bool)
    asked = {} if refused is None else {name: refused}
    for _, at, bound in bounds(
        judged.desc, inputs, asked, judged.limit.precision, with_measured=True, with_overflows=True
    ):
        marks = (way.unlimited for way in (bound, *bound.others) if way.unlimited is not None)
        found.reshape(-1)[at] = reduce(np.logical_or, marks, np.zeros(at.shape, bool))
    return found


def _tame(given: Any) -> Any:
    """Return an input, or a list of inputs, with 1 in place of infinity and NaN."""
    if isinstance(given, list | tuple):
        return [_tame(each) for each in given]
    is_number = given is None or given.dtype.kind != "f"
    return given if is_number else np.where(np.isfinite(given), given, given.dtype.type(1))


def _is_of_infinity(judged: JudgedOutputs, name: str) -> Array:
    """Return a mask of the elements that are what FusedActivation makes of infinity, -infinity or NaN."""
    actual = judged.actual[name]
    activation = attributes_of(row_of(judged.desc.spec.operator), judged.desc, None).get("fused_activation", NONE)
    value = ways_of(with_measured(activation.formula(np.array([np.inf, -np.inf, np.nan])))[0])[0]
    return np.isin(actual, np.asarray(value).astype(actual.dtype))


def _plain(value: Any) -> Any:
    return np.float32(value) if isinstance(value, float) else value


def _wide(array: Any) -> Any:
    return array.astype(np.float32) if getattr(array, "dtype", None) == np.float16 else array


def _are_near(actual: Array, given: Array, right: Array | None = None, *, is_own: bool = True) -> Array:
    """Return which elements are what DirectML gives: equal, or near it; integers that are cut off may be 1 off.

    An error is small compared with what is given, or with its distance from the `right` value. Unless DirectML
    `is_own`, it is also much smaller than that distance: a small error is the implementation's own.
    """
    kept = _held(given, actual.dtype)
    found, wanted = actual.astype(np.float64), kept.astype(np.float64)
    distance = 0.0 if right is None else np.abs(wanted - right.astype(np.float64))
    off, size = np.abs(found - wanted), np.maximum(np.abs(wanted), np.where(np.isfinite(distance), distance, 0.0))
    is_cut = actual.dtype.kind in "iu" and given.dtype.kind == "f"
    is_near: Array = np.isfinite(wanted) & (off <= np.maximum(_NEAR * size, float(is_cut)))
    if not is_own:
        is_near = is_near & (off <= _SHARE * distance)
    return is_near | same(actual, kept)


def _held(given: Array, dtype: Any) -> Array:
    """Return numbers in a data type; integers are cut off toward 0, and to the ends of the type."""
    if dtype.kind not in "iu" or given.dtype.kind != "f":
        return given.astype(dtype)
    ends = np.iinfo(dtype)
    found: Array = np.trunc(np.clip(np.nan_to_num(given), ends.min, ends.max)).astype(dtype)
    return found
