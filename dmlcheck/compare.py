"""One output against what is expected of it: exactly, in units in the last place, or under an accumulation's bound."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmlcheck.floats import FORMATS, ulp
from dmlcheck.kernels import Array, Index, Result, Wide, tiles
from dmlcheck.model import Element, OperatorDesc, OutputResult, TensorDesc, Tolerance

_BLOCK = 1 << 18
_FIRST = 3
_EXACT = Tolerance(exact=True)


class Limit(NamedTuple):
    """The tolerance to compare under, whether it is a case's own, and the type that may be accumulated in."""

    tolerance: Tolerance
    is_own: bool = False
    accumulate: str = "FLOAT32"

    @property
    def needs_kernel(self) -> bool:
        """Whether the bound depends on the operator's terms."""
        return self.tolerance.accumulate and not self.is_own

    def text(self, terms: int, data_type: str) -> str:
        """Say in words what is allowed."""
        tolerance = self.tolerance
        if tolerance.exact or data_type not in FORMATS:
            return "exact"
        parts = []
        if self.needs_kernel:
            parts.append(f"n * u * sum|terms| with n={terms} accumulated in {self.accumulate}")
        if tolerance.ulp is not None:
            parts.append(f"{tolerance.ulp:g} ULP")
        if tolerance.absolute is not None:
            parts.append(f"{tolerance.absolute:g} absolute")
        if tolerance.relative is not None:
            parts.append(f"{tolerance.relative:g} relative")
        return (" or " if self.is_own else " + ").join(parts)


def limit_for(desc: OperatorDesc, own: Tolerance | None, accumulate: str = "FLOAT32") -> Limit:
    """Return the tolerance of a case: its own, or the operator's row that its fields select."""
    if own is not None:
        return Limit(own, is_own=True, accumulate=accumulate)
    for row in desc.spec.tolerance:
        if row.when is None or all(desc.values.get(field) in values for field, values in row.when.items()):
            return Limit(row, accumulate=accumulate)
    return Limit(_EXACT, accumulate=accumulate)


def compare(
    expected: Array,
    actual: Array,
    tensor: TensorDesc,
    limit: Limit,
    kernel: Callable[[], Result | None] = lambda: None,
) -> OutputResult:
    """Compare an output with its expected values, which have the tensor's sizes and type.

    `kernel` gives the reference's own result for the same inputs, and is asked for it only where elements differ: it
    knows the magnitudes that an accumulation's bound grows with, and which elements the documentation leaves open.
    """
    data_type = tensor.data_type
    base = OutputResult(expected.size, data_type=data_type, sizes=tensor.sizes)
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        found, wanted = (f"{array.dtype} {_braces(array.shape)}" for array in (actual, expected))
        return base._replace(shape=f"is {found} instead of {wanted}", mismatches=expected.size)
    if (expected == actual).all():
        return base
    tally = _Tally(expected.ndim)
    result = kernel()
    with np.errstate(all="ignore"):
        axes = result.axes if result is not None else tuple(range(expected.ndim))
        for index, wide in _regions(result, expected.shape):
            parts = expected.transpose(axes)[index], actual.transpose(axes)[index]
            tally.add(axes, index, *parts, data_type, limit, wide)
    return base._replace(
        mismatches=tally.mismatches,
        max_ulp=tally.max_ulp,
        max_share=tally.max_share,
        unspecified=tally.unspecified,
        first=tuple(tally.first),
        worst=tally.worst,
        most_off=tally.most_off,
        bound=limit.text(tally.terms, data_type),
    )


def _regions(result: Result | None, sizes: tuple[int, ...]) -> Iterator[tuple[Index, Wide | None]]:
    if result is not None:
        yield from result.tiles()
    else:
        for index in tiles(sizes, _BLOCK):
            yield index, None


