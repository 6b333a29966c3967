"""Random graphs as ONNX models with inputs: which operators and descs fit, the model, its values, and its files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from typing import Any

from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.diagnostics.record import Checking, collected
from dmlcheck.drawing.graphs import DrawnGraph, suits
from dmlcheck.formats.find import inputs_file_of
from dmlcheck.graphs.compute import run_steps
from dmlcheck.graphs.records import Step
from dmlcheck.onnx.export.mappings import build, mappings
from dmlcheck.onnx.export.records import ExportedGraph, ExportedNode, GraphValue, Inexpressible, Initializer
from dmlcheck.onnx.proto import model_proto
from dmlcheck.specs.load import load_spec
from dmlcheck.specs.names import short_operator
from dmlcheck.specs.records import OUTPUT
from dmlcheck.values.layouts import to_bytes

MODEL = "model.onnx"


@cache
def operators_of(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the given operators that may be steps of a graph, and that ONNX has."""
    return tuple(name for name in names if short_operator(name) in mappings() and suits(load_spec(name)))


def is_expressible(desc: OperatorDesc) -> bool:
    """Whether ONNX can express a desc exactly."""
    try:
        model_proto(build(desc))
    except Inexpressible:
        return False
    return True


def model_of(drawn: DrawnGraph) -> Any:
    """Return a graph as an onnx.ModelProto."""
    parts = [_renamed(build(step.desc), step.reads, step.writes, f"s{at}_") for at, step in enumerate(drawn.steps)]
    read = {name for step in drawn.steps for name in step.reads.values()}
    made = {step.writes: step.desc for step in drawn.steps}
    outputs = [value for part in parts for value in part.outputs if value.name not in read]
    between = [value for part in parts for value in (*part.values, *part.outputs) if value not in outputs]
    return model_proto(
        ExportedGraph(
            "graph",
            max(part.opset for part in parts),
            tuple(node for part in parts for node in part.nodes),
            tuple(
                GraphValue(name, tensor.data_type, tensor.sizes)
                for name, tensor in drawn.inputs.items()
                if name in read
            ),
            tuple(value for value in outputs if value.name in made),
            tuple(constant for part in parts for constant in part.constants),
            tuple(between),
        )
    )


def _renamed(graph: ExportedGraph, reads: Any, writes: str, prefix: str) -> ExportedGraph:
    """Return the graph of a step with the names that its tensors have in the whole."""
    names = {**dict(reads), graph.outputs[0].name: writes, "": ""}

    def name(old: str) -> str:
        return str(names.get(old, prefix + old))

    return graph._replace(
        nodes=tuple(
            ExportedNode(node.type, tuple(map(name, node.inputs)), tuple(map(name, node.outputs)), node.attributes)
            for node in graph.nodes
        ),
        outputs=tuple(value._replace(name=name(value.name)) for value in graph.outputs),
        constants=tuple(
            Initializer(one.value._replace(name=name(one.value.name)), one.elements) for one in graph.constants
        ),
        values=tuple(value._replace(name=name(value.name)) for value in graph.values),
    )


def inputs_of(drawn: DrawnGraph, seed: int, number: int) -> dict[str, Any]:
    """Return values for the tensors that a graph is given."""
    import numpy as np

    from dmlcheck.drawing.values import plain

    generator = np.random.Generator(np.random.PCG64([seed, number]))
    return {name: plain(generator, tensor, "normal") for name, tensor in drawn.inputs.items()}


def values_of(drawn: DrawnGraph, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reference engine's values of the outputs of a graph's steps by name, without any it cannot compute."""
    made = {step.writes: step.desc.tensors(OUTPUT)[0].label for step in drawn.steps}
    steps = tuple(
        Step(name, step.desc, step.reads, {made[name]: name}) for step in drawn.steps for name in [step.writes]
    )

    def load(name: str, tensor: TensorDesc) -> Checking[Any]:
        yield from ()
        return to_bytes(tensor, inputs[name])

    results, _ = collected(run_steps(steps, made, load))
    return {name: output.values for name, output in results.outputs.items()}


def save(model: Any, values: Mapping[str, Any], folder: str) -> tuple[str, str]:
    """Write a model and the values of its inputs into a folder, and return the paths of both."""
    import numpy as np

    path = os.path.join(folder, MODEL)
    inputs = inputs_file_of(path)

    with open(path, "wb") as file:
        file.write(model.SerializeToString())
    np.savez(inputs, **{value.name: values[value.name] for value in model.graph.input})
    return path, inputs
