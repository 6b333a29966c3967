"""Bounds of graphs: steps computed on numbers with errors, so that all their roundings add up."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.descs.records import OperatorDesc, TensorDesc, TensorPart
from dmlcheck.graphs.buffers import Array, from_bytes
from dmlcheck.graphs.records import Step
from dmlcheck.reference.ball.errors import Arithmetic
from dmlcheck.reference.ball.numbers import Ball
from dmlcheck.reference.bindings import row
from dmlcheck.reference.bounds import Bound, arithmetic_of, bounds, function_range
from dmlcheck.reference.data_types import infinite
from dmlcheck.reference.rows import ELEMENTS
from dmlcheck.specs.records import INPUT, OUTPUT
from dmlcheck.values.layouts import viewed
from dmlcheck.values.number_formats import FORMATS, NUMPY_TYPES


class Carried(NamedTuple):
    """The elements of a buffer with the errors that right implementations may have.

    `value` are the results without roundings, flat; `radius` how far roundings may take each of them from there, and
    `likely` how far they probably do: None where all elements are exact. `terms` is the length of the longest sum on
    the way.
    """

    data_type: str
    value: Array
    radius: Array | None = None
    likely: Array | None = None
    terms: int = 0


Given = Mapping[str, "Array | Carried"]  # of each tensor its bytes, or its bounds


def carried(
    steps: Iterable[Step],
    given: Given,
    wanted: Collection[str] | None = None,
    *,
    wants_likely: bool = True,
    **arithmetic: Any,
) -> dict[str, Carried]:
    """Return the wanted results of steps, by name, or all; `arithmetic` are the arguments of `bounds`.

    A tensor that is not wanted is kept until its last reader has it. Without `wants_likely` the likely errors are as
    large as the others, and take no time. TooMuchWork if a step would take too long.
    """
    steps = tuple(steps)
    last = {name: number for number, step in enumerate(steps) for name in step.inputs.values()}
    held: dict[str, Array | Carried] = dict(given)
    made: dict[str, Carried] = {}
    for number, step in enumerate(steps):
        with np.errstate(all="ignore"):
            found = _carried(step, held, arithmetic, wants_likely=wants_likely)
        made.update(found if wanted is None else {name: found[name] for name in found.keys() & wanted})
        held.update({name: tensor for name, tensor in found.items() if last.get(name, -1) > number})
        del found
        for name in {name for name in step.inputs.values() if last[name] == number}:
            del held[name]
    return made


def _carried(step: Step, held: Given, arithmetic: Mapping[str, Any], *, wants_likely: bool) -> dict[str, Carried]:
    outputs = [part for part in step.desc.tensors(OUTPUT) if step.outputs.get(part.label)]
    hard = _sides(step, outputs, held, arithmetic, is_likely=False)
    likely = _sides(step, outputs, held, arithmetic, is_likely=True) if wants_likely else hard
    return {step.outputs[label]: side.carried(likely[label]) for label, side in hard.items()}


def _sides(
    step: Step, outputs: list[TensorPart], held: Given, arithmetic: Mapping[str, Any], *, is_likely: bool
) -> dict[str, _Side]:
    """Return the bounds of a step's outputs by label."""
    own = arithmetic_of(step.desc, arithmetic.get("accumulate", "FLOAT32"), is_likely=is_likely)
    parts = {part.label: part.tensor for part in step.desc.tensors(INPUT)}
    inputs = {label: _input(tensor, held[step.inputs[label]], own) for label, tensor in parts.items()}
    stored = {label: _stored(x, parts[label]) for label, x in inputs.items()}
    compute = partial(_of_step, step, outputs, parts, arithmetic=arithmetic, is_likely=is_likely)
    sides = compute(inputs)
    if any(stored[label] is not x for label, x in inputs.items()):
        _differ(sides, compute(stored))
    return sides


def _stored(x: Any, tensor: TensorDesc) -> Any:
    """Return an input with infinities for the numbers that overflow when they are stored; itself if there are none."""
    if not isinstance(x, Ball) or tensor.data_type not in FORMATS:
        return x
    value = infinite(tensor.data_type, x.value)
    if value is x.value:
        return x
    is_new = np.isinf(value) & np.isfinite(x.value)
    return Ball(value, np.where(is_new, 0.0, x.radius), x.arithmetic, x.terms)