class _Tally:
    """What is found as the regions of an output go by."""

    def __init__(self, rank: int) -> None:
        self.rank = rank
        self.mismatches = 0
        self.unspecified = 0
        self.max_ulp = 0.0
        self.max_share: float | None = None
        self.terms = 0
        self.first: list[Element] = []
        self.worst: Element | None = None
        self.most_off: Element | None = None

    def add(
        self,
        axes: tuple[int, ...],
        index: Index,
        expected: Array,
        actual: Array,
        data_type: str,
        limit: Limit,
        wide: Wide | None,
    ) -> None:
        flat_expected, flat_actual = expected.reshape(-1), actual.reshape(-1)
        differs = flat_expected != flat_actual
        if data_type in FORMATS:
            differs &= ~(np.isnan(flat_expected) & np.isnan(flat_actual))
        if wide is not None:
            self.terms = max(self.terms, wide.terms)
            if wide.unspecified is not None:
                self.unspecified += int((differs & wide.unspecified).sum())
                differs &= ~wide.unspecified
        where = np.flatnonzero(differs)
        if not where.size:
            return
        wanted, found = flat_expected[where], flat_actual[where]
        magnitude = None
        if limit.needs_kernel and wide is not None and wide.magnitude is not None:
            magnitude = wide.magnitude().reshape(-1)[where] * wide.terms
        error, units, bound = _errors(wanted, found, data_type, limit, magnitude)
        share = np.where(np.isnan(error), np.inf, error / bound)
        accepted = error <= bound
        reaches = np.abs(wanted.astype(np.float64)) + bound if data_type in FORMATS else None
        if reaches is not None:
            overflow = np.isinf(found) & np.isfinite(wanted) & (np.sign(found) == np.sign(wanted))
            accepted = np.where(
                np.isfinite(found) & np.isfinite(wanted),
                accepted,
                overflow & (reaches > FORMATS[data_type].largest),
            )
            share = np.where(accepted & np.isinf(found), 1.0, share)
        self.note(
            axes,
            index,
            expected.shape,
            where,
            wanted,
            found,
            units,
            share,
            accepted,
            has_bound=bool((bound > 0).any()),
        )

    def note(
        self,
        axes: tuple[int, ...],
        index: Index,
        shape: tuple[int, ...],
        where: NDArray[np.intp],
        wanted: Array,
        found: Array,
        units: Array,
        share: Array,
        accepted: Array,
        *,
        has_bound: bool,
    ) -> None:
        def element(at: int) -> Element:
            place = _global_index(axes, index, np.unravel_index(int(where[at]), shape), self.rank)
            ratio = float(share[at]) if has_bound else None
            return Element(place, wanted[at].item(), found[at].item(), _number(units[at]), ratio)

        refused = np.flatnonzero(~accepted)
        self.mismatches += int(refused.size)
        for at in refused[: _FIRST - len(self.first)] if len(self.first) < _FIRST else ():
            self.first.append(element(int(at)))
        if refused.size:
            at = int(refused[_worst(share[refused], units[refused])])
            if self.worst is None or _rank(share[at], units[at]) > _rank(self.worst.share, self.worst.ulp):
                self.worst = element(at)
        at = int(np.argmax(units))
        if self.most_off is None or _number(units[at]) > self.max_ulp:
            self.most_off = element(at)
        self.max_ulp = max(self.max_ulp, _number(units.max()))
        if has_bound:
            self.max_share = max(self.max_share or 0.0, _number(share.max()))


def _errors(
    wanted: Array, found: Array, data_type: str, limit: Limit, magnitude: Array | None
) -> tuple[Array, Array, Array]:
    """Return the error of each element, the same in ULP (in units for integers), and its bound."""
    if data_type not in FORMATS:
        larger, smaller = np.maximum(wanted, found), np.minimum(wanted, found)
        units = (larger.astype(np.uint64) - smaller.astype(np.uint64)).astype(np.float64)
        return units, units, np.zeros(units.shape)
    reference = wanted.astype(np.float64)
    error = np.abs(found.astype(np.float64) - reference)
    unit = ulp(reference, data_type)
    units = np.where(np.isnan(error), np.inf, error / unit)
    tolerance = limit.tolerance
    if tolerance.exact:
        return error, units, np.zeros(error.shape)
    limits = [
        (tolerance.ulp or 0.0) * unit,
        np.full(error.shape, tolerance.absolute or 0.0),
        (tolerance.relative or 0.0) * np.abs(reference),
    ]
    if limit.is_own:
        return error, units, np.maximum.reduce(limits)
    bound = np.add.reduce(limits)
    if magnitude is not None:
        bound = bound + magnitude * FORMATS[limit.accumulate].unit_roundoff
    return error, units, bound


def _worst(share: Array, units: Array) -> int:
    return int(np.lexsort((np.nan_to_num(units), np.nan_to_num(share)))[-1])


def _rank(share: Any, units: Any) -> tuple[float, float]:
    return (_number(share if share is not None else 0.0), _number(units))


def _number(value: Any) -> float:
    """Return a figure for a report; an infinite one as the largest float64, so that it stays a number in JSON."""
    value = float(value)
    return value if math.isfinite(value) else 1.7976931348623157e308


def _global_index(axes: tuple[int, ...], index: Index, local: tuple[Any, ...], rank: int) -> tuple[int, ...]:
    """Return where an element of a region stands in the output; `index` addresses the output transposed to `axes`."""
    rest = iter(local)
    place = [0] * rank
    for position, axis in enumerate(axes):
        step = index[position] if position < len(index) else slice(None)
        place[axis] = (step.start or 0) + int(next(rest)) if isinstance(step, slice) else int(step)
    return tuple(place)


def _braces(sizes: tuple[int, ...]) -> str:
    return "{" + ", ".join(map(str, sizes)) + "}"
