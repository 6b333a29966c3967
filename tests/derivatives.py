"""Kernels in float64 without a rounding to the output's type, and derivatives of them by central differences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dmlcheck import validation
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference import engine
from dmlcheck.reference.arrays import operands
from dmlcheck.reference.results import ways_of
from dmlcheck.reference.tiling.plan import tiles_of
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.specs.records import OUTPUT

Array = np.ndarray[Any, Any]


def described(operator: str, sizes: Mapping[str, tuple[int, ...]], data_type: str = "FLOAT32", **fields: Any) -> Any:
    """Return the desc of an operator whose tensors, by the names of their fields without `Tensor`, have these sizes."""
    tensors = {f"{name}Tensor": {"DataType": data_type, "Sizes": list(own)} for name, own in sizes.items()}
    desc, problems = validation.validate(f"DML_OPERATOR_{operator}", {**tensors, **fields}, NEWEST_LEVEL)
    assert desc is not None
    assert not problems, problems
    return desc


def unrounded(desc: OperatorDesc, inputs: Mapping[str, Any]) -> dict[str, Array]:
    """Return the outputs of a desc as its kernel computes them of float64 inputs, by the names of their fields."""
    labels = {engine.parameter(label): label for label, _, _ in desc.tensors(OUTPUT)}
    found = {label: np.full(tensor.sizes, np.nan) for label, _, tensor in desc.tensors(OUTPUT)}
    with np.errstate(all="ignore"):
        for tile in tiles_of(desc, inputs):
            results = tile.formula(*map(operands.widened, tile.operands))
            places = tile.where if isinstance(tile.where, dict) else dict.fromkeys(labels, tile.where)
            for name, where in places.items():
                own = results[name] if isinstance(results, dict) else results
                for cut, value, *_ in engine.blocks_of(own):
                    first = ways_of(value)[0]
                    found[labels[name]][where][cut] = np.asarray(getattr(first, "value", first))
    return found


def difference(
    desc: OperatorDesc, inputs: Mapping[str, Array], name: str, weights: Array, *, step: float = 1e-5
) -> Array:
    """Return the derivative by an input of the sum of weights * OutputTensor, by central differences."""
    x = inputs[name].astype(np.float64)
    found = np.empty(x.shape)
    for at in np.ndindex(*x.shape):
        sums = []
        for move in (step, -step):
            moved = x.copy()
            moved[at] += move
            sums.append(np.sum(weights * unrounded(desc, {**inputs, name: moved})["OutputTensor"]))
        found[at] = (sums[0] - sums[1]) / (2 * step)
    return found
