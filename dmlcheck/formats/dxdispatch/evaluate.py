"""What the reference engine computes for the commands of a DxDispatch model."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from dmlcheck import validation
from dmlcheck.cases.prepare import HEADROOM
from dmlcheck.cases.records import FileOrigin, in_order
from dmlcheck.descs.records import OperatorDesc, Part, TensorDesc
from dmlcheck.diagnostics.record import Diagnostic, Finding, collected
from dmlcheck.diagnostics.wording import describe, did_you_mean, size_text
from dmlcheck.files import npy
from dmlcheck.files.document import Path
from dmlcheck.formats.dxdispatch import models
from dmlcheck.formats.dxdispatch.models import Command, Model
from dmlcheck.formats.evaluated import Evaluated
from dmlcheck.reference import engine
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.specs.records import OUTPUT
from dmlcheck.values.layouts import viewed
from dmlcheck.values.literals import Array, Source
from dmlcheck.values.memory import available_bytes
from dmlcheck.values.number_formats import NUMPY_TYPES
from dmlcheck.values.read import read_values


class Resource(NamedTuple):
    """A buffer: its bytes, the data type that it was filled with, and how many bytes that took."""

    data: np.ndarray[Any, np.dtype[np.uint8]]
    data_type: str
    filled: int


_NPY_TYPES = [kind for kind in NUMPY_TYPES if kind not in ("UINT4", "INT4")]


class ModelProblem(Exception):
    """Something about a model that stops its evaluation."""

    def __init__(self, *findings: Finding) -> None:
        super().__init__(findings)
        self.findings = findings


def evaluate_model(model: Model, folder: str, level: str = NEWEST_LEVEL) -> Iterator[Evaluated]:
    """Run a model's commands in order and yield what each prints; `folder` is where writeFile writes."""
    origin = FileOrigin(model.document, ((),))
    reported: list[Diagnostic] = []
    for case in model.operators.values():
        _, findings = validation.validate(case.operator, case.desc, level)
        reported.extend(in_order(case.origin, findings))
    resources, problems = filled_resources(model)
    reported.extend(in_order(origin, problems))
    if reported:
        yield Evaluated("", diagnostics=tuple(reported))
        return
    for command in model.commands:
        try:
            evaluated = _carried_out(command, model, resources, folder)
        except ModelProblem as problem:
            yield Evaluated("", diagnostics=in_order(origin, problem.findings))
            return
        if evaluated is not None:
            yield evaluated


def filled_resources(model: Model) -> tuple[dict[str, Resource], list[Finding]]:
    """Fill the resources of a model, and return what is wrong with them as well."""
    excess = _too_large(model)
    if excess is not None:
        return {}, [excess]
    resources: dict[str, Resource] = {}
    problems: list[Finding] = []
    for name, raw in model.resources.items():
        if raw["initialValues"] == models.DEFERRED:
            continue
        try:
            resources[name] = _resource(name, raw, model)
        except ModelProblem as problem:
            problems.extend(problem.findings)
    return resources, problems


def _carried_out(command: Command, model: Model, resources: Mapping[str, Resource], folder: str) -> Evaluated | None:
    """Carry out one command and return what it prints."""
    target = command.target
    if command.kind == "dispatch":
        if target in model.others:
            return Evaluated("", remark=f"{target} is not dispatched: {model.others[target]} is not DirectML")
        _dispatch(model, command, resources)
        return None
    if target not in resources:
        what = "printed" if command.kind == "print" else "written"
        return Evaluated("", remark=f"{target} is not {what}: only an ONNX dispatchable would fill it")
    if command.kind == "print":
        return Evaluated(target, {target: (_elements(command, resources[target]), resources[target].data_type)})
    return Evaluated("", remark=_write(command, resources[target], folder))


def _too_large(model: Model) -> Finding | None:
    """Return what is wrong with a model whose resources this machine cannot hold; nothing is allocated to find out."""
    need = sum(models.bytes_needed(raw) + _file_size(raw["initialValues"], model) for raw in model.resources.values())
    have = available_bytes() if need > _LARGE else None
    if have is None or need + HEADROOM <= have:
        return None
    params = {"tensors": f"the resources {', '.join(model.resources)}", "need": f"take {size_text(need)}"}
    return Finding("tensor-too-large", ("resources",), {**params, "have": size_text(have)})


