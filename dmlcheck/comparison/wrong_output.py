"""One wrong output, and whether another computation would have given it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.comparison.compare import compare, same
from dmlcheck.comparison.tolerances import Limit
from dmlcheck.descs.records import OperatorDesc, TensorDesc, TensorPart
from dmlcheck.reference import engine
from dmlcheck.reference.bounds import bounds
from dmlcheck.reference.engine import Array
from dmlcheck.values.number_formats import FORMATS

Inputs = Mapping[str, Any]
Change = Callable[[TensorPart, Array], Array]


class WrongOutput(NamedTuple):
    """One wrong output: desc and inputs, expected and actual values, a mask of the elements outside the tolerance."""

    desc: OperatorDesc
    inputs: Inputs
    label: str
    tensor: TensorDesc
    expected: Array
    actual: Array
    limit: Limit
    mask: Array

    @property
    def is_float(self) -> bool:
        """Whether the output is of floats."""
        return self.tensor.data_type in FORMATS

    def recomputed(self, inputs: Inputs | None = None, **fields: Any) -> Array:
        """Return the result of the reference engine for other inputs or fields."""
        desc = OperatorDesc.of(self.desc.spec, {**self.desc.values, **fields}) if fields else self.desc
        return engine.run(desc, self.inputs if inputs is None else inputs)[self.label]

    def changed(self, change: Change) -> Inputs:
        """Return the inputs, each changed by a function of its place in the desc and its values."""
        return changed_inputs(self.desc, self.inputs, change)

    def has_input(self, holds: Callable[[Array], Array]) -> bool:
        """Whether a condition is true for any element of a float input."""
        given = [values for value in self.inputs.values() for values in (value if isinstance(value, list) else [value])]
        return any(values.dtype.kind == "f" and bool(holds(values).any()) for values in given)

    def explained_by(self, predicted: Array, known: Array | None = None) -> bool:
        """Whether a prediction agrees with the whole output, right elements included, and not by chance.

        A float may differ from it by 1/32 of its error, since additions in another order do that; then a single element
        proves nothing. Elements inside the tolerance that are not equal do not count, nor do elements that are not
        `known`.
        """
        found, wanted, wrong = self.actual, self.expected, self.mask
        equal = same(found, predicted)
        close = equal
        if self.is_float:
            p, f = predicted.astype(np.float64), found.astype(np.float64)
            error = np.abs(f - wanted.astype(np.float64))
            room = np.where(wrong & np.isfinite(error), error / 32, np.abs(p) * 2.0**-9)
            close = equal | (np.isfinite(p) & (np.abs(f - p) <= room))
        has_say = wrong | same(found, wanted)
        if known is not None:
            has_say, wrong = has_say & known, wrong & known
        return bool(close[has_say].all()) and 2 * int(equal[wrong].sum()) + int(close[wrong].sum()) >= 2

    def is_right_for(self, predicted: Array, desc: OperatorDesc, inputs: Inputs, limit: Limit | None = None) -> bool:
        """Whether the output is within the tolerance of a prediction, made of a desc and its inputs."""
        limit = limit or self.limit
        bounds_of = partial(bounds, desc, inputs, precision=limit.precision)
        expected, actual = {self.label: (self.tensor, predicted)}, {self.label: self.actual}
        return not compare(expected, actual, limit, bounds_of)[self.label].result.mismatches


def changed_inputs(desc: OperatorDesc, inputs: Inputs, change: Change) -> Inputs:
    """Return inputs, each changed by a function of its place in the desc and its values; the same ones if none is."""
    changed = dict(inputs)
    for name, parts in desc.parts.items():
        if name not in inputs:
            continue
        given = inputs[name] if isinstance(inputs[name], list) else [inputs[name]]
        made = [change(part, values) for part, values in zip(parts, given, strict=True)]
        if not all(map(_is_same, made, given)):
            changed[name] = made if isinstance(inputs[name], list) else made[0]
    return changed if any(changed[name] is not inputs[name] for name in inputs) else inputs


def _is_same(some: Array, others: Array) -> bool:
    return some is others or (some.dtype == others.dtype and bool((some == others).all()))
