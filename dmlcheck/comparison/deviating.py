"""Wrong outputs that known deviations of DirectML explain: by the values of inputs and of the right outputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial, reduce
from typing import Any

import numpy as np

from dmlcheck.comparison import departures
from dmlcheck.comparison.compare import JudgedOutputs, allowed, compare, same
from dmlcheck.reference import engine
from dmlcheck.reference.arrays.data_types import limited
from dmlcheck.reference.bindings import attributes_of
from dmlcheck.reference.bindings import row as row_of
from dmlcheck.reference.bounds import bounds
from dmlcheck.reference.engine import Array
from dmlcheck.reference.functions.nested import NONE
from dmlcheck.reference.results import ways_of, with_measured
from dmlcheck.specs.records import Deviation
from dmlcheck.validation.conditions import of_values

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
    "cropped": departures.cropped,
    "extended": departures.extended,
    "limited": limited,
    "low_as_signed": departures.low_as_signed,
    "lower": departures.lower,
    "of_visible": departures.of_visible,
    "opened": departures.opened,
    "scattered": departures.scattered,
    "scattered_nd": departures.scattered_nd,
}
ACTUAL, EXPECTED, FINITE, LOWEST = "actual", "expected", "finite", "lowest"
MAY_OVERFLOW, OF_INFINITY = "may_overflow", "of_infinity"
OUTPUT, ROUNDED, SCALED = "output", "rounded", "x"
NAMES = frozenset((ACTUAL, EXPECTED, FINITE, LOWEST, MAY_OVERFLOW, OF_INFINITY, OUTPUT, ROUNDED, SCALED))


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
    """Return the elements of an output that a deviation explains."""
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
    """Return which elements are right for other inputs, or near without a limit; none if the desc lacks such inputs."""
    changed = {}
    for field, expression in as_if.items():
        given = judged.inputs.get(field)
        other = None if given is None else _value(expression, names, given.shape)
        if given is None or other is None:
            return False
        changed[field] = other if given.dtype.kind == "f" else other.astype(given.dtype)
    inputs = {**judged.inputs, **changed}
    made = engine.evaluate(judged.desc, inputs)[name]
    right = {name: (judged.expected[name][0], made.values)}
    bounds_of = partial(bounds, judged.desc, inputs, precision=judged.limit.precision, with_measured=True)
    found = compare(right, {name: judged.actual[name]}, judged.limit, bounds_of)[name]
    is_limited = np.isfinite(allowed(right, judged.limit, bounds_of)[name])
    is_known = True if made.unknown is None else ~made.unknown
    is_right = is_limited | _are_near(judged.actual[name], made.values)
    return is_right & is_known & (True if found.refused is None else ~found.refused)


def _value(expression: str | None, names: Mapping[str, Any], shape: tuple[int, ...]) -> Array | None:
    """Return the value of an expression for every element; None if it speaks of other tensors or shapes."""
    if expression is None:
        return None
    function, free = of_values(expression, FUNCTIONS)
    if any(names.get(each) is None for each in free):
        return None
    try:
        return np.broadcast_to(np.asarray(function(*(names[each] for each in free))), shape)
    except (IndexError, TypeError, ValueError):
        return None


def _named(judged: JudgedOutputs, name: str) -> dict[str, Any]:
    """Return the values of names: FLOAT16 is widened, `x` is the first input with its ScaleBias.

    `rounded` rounds to the type of the output, `lowest` is its lowest finite number, and `output` its name; `actual`
    are the implementation's values, and `finite` says whether all inputs are. `may_overflow` returns a mask of what
    follows from infinity, NaN, or a number that is beyond the type on the way, and `of_infinity` one of what
    FusedActivation makes of infinity or NaN.
    """
    given = {part.label: _wide(array) for part, array in judged.desc.inputs_with(judged.inputs)}
    first = next(iter(given.values()), None)
    scaling = judged.desc.values.get("ScaleBias")
    expected = judged.expected[name][1]
    return {
        **{field: _plain(value) for field, value in judged.desc.values.items()},
        **given,
        SCALED: first if scaling is None or first is None else first * scaling[0] + np.float32(scaling[1]),
        ACTUAL: _wide(judged.actual[name]),
        EXPECTED: expected,
        FINITE: np.bool_(all(np.isfinite(array).all() for array in given.values())),
        OUTPUT: name,
        LOWEST: (np.finfo if expected.dtype.kind == "f" else np.iinfo)(expected.dtype).min,
        ROUNDED: lambda values: values.astype(expected.dtype),
        MAY_OVERFLOW: partial(_may_overflow, judged, name),
        OF_INFINITY: partial(_is_of_infinity, judged, name),
    }


def _may_overflow(judged: JudgedOutputs, name: str) -> Array:
    """Return a mask of the wrong elements that nothing bounds, since numbers on the way may be beyond the type."""
    refused = judged.compared[name].refused
    found = np.zeros(judged.expected[name][1].shape, bool)
    asked = {} if refused is None else {name: refused}
    for _, at, bound in bounds(
        judged.desc, judged.inputs, asked, judged.limit.precision, with_measured=True, with_overflows=True
    ):
        marks = (way.unlimited for way in (bound, *bound.others) if way.unlimited is not None)
        found.reshape(-1)[at] = reduce(np.logical_or, marks, np.zeros(at.shape, bool))
    return found


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
