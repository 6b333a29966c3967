"""What the reduction operators compute, in plain Python: slow, exact, and independent of dmlcheck's arithmetic.

Elements are Python numbers (`array.tolist()`), results are flat lists in row-major order.
"""

from __future__ import annotations

import itertools
import math
import struct
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

FLOATS = {"FLOAT16": (11, -14, 15, "<e"), "FLOAT32": (24, -126, 127, "<f"), "FLOAT64": (53, -1022, 1023, "<d")}
SIGNED = {"INT8": 8, "INT16": 16, "INT32": 32, "INT64": 64}
UNSIGNED = {"UINT8": 8, "UINT16": 16, "UINT32": 32, "UINT64": 64}
INTEGERS = (*SIGNED, *UNSIGNED)
NUMPY = {name: name.lower() for name in (*FLOATS, *INTEGERS)}

Number = int | float


# ---- formats


def nearest(value: Fraction, data_type: str) -> float:
    """Round to nearest even in a float format, to infinity from halfway beyond its largest number on."""
    precision, least, most, _ = FLOATS[data_type]
    quantum = Fraction(2) ** (max(floor_log2(abs(value)), least) - precision + 1) if value else Fraction(1)
    return _as_float(round(value / quantum) * quantum, most)


def floor_log2(value: Fraction) -> int:
    """Return the exponent of the power of two at or below a positive number."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    return exponent if Fraction(2) ** exponent <= value else exponent - 1


def _as_float(value: Fraction, most: int) -> float:
    if abs(value) >= 2 ** (most + 1):
        return math.inf if value > 0 else -math.inf
    return value.numerator / value.denominator


def unit(value: float, data_type: str) -> Fraction:
    """Return the unit in the last place of a format at a finite value, that of the denormals at 0."""
    precision, least, _, _ = FLOATS[data_type]
    exponent = floor_log2(abs(Fraction(value))) if value else least
    return Fraction(2) ** (max(exponent, least) - precision + 1)


def from_bits(pattern: int, data_type: str) -> float:
    """Return the number that a bit pattern stands for."""
    code = FLOATS[data_type][3]
    size = struct.calcsize(code)
    return float(struct.unpack(code, pattern.to_bytes(size, "little"))[0])


def wrapped(value: int, data_type: str) -> int:
    """Return an integer modulo 2^bits, in the range of its type."""
    if data_type in UNSIGNED:
        return value % 2 ** UNSIGNED[data_type]
    half = 2 ** (SIGNED[data_type] - 1)
    return (value + half) % (2 * half) - half


def same(found: Iterable[Number], expected: Iterable[Number]) -> bool:
    """Whether two lists of numbers are equal; NaN is NaN, and zeros have no sign."""
    found, expected = list(found), list(expected)
    return len(found) == len(expected) and all(
        a == b or (a != a and b != b)  # noqa: PLR0124 - NaN is not itself
        for a, b in zip(found, expected, strict=True)
    )


# ---- sums


def sum_of(terms: Iterable[float]) -> Fraction | float:
    """Add up floats exactly; with infinities or NaN among them, what IEEE 754 makes of them."""
    terms = list(terms)
    if not all(map(math.isfinite, terms)):
        infinities = {term for term in terms if math.isinf(term)}
        return math.nan if any(map(math.isnan, terms)) or len(infinities) > 1 else infinities.pop()
    return _scaled_sum([term.as_integer_ratio() for term in terms])


def _scaled_sum(ratios: list[tuple[int, int]]) -> Fraction:
    """Add up fractions whose denominators are powers of two."""
    scale = max(below for _, below in ratios)
    return Fraction(sum(above * (scale // below) for above, below in ratios), scale)


def squares_of(terms: Iterable[float]) -> Fraction | float:
    """Add up the squares of floats exactly."""
    terms = list(terms)
    if not all(map(math.isfinite, terms)):
        return sum_of([abs(term) for term in terms])
    ratios = [term.as_integer_ratio() for term in terms]
    return _scaled_sum([(above * above, below * below) for above, below in ratios])


# ---- functions


def index_of(terms: Sequence[Number], *, largest: bool, last: bool = False) -> int:
    """Return where the largest or smallest number is, compared one by one: no number beats NaN, which beats none."""
    found, best = 0, terms[0]
    for place, term in enumerate(terms):
        if (term > best if largest else term < best) or (last and term == best):
            found, best = place, term
    return found


def reduce_terms(function: str, terms: Sequence[Any], data_type: str) -> Number:
    """Return what a DML_REDUCE_FUNCTION whose results are rational makes of some elements of a data type."""
    if function in ("ARGMAX", "ARGMIN"):
        return index_of(terms, largest=function == "ARGMAX")
    if function in ("MAX", "MIN"):
        numbers = [term for term in terms if term == term]  # noqa: PLR0124 - NaN is not itself
        extreme = max if function == "MAX" else min
        return extreme(numbers or [-extreme(-math.inf, math.inf)])
    if data_type in INTEGERS:
        return wrapped(whole(function, terms), data_type)
    value = exact(function, terms)
    return value if isinstance(value, float) else nearest(value, data_type)


def whole(function: str, terms: Sequence[int]) -> int:
    """Return the result of a function of integers, exact or modulo 2^64."""
    if function == "MULTIPLY":
        product = 1
        for term in terms:
            product = product * term % 2**64  # no type is wider
        return product
    power = {"SUM": int, "L1": abs, "SUM_SQUARE": lambda term: term * term}[function]
    return sum(map(power, terms))


def exact(function: str, terms: Sequence[float]) -> Fraction | float:
    """Return the exact result of a function whose results are rational, or an infinity or NaN."""
    if function == "AVERAGE":
        return sum_of(terms) / len(terms)
    if function == "L1":
        return sum_of(map(abs, terms))
    return (squares_of if function == "SUM_SQUARE" else sum_of)(terms)


# ---- tensors


def flatten(nested: Any) -> list[Any]:
    """Return the elements of nested lists in row-major order."""
    if not isinstance(nested, list):
        return [nested]
    return [element for part in nested for element in flatten(part)]


def groups(sizes: Sequence[int], axes: Iterable[int]) -> list[list[int]]:
    """Return, for each combination of the kept indices, the row-major places of the elements that are reduced to one.

    Both are in row-major order of the tensor's own dimensions, whatever the order of the axes.
    """
    axes = set(axes)
    found: dict[tuple[int, ...], list[int]] = {}
    for place, index in enumerate(itertools.product(*map(range, sizes))):
        kept = tuple(0 if axis in axes else step for axis, step in enumerate(index))
        found.setdefault(kept, []).append(place)
    return [found[kept] for kept in sorted(found)]


def reduced_sizes(sizes: Sequence[int], axes: Iterable[int]) -> list[int]:
    """Return the sizes of a reduction's result."""
    axes = set(axes)
    return [1 if axis in axes else size for axis, size in enumerate(sizes)]


def reduce(function: str, nested: Any, sizes: Sequence[int], axes: Iterable[int], data_type: str) -> list[Number]:
    """Return the elements of REDUCE's result."""
    flat = flatten(nested)
    return [reduce_terms(function, [flat[place] for place in group], data_type) for group in groups(sizes, axes)]
