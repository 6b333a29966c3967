"""What the reference engine computes for the commands of a DxDispatch model."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from dmlcheck import validation
from dmlcheck.cases.records import in_order
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import Checking, Diagnostic, Finding, collected
from dmlcheck.diagnostics.wording import counted
from dmlcheck.files import npy
from dmlcheck.files.document import Path
from dmlcheck.files.plain import open_plain
from dmlcheck.formats.dxdispatch.dispatch import bound_inputs, bound_outputs
from dmlcheck.formats.dxdispatch.form import wrong_type
from dmlcheck.formats.dxdispatch.graphs import dispatched_graph
from dmlcheck.formats.dxdispatch.model import Command, Model
from dmlcheck.formats.dxdispatch.resources import Resource, filled_resources
from dmlcheck.graphs.compute import results
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.values.literals import Array
from dmlcheck.values.number_formats import NUMPY_TYPES


class Printed(NamedTuple):
    """A resource that a command prints: its elements, flat, until the next command changes them."""

    resource: str
    elements: Array
    data_type: str


class Step(NamedTuple):
    """What came of a command: a resource that it prints, a remark, or what is wrong with the model."""

    printed: Printed | None = None
    remark: str | None = None
    diagnostics: tuple[Diagnostic, ...] = ()


def evaluate_model(model: Model, folder: str, level: str = NEWEST_LEVEL) -> Iterator[Step]:
    """Run a model's commands in order and yield what came of each; `folder` is where writeFile writes.

    A model that something is wrong with ends there.
    """
    descs: dict[str, OperatorDesc] = {}
    problems: list[Diagnostic] = []
    for case in model.operators.values():
        desc, findings = validation.validate(case.operator, case.desc, level)
        problems.extend(in_order(case.origin, findings))
        if desc is not None:
            descs[case.name] = desc
    resources, wrong = collected(filled_resources(model))
    problems.extend(in_order(model.origin, wrong))
    if problems:
        yield Step(diagnostics=tuple(problems))
        return
    for command in model.commands:
        step, findings = collected(_carried_out(command, model, descs, resources, folder))
        if findings:
            yield Step(diagnostics=in_order(model.origin, findings))
            return
        if step is not None:
            yield step
            if step.diagnostics:
                return


def _carried_out(
    command: Command,
    model: Model,
    descs: Mapping[str, OperatorDesc],
    resources: Mapping[str, Resource],
    folder: str,
) -> Checking[Step | None]:
    """Carry out one command."""
    target = command.target
    if command.kind == "dispatch":
        if target in model.others:
            return Step(remark=f"{target} is not dispatched: {model.others[target]} is not DirectML")
        if target in model.graphs:
            wrong = dispatched_graph(command, model, resources)
            return Step(diagnostics=wrong) if wrong else None
        yield from _dispatched(descs[target], command, model, resources)
        return None
    if target not in resources:
        what = "printed" if command.kind == "print" else "written"
        return Step(remark=f"{target} is not {what}: only an ONNX dispatchable would fill it")
    resource = resources[target]
    if command.kind == "print":
        elements = yield from _elements(command, resource)
        return None if elements is None else Step(Printed(target, elements, resource.data_type))
    yield from _written(command, resource, folder)
    return Step(remark=f"{target} written to {command.raw['targetPath']}")


def _dispatched(
    desc: OperatorDesc, command: Command, model: Model, resources: Mapping[str, Resource]
) -> Iterator[Finding]:
    """Compute a dispatch into the resources that are bound to its outputs; yield what keeps it from that."""
    inputs, wrong_inputs = collected(bound_inputs(desc, command, model, resources))
    outputs, wrong_outputs = collected(bound_outputs(desc, command, model, resources))
    yield from (*wrong_inputs, *wrong_outputs)
    if wrong_inputs or wrong_outputs:
        return
    found, wrong = collected(results(desc, inputs))
    yield from (finding._replace(path=command.path) for finding in wrong)
    for label, computed in (found or {}).items():
        outputs[label][...] = computed.values


def _elements(command: Command, resource: Resource) -> Checking[Array | None]:
    """Return what a resource was filled with, as elements of its data type."""
    dtype = NUMPY_TYPES[resource.data_type]
    if resource.filled % dtype.itemsize == 0:
        return resource.data[: resource.filled].view(dtype)
    found, expected = counted(resource.filled, "byte"), f"its elements take {dtype.itemsize} each"
    yield Finding("element-count", command.path, {"tensor": command.target, "found": found, "expected": expected})
    return None


# ---- files


def _written(command: Command, resource: Resource, folder: str) -> Iterator[Finding]:
    """Write a resource to a file inside a folder; yield what keeps it from that."""
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
    """Return where a file inside a folder is to be written, and why it may not be or None."""
    root = os.path.realpath(folder)
    try:
        full = os.path.realpath(os.path.join(root, given))
        is_there = os.path.lexists(full)
    except ValueError:  # a character that no path can have
        return given, "has a character that no path can have"
    if not npy.is_inside(full, root):
        return full, "lies outside the current folder"
    if full.lower().endswith((".png", ".jpg")):
        return full, "images are not written"
    if is_there and not _is_earlier(full):
        return full, "is there already, and is no .npy file that may be replaced; remove it, or name another file"
    return full, None


def _is_earlier(path: str) -> bool:
    """Whether a file may be what was written before: a model of anybody's does not write over other files."""
    try:
        with open_plain(path) as file:
            start = file.read(len(_NPY_MAGIC))
    except OSError:
        return False
    return not start or (start == _NPY_MAGIC and path.lower().endswith(".npy"))


def _saved(path: str, values: Array) -> str | None:
    """Write a .npy file, or the bytes of any other; return what keeps it from being written or None."""
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if path.lower().endswith(".npy"):
            np.save(path, values)
        else:
            values.tofile(path)
    except OSError as error:
        return error.strerror or str(error)
    return None


def _shaped(command: Command, resource: Resource) -> Checking[Array | None]:
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
