"""The outputs of a case compared with the expected values: equal, within the tolerance, outside it, or undefined."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmlcheck.comparison.records import LARGEST, MOST_LIKELY, MOST_SYSTEMATIC, Element, OutputResult
from dmlcheck.comparison.tolerances import Limit
from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.diagnostics.wording import braces
from dmlcheck.reference.arrays.blocks import tiles
from dmlcheck.reference.limits.precision import FLOAT32
from dmlcheck.specs.records import Tolerance
from dmlcheck.values.number_formats import FORMATS, ulp

if TYPE_CHECKING:  # modules that are needed only where elements differ
    from dmlcheck.comparison.screening import Settled
    from dmlcheck.reference.bounds import Bound

Array = NDArray[Any]
# The bounds of the elements where masks are true, by output and piece: positions in row-major order, and their bound.
Bounds = Iterator[tuple[str, Array, "Bound"]]

_BLOCK = 1 << 18
_SMALL = 1 << 12  # bytes
_FIRST = 3
_OF_A_CASE = 4.0  # ULP from the exact result to a case's expected value, if float64 loses some of it
_STRETCHES = 64
_FEW = 16  # elements: the errors of fewer say nothing of how they are spread
_MARKED = 1 << 20  # elements: in a larger output the wrong ones are counted, but not marked
_WIDER = 100.0  # times the derived tolerance: a published one that is wider is no likely one
_ROUNDED = 2.0  # ULP: errors of roundings at the end, which are never unlikely
_NEAR = 0.9  # ULP from the middle of a ball, which for likely errors may be a little elsewhere


class Comparison(NamedTuple):
    """The comparison of an output with its expected values, and a mask of the elements outside the tolerance.

    There is no mask if none is outside, or the output is too large to mark them.
    """

    result: OutputResult
    refused: Array | None = None


class JudgedOutputs(NamedTuple):
    """The outputs of an implementation for a desc, the expected ones, and their comparison by a limit.

    `undefined` has masks of the undefined elements, by output.
    """

    desc: OperatorDesc
    inputs: Mapping[str, Any]
    expected: Mapping[str, tuple[TensorDesc, Any]]
    actual: Mapping[str, Any]
    undefined: Mapping[str, Any]
    compared: Mapping[str, Comparison]
    limit: Limit


def compare(
    expected: Mapping[str, tuple[TensorDesc, Array]],
    actual: Mapping[str, Array],
    limit: Limit,
    bounds: Callable[..., Bounds],
    undefined: Mapping[str, Array] = {},
    settled: Sequence[Mapping[str, Settled]] = (),
) -> dict[str, Comparison]:
    """Compare outputs with their expected values, which have their tensors' sizes and types.

    `bounds` takes masks of the elements that differ, by output, and `is_likely` to ask for the likely errors instead of
    the largest, if these were not returned together; it is called only if elements differ. `undefined` has masks of
    the undefined elements, by output. `settled` has possible results about elements that need no bounds: the first that
    turns out to be right counts.
    """
    for known in (*settled, {}):
        compared, is_right = _compared(expected, actual, limit, bounds, undefined, known)
        if is_right:
            break
    return compared


def equal_outputs(
    expected: Mapping[str, tuple[TensorDesc, Array]], actual: Mapping[str, Array], limit: Limit
) -> dict[str, OutputResult]:
    """Return the results of small outputs that all have the bytes of the expected values; none if one may differ."""
    outputs = {}
    for name, (tensor, values) in expected.items():
        found = actual[name]
        if not (has_form(found, values) and have_equal_bytes(values, found)):
            return {}
        outputs[name] = _equal(tensor, values, limit, None)
    return outputs


def _compared(
    expected: Mapping[str, tuple[TensorDesc, Array]],
    actual: Mapping[str, Array],
    limit: Limit,
    bounds: Callable[..., Bounds],
    undefined: Mapping[str, Array],
    settled: Mapping[str, Settled],
) -> tuple[dict[str, Comparison], bool]:
    """Compare outputs, and return whether no settled element may have a larger share of its bound than was found."""
    tallies: dict[str, _Tally] = {}
    differing: dict[str, Differing] = {}
    compared: dict[str, Comparison] = {}
    for name, (tensor, values) in expected.items():
        found, is_undefined = actual[name], undefined.get(name)
        if not has_form(found, values):
            compared[name] = _misshapen(tensor, form_problem(found, values))
            continue
        compared[name] = Comparison(_equal(tensor, values, limit, is_undefined))
        if have_equal_bytes(values, found):
            continue
        known = settled.get(name)
        asked = None if known is None else known.asked
        differs = Differing(values, found, is_undefined, asked, is_float=tensor.data_type in FORMATS)
        if differs.any():
            differing[name], tallies[name] = differs, _Tally(compared[name].result, limit)
            if known is not None:
                tallies[name].errors, tallies[name].terms = known.squares, known.terms
    if differing:
        _judge_all(tallies, differing, bounds)
    if not tallies:
        return compared, True
    found_all = {**compared, **{name: tally.comparison() for name, tally in tallies.items()}}
    return found_all, all(tally.max_share >= settled[name].most for name, tally in tallies.items() if name in settled)


def _judge_all(
    tallies: Mapping[str, _Tally], differing: Mapping[str, Differing], bounds: Callable[..., Bounds]
) -> None:
    """Add the elements that differ to the tallies of their outputs."""
    with np.errstate(all="ignore"):
        for name, at, bound in bounds(differing):
            tallies[name].add(at, *differing[name].pair(at), bound)
        passed = {name: tallies[name].maybe_unlikely(differs) for name, differs in differing.items()}
        passed = {name: differs for name, differs in passed.items() if differs is not None}
        for name, at, bound in bounds(passed, is_likely=True) if passed else ():
            tallies[name].add_likely(at, *differing[name].pair(at), bound)


def allowed(
    expected: Mapping[str, tuple[TensorDesc, Array]], limit: Limit, bounds: Callable[..., Bounds]
) -> dict[str, Array]:
    """Return how far each element of outputs may be from the expected value; infinity if it is undefined."""
    every = {name: np.ones(tensor.sizes, dtype=bool) for name, (tensor, _) in expected.items()}
    found = {name: np.full(tensor.sizes, np.inf) for name, (tensor, _) in expected.items()}

    def narrow(name: str, at: Array, bound: Bound, width: Callable[..., Array]) -> None:
        tensor, values = expected[name]
        wanted, most = values.reshape(-1)[at], found[name].reshape(-1)
        unit = ulp(wanted.astype(np.float64), tensor.data_type) if tensor.data_type in FORMATS else 1.0
        own = width(wanted, wanted, tensor.data_type, limit, bound) * unit
        most[at] = np.fmin(most[at], np.where(bound.undefined, np.inf, own))

    has_sums = False
    with np.errstate(all="ignore"):
        for name, at, bound in bounds(every):
            has_sums = has_sums or bound.terms > 1
            narrow(name, at, bound, lambda *given: _judge(*given).allowed)
        is_capped = has_sums and limit.is_capped and not limit.is_own
        for name, at, bound in bounds(every, is_likely=True) if is_capped else ():
            if bound.terms > 1:
                narrow(name, at, bound, lambda *given: _likely(*given).most)
    return found


def _equal(tensor: TensorDesc, values: Array, limit: Limit, is_undefined: Array | None) -> OutputResult:
    """Return the result of an output without differing elements, apart from undefined ones."""
    share = 0.0 if limit.has_bound(tensor.data_type) else None
    count = 0 if is_undefined is None else int(is_undefined.sum())
    return OutputResult(values.size, 0, 0.0, share, count, data_type=tensor.data_type, sizes=tensor.sizes)


def _misshapen(tensor: TensorDesc, problem: str) -> Comparison:
    """Return the comparison of an output that has other sizes or another type than its tensor."""
    elements = tensor.element_count
    return Comparison(OutputResult(elements, elements, data_type=tensor.data_type, sizes=tensor.sizes, shape=problem))


def have_equal_bytes(x: Array, y: Array) -> bool:
    """Whether two arrays of one shape and type are small and have equal bytes: sooner found than by their elements."""
    return x.nbytes <= _SMALL and x.tobytes() == y.tobytes()


def has_form(actual: Array, expected: Array) -> bool:
    """Whether an output has the shape and the type of its expected values."""
    return actual.shape == expected.shape and actual.dtype == expected.dtype


def form_problem(actual: Array, expected: Array) -> str:
    """Return how the shape and the type of an output differ from its expected values', in words."""
    found, wanted = (f"{array.dtype} {braces(array.shape)}" for array in (actual, expected))
    return f"is {found} instead of {wanted}"


