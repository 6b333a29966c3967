"""Bounds of graphs: steps computed on numbers with errors, so that all their roundings add up."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.descs.records import OperatorDesc, TensorDesc, TensorPart
from dmlcheck.graphs.records import Graph, Step
from dmlcheck.graphs.tensor_bounds import Carried, TensorBounds, off_by, rounding
from dmlcheck.reference.arrays.data_types import infinite
from dmlcheck.reference.ball.errors import Arithmetic, plus
from dmlcheck.reference.ball.numbers import Ball, NoBound
from dmlcheck.reference.bindings import parameter, row
from dmlcheck.reference.bounds import arithmetic_of, bounds, function_range
from dmlcheck.reference.limits.precision import FLOAT32, IN_FLOAT32, Precision
from dmlcheck.reference.rows import (
    CHOICES,
    ELEMENTS,
    NORMS,
    PLACE,
    PRODUCTS,
    RANKS,
    REMAINDERS,
    SHARES,
    WHOLE_STEPS,
    Spread,
)
from dmlcheck.specs.records import INPUT, OUTPUT
from dmlcheck.values.layouts import Array, from_bytes, viewed
from dmlcheck.values.number_formats import FORMATS, NUMPY_TYPES

Given = Mapping[str, "Array | Carried"]  # of each tensor its bytes, or its bounds


def constants_of(graph: Graph) -> dict[str, Array | Carried]:
    """Return the bytes of a graph's constants, and the bounds of those that implementations compute for themselves."""
    own = {
        name: off_by(one.data_type, one.exact, one.errors, are_shared=one.are_shared)
        for name, one in graph.computed.items()
    }
    return {**graph.constants, **own}


def carried(
    steps: Iterable[Step],
    given: Given,
    wanted: Collection[str] | None = None,
    precision: Precision = IN_FLOAT32,
    *,
    wants_likely: bool = True,
) -> dict[str, Carried]:
    """Return the wanted results of steps, by name, or all, for an implementation of a precision.

    A tensor that is not wanted is kept until its last reader has it. Without `wants_likely` the likely errors are as
    large as the others, and take no time. TooMuchWork if a step would take too long.
    """
    steps = tuple(steps)
    last = {name: number for number, step in enumerate(steps) for name in step.inputs.values()}
    held: dict[str, Array | Carried] = dict(given)
    made: dict[str, Carried] = {}
    for number, step in enumerate(steps):
        with np.errstate(all="ignore"):
            found = _carried(step, held, precision, wants_likely=wants_likely)
        made.update(found if wanted is None else {name: found[name] for name in found.keys() & wanted})
        held.update({name: tensor for name, tensor in found.items() if last.get(name, -1) > number})
        del found
        for name in {name for name in step.inputs.values() if last[name] == number}:
            del held[name]
    return made


def _carried(step: Step, held: Given, precision: Precision, *, wants_likely: bool) -> dict[str, Carried]:
    outputs = [part for part in step.desc.tensors(OUTPUT) if step.outputs.get(part.label)]
    hard = _bounds_of_outputs(step, outputs, held, precision, is_likely=False)
    likely = _bounds_of_outputs(step, outputs, held, precision, is_likely=True) if wants_likely else hard
    return {step.outputs[label]: one.carried(likely[label]) for label, one in hard.items()}


def _bounds_of_outputs(
    step: Step, outputs: list[TensorPart], held: Given, precision: Precision, *, is_likely: bool
) -> dict[str, TensorBounds]:
    """Return the bounds of a step's outputs by label."""
    own = arithmetic_of(step.desc, precision._replace(factors=FLOAT32), is_likely=is_likely)
    parts = {part.label: part.tensor for part in step.desc.tensors(INPUT)}
    inputs = {label: _input(tensor, held[step.inputs[label]], own) for label, tensor in parts.items()}
    stored = {label: _stored(x, parts[label]) for label, x in inputs.items()}
    known: dict[bool, dict[str, TensorBounds]] = {}
    compute = partial(_of_step, step, outputs, parts, known, precision=precision, is_likely=is_likely)
    bounded = compute(inputs)
    shared = {label: _shared(tensor, held[step.inputs[label]], own) for label, tensor in parts.items()}
    add_shared(step.desc, inputs, {label: x for label, x in shared.items() if x is not None}, bounded, compute)
    if any(stored[label] is not x for label, x in inputs.items()):
        known.clear()
        _differ(bounded, compute(stored))
    return bounded


