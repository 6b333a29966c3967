"""One output against what is expected of it: exactly, in units in the last place, or under an accumulation's bound."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmlcheck.comparison.records import Element, OutputResult
from dmlcheck.comparison.tolerances import tolerance_of
from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.reference.kernels import Array, Index, Result, Wide, tiles
from dmlcheck.specs.records import Tolerance
from dmlcheck.values.number_formats import FORMATS, ulp

_BLOCK = 1 << 18
_FIRST = 3
_STRETCHES = 64
_EXACT = Tolerance(exact=True)


class Limit(NamedTuple):
    """The tolerance to compare under, whether it is a case's own, and the type that may be accumulated in.

    `whose` names it in words: the case's own, or the row of an operator.
    """

    tolerance: Tolerance
    is_own: bool = False
    accumulate: str = "FLOAT32"
    whose: str = ""

    @property
    def needs_kernel(self) -> bool:
        """Whether the bound depends on the operator's terms."""
        return self.tolerance.accumulate and not self.is_own

    def has_bound(self, data_type: str) -> bool:
        """Whether it allows elements that differ: an operator's own tolerance is for floats only."""
        return not self.tolerance.exact and (self.is_own or data_type in FORMATS)

    def text(self, terms: int, data_type: str) -> str:
        """Say in words what is allowed."""
        tolerance = self.tolerance
        if not self.has_bound(data_type):
            return "exact"
        parts = []
        if self.needs_kernel and terms:
            parts.append(f"n * u * sum|terms| with n={terms} accumulated in {self.accumulate}")
        if tolerance.ulp is not None:
            parts.append(f"{tolerance.ulp:g} ULP")
        if tolerance.ulp_per_exponent is not None:
            parts.append(f"{tolerance.ulp_per_exponent:g} * |ln result| ULP")
        if tolerance.absolute is not None:
            parts.append(f"{tolerance.absolute:g} absolute")
        if tolerance.relative is not None:
            parts.append(f"{tolerance.relative:g} relative")
        return (" or " if self.is_own else " + ").join(parts)

    def decided_by(self, data_type: str) -> str:
        """Say in words whose tolerance it is, and the reason or the source that it gives."""
        if not self.is_own and not self.tolerance.exact and data_type not in FORMATS:
            return f"{self.whose or 'a tolerance'}, which is for floats: {data_type} is exact"
        why = self.tolerance.reason if self.is_own else self.tolerance.source
        return f"{self.whose}: {why}" if self.whose and why else self.whose


def limit_for(desc: OperatorDesc, own: Tolerance | None, accumulate: str = "FLOAT32") -> Limit:
    """Return the tolerance of a case: its own, or the operator's row that its fields select."""
    if own is not None:
        return Limit(own, is_own=True, accumulate=accumulate, whose="the case's own tolerance")
    name = desc.spec.short
    found = tolerance_of(desc)
    if found is None:
        return Limit(_EXACT, accumulate=accumulate, whose=f"{name} has no tolerance for this")
    row, chosen = found
    whose = f"the tolerance of {name}" + (f" with {chosen}" if chosen else "")
    return Limit(row, accumulate=accumulate, whose=whose)


def compare(
    expected: Array,
    actual: Array,
    tensor: TensorDesc,
    limit: Limit,
    kernel: Callable[[], Result | None] = lambda: None,
    refused: Array | None = None,
) -> OutputResult:
    """Compare an output with its expected values, which have the tensor's sizes and type.

    `kernel` gives the reference's own result for the same inputs, and is asked for it only where elements differ: it
    knows the magnitudes that an accumulation's bound grows with, and which elements the documentation leaves open.
    A mask of the output's sizes, `refused`, is set where elements are outside the limit.
    """
    data_type = tensor.data_type
    base = OutputResult(
        expected.size,
        max_share=0.0 if limit.has_bound(data_type) else None,
        data_type=data_type,
        sizes=tensor.sizes,
    )
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        found, wanted = (f"{array.dtype} {_braces(array.shape)}" for array in (actual, expected))
        shape = f"is {found} instead of {wanted}"
        return base._replace(shape=shape, mismatches=expected.size, max_share=None)
    if all((expected[index] == actual[index]).all() for index in tiles(expected.shape, _BLOCK)):
        return base
    tally = _Tally(expected.shape, data_type, limit, refused)
    result = kernel()
    with np.errstate(all="ignore"):
        axes = result.axes if result is not None else tuple(range(expected.ndim))
        for index, wide in _regions(result, expected.shape):
            tally.add(axes, index, expected.transpose(axes)[index], actual.transpose(axes)[index], wide)
    return base._replace(
        mismatches=tally.mismatches,
        max_ulp=tally.max_ulp,
        max_share=None if base.max_share is None else tally.max_share,
        unspecified=tally.unspecified,
        first=tuple(element for _, element in tally.first),
        worst=tally.worst,
        most_off=tally.most_off,
        closest=tally.closest,
        profile=tally.profile(),
        bound=limit.text(tally.terms, data_type),
        decided_by=limit.decided_by(data_type),
    )