def _region(refused: Array) -> str | None:
    from dmlcheck.comparison.regions import region_text

    return region_text(refused)


class Differing:
    """A mask of the elements of an output that differ from the expected values, computed where it is read.

    Any NaN equals any other, and 0 equals -0. Undefined elements do not differ.
    """

    def __init__(
        self,
        expected: Array,
        actual: Array,
        undefined: Array | None = None,
        asked: Array | None = None,
        *,
        is_float: bool,
    ) -> None:
        """Take two arrays of one shape and type, and masks of this shape; `asked` marks the elements of interest."""
        self.asked = asked
        self.expected, self.actual, self.is_float = expected, actual, is_float
        self.undefined = undefined
        self.shape = expected.shape

    def __getitem__(self, where: Any) -> Array:
        wanted, found = self.expected[where], self.actual[where]
        asked = None if self.asked is None else self.asked[where]
        if asked is None or 8 * np.count_nonzero(asked) >= asked.size:
            differs = self._of(wanted, found)
            differs = differs if asked is None else differs & asked
        else:
            at = np.unravel_index(np.flatnonzero(asked), asked.shape)
            differs = np.zeros(asked.shape, dtype=bool)
            differs[at] = self._of(wanted[at], found[at])
        return differs if self.undefined is None else differs & ~self.undefined[where]

    def _of(self, wanted: Array, found: Array) -> Array:
        differs = np.asarray(wanted != found)
        if self.is_float and differs.any():
            differs &= ~(np.isnan(wanted) & np.isnan(found))
        return differs

    def any(self) -> bool:
        """Whether any element differs."""
        if self.expected.size <= _BLOCK:
            return bool(self[()].any())
        return any(self[index].any() for index in tiles(self.shape, _BLOCK))

    def among(self, asked: Array) -> Differing:
        """Return the mask of the elements that differ among those that are asked for."""
        asked = asked if self.asked is None else asked & self.asked
        return Differing(self.expected, self.actual, self.undefined, asked, is_float=self.is_float)

    def pair(self, at: Array) -> tuple[Array, Array]:
        """Return the expected and the actual values at some positions in row-major order."""
        return _elements(self.expected, at), _elements(self.actual, at)