def _stored(x: Any, tensor: TensorDesc) -> Any:
    """Return an input with infinities for the numbers that overflow when they are stored; itself if there are none."""
    if not isinstance(x, Ball) or tensor.data_type not in FORMATS:
        return x
    value = infinite(tensor.data_type, x.value)
    if value is x.value:
        return x
    is_new = np.isinf(value) & np.isfinite(x.value)
    return Ball(value, np.where(is_new, 0.0, x.radius), x.arithmetic, x.terms)


def _differ(bounded: dict[str, TensorBounds], others: dict[str, TensorBounds]) -> None:
    """Leave elements without a bound where tensors that are stored give other results than numbers that are kept."""
    for label, one in bounded.items():
        a, b = (part.radius * 0 if part.value is None else part.value for part in (one, others[label]))
        is_same = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) < one.radius + others[label].radius)
        one.radius = np.where(is_same, one.radius, np.inf)


def _of_step(
    step: Step,
    outputs: list[TensorPart],
    parts: Mapping[str, TensorDesc],
    known: dict[bool, dict[str, TensorBounds]],
    inputs: Mapping[str, Any],
    *,
    precision: Precision,
    is_likely: bool,
    has_one_cause: bool = False,
) -> dict[str, TensorBounds]:
    """Return the bounds of a step's outputs by label, for its inputs, of which `parts` has the tensors.

    `has_one_cause` adds up the errors of the inputs as correlated ones. `known` keeps the bounds for inputs without
    errors, which are the same however large the errors are: those with one cause, and those without.
    """

    def run(given: Mapping[str, Any]) -> dict[str, TensorBounds]:
        return _bounded(step.desc, outputs, given, precision, is_likely=is_likely, has_one_cause=has_one_cause)

    def exactly(given: Mapping[str, Any]) -> dict[str, TensorBounds]:
        return _bounded(_without_padding(step.desc), outputs, given, without_roundings=True)

    if has_one_cause:
        inputs = {label: of_one_cause(x) for label, x in inputs.items()}
    balls = {label: x for label, x in inputs.items() if isinstance(x, Ball)}
    if not balls:
        return run(inputs)
    kernel = row(step.desc.spec.operator).kernel
    spread = kernel.spread or Spread()
    if kernel.spread is not None and _may_spread(step.desc, spread, balls, outputs):
        values = {label: np.asarray(x.value) if isinstance(x, Ball) else x for label, x in inputs.items()}
        power = 1 if has_one_cause or spread.by == NORMS else 2
        if has_one_cause not in known:
            known[has_one_cause] = run(values)
        own = {label: copy(one) for label, one in known[has_one_cause].items()}
        if spread.by == SHARES:
            return _widen_shares(step.desc, own, balls["InputTensor"])
        return _spread(own, [exactly(errors) for errors in _errors(inputs, spread, power)], power)
    try:
        bounded = run(inputs)
    except NoBound:
        return _settled(step.desc, run({label: _rounded(x, parts[label]) for label, x in inputs.items()}), inputs)
    if kernel.tiles is ELEMENTS:
        _lose(bounded, _errors_that_count(inputs), np.isinf)
    return bounded


def _may_spread(desc: OperatorDesc, spread: Spread, inexact: Collection[str], outputs: Iterable[TensorPart]) -> bool:
    """Whether the errors of some inputs of an operator spread to its outputs as the inputs do."""
    if spread.by == RANKS or (spread.of_floats and any(part.tensor.data_type not in FORMATS for part in outputs)):
        return False
    is_fused = desc.values.get("FusedActivation") is not None
    is_about_elements = not set(spread.places) & set(map(parameter, inexact))
    return is_about_elements and not is_fused


