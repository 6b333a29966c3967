"""Correlated errors of a step: they add up in a sum, while of independent errors the squares add up.

An implementation rounds the same numbers in the same way, so that results that jump all do so in one direction. The
weights of an interpolation are computed once, and used in all channels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.graphs.buffers import Array
from dmlcheck.graphs.side import Side
from dmlcheck.reference.ball.errors import plus
from dmlcheck.reference.ball.numbers import Ball
from dmlcheck.reference.bindings import row
from dmlcheck.reference.rows import CHOICES, ELEMENTS, PRODUCTS, WHOLE_STEPS
from dmlcheck.specs.records import INPUT
from dmlcheck.values.number_formats import FORMATS

Compute = Callable[..., dict[str, Side]]


def add_shared(
    desc: OperatorDesc,
    inputs: Mapping[str, Any],
    shared: Mapping[str, Array],
    sides: dict[str, Side],
    compute: Compute,
) -> None:
    """Add up the correlated errors of inputs in the outputs, and mark the correlated errors of the outputs.

    `shared` has the correlated errors of inputs by label, and `compute` returns the bounds of the outputs for inputs.
    """
    if _jumps(desc, sides):
        if shared:
            for label, other in compute(inputs, has_one_cause=True).items():
                sides[label].widen(other.radius)
        for side in sides.values():
            side.shared = side.radius
    elif row(desc.spec.operator).kernel.tiles is ELEMENTS:
        _of_elements(desc, inputs, shared, sides, compute)
    elif shared or row(desc.spec.operator).kernel.interpolates:
        _of_sums(desc, inputs, shared, sides, compute)


def _of_elements(
    desc: OperatorDesc, inputs: Mapping[str, Any], shared: Mapping[str, Array], sides: dict[str, Side], compute: Compute
) -> None:
    """Mark the correlated errors in the results of an elementwise operator: the operands' own, and jumps."""
    if shared:
        others = compute({label: _parted(x, shared.get(label))[0] for label, x in inputs.items()})
        for label, side in sides.items():
            side.shared = _excess(side.radius, others[label].radius)
    floats = [inputs[part.label] for part in desc.tensors(INPUT) if part.tensor.data_type in FORMATS]
    radii = [x.radius.reshape(-1) for x in floats if isinstance(x, Ball)]
    if row(desc.spec.operator).kernel.jumps == CHOICES and radii:
        for side in sides.values():
            is_jump = side.radius > 2 * np.maximum.reduce(radii)
            side.shared = np.fmax(0.0 if side.shared is None else side.shared, np.where(is_jump, side.radius, 0.0))


def _of_sums(
    desc: OperatorDesc, inputs: Mapping[str, Any], shared: Mapping[str, Array], sides: dict[str, Side], compute: Compute
) -> None:
    """Add up the correlated errors in sums and other results; an interpolation has some of its own."""
    exact = compute({label: _exact(x) for label, x in inputs.items()})
    if shared:
        both = {label: _parted(x, shared.get(label)) for label, x in inputs.items()}
        others = compute({label: x for label, (x, _) in both.items()})
        moved = compute({label: x for label, (_, x) in both.items()}, has_one_cause=True)
        for label, side in sides.items():
            rest = others[label].radius
            side.widen(rest + _excess(moved[label].radius, exact[label].radius))
            side.shared = _excess(side.radius, rest)
    kernel = row(desc.spec.operator).kernel
    # The factors of sums of products take errors in both directions, but for whole numbers.
    has_factors = kernel.sums == PRODUCTS and desc.tensors(INPUT)[0].tensor.data_type in FORMATS
    for label, side in sides.items():
        more = exact[label].radius if kernel.interpolates else None
        side.shared = None if has_factors else plus(side.shared, more)


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


def _jumps(desc: OperatorDesc, sides: Mapping[str, Side]) -> bool:
    """Whether the results of an operator jump where its operands are within their errors of a limit."""
    jumps = row(desc.spec.operator).kernel.jumps
    return jumps == WHOLE_STEPS or any(side.tensor.data_type not in FORMATS for side in sides.values())