def _elements(x: Array, at: Array) -> Array:
    """Return the elements at some positions in row-major order."""
    return x.reshape(-1)[at] if x.flags.c_contiguous else x[np.unravel_index(at, x.shape)]


class _Tally:
    """The counts of the differing elements of an output."""

    def __init__(self, base: OutputResult, limit: Limit) -> None:
        self.base, self.limit = base, limit
        self.sizes, self.data_type, self.elements = base.sizes, base.data_type, base.elements
        self.mismatches = self.unlikely = self.unlimited = self.terms = 0
        self.has_unlimited = self.has_capped = False
        self.squares = self.errors = 0.0
        self.undefined = base.undefined
        self.max_ulp: int | float = 0.0
        self.max_share = self.likely_share = self.allowed = 0.0
        self.has_bound = base.max_share is not None
        self.is_rounded = False
        self.first: list[tuple[int, Element]] = []
        self.worst: Element | None = None
        self.most_off: Element | None = None
        self.closest: Element | None = None
        self.refused: Array | None = None
        is_float = self.data_type in FORMATS
        self.far = np.zeros(self.elements, dtype=bool) if is_float else None  # the elements that are not surely likely
        self.stretches = np.zeros(min(_STRETCHES, max(1, self.elements)))

    def maybe_unlikely(self, differing: Differing) -> Differing | None:
        """Return the elements whose errors may be beyond the likely ones if all are within the bound, or None."""
        may_be_any = self.terms > 1 or self.has_unlimited
        if self.mismatches or self.limit.is_own or not (may_be_any or self.max_ulp > _ROUNDED):
            return None
        return differing if may_be_any or self.far is None else differing.among(self.far.reshape(self.sizes))

    def add(self, at: Array, wanted: Array, found: Array, bound: Bound) -> None:
        """Take elements that differ, by their positions."""
        self.terms = max(self.terms, bound.terms)
        if bound.undefined.any():
            kept = ~bound.undefined
            self.undefined += int(at.size - kept.sum())
            at, wanted, found, bound = at[kept], wanted[kept], found[kept], bound.of(kept)
        off = found.astype(np.float64) - bound.value
        total = float(off @ off)
        self.errors += total if math.isfinite(total) else math.inf
        if self.far is not None and self.terms <= 1:
            self.far[at] = ~_is_near(off, wanted, bound, self.data_type)
        self.is_rounded = self.is_rounded or (not self.limit.is_own and bool(bound.radius.any()))
        self.has_bound = self.has_bound or self.is_rounded
        self.has_unlimited = self.has_unlimited or any(side.unlimited is not None for side in (bound, *bound.others))
        if at.size:
            self._note(at, _judge(wanted, found, self.data_type, self.limit, bound))

    def add_likely(self, at: Array, wanted: Array, found: Array, bound: Bound) -> None:
        """Take elements once more, with the likely bound."""
        likely = _likely(wanted, found, self.data_type, self.limit, bound)
        beyond = ~likely.accepted & ~bound.undefined
        has_none = _is_unlimited(found, self.data_type, bound)
        has_none |= _is_unlimited(wanted, self.data_type, bound, _OF_A_CASE)
        self.unlimited += int((likely.accepted & has_none & ~bound.undefined).sum())
        if bound.terms > 1 and self.limit.is_capped:
            shares = _nearest(likely.share, found, self.data_type, self.limit, bound)
            shares = np.where(bound.undefined | np.isnan(shares), 0.0, shares)
            self.squares += float(np.square(np.fmin(shares, MOST_LIKELY)).sum())
            refused = beyond & ~likely.is_published & (likely.derived.share > MOST_LIKELY)
            beyond &= ~refused
            self._note_capped(at, likely.derived, refused)
        self.unlikely += int(beyond.sum())
        if beyond.any():
            self.likely_share = max(self.likely_share, _number(likely.share[beyond].max()))

    def _note_capped(self, at: Array, judged: _Judged, refused: Array) -> None:
        """Note elements that are within the bound, but off by too many times their likely error."""
        if refused.any():
            self.has_capped = True
            share, most = judged.share / MOST_LIKELY, judged.allowed * MOST_LIKELY
            capped = judged._replace(accepted=~refused, share=share, allowed=most)
            element = partial(self._element, at, capped)
            self._note_refused(at, capped, element)
            self._note_closest(capped, element)

    def _note(self, places: Array, judged: _Judged) -> None:
        """Note the elements at some positions: the refused ones, the one most off, and the closest to its bound."""
        element = partial(self._element, places, judged)
        units = judged.units
        self._note_refused(places, judged, element)
        at = int(np.argmax(units))
        if self.most_off is None or _units(units[at]) > self.max_ulp:
            self.most_off, self.max_ulp = element(at), _units(units[at])
        if self.has_bound:
            self._note_closest(judged, element)

    def _element(self, places: Array, judged: _Judged, at: int) -> Element:
        place = tuple(int(i) for i in np.unravel_index(places[at], self.sizes))
        is_unlimited = bool(np.isnan(judged.share[at]))
        share = float(judged.share[at]) if self.has_bound and not is_unlimited else None
        wanted, found = judged.wanted[at].item(), judged.found[at].item()
        return Element(place, wanted, found, _units(judged.units[at]), share, bool(judged.unrounded[at]), is_unlimited)

    def _note_refused(self, places: Array, judged: _Judged, element: Callable[[int], Element]) -> None:
        refused = np.flatnonzero(~judged.accepted)
        self.mismatches += int(refused.size)
        if not refused.size:
            return
        stretches = places[refused] * self.stretches.size // self.elements
        np.maximum.at(self.stretches, stretches, judged.units[refused])
        if self.refused is None and self.elements <= _MARKED:
            self.refused = np.zeros(self.sizes, dtype=bool)
        if self.refused is not None:
            self.refused.reshape(-1)[places[refused]] = True
        early = refused[np.argsort(places[refused], kind="stable")[:_FIRST]]
        found_here = [(int(places[at]), element(int(at))) for at in early]
        self.first = sorted([*self.first, *found_here], key=lambda entry: entry[0])[:_FIRST]
        at = int(refused[_worst(judged.share[refused], judged.units[refused])])
        worst = element(at)
        if self.worst is None or _rank(worst) > _rank(self.worst):
            self.worst, self.allowed = worst, float(judged.allowed[at])

    def _note_closest(self, judged: _Judged, element: Callable[[int], Element]) -> None:
        share = judged.share
        if not np.isnan(share).all():
            at = int(np.nanargmax(share))
            if self.closest is None or _number(share[at]) > self.max_share:
                self.closest, self.max_share = element(at), _number(share[at])
                self.allowed = self.allowed if self.worst else float(judged.allowed[at])
        elif self.worst is None and self.closest is None:
            self.allowed = math.inf

    def comparison(self) -> Comparison:
        """Return the comparison."""
        result = self.base._replace(
            max_share=self.max_share if self.has_bound else None,
            undefined=self.undefined,
            mismatches=self.mismatches,
            max_ulp=self.max_ulp,
            first=tuple(element for _, element in self.first),
            worst=self.worst,
            most_off=self.most_off,
            closest=self.closest,
            profile=tuple(map(_number, self.stretches)) if self.mismatches else (),
            bound=self.limit.text(self.data_type, self.allowed),
            decided_by=self.limit.decided_by(
                self.data_type,
                self.terms,
                is_rounded=self.is_rounded,
                most_likely=MOST_LIKELY if self.has_capped else 0,
            ),
            unlikely=self.unlikely,
            likely_share=self.likely_share if self.unlikely else None,
            region=None if self.refused is None else _region(self.refused),
            unlimited=self.unlimited,
            systematic=self._systematic(),
            squares=self.errors,
        )
        return Comparison(result, self.refused)

    def _systematic(self) -> float | None:
        """Return the root mean square of the errors in units of the likely error, if that is too large for roundings.

        Errors of factors that are truncated to another type all have one direction, and the size of the likely error.
        """
        count = self.elements - self.undefined
        if self.data_type not in FORMATS or self.limit.precision.factors != FLOAT32 or self.mismatches or count < _FEW:
            return None
        share = math.sqrt(self.squares / count)
        return share if share > MOST_SYSTEMATIC else None


