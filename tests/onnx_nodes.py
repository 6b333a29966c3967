"""Operators of ONNX for tests of their counterparts: nodes with values, without the package onnx."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dmlcheck.formats.onnx.from_onnx.node import Counterpart, Node
from dmlcheck.formats.onnx.from_onnx.operators import counterpart

Array = np.ndarray[Any, Any]


def zeros(*sizes: int, dtype: str = "float32") -> Array:
    return np.zeros(sizes, dtype)


def node(type: str, inputs: Sequence[Array | None], *outputs: Array | None, opset: int = 17, **attributes: Any) -> Node:
    return Node(type, opset, attributes, tuple(inputs), outputs)


def found(
    type: str, inputs: Sequence[Array | None], *outputs: Array | None, opset: int = 17, **attributes: Any
) -> Counterpart:
    """Return the operator of DirectML for a node."""
    return counterpart(node(type, inputs, *outputs, opset=opset, **attributes))


def fields(counterpart: Counterpart) -> dict[str, Any]:
    """Return the fields that are no tensors."""
    return {name: value for name, value in counterpart.fields.items() if isinstance(value, (int, float, str, list))}