def _errors(inputs: Mapping[str, Any], spread: Spread, power: int) -> Iterator[dict[str, Any]]:
    """Yield inputs replaced by a power of their errors; places stay, and factors become their largest sizes.

    Then, for each factor with errors, yield these with the sizes of the elements that it multiplies.
    """
    factors = [label for label in inputs if parameter(label) in spread.factors]
    places = {label: x for label, x in inputs.items() if parameter(label) in spread.places}
    errors = {label: x.radius**power if isinstance(x, Ball) else np.zeros_like(x) for label, x in inputs.items()}
    if any(errors[label].any() for label in inputs.keys() - set(factors) - places.keys()):
        yield {**errors, **{label: _largest(inputs[label]) ** power for label in factors}, **places}
    for factor in factors:
        if errors[factor].any():
            none = {label: np.zeros_like(x) for label, x in errors.items()}
            multiplied = [label for label in inputs if parameter(label) in spread.multiplied]
            sizes = {label: np.abs(_numbers(inputs[label])) ** power for label in multiplied}
            yield {**none, **sizes, factor: errors[factor], **places}


def _largest(x: Any) -> Array:
    """Return the largest sizes of numbers that may have errors."""
    size: Array = np.abs(_numbers(x))
    return size + x.radius if isinstance(x, Ball) else size


def _numbers(x: Any) -> Array:
    return np.asarray(x.value if isinstance(x, Ball) else x, np.float64)


def _without_padding(desc: OperatorDesc) -> OperatorDesc:
    """Return an operator that pads with 0, which has no error."""
    return desc._replace(values={**desc.values, "PaddingValue": 0}) if "PaddingValue" in desc.values else desc


def _spread(own: dict[str, TensorBounds], spread: list[dict[str, TensorBounds]], power: int) -> dict[str, TensorBounds]:
    """Add the errors of all inputs, carried through a step, to the bounds of its outputs: any element may have them.

    The errors of the terms of a sum are independent of each other: their squares add up.
    """
    for label, one in own.items():
        if label.startswith("OutputIndices"):
            one.radius = np.full(one.radius.shape, np.inf)
        else:
            more = [each[label] for each in spread]
            total = sum(each.radius if each.value is None else np.abs(each.value) + each.radius for each in more)
            one.radius = one.radius + (np.sqrt(total) if power == 2 else total)
    return own


def _widen_shares(desc: OperatorDesc, bounded: dict[str, TensorBounds], x: Ball) -> dict[str, TensorBounds]:
    """Widen the bounds of powers' shares in their sum, or of the logarithms of these, by the errors of the exponents.

    A share is the largest where its own exponent is, and all others are the smallest. Roundings are relative to it.
    """
    axes, output = tuple(desc.values.get("Axes", (-1,))), bounded["OutputTensor"]
    logarithms = _logarithms_of_shares(x.value, x.radius, axes)
    is_log = desc.spec.range[0] != 0
    least, value, most = logarithms if is_log else map(np.exp, logarithms)
    moved = np.maximum(most - value, value - least)
    together = np.where(value > 0, value * x.radius, 0.0).sum(axis=axes, keepdims=True)
    growth = np.where(value > 0, most / value * (1 + 2 * x.radius + 2 * together), 1.0)
    own = output.radius if is_log else output.radius * growth.reshape(-1)
    moved = np.where(np.isneginf(x.value) & (x.radius == 0), 0.0, moved)
    is_bounded = np.isfinite(x.radius).all(axis=axes, keepdims=True) & ~np.isnan(moved)
    moved = np.where(is_bounded, (1 + _SECOND_ORDER) * moved, np.inf).reshape(-1)
    output.widen(np.where(np.isinf(moved), np.inf, own + moved))
    return bounded