# ---- elements


class _Judged(NamedTuple):
    """Elements that are not equal: the error of each in units, its share of the tolerance, and whether it is accepted.

    `allowed` is the tolerance in units; the share of an infinite one is NaN. The errors of integers are exact: UINT64,
    which holds the difference of any two. `unrounded` marks errors that are measured from an unrounded result other
    than the expected value.
    """

    wanted: Array
    found: Array
    units: Array
    share: Array
    accepted: Array
    allowed: Array
    unrounded: Array


def _judge(wanted: Array, found: Array, data_type: str, limit: Limit, bound: Bound) -> _Judged:
    judge = _judge_floats if data_type in FORMATS else _judge_integers
    judged = judge(wanted, found, data_type, limit, None if limit.is_own else bound)
    return _by_any(judged, data_type, limit, bound) if bound.others else judged


class _Likely(NamedTuple):
    """Elements within the tolerance, judged by their likely errors.

    `derived` follows from only the formula. A published tolerance that is much wider says nothing about likely errors:
    `share` and `accepted` are then by the formula; `is_published` marks the elements that only the published one
    accepts, `published` is its width in units.
    """

    derived: _Judged
    share: Array
    accepted: Array
    is_published: Array
    published: Array

    @property
    def most(self) -> Array:
        """Return the largest error of a sum, in units: a multiple of its likely error, or the published tolerance."""
        return np.maximum(self.published, MOST_LIKELY * self.derived.allowed)


