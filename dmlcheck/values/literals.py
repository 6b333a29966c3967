"""Numbers as case files write them to arrays of a data type: exact, and rounded once."""

from __future__ import annotations

import math
import os
import re
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmlcheck.descs.records import TensorDesc
from dmlcheck.diagnostics.record import Checking, Finding
from dmlcheck.diagnostics.wording import brackets, describe
from dmlcheck.files.document import Overflow, Path
from dmlcheck.specs.names import DATA_TYPES, integer_range
from dmlcheck.values.number_formats import FORMATS, NUMPY_TYPES, is_halfway, round_exact, spell

Array = NDArray[Any]

ANY = "any"  # in outputs: an undefined element

_MOST_FINDINGS = 10  # per tensor: a thousand wrong elements are one mistake
_MAX_EXPONENT = 10_000  # decimal or binary, in addition to up to 4,000 digits; no data type reaches half as far


class Source:
    """Where values come from: the case file, whose folder has their files, and its numbers as it spells them."""

    def __init__(self, file: str = "", literal: Any = None) -> None:
        self.file = file
        self._literal = literal

    @property
    def folder(self) -> str:
        """The folder of the case file, "" for the current one."""
        return os.path.dirname(self.file)

    def literal(self, path: Path) -> str | None:
        """Return the text of a number of the case file, or None where the value did not come from one."""
        return None if self._literal is None else self._literal(path)

    def as_written(self, path: Path, number: float) -> Fraction:
        """Return a number of the case file exactly: by its text, or else by its float."""
        text = self.literal(path)
        value = decimal_fraction(text) if text is not None else None
        # The same number, more precisely, unless a matrix put another in its place.
        return value if value is not None and _nearest_float(value) == number else Fraction(number)


