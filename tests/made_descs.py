"""Valid descs with their inputs, made of fields or of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from valid_descs import valid

from dmlcheck.descs.records import OperatorDesc

Array = np.ndarray[Any, Any]
Made = tuple[OperatorDesc, dict[str, Any]]


def tensor(data_type: str, sizes: tuple[int, ...]) -> dict[str, Any]:
    """Return a packed tensor."""
    return {"DataType": data_type, "Sizes": list(sizes)}


def built(operator: str, fields: dict[str, Any], inputs: dict[str, Any]) -> Made:
    """Return the desc of these fields with its inputs."""
    desc = valid(operator, fields)
    return desc, inputs


def of_arrays(operator: str, tensors: dict[str, Array], outputs: dict[str, Any], **fields: Any) -> Made:
    """Return the desc of an operator with these inputs, by the names of the fields without `Tensor`."""
    given = {f"{name}Tensor": array for name, array in tensors.items()}
    described = {name: tensor(x.dtype.name.upper(), x.shape) for name, x in given.items()}
    return built(operator, {**described, **outputs, **fields}, given)