def _likely(wanted: Array, found: Array, data_type: str, limit: Limit, bound: Bound) -> _Likely:
    derived = _judge(wanted, found, data_type, limit._replace(tolerance=None), bound)
    row = limit.tolerance
    if row is None or row.exact or not limit.has_bound(data_type):
        none = np.zeros(derived.allowed.shape)
        return _Likely(derived, derived.share, derived.accepted, none.astype(bool), none)
    judged = _judge(wanted, found, data_type, limit, bound)
    is_wide = judged.allowed > _WIDER * derived.allowed
    share = np.where(is_wide, derived.share, judged.share)
    accepted = np.where(is_wide, derived.accepted, judged.accepted)
    published = np.where(judged.allowed > derived.allowed, judged.allowed, 0.0)
    return _Likely(derived, share, accepted, judged.accepted & ~derived.accepted, published)


def _nearest(share: Array, found: Array, data_type: str, limit: Limit, bound: Bound) -> Array:
    """Return errors as shares of the bound of the nearest of several right results; NaN where one has no limit."""
    for side in bound.others:
        wanted = side.value.astype(found.dtype)
        off = _likely(wanted, found, data_type, limit, side).share
        share = np.minimum(share, np.where(same(found, wanted), 0.0, off))
    return share


def _is_unlimited(found: Array, data_type: str, bound: Bound, units: float = 1.0) -> Array:
    """Return which numbers have no limit: they are within no finite tolerance, and are no exact result.

    An element does not pass if that is true of the actual or of the expected value.
    """
    unlimited, near = np.zeros(found.shape, dtype=bool), np.zeros(found.shape, dtype=bool)
    if all(side.unlimited is None for side in (bound, *bound.others)):
        return unlimited
    for side in (bound, *bound.others):
        none = np.zeros(found.shape, dtype=bool) if side.unlimited is None else side.unlimited
        unit = units * ulp(side.value, data_type) if data_type in FORMATS else 0.0
        reach = np.where(none, unit, side.radius + unit)
        unlimited |= none
        near |= np.abs(found.astype(np.float64) - side.value) <= reach
        near |= same(found, side.value.astype(found.dtype))
    return unlimited & ~near


