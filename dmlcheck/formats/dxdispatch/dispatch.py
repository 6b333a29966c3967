"""The tensors of a dispatch in the resources that are bound to them, to read and to write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dmlcheck.descs.records import OperatorDesc, Part
from dmlcheck.diagnostics.record import Checking, Finding
from dmlcheck.diagnostics.wording import counted, did_you_mean
from dmlcheck.files.document import Path
from dmlcheck.formats.dxdispatch.model import Command, Model
from dmlcheck.formats.dxdispatch.resources import Resource
from dmlcheck.specs.records import OUTPUT
from dmlcheck.values.layouts import viewed
from dmlcheck.values.literals import Array
from dmlcheck.values.number_formats import NUMPY_TYPES


def bound_inputs(
    desc: OperatorDesc, dispatch: Command, model: Model, resources: Mapping[str, Resource]
) -> Checking[dict[str, Any]]:
    """Return the inputs of a dispatch, by field, as they lie in the resources that are bound to them."""
    inputs: dict[str, Any] = {}
    for field in desc.spec.inputs:
        arrays = yield from _tensors(desc.parts[field.name], dispatch, model, resources)
        if arrays:
            inputs[field.name] = arrays[0] if field.type == "TENSOR_DESC" else arrays
    return inputs


def bound_outputs(
    desc: OperatorDesc, dispatch: Command, model: Model, resources: Mapping[str, Resource]
) -> Checking[dict[str, Array]]:
    """Return the outputs of a dispatch, by label; what is written to them is in the resources that are bound."""
    parts = desc.tensors(OUTPUT)
    arrays = yield from _tensors(parts, dispatch, model, resources)
    return dict(zip((part.label for part in parts), arrays, strict=False))


def _tensors(
    parts: tuple[Part, ...] | list[Part], dispatch: Command, model: Model, resources: Mapping[str, Resource]
) -> Checking[list[Array]]:
    bindings = model.bindings(dispatch)
    arrays = []
    for part in parts:
        data = yield from bound_bytes(part, bindings, dispatch, resources)
        if data is not None:
            arrays.append(viewed(part.tensor, data.view(NUMPY_TYPES[part.tensor.data_type])))
    return arrays


def bound_bytes(
    part: Part, bindings: Mapping[str, Any], dispatch: Command, resources: Mapping[str, Resource]
) -> Checking[Array | None]:
    """Return the bytes that are bound to a tensor, None where there are none or too few."""
    name = str(part.path[0])
    path: Path = (*dispatch.path, "bindings", name)
    given = _of_part(part, bindings.get(name))
    if given is None:
        params = {"tensor": part.label, "section": "bindings"}
        yield Finding("missing-tensor", path, params, help=f"bind a resource to {name}")
        return None
    settings = given if isinstance(given, dict) else {"name": given}
    target = settings.get("name")
    resource = resources.get(target) if isinstance(target, str) else None
    if resource is None:
        params = {"where": "resources", "key": str(target)}
        yield Finding("unknown-key", path, params, help=did_you_mean(str(target), resources))
        return None
    size = settings.get("elementSizeInBytes") or NUMPY_TYPES[resource.data_type].itemsize
    offset = settings.get("elementOffset", 0) * size
    needed = part.tensor.extent * NUMPY_TYPES[part.tensor.data_type].itemsize
    if offset + needed > resource.data.size:
        held = max(0, resource.data.size - offset)
        what = f"{target}, bound to {part.label},"
        params = {"tensor": what, "found": counted(held, "byte"), "expected": f"the tensor takes {needed}"}
        yield Finding("element-count", path, params)
        return None
    return resource.data[offset : offset + needed]


def _of_part(part: Part, given: Any) -> Any:
    """Return what of a binding is for one tensor: of a list, the element at its place."""
    if not isinstance(given, list):
        return given
    index = part.path[1] if len(part.path) > 1 else 0
    return given[index] if isinstance(index, int) and index < len(given) else None
