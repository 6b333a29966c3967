"""The comparison of an output with its expected values."""

from __future__ import annotations

from typing import NamedTuple

LARGEST = 1.7976931348623157e308  # in the place of infinity, which JSON has no number for
MOST_LIKELY = 32.0  # times its likely error: an element with sums in it that is further off is wrong
MOST_SYSTEMATIC = 1.0  # times the likely error: the largest root mean square of an output's errors


class Element(NamedTuple):
    """An element of an output that differs: its index, the values, the error in ULP and as a share of the bound.

    `ulp` of an integer is the difference itself, exact. `is_unrounded` says that `ulp` is measured from the unrounded
    result, which differs from the expected value by its rounding, `is_unlimited` that its bound is infinite.
    """

    place: tuple[int, ...]
    expected: int | float
    actual: int | float
    ulp: int | float
    share: float | None
    is_unrounded: bool = False
    is_unlimited: bool = False


class OutputResult(NamedTuple):
    """The comparison of one output with its expected values.

    `first` and `worst` are outside the tolerance; `most_off` is the element with the largest error, which may be
    inside, and `closest` the one with the largest share of its tolerance. `max_ulp` is in units for integers;
    `max_share` is None if only equal elements are allowed. `bound` names the applied tolerance in words, `decided_by`
    its origin and reason; `shape` says how the shape or type is wrong, if it is. `profile` is the largest error outside
    the tolerance in each of up to 64 equal stretches of the output, if any element is wrong: in ULP, or in units for
    integers. `unlikely` counts the elements inside the tolerance and beyond the likely error, `likely_share` is the
    largest share of the likely error. `region` says in words where the elements outside the tolerance are, if there are
    such words. `unlimited` counts the elements that differ where the tolerance is infinite, or allows all results of
    the operator: they are not wrong, and prove nothing. `systematic` is the root mean square of all errors in units of
    the likely one, if that is too much for roundings. `squares` is the sum of the squared errors, as numbers and not in
    units: infinite if one of them is.
    """

    elements: int
    mismatches: int = 0
    max_ulp: int | float = 0.0
    max_share: float | None = None
    undefined: int = 0
    first: tuple[Element, ...] = ()
    worst: Element | None = None
    most_off: Element | None = None
    closest: Element | None = None
    data_type: str = ""
    sizes: tuple[int, ...] = ()
    bound: str = ""
    decided_by: str = ""
    shape: str | None = None
    profile: tuple[float, ...] = ()
    unlikely: int = 0
    likely_share: float | None = None
    region: str | None = None
    unlimited: int = 0
    systematic: float | None = None
    squares: float = 0.0