def _regions(result: Result | None, sizes: tuple[int, ...]) -> Iterator[tuple[Index, Wide | None]]:
    if result is not None:
        yield from result.tiles()
    else:
        for index in tiles(sizes, _BLOCK):
            yield index, None


class _Differences(NamedTuple):
    """The elements of a region that are not equal: the error of each, in units too, and the share of the bound."""

    wanted: Array
    found: Array
    units: Array
    share: Array
    accepted: Array


class _Tally:
    """What is found as the regions of an output go by."""

    def __init__(self, sizes: tuple[int, ...], data_type: str, limit: Limit, mask: Array | None = None) -> None:
        self.sizes = sizes
        self.data_type = data_type
        self.limit = limit
        self.mask = mask
        self.mismatches = 0
        self.unspecified = 0
        self.max_ulp = 0.0
        self.max_share = 0.0
        self.terms = 0
        self.first: list[tuple[int, Element]] = []
        self.worst: Element | None = None
        self.most_off: Element | None = None
        self.closest: Element | None = None
        self.stretches = np.zeros(min(_STRETCHES, max(1, math.prod(sizes))))

    def profile(self) -> tuple[float, ...]:
        """Return the largest error in each stretch of the output, or nothing where no element is wrong."""
        return tuple(map(_number, self.stretches)) if self.mismatches else ()

    def add(self, axes: tuple[int, ...], index: Index, expected: Array, actual: Array, wide: Wide | None) -> None:
        flat_expected, flat_actual = expected.reshape(-1), actual.reshape(-1)
        differs = flat_expected != flat_actual
        if self.data_type in FORMATS:
            differs &= ~(np.isnan(flat_expected) & np.isnan(flat_actual))
        if wide is not None:
            self.terms = max(self.terms, wide.terms)
            if wide.unspecified is not None:
                left_open = wide.unspecified.reshape(-1)
                self.unspecified += int((differs & left_open).sum())
                differs &= ~left_open
        where = np.flatnonzero(differs)
        if not where.size:
            return
        wanted, found = flat_expected[where], flat_actual[where]
        judge = _judge_floats if self.data_type in FORMATS else _judge_integers
        places = _places(axes, index, expected.shape, where, self.sizes)
        self.note(places, judge(wanted, found, self.data_type, self.limit, _of_kernel(wide, where, self.limit)))

    def note(self, places: Array, differences: _Differences) -> None:
        has_bound = self.limit.has_bound(self.data_type)
        wanted, found, units, share, accepted = differences

        def element(at: int) -> Element:
            place = tuple(int(i) for i in np.unravel_index(places[at], self.sizes))
            ratio = float(share[at]) if has_bound else None
            return Element(place, wanted[at].item(), found[at].item(), _number(units[at]), ratio)

        stretches = places * self.stretches.size // math.prod(self.sizes)
        np.maximum.at(self.stretches, stretches, units)
        refused = np.flatnonzero(~accepted)
        self.mismatches += int(refused.size)
        if self.mask is not None:
            self.mask[np.unravel_index(places[refused], self.sizes)] = True
        if refused.size:
            early = refused[np.argsort(places[refused], kind="stable")[:_FIRST]]
            found_here = [(int(places[at]), element(int(at))) for at in early]
            self.first = sorted([*self.first, *found_here], key=lambda entry: entry[0])[:_FIRST]
            at = int(refused[_worst(share[refused], units[refused])])
            worst = element(at)
            if self.worst is None or _rank(worst) > _rank(self.worst):
                self.worst = worst
        at = int(np.argmax(units))
        if self.most_off is None or _number(units[at]) > self.max_ulp:
            self.most_off = element(at)
            self.max_ulp = _number(units[at])
        if has_bound:
            at = int(np.argmax(share))
            if self.closest is None or _number(share[at]) > self.max_share:
                self.closest = element(at)
                self.max_share = _number(share[at])


