"""A ball: a value and a radius within which an implementation's number is; a condition: a comparison of balls.

NumPy's functions and operators reach both through three tables, which the modules of operations fill in: `OPERATIONS`
has the functions of elements, `REDUCTIONS` their methods reduce and accumulate, `FUNCTIONS` the functions of arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial, reduce
from itertools import product as combinations
from typing import Any

import numpy as np

from dmlcheck.reference.ball import errors as of
from dmlcheck.reference.ball.errors import Arithmetic, Array, plus

FLOAT32 = Arithmetic()

OPERATIONS: dict[np.ufunc, Callable[..., Any]] = {}  # each takes the ufunc and its operands
REDUCTIONS: dict[tuple[np.ufunc, str], Callable[..., Any]] = {}
FUNCTIONS: dict[Any, Callable[..., Any]] = {}


class NoBound(TypeError):
    """An operation of arrays that does not take numbers with errors, so that nothing bounds its results."""


_OF_ARRAYS = frozenset(["flat", *(name for name, member in vars(np.ndarray).items() if callable(member))])


class _Inexact(np.lib.mixins.NDArrayOperatorsMixin):
    """Numbers with errors, or comparisons of them: in place of the operations that only arrays have is NoBound."""

    __slots__ = ()

    def __array__(self, *_: Any, **__: Any) -> Array:
        raise NoBound("an array would lose the radii: use raw")

    def __float__(self) -> float:
        raise NoBound("a number would lose the radius: use raw")

    def __getattr__(self, name: str) -> Any:
        if name in _OF_ARRAYS and not name.startswith("_"):
            raise NoBound(f"arrays have {name}, numbers with errors do not")
        raise AttributeError(f"{type(self).__name__} has no attribute {name}")

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if _has_others(types):
            return NotImplemented
        if function not in FUNCTIONS:
            raise NoBound(f"{function.__name__} does not take numbers with errors")
        return FUNCTIONS[function](*args, **kwargs)


# ---- conditions


class Condition(_Inexact):
    """The result of a comparison: booleans for the values, and a mask of doubt where the radii allow both results.

    In arithmetic a condition is a ball of 1 or 0.
    """

    def __init__(self, value: Any, doubt: Any = False) -> None:  # noqa: FBT002 - an array, or False for all of it
        self.value = np.asarray(value)
        self.doubt = np.asarray(doubt)

    shape = property(lambda self: self.value.shape)
    ndim = property(lambda self: self.value.ndim)
    size = property(lambda self: self.value.size)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if _has_others(map(type, inputs)):
            return NotImplemented
        logic = LOGIC.get(ufunc)
        if logic is None:
            numbers = [x.number() if isinstance(x, Condition) else x for x in inputs]
            return getattr(ufunc, method)(*numbers, **options)
        if method == "reduce":
            return _bounded(partial(logic.reduce, **options), *inputs)
        if method != "__call__" or options:
            raise NoBound(f"{ufunc.__name__}.{method} does not take conditions")
        return _bounded(logic, *inputs)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __getitem__(self, at: Any) -> Condition:
        return self.moved(lambda x: x[at])

    def moved(self, change: Callable[[Array], Array]) -> Condition:
        """Return the conditions moved, picked or repeated by a function of arrays."""
        return Condition(change(self.value), change(np.broadcast_to(self.doubt, self.value.shape)))

    def number(self) -> Ball:
        """Return the balls of 1 for true and 0 for false, with radius 1 where in doubt."""
        return Ball(self.value.astype(np.float64), np.broadcast_to(self.doubt, self.value.shape).astype(np.float64))

    def any(self, axis: Any = None, *, keepdims: bool = False) -> Condition:
        """Whether any condition is true."""
        return _bounded(partial(np.logical_or.reduce, axis=axis, keepdims=keepdims), self)

    def all(self, axis: Any = None, *, keepdims: bool = False) -> Condition:
        """Whether all conditions are true."""
        return _bounded(partial(np.logical_and.reduce, axis=axis, keepdims=keepdims), self)

    def astype(self, dtype: Any) -> Any:
        """Return 1 for true and 0 for false: an array of the type, or balls if any condition is in doubt."""
        return self.number() if self.doubt.any() else self.value.astype(dtype)


def _bounded(logic: Callable[..., Any], *inputs: Any) -> Condition:
    """Return a logical function of conditions, in doubt where its result depends on conditions in doubt."""
    conditions = [as_condition(x) for x in inputs]
    value = logic(*(x.value for x in conditions))
    if not any(x.doubt.any() for x in conditions):
        return Condition(value)
    sides = combinations(*((x.value & ~x.doubt, x.value | x.doubt) for x in conditions))
    return Condition(value, reduce(np.logical_or, (logic(*side) != value for side in sides)))


def as_condition(x: Any) -> Condition:
    """Return booleans, numbers or a ball as a condition; a number is true if it is not 0."""
    if isinstance(x, Ball):
        found: Condition = OPERATIONS[np.not_equal](np.not_equal, x, 0)
        return found
    return x if isinstance(x, Condition) else Condition(np.asarray(x, dtype=bool))


LOGIC: dict[np.ufunc, np.ufunc] = {
    np.logical_and: np.logical_and,
    np.logical_or: np.logical_or,
    np.logical_xor: np.logical_xor,
    np.logical_not: np.logical_not,
    np.bitwise_and: np.logical_and,
    np.bitwise_or: np.logical_or,
    np.bitwise_xor: np.logical_xor,
    np.invert: np.logical_not,
}


# ---- balls


class Ball(_Inexact):
    """An array of balls: values, which are their midpoints, and the radii within which an implementation's numbers are.

    `radius` has the radii; `is_exact` says that they are all 0 by construction, which saves work. `terms` is the number
    of terms of the longest sum in the computation of a result, for reports. `unlimited` marks results whose balls have
    all numbers that the operator can return; `beyond` has other results that are right as well, where rounding decides
    whether an operand is in the domain: NaN as well as a number, or the number as well as NaN. Operations drop both.
    """

    __slots__ = ("_operand", "_radius", "arithmetic", "beyond", "is_exact", "terms", "unlimited", "value")
    __array_priority__ = 100

    def __init__(self, value: Any, radius: Any = 0.0, arithmetic: Arithmetic = FLOAT32, terms: int = 0) -> None:
        """Take the values and their radii, which are broadcast to the values' shape; None or 0.0 for exact values."""
        self.value: Array = np.asarray(value)
        self.is_exact = radius is None or (type(radius) is float and radius == 0)
        self._radius: Array | None = None if self.is_exact else np.asarray(radius, np.float64)
        self.arithmetic = arithmetic
        self.terms = terms
        self.unlimited: Array | None = None
        self.beyond: Ball | None = None
        self._operand: tuple[Array, Array | None] | None = None

    shape = property(lambda self: self.value.shape)
    ndim = property(lambda self: self.value.ndim)
    size = property(lambda self: self.value.size)
    dtype = property(lambda self: self.value.dtype)
    T = property(lambda self: self.moved(np.transpose))

    @property
    def radius(self) -> Array:
        """The radii, 0 for exact numbers."""
        if self._radius is not None and self._radius.shape == self.value.shape:
            return self._radius
        return np.broadcast_to(0.0 if self._radius is None else self._radius, self.value.shape)

    def operand(self) -> tuple[Array, Array | None]:
        """Return the values as float64, and their radii or None, as an operation reads them.

        It may round them to its own type, and flush denormals.
        """
        if self._operand is None:
            is_wide = self.value.dtype == np.float64
            wide, error = (self.value, None) if is_wide else of.of_a_constant(self.value, self.arithmetic)
            if self._radius is not None and self._radius.any():
                error = plus(error, self.radius)
            if of.has_small(self.value if self.value.dtype.kind == "f" else wide, self.arithmetic.smallest):
                size, none = np.abs(wide), plus(0.0, error)
                is_small = (size < self.arithmetic.smallest) & (size > 0)
                error = np.where(is_small, np.maximum(none, size), none)
            self._operand = wide, error
        return self._operand

    @classmethod
    def result(cls, value: Any, error: Any, arithmetic: Arithmetic, terms: int) -> Ball:
        """Return the result of an operation, whose radius covers flushing."""
        made = cls(value, error, arithmetic, terms)
        made._operand = made.value, made._radius
        return made

    def around(self, value: Any) -> Ball:
        """Return balls with the same radii around other values."""
        return Ball(value, self._radius, self.arithmetic, self.terms)

    def moved(self, change: Callable[[Array], Array]) -> Ball:
        """Return the balls moved, picked or repeated by a function of arrays."""
        error = None if self.is_exact else change(self.radius)
        return Ball(change(self.value), error, self.arithmetic, self.terms)

    def __getitem__(self, at: Any) -> Ball:
        index = tuple(map(_index, at)) if isinstance(at, tuple) else _index(at)
        return self.moved(lambda x: x[index])

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Iterator[Ball]:
        return (self[row] for row in range(len(self)))

    def __bool__(self) -> bool:
        raise NoBound("a ball is no condition: use np.where")

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
        """Return the ball itself for float64; other types are refused."""
        if np.dtype(dtype) != np.float64:
            raise NoBound("balls are not rounded: an implementation rounds them as it likes")
        return self

    def sum(self, axis: Any = None, *, keepdims: bool = False) -> Ball:
        """Return sums of n terms, each with n roundings."""
        return _reduced(np.add, self, axis, keepdims=keepdims)

    def mean(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """Return means: sums divided by the number of their terms."""
        sums = self.sum(axis, keepdims=keepdims)
        return sums / (self.size / sums.size)

    def max(self, axis: Any = None, *, keepdims: bool = False) -> Ball:
        """Return the largest elements."""
        return _reduced(np.maximum, self, axis, keepdims=keepdims)

    def min(self, axis: Any = None, *, keepdims: bool = False) -> Ball:
        """Return the smallest elements."""
        return _reduced(np.minimum, self, axis, keepdims=keepdims)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        reduction = REDUCTIONS.get((ufunc, method))
        if reduction is not None:
            return reduction(*inputs, **options)
        if _has_others(map(type, inputs)):
            return NotImplemented
        if method == "__call__" and ufunc in LOGIC and not options:
            return ufunc(*map(as_condition, inputs))
        if method != "__call__" or ufunc not in OPERATIONS or options:
            raise NoBound(f"{ufunc.__name__}.{method} does not take numbers with errors")
        return OPERATIONS[ufunc](ufunc, *inputs)


def _reduced(ufunc: np.ufunc, x: Ball, axis: Any, *, keepdims: bool) -> Ball:
    found: Ball = ufunc.reduce(x, axis=axis, keepdims=keepdims)
    return found


def _index(at: Any) -> Any:
    return at.value if isinstance(at, Condition) else at


def _has_others(types: Iterable[type]) -> bool:
    """Whether one of the types is a container of balls, such as Blocks, which applies operations to its parts."""
    return any(issubclass(kind, np.lib.mixins.NDArrayOperatorsMixin) and kind not in _OURS for kind in types)


_OURS = (Ball, Condition)
