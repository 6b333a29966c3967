"""How an output compares with what is expected."""

from __future__ import annotations

from typing import NamedTuple

MOST_LIKELY = 32.0  # times its likely error: an element with sums in it that is further off is wrong
MOST_SYSTEMATIC = 1.0  # times the likely error: what the root mean square of an output's errors may be


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
    """How one output compares with what is expected.

    `first` and `worst` are outside the tolerance; `most_off` is the element of the largest error, which may be inside,
    and `closest` that of the largest share of its bound. `max_ulp` is in units for integers; `max_share` is None where
    nothing but equal elements is allowed. `bound` says in words which tolerance was applied and `decided_by` whose it
    is and why it is so, `shape` what was wrong with the shape or type instead of values.
    `profile` is the largest error outside the tolerance in each of up to 64 equal stretches of the output, where any
    element is wrong: in units in the last place, or in units for integers. `unlikely` counts the elements that are
    inside the bound and beyond its likely limit, `likely_share` is the largest share of that limit. `region` says in
    words where the elements outside the tolerance are, if there are such words. `unlimited` counts the elements that
    differ where the bound is infinite, or has all that the operator can return: they are not wrong, and say nothing.
    `systematic` is the root mean square of all errors in units of the likely one, where that is too much for roundings.
    `squares` is the sum of the squared errors, as numbers and not in units: infinite where one of them is.
    """

    elements: int
    mismatches: int = 0
    max_ulp: int | float = 0.0
    max_share: float | None = None
    unspecified: int = 0
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
