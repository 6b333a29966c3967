"""Operators of ONNX for tests of their counterparts: nodes with values, without the package onnx."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from valid_descs import valid

import dmlcheck
from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.graph import fields_of
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode
from dmlcheck.onnx.operators.table import exact_steps, provider_steps

Array = np.ndarray[Any, Any]


def floats(*values: Any) -> Any:
    return np.array(values, np.float32)


def zeros(*sizes: int, dtype: str = "float32") -> Array:
    return np.zeros(sizes, dtype)


def node(
    type: str,
    inputs: Sequence[Array | TensorRef | None],
    *outputs: Array | TensorRef | None,
    opset: int = 17,
    **attributes: Any,
) -> OnnxNode:
    return OnnxNode(type, opset, attributes, tuple(map(tensor, inputs)), tuple(map(tensor, outputs)))


def four_bits(values: Any, data_type: str) -> TensorRef:
    """Return numbers as a tensor of a 4-bit type."""
    return TensorRef.of(np.asarray(values).astype("i1" if data_type == "INT4" else "u1"), data_type)


def tensor(given: Array | TensorRef | None) -> TensorRef | None:
    """Return an array as a tensor of known values."""
    return TensorRef.of(np.asarray(given)) if isinstance(given, (np.ndarray, np.generic)) else given


def found(
    type: str,
    inputs: Sequence[Array | TensorRef | None],
    *outputs: Array | TensorRef | None,
    opset: int = 17,
    **attributes: Any,
) -> Counterpart:
    """Return the only operator of DirectML that computes what a node means."""
    return only(node(type, inputs, *outputs, opset=opset, **attributes))


def only(one: OnnxNode) -> Counterpart:
    """Return the only operator of DirectML that computes what a node means."""
    (made,) = exact_steps(one)
    return made


def fields(counterpart: Counterpart) -> dict[str, Any]:
    """Return the fields that are no tensors."""
    return {name: value for name, value in counterpart.fields.items() if isinstance(value, (int, float, str, list))}


def computed(made: Counterpart) -> dict[str, Array]:
    """Return what the reference computes for an operator of DirectML and its inputs."""
    fields = fields_of(made.fields)
    desc = valid(made.operator, fields)
    names = [field.name for field in desc.spec.inputs if field.name in made.fields]
    return dmlcheck.evaluate(made.operator, fields, {name: _values(made.fields[name]) for name in names})


def _values(given: Any) -> Any:
    """Return the values of a tensor, or of a list of tensors."""
    return [_values(each) for each in given] if isinstance(given, list) else np.atleast_1d(given.values)


def agrees(made: Counterpart) -> bool:
    """Whether the reference computes the outputs that an operator of DirectML and its values have."""
    results = computed(made)
    compared = [name for name in results if name not in made.uncompared]
    return bool(compared) and all(_is_close(results[name], made.fields[name]) for name in compared)


def _is_close(result: Array, wanted: TensorRef) -> bool:
    values = _values(wanted)
    return result.shape == values.shape and np.allclose(result, values, 1e-5, 1e-6)


class Desc(NamedTuple):
    """A desc as a test types it: tensors are a type, their sizes and, after `by`, their strides."""

    operator: str
    fields: dict[str, Any]
    level: str | None


def descs(
    type: str,
    inputs: Sequence[Array | TensorRef | None],
    *outputs: Array | TensorRef | None,
    opset: int = 17,
    **attributes: Any,
) -> list[Desc]:
    """Return the descs that the provider makes of a node, each with the lowest level that takes it."""
    made = provider_steps(node(type, inputs, *outputs, opset=opset, **attributes))
    return [_desc(each.operator, fields_of(each.fields)) for each in made]


def _desc(operator: str, fields: dict[str, Any]) -> Desc:
    typed = {name: _typed(value) for name, value in fields.items()}
    return Desc(operator, typed, dmlcheck.minimum_feature_level(operator, fields))


def _typed(value: Any) -> Any:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [_typed(each) for each in value]
    if not isinstance(value, dict) or "Sizes" not in value:
        return value
    strides = f" by {' '.join(map(str, value['Strides']))}" if "Strides" in value else ""
    return f"{value['DataType']} {' '.join(map(str, value['Sizes']))}{strides}"
