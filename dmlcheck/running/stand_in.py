"""What the reference gives in the place of an implementation, for a node that the implementation does not support."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dmlcheck.descs.records import TensorDesc
from dmlcheck.diagnostics.record import Checking, collected
from dmlcheck.graphs.buffers import Array, to_bytes
from dmlcheck.graphs.compute import Output, run_steps
from dmlcheck.onnx.descs.node import Refused
from dmlcheck.onnx.model.file import MOST_VALUES
from dmlcheck.onnx.model.inference import Graph, Scope, values_of
from dmlcheck.onnx.model.values import Value
from dmlcheck.running.model_cases import Loaded, NodeCase
from dmlcheck.running.node_values import arrays_of
from dmlcheck.running.node_verdict import Mapped, Unjudged, map_node


def stand_in(node: NodeCase, model: Loaded, tensors: Mapping[str, Any]) -> dict[str, Array]:
    """Return the outputs of a node as the reference computes them from its inputs; {} where it does not compute all."""
    inputs = arrays_of(node.node.input, tensors, model)
    if isinstance(inputs, Unjudged):
        return {}
    outputs = _outputs(node, model, inputs)
    if outputs is None:
        return {}
    elements = {name: kind for name in node.reads if (kind := model.four_bits(name)) is not None}
    mapped = map_node(node.node, model.opset(node.node), inputs, outputs, is_directml=False, elements=elements)
    if isinstance(mapped, Unjudged):
        return {}
    forms = {name: x for name, x in zip(node.node.output, outputs, strict=True) if x is not None}
    return _computed(mapped, forms) if forms.keys() <= set(mapped.graph.outputs) else {}


def _outputs(node: NodeCase, model: Loaded, inputs: list[Any]) -> list[Array | None] | None:
    """Return arrays of the types and sizes that the outputs must have; None where these do not follow."""
    from onnx import helper

    scope: Scope = {"": Value(None)}
    for name, x in zip(node.node.input, inputs, strict=True):
        if x is not None:
            form = helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
            scope[name] = Value(form, x if x.size <= MOST_VALUES else None)
    opsets = {entry.domain: int(entry.version) for entry in model.proto.opset_import}
    try:
        _, values = values_of(node.node, Graph(opsets, {}, model.proto.ir_version), scope)
        made = [value.tensor() if name else None for name, value in zip(node.node.output, values, strict=True)]
        if any(name and x is None for name, x in zip(node.node.output, made, strict=True)):
            return None
        return [None if x is None else np.empty(x.shape, x.dtype) for x in made]
    except (Refused, KeyError, ValueError, MemoryError):
        return None


def _computed(mapped: Mapped, forms: Mapping[str, Array]) -> dict[str, Array]:
    data: Mapping[str, Array] = {**mapped.graph.constants, **mapped.data}

    def load(name: str, tensor: TensorDesc) -> Checking[Array | None]:  # noqa: ARG001 - steps take what they need
        yield from ()
        return data[name]

    results, findings = collected(run_steps(mapped.graph.steps, mapped.graph.outputs, load))
    if findings:
        return {}
    return {name: _array(results.outputs[name], form) for name, form in forms.items()}


def _array(output: Output, form: Array) -> Array:
    """Return what lies in the buffer of an output as the array that it is in the model: its desc may have strides."""
    elements = to_bytes(output.tensor, output.values).view(output.values.dtype)[: math.prod(form.shape)]
    return elements.reshape(form.shape).astype(form.dtype, copy=False)