class Literals(NamedTuple):
    """Elements of one tensor, in row-major order, on their way to an array.

    `raw` is the list that they stand in, nested or flat, and `path` its place in the case; None if a single value
    stands for all.
    """

    label: str
    tensor: TensorDesc
    raw: list[Any] | None
    path: Path
    source: Source

    def array(self, flat: list[Any]) -> Checking[Array | None]:
        """Return elements as a one-dimensional array of the tensor's data type, or None where some are wrong."""
        values = plain_numbers(flat, self.tensor.data_type)
        return (yield from _unless_wrong(self._array(flat))) if values is None else values

    def bit_patterns(self, flat: list[Any]) -> Checking[Array | None]:
        """Return elements that are given as bit patterns, or None where some are wrong."""
        data_type = self.tensor.data_type
        bits = DATA_TYPES[data_type].bits
        wrong = [index for index, bit in enumerate(flat) if type(bit) is not int or not 0 <= bit < 2**bits]
        for index in wrong[:_MOST_FINDINGS]:
            name, found = self.name(index), describe(flat[index])
            if type(flat[index]) is int:
                params = {"element": name, "found": found, "type": f"a pattern of {bits} bits"}
                yield Finding("value-not-representable", self._place(index), params, help=_help(flat[index]))
            else:
                params = {"what": name, "found": found, "expected": "a whole number like 0x3C00"}
                yield Finding("wrong-type", self._place(index), params, help=_help(flat[index]))
        if wrong:
            return None
        if data_type == "INT4":
            return np.array([element - 16 if element > 7 else element for element in flat], dtype=np.int8)
        dtype = NUMPY_TYPES[data_type]
        return np.array(flat, dtype=f"u{dtype.itemsize}").view(dtype)

    def name(self, index: int) -> str:
        """Name an element by its index in the tensor."""
        return f"{self.label}{brackets(unravel(index, self.tensor.sizes))}"

    # ---- elements one by one

    def _array(self, flat: list[Any]) -> Checking[Array | None]:
        numbers = yield from self._numbers(flat)
        if numbers is None:
            return None
        if self.tensor.data_type in FORMATS:
            return (yield from self._floats(numbers))
        return (yield from self._integers(numbers))

    def _numbers(self, flat: list[Any]) -> Checking[list[Any] | None]:
        """Return elements as numbers, as a Fraction if float64 cannot hold one; None if one is no number."""
        if set(map(type, flat)) <= _OF_NUMBERS:
            return flat
        numbers = []
        for index, element in enumerate(flat):
            number = _number(element)
            if number is None:
                expected = "a number, nan, inf, -inf or a hex float like '0x1.8p+1'"
                params = {"what": self.name(index), "found": describe(element), "expected": expected}
                yield Finding("wrong-type", self._place(index), params, help=_help(element))
            numbers.append(number)
        return None if None in numbers else numbers

    def _integers(self, numbers: list[Any]) -> Checking[Array]:
        data_type = self.tensor.data_type
        low, high = integer_range(data_type)
        whole: list[int] = []
        for index, number in enumerate(numbers):
            value = number
            if type(number) is float and math.isfinite(number):
                value = self.source.as_written(self._place(index), number)
            if isinstance(value, float) or value != value // 1 or not low <= value <= high:
                yield self._unfit(index, number, f"{data_type} can hold whole numbers from {low} to {high}")
            else:
                whole.append(int(value))
        return np.array(whole, dtype=NUMPY_TYPES[data_type])

    def _floats(self, numbers: list[Any]) -> Checking[Array]:
        data_type = self.tensor.data_type
        rounded, undecided = _rounded(numbers, data_type)
        for index in undecided:
            near = self._nearest(numbers[index], index)
            if math.isinf(near):
                limit = spell(FORMATS[data_type].largest, data_type)
                yield self._unfit(index, numbers[index], f"write inf, or a value of at most {limit}")
            else:
                rounded[index] = near
        return rounded

    def _nearest(self, number: Any, index: int) -> float:
        """Return the number of a float type that is nearest to an element as it is written."""
        value = number
        if type(number) is Overflow:
            value = decimal_fraction(number.text)
        elif type(number) is float:
            value = self.source.as_written(self._place(index), number)
        return math.inf if value is None else round_exact(Fraction(value), self.tensor.data_type)

    def _unfit(self, index: int, number: Any, help: str) -> Finding:
        found = spelt(_nearest_float(number) if type(number) is Fraction else number)
        params = {"element": self.name(index), "found": found, "type": self.tensor.data_type}
        return Finding("value-not-representable", self._place(index), params, help=help)

    def _place(self, index: int) -> Path:
        if self.raw is None:
            return self.path
        is_nested = bool(self.raw) and type(self.raw[0]) is list
        return (*self.path, *(unravel(index, self.tensor.sizes) if is_nested else (index,)))


def _unless_wrong(checking: Checking[Array | None]) -> Checking[Array | None]:
    """Pass on the first few things that are wrong with a tensor; with none its array is right."""
    for count in range(_MOST_FINDINGS):
        try:
            finding = next(checking)
        except StopIteration as end:
            return None if count else end.value
        yield finding
    return None


def is_any(element: Any) -> bool:
    """Whether an element is the word `any`, for an undefined element."""
    return type(element) is str and element.strip().lower() == ANY


def _help(element: Any) -> str | None:
    return "give a number: `any` is for undefined elements of outputs, not for inputs" if is_any(element) else None


def _number(element: Any) -> Any:
    """Return an element as a number, as a Fraction if float64 does not hold it; None if it is no number."""
    if type(element) in (int, float, Overflow):
        return element
    if isinstance(element, (np.integer, np.floating)):
        return element.item()
    word = element.strip().lower() if type(element) is str else ""
    if word.removeprefix("+") in ("nan", "inf", "-inf") and word != "+-inf":
        return float(word)
    value = hex_float(word)
    near = None if value is None else _nearest_float(value)
    if near != value:
        return value
    return -0.0 if near == 0 and word[0] == "-" else near


