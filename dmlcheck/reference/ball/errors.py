"""Errors of an implementation's operations: their own rounding, and the errors that they carry from their operands.

All functions are on plain float64 arrays; an error of None is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, reduce
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmlcheck.reference.ball.roundings import Rounding
from dmlcheck.specs.records import PARTS, TERMS
from dmlcheck.values.number_formats import FORMATS, two_sum

Array = NDArray[Any]
Errors = Sequence["Array | None"]


class Arithmetic(NamedTuple):
    """The arithmetic that an implementation may use: its type, with the unit roundoff and the smallest normal number.

    A sum of n terms rounds up to n times. `is_likely` counts these roundings as independent of each other (six standard
    deviations of a random walk) instead of all at their worst. A denormal number may be flushed to 0. `attributes` is
    the type that FLOAT fields may be rounded to, `factors` the type that factors of sums of products may be rounded to:
    FLOAT32, TF32 or BFLOAT16. With a `unit`, the values of factors are rounded so, to the nearest number or cut.
    `has_short_sums` is for likely errors of sums that are added in lanes or pairs, not one by one. `has_one_cause` says
    that the errors of the operands are correlated, so that in a sum they add up. Sums are `computed_in` FLOAT32 where
    only their results are rounded to the type, and so are functions unless the arithmetic `has_narrow_functions`. A sum
    is then `stored` before the next operation, and may overflow there, or `parts` of it are, of unknown `terms`, or "".
    Where values are `named`, they alone are in FLOAT16. `errors` has how far functions may be from the right results,
    by their names, where an implementation is known to be less accurate than the formula. An arithmetic that `is_exact`
    rounds nothing. With `has_overflows`, nothing bounds what follows from infinity, NaN, or a number that is beyond the
    type on the way.
    """

    data_type: str = "FLOAT32"
    attributes: str = "FLOAT32"
    unit_roundoff: float = 2.0**-24
    smallest: float = 2.0**-126
    is_likely: bool = False
    factors: str = "FLOAT32"
    unit: str = ""
    has_short_sums: bool = False
    has_one_cause: bool = False
    computed_in: str = ""
    stored: str = ""
    has_narrow_functions: bool = False
    is_exact: bool = False
    has_overflows: bool = False
    errors: tuple[tuple[str, float], ...] = ()

    @property
    def function_type(self) -> str:
        """The type in which functions are computed."""
        return self.data_type if self.has_narrow_functions else self.computed_in or self.data_type

    @property
    def function_unit(self) -> float:
        """The unit in the last place of the numbers from 1 to 2 in which functions are computed."""
        is_wide = self.computed_in and not self.has_narrow_functions
        return 2 * (FORMATS[self.computed_in].unit_roundoff if is_wide else self.unit_roundoff)

    def stored_error(self, size: Any) -> Any:
        """Return the error of rounding results that were computed in another type; None for 0."""
        return self.unit_roundoff * size if self.computed_in else None


_TYPES: dict[str, Any] = {"FLOAT16": np.float16, "FLOAT32": np.float32}  # FLOAT64 has no roundings that float64 shows


def plus(first: Any, second: Any) -> Any:
    """Add two errors."""
    return second if first is None else first if second is None else first + second


def unbounded(size: Any, error: Any, arithmetic: Arithmetic) -> Any:
    """Return the errors of numbers; with `has_overflows`, infinite for those whose sizes may be beyond the type."""
    if not arithmetic.has_overflows:
        return error
    is_held = plus(size, error) <= FORMATS[arithmetic.data_type].largest
    return np.where(is_held, 0.0 if error is None else error, np.inf)


def also_unbounded(error: Any, operands: Errors, arithmetic: Arithmetic) -> Any:
    """Return the errors of a function; with `has_overflows`, infinite where an operand's error is, as NaN stays NaN."""
    if not arithmetic.has_overflows:
        return error
    for own in operands:
        error = error if own is None else np.where(np.isfinite(own), 0.0 if error is None else error, np.inf)
    return error


# ---- errors of the terms of a sum


def to_add(error: Any, arithmetic: Arithmetic) -> Any:
    """Return the part of a sum's error from the error of a term, before `added`: an independent error's square."""
    return error if arithmetic.has_one_cause else error * error


def added(parts: Any, arithmetic: Arithmetic) -> Any:
    """Return the error of a sum from the sum of the parts of its terms."""
    return parts if arithmetic.has_one_cause else np.sqrt(parts)


