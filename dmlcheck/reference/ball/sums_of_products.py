"""Sums of products of balls: matrix products, and sums with further products."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property, partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.ball import errors as of
from dmlcheck.reference.ball import factors
from dmlcheck.reference.ball.ball import FLOAT32, Ball
from dmlcheck.reference.ball.errors import Arithmetic, Array, Errors, largest, least, plus, summing_error
from dmlcheck.reference.ball.operands import operands, rounded
from dmlcheck.reference.ball.reductions import is_bounded

# ---- sums with the sums that their errors depend on
#
# Errors need few digits: for large factors the sums of absolute values and of squares are computed in FLOAT32, which
# takes half the time. The sums of absolute values are rounded up by the possible error of FLOAT32.


LARGE = 1 << 22  # multiplications: fewer of them are done in float64
_U = 2.0**-24
_SCALED = 24  # the exponent of the largest of scaled factors
_LEAST_TERM = 2.0**-110  # the least of the terms as a share of the largest, whose square does not underflow
_LEAST_FACTOR = 2.0**-86  # the same of the numbers of a factor
_EVEN = 1e-2  # the variance of the terms as a share of their squared mean: with less it needs float64


class ProductSums:
    """The sums of products of two factors, of their absolute values and of their squares, each computed once.

    `function` gives sums of products: np.matmul, np.multiply or the like.
    """

    def __init__(self, function: Callable[..., Any], x: Array, y: Array) -> None:
        self.function, self.x, self.y = function, x, y
        self._known: list[_Scaled] = []

    def of(self, x: Array, y: Array) -> ProductSums:
        """Return the sums for two other factors; the same record if they are the same arrays.

        A factor of both is scaled once.
        """
        if x is self.x and y is self.y:
            return self
        other = ProductSums(self.function, x, y)
        other._known = self._known
        return other

    @cached_property
    def value(self) -> Array:
        """The sums of products."""
        return np.asarray(self.function(self.x, self.y))

    @cached_property
    def sizes(self) -> tuple[Array, Array]:
        """The absolute values of the factors."""
        return np.abs(self.x), np.abs(self.y)

    @cached_property
    def absolute(self) -> Array:
        """The sums of the absolute values of the products, rounded up."""
        if self._scaled is None:
            return np.asarray(self.function(*self.sizes))
        p, q, unit = self._scaled
        lost = (self.x.shape[-1] + 4) * _U
        found: Array = np.multiply(self.function(p, q), unit * (1 + lost), dtype=np.float64)
        return found

    @cached_property
    def carried(self) -> Array:
        """The sums of the squares of the products, rounded up."""
        if self._scaled is None:
            return np.asarray(self.function(self.x * self.x, self.y * self.y))
        p, q, unit = self._scaled
        lost = (self.x.shape[-1] + 6) * _U
        found: Array = np.multiply(self.function(p * p, q * q), unit * unit * (1 + lost), dtype=np.float64)
        return found

    @cached_property
    def squares(self) -> Array:
        """The sums of the squares of the products; in float64 where terms are nearly equal, for their variance."""
        if self._scaled is not None:
            p, q, unit = self._scaled
            found: Array = np.multiply(self.function(p * p, q * q), unit * unit, dtype=np.float64)
            if not self._is_even(found):
                return found
        return np.asarray(self.function(self.x * self.x, self.y * self.y))

    def _is_even(self, squares: Array) -> bool:
        """Whether the terms of a sum may be nearly equal, without being 0."""
        count = self.x.shape[-1]
        if count * least(squares) > (1 + _EVEN) * largest(np.abs(self.value)) ** 2:
            return False
        mean = self.value * self.value
        return bool(np.any(count * squares - mean < _EVEN * mean))

    @cached_property
    def _scaled(self) -> tuple[Array, Array, float] | None:
        """The sizes as FLOAT32, scaled so that nothing overflows or underflows, and the unit of their products."""
        if self.function is not np.matmul or self.x.size * self.y.shape[-1] < LARGE or not self.y.size:
            return None
        first = self._scaled_once(self.x)
        second = None if first is None else self._scaled_once(self.y)
        if first is None or second is None or first.span * second.span < _LEAST_TERM:
            return None
        if min(first.span, second.span) < _LEAST_FACTOR:
            return None
        return first.sizes, second.sizes, first.unit * second.unit

    def _scaled_once(self, x: Array) -> _Scaled | None:
        found = next((one for one in self._known if one.of is x), None)
        if found is None and (found := _scaled(x)) is not None:
            self._known.append(found)
        return found


class _Scaled(NamedTuple):
    """The sizes `of` numbers as FLOAT32 in some unit, and the least that is not 0 as a share of the largest."""

    of: Array
    sizes: Array
    unit: float
    span: float


def _scaled(x: Array) -> _Scaled | None:
    most = float(max(largest(x), -least(x)))
    if not 0 < most < _MOST:
        return None
    unit = 2.0 ** (int(np.frexp(most)[1]) - _SCALED)
    scaled = np.multiply(x, 1 / unit, out=np.empty(x.shape, np.float32), dtype=np.float64, casting="same_kind")
    np.abs(scaled, out=scaled)
    low = float(least(scaled))
    if low == 0:
        if np.count_nonzero(scaled == 0) > np.count_nonzero(x == 0):
            return None
        low = _least_above_0(scaled)
    return _Scaled(x, scaled, unit, low * unit / most)


_MOST = 2.0**200


def _least_above_0(sizes: Array) -> float:
    """Return the least of FLOAT32 numbers that is not 0: of sizes the bits have the order of the numbers."""
    bits = sizes.view(np.uint32) - np.uint32(1)  # 0 comes last
    return float(np.uint32(int(bits.min()) + 1).view(np.float32))


def product(a: Any, b: Any) -> Any:
    """Return the matrix product of balls; products of two elements are exact, or fused into the sum."""
    return product_of_parts([(a, b)])


def product_of_parts(pairs: Iterable[tuple[Any, Any]]) -> Any:
    """Return the matrix product of two factors; the columns of the first and the rows of the second come in parts."""
    return sum_of_products((np.matmul, a, b) for a, b in pairs)


def sum_of_products(products: Iterable[tuple[np.ufunc, Any, Any]]) -> Any:
    """Return one sum of products, each by np.matmul or np.multiply of two factors; its terms may have any order.

    No product is larger than the first.
    """
    products = iter(products)
    function, a, b = next(products)
    if isinstance(a, Ball) or isinstance(b, Ball):
        return bilinear(chain([(function, a, b)], products))
    found = np.asarray(function(a, b))
    for each, x, y in products:
        found += each(x, y)
    return found


def _einsum(subscripts: str, a: Any, b: Any) -> Ball:
    count = np.einsum(subscripts, np.ones(a.shape), np.ones(b.shape)).max()
    return bilinear([(partial(np.einsum, subscripts), a, b)], int(count))


def bilinear(products: Iterable[tuple[Callable[..., Any], Any, Any]], of_each: int | None = None) -> Ball:
    """Return one sum of the products of several pairs of factors.

    `of_each` is the number of terms of each part; by default 1 for np.multiply, else the number of columns of `a`.
    """
    sums = _Accumulator(of_each)
    for function, a, b in products:
        arithmetic, terms, values, errors = operands((a, b))
        sums.add(ProductSums(function, *values), errors, arithmetic, terms)
    return sums.total()


class _Accumulator:
    """Adds up sums of products that come in parts, with all that their radii depend on."""

    def __init__(self, of_each: int | None) -> None:
        self.of_each = of_each
        self.value: Any = None
        self.absolute: Any = None
        self.parts: Any = None
        self.squares: Any = 0.0
        self.carried: Any = None
        self.rounded: factors.Moved | None = None
        self.alike = 0.0
        self.count = self.terms = 0
        self.arithmetic = FLOAT32

    def add(self, part: ProductSums, errors: Errors, arithmetic: Arithmetic, terms: int) -> None:
        """Add a part, whose factors have these radii; matrix units may round the factors of matrix products."""
        function, (s, t) = part.function, errors
        is_rounded = arithmetic.factors in factors.BITS and function is not np.multiply
        if is_rounded and arithmetic.unit:
            part = ProductSums(
                function, *(factors.UNITS[arithmetic.unit](x, arithmetic.factors) for x in (part.x, part.y))
            )
        self.value = plus(self.value, part.value)
        if arithmetic.stored:
            self.parts = plus(self.parts, np.abs(part.value))
        if is_rounded and not arithmetic.unit:
            of_these = factors.moved(
                function, [part.x, part.y], [s, t], arithmetic.factors, is_likely=arithmetic.is_likely
            )
            self.rounded = of_these if self.rounded is None else self.rounded.and_of(of_these)
            self.absolute = plus(self.absolute, of_these.most)
        if s is None and t is None:
            self.absolute = plus(self.absolute, part.absolute)
        else:
            self.absolute = plus(self.absolute, part.of(_most(part.x, s), _most(part.y, t)).absolute)
            carry = _carried_of_one_cause if arithmetic.has_one_cause else _carried
            self.carried = plus(self.carried, carry(part, s, t))
        if arithmetic.is_likely:
            self.squares = self.squares + part.squares
            self.alike = max(self.alike, float(np.max(of.alike(part.x))) * float(np.max(of.alike(part.y))))
        size = 1 if function is np.multiply else part.x.shape[-1]
        self.count += size if self.of_each is None else self.of_each
        self.terms, self.arithmetic = max(self.terms, terms), arithmetic

    def total(self) -> Ball:
        """Return the sums of all parts."""
        value, count, arithmetic = self.value, self.count, self.arithmetic
        moved = None if self.carried is None else of.added(self.carried, arithmetic)
        if self.rounded is not None:
            is_even = of.is_even(count, value, self.squares) if arithmetic.is_likely else True
            moved = plus(moved, self.rounded.likely(is_even))
        if count > 1:
            own = summing_error(
                count - 1, value, self.absolute, self.squares, arithmetic, alike=self.alike, parts=self.parts
            )
            error = plus(own, moved)
        else:
            error = of.correctly_rounded(np.asarray(value), np.abs(value), moved, arithmetic)
            error = plus(error, of.beyond(np.abs(value), arithmetic))
        terms = max(self.terms, count)
        return rounded(value, error, arithmetic, terms, partial(is_bounded, self.carried))


def _carried(part: ProductSums, s: Array | None, t: Array | None) -> Any:
    """Return the sums of the squared radii of products, for factors with radii s and t; None for 0."""
    of_first = None if s is None else part.of(s, part.y).carried
    if t is None:
        return of_first
    most, q = _most(part.x, s), np.abs(part.y)
    squares = part.of(most, t).carried
    return squares if s is None else of_first + 2 * part.function(s * most, q * t) + squares


def _carried_of_one_cause(part: ProductSums, s: Array | None, t: Array | None) -> Any:
    """Return the sums of the radii of products, for factors with radii s and t; None for 0."""
    p, q = part.sizes
    of_first = None if s is None else part.function(s, q)
    return of_first if t is None else plus(of_first, part.function(plus(p, s), t))


def _most(x: Array, radius: Array | None) -> Array:
    """Return the largest sizes of numbers with radii; the numbers themselves if they have none."""
    return x if radius is None else np.abs(x) + radius


RULES: dict[np.ufunc, Callable[..., Any]] = {np.matmul: lambda _, a, b: product(a, b)}
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.einsum: lambda subscripts, a, b, **_: _einsum(subscripts, a, b),
    np.dot: lambda a, b: bilinear([(np.dot, a, b)]),
}