def _by_any(judged: _Judged, data_type: str, limit: Limit, bound: Bound) -> _Judged:
    """Accept elements that are one of several right results, where the expected one is another; they have no error."""
    sides = [bound._replace(others=()), *bound.others]

    def is_right(values: Array) -> Array:
        wanted = (side.value.astype(values.dtype) for side in sides)
        judgements = (_judge(value, values, data_type, limit, side) for value, side in zip(wanted, sides, strict=True))
        found: Array = np.logical_or.reduce([one.accepted | same(one.wanted, values) for one in judgements])
        return found

    taken = is_right(judged.found) & is_right(judged.wanted) & ~judged.accepted
    none = np.zeros_like(judged.units)
    share, units = np.where(taken, 0.0, judged.share), np.where(taken, none, judged.units)
    return judged._replace(units=units, share=share, accepted=judged.accepted | taken)


def same(first: Array, second: Array) -> Array:
    """Return which elements are equal; any NaN is."""
    found: Array = first == second
    return found | (np.isnan(first) & np.isnan(second)) if first.dtype.kind == "f" else found


def _judge_integers(wanted: Array, found: Array, data_type: str, limit: Limit, bound: Bound | None) -> _Judged:
    larger, smaller = np.maximum(wanted, found), np.minimum(wanted, found)
    exact = larger.astype(np.uint64) - smaller.astype(np.uint64)
    units = exact.astype(np.float64)
    allowed = np.zeros(units.shape)
    if limit.tolerance is not None and limit.has_bound(data_type):
        allowed = np.maximum.reduce(_limits(limit.tolerance, wanted.astype(np.float64), np.ones(units.shape)))
    share, accepted = units / allowed, units <= allowed
    if bound is not None:
        middle = _middle(wanted.astype(np.float64), bound, bound.radius)
        distance = np.abs(found.astype(np.float64) - middle)
        share = np.fmin(share, np.where(bound.radius > 0, distance / bound.radius, np.inf))
        accepted |= (distance <= bound.radius) & (bound.radius > 0)
        allowed = np.maximum(allowed, bound.radius)
    share = np.where(np.isinf(allowed), np.nan, share)
    return _Judged(wanted, found, exact, share, accepted, allowed, np.zeros(units.shape, bool))


