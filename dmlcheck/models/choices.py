"""Elements that an implementation chose by their size, where its errors may decide between several."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.graphs.carry import Given
from dmlcheck.graphs.records import Graph
from dmlcheck.graphs.tensor_bounds import Carried
from dmlcheck.models.step_verdict import as_numbers
from dmlcheck.reference.bindings import row
from dmlcheck.reference.rows import PLACE, RANKS
from dmlcheck.values.layouts import Array, viewed


class _Choice(NamedTuple):
    """The label of the tensor with the indices of the chosen elements, and the axes along which they are chosen."""

    label: str
    axes: Sequence[int]


def is_possible(graph: Graph, given: Given, made: Mapping[str, Carried], actual: Mapping[str, Array]) -> str | None:
    """Return the tensor of indices that nothing bounds, if the implementation's are possible; else None.

    They are if their elements may be the largest or smallest ones, in their order, for some errors within the bounds of
    the input. `made` has the results of the graph, and `actual` the implementation's.
    """
    choice = _choice_of(graph.steps[0].desc) if len(graph.steps) == 1 else None
    if choice is None:
        return None
    step = graph.steps[0]
    name, held = step.outputs.get(choice.label, ""), given[step.inputs["InputTensor"]]
    if name not in actual or name not in made or not isinstance(held, Carried) or held.radius is None:
        return None
    bounds = made[name].radius
    if bounds is None or np.isfinite(bounds).all():
        return None
    if not np.isfinite(held.value).all() or np.isnan(held.radius).any():
        return None
    desc, axes = step.desc, choice.axes
    value, radius = (_rows(viewed(desc.values["InputTensor"], each), axes) for each in (held.value, held.radius))
    indices, own = (
        _rows(each.reshape(desc.values[choice.label].sizes), axes).astype(np.int64)
        for each in (as_numbers(actual[name]), made[name].value)
    )
    first = np.take_along_axis(value, own[:, :1], axis=1)
    if not (first == value.max(axis=1, keepdims=True)).all():  # the smallest are chosen
        value = -value
    return name if _may_be_largest(value - radius, value + radius, indices) else None


def _choice_of(desc: OperatorDesc) -> _Choice | None:
    kernel = row(desc.spec.operator).kernel
    if kernel.spread is not None and kernel.spread.by == RANKS:
        return _Choice("OutputIndexTensor", [desc.values["Axis"]])
    return _Choice("OutputTensor", desc.values["Axes"]) if kernel.seeks == PLACE else None


def _rows(x: Array, axes: Sequence[int]) -> Array:
    """Return a tensor as rows of the elements along some axes."""
    moved = np.moveaxis(x, sorted(axes), range(-len(axes), 0))
    return moved.reshape(math.prod(moved.shape[: -len(axes)]), -1)


def _may_be_largest(low: Array, high: Array, indices: Array) -> bool:
    """Whether elements of each row, at different indices, may be the largest ones, in their order."""
    count = low.shape[1]
    ordered = np.sort(indices, axis=1)
    if (indices < 0).any() or (indices >= count).any() or (ordered[:, 1:] == ordered[:, :-1]).any():
        return False
    least = np.minimum.accumulate(np.take_along_axis(high, indices, axis=1), axis=1)
    is_in_order = least[:, :-1] >= np.take_along_axis(low, indices, axis=1)[:, 1:]
    others = low.copy()
    np.put_along_axis(others, indices, -np.inf, axis=1)
    return bool(is_in_order.all() and (others.max(axis=1) <= least[:, -1]).all())
