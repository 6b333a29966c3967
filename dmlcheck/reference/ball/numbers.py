"""Balls: numbers with a radius within which an implementation's numbers are.

A formula runs on float64 arrays for its value, and on balls for how far an implementation may be from it: each
operation adds the rounding that an implementation makes in it, and carries the radii of its operands through to its
result. Where an operation jumps within the radius of its operand, the ball reaches the other side of the jump and no
further. An infinite radius says that nothing bounds the result, as beside a pole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial, reduce
from itertools import chain
from itertools import product as combinations
from typing import Any

import numpy as np

from dmlcheck.reference import factors
from dmlcheck.reference.ball import errors as of
from dmlcheck.reference.ball.errors import Arithmetic, Array, Errors, plus, summing_error
from dmlcheck.reference.ball.roundings import rounding
from dmlcheck.reference.ball.sums_of_products import Products

__all__ = [
    "Arithmetic",
    "Array",
    "Ball",
    "Condition",
    "centred",
    "claim",
    "elementary",
    "hull",
    "plus_start",
    "product",
    "product_of_parts",
    "radius",
    "raw",
    "sum_of_products",
    "summing_error",
    "total",
    "total_of_parts",
    "total_of_shared",
    "unmoved",
    "where",
    "with_twin",
]

_FLOAT32 = Arithmetic()


# ---- conditions


class Condition(np.lib.mixins.NDArrayOperatorsMixin):
    """Whether a comparison of balls holds, and where their errors leave that in doubt.

    In arithmetic it is 1 or 0, as a ball.
    """

    def __init__(self, holds: Any, doubt: Any = False) -> None:  # noqa: FBT002 - an array, or False for all of it
        """Take two arrays of booleans."""
        self.holds = np.asarray(holds)
        self.doubt = np.asarray(doubt)

    shape = property(lambda self: self.holds.shape)
    ndim = property(lambda self: self.holds.ndim)
    size = property(lambda self: self.holds.size)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if _has_others(map(type, inputs)):
            return NotImplemented
        logic = _LOGIC.get(ufunc)
        if logic is None:
            numbers = [x.number() if isinstance(x, Condition) else x for x in inputs]
            return getattr(ufunc, method)(*numbers, **options)
        if method == "reduce":
            return _bounded(partial(logic.reduce, **options), *inputs)
        return _bounded(logic, *inputs) if method == "__call__" and not options else NotImplemented

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return _dispatched(function, types, args, kwargs)

    def __bool__(self) -> bool:
        return bool(self.holds)

    def __getitem__(self, at: Any) -> Condition:
        return self.moved(lambda x: x[at])

    def moved(self, change: Callable[[Array], Array]) -> Condition:
        """Return the conditions that a function of arrays, which only moves them, picks or repeats."""
        return Condition(change(self.holds), change(np.broadcast_to(self.doubt, self.holds.shape)))

    def number(self) -> Ball:
        """Return 1 where it holds and 0 elsewhere."""
        return Ball(self.holds.astype(np.float64), np.broadcast_to(self.doubt, self.holds.shape).astype(np.float64))

    def any(self, axis: Any = None, *, keepdims: bool = False) -> Condition:
        """Whether one of the conditions holds."""
        return _bounded(partial(np.logical_or.reduce, axis=axis, keepdims=keepdims), self)

    def all(self, axis: Any = None, *, keepdims: bool = False) -> Condition:
        """Whether all conditions hold."""
        return _bounded(partial(np.logical_and.reduce, axis=axis, keepdims=keepdims), self)

    def astype(self, dtype: Any) -> Any:
        """Return 1 where it holds and 0 elsewhere: of the type where nothing is in doubt, else a ball."""
        return self.number() if self.doubt.any() else self.holds.astype(dtype)


def _bounded(logic: Callable[..., Any], *inputs: Any) -> Condition:
    """Return a logical function of claims: in doubt where what may hold and what surely does make a difference."""
    claims = [claim(x) for x in inputs]
    holds = logic(*(x.holds for x in claims))
    if not any(x.doubt.any() for x in claims):
        return Condition(holds)
    sides = combinations(*((x.holds & ~x.doubt, x.holds | x.doubt) for x in claims))
    return Condition(holds, reduce(np.logical_or, (logic(*side) != holds for side in sides)))


def claim(x: Any) -> Condition:
    """Return a condition as a claim, certain unless it is one already; numbers hold where they are not 0."""
    if isinstance(x, Ball):
        return _compared(np.not_equal, x, 0)
    return x if isinstance(x, Condition) else Condition(np.asarray(x, dtype=bool))


_LOGIC: dict[np.ufunc, np.ufunc] = {
    np.logical_and: np.logical_and,
    np.logical_or: np.logical_or,
    np.logical_xor: np.logical_xor,
    np.logical_not: np.logical_not,
    np.bitwise_and: np.logical_and,
    np.bitwise_or: np.logical_or,
    np.bitwise_xor: np.logical_xor,
    np.invert: np.logical_not,
}


# ---- numbers


class Ball(np.lib.mixins.NDArrayOperatorsMixin):
    """An array of numbers, and for each the radius within which an implementation's may be.

    `error` has the radii, None where all are exact; `radius` has them as an array in any case. `terms` is the
    length of the longest sum on the way, for reports. Of results, `unlimited` may mark those whose bound has all that
    the operator can return; what is computed of them has no such marks. Where the arithmetic `has_twins`, `twin` is the
    same array with its likely errors; None where it is exact, or was computed by what does not know of twins.
    """

    __slots__ = ("_operand", "arithmetic", "error", "terms", "twin", "unlimited", "value")
    __array_priority__ = 100

    def __init__(self, value: Any, radius: Any = 0.0, arithmetic: Arithmetic = _FLOAT32, terms: int = 0) -> None:
        """Take the values and their errors, which are broadcast to the values' shape."""
        self.value: Array = np.asarray(value)
        self.error = (
            None if radius is None or (type(radius) is float and radius == 0) else np.asarray(radius, np.float64)
        )
        self.arithmetic = arithmetic
        self.terms = terms
        self.unlimited: Array | None = None
        self.twin: Ball | None = None
        self._operand: tuple[Array, Array | None] | None = None

    shape = property(lambda self: self.value.shape)
    ndim = property(lambda self: self.value.ndim)
    size = property(lambda self: self.value.size)
    dtype = property(lambda self: self.value.dtype)
    T = property(lambda self: self.moved(np.transpose))

    @property
    def radius(self) -> Array:
        """The errors, 0 for numbers that are exact."""
        return np.broadcast_to(0.0 if self.error is None else self.error, self.value.shape)

    def operand(self) -> tuple[Array, Array | None]:
        """Return the values as float64, and their errors in an operation, or None.

        The operation may round FLOAT32 elements to the type that it is in, and flush denormals.
        """
        if self._operand is None:
            is_wide = self.value.dtype == np.float64
            wide, error = (self.value, None) if is_wide else of.of_a_constant(self.value, self.arithmetic)
            if self.error is not None and self.error.any():
                error = plus(error, self.radius)
            size = np.abs(wide)
            is_small = (size < self.arithmetic.smallest) & (size > 0)
            if is_small.any():
                error = np.where(is_small, np.maximum(plus(0.0, error), size), plus(0.0, error))
            self._operand = wide, error
        return self._operand

    def exact_twin(self) -> Ball:
        """Return the same numbers, which are exact, in the arithmetic of likely errors."""
        found = Ball(self.value, None, self.arithmetic._replace(is_likely=True, has_twins=False), self.terms)
        found._operand = self.operand()
        return found

    @classmethod
    def result(cls, value: Any, error: Any, arithmetic: Arithmetic, terms: int) -> Ball:
        """Return the result of an operation, whose error has in it what flushing may add."""
        made = cls(value, error, arithmetic, terms)
        made._operand = made.value, made.error
        return made

    def moved(self, change: Callable[[Array], Array]) -> Ball:
        """Return the elements that a function of arrays, which only moves them, picks or repeats."""
        error = None if self.error is None else change(self.radius)
        found = Ball(change(self.value), error, self.arithmetic, self.terms)
        if self.twin is not None and self.error is not None:
            value = found.value if self.twin.value is self.value else change(self.twin.value)
            likely = None if self.twin.error is None else change(self.twin.radius)
            found.twin = Ball(value, likely, self.twin.arithmetic, self.twin.terms)
        return found

    def __getitem__(self, at: Any) -> Ball:
        index = tuple(map(_index, at)) if isinstance(at, tuple) else _index(at)
        return self.moved(lambda x: x[index])

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Iterator[Ball]:
        return (self[row] for row in range(len(self)))

    def __bool__(self) -> bool:
        raise TypeError("a ball is no condition: use np.where")

    def __array__(self, *_: Any, **__: Any) -> Array:
        raise TypeError("an array would lose the radii: use raw")

    def reshape(self, *sizes: Any) -> Ball:
        """Return the elements in another shape."""
        return self.moved(lambda x: x.reshape(*sizes))

    def transpose(self, *order: Any) -> Ball:
        """Return the elements with their axes in another order."""
        return self.moved(lambda x: x.transpose(*order))

    def swapaxes(self, first: int, second: int) -> Ball:
        """Return the elements with two axes exchanged."""
        return self.moved(lambda x: x.swapaxes(first, second))

    def astype(self, dtype: Any, **_: Any) -> Ball:
        """Return the numbers, as float64 alone."""
        if np.dtype(dtype) != np.float64:
            raise TypeError("balls are not rounded: an implementation rounds them as it likes")
        return self

    def sum(self, axis: Any = None, *, keepdims: bool = False) -> Ball:
        """Return sums, each with n roundings."""
        return total_of_parts([self], axis, keepdims=keepdims)

    def mean(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """Return means: sums divided by the number of their terms."""
        sums = self.sum(axis, keepdims=keepdims)
        return sums / (self.size / sums.size)

    def max(self, axis: Any = None, *, keepdims: bool = False) -> Ball:
        """Return the largest elements."""
        return _extreme(np.maximum, self, axis, keepdims=keepdims)

    def min(self, axis: Any = None, *, keepdims: bool = False) -> Ball:
        """Return the smallest elements."""
        return _extreme(np.minimum, self, axis, keepdims=keepdims)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__":
            way = _WAYS.get((ufunc, method))
            return NotImplemented if way is None else way(*inputs, **options)
        if options or _has_others(map(type, inputs)):
            return NotImplemented
        if ufunc in _LOGIC:
            return ufunc(*map(claim, inputs))
        rule = partial(_RULES[ufunc], ufunc) if ufunc in _RULES else partial(elementary, ufunc, ufunc.__name__)
        return with_twin(rule(*inputs), inputs, rule)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return _dispatched(function, types, args, kwargs)


def twin(x: Any) -> Any:
    """Return a number with its likely errors, anything exact as it is; None where the likely errors are not known."""
    if isinstance(x, Condition):
        return None if x.doubt.any() else x
    if not isinstance(x, Ball):
        return x
    if x.twin is None and x.error is None:
        x.twin = x.exact_twin()
    return x.twin


def with_twin(found: Any, inputs: Iterable[Any], rule: Callable[..., Any]) -> Any:
    """Return a result with its twin, which the same rule gives for the twins of the operands."""
    if isinstance(found, Ball) and found.arithmetic.has_twins and found.error is not None and found.twin is None:
        twins = [twin(x) for x in inputs]
        if all(x is not None for x in twins):
            found.twin = rule(*twins)
    return found


def _index(at: Any) -> Any:
    return at.holds if isinstance(at, Condition) else at


def _has_others(types: Iterable[type]) -> bool:
    """Say whether there are arrays among these that hold balls, and do to them what is done to the arrays."""
    return any(issubclass(kind, np.lib.mixins.NDArrayOperatorsMixin) and kind not in _OURS for kind in types)


_OURS = (Ball, Condition)


def raw(x: Any) -> Array:
    """Return the values of balls, anything else as an array; 16- and 32-bit floats as float64."""
    if isinstance(x, Ball) and x.value.dtype.kind == "f":
        return x.operand()[0]
    value = np.asarray(x.value if isinstance(x, Ball) else x.holds if isinstance(x, Condition) else x)
    return value.astype(np.float64, copy=False) if value.dtype.kind == "f" else value


def unmoved(x: Ball) -> Ball:
    """Return numbers without their errors, but not as exact ones: what is computed of them is rounded."""
    return Ball.result(raw(x), np.full(x.shape, _LEAST), x.arithmetic, x.terms)


def centred(x: Ball, value: Any) -> Ball:
    """Return a ball around other numbers, with its own radius."""
    return Ball(raw(value), x.radius, x.arithmetic, x.terms)


def radius(x: Any) -> Array:
    """Return the errors of balls; none of anything else."""
    if isinstance(x, Condition):
        return x.number().radius
    return x.radius if isinstance(x, Ball) else np.zeros(np.shape(x))


# ---- operations on elements


def elementary(function: Callable[..., Any], name: str, *inputs: Any) -> Any:
    """Return an elementary function of balls, whose own error is the row of that name in ROUNDINGS.

    The errors of the operands are carried by the function itself: it must have its extremes, over the numbers that an
    operand may be, at their ends. Of plain arrays it is the function.
    """
    if not any(isinstance(x, Ball) for x in inputs):
        return function(*inputs)
    arithmetic, terms, values, errors = _operands(inputs)
    result = np.asarray(function(*values))
    if result.dtype == bool:
        return result
    row = None if name in of.EXACT else rounding(name, arithmetic.data_type, is_likely=arithmetic.is_likely)
    if row is None:
        error = of.carried(function, name, values, errors, result)
    elif row.formula is None:
        error = of.of_a_row(row, function, name, values, errors, result, arithmetic)
    else:
        error = plus(
            _of_a_formula(row.formula, name, values, errors, result.shape, arithmetic),
            of.carried(function, name, values, errors, result),
        )
    if name in of.POLES:
        error = np.maximum(error, of.POLES[name](*values, *(np.zeros(()) if own is None else own for own in errors)))
    if name in of.HALF_POWERS:
        error = np.maximum(error, of.where_powers_overflow(values[0], errors[0], result, arithmetic))
    found = _with_error(result, error, arithmetic, terms, partial(of.is_certain, function, values, errors))
    return with_twin(found, inputs, partial(elementary, function, name))


def _of_a_formula(
    formula: Callable[..., Ball],
    name: str,
    values: list[Array],
    errors: Errors,
    shape: tuple[int, ...],
    arithmetic: Arithmetic,
) -> Any:
    """Return the own error of a function that is computed by a formula: the most over what the operands may be."""
    if all(error is None for error in errors):
        return formula(*(Ball.result(x, None, arithmetic, 0) for x in values)).radius
    corners = ([np.broadcast_to(x, shape) for x in corner] for corner in of.corners(name, values, errors))
    ends = (np.stack(operand) for operand in zip(*corners, strict=True))
    return formula(*(Ball.result(x, np.full(x.shape, _LEAST), arithmetic, 0) for x in ends)).radius.max(axis=0)


_LEAST = 5e-324  # an error that only says that a number is not exact


def _operands(inputs: Iterable[Any]) -> tuple[Arithmetic, int, list[Array], list[Array | None]]:
    """Return the arithmetic that computes with some numbers, their terms, their values, and their errors or None."""
    inputs = [x.number() if isinstance(x, Condition) else x for x in inputs]
    balls = [x for x in inputs if isinstance(x, Ball)]
    arithmetic, terms = balls[0].arithmetic, balls[0].terms
    for x in balls[1:]:
        terms = max(terms, x.terms)
        if x.arithmetic.unit_roundoff > arithmetic.unit_roundoff:
            arithmetic = x.arithmetic
    pairs = [x.operand() if isinstance(x, Ball) else of.of_a_constant(x, arithmetic) for x in inputs]
    return arithmetic, terms, [value for value, _ in pairs], [error for _, error in pairs]


def _with_error(
    value: Any, error: Any, arithmetic: Arithmetic, terms: int, is_certain: Callable[[Array], Any], size: Any = None
) -> Ball:
    """Return a result with its error, which reaches 0 where the result may be flushed; 0 for infinities and NaN.

    Of these that holds where `is_certain` says that they are the same whatever the errors of the operands.
    """
    if error is not None:
        error = np.asarray(error if np.shape(error) == np.shape(value) else error + np.zeros(np.shape(value)))
        error = of.flushed(np.abs(value) if size is None else size, error, arithmetic)
        if not of.largest(error) < np.inf:
            is_finite = np.isfinite(value)
            error = np.where(is_finite, np.where(np.isnan(error), np.inf, error), 0.0)
            if not is_finite.all():
                error = np.where(is_finite | is_certain(np.asarray(value)), error, np.inf)
    return Ball.result(value, error, arithmetic, terms)


def _sum_of_two(ufunc: np.ufunc, x: Any, y: Any) -> Ball:
    arithmetic, terms, values, errors = _operands((x, y))
    value = ufunc(*values)
    size, moved = np.abs(value), plus(*errors)
    error = of.correctly_rounded(value, size, moved, arithmetic)
    if moved is None or not of.least(moved) > 0:
        error = np.fmax(error, np.fmin(error + of.lost(ufunc, *values), arithmetic.unit_roundoff * size))
    return _with_error(value, error, arithmetic, terms, partial(of.is_certain, ufunc, values, errors), size)


def _product_of_two(ufunc: np.ufunc, x: Any, y: Any) -> Ball:
    arithmetic, terms, values, errors = _operands((x, y))
    (a, b), (s, t) = values, errors
    value = ufunc(a, b)
    size = np.abs(value)
    moved = None if s is None else s * np.abs(b)
    if t is not None:
        moved = plus(moved, t * plus(np.abs(a), s))
    error = of.correctly_rounded(value, size, moved, arithmetic)
    return _with_error(value, error, arithmetic, terms, partial(of.is_certain, ufunc, values, errors), size)


def _quotient(ufunc: np.ufunc, *operands: Any) -> Ball:
    """Return a quotient, or a reciprocal."""
    arithmetic, terms, values, errors = _operands(operands)
    value = ufunc(*values)
    size, row = np.abs(value), rounding(ufunc.__name__, arithmetic.data_type)
    error = of.of_a_quotient(values[-1], size, value, errors, row, arithmetic)
    return _with_error(value, error, arithmetic, terms, partial(of.is_certain, ufunc, values, errors), size)


def _growing(ufunc: np.ufunc, *operands: Any) -> Ball:
    """Return a function that no operand's growing makes smaller, and that rounds nothing."""
    arithmetic, terms, values, errors = _operands(operands)
    value = ufunc(*values)
    if all(error is None for error in errors):
        return Ball.result(value, None, arithmetic, terms)
    ends = (
        ufunc(*(x if error is None else change(x, error) for x, error in zip(values, errors, strict=True)))
        for change in (np.subtract, np.add)
    )
    low, high = ends
    error = np.maximum(np.abs(low - value), np.abs(high - value))
    if ufunc in _JUMPS:
        middle, reach = _middle(low, high)
        value, error = np.where(np.isfinite(reach), middle, value), np.where(np.isfinite(reach), reach, error)
    return _with_error(value, error, arithmetic, terms, partial(of.is_certain, ufunc, values, errors))


_JUMPS = {np.ceil, np.floor, np.rint, np.sign, np.trunc}  # the value is the middle of those on both sides of a jump


def _of_the_same_size(ufunc: np.ufunc, x: Ball) -> Ball:
    return Ball(ufunc(raw(x)), x.error, x.arithmetic, x.terms)


def _compared(ufunc: np.ufunc, x: Any, y: Any) -> Condition:
    _, _, (a, b), errors = _operands((x, y))
    margin = plus(*errors)
    return Condition(ufunc(a, b), False if margin is None else (np.abs(a - b) <= margin) & (margin > 0))


def _sign_bit(ufunc: np.ufunc, x: Ball) -> Condition:
    value, error = x.operand()
    return Condition(ufunc(value), False if error is None else (np.abs(value) <= error) & (error > 0))


def _remainder(ufunc: np.ufunc, x: Any, y: Any) -> Ball:
    """Return the remainder that an implementation computes as the formula of its row says."""
    arithmetic = x.arithmetic if isinstance(x, Ball) else y.arithmetic
    formula: Any = rounding(ufunc.__name__, arithmetic.data_type).formula
    found, exact = formula(x, y), ufunc(raw(x), raw(y))
    middle, reach = _middle(
        np.minimum(found.value - found.radius, exact), np.maximum(found.value + found.radius, exact)
    )
    is_bounded = np.isfinite(reach)
    value, error = np.where(is_bounded, middle, exact), np.where(is_bounded, reach, found.radius)
    return Ball(value, error, found.arithmetic, found.terms)


_RULES: dict[np.ufunc, Callable[..., Any]] = {
    **dict.fromkeys((np.fmod, np.remainder), _remainder),
    np.multiply: _product_of_two,
    np.square: lambda _, x: _product_of_two(np.multiply, x, x),
    np.matmul: lambda _, a, b: product(a, b),
    np.signbit: _sign_bit,
    **dict.fromkeys((np.add, np.subtract), _sum_of_two),
    **dict.fromkeys((np.divide, np.reciprocal), _quotient),
    **dict.fromkeys(
        (np.maximum, np.minimum, np.fmax, np.fmin, np.floor, np.ceil, np.rint, np.trunc, np.sign), _growing
    ),
    **dict.fromkeys((np.negative, np.positive, np.absolute, np.fabs), _of_the_same_size),
    **dict.fromkeys((np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal), _compared),
    **dict.fromkeys((np.isnan, np.isinf, np.isfinite), lambda ufunc, x: ufunc(x.value)),
}


def hull(*ways: Callable[[], Any], is_first_likely: bool = False) -> Any:
    """Return what the first of several ways to compute a result gives, within a ball that has the results of all.

    The other ways are only taken where there is a radius. Of likely errors only those of the first way count where that
    `is_first_likely`.
    """
    first = ways[0]()
    if not isinstance(first, Ball) or (is_first_likely and first.arithmetic.is_likely):
        return first
    others = [way() for way in ways[1:]]
    return with_twin(_around(first, *others), (first, *others), _first if is_first_likely else _around)


def _first(first: Ball, *_: Any) -> Ball:
    return first


def _around(first: Ball, *others: Any) -> Ball:
    return reduce(_both, others, first)


def _both(x: Ball, y: Any) -> Ball:
    """Return a number whose ball has all that each of two may be; x where nothing bounds these."""
    other, own = raw(y), radius(y)
    middle, reach = _middle(np.fmin(raw(x) - x.radius, other - own), np.fmax(raw(x) + x.radius, other + own))
    is_bounded = np.isfinite(reach)
    value, error = np.where(is_bounded, middle, raw(x)), np.where(is_bounded, reach, np.fmax(x.radius, own))
    return Ball(value, error, x.arithmetic, max(x.terms, getattr(y, "terms", 0)))


# ---- sums and products of many


def total(x: Any, axis: Any = None, *, keepdims: bool = False, **_: Any) -> Any:
    """Return sums of balls: n roundings at most, and the errors of the terms in quadrature."""
    if isinstance(x, Ball):
        return total_of_parts([x], axis, keepdims=keepdims)
    return np.sum(x, axis=axis, keepdims=keepdims)


def total_of_parts(parts: Iterable[Ball], axis: Any, *, keepdims: bool) -> Ball:
    """Return sums of balls that come in several parts."""
    sums: Any = 0.0
    absolute: Any = 0.0
    likely: tuple[Any, ...] = (0.0, 0.0, 0.0)
    alike: Any = 0.0
    carried: Any = None
    count = terms = 0
    for x in parts:
        arithmetic, (value, error) = x.arithmetic, x.operand()
        if arithmetic.is_likely:
            way = of.on_the_way(value, axis, sums, arithmetic.unit_roundoff)
            likely = tuple(map(np.add, likely, (_added(value * value, axis), *way)))
            alike = np.maximum(alike, of.alike(value, axis))
        part = _added(value, axis)
        sums, absolute = sums + part, absolute + _added(plus(np.abs(value), error), axis)
        carried = carried if error is None else plus(carried, _added(error * error, axis))
        count, terms = count + value.size // max(1, part.size), max(terms, x.terms)
    error = summing_error(count - 1, sums, absolute, likely[0], arithmetic, likely[1], likely[2], alike)
    error = error if carried is None else error + np.sqrt(carried)
    terms = max(terms, count) if count > 1 else terms
    found = _with_error(sums, error, arithmetic, terms, partial(_is_bounded, carried))
    return found if keepdims else found.moved(lambda values: np.squeeze(values, axis=axis))


def plus_start(sums: Any, start: Any) -> Any:
    """Return sums + start, whose bound also has what is lost where the sum begins with `start` as its first term.

    Then every addition rounds it as well; terms that are too small beside it may be lost one by one.
    """
    if not isinstance(sums, Ball) or sums.terms < 2:
        return sums + start
    return with_twin(_started(sums, start), (sums, start), _started)


def _started(sums: Ball, start: Any) -> Ball:
    found = _sum_of_two(np.add, sums, start)
    arithmetic, count, size = sums.arithmetic, sums.terms, np.abs(raw(start)) + radius(start)
    most = count * arithmetic.unit_roundoff * size
    if arithmetic.is_likely:
        total = np.abs(raw(sums))
        absorbed = np.where(total < count * arithmetic.unit_roundoff * size, total, 0.0)
        most = np.fmin(most, 6 / np.sqrt(3) * np.sqrt(count) * arithmetic.unit_roundoff * size + absorbed)
    error = found.radius + np.where(np.isfinite(found.value) & np.isfinite(most), most, 0.0)
    return Ball(found.value, error, found.arithmetic, max(found.terms, count + 1))


def total_of_shared(x: Ball, add: Callable[[Array], Array], count: int) -> Ball:
    """Return sums of `count` balls each, which `add` gives of an array; many of them share their terms.

    An implementation adds up each by itself. What its sums on the way may be is not looked at one by one: for likely
    errors they count as large as the sum of the terms' sizes.
    """
    arithmetic, (value, error) = x.arithmetic, x.operand()
    size, sums = np.abs(value), add(value)
    absolute = add(np.broadcast_to(plus(size, error), value.shape))
    likely: tuple[Any, ...] = (0.0,)
    if arithmetic.is_likely:
        is_small = size < arithmetic.unit_roundoff * of.largest(absolute)
        small = add(np.where(is_small, size, 0.0))
        likely = add(value * value), float(count) * absolute * absolute, small, of.alike(value)
    own = summing_error(float(count - 1), sums, absolute, likely[0], arithmetic, *likely[1:])
    carried = None if error is None else add(np.broadcast_to(error * error, value.shape))
    moved = own if carried is None else own + np.sqrt(carried)
    return _with_error(sums, moved, arithmetic, max(x.terms, count), partial(_is_bounded, carried))


def _added(x: Array, axis: Any) -> Array:
    return np.asarray(x.sum(axis=axis, keepdims=True))


def _is_bounded(carried: Any, value: Array) -> Any:
    """Say of which sums the errors of the terms are bounded."""
    return np.isfinite(np.broadcast_to(0.0 if carried is None else carried, value.shape))


def product(a: Any, b: Any) -> Any:
    """Return the matrix product of balls; the products of its factors are exact or fused into the sum."""
    return product_of_parts([(a, b)])


def product_of_parts(pairs: Iterable[tuple[Any, Any]]) -> Any:
    """Return the matrix product of two factors, whose columns and rows come in several parts."""
    return sum_of_products((np.matmul, a, b) for a, b in pairs)


def sum_of_products(products: Iterable[tuple[np.ufunc, Any, Any]]) -> Any:
    """Return one sum of products, each np.matmul or np.multiply with two factors; all terms are added in any order."""
    products = iter(products)
    function, a, b = next(products)
    if isinstance(a, Ball) or isinstance(b, Ball):
        return _bilinear(chain([(function, a, b)], products))
    return reduce(np.add, (each(x, y) for each, x, y in products), np.asarray(function(a, b)))


def _einsum(subscripts: str, a: Any, b: Any) -> Ball:
    count = np.einsum(subscripts, np.ones(a.shape), np.ones(b.shape)).max()
    return _bilinear([(partial(np.einsum, subscripts), a, b)], int(count))


def _bilinear(products: Iterable[tuple[Callable[..., Any], Any, Any]], of_each: int | None = None) -> Ball:
    """Return sums of products of elements of two factors: `of_each` a part, or one, or as many as a has columns."""
    sums, likely = _SumsOfProducts(of_each), _SumsOfProducts(of_each)
    has_twin = True
    for function, a, b in products:
        arithmetic, terms, values, errors = _operands((a, b))
        of_these = sums.add(Products(function, *values), errors, arithmetic, terms)
        twins = [twin(x) for x in (a, b)] if has_twin and arithmetic.has_twins else [None]
        has_twin = all(x is not None for x in twins)
        if has_twin:
            arithmetic, terms, values, errors = _operands(twins)
            likely.add(of_these.of(*values), errors, arithmetic, terms)
    found = sums.total()
    found.twin = likely.total() if has_twin else None
    return found


class _SumsOfProducts:
    """Sums of products that come in parts, and their errors."""

    def __init__(self, of_each: int | None) -> None:
        self.of_each = of_each
        self.value: Any = None
        self.absolute: Any = None
        self.squares: Any = 0.0
        self.carried: Any = None
        self.rounded: factors.Moved | None = None
        self.alike = 0.0
        self.count = self.terms = 0
        self.arithmetic = _FLOAT32

    def add(self, part: Products, errors: Errors, arithmetic: Arithmetic, terms: int) -> Products:
        """Add a part, whose factors have these errors; a matrix unit may have rounded the factors of matrices."""
        function, (s, t) = part.function, errors
        is_rounded = arithmetic.factors in factors.BITS and function is not np.multiply
        if is_rounded and arithmetic.unit:
            part = Products(
                function, *(factors.UNITS[arithmetic.unit](x, arithmetic.factors) for x in (part.x, part.y))
            )
        self.value = plus(self.value, part.value)
        if is_rounded and not arithmetic.unit:
            of_these = factors.moved(
                function, [part.x, part.y], [s, t], arithmetic.factors, is_likely=arithmetic.is_likely
            )
            self.rounded = of_these if self.rounded is None else self.rounded.and_of(of_these)
            self.absolute = plus(self.absolute, of_these.most)
        if s is None and t is None:
            self.absolute = plus(self.absolute, part.absolute)
        else:
            p, q = part.sizes
            self.absolute = plus(self.absolute, function(plus(p, s), plus(q, t)))
            self.carried = plus(self.carried, _carried(function, p, q, s, t))
        if arithmetic.is_likely:
            self.squares = self.squares + part.squares
            self.alike = max(self.alike, float(np.max(of.alike(part.x))) * float(np.max(of.alike(part.y))))
        size = 1 if function is np.multiply else part.x.shape[-1]
        self.count += size if self.of_each is None else self.of_each
        self.terms, self.arithmetic = max(self.terms, terms), arithmetic
        return part

    def total(self) -> Ball:
        """Return the sums of all parts."""
        value, count, arithmetic = self.value, self.count, self.arithmetic
        moved = None if self.carried is None else np.sqrt(self.carried)
        if self.rounded is not None:
            is_even = of.is_even(count, value, self.squares) if arithmetic.is_likely else True
            moved = plus(moved, self.rounded.likely(is_even))
        if count > 1:
            own = summing_error(count - 1, value, self.absolute, self.squares, arithmetic, alike=self.alike)
            error = plus(own, moved)
        else:
            error = of.correctly_rounded(np.asarray(value), np.abs(value), moved, arithmetic)
        terms = max(self.terms, count)
        return _with_error(value, error, arithmetic, terms, partial(_is_bounded, self.carried))


def _carried(function: Callable[..., Any], p: Array, q: Array, s: Array | None, t: Array | None) -> Any:
    """Return the sums of squares of what errors s and t do to products of numbers of the sizes p and q, None for 0."""
    if t is None:
        return None if s is None else function(s * s, q * q)
    most = plus(p, s)
    squares = function(most * most, t * t)
    return squares if s is None else function(s * s, q * q) + 2 * function(s * most, q * t) + squares


def _sums_on_the_way(x: Ball, axis: int = 0, **_: Any) -> Ball:
    """Return cumulative sums: the k-th has k - 1 roundings."""
    (value, error), along = x.operand(), partial(np.cumsum, axis=axis)
    sums, size = along(value), np.abs(value)
    likely: list[Any] = [0.0] * 4
    if x.arithmetic.is_likely:
        absorbed = np.where(size < x.arithmetic.unit_roundoff * np.abs(sums), value, 0.0)
        likely = [along(value * value), along(sums * sums), along(absorbed), of.alike(value, axis)]
    own = summing_error(_places(x, axis), sums, along(plus(size, error)), likely[0], x.arithmetic, *likely[1:])
    carried = None if error is None else np.sqrt(along(error * error))
    terms = max(x.terms, value.shape[axis])
    return _with_error(sums, plus(own, carried), x.arithmetic, terms, partial(_is_bounded, carried))


def _product_of_all(x: Ball, axis: Any = None, *, keepdims: bool = False, **_: Any) -> Ball:
    """Return products, each with n - 1 roundings."""
    count = x.size // max(1, np.multiply.reduce(np.ones(x.shape), axis=axis).size) - 1
    return _multiplied(partial(np.multiply.reduce, axis=axis, keepdims=keepdims), x, count)


def _products_on_the_way(x: Ball, axis: int = 0, **_: Any) -> Ball:
    """Return cumulative products: the k-th has k - 1 roundings."""
    return _multiplied(partial(np.multiply.accumulate, axis=axis), x, _places(x, axis))


def _multiplied(multiply: Callable[[Array], Array], x: Ball, count: Any) -> Ball:
    """Return products, which the errors of the factors move by no more than if all were positive and grew."""
    value, error = x.operand()
    result = multiply(value)
    size = np.abs(result)
    moved = None if error is None else multiply(np.abs(value) + error) - size
    own = np.expm1(count * np.log1p(x.arithmetic.unit_roundoff)) * plus(size, moved)
    most = None if error is None else of.largest(error)
    terms = max(x.terms, int(np.max(count, initial=0)) + 1)
    return _with_error(result, plus(own, moved), x.arithmetic, terms, partial(_is_bounded, most))


def _places(x: Ball, axis: int) -> Array:
    return np.arange(x.shape[axis]).reshape([-1 if other == axis % x.ndim else 1 for other in range(x.ndim)])


def _extreme(ufunc: np.ufunc, x: Ball, axis: Any = None, *, keepdims: bool = False, **options: Any) -> Ball:
    """Return the largest or smallest elements: they move as far as the ends of what all elements may be."""
    along = partial(ufunc.reduce, axis=axis, keepdims=keepdims, **options)
    value, error = x.operand()
    best = along(value)
    if error is None:
        return Ball.result(best, None, x.arithmetic, x.terms)
    moved = np.maximum(np.abs(along(value - error) - best), np.abs(along(value + error) - best))
    return _with_error(best, moved, x.arithmetic, x.terms, partial(_is_bounded, None))


_WAYS: dict[tuple[np.ufunc, str], Callable[..., Ball]] = {
    (np.add, "reduce"): total,
    (np.multiply, "reduce"): _product_of_all,
    (np.add, "accumulate"): _sums_on_the_way,
    (np.multiply, "accumulate"): _products_on_the_way,
    **{(ufunc, "reduce"): partial(_extreme, ufunc) for ufunc in (np.maximum, np.minimum, np.fmax, np.fmin)},
}


# ---- NumPy's functions of arrays


def where(condition: Any, x: Any, y: Any) -> Any:
    """Return elements of x or y; where rounding may decide the condition, the middle of a bound that has both."""
    chosen = claim(condition)
    in_doubt = chosen.doubt.any()
    balls = [part for part in (x, y) if isinstance(part, Ball)]
    if not balls and not in_doubt:
        return np.where(chosen.holds, x, y)
    a, b = raw(x), raw(y)
    value = np.where(chosen.holds, a, b)
    error: Any = None
    if in_doubt or any(part.error is not None for part in balls):
        error = np.where(chosen.holds, radius(x), radius(y))
    if in_doubt:
        middle, reach = _middle(np.minimum(a - radius(x), b - radius(y)), np.maximum(a + radius(x), b + radius(y)))
        is_bounded = np.isfinite(reach)
        is_same = (value == np.where(chosen.holds, b, a)) | (np.isnan(a) & np.isnan(b))
        value = np.where(chosen.doubt & is_bounded, middle, value)
        error = np.where(chosen.doubt, np.where(is_bounded, reach, np.where(is_same, error, np.inf)), error)
    arithmetic = balls[0].arithmetic if balls else _FLOAT32
    found = Ball(value, error, arithmetic, max((part.terms for part in balls), default=0))
    return with_twin(found, (condition, x, y), where)


def _middle(low: Array, high: Array) -> tuple[Array, Array]:
    """Return the middle between two numbers, and how far they are from it: the bound that has both and no more."""
    reach = (high - low) / 2
    return low + reach, reach


def _selected(conditions: Any, choices: Any, default: Any = 0) -> Any:
    result = default
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        result = np.where(condition, choice, result)
    return result


def _clipped(x: Any, low: Any = None, high: Any = None, **_: Any) -> Any:
    above = x if low is None else np.maximum(x, low)
    return above if high is None else np.minimum(above, high)


def _moving(function: Any) -> Callable[..., Any]:
    """Return a NumPy function that moves, picks or repeats elements, for balls and claims."""
    return lambda x, *args, **kwargs: x.moved(lambda values: function(values, *args, **kwargs))


def _joining(function: Any) -> Callable[..., Any]:
    """Return a NumPy function that puts several arrays together, for balls."""

    def joined(parts: Any, *args: Any, **kwargs: Any) -> Ball:
        balls = [part for part in parts if isinstance(part, Ball)]
        value = function([raw(part) for part in parts], *args, **kwargs)
        is_exact = all(part.error is None for part in balls)
        error = None if is_exact else function([radius(part) for part in parts], *args, **kwargs)
        return Ball(value, error, balls[0].arithmetic, max(part.terms for part in balls))

    return joined


def _splitting(function: Any) -> Callable[..., list[Ball]]:
    """Return a NumPy function that takes an array apart, for balls."""

    def split(x: Ball, *args: Any, **kwargs: Any) -> list[Ball]:
        values, errors = function(x.value, *args, **kwargs), function(x.radius, *args, **kwargs)
        return [Ball(value, error, x.arithmetic, x.terms) for value, error in zip(values, errors, strict=True)]

    return split


def _padded(x: Ball, width: Any, mode: Any = "constant", **options: Any) -> Ball:
    """Return padded numbers; what a constant pads with is exact."""
    error = np.pad(x.radius, width) if mode == "constant" else np.pad(x.radius, width, mode, **options)
    return Ball(np.pad(x.value, width, mode, **options), error, x.arithmetic, x.terms)


def _of_values(function: Any) -> Callable[..., Any]:
    """Return a NumPy function whose result has no radius: a place, or what is no matter of rounding."""
    return lambda x, *args, **kwargs: function(raw(x), *args, **kwargs)


def _method(name: str) -> Callable[..., Any]:
    """Return a NumPy function that is a method of balls, or of claims."""
    return lambda x, axis=None, keepdims=False, **_: getattr(x, name)(axis, keepdims=keepdims)


def _accumulating(ufunc: np.ufunc) -> Callable[..., Any]:
    return lambda x, axis=None, **_: ufunc.accumulate(x.reshape(-1) if axis is None else x, axis=axis or 0)


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.where: where,
    np.select: _selected,
    np.clip: _clipped,
    np.pad: _padded,
    np.cumsum: _accumulating(np.add),
    np.cumprod: _accumulating(np.multiply),
    np.prod: lambda x, axis=None, keepdims=False, **_: _product_of_all(x, axis, keepdims=keepdims),
    np.einsum: lambda subscripts, a, b, **_: _einsum(subscripts, a, b),
    np.dot: lambda a, b: _bilinear([(np.dot, a, b)]),
    np.shape: lambda x: x.shape,
    np.ndim: lambda x: x.ndim,
    np.size: lambda x, axis=None: x.size if axis is None else x.shape[axis],
    np.zeros_like: lambda x, **_: np.zeros(x.shape),
    np.ones_like: lambda x, **_: np.ones(x.shape),
    np.full_like: lambda x, fill, **_: np.full(x.shape, fill, np.float64),
    **{
        function: _method(name)
        for function, name in (
            (np.sum, "sum"), (np.mean, "mean"), (np.any, "any"), (np.all, "all"),
            (np.max, "max"), (np.amax, "max"), (np.min, "min"), (np.amin, "min"),
        )
    },
    **{function: _joining(function) for function in (np.concatenate, np.stack)},
    **{function: _splitting(function) for function in (np.split, np.array_split)},
    **{
        function: _of_values(function)
        for function in (np.argmax, np.argmin, np.argsort, np.nonzero, np.count_nonzero, np.isposinf, np.isneginf)
    },
    **{
        function: _moving(function)
        for function in (
            np.broadcast_to, np.copy, np.diagonal, np.expand_dims, np.flip, np.moveaxis, np.ravel, np.repeat,
            np.reshape, np.roll, np.squeeze, np.swapaxes, np.take, np.take_along_axis, np.tile, np.transpose,
            np.lib.stride_tricks.sliding_window_view,
        )
    },
}  # fmt: skip


def _dispatched(function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    known = None if _has_others(types) else _FUNCTIONS.get(function)
    return NotImplemented if known is None else known(*args, **kwargs)