def _judge_floats(wanted: Array, found: Array, data_type: str, limit: Limit, bound: Bound | None) -> _Judged:
    """Measure errors from the unrounded result if it rounds to the expected value, else from the expected value.

    An accepted error is measured from the nearest of the right results.
    """
    expected, actual = wanted.astype(np.float64), found.astype(np.float64)
    is_result = np.zeros(expected.shape, bool) if bound is None else _is_result(expected, bound, data_type)
    reference = expected if bound is None else np.where(is_result, bound.value, expected)
    unit = ulp(reference, data_type)
    allowed = np.zeros(reference.shape)
    if limit.tolerance is not None and limit.has_bound(data_type):
        limits = _limits(limit.tolerance, reference, unit)
        allowed = np.maximum.reduce(limits) if limit.is_own else np.add.reduce(limits)
    is_exact = limit.tolerance is not None and limit.tolerance.exact
    if bound is not None and bound.is_rounded and not is_exact and is_result.all():
        most = np.maximum(_reach(bound.value, bound, unit, data_type), allowed)
        if np.isfinite(actual).all() and np.isfinite(most).all():
            return _judge_results(wanted, found, bound, unit, most)
    share, accepted = _within(actual, reference, allowed, data_type)
    if bound is not None and bound.is_rounded:
        reach = bound.radius if is_exact else _reach(reference, bound, unit, data_type)
        near, is_near = _within(actual, _middle(reference, bound, reach), reach, data_type)
        # Near a pole, or an end of the domain, rounding decides whether it is infinite, NaN or a number of any size.
        is_near |= np.isinf(bound.radius) & ~np.isfinite(reference) & ~np.isfinite(actual)
        share, accepted, allowed = np.fmin(share, near), accepted | is_near, np.maximum(allowed, reach)
    units = _distance(actual, reference) / unit
    if limit.precision.is_directml and data_type == "FLOAT16" and bound is not None:
        is_cut = _is_cut(actual, reference, bound, data_type)
        share, units, accepted = np.where(is_cut, 0.0, share), np.where(is_cut, 0.0, units), accepted | is_cut
    share = np.where(np.isinf(allowed) & accepted, np.nan, share)
    allowed = np.where(np.isfinite(reference), allowed / unit, 0.0)
    judged = _Judged(wanted, found, units, share, accepted, allowed, is_result & (reference != expected))
    if bound is None or not bound.is_rounded:
        return judged
    return _from_the_nearest(judged, accepted & ~is_result, data_type, bound)


def _is_cut(actual: Array, reference: Array, bound: Bound, data_type: str) -> Array:
    """Return which elements are the largest number in the place of an infinity that only the rounding makes.

    Direct3D's conversions to FLOAT16 round toward 0.
    """
    is_rounded = np.isinf(reference) & np.isfinite(bound.value)
    found: Array = is_rounded & (actual == np.copysign(FORMATS[data_type].largest, reference))
    return found


def _reach(reference: Array, bound: Bound, unit: Array, data_type: str) -> Array:
    """Return how far a rounded result may be from the middle of its ball: the radius and a unit of the reference.

    The numbers at the end of a wide ball around the reference are rounded to half of a larger unit.
    """
    reach: Array = bound.radius + unit
    ends = np.abs(bound.value) + bound.radius
    is_wide = (ends > 2 * np.abs(reference)) & (np.abs(reference - bound.value) <= reach)
    if not is_wide.any():
        return reach
    half = ulp(np.minimum(ends, FORMATS[data_type].largest), data_type) / 2
    return np.where(is_wide, bound.radius + np.fmax(unit, half), reach)


def _judge_results(wanted: Array, found: Array, bound: Bound, unit: Array, most: Array) -> _Judged:
    """Measure the errors of results that are all finite, and whose expected values are the bound's."""
    error = np.abs(found - bound.value)
    share, accepted = error / most, error <= most
    is_other = bound.value != wanted
    return _Judged(
        wanted, found, error / unit, np.minimum(share, 1.0, out=share, where=accepted), accepted, most / unit, is_other
    )