# ---- roundings


def of_a_constant(x: Any, arithmetic: Arithmetic) -> tuple[Array, Array | None]:
    """Return an array as float64, and the error of rounding it to the type of the arithmetic, or None."""
    value = np.asarray(x)
    wide = value.astype(np.float64, copy=False)
    dtype = _TYPES.get(arithmetic.data_type)
    is_held = value.dtype.kind == "b" or (value.dtype.kind == "f" and value.dtype.itemsize <= np.dtype(dtype).itemsize)
    if is_held or dtype is None:
        return wide, None
    if value.ndim == 0:
        return wide, _of_a_number(float(value), dtype, arithmetic.unit_roundoff)
    error = np.where(np.isfinite(wide), _distance(wide, np.abs(wide), arithmetic), 0.0)
    return wide, error if error.any() else None


@lru_cache(maxsize=1024)
def _of_a_number(number: float, dtype: Any, unit_roundoff: float) -> Array | None:
    with np.errstate(all="ignore"):
        distance = abs(number - float(dtype(number)))
    return np.asarray(min(distance, unit_roundoff * abs(number))) if distance > 0 else None


def _distance(value: Any, size: Any, arithmetic: Arithmetic) -> Array:
    """Return the distance to the nearest number of the type; beyond its largest number, u times the value.

    Where results are stored in another type than they are computed in, that may cut them off toward 0.
    """
    most = arithmetic.unit_roundoff * size
    dtype = _TYPES.get(arithmetic.data_type)
    if dtype is None:
        return np.asarray(most)
    near = np.asarray(value).astype(dtype)
    if arithmetic.computed_in:
        near = np.where(np.abs(near) > np.abs(value), np.nextafter(near, dtype(0)), near)
    return np.asarray(np.fmin(np.abs(value - near), most))


def correctly_rounded(value: Any, size: Any, moved: Any, arithmetic: Arithmetic) -> Array:
    """Return the errors of results that are rounded once, and moved by the errors of the operands.

    For exact operands it is the distance to the nearest number of the type.
    """
    if moved is None:
        return _distance(value, size, arithmetic)
    error = size + moved
    error *= arithmetic.unit_roundoff
    error += moved
    return error if least(moved) > 0 else np.where(moved == 0, _distance(value, size, arithmetic), error)


def lost(ufunc: np.ufunc, a: Array, b: Array) -> Array:
    """Return the error of a sum or difference in float64 itself, so that it does not count as exact."""
    _, rest = two_sum(a, -b if ufunc is np.subtract else b)
    return np.asarray(np.abs(rest))


def of_a_quotient(b: Array, size: Any, value: Any, errors: Errors, row: Rounding, arithmetic: Arithmetic) -> Any:
    """Return the error of a / b, for which an implementation may multiply by the reciprocal of b.

    The reciprocal of a power of two is exact, and a denormal one may be flushed.
    """
    s, t = errors if len(errors) > 1 else (None, errors[0])
    divisor = np.abs(b)
    moved: Any = None
    if s is not None or t is not None:
        room = divisor if t is None else divisor - t
        moved = plus(s, None if t is None else size * t) / room
        moved = moved if t is None else np.where(room > 0, moved, np.inf)
    reach = plus(size, moved)
    error = plus(plus(row.ulp * arithmetic.function_unit * reach, arithmetic.stored_error(reach)), moved)
    is_power = np.asarray(b).view(np.int64) & _MANTISSA == 0
    if is_power.any():
        is_power = is_power if t is None else is_power & (t == 0)
        exact = _distance(value, size, arithmetic)
        error = np.where(is_power, exact if moved is None else np.where(moved == 0, exact, moved), error)
    beyond = 1 / arithmetic.smallest
    if not largest(divisor) <= beyond:
        error = np.where(divisor > beyond, np.maximum(error, size), error)
    return error


_MANTISSA = np.int64((1 << 52) - 1)


def flushed(size: Any, error: Any, arithmetic: Arithmetic) -> Any:
    """Return the errors of results; where these, or an implementation's, may be denormal, they reach 0."""
    if least(size) >= arithmetic.smallest / arithmetic.unit_roundoff:
        return error
    is_flushed = (size > error) & (size < error + arithmetic.smallest)
    return np.where(is_flushed, size, error) if is_flushed.any() else error