def _of_kernel(wide: Wide | None, where: Array, limit: Limit) -> tuple[Array | None, Array | None]:
    """Return what the kernel says of some elements: their wide results, and the magnitude that their bound grows with.

    A case's own tolerance is about the values that the case gives, so the kernel has no say in it.
    """
    if wide is None or limit.is_own:
        return None, None
    value = wide.value.reshape(-1)
    reference = value[where] if value.dtype == np.float64 and value.size else None
    if not limit.needs_kernel or wide.magnitude is None:
        return reference, None
    return reference, wide.magnitude().reshape(-1)[where] * wide.terms


def _judge_integers(
    wanted: Array, found: Array, data_type: str, limit: Limit, _: tuple[Array | None, Array | None]
) -> _Differences:
    larger, smaller = np.maximum(wanted, found), np.minimum(wanted, found)
    units = (larger.astype(np.uint64) - smaller.astype(np.uint64)).astype(np.float64)
    bound = np.zeros(units.shape)
    if limit.has_bound(data_type):
        bound = np.maximum.reduce(_limits(limit.tolerance, wanted.astype(np.float64), np.ones(units.shape)))
    return _Differences(wanted, found, units, units / bound, units <= bound)


def _judge_floats(
    wanted: Array, found: Array, data_type: str, limit: Limit, of_kernel: tuple[Array | None, Array | None]
) -> _Differences:
    """Measure errors against the wide result where the expected value is that, rounded; else against the latter."""
    reference, actual = wanted.astype(np.float64), found.astype(np.float64)
    unit = ulp(reference, data_type)
    wide, magnitude = of_kernel
    if wide is not None:
        reference = np.where(np.abs(wide - reference) <= unit / 2, wide, reference)
    error = np.abs(actual - reference)
    error = np.where(np.isfinite(actual) & np.isfinite(reference), error, np.inf)
    units = error / unit
    bound = np.zeros(error.shape)
    if limit.has_bound(data_type):
        limits = _limits(limit.tolerance, reference, unit)
        bound = np.maximum.reduce(limits) if limit.is_own else np.add.reduce(limits)
        if magnitude is not None:
            bound = bound + magnitude * FORMATS[limit.accumulate].unit_roundoff
    accepted = error <= np.where(np.isfinite(reference), bound, 0.0)
    share = np.where(np.isinf(error), np.inf, error / bound)
    # An infinity is right where the bound reaches what rounds to it: half a unit beyond the largest number.
    largest = FORMATS[data_type].largest
    room = (largest - np.abs(reference)) + float(ulp(np.array(largest), data_type)) / 2
    overflow = np.isinf(actual) & np.isfinite(reference) & (np.sign(actual) == np.sign(reference)) & (room <= bound)
    return _Differences(wanted, found, units, np.where(overflow, 1.0, share), accepted | overflow)


def _limits(tolerance: Tolerance, reference: Array, unit: Array) -> list[Array]:
    limits = [
        (tolerance.ulp or 0.0) * unit,
        np.full(unit.shape, tolerance.absolute or 0.0),
        (tolerance.relative or 0.0) * np.abs(reference),
    ]
    if tolerance.ulp_per_exponent is not None:
        exponent = np.abs(np.log(np.abs(reference)))
        limits.append(np.where(np.isfinite(exponent), tolerance.ulp_per_exponent * exponent * unit, 0.0))
    return limits


def _worst(share: Array, units: Array) -> int:
    return int(np.lexsort((np.nan_to_num(units), np.nan_to_num(share)))[-1])


def _rank(element: Element) -> tuple[float, float]:
    return (_number(element.share if element.share is not None else 0.0), element.ulp)


def _number(value: Any) -> float:
    """Return a figure for a report; an infinite one as the largest float64, so that it stays a number in JSON."""
    value = float(value)
    return value if math.isfinite(value) else 1.7976931348623157e308


def _places(
    axes: tuple[int, ...], index: Index, shape: tuple[int, ...], where: NDArray[np.intp], sizes: tuple[int, ...]
) -> Array:
    """Return the row-major positions in an output of elements of a region of it.

    `index` addresses the output transposed to `axes`; `where` counts the elements of the region, which has `shape`.
    """
    strides = [math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
    local = iter(np.unravel_index(where, shape) if shape else ())
    places = np.zeros(where.shape, dtype=np.int64)
    for position, axis in enumerate(axes):
        step = index[position] if position < len(index) else slice(None)
        places += strides[axis] * ((step.start or 0) + next(local) if isinstance(step, slice) else int(step))
    return places


def _braces(sizes: tuple[int, ...]) -> str:
    return "{" + ", ".join(map(str, sizes)) + "}"