_LARGE = 2**22  # bytes; what is smaller is not worth asking for the memory that is left


def _file_size(initial: Any, model: Model) -> int:
    given = initial.get("sourcePath") if isinstance(initial, dict) else None
    if not isinstance(given, str):
        return 0
    full, problem = npy.find(os.path.dirname(model.document.name), given)
    return os.path.getsize(full) if problem is None else 0


def _elements(command: Command, resource: Resource) -> Array:
    """Return what a resource was filled with, as elements of its data type."""
    dtype = NUMPY_TYPES[resource.data_type]
    if resource.filled % dtype.itemsize:
        params = {
            "tensor": command.target,
            "found": f"{resource.filled:,} bytes",
            "expected": f"its elements take {dtype.itemsize} each",
        }
        raise ModelProblem(Finding("element-count", command.path, params))
    return resource.data[: resource.filled].view(dtype)


def _resource(name: str, raw: Mapping[str, Any], model: Model) -> Resource:
    path: Path = ("resources", name)
    initial = raw["initialValues"]
    data_type = models.data_type(raw.get("initialValuesDataType")) or "UNKNOWN"
    if isinstance(initial, dict) and "sourcePath" in initial:
        values, data_type = _from_file(name, initial["sourcePath"], data_type, (*path, "initialValues"), model)
    elif data_type == "UNKNOWN":
        values, data_type = _mixed(name, initial, (*path, "initialValues"), model), "UINT8"
    else:
        values = _typed(name, initial, data_type, (*path, "initialValues"), model)
    filled = values.nbytes
    offset = _count(raw.get("initialValuesOffsetInBytes", 0), (*path, "initialValuesOffsetInBytes"))
    size = _count(raw.get("sizeInBytes", (offset + filled + 3) // 4 * 4), (*path, "sizeInBytes"))
    if size < offset + filled:
        params = {
            "tensor": name,
            "found": f"sizeInBytes {size}",
            "expected": f"its initial values need {offset + filled}",
        }
        raise ModelProblem(Finding("element-count", (*path, "sizeInBytes"), params))
    data = np.zeros(size, dtype=np.uint8)
    data[offset : offset + filled] = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
    return Resource(data, data_type, filled)


def _typed(name: str, initial: Any, data_type: str, path: Path, model: Model) -> Array:
    """Return the values of a list, a constant or a sequence."""
    if isinstance(initial, list):
        return _read(name, TensorDesc(data_type, (len(initial),)), initial, path, model)
    if isinstance(initial, dict) and "value" in initial:
        tensor = TensorDesc(data_type, (_count(initial.get("valueCount"), (*path, "valueCount")),))
        return _read(
            name,
            tensor,
            {"fill": initial["value"]},
            (*path[:-1], "initialValues"),
            model,
            {"fill": "value"},
        )
    if isinstance(initial, dict) and "valueStart" in initial:
        count = _count(initial.get("valueCount"), (*path, "valueCount"))
        one = TensorDesc(data_type, (1,))
        start = _read(name, one, [initial["valueStart"]], (*path, "valueStart"), model)
        step = _read(name, one, [initial["valueDelta"]], (*path, "valueDelta"), model)
        # Each value is the one before it plus the delta, rounded to the type, as DxDispatch adds them up.
        values = np.full(count, step[0])
        values[0] = start[0]
        with np.errstate(all="ignore"):
            return np.add.accumulate(values, dtype=values.dtype)
    expected = "a list, or a mapping with value, valueStart or sourcePath"
    params = {"what": f"initialValues of {name}", "found": describe(initial), "expected": expected}
    raise ModelProblem(Finding("wrong-type", path, params))


def _read(
    name: str,
    tensor: TensorDesc,
    raw: Any,
    path: Path,
    model: Model,
    renamed: Mapping[str, str] | None = None,
) -> Array:
    if tensor.element_count == 0:
        params = {
            "what": f"initialValues of {name}",
            "found": "empty",
            "expected": "one value or more",
        }
        raise ModelProblem(Finding("wrong-type", path, params))
    source = Source(os.path.dirname(model.document.name), model.document.literal)
    values, findings = collected(read_values(name, tensor, raw, path, source))
    if values is None or findings:
        names = renamed or {}
        raise ModelProblem(
            *(found._replace(path=tuple(names.get(str(step), step) for step in found.path)) for found in findings)
        )
    return values


def _mixed(name: str, initial: Any, path: Path, model: Model) -> Array:
    """Return the bytes of a list of {type, value}."""
    if not isinstance(initial, list) or not initial:
        params = {
            "what": f"initialValues of {name}",
            "found": describe(initial),
            "expected": "a list of {type, value}",
        }
        help = "or give initialValuesDataType"
        raise ModelProblem(Finding("wrong-type", path, params, help=help))
    pieces = []
    for index, element in enumerate(initial):
        kind = models.data_type(element.get("type")) if isinstance(element, dict) else None
        if kind is None or kind == "UNKNOWN" or element.get("value") is None:
            params = {
                "what": f"{name}[{index}]",
                "found": describe(element),
                "expected": "a mapping with type and value",
            }
            raise ModelProblem(Finding("wrong-type", (*path, index), params))
        pieces.append(
            _read(name, TensorDesc(kind, (1,)), [element["value"]], (*path, index, "value"), model).view(np.uint8)
        )
    return np.concatenate(pieces)


def _from_file(name: str, given: Any, data_type: str, path: Path, model: Model) -> tuple[Array, str]:
    """Return the values of a .npy file, or the bytes of a raw one."""
    place = (*path, "sourcePath")
    folder = os.path.dirname(model.document.name)
    full, problem = npy.find(folder, given) if isinstance(given, str) else ("", "is not a path")
    if problem is None and full.lower().endswith((".png", ".jpg")):
        problem = "images are not read"
    if problem is not None:
        raise ModelProblem(Finding("file-not-found", place, {"path": given, "problem": problem}))
    try:
        if full.lower().endswith(".npy"):
            with open(full, "rb") as file:
                values = npy.read_elements(file, npy.Header(file))
        elif data_type == "UNKNOWN":
            params = {"where": f"the resource {name}", "key": "initialValuesDataType"}
            raise ModelProblem(Finding("missing-key", (*path[:-1], "initialValuesDataType"), params))
        else:
            return np.fromfile(full, dtype=np.uint8), data_type
    except (OSError, ValueError) as error:
        raise ModelProblem(Finding("file-not-found", place, {"path": given, "problem": str(error)})) from None
    found = next((kind for kind in _NPY_TYPES if NUMPY_TYPES[kind] == values.dtype), None)
    if found is None or data_type not in ("UNKNOWN", found):
        params = {"element": given, "found": f"an array of {values.dtype}", "type": data_type}
        raise ModelProblem(Finding("value-not-representable", place, params))
    return values, found


def _count(value: Any, path: Path) -> int:
    if type(value) is not int or not 0 <= value < 2**40:
        params = {"what": str(path[-1]), "found": describe(value), "expected": "a whole number"}
        raise ModelProblem(Finding("wrong-type", path, params))
    return value


def _dispatch(model: Model, command: Command, resources: Mapping[str, Resource]) -> None:
    case = model.operators[command.target]
    desc, _ = validation.validate(case.operator, case.desc, NEWEST_LEVEL)
    if desc is None:
        raise ValueError(case.id)
    reason = engine.unsupported(desc)
    if reason is not None:
        params = {
            "implementation": "reference",
            "problem": f"cannot dispatch {case.name}: {reason}",
        }
        raise ModelProblem(Finding("unsupported-by-implementation", command.path, params))
    bindings = model.bindings(command)
    inputs = bound_inputs(desc, bindings, command, resources)
    outputs = [(part, _bound(part, bindings, command, resources)) for part in desc.tensors(OUTPUT)]
    results = engine.run(desc, inputs)
    for part, data in outputs:
        _elements_of(part.tensor, data)[...] = results[part.label]


def bound_inputs(
    desc: OperatorDesc, bindings: Mapping[str, Any], command: Command, resources: Mapping[str, Resource]
) -> dict[str, Any]:
    """Return the inputs of a dispatch as they lie in the resources that are bound to them; ModelProblem without any."""
    inputs: dict[str, Any] = {}
    for field in desc.spec.inputs:
        arrays = [
            _elements_of(part.tensor, _bound(part, bindings, command, resources)) for part in desc.parts[field.name]
        ]
        if arrays:
            inputs[field.name] = arrays[0] if field.type == "TENSOR_DESC" else arrays
    return inputs


def _bound(part: Part, bindings: Mapping[str, Any], command: Command, resources: Mapping[str, Resource]) -> Array:
    """Return the bytes that are bound to a tensor."""
    name = str(part.path[0])
    path: Path = (*command.path, "bindings", name)
    given = bindings.get(name)
    if isinstance(given, list):
        index = part.path[1] if len(part.path) > 1 else 0
        given = given[index] if isinstance(index, int) and index < len(given) else None
    if given is None:
        params = {"tensor": part.label, "section": "bindings"}
        raise ModelProblem(Finding("missing-tensor", path, params, help=f"bind a resource to {name}"))
    settings = given if isinstance(given, dict) else {"name": given}
    target = settings.get("name")
    if not isinstance(target, str) or target not in resources:
        params = {"where": "resources", "key": str(target)}
        raise ModelProblem(Finding("unknown-key", path, params, help=did_you_mean(str(target), resources)))
    resource = resources[target]
    size = _count(settings.get("elementSizeInBytes") or NUMPY_TYPES[resource.data_type].itemsize, path)
    offset = _count(settings.get("elementOffset", 0), path) * size
    needed = part.tensor.extent * NUMPY_TYPES[part.tensor.data_type].itemsize
    if offset + needed > resource.data.size:
        held = max(0, resource.data.size - offset)
        params = {
            "tensor": f"{target}, bound to {part.label},",
            "found": f"{held} bytes",
            "expected": f"the tensor takes {needed}",
        }
        raise ModelProblem(Finding("element-count", path, params))
    return resource.data[offset : offset + needed]


def _elements_of(tensor: TensorDesc, data: Array) -> Array:
    """Return the elements of a tensor in its bound bytes, to read or to write."""
    return viewed(tensor, data.view(NUMPY_TYPES[tensor.data_type]))


def _write(command: Command, resource: Resource, folder: str) -> str:
    """Carry out a writeFile command inside a folder and say what was written."""
    given = command.raw["targetPath"]
    root = os.path.realpath(folder)
    full = os.path.realpath(os.path.join(root, given))
    path: Path = (*command.path, "targetPath")
    if not npy.is_inside(full, root):
        problem = "lies outside the current folder"
        raise ModelProblem(Finding("file-not-found", path, {"path": given, "problem": problem}))
    if full.lower().endswith((".png", ".jpg")):
        raise ModelProblem(Finding("file-not-found", path, {"path": given, "problem": "images are not written"}))
    try:
        os.makedirs(os.path.dirname(full), exist_ok=True)
        if full.lower().endswith(".npy"):
            values = _elements(command, resource)
            np.save(full, values.reshape(_dimensions(command, values.size)))
        else:
            resource.data.tofile(full)
    except OSError as error:
        params = {"path": given, "problem": error.strerror or str(error)}
        raise ModelProblem(Finding("file-not-found", path, params)) from None
    return f"{command.target} written to {given}"


def _dimensions(command: Command, count: int) -> tuple[int, ...]:
    dimensions = command.raw.get("dimensions") or [count]
    product = 1
    for index, size in enumerate(dimensions if isinstance(dimensions, list) else []):
        product *= _count(size, (*command.path, "dimensions", index))
    if product != count or not isinstance(dimensions, list):
        params = {
            "tensor": command.target,
            "found": f"{count} elements",
            "expected": f"dimensions {dimensions} take {product}",
        }
        raise ModelProblem(Finding("element-count", (*command.path, "dimensions"), params))
    return tuple(dimensions)