def _is_result(expected: Array, bound: Bound, data_type: str) -> Array:
    is_near: Array = np.abs(bound.value - expected) <= ulp(expected, data_type) / 2
    return is_near if is_near.all() else is_near | _just_overflows(expected, bound, data_type)


def _from_the_nearest(judged: _Judged, others: Array, data_type: str, bound: Bound) -> _Judged:
    """Measure the errors of `others`, which are right though another result is expected, from the nearest right result.

    Where rounding decides between two results, the bound goes from one to the other, and the mirror image of the
    expected one is right as well.
    """
    expected, actual, middle = judged.wanted.astype(np.float64), judged.found.astype(np.float64), bound.value
    unit = ulp(np.fmax(np.abs(middle), np.abs(expected)), data_type)
    is_end = np.abs(expected - middle) > bound.radius / 2
    from_mirror = np.where(is_end, _distance(actual, 2 * middle - expected), np.inf)
    from_middle = _distance(actual, middle) / ulp(middle, data_type)
    nearest = np.fmin(from_middle, from_mirror / unit)
    taken = others & (nearest < judged.units)
    return judged._replace(
        units=np.where(taken, nearest, judged.units),
        share=np.where(taken, np.minimum(judged.share, from_mirror / (bound.radius + unit)), judged.share),
        unrounded=judged.unrounded | (taken & (nearest == from_middle)),
    )


def _is_near(off: Array, wanted: Array, bound: Bound, data_type: str) -> Array:
    """Return which results are surely within their likely errors, which are never less than one unit."""
    off = np.abs(off)
    is_near: Array = (off <= _NEAR * ulp(bound.value, data_type)) & (np.abs(wanted - bound.value) <= off)
    return is_near


def _middle(expected: Array, bound: Bound, reach: Array) -> Array:
    """Return the midpoints of the balls of right results; the expected values of results outside their balls."""
    is_bounded = np.isfinite(bound.value) & (np.abs(expected - bound.value) <= reach)
    return np.where(is_bounded, bound.value, expected)


def _just_overflows(expected: Array, bound: Bound, data_type: str) -> Array:
    """Return which infinite results a finite number within the bound could have been rounded to."""
    toward, largest = np.sign(expected) * bound.value, FORMATS[data_type].largest
    found: Array = np.isinf(expected) & np.isfinite(bound.value) & (toward + bound.radius > largest)
    return found & (toward - bound.radius <= largest + float(ulp(np.array(largest), data_type)))


def _distance(actual: Array, reference: Array) -> Array:
    return np.where(np.isfinite(actual) & np.isfinite(reference), np.abs(actual - reference), np.inf)


def _within(actual: Array, reference: Array, allowed: Array, data_type: str) -> tuple[Array, Array]:
    """Return the errors as shares of the tolerance, and which of them are within it.

    An infinity is right if the tolerance reaches a number that rounds to it: half a unit beyond the largest number.
    """
    error = _distance(actual, reference)
    accepted = (error <= np.where(np.isfinite(reference), allowed, 0.0)) | (np.isinf(allowed) & np.isfinite(reference))
    largest = FORMATS[data_type].largest
    room = (largest - np.abs(reference)) + float(ulp(np.array(largest), data_type)) / 2
    accepted |= np.isinf(actual) & np.isfinite(reference) & (np.sign(actual) == np.sign(reference)) & (room <= allowed)
    share = np.where((error == 0) | np.isinf(error), error, error / allowed)
    return np.where(accepted & (share > 1), 1.0, share), accepted


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
    """Return the place of the largest share; of several the one with the most units, and of these the last."""
    share = np.nan_to_num(share)
    largest = np.flatnonzero(share == share.max())
    units = np.nan_to_num(units[largest])
    return int(largest[np.flatnonzero(units == units.max())[-1]])


def _rank(element: Element) -> tuple[float, float]:
    return (_number(element.share if element.share is not None else 0.0), element.ulp)


def _units(value: Any) -> int | float:
    """Return an error for a report; the error of an integer stays exact, however large."""
    return int(value) if value.dtype.kind == "u" else _number(value)


def _number(value: Any) -> float:
    """Return a number for a report; infinity becomes the largest float64, so that JSON can represent it."""
    value = float(value)
    return value if math.isfinite(value) else LARGEST
