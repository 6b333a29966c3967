"""The errors of Winograd's algorithms for convolution: tiles of up to 6 x 6 results from sums of transformed elements.

They multiply sums and differences of the elements around a result, some of them outside its own window. These terms
cancel, but their roundings do not. So the errors depend on the largest elements near a result.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference.ball.errors import Arithmetic, Array
from dmlcheck.reference.bindings import row
from dmlcheck.reference.rows import WINOGRAD

# In u * sum(max|x| * sum|w|). The largest errors that were measured are 15 for tiles of 4 x 4 and 62 for 6 x 6, with 1
# to 64 channels of normal, positive and widely spread numbers.
_HARD, _LIKELY = 128.0, 64.0
_TILE = 6  # results of a tile along a dimension
_WINDOW = (3, 3)


def may_be_winograd(desc: OperatorDesc) -> bool:
    """Whether Winograd's algorithms can compute a desc: a convolution with a window of 3 x 3, strides of 1."""
    types = {part.tensor.data_type for part in desc.tensors()}
    if WINOGRAD not in row(desc.spec.operator).kernel.algorithms or "FLOAT32" not in types:
        return False
    window = desc.parts["FilterTensor"][0].tensor.sizes[2:]
    return window == _WINDOW and set(desc.values["Strides"]) == set(desc.values["Dilations"]) == {1}


def lost_by_winograd(desc: OperatorDesc, inputs: Any, arithmetic: Arithmetic) -> Array:
    """Return the additional errors of a convolution, in the shape of its output."""
    x, taps = (np.abs(inputs[name].astype(np.float64)) for name in ("InputTensor", "FilterTensor"))
    output, groups = desc.parts["OutputTensor"][0].tensor.sizes, desc.values["GroupCount"]
    for axis in (2, 3):
        start = desc.values["StartPadding"][axis - 2]
        if desc.values["Direction"] == "BACKWARD":
            start = _WINDOW[0] - 1 - start
        x = _largest_around(x, axis, output[axis], start)
    weights = taps.sum(axis=(2, 3)).reshape(groups, -1, taps.shape[1])
    weights = weights.swapaxes(1, 2) if desc.values["Direction"] == "BACKWARD" else weights
    channels = x.reshape(x.shape[0], groups, -1, *x.shape[2:])
    size = np.einsum("ngcij,gkc->ngkij", channels, weights, optimize=True).reshape(output)
    share = _LIKELY if arithmetic.is_likely else _HARD
    return np.asarray(share * arithmetic.unit_roundoff * _slope(desc) * size)


def _largest_around(x: Array, axis: int, count: int, start: int) -> Array:
    """Return, for each of `count` results along an axis, the largest element in any tile that contains the result."""
    reach = _TILE - 1
    found = []
    for place in range(count):
        first = max(0, place - start - reach)
        stop = min(x.shape[axis], place - start + reach + _WINDOW[0])
        near = x.take(range(first, max(first, stop)), axis)
        found.append(near.max(axis=axis, initial=0.0))
    return np.stack(found, axis)


def _slope(desc: OperatorDesc) -> float:
    """Return the steepest slope of the fused activation, which multiplies errors."""
    fused = desc.values.get("FusedActivation")
    if not isinstance(fused, OperatorDesc):
        return 1.0
    factors = (abs(value) for value in fused.values.values() if isinstance(value, float))
    return _STEEPEST * float(np.prod([max(1.0, factor) for factor in factors]))


_STEEPEST = 1.2  # GELU has 1.13; others have 1, or their parameters
