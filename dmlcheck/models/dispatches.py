"""Evaluation of the commands of a DxDispatch model by the reference engine."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from dmlcheck.cases.form import wrong_type
from dmlcheck.cases.records import in_order
from dmlcheck.descs.records import OperatorDesc, TensorDesc, TensorPart
from dmlcheck.diagnostics.record import Checking, Diagnostic, Finding, collected
from dmlcheck.diagnostics.wording import counted
from dmlcheck.files.document import Path
from dmlcheck.files.plain import is_inside, open_plain
from dmlcheck.formats.dxdispatch.model import DxModel, ModelCommand
from dmlcheck.formats.dxdispatch.read import read_model
from dmlcheck.formats.dxdispatch.resources import Resource, bound_bytes, filled_resources, unknown_bindings
from dmlcheck.formats.registry import Opened
from dmlcheck.graphs.check import valid_steps
from dmlcheck.graphs.compute import Load, run_steps
from dmlcheck.graphs.records import Graph, GraphFile, Step, constants_of
from dmlcheck.running.evaluate import Evaluated, EvaluationRequest
from dmlcheck.specs.names import DATA_TYPES, NEWEST_LEVEL
from dmlcheck.specs.records import INPUT, OUTPUT
from dmlcheck.validation import check
from dmlcheck.values.layouts import from_bytes, to_bytes, viewed
from dmlcheck.values.literals import Array
from dmlcheck.values.number_formats import NUMPY_TYPES


def evaluated_commands(file: Opened, _: EvaluationRequest) -> Iterator[Evaluated]:
    """Yield the resources that a model prints, as they are when it does."""
    model = read_model(file.document)
    if model.problems:
        yield Evaluated(None, diagnostics=model.problems, is_wrong=True)
        return
    yield from evaluate_model(model, os.curdir)


def evaluate_model(model: DxModel, folder: str, level: str = NEWEST_LEVEL) -> Iterator[Evaluated]:
    """Carry out a model's commands in order and yield the result of each; `folder` is the target of writeFile.

    The elements of a printed resource are flat, and valid until the next command. A model ends at its first problem.
    """
    problems: list[Diagnostic] = []
    for name, reading in model.descs.items():
        problems.extend(in_order(model.operators[name].origin, check(reading, level)))
    resources, wrong = collected(filled_resources(model))
    problems.extend(in_order(model.origin, wrong))
    if problems:
        yield _DONE._replace(diagnostics=tuple(problems))
        return
    for command in model.commands:
        done, findings = collected(_carried_out(command, model, resources, folder))
        if findings:
            yield _DONE._replace(diagnostics=_diagnostics(findings, command, model))
            return
        yield done
        if done.diagnostics:
            return


_DONE = Evaluated(None, is_done=True)


def _diagnostics(findings: list[Finding], command: ModelCommand, model: DxModel) -> tuple[Diagnostic, ...]:
    """Return findings as diagnostics of the model, or of the file of the graph that a command dispatches."""
    graph = model.graphs.get(command.target)
    if graph is None or findings[0].path[:1] == command.path[:1]:
        return in_order(model.origin, findings)
    return tuple(finding.diagnostic()._replace(file=graph.file) for finding in findings)


def _carried_out(
    command: ModelCommand, model: DxModel, resources: Mapping[str, Resource], folder: str
) -> Checking[Evaluated]:
    """Carry out one command; yield the findings about it, or return its result."""
    target = command.target
    if command.kind == "dispatch":
        if target in model.others:
            return Evaluated(None, remark=f"{target} is not dispatched: {model.others[target]} is not DirectML")
        graph = model.graphs.get(target)
        if isinstance(graph, Diagnostic):
            return _DONE._replace(diagnostics=(graph,))
        yield from _dispatched(graph, command, model, resources)
        return _DONE
    if target not in resources:
        what = "printed" if command.kind == "print" else "written"
        return Evaluated(None, remark=f"{target} is not {what}: only an ONNX dispatchable would fill it")
    resource = resources[target]
    if command.kind == "print":
        elements = yield from _elements(command, resource)
        return _DONE if elements is None else _DONE._replace(outputs={target: (elements, resource.data_type)})
    yield from _written(command, resource, folder)
    return _DONE._replace(remark=f"{target} written to {command.raw['targetPath']}")


def _dispatched(
    file: GraphFile | None, command: ModelCommand, model: DxModel, resources: Mapping[str, Resource]
) -> Checking[None]:
    """Compute a graph, or an operator if the dispatchable is none, from the resources into them."""
    if file is None:
        desc = model.descs[command.target].desc
        if desc is not None:
            memory, wrong = collected(bound_bytes(desc.tensors(), command, resources))
            yield from wrong or run_bound(graph_of_desc(desc, command.path), memory)
        return
    steps, wrong = collected(valid_steps(file))
    wrong = list(unknown_bindings(file, command)) or wrong
    graph = Graph(steps, file.inputs, file.outputs)
    if not wrong:
        memory, wrong = collected(bound_bytes(tensors_to_bind(graph), command, resources))
    yield from wrong or run_bound(graph, memory, constants_of(file).load)


def _elements(command: ModelCommand, resource: Resource) -> Checking[Array | None]:
    """Return the contents of a resource as elements of its data type."""
    dtype = NUMPY_TYPES[resource.data_type]
    if resource.filled % dtype.itemsize == 0:
        count = resource.filled * 8 // DATA_TYPES[resource.data_type].bits
        return from_bytes(TensorDesc(resource.data_type, (count,)), resource.data)
    found, expected = counted(resource.filled, "byte"), f"its elements take {dtype.itemsize} each"
    yield Finding("element-count", command.path, {"tensor": command.target, "found": found, "expected": expected})
    return None


# ---- files


def _written(command: ModelCommand, resource: Resource, folder: str) -> Iterator[Finding]:
    """Write a resource to a file inside a folder; yield the finding if it cannot be written."""
    given = command.raw["targetPath"]
    place: Path = (*command.path, "targetPath")
    full, problem = _place_of(given, folder)
    if problem is None and full.lower().endswith(".npy"):
        values = yield from _shaped(command, resource)
        problem = None if values is None else _saved(full, values)
    elif problem is None:
        problem = _saved(full, resource.data)
    if problem is not None:
        yield Finding("file-not-found", place, {"path": given, "problem": problem})


_MOST_DIMENSIONS = 32  # that every NumPy takes
_NPY_MAGIC = b"\x93NUMPY"


def _place_of(given: str, folder: str) -> tuple[str, str | None]:
    """Return the path of a file inside a folder, and the reason why it may not be written, or None."""
    root = os.path.realpath(folder)
    try:
        full = os.path.realpath(os.path.join(root, given))
        is_there = os.path.lexists(full)
    except ValueError:  # a character that no path can have
        return given, "has a character that no path can have"
    if not is_inside(full, root):
        return full, "lies outside the current folder"
    if full.lower().endswith((".png", ".jpg")):
        return full, "images are not written"
    if is_there and not _is_earlier(full):
        return full, "is there already, and is no .npy file that may be replaced; remove it, or name another file"
    return full, None


def _is_earlier(path: str) -> bool:
    """Whether a file may be an earlier output: a model from anywhere must not write over other files."""
    try:
        with open_plain(path) as file:
            start = file.read(len(_NPY_MAGIC))
    except OSError:
        return False
    return not start or (start == _NPY_MAGIC and path.lower().endswith(".npy"))


def _saved(path: str, values: Array) -> str | None:
    """Write a .npy file, or the bytes of any other; return the reason why it cannot be written, or None."""
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if path.lower().endswith(".npy"):
            np.save(path, values)
        else:
            values.tofile(path)
    except OSError as error:
        return error.strerror or str(error)
    return None


def _shaped(command: ModelCommand, resource: Resource) -> Checking[Array | None]:
    """Return the elements of a resource in the dimensions that a command gives."""
    values = yield from _elements(command, resource)
    if values is None:
        return None
    path: Path = (*command.path, "dimensions")
    dimensions: Any = command.raw.get("dimensions") or [values.size]
    product = 1
    for index, size in enumerate(dimensions if isinstance(dimensions, list) else []):
        if type(size) is not int or size < 0:
            yield wrong_type((*path, index), str(index), size, "a whole number")
            return None
        product *= size
    if product == values.size and isinstance(dimensions, list) and len(dimensions) <= _MOST_DIMENSIONS:
        return values.reshape(tuple(dimensions))
    found, expected = counted(values.size, "element"), f"dimensions {dimensions} take {product}"
    yield Finding("element-count", path, {"tensor": command.target, "found": found, "expected": expected})
    return None


# ---- graphs whose inputs and outputs are bound to memory, as DirectML binds them


def graph_of_desc(desc: OperatorDesc, path: Path = ()) -> Graph:
    """Return a desc as a graph of one step, whose tensors have their labels for names."""
    inputs, outputs = ([part.label for part in desc.tensors(kind)] for kind in (INPUT, OUTPUT))
    step = Step(desc.spec.operator, desc, {name: name for name in inputs}, {name: name for name in outputs}, path)
    return Graph((step,), tuple(inputs), tuple(outputs))


def tensors_to_bind(graph: Graph) -> list[TensorPart]:
    """Return the inputs of a graph, each as its largest reader takes it, and its outputs, without unused tensors."""
    inputs: dict[str, TensorPart] = {}
    outputs: dict[str, TensorPart] = {}
    for step in graph.steps:
        for part in step.desc.tensors(INPUT):
            name = step.inputs[part.label]
            known = inputs.get(name)
            if name in graph.inputs and (known is None or known.tensor.span_bytes < part.tensor.span_bytes):
                inputs[name] = TensorPart(name, (name,), part.tensor)
        for part in step.desc.tensors(OUTPUT):
            name = step.outputs.get(part.label, "")
            if name and name in graph.outputs:
                outputs[name] = TensorPart(name, (name,), part.tensor)
    return [*inputs.values(), *outputs.values()]


def run_bound(graph: Graph, memory: Mapping[str, Array], constants: Load | None = None) -> Checking[None]:
    """Compute a graph, then write its outputs into the memory that is bound to them.

    `memory` has the bytes of inputs and outputs by their names, and `constants` loads the other tensors.
    """

    def load(name: str, tensor: TensorDesc) -> Checking[Array | None]:
        if name in memory or constants is None:
            return memory[name]
        return (yield from constants(name, tensor))

    results, wrong = collected(run_steps(graph.steps, graph.outputs, load))
    yield from wrong
    for name, output in results.outputs.items() if not wrong else ():
        data = memory[name]
        if DATA_TYPES[output.tensor.data_type].bits < 8:
            data[...] = to_bytes(output.tensor, output.values)
        else:
            # The bytes between the elements stay.
            viewed(output.tensor, data.view(NUMPY_TYPES[output.tensor.data_type]))[...] = output.values