def _logarithms_of_shares(x: Array, radius: Array, axes: tuple[int, ...]) -> Iterator[Array]:
    """Yield the least logarithm of each share in the sum along axes, the one without errors, and the largest."""
    less = x - x.max(axis=axes, keepdims=True)
    low, middle, high = (np.exp(less + error) for error in (-radius, 0.0, radius))
    for own, others in ((less - radius, high), (less, middle), (less + radius, low)):
        rest = np.maximum(others.sum(axis=axes, keepdims=True) - others, 0.0)
        yield own - np.logaddexp(own, np.log(rest))


_SECOND_ORDER = 2.0**-8  # of an error that is carried: roundings of what it adds


def _errors_that_count(inputs: Mapping[str, Any]) -> list[Array]:
    """Return the errors of operands; where a certain condition chooses one of two, those of the chosen elements."""
    condition = inputs.get("ConditionTensor")
    if isinstance(condition, np.ndarray):
        return [np.where(condition, _error(inputs["ATensor"]), _error(inputs["BTensor"]))]
    return [x.radius for x in inputs.values() if isinstance(x, Ball)]


def _error(x: Any) -> Array:
    return x.radius if isinstance(x, Ball) else np.zeros(np.shape(x))


def _lose(bounded: Mapping[str, TensorBounds], errors: Sequence[Array], is_lost: Callable[[Array], Array]) -> None:
    """Leave elements without a bound that follow from some errors, though the function has limits: they may be NaN."""
    for one in bounded.values():
        for lost in filter(np.any, map(is_lost, errors)):
            is_each = lost.shape == one.tensor.sizes
            one.radius = np.where(lost.reshape(-1) if is_each else np.True_, np.inf, one.radius)


def _lost(bounded: dict[str, TensorBounds]) -> dict[str, TensorBounds]:
    """Leave outputs without any bound."""
    for one in bounded.values():
        one.radius = np.full(one.radius.shape, np.inf)
    return bounded


def _settled(
    desc: OperatorDesc, bounded: dict[str, TensorBounds], inputs: Mapping[str, Any]
) -> dict[str, TensorBounds]:
    """Return the bounds of results of a formula that takes no errors."""
    if row(desc.spec.operator).kernel.tiles is ELEMENTS:
        _lose(bounded, _errors_that_count(inputs), lambda radius: radius > 0)
    else:
        _lost(bounded)
        _settle(desc, bounded, {label: x for label, x in inputs.items() if isinstance(x, Ball)})
    return bounded


def _settle(desc: OperatorDesc, bounded: Mapping[str, TensorBounds], balls: Mapping[str, Ball]) -> None:
    """Bound sorted elements, their indices, and the places of the largest or smallest elements."""
    kernel = row(desc.spec.operator).kernel
    if kernel.spread is not None and kernel.spread.by == RANKS:
        _sort(bounded["OutputValueTensor"], balls["InputTensor"], desc.values["Axis"])
        _place(bounded["OutputIndexTensor"], balls["InputTensor"], [desc.values["Axis"]])
    if kernel.seeks == PLACE:
        _place(bounded["OutputTensor"], balls["InputTensor"], desc.values["Axes"])


def _sort(output: TensorBounds, x: Ball, axis: int) -> None:
    """Bound elements that were sorted: an element of any rank moves no more than the most of all along the axis."""
    most = np.broadcast_to(x.radius.max(axis=axis, keepdims=True), output.tensor.sizes).reshape(-1)
    is_float = output.tensor.data_type in FORMATS
    value = np.zeros(1) if output.value is None else output.value
    output.radius = most + rounding(value, most, output.tensor.data_type) if is_float else most


