"""Operators that compute something of each group of elements, for tests: their descs, results, marks and bounds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from bounds_of import gathered
from valid_descs import valid

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference import engine
from dmlcheck.reference.tiling import cut

Array = np.ndarray[Any, Any]
REDUCING = ("REDUCE", "ARGMAX", "ARGMIN")


def built(operator: str, tensor: Array, output_type: str = "", **fields: Any) -> tuple[OperatorDesc, dict[str, Array]]:
    """Return the desc of an operator with one input and one output, and its input."""
    data_type = tensor.dtype.name.upper()
    sizes = list(tensor.shape)
    if operator in REDUCING:
        sizes = [1 if axis in fields["Axes"] else size for axis, size in enumerate(sizes)]
    desc = {
        "InputTensor": {"DataType": data_type, "Sizes": list(tensor.shape)},
        "OutputTensor": {"DataType": output_type or data_type, "Sizes": sizes},
        **fields,
    }
    found = valid(operator, desc)
    return found, {"InputTensor": tensor}


def computed(operator: str, tensor: Array, output_type: str = "", **fields: Any) -> Array:
    """Return what the engine computes."""
    return engine.evaluate(*built(operator, tensor, output_type, **fields))["OutputTensor"].values


def marks(operator: str, tensor: Array, output_type: str = "", **fields: Any) -> Array:
    """Return which results are left open."""
    result = engine.evaluate(*built(operator, tensor, output_type, **fields))["OutputTensor"]
    return np.zeros(result.values.shape, bool) if result.undefined is None else result.undefined


def bound(
    operator: str,
    tensor: Array,
    output_type: str = "",
    *,
    is_likely: bool = False,
    accumulate: str = "FLOAT32",
    **fields: Any,
) -> engine.Bound:
    """Return the engine's bound of all results."""
    desc, inputs = built(operator, tensor, output_type, **fields)
    asked = {"OutputTensor": np.ones(desc.parts["OutputTensor"][0].tensor.sizes, bool)}
    return gathered(desc, inputs, asked, accumulate, is_likely=is_likely)["OutputTensor"]


@contextmanager
def blocks_of(count: int) -> Iterator[None]:
    """Cut results into blocks of so many elements, and groups that are longer than that."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cut, "BLOCK", count)
        patch.setattr(cut, "BLOCK_AS_IS", count)
        yield