def least(numbers: Any) -> Any:
    """Return the least number; infinity for an empty array."""
    return np.minimum.reduce(numbers, axis=None, initial=np.inf)


def largest(numbers: Any) -> Any:
    """Return the largest number, or NaN if there is one; 0 for an empty array."""
    return np.maximum.reduce(numbers, axis=None, initial=0.0)


def has_small(numbers: Array, smallest: float) -> bool:
    """Whether some floats are smaller than a size, but not 0; no array of all sizes is made."""
    flat = numbers.reshape(-1) if numbers.flags.c_contiguous else numbers.ravel(order="K")
    return any(_has_small(np.abs(flat[at : at + _RUN]), smallest) for at in range(0, flat.size, _RUN))


def _has_small(sizes: Array, smallest: float) -> bool:
    return not least(sizes) >= smallest and bool(((sizes < smallest) & (sizes > 0)).any())


_RUN = 1 << 15  # elements that stay in the cache


# ---- functions of elements


def of_a_row(
    row: Rounding, function: Callable[..., Any], name: str, values: list[Array], errors: Errors, result: Array,
    arithmetic: Arithmetic,
) -> Any:  # fmt: skip
    """Return the error of a function by its row in ROUNDINGS, and the carried errors of the operands."""
    unit = arithmetic.function_unit
    if row.operand:
        reach = np.where(np.isfinite(values[0]), plus(np.abs(values[0]), errors[0]), 0.0)
        errors = [plus(errors[0], row.operand * unit * reach), *errors[1:]]
    moved = carried(function, name, values, errors, result)
    own = row.ulp * unit * plus(np.abs(result), moved)
    own = np.maximum(own, row.absolute) if row.absolute else own
    own = np.minimum(own, row.at_most) if row.at_most < np.inf else own
    return plus(plus(own, arithmetic.stored_error(plus(np.abs(result), moved))), moved)


def carried(function: Callable[..., Any], name: str, values: list[Array], errors: Errors, result: Array) -> Any:
    """Return how far the errors of the operands move a result; None for exact operands."""
    if all(error is None for error in errors):
        return None
    if name in ("sin", "cos"):
        return np.fmin(np.abs(result) + 1, np.asarray(errors[0]))
    if name in _WORST:
        return np.abs(function(_WORST[name](values[0], errors[0])) - result)
    return reduce(np.maximum, (np.abs(function(*corner) - result) for corner in corners(name, values, errors)))


def corners(name: str, values: list[Array], errors: Errors) -> Iterator[tuple[Array, ...]]:
    """Yield all combinations of the ends of the operands' balls."""
    ends = [(x,) if error is None else (x - error, x + error) for x, error in zip(values, errors, strict=True)]
    if name == "sqrt" or (name == "power" and errors[0] is not None):
        # The errors of a number in the domain do not take it out of the domain.
        is_below = True if name == "sqrt" else np.rint(values[1]) != values[1]
        ends[0] = np.where(is_below, np.maximum(ends[0][0], np.minimum(values[0], 0)), ends[0][0]), ends[0][-1]
    return product(*ends)


def is_certain(function: Callable[..., Any], values: list[Array], errors: Errors, result: Array) -> Array:
    """Return a mask of the results that are the same at all ends of the operands' balls."""
    found = np.ones(result.shape, dtype=bool)
    for corner in corners("", values, errors):
        other = function(*corner)
        found &= (other == result) | (np.isnan(other) & np.isnan(result))
    return found


# functions that an implementation does not round
EXACT = frozenset(["ceil", "copysign", "floor", "heaviside", "rint", "sign", "trunc"])

# the end of an operand's ball at which a function changes most: the steeper side
_WORST: dict[str, Callable[..., Array]] = {
    **dict.fromkeys(("exp", "exp2", "expm1", "ln_1_exp"), np.add),
    **dict.fromkeys(("log", "log2", "log1p", "arccosh"), np.subtract),
    **dict.fromkeys(("sinh", "cosh", "arcsin", "arccos", "arctanh"), lambda x, error: x + np.copysign(error, x)),
    **dict.fromkeys(("tanh", "arctan", "arcsinh", "erf", "erfc"), lambda x, error: x - np.copysign(error, x)),
}


def _unbounded(at: Any) -> Array:
    return np.where(at, np.inf, 0.0)


