"""Inaccurate expected values of a case: a warning of the case, for any implementation under test."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmlcheck.cases.prepare import Prepared
from dmlcheck.cases.records import Case, FileOrigin
from dmlcheck.comparison.compare import Differing, have_equal_bytes
from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.diagnostics.record import Finding
from dmlcheck.diagnostics.wording import brackets, counted, error_text
from dmlcheck.files.document import Path
from dmlcheck.reference.arrays.blocks import tiles
from dmlcheck.reference.bounds import Bound, own_errors
from dmlcheck.running.undefined_elements import written_at
from dmlcheck.values.literals import decimal_fraction, last_digit
from dmlcheck.values.number_formats import FORMATS, NUMPY_TYPES, spell, ulp

if TYPE_CHECKING:
    from dmlcheck.running.undefined_elements import Masks


def inaccurate_expectations(
    case: Case, prepared: Prepared, reference: Mapping[str, Any], within: float, undefined: Masks
) -> Iterator[Finding]:
    """Yield a finding for each output with expected values that are further from the exact result than some ULP.

    `reference` has the outputs of the reference engine; the elements of the masks `undefined` are not looked at.
    """
    if prepared.desc is None:
        return
    digits = _WrittenNumbers(case).digits
    found = inaccurate(prepared.desc, prepared.inputs, prepared.expected, reference, within, undefined, digits)
    for name, worst in found.items():
        yield _finding(case, name, prepared.expected[name][0], worst)


class _WrittenNumbers:
    """The numbers of a case as its file spells them."""

    def __init__(self, case: Case) -> None:
        self.case = case

    def digits(self, name: str, tensor: TensorDesc) -> Digits | None:
        """Return the function that gives the digits of an output's elements, None if they are not written as a list."""
        _, first = written_at(name, self.case.outputs or {}, tensor, (0,) * len(tensor.sizes))
        if first is None or not isinstance(self.case.origin, FileOrigin):
            return None

        def of(place: Place) -> tuple[Fraction, Fraction] | None:
            path, element = written_at(name, self.case.outputs or {}, tensor, place)
            return None if "bits" in path else self._number(path, element)

        return of

    def text(self, path: Path, element: Any) -> str | None:
        """Return a decimal number as it is written, or None if the element is none; of a matrix as it was read."""
        if type(element) not in (int, float):
            return None
        text = self.case.origin.literal(path)
        return repr(element) if text is None else text

    def _number(self, path: Path, element: Any) -> tuple[Fraction, Fraction] | None:
        text = self.text(path, element) or ""
        value, digit = decimal_fraction(text), last_digit(text)
        return None if value is None or digit is None else (value, digit)


def _finding(case: Case, name: str, tensor: TensorDesc, worst: Inaccurate) -> Finding:
    path, element = written_at(name, case.outputs or {}, tensor, worst.place)
    text = None if element is None or "bits" in path else _WrittenNumbers(case).text(path, element)
    others = counted(tensor.element_count, "element")
    params = {
        "tensor": name,
        "element": f"{name}{brackets(worst.place)}",
        "expected": text or spell(worst.expected, tensor.data_type),
        "exact": spell(worst.exact, "FLOAT64"),
        "error": f": {error_text(worst.ulp, tensor.data_type)}" if math.isfinite(worst.ulp) else "",
        "more": f"; the worst of {worst.number:,} such of {others}" if worst.number > 1 else "",
    }
    with np.errstate(over="ignore"):
        rounded = float(NUMPY_TYPES[tensor.data_type].type(worst.exact))
    return Finding("inaccurate-expectation", path, params, help=f"write {spell(rounded, tensor.data_type)}")


# ---- expected values measured against the exact results: suites are checked as well as implementations


Array = NDArray[Any]
Expected = Mapping[str, tuple[TensorDesc, Array]]
Place = tuple[int, ...]
# The number that a file writes for an element, and the unit of its last digit; None where it writes no digits for it.
Digits = Callable[[Place], "tuple[Fraction, Fraction] | None"]
# Returns the digits of an output by its label and tensor, or None if the file has none of its elements.
Written = Callable[[str, TensorDesc], "Digits | None"]

_BLOCK = 1 << 18
_CORRECTLY_ROUNDED = 0.5  # ULP


class Inaccurate(NamedTuple):
    """The elements of an output whose expected value is too far from the exact result: the worst, and their number.

    `exact` is the result before it is rounded to the output's type, and `ulp` how many units in the last place of that
    type the expected value is from it: infinite if one of the two is no number.
    """

    place: Place
    expected: float
    exact: float
    ulp: float
    number: int = 1


class _Side(NamedTuple):
    """Elements compared with one of several right results: that result, the error in ULP, and the reference's own."""

    exact: Array
    ulp: Array
    radius: Array


