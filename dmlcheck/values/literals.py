"""Numbers as case files write them to arrays of a data type: exact, and rounded once."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmlcheck.descs.records import TensorDesc
from dmlcheck.diagnostics.record import Finding
from dmlcheck.diagnostics.wording import describe
from dmlcheck.files.document import Overflow, Path
from dmlcheck.specs.names import DATA_TYPES
from dmlcheck.values.number_formats import FORMATS, NUMPY_TYPES, is_halfway, round_exact, spell

Array = NDArray[Any]

_MOST_FINDINGS = 10  # per tensor: whoever has a thousand wrong elements has one mistake
_MAX_EXPONENT = 10_000  # decimal or binary, beside up to 4,000 digits; no data type reaches half as far


class Source:
    """Where values come from: the folder for their files, and the text of numbers as the case file spells them."""

    def __init__(self, folder: str = ".", literal: Any = None) -> None:
        self.folder = folder
        self._literal = literal

    def literal(self, path: Path) -> str | None:
        """Return the text of a number of the case file, or None where the value did not come from one."""
        return None if self._literal is None else self._literal(path)

    def as_written(self, path: Path, number: float) -> Fraction:
        """Return a number of the case file exactly: what its text says, or else the float that was made of it."""
        text = self.literal(path)
        value = decimal_fraction(text) if text is not None else None
        # The same number, more precisely, unless a matrix put another in its place.
        return value if value is not None and _nearest_float(value) == number else Fraction(number)


class Literals(NamedTuple):
    """Elements of one tensor, in row-major order, on their way to an array.

    `raw` is the list that they stand in, nested or flat, and `path` its place in the case; None where a single value
    stands for all.
    """

    label: str
    tensor: TensorDesc
    raw: list[Any] | None
    path: Path
    source: Source
    findings: list[Finding]

    def array(self, flat: list[Any]) -> Array | None:
        """Return elements as a one-dimensional array of the tensor's data type, or None with the findings."""
        data_type = self.tensor.data_type
        kinds = set(map(type, flat))
        if kinds == {int}:
            low, high = exact_range(data_type)
            if low <= min(flat) and max(flat) <= high:
                return np.array(flat, dtype=NUMPY_TYPES[data_type])
        before = len(self.findings)
        exact: dict[int, Fraction] = {}
        if not kinds <= {int, float}:
            flat = [self._number(element, index, exact) for index, element in enumerate(flat)]
            if len(self.findings) > before:
                return None
        with np.errstate(over="ignore", invalid="ignore"):
            values = self._floats(flat, exact) if data_type in FORMATS else self._integers(flat, exact)
        return values if len(self.findings) == before else None

    def bit_patterns(self, flat: list[Any]) -> Array | None:
        """Return elements that are given as bit patterns."""
        data_type = self.tensor.data_type
        bits = DATA_TYPES[data_type].bits
        before = len(self.findings)
        for index, element in enumerate(flat):
            if (type(element) is not int or not 0 <= element < 2**bits) and self._has_room():
                params = {"element": self.name(index), "found": describe(element), "type": f"a pattern of {bits} bits"}
                self.findings.append(Finding("value-not-representable", self._place(index), params))
        if len(self.findings) > before:
            return None
        if data_type == "INT4":
            flat = [element - 16 if element > 7 else element for element in flat]
            return np.array(flat, dtype=np.int8)
        dtype = NUMPY_TYPES[data_type]
        return np.array(flat, dtype=f"u{dtype.itemsize}").view(dtype)

    def name(self, index: int) -> str:
        """Name an element by its index in the tensor."""
        return f"{self.label}[{', '.join(map(str, unravel(index, self.tensor.sizes)))}]"

    # ---- elements one by one

    def _number(self, element: Any, index: int, exact: dict[int, Fraction]) -> float | int:
        """Return an element as a number; what float64 cannot hold goes into `exact` as well."""
        if type(element) in (int, float, Overflow):
            return element  # type: ignore[no-any-return]
        if isinstance(element, (np.integer, np.floating)):
            return element.item()
        if type(element) is str:
            word = element.strip().lower()
            if word.removeprefix("+") in ("nan", "inf", "-inf") and word != "+-inf":
                return float(word)
            value = hex_float(word)
            if value is not None:
                near = _nearest_float(value)
                if near != value:
                    exact[index] = value
                return near if near or word[0] != "-" else -0.0
        if self._has_room():
            expected = "a number, nan, inf, -inf or a hex float like '0x1.8p+1'"
            params = {"what": self.name(index), "found": describe(element), "expected": expected}
            self.findings.append(Finding("wrong-type", self._place(index), params))
        return 0

    def _integers(self, flat: list[Any], exact: dict[int, Fraction]) -> Array | None:
        data_type = self.tensor.data_type
        low, high = integer_range(data_type)
        whole: list[int] = []
        for index, element in enumerate(flat):
            value = exact.get(index, element)
            if type(value) is float and math.isfinite(value):
                value = self.source.as_written(self._place(index), value)
            number = int(value) if type(value) is not float and value == value // 1 else None
            if number is None or not low <= number <= high:
                self._unfit(index, element, f"{data_type} holds whole numbers from {low} to {high}")
                number = 0
            whole.append(number)
        return np.array(whole, dtype=NUMPY_TYPES[data_type])

    def _floats(self, flat: list[Any], exact: dict[int, Fraction]) -> Array:
        try:
            wide = np.array(flat, dtype=np.float64)
        except OverflowError:
            wide = np.array([_nearest_float(element) for element in flat])
        rounded = wide.astype(NUMPY_TYPES[self.tensor.data_type])
        is_same = wide == rounded
        suspects = set(exact)
        if not (np.abs(wide) <= 2**53).all():  # integers that float64 rounded, numbers beyond it, infinities, NaN
            for index, element in enumerate(flat):
                if type(element) is int and abs(element) > 2**53:
                    exact[index] = Fraction(element)
                    suspects.add(index)
                elif type(element) is Overflow:
                    suspects.add(index)
        if not is_same.all():
            undecided = np.isfinite(wide) & (np.isinf(rounded) | is_halfway(wide, rounded))
            suspects.update(np.flatnonzero(undecided & ~is_same).tolist())
        for index in sorted(suspects):
            self._settle(index, flat[index], exact.get(index), rounded)
        return rounded

    def _settle(self, index: int, element: Any, exact: Fraction | None, rounded: Array) -> None:
        """Round one element from the number as written, where its float64 does not decide."""
        data_type = self.tensor.data_type
        if exact is None and type(element) is Overflow:
            exact = decimal_fraction(element.text)
        value = exact if exact is not None else self.source.as_written(self._place(index), element)
        near = round_exact(value, data_type)
        if math.isinf(near):
            limit = spell(FORMATS[data_type].largest, data_type)
            self._unfit(index, element, f"write inf, or a value of at most {limit}")
        else:
            rounded[index] = near

    def _unfit(self, index: int, element: Any, help: str) -> None:
        if self._has_room():
            params = {"element": self.name(index), "found": spelt(element), "type": self.tensor.data_type}
            self.findings.append(Finding("value-not-representable", self._place(index), params, help=help))

    def _has_room(self) -> bool:
        mine = [finding for finding in self.findings if finding.path[: len(self.path)] == self.path]
        return len(mine) < _MOST_FINDINGS

    def _place(self, index: int) -> Path:
        if self.raw is None:
            return self.path
        is_nested = bool(self.raw) and type(self.raw[0]) is list
        return (*self.path, *(unravel(index, self.tensor.sizes) if is_nested else (index,)))


