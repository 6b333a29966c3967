"""The bounds of the elements of outputs, gathered from the tiles that they come in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference.bounds import Bound, bounds
from dmlcheck.reference.limits.precision import Precision

Array = np.ndarray[Any, Any]


def gathered(
    desc: OperatorDesc,
    inputs: Mapping[str, Any],
    asked: Mapping[str, Array],
    accumulate: str = "FLOAT32",
    **options: Any,
) -> dict[str, Bound]:
    """Return the bounds of the elements where masks are true, in row-major order, by output.

    Options are those of `bounds`, and the fields of its precision.
    """
    fields = {name: options.pop(name) for name in Precision._fields if name in options}
    found: dict[str, list[tuple[Array, Bound]]] = {label: [] for label in asked}
    for label, at, bound in bounds(desc, inputs, asked, Precision(accumulate, **fields), **options):
        found[label].append((at, bound))
    return {label: _joined(parts) for label, parts in found.items()}


def _joined(parts: list[tuple[Array, Bound]]) -> Bound:
    if len(parts) == 1:
        return parts[0][1]
    order = np.argsort(np.concatenate([at for at, _ in parts]))
    of = [bound for _, bound in parts]
    return Bound(
        np.concatenate([bound.value for bound in of])[order],
        np.concatenate([bound.radius for bound in of])[order],
        np.concatenate([bound.undefined for bound in of])[order],
        max(bound.terms for bound in of),
        any(bound.is_rounded for bound in of),
    )