def inaccurate(
    desc: OperatorDesc,
    inputs: Mapping[str, Any],
    expected: Expected,
    reference: Mapping[str, Array],
    within: float,
    undefined: Mapping[str, Array],
    written: Written,
) -> dict[str, Inaccurate]:
    """Return the outputs with elements that are further from the exact result than `within` ULP, and than is written.

    `reference` has the exact results, rounded. An element is as accurate as it is written if it is no further from
    the exact result, rounded or not, than half a unit of its last digit. Where several results are right the nearest
    counts. `undefined` has masks of the elements that are not looked at. A correctly rounded value is never too far.
    """
    asked = dict(_asked(expected, reference, within, undefined))
    found: dict[str, Inaccurate] = {}
    if not asked:
        return found
    with np.errstate(all="ignore"):
        for name, at, bound in own_errors(desc, inputs, asked):
            tensor, values = expected[name]
            one = _worst(values.reshape(-1)[at], at, bound, tensor, within, written(name, tensor))
            if one is not None:
                found[name] = _with(found.get(name), one)
    return found


def _with(before: Inaccurate | None, one: Inaccurate) -> Inaccurate:
    """Return the worse of two, with the number of both."""
    if before is None:
        return one
    worst = one if one.ulp > before.ulp else before
    return worst._replace(number=before.number + one.number)


def _asked(
    expected: Expected, reference: Mapping[str, Array], within: float, undefined: Mapping[str, Array]
) -> Iterator[tuple[str, Array]]:
    """Yield masks of the elements that may be too far from the exact results, after these are rounded, by output."""
    for name, (tensor, values) in expected.items():
        rounded = reference[name]
        if tensor.data_type not in FORMATS or rounded.shape != values.shape or rounded.dtype != values.dtype:
            continue
        differs = Differing(values, rounded, undefined.get(name), is_float=True)
        if have_equal_bytes(values, rounded) or not differs.any():
            continue
        mask = np.zeros(values.shape, dtype=bool)
        for index in tiles(values.shape, _BLOCK):
            mask[index] = differs[index] & _may_be_far(values[index], rounded[index], within, tensor.data_type)
        if mask.any():
            yield name, mask


def _may_be_far(values: Array, rounded: Array, within: float, data_type: str) -> Array:
    """Return which values may be more than some ULP from the exact result; below a power of two ULPs are half as long.

    Rounding moved the exact result by half a unit at most.
    """
    with np.errstate(all="ignore"):
        near = rounded.astype(np.float64)
        far: Array = ~(_distance(values.astype(np.float64), near, data_type) <= (within - 1) / 2 * ulp(near, data_type))
        return far


def _distance(values: Array, exact: Array, data_type: str) -> Array:
    """Return how far values are from exact results; infinite if one of the two is no number, and the other is one.

    An infinity counts as the number that would follow the largest: results round to it from there.
    """
    largest = FORMATS[data_type].largest
    next_one = largest + float(ulp(np.array(largest), data_type))
    overflow = np.where(
        np.isinf(values) & np.isfinite(exact), np.maximum(next_one - np.sign(values) * exact, 0), np.nan
    )
    distance = np.where(np.isinf(values), overflow, np.abs(values - exact))
    is_same = (values == exact) | (np.isnan(values) & np.isnan(exact))
    found: Array = np.where(is_same, 0.0, np.where(np.isnan(distance), np.inf, distance))
    return found


def _worst(
    values: Array, at: Array, bound: Bound, tensor: TensorDesc, within: float, digits: Digits | None
) -> Inaccurate | None:
    """Return the worst value at some positions that is too far from all right results, beyond its written digits."""
    wide = values.astype(np.float64)
    sides = [_side(wide, one, tensor.data_type) for one in (bound._replace(others=()), *bound.others)]
    far = ~bound.undefined
    for side in sides:
        far &= side.ulp > max(within, _CORRECTLY_ROUNDED) + side.radius / ulp(side.exact, tensor.data_type)
    found = np.flatnonzero(far)

    def place(i: int) -> Place:
        return tuple(int(step) for step in np.unravel_index(at[i], tensor.sizes))

    if digits is not None:
        as_written = [_is_as_written(digits(place(i)), sides, i, tensor.data_type) for i in found.tolist()]
        found = found[~np.array(as_written, dtype=bool)]
    if not found.size:
        return None
    errors = np.array([side.ulp[found] for side in sides])
    i = int(np.argmax(errors.min(axis=0)))
    side, which = sides[int(np.argmin(errors[:, i]))], int(found[i])
    return Inaccurate(place(which), float(wide[which]), float(side.exact[which]), float(side.ulp[which]), found.size)


def _side(values: Array, bound: Bound, data_type: str) -> _Side:
    exact = bound.value.astype(np.float64)
    return _Side(exact, _distance(values, exact, data_type) / ulp(exact, data_type), bound.radius)


def _is_as_written(number: tuple[Fraction, Fraction] | None, sides: list[_Side], i: int, data_type: str) -> bool:
    """Whether a number is one of the right results, or that rounded, to the last digit that it is written with."""
    if number is None:
        return False
    value, digit = number
    for side in sides:
        exact, radius = float(side.exact[i]), Fraction(float(side.radius[i]))
        rounded = float(side.exact[i].astype(NUMPY_TYPES[data_type]))
        for right, own in ((exact, radius), (rounded, 0)):
            if np.isfinite(right) and abs(value - Fraction(right)) <= digit / 2 + own:
                return True
    return False