# the least error, for operands x and y with errors s and t: infinite near a pole, or where a result may be undefined
POLES: dict[str, Callable[..., Any]] = {
    "tan": lambda x, s: _unbounded(np.rint((x - s) / np.pi) != np.rint((x + s) / np.pi)),
    # From pi to -pi; if atan2 is made of atan and a test of y >= 0, it does not see the sign of a zero.
    "arctan2": lambda y, x, t, s: (
        _unbounded((np.abs(x) <= s) & (np.abs(y) <= t) & (s + t > 0))
        + np.where((x - s < 0) & (np.abs(y) <= t) & ((t > 0) | np.signbit(y)), 6.3, 0.0)
    ),
    "arccosh": lambda x, s: _unbounded((x >= 1) & (x - s < 1)),
    # A base below 0 has no power unless the exponent is whole; nothing bounds an exponent that only may be whole.
    "power": lambda x, y, s, t: _unbounded(
        (np.abs(x) <= s) & (y - t < 0) & (s > 0) | (x < s) & (t > 0) & (np.floor(y + t) >= np.ceil(y - t))
    ),
}


def where_powers_overflow(x: Array, error: Any, result: Array, arithmetic: Arithmetic) -> Array:
    """Return the errors of cosh and sinh: their results may be infinite if exp(|x|) overflows."""
    largest = FORMATS[arithmetic.data_type].largest
    room = largest * (1 + 2 * arithmetic.unit_roundoff) - np.abs(result)
    return np.where(plus(np.abs(x), error) > np.log(largest), np.maximum(room, 0.0), 0.0)


# The largest absolute value of an operand for which a function is a number.
LARGEST_OPERANDS = {"arcsin": 1.0, "arccos": 1.0}


def crosses(largest: float, x: Array, error: Any) -> Array:
    """Return a mask of the operands whose balls have numbers in the domain from -largest to largest, and beyond it."""
    found: Array = (np.abs(x) - error <= largest) & (np.abs(x) + error > largest)
    return found


HALF_POWERS = frozenset(["cosh", "sinh"])  # functions that are half a power where this is large


# ---- sums


def summing_error(
    count: Any, sums: Any, absolute: Any, squares: Any, arithmetic: Arithmetic, walked: Any = 0.0, absorbed: Any = 0.0,
    alike: Any = 0.0, parts: Any = None,
) -> Any:  # fmt: skip
    """Return the largest error of a sum with `count` additions in any order, or its likely error.

    The largest error is n * u * sum|terms| for n terms, without terms of higher order (Jeannerod and Rump, 2013). In
    the likely error the rounding of each partial sum has a standard deviation of u / sqrt(3) times that sum. In a
    random order the squares of the partial sums are at most about the square of the whole sum plus the squares of the
    terms; in the order of the terms their sum is `walked`. Roundings are not independent for equal terms, where `alike`
    is the chance that two terms are equal, and for terms that are too small for the partial sums, whose sum is
    `absorbed`. Where parts of a sum are stored, the sizes of these add up to `parts`, by default to `absolute`.
    """
    if arithmetic.computed_in:
        wider = arithmetic._replace(unit_roundoff=FORMATS[arithmetic.computed_in].unit_roundoff, computed_in="")
        own = summing_error(count, sums, absolute, squares, wider, walked, absorbed, alike)
        is_any_part = arithmetic.stored == TERMS or parts is None
        return own + _stored(sums, absolute if is_any_part else parts, arithmetic)
    error = (count + (np.asarray(count) > 0)) * arithmetic.unit_roundoff * absolute
    if arithmetic.is_likely:
        chance, is_spread = alike, _is_spread(count + 1, sums, squares, arithmetic)
        if not arithmetic.has_short_sums and not is_spread:
            chance = np.maximum(alike, _near(count + 1, sums, squares, arithmetic))
        steps = (count * (sums * sums + squares) + walked) * (1 + count * chance)
        likely = 6 / np.sqrt(3) * arithmetic.unit_roundoff * np.sqrt(steps) + np.abs(absorbed)
        likely = np.fmin(error, likely)
        error = likely if is_spread else np.where(is_even(count + 1, sums, squares), error, likely)
    enough = arithmetic.smallest / arithmetic.unit_roundoff
    if not least(absolute) >= enough:  # so that sums on the way may be flushed
        is_tiny = absolute < enough
        error = np.where(is_tiny, error + np.minimum(count * arithmetic.smallest, absolute), error)
    return unbounded(absolute, error, arithmetic)