def unravel(index: int, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the index of an element by its number in row-major order."""
    where = []
    for size in reversed(sizes):
        index, rest = divmod(index, size)
        where.append(rest)
    return tuple(reversed(where))


def integer_range(data_type: str) -> tuple[int, int]:
    """Return the least and the largest number of an integer type."""
    kind, bits = DATA_TYPES[data_type]
    return (0, 2**bits - 1) if kind == "uint" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def exact_range(data_type: str) -> tuple[int, int]:
    """Return the range in which a data type holds every whole number."""
    if data_type in FORMATS:
        most = 1 << FORMATS[data_type].precision
        return -most, most
    return integer_range(data_type)


def spelt(value: Any) -> str:
    """Return a number as it was written, as far as that is known."""
    if type(value) is Overflow:
        return value.text if len(value.text) <= 60 else value.text[:57] + "..."
    return repr(value) if isinstance(value, float) else describe(value)


_HEX_FLOAT = re.compile(r"([-+]?)0x([0-9a-f]*)\.?([0-9a-f]*)(?:p([-+]?[0-9]+))?", re.ASCII)
_DECIMAL = re.compile(r"([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(?:[eE]([-+]?[0-9]+))?", re.ASCII)


def hex_float(text: str) -> Fraction | None:
    """Return a hex float (`-0x1.8p+1`) exactly, but for exponents far out, or None when the text is not one."""
    match = _HEX_FLOAT.fullmatch(text) if len(text) <= 400 else None
    if match is None or not (match[2] or match[3]):
        return None
    value = Fraction(int(match[2] + match[3], 16), 16 ** len(match[3]))
    return (-value if match[1] == "-" else value) * Fraction(2) ** _far_enough(match[4])


def decimal_fraction(text: str) -> Fraction | None:
    """Return a decimal number exactly, but for exponents far out, or None when the text is not one."""
    match = _DECIMAL.fullmatch(text) if len(text) <= 4000 else None
    return Fraction(match[1]) * Fraction(10) ** _far_enough(match[2]) if match is not None else None


def _far_enough(exponent: str | None) -> int:
    """Return an exponent, or one that is as much too large or too small for every data type."""
    return max(-_MAX_EXPONENT, min(_MAX_EXPONENT, int(exponent or 0)))


def _nearest_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
