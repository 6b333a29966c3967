"""Observations about the tensors of a node, right or wrong: new NaN, closeness to overflow, deadly divisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dmlcheck.running.results import NotFinite

_LARGEST = 65504.0  # of FLOAT16
_HEADROOM = 4.0  # a FLOAT16 tensor whose largest magnitude times this is beyond that is listed
DIVISIONS = ("Div", "Mod")


def deadly(node: Any, arrays: Mapping[str, Any]) -> str | None:
    """Return why a processor could end the process at a node, or None."""
    if node.op_type not in DIVISIONS or node.domain or not all(name in arrays for name in node.input):
        return None
    from dmlcheck.implementations.desc_models import deadly_division

    return deadly_division(*(np.asarray(arrays[name]) for name in node.input))


def not_finite(node: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> tuple[NotFinite, ...]:
    """Return the tensors in which a node makes NaN or infinities of inputs that are all finite."""
    found = []
    for name, array in zip(node.output, outputs, strict=True):
        if _is_float(array) and not np.isfinite(array).all():
            found.append(NotFinite(name, int(np.isnan(array).sum()), int(np.isinf(array).sum())))
    if found and any(_is_float(array) and not np.isfinite(array).all() for array in inputs):
        return ()
    return tuple(found)


def _is_float(array: Any) -> bool:
    return isinstance(array, np.ndarray) and array.dtype.kind == "f"


def largest_halves(node: Any, outputs: Sequence[Any]) -> dict[str, float]:
    """Return the largest magnitudes of FLOAT16 tensors that are close to overflow."""
    found = {}
    for name, array in zip(node.output, outputs, strict=True):
        if isinstance(array, np.ndarray) and array.dtype == np.float16 and array.size:
            magnitudes = np.abs(array[np.isfinite(array)])
            largest = float(magnitudes.max()) if magnitudes.size else 0.0
            if largest * _HEADROOM >= _LARGEST:
                found[name] = largest
    return found