def _differ(sides: dict[str, _Side], others: dict[str, _Side]) -> None:
    """Leave elements without a bound where tensors that are stored give other results than numbers that are kept."""
    for label, side in sides.items():
        a, b = (one.radius * 0 if one.value is None else one.value for one in (side, others[label]))
        is_same = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) < side.radius + others[label].radius)
        side.radius = np.where(is_same, side.radius, np.inf)


def _of_step(
    step: Step,
    outputs: list[TensorPart],
    parts: Mapping[str, TensorDesc],
    inputs: Mapping[str, Any],
    *,
    arithmetic: Mapping[str, Any],
    is_likely: bool,
) -> dict[str, _Side]:
    """Return the bounds of a step's outputs by label, for its inputs, of which `parts` has the tensors."""

    def run(given: Mapping[str, Any], desc: OperatorDesc = step.desc) -> dict[str, _Side]:
        return _bounded(desc, outputs, given, is_likely=is_likely, **arithmetic)

    balls = {label: x for label, x in inputs.items() if isinstance(x, Ball)}
    if not balls:
        return run(inputs)
    if _may_spread(step.desc, balls, outputs):
        values = {label: np.asarray(x.value) if isinstance(x, Ball) else x for label, x in inputs.items()}
        power = 1 if step.desc.spec.short in _NORMS else 2
        return _spread(run(values), run(_errors(inputs, power), _without_padding(step.desc)), power)
    try:
        if step.desc.spec.short != "CAST":
            sides = run(inputs)
            if row(step.desc.spec.operator).kernel.tiles is ELEMENTS:
                _stay_unbounded(sides, balls)
            return sides
    except (ArithmeticError, AttributeError, IndexError, RecursionError, TypeError, ValueError):
        pass  # of a kernel that takes no errors in one of its inputs
    sides = _lost(run({label: _rounded(x, parts[label]) for label, x in inputs.items()}))
    if step.desc.spec.short in ("TOP_K", "TOP_K1"):
        _sort(sides["OutputValueTensor"], balls["InputTensor"], step.desc.values["Axis"])
    return sides


# Operators whose results move no more than the errors of their inputs do when they are put in the inputs' place: they
# move elements, take the largest, or add them with factors, of which the absolute values are taken.
_MOVING = (
    "AVERAGE_POOLING AVERAGE_POOLING1 AVERAGE_POOLING_GRAD CONVOLUTION FOLD GATHER GATHER_ND GATHER_ND1 LP_POOLING"
    " LP_POOLING1 MAX_POOLING MAX_POOLING1 MAX_POOLING2 MAX_UNPOOLING PADDING PADDING1 RESAMPLE RESAMPLE1"
    " RESAMPLE2 RESAMPLE3 RESAMPLE_GRAD RESAMPLE_GRAD1 ROI_ALIGN ROI_ALIGN1 ROI_POOLING SCATTER SCATTER_ND SLICE_GRAD"
    " UNFOLD UPSAMPLE_2D"
)
_SPREADING = frozenset(_MOVING.split())
_NORMS = ("LP_POOLING", "LP_POOLING1")  # of sums that are no sums of squares
# Operators whose results jump: a remainder of 0 may be the whole divisor, and a whole number the next one. An
# implementation jumps in all elements or in none: these errors do not add up as independent ones do, so the elements
# are left without a bound. The functions return a mask of these from the results and their errors.
_JUMPS: dict[str, Callable[[Array, Array], Array]] = {
    **dict.fromkeys(("MODULUS_FLOOR", "MODULUS_TRUNCATE"), lambda value, radius: radius > np.abs(value) / 2),
    **dict.fromkeys(("CEIL", "FLOOR", "ROUND"), lambda _, radius: (radius >= _HALF_A_JUMP) & (radius <= 1)),
}
_HALF_A_JUMP = 0.5
# Inputs that say where elements are, and factors: errors in these are another matter.
_PLACES = ("IndicesTensor", "ROITensor", "BatchIndicesTensor")
_FACTORS = ("FilterTensor",)