def _place(output: TensorBounds, x: Ball, axes: Sequence[int]) -> None:
    """Bound the places of elements along axes: that of an element is certain if its ball meets no other one.

    The place of the largest element is certain then, and so is the rank of any.
    """
    axes, ends = sorted(axes), range(-len(axes), 0)
    low, high = (np.moveaxis(each, axes, ends) for each in (x.value - x.radius, x.value + x.radius))
    groups = math.prod(low.shape[: -len(axes)])
    places = np.zeros(output.radius.size) if output.value is None else output.value
    moved = np.moveaxis(places.reshape(output.tensor.sizes), axes, ends).astype(int)
    are_apart = _are_apart(low.reshape(groups, -1), high.reshape(groups, -1))
    is_certain = np.take_along_axis(are_apart, moved.reshape(groups, -1), axis=1).reshape(moved.shape)
    output.radius = np.where(np.moveaxis(is_certain, ends, axes), 0.0, np.inf).reshape(-1)


def _are_apart(low: Array, high: Array) -> Array:
    """Return a mask of the intervals of each row that meet no other one; none is apart in a row with NaN."""
    order = np.argsort(low, axis=1)
    low, high = (np.take_along_axis(each, order, axis=1) for each in (low, high))
    is_gap = np.maximum.accumulate(high, axis=1)[:, :-1] < low[:, 1:]
    is_gap = np.pad(is_gap, ((0, 0), (1, 1)), constant_values=True)  # nothing comes before the first, or after the last
    found = np.empty(order.shape, bool)
    np.put_along_axis(found, order, is_gap[:, :-1] & is_gap[:, 1:], axis=1)
    return found & ~np.isnan(low).any(axis=1, keepdims=True)


def _rounded(x: Any, tensor: TensorDesc) -> Any:
    if not isinstance(x, Ball):
        return x
    dtype = NUMPY_TYPES[tensor.data_type]
    return (x.value if dtype.kind == "f" else np.rint(x.value)).astype(dtype)


def _bounded(
    desc: OperatorDesc,
    outputs: list[TensorPart],
    inputs: Mapping[str, Any],
    precision: Precision = IN_FLOAT32,
    **options: Any,
) -> dict[str, TensorBounds]:
    limits, jumps = function_range(desc), row(desc.spec.operator).kernel.jumps
    is_chosen = "ConditionTensor" in inputs
    kinds = {"has_jumps": jumps == REMAINDERS, "is_whole": jumps == WHOLE_STEPS, "is_chosen": is_chosen}
    bounded = {part.label: TensorBounds(part.tensor, limits, **kinds) for part in outputs}
    asked = {part.label: np.broadcast_to(np.True_, part.tensor.sizes) for part in outputs}
    for label, at, bound in bounds(desc, desc.by_field(inputs), asked, precision, **options):
        bounded[label].put(at, bound)
    return bounded


def _input(tensor: TensorDesc, given: Array | Carried, arithmetic: Arithmetic) -> Any:
    """Return an input as an array where it is exact, else as balls."""
    if not isinstance(given, Carried):
        return from_bytes(tensor, given)
    radius = given.likely if arithmetic.is_likely else given.radius
    value = viewed(tensor, given.value)
    if radius is None:
        return value.astype(NUMPY_TYPES[tensor.data_type], copy=False)
    return Ball(value.astype(np.float64, copy=False), viewed(tensor, radius), arithmetic, given.terms)


def _shared(tensor: TensorDesc, given: Array | Carried, arithmetic: Arithmetic) -> Array | None:
    """Return the correlated errors of an input; None for none."""
    if not isinstance(given, Carried):
        return None
    shared = given.likely_shared if arithmetic.is_likely else given.shared
    return None if shared is None else viewed(tensor, shared)


# ---- correlated errors of a step: they add up in a sum, while of independent errors the squares add up

# An implementation rounds the same numbers in the same way, so that results that jump all do so in one direction. The
# weights of an interpolation are computed once, and used in all channels.


Compute = Callable[..., dict[str, TensorBounds]]


