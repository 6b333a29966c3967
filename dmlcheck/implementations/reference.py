"""The reference engine as an implementation: the kernels' results, rounded once to the outputs' types."""

from __future__ import annotations

from typing import Any

import numpy as np

from dmlcheck import __version__
from dmlcheck.floats import FORMATS, NUMPY_TYPES
from dmlcheck.kernels import Array, Result, Wide, compute
from dmlcheck.model import OperatorDesc, TensorDesc


class Reference:
    """The NumPy reference engine."""

    name = "reference"
    version = __version__
    device = "NumPy"

    def unsupported(self, desc: OperatorDesc) -> str | None:
        """Return why there is no result: the operator has no kernel yet."""
        return None if desc.spec.kernel else "no reference kernel yet"

    def run(self, desc: OperatorDesc, inputs: dict[str, Any]) -> dict[str, Array]:
        """Return the outputs of a valid desc."""
        tensors = {label: tensor for field in desc.spec.outputs for label, _, tensor in desc.parts[field.name]}
        with np.errstate(all="ignore"):
            return {name: assemble(result, tensors[name]) for name, result in compute(desc, inputs).items()}

    def close(self) -> None:
        """End nothing: nothing was started."""


def assemble(result: Result, tensor: TensorDesc) -> Array:
    """Round a kernel's tiles and put them together into an output."""
    output = np.empty(tensor.sizes, dtype=NUMPY_TYPES[tensor.data_type])
    view = output.transpose(result.axes)
    for index, wide in result.tiles():
        part = view[index]
        part[...] = settle(wide, tensor.data_type).reshape(part.shape)
    return output


def settle(wide: Wide, data_type: str) -> Array:
    """Return wide results that are rounded where they are written: integers wrap, floats go to nearest even.

    A float64 result decides how it rounds wherever everything within its error bound rounds alike; elsewhere the exact
    value does.
    """
    value = wide.value
    if wide.error is None or wide.exact is None or data_type not in FORMATS:
        return value  # which is rounded where it is written
    rounded = value.astype(NUMPY_TYPES[data_type], copy=False)
    below = (value - wide.error).astype(rounded.dtype)
    above = (value + wide.error).astype(rounded.dtype)
    doubt = (below != above) & (wide.error > 0)
    if doubt.any():
        doubtful = np.flatnonzero(doubt)
        rounded.flat[doubtful] = wide.exact(doubtful).astype(rounded.dtype)
    return rounded