def _may_spread(desc: OperatorDesc, inexact: Collection[str], outputs: Iterable[TensorPart]) -> bool:
    """Whether the errors of some inputs of an operator spread to its outputs as the inputs do."""
    if desc.spec.short == "CAST":
        return all(part.tensor.data_type in FORMATS for part in outputs)
    is_fused = desc.values.get("FusedActivation") is not None
    return desc.spec.short in _SPREADING and not is_fused and not {*_PLACES, *_FACTORS} & set(inexact)


def _errors(inputs: Mapping[str, Any], power: int) -> dict[str, Any]:
    """Return inputs replaced by a power of their errors; indices stay, and factors become their absolute values."""
    found = {}
    for label, x in inputs.items():
        if label in _PLACES:
            found[label] = x
        elif label in _FACTORS:
            found[label] = np.abs(x.astype(np.float64)) ** power
        else:
            found[label] = x.radius**power if isinstance(x, Ball) else np.zeros_like(x)
    return found


def _without_padding(desc: OperatorDesc) -> OperatorDesc:
    """Return an operator that pads with 0, which has no error."""
    return desc._replace(values={**desc.values, "PaddingValue": 0}) if "PaddingValue" in desc.values else desc


def _spread(own: dict[str, _Side], spread: dict[str, _Side], power: int) -> dict[str, _Side]:
    """Add the errors of all inputs, carried through a step, to the bounds of its outputs: any element may have them.

    The errors of the terms of a sum are independent of each other: their squares add up.
    """
    for label, side in own.items():
        if label.startswith("OutputIndices"):
            side.radius = np.full(side.radius.shape, np.inf)
        else:
            more = spread[label]
            total = more.radius if more.value is None else np.abs(more.value) + more.radius
            side.radius = side.radius + (np.sqrt(total) if power == 2 else total)
    return own


def _stay_unbounded(sides: dict[str, _Side], balls: Mapping[str, Ball]) -> None:
    """Leave elements without a bound where an input has none, though the function has limits: they may be NaN."""
    for side in sides.values():
        for x in balls.values():
            if x.shape == side.tensor.sizes:
                side.radius = np.where(np.isinf(x.radius).reshape(-1), np.inf, side.radius)


def _lost(sides: dict[str, _Side]) -> dict[str, _Side]:
    """Leave outputs without any bound."""
    for side in sides.values():
        side.radius = np.full(side.radius.shape, np.inf)
    return sides


def _sort(side: _Side, x: Ball, axis: int) -> None:
    """Bound elements that were sorted: an element of any rank moves no more than the most of all along the axis."""
    most = np.broadcast_to(x.radius.max(axis=axis, keepdims=True), side.tensor.sizes).reshape(-1)
    side.radius = most + _rounding(np.zeros(1) if side.value is None else side.value, most, side.tensor.data_type)


def _rounded(x: Any, tensor: TensorDesc) -> Any:
    if not isinstance(x, Ball):
        return x
    dtype = NUMPY_TYPES[tensor.data_type]
    return (x.value if dtype.kind == "f" else np.rint(x.value)).astype(dtype)


def _bounded(
    desc: OperatorDesc, outputs: list[TensorPart], inputs: Mapping[str, Any], **arithmetic: Any
) -> dict[str, _Side]:
    jumps, limits = _JUMPS.get(desc.spec.short.removeprefix("ELEMENT_WISE_")), function_range(desc)
    sides = {part.label: _Side(part.tensor, limits, jumps) for part in outputs}
    asked = {part.label: np.broadcast_to(np.True_, part.tensor.sizes) for part in outputs}
    for label, at, bound in bounds(desc, _by_field(desc, inputs), asked, **arithmetic):
        sides[label].put(at, bound)
    return sides


