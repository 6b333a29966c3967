"""PyTorch's CPU as an implementation of DirectML's operators: `--implementation python:pytorch.implementation:PyTorch`.

The operators are those of the families of tests/acceptance, each in its first way, PyTorch's own function, and of the
tables here. Floats are computed in FLOAT32 at least; what a function gives is made the type of the output at the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from acceptance import ways
from pytorch import elements, integers, movement, places

from dmlcheck.implementations import Unsupported
from dmlcheck.values.number_formats import NUMPY_TYPES

FAMILIES = (elements, integers, movement, places)
OPERATORS: dict[str, Any] = {
    **{name: own[0] for name, own in ways.WAYS.items()},
    **{name: function for family in FAMILIES for name, function in family.OPERATORS.items()},
}


class PyTorch:
    """PyTorch on the CPU, on one thread: what it adds up is then always added up in the same order."""

    name = "pytorch"
    version = torch.__version__
    device = "CPU"
    is_directml = False

    def __init__(self) -> None:
        torch.set_num_threads(1)

    def unsupported(self, desc: Any) -> str | None:
        """Return why PyTorch cannot compute a desc."""
        if desc.spec.short not in OPERATORS:
            return f"no function of PyTorch for {desc.spec.short}"
        if "PastSequenceLengthsTensor" in desc:
            return "PyTorch's attention has no lengths of the past"
        return "PyTorch has no dilation of 0" if 0 in (desc.get("Dilations") or ()) else None

    def run(self, desc: Any, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return the outputs of a desc as arrays."""
        is_of_bits = desc.spec.short.startswith("ELEMENT_WISE_BIT_")
        read = bits if is_of_bits else tensor
        given = {name: [*map(read, x)] if isinstance(x, list) else read(x) for name, x in inputs.items()}
        try:
            with np.errstate(all="ignore"):
                found = OPERATORS[desc.spec.short](desc, given)
            return arrays(desc, found, is_of_bits=is_of_bits)
        except (RuntimeError, ValueError) as error:
            if desc.spec.short.startswith("MULTIHEAD_ATTENTION"):  # of which DirectML's pages say too little
                raise Unsupported(f"PyTorch's attention has no such sizes: {error}") from None
            raise


def arrays(desc: Any, found: Any, *, is_of_bits: bool) -> dict[str, Any]:
    """Return tensors by output, or the one of the first output, as arrays."""
    outputs = desc.tensors("output_tensor")
    found = found if isinstance(found, dict) else {outputs[0].label: found}
    return {part.label: array(found[part.label], part.tensor, is_of_bits=is_of_bits) for part in outputs}


def tensor(x: Any) -> Any:
    """Return an array as a tensor: FLOAT16 as FLOAT32, UINT16 to UINT64 as INT64, which wraps as they do."""
    kind = np.float32 if x.dtype == np.float16 else np.int64 if x.dtype.kind == "u" and x.dtype.itemsize > 1 else None
    return torch.from_numpy(np.array(x, kind or x.dtype))


def bits(x: Any) -> Any:
    """Return the bits of an array's elements as a tensor of integers."""
    return tensor(x.view(f"u{x.dtype.itemsize}"))


def array(x: Any, like: Any, *, is_of_bits: bool) -> Any:
    """Return a tensor as an array of the type and sizes of a tensor desc, or one of the bits of its elements."""
    found, kind = x.detach().numpy(), NUMPY_TYPES[like.data_type]
    if is_of_bits:
        found = found.astype(f"u{kind.itemsize}").view(kind)
    with np.errstate(all="ignore"):
        return np.ascontiguousarray(found.astype(kind).reshape(like.sizes))
