"""Nodes of ONNX as graphs, for tests: built by their meaning or by the provider's descs, and computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dmlcheck.descs.records import TensorDesc
from dmlcheck.diagnostics.record import Checking, collected
from dmlcheck.graphs.compute import Output, run_steps
from dmlcheck.graphs.records import Graph
from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.graph import graph_of
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode
from dmlcheck.onnx.operators.table import exact_steps
from dmlcheck.values.layouts import laid_out

Array = np.ndarray[Any, Any]
Made = Callable[[OnnxNode], Sequence[Counterpart]]


def node_of(
    type: str, inputs: Sequence[Array | None], *outputs: TensorRef, opset: int = 17, **attributes: Any
) -> OnnxNode:
    given = tuple(None if x is None else TensorRef.of(x) for x in inputs)
    return OnnxNode(type, opset, attributes, given, outputs)


def float32(*sizes: int) -> TensorRef:
    return TensorRef("FLOAT32", sizes)


def graph(node: OnnxNode, made: Made = exact_steps) -> Graph:
    inputs = {f"input {i}": x for i, x in enumerate(node.inputs) if x is not None}
    return graph_of(made(node), inputs, {f"output {i}": x for i, x in enumerate(node.outputs) if x is not None})


def computed(node: OnnxNode, made: Made = exact_steps) -> list[Array]:
    """Return the outputs that the reference computes for a node, in the sizes that they have there."""
    steps = graph(node, made)
    data = dict(steps.constants)
    for i, x in enumerate(node.inputs):
        if x is not None:
            assert x.buffer.bytes is not None
            data[f"input {i}"] = x.buffer.bytes

    def load(name: str, _: TensorDesc) -> Checking[Array | None]:
        yield from ()
        return data[name]

    found, findings = collected(run_steps(steps.steps, steps.outputs, load))
    assert findings == []
    outputs = [(f"output {i}", x) for i, x in enumerate(node.outputs) if x is not None]
    return [_in_sizes(found.outputs[name], x) for name, x in outputs if name in found.outputs]


def _in_sizes(found: Output, x: TensorRef) -> Array:
    """Return an output in the sizes of the node; where only a part of it is written, that part as it is."""
    flat = laid_out(found.tensor, found.values)
    return flat.reshape(x.shape) if flat.size == x.size else found.values