def _by_field(desc: OperatorDesc, inputs: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in desc.spec.inputs:
        each = [inputs[part.label] for part in desc.parts[field.name]]
        if each:
            found[field.name] = each[0] if field.type == "TENSOR_DESC" else each
    return found


class _Side:
    """The bounds of a tensor as they come in, piece by piece."""

    def __init__(
        self, tensor: TensorDesc, limits: tuple[float, float], jumps: Callable[[Array, Array], Array] | None = None
    ) -> None:
        self.tensor = tensor
        self.limits = limits
        self.jumps = jumps
        count = math.prod(tensor.sizes)
        self.value: Array | None = None
        self.radius = np.zeros(count)
        self.terms = 0

    def put(self, at: Array, bound: Bound) -> None:
        """Put the bounds of some elements in their places."""
        value, radius = _within(*_hull(bound, self.tensor.data_type), *self.limits)
        if self.jumps is not None:
            radius = np.where(self.jumps(value, radius), np.inf, radius)
        if self.value is None:
            self.value = np.zeros(self.radius.size, value.dtype)
        elif self.value.dtype != value.dtype:
            self.value = self.value.astype(np.float64)
        if bound.is_rounded and self.tensor.data_type in FORMATS:
            radius = radius + _rounding(value, radius, self.tensor.data_type)
        self.value[at] = value
        self.radius[at] = np.where(bound.undefined, np.inf, radius)
        self.terms = max(self.terms, bound.terms)

    def carried(self, likely: _Side) -> Carried:
        """Return the tensor in its buffer."""
        value = np.zeros(self.radius.size) if self.value is None else self.value
        if not self.radius.any():
            return Carried(self.tensor.data_type, self._laid_out(value), terms=self.terms)
        radius, probable = self._laid_out(self.radius), self._laid_out(np.minimum(likely.radius, self.radius))
        return Carried(self.tensor.data_type, self._laid_out(value), radius, probable, self.terms)

    def _laid_out(self, elements: Array) -> Array:
        if self.tensor.strides is None:
            return elements
        buffer = np.zeros(self.tensor.extent, elements.dtype)
        viewed(self.tensor, buffer)[...] = elements.reshape(self.tensor.sizes)
        return buffer


def _hull(bound: Bound, data_type: str) -> tuple[Array, Array]:
    """Return the midpoint of several right results, and the distance to the ends.

    If one of them is NaN or infinite and others are not, it is the first, and nothing bounds it. Nor is there a bound
    where they are far apart: an implementation takes the same way for all elements.
    """
    if not bound.others:
        return bound.value, bound.radius
    sides = [(side.value.astype(np.float64), side.radius) for side in (bound, *bound.others)]
    low = np.minimum.reduce([value - radius for value, radius in sides])
    high = np.maximum.reduce([value + radius for value, radius in sides])
    first, is_nan = sides[0][0], np.logical_and.reduce([np.isnan(value) for value, _ in sides])
    with np.errstate(invalid="ignore"):
        is_one, reach = (low == high) | is_nan, (high - low) / 2
        is_near = reach <= np.maximum(np.abs(first) / 8, _smallest(data_type))
        middle = np.where(is_near, low + reach, first)
    return np.where(is_one, first, middle), np.where(is_one, 0.0, np.where(is_near, reach, np.inf))


def _smallest(data_type: str) -> float:
    """Return the smallest normal number of a float, or 1 of whole numbers."""
    return float(2.0 ** FORMATS[data_type].least_exponent) if data_type in FORMATS else 1.0


def _within(value: Array, radius: Array, low: float, high: float) -> tuple[Array, Array]:
    """Return results whose errors do not exceed the range of a function; without a bound they may be NaN."""
    if math.isinf(low):
        return value, radius
    return value, np.where(np.isinf(radius), radius, np.fmin(radius, np.fmax(value - low, high - value)))


def _rounding(value: Array, radius: Array, data_type: str) -> Array:
    """Return how far the rounding of results to their type may take them; denormals may be flushed."""
    form = FORMATS[data_type]
    size = np.abs(value) + radius
    return np.where(size < _smallest(data_type), size, size * form.unit_roundoff)


def _input(tensor: TensorDesc, given: Array | Carried, arithmetic: Arithmetic) -> Any:
    """Return an input as an array where it is exact, else as balls."""
    if not isinstance(given, Carried):
        return from_bytes(tensor, given)
    radius = given.likely if arithmetic.is_likely else given.radius
    value = viewed(tensor, given.value)
    if radius is None:
        return value.astype(NUMPY_TYPES[tensor.data_type], copy=False)
    return Ball(value.astype(np.float64, copy=False), viewed(tensor, radius), arithmetic, given.terms)