def add_shared(
    desc: OperatorDesc,
    inputs: Mapping[str, Any],
    shared: Mapping[str, Array],
    bounded: dict[str, TensorBounds],
    compute: Compute,
) -> None:
    """Add up the correlated errors of inputs in the outputs, and mark the correlated errors of the outputs.

    `shared` has the correlated errors of inputs by label, and `compute` returns the bounds of the outputs for inputs.
    """
    kernel = row(desc.spec.operator).kernel
    # The results jump where the operands are within their errors of a limit.
    if kernel.jumps == WHOLE_STEPS or any(one.tensor.data_type not in FORMATS for one in bounded.values()):
        if shared:
            for label, other in compute(inputs, has_one_cause=True).items():
                bounded[label].widen(other.radius)
        for one in bounded.values():
            one.shared = one.radius
    elif kernel.tiles is ELEMENTS:
        _of_elements(desc, inputs, shared, bounded, compute)
    elif shared or kernel.interpolates:
        _of_sums(desc, inputs, shared, bounded, compute)


def _of_elements(
    desc: OperatorDesc,
    inputs: Mapping[str, Any],
    shared: Mapping[str, Array],
    bounded: dict[str, TensorBounds],
    compute: Compute,
) -> None:
    """Mark the correlated errors in the results of an elementwise operator: the operands' own, and jumps."""
    if shared:
        others = compute({label: _parted(x, shared.get(label))[0] for label, x in inputs.items()})
        for label, one in bounded.items():
            one.shared = _excess(one.radius, others[label].radius)
    floats = [inputs[part.label] for part in desc.tensors(INPUT) if part.tensor.data_type in FORMATS]
    radii = [x.radius.reshape(-1) for x in floats if isinstance(x, Ball)]
    if row(desc.spec.operator).kernel.jumps == CHOICES and radii:
        for one in bounded.values():
            is_jump = one.radius > 2 * np.maximum.reduce(radii)
            one.shared = np.fmax(0.0 if one.shared is None else one.shared, np.where(is_jump, one.radius, 0.0))


def _of_sums(
    desc: OperatorDesc,
    inputs: Mapping[str, Any],
    shared: Mapping[str, Array],
    bounded: dict[str, TensorBounds],
    compute: Compute,
) -> None:
    """Add up the correlated errors in sums and other results; an interpolation has some of its own."""
    exact = compute({label: _exact(x) for label, x in inputs.items()})
    if shared:
        both = {label: _parted(x, shared.get(label)) for label, x in inputs.items()}
        others = compute({label: x for label, (x, _) in both.items()})
        moved = compute({label: x for label, (_, x) in both.items()}, has_one_cause=True)
        for label, one in bounded.items():
            rest = others[label].radius
            one.widen(rest + _excess(moved[label].radius, exact[label].radius))
            one.shared = _excess(one.radius, rest)
    kernel = row(desc.spec.operator).kernel
    # The factors of sums of products take errors in both directions, but for whole numbers.
    has_factors = kernel.sums == PRODUCTS and desc.tensors(INPUT)[0].tensor.data_type in FORMATS
    for label, one in bounded.items():
        more = exact[label].radius if kernel.interpolates else None
        one.shared = None if has_factors else plus(one.shared, more)


def _parted(x: Any, shared: Array | None) -> tuple[Any, Any]:
    """Return an input without its correlated errors, and with only these."""
    if not isinstance(x, Ball):
        return x, x
    if shared is None:
        return x, _exact(x)
    others, these = (Ball(x.value, each, x.arithmetic, x.terms) for each in (_excess(x.radius, shared), shared))
    return others, these


def _exact(x: Any) -> Any:
    return Ball(x.value, None, x.arithmetic, x.terms) if isinstance(x, Ball) else x


def of_one_cause(x: Any) -> Any:
    """Return balls with correlated errors, anything else as it is."""
    if not isinstance(x, Ball):
        return x
    return Ball(x.value, x.radius, x.arithmetic._replace(has_one_cause=True), x.terms)


def _excess(radius: Array, other: Array) -> Array:
    """Return the excess of a radius over another; 0 where both are infinite."""
    return np.asarray(np.fmax(radius - other, 0.0))