def _stored(sums: Any, parts: Any, arithmetic: Arithmetic) -> Any:
    """Return the error of storing sums in the type of the arithmetic, or parts of them; infinite if one overflows."""
    size = parts if arithmetic.stored in (PARTS, TERMS) else np.abs(sums)
    return plus(arithmetic.unit_roundoff * size, beyond(size, arithmetic))


def beyond(size: Any, arithmetic: Arithmetic) -> Any:
    """Return the error of storing sums that may overflow there: infinite for those that do; None for 0."""
    if not arithmetic.stored or np.all(size <= FORMATS[arithmetic.data_type].largest):
        return None
    return np.where(size > FORMATS[arithmetic.data_type].largest, np.inf, 0.0)


def _is_spread(count: Any, sums: Any, squares: Any, arithmetic: Arithmetic) -> bool:
    """Whether the terms of all sums differ so much that `_near` and `is_even` apply to none of them.

    If the variance of the terms is at least (sum / n)^2, and n * u < 0.1, the power in `_near` is below -900.
    """
    if np.ndim(count) or count * arithmetic.unit_roundoff >= _FEW_ROUNDINGS:
        return False
    room = least(squares)
    return bool(room > arithmetic.smallest and count * room >= 2 * largest(np.abs(sums)) ** 2)


_FEW_ROUNDINGS = 0.1


def _near(count: Any, sums: Any, squares: Any, arithmetic: Arithmetic) -> Array:
    """Return the chance that two terms are rounded alike, since they differ by less than a ULP of the sum."""
    unit = 2 * arithmetic.unit_roundoff * np.abs(sums)
    variance = np.maximum(squares / count - np.square(sums / count), 0.0)
    found: Array = np.exp(-np.square(2 * np.pi / np.maximum(unit, arithmetic.smallest)) * variance)
    return found


def is_even(count: Any, sums: Any, squares: Any) -> Any:
    """Return a mask of the sums whose terms are all equal, from their count, sum and sum of squares."""
    return np.abs(count * squares - sums * sums) <= _EVEN * sums * sums


_EVEN = 1e-9  # n times the sum of squares equals the square of the sum if all terms are equal


def alike(value: Array, axis: Any = None) -> Any:
    """Return the chance that two terms of a sum along some axes are equal and not 0, from a sample of the terms.

    Equal terms are rounded alike as long as the partial sums keep their exponent.
    """
    if axis is None:
        rows = value.flat[:: max(1, value.size // _SAMPLE)]
    else:
        rows = _rows(value, axis)
        rows = rows[..., :: max(1, rows.shape[-1] // _SAMPLE)]
    rows = np.sort(rows, axis=-1)
    size = rows.shape[-1]
    if size < _SMALL_SAMPLE:
        return 0.0
    place = np.arange(size)
    is_new = np.ones(rows.shape, dtype=bool)
    is_new[..., 1:] = rows[..., 1:] != rows[..., :-1]
    before = place - np.maximum.accumulate(np.where(is_new, place, 0), axis=-1)  # terms before each that equal it
    return np.where(rows != 0, before, 0).sum(axis=-1) / (size * (size - 1) / 2)


_SAMPLE = 256  # terms of a sum
_SMALL_SAMPLE = 8


def _rows(value: Array, axis: Any) -> Array:
    """Return an array with the reduced axes as its last axis, and size 1 in their places."""
    axes = [*range(value.ndim)] if axis is None else [one % value.ndim for one in np.atleast_1d(axis)]
    others = [other for other in range(value.ndim) if other not in axes]
    kept = [1 if other in axes else size for other, size in enumerate(value.shape)]
    return value.transpose(*others, *axes).reshape(*kept, -1)


def on_the_way(value: Array, axis: Any, start: Any, unit_roundoff: float) -> tuple[Array, Array]:
    """Return the sum of the squares of the partial sums, and the sum of the terms that are too small for them."""
    terms = _rows(value, axis)
    steps = np.cumsum(terms, axis=-1) + np.expand_dims(start, -1)
    absorbed = np.where(np.abs(terms) < unit_roundoff * np.abs(steps), terms, 0.0)
    return np.asarray((steps * steps).sum(axis=-1)), np.asarray(absorbed.sum(axis=-1))
