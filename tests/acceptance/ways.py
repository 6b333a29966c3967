"""Every operator that PyTorch computes, with the ways to compute it, as implementations that dmlcheck judges."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from acceptance import elementwise, normalizations, products, quantized, recurrent, reductions, windowed

FAMILIES = (elementwise, reductions, products, normalizations, windowed, recurrent, quantized)
WAYS: dict[str, tuple[Any, ...]] = {name: ways for family in FAMILIES for name, ways in family.WAYS.items()}
OPERATORS = tuple(sorted(WAYS))


class ByTorch:
    """A way to compute each operator: its first one, PyTorch's own function, or another one by its number."""

    name = "torch"
    version = torch.__version__

    def __init__(self, way: int = 0) -> None:
        self.way = way

    def unsupported(self, desc: Any) -> str | None:
        """Return why there is no such way."""
        return None if len(WAYS.get(desc.spec.short, ())) > self.way else f"no way {self.way}"

    def run(self, desc: Any, inputs: dict[str, Any]) -> dict[str, Any]:
        """Compute the outputs."""
        return computed(WAYS[desc.spec.short][self.way], desc, inputs)


def computed(way: Any, desc: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """Return what a way to compute an operator gives, as arrays of the types and sizes that the desc has."""
    given = {name: list(map(tensor, x)) if isinstance(x, list) else tensor(x) for name, x in inputs.items()}
    with np.errstate(all="ignore"):
        found = way(desc, given)
    outputs = desc.tensors("output_tensor")
    found = found if isinstance(found, dict) else {outputs[0].label: found}
    return {part.label: array(found[part.label], part.tensor) for part in outputs}


def tensor(x: Any) -> Any:
    """Return an array as a tensor of its own; UINT16 to UINT64 as INT64."""
    return torch.from_numpy(np.array(x, np.int64 if x.dtype.kind == "u" and x.dtype.itemsize > 1 else x.dtype))


def array(x: Any, like: Any) -> Any:
    """Return a tensor as an array of the type and sizes of a tensor desc."""
    return np.ascontiguousarray(x.detach().numpy().astype(like.data_type.lower()).reshape(like.sizes))