def _rounded(numbers: list[Any], data_type: str) -> tuple[Array, list[int]]:
    """Round numbers to a float type by way of float64; return the indices of those that float64 does not decide."""
    try:
        wide = np.array(numbers, dtype=np.float64)
    except OverflowError:
        wide = np.array([_nearest_float(number) for number in numbers])
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = wide.astype(NUMPY_TYPES[data_type])
        undecided = wide != rounded
        if undecided.any():
            undecided &= np.isfinite(wide) & (np.isinf(rounded) | is_halfway(wide, rounded))
    if not set(map(type, numbers)) <= _OF_NUMBERS or not (np.abs(wide) <= 2**53).all():
        undecided |= [not _is_float64(number) for number in numbers]
    return rounded, np.flatnonzero(undecided).tolist()


def _is_float64(number: Any) -> bool:
    """Whether float64 has a number as it is written, or a number without text."""
    return type(number) is float or (type(number) is int and abs(number) <= 2**53)


def unravel(index: int, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the index of an element by its number in row-major order."""
    where = []
    for size in reversed(sizes):
        index, rest = divmod(index, size)
        where.append(rest)
    return tuple(reversed(where))


def plain_numbers(flat: list[Any], data_type: str) -> Array | None:
    """Return ints and floats as a one-dimensional array of a data type; None if one of them needs a closer look.

    It does if the data type does not hold it, or if only its text says how it is rounded.
    """
    types = set(map(type, flat))
    if types == _OF_INTS:
        low, high = exact_range(data_type)
        return np.array(flat, dtype=NUMPY_TYPES[data_type]) if low <= min(flat) and max(flat) <= high else None
    if not types <= _OF_NUMBERS or data_type not in FORMATS:
        return None
    rounded, undecided = _rounded(flat, data_type)
    return None if undecided else rounded


_OF_INTS = {int}
_OF_NUMBERS = {int, float}


@cache
def exact_range(data_type: str) -> tuple[int, int]:
    """Return the range in which a data type holds every whole number."""
    if data_type in FORMATS:
        most = 1 << FORMATS[data_type].precision
        return -most, most
    return integer_range(data_type)


def spelt(value: Any) -> str:
    """Return a number as it was written, if that is known."""
    if type(value) is Overflow:
        return value.text if len(value.text) <= 60 else value.text[:57] + "..."
    return repr(value) if isinstance(value, float) else describe(value)


_HEX_FLOAT = r"([-+]?)0x([0-9a-f]*)\.?([0-9a-f]*)(?:p([-+]?[0-9]+))?"
_DECIMAL = r"([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(?:[eE]([-+]?[0-9]+))?"


def hex_float(text: str) -> Fraction | None:
    """Return a hex float (`-0x1.8p+1`) exactly, but for exponents far out, or None when the text is not one."""
    match = re.fullmatch(_HEX_FLOAT, text) if len(text) <= 400 else None
    if match is None or not (match[2] or match[3]):
        return None
    value = Fraction(int(match[2] + match[3], 16), 16 ** len(match[3]))
    return (-value if match[1] == "-" else value) * Fraction(2) ** _far_enough(match[4])


def decimal_fraction(text: str) -> Fraction | None:
    """Return a decimal number exactly, but for exponents far out, or None when the text is not one."""
    match = re.fullmatch(_DECIMAL, text) if len(text) <= 4000 else None
    return Fraction(match[1]) * Fraction(10) ** _far_enough(match[2]) if match is not None else None


def last_digit(text: str) -> Fraction | None:
    """Return the unit of the last digit of a decimal number: 1/10000 of `0.3333`; None when the text is not one."""
    match = re.fullmatch(_DECIMAL, text) if len(text) <= 4000 else None
    if match is None:
        return None
    _, _, decimals = match[1].partition(".")
    return Fraction(10) ** (_far_enough(match[2]) - len(decimals))


def _far_enough(exponent: str | None) -> int:
    """Return an exponent, or one that is as much too large or too small for every data type."""
    return max(-_MAX_EXPONENT, min(_MAX_EXPONENT, int(exponent or 0)))


def _nearest_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
