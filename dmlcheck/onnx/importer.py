"""ONNX's backend tests as case files: a model of one operator, and the values in folders test_data_set_* next to it.

A model that dmlcheck exported becomes the case that it was; of any other, the operator is looked up. Needs the package
onnx.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dmlcheck import __version__, validation
from dmlcheck.descs.records import OperatorDesc, TensorPart
from dmlcheck.files.document import Document
from dmlcheck.files.yaml_text import one_line
from dmlcheck.folders.case_file import FORM, Written, write_cases
from dmlcheck.folders.export_folder import Folder, Imported, free_name, import_all, safe_name
from dmlcheck.graphs.tensors import Array, TensorRef
from dmlcheck.onnx import exporter, metadata
from dmlcheck.onnx.descs.case import case_of
from dmlcheck.onnx.descs.node import OnnxNode, Unmapped
from dmlcheck.onnx.export.mappings import build
from dmlcheck.onnx.export.records import Inexpressible
from dmlcheck.onnx.operators.table import exact_steps
from dmlcheck.onnx.proto import model_proto
from dmlcheck.onnx.reading import (
    DOMAINS,
    Unreadable,
    attributes_of,
    checked_tensor,
    constant,
    element_type,
    file_bytes,
    first_line,
    is_graph,
    opset_of,
    parsed_tensor,
    read_model,
    tensor_of,
)
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.specs.records import Field


def import_(paths: Iterable[str], folder: str) -> list[Imported]:
    """Write a case file for each model with an operator of DirectML, and return the result for each model.

    OSError if the folder cannot be written, Occupied if it has other contents than an earlier import,
    MissingRequirement without onnx.
    """
    exporter.require()
    return import_all(paths, folder, FORM, _imported)


def _imported(path: str, place: Folder, taken: set[str]) -> Imported:
    source = path.replace(os.sep, "/")
    try:
        found = list(_cases(path))
    except Unreadable as wrong:
        return Imported(source, problems=(wrong.diagnostic(),), document=Document(wrong.name, ""))
    cases = [case for case in found if isinstance(case, Written)]
    remarks = tuple(dict.fromkeys(f"left out: {reason}" for reason in found if isinstance(reason, Unmapped)))
    if not cases:
        return Imported(source, remarks=remarks)
    free = free_name(safe_name(_name(path)), taken)
    if len(cases) == 1:
        cases = [cases[0]._replace(name=free)]
    comment = f"From {one_line(source)} by dmlcheck {__version__}."
    return Imported(source, write_cases(place, free, cases, comment), len(cases), remarks)


def _cases(path: str) -> Iterator[Written | Unmapped]:
    """Yield the case of each data set of a model, or why it is none."""
    name = _name(path)
    stem = safe_name(name)
    try:
        model = read_model(path)
        for number, test in enumerate(tests_of(path, model)):
            try:
                case = own_case(test) or foreign_case(test, _source(name, path, model))
                yield case._replace(name=stem if number == 0 else f"{stem}-{number}")
            except Unmapped as reason:
                yield reason
    except Unmapped as reason:
        yield reason


def _name(path: str) -> str:
    """Return the name of a test: its folder's, as the format's rules name its model."""
    folder, file = os.path.split(os.path.abspath(path))
    return os.path.basename(folder) if file == exporter.MODEL else os.path.splitext(file)[0]


def _source(name: str, path: str, model: Any) -> str:
    """Return where a case is from; a model says its opset, but the version of onnx only if it came with it."""
    import onnx

    own = os.path.realpath(os.path.dirname(onnx.__file__))
    version = f", onnx {onnx.__version__}" if os.path.realpath(path).startswith(own + os.sep) else ""
    return f"ONNX backend test {one_line(name)}, opset {opset_of(model)}{version}"


# ---- tests whose model is one of dmlcheck's descs


_KEYS = ("feature_level", "source", "tolerance", "tags", "note")


def own_case(test: BackendTest) -> Written | None:
    """Return the case that a model was exported from, or None if its metadata and its graph do not agree."""
    kept = metadata.case_metadata(test.model)
    desc = _desc(kept, test.model)
    if desc is None:
        return None
    given = {label: values for label, values in test.outputs.items() if label in kept.get("given", ())}
    inputs = _by_field(desc, desc.spec.inputs, test.inputs, needed=True)
    outputs = _by_field(desc, desc.spec.outputs, given, needed=False)
    more = {key: kept.get(key) for key in _KEYS}
    more["source"] = more["source"] or f"exported from {kept.get('case')}"
    return Written("", desc, inputs, outputs or None, {key: value for key, value in more.items() if value})


def _desc(kept: Mapping[str, Any], model: Any) -> OperatorDesc | None:
    """Return the desc in a model's metadata, None if the desc's graph is another than the model's."""
    if "operator" not in kept or "desc" not in kept:
        return None
    level = kept.get("feature_level") or NEWEST_LEVEL
    try:
        desc, findings = validation.validate(kept["operator"], kept["desc"], level)
        return desc if desc is not None and not findings and _is_model_of(desc, model) else None
    except (Inexpressible, ArithmeticError, LookupError, TypeError, ValueError):
        return None


def _is_model_of(desc: OperatorDesc, model: Any) -> bool:
    made = model_proto(build(desc))
    return bool(made.graph == model.graph and list(made.opset_import) == list(model.opset_import))


def _by_field(
    desc: OperatorDesc, fields: Sequence[Field], given: Mapping[str, TensorRef], *, needed: bool
) -> dict[str, Any]:
    """Return values by field instead of by label; Unmapped if they have not the types and sizes of the desc."""
    section: dict[str, Any] = {}
    for field in fields:
        parts = [part for part in desc.parts[field.name] if needed or part.label in given]
        arrays = [_checked(part, given.get(part.label)) for part in parts]
        if arrays:
            section[field.name] = arrays[0] if field.type == "TENSOR_DESC" else arrays
    return section


def _checked(part: TensorPart, given: TensorRef | None) -> Array:
    values = None if given is None else given.values
    if values is None or given is None or (given.data_type, given.shape) != (part.tensor.data_type, part.tensor.sizes):
        raise Unmapped(f"the values of {part.label} do not fit its tensor")
    return values


# ---- tests of other models


def foreign_case(test: BackendTest, source: str) -> Written:
    """Return a model of one operator as a case; Unmapped if DirectML has no such operator, or not of these values."""
    node = _only_node(test)
    try:
        made = exact_steps(node)
        if len(made) != 1:
            raise Unmapped(f"{node.type} becomes {len(made)} operators of DirectML, and a case has one")
        return case_of(made[0], source=source)
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise Unmapped(f"its {node.type} does not go with its values: {first_line(error)}") from None


def _only_node(test: BackendTest) -> OnnxNode:
    """Return the only operator of a model with its attributes, by default the schema's."""
    constants, nodes = _apart(test.model.graph)
    values = {**test.inputs, **constants}
    if len(nodes) != 1:
        raise Unmapped(f"the model has {len(nodes)} operators, and a case has one")
    (node,) = nodes
    empty = next((name for name, output in test.outputs.items() if not output.size), None)
    if empty is not None:
        raise Unmapped(f"{empty} has no elements, and a tensor of DirectML has at least one")
    opset = opset_of(test.model)
    graphs = {attribute.name: attribute.g for attribute in node.attribute if is_graph(attribute)}
    return OnnxNode(
        node.op_type if node.domain in DOMAINS else f"{node.domain}.{node.op_type}",
        opset,
        {**attributes_of(node, opset), **graphs},
        tuple(values.get(name) if name else None for name in node.input),
        tuple(test.outputs.get(name) if name else None for name in node.output),
    )


def _apart(graph: Any) -> tuple[dict[str, TensorRef], list[Any]]:
    """Return the constants of a graph by name, and its nodes that are none."""
    values = {tensor.name: constant(tensor, tensor.name) for tensor in graph.initializer}
    nodes = []
    for node in graph.node:
        given = tensor_of(node) if node.op_type == "Constant" and node.domain in DOMAINS else None
        if given is None:
            nodes.append(node)
        else:
            values[node.output[0]] = constant(given, node.output[0])
    return values, nodes


# ---- ONNX's backend tests on disk: a model, and the values in the folders test_data_set_* next to it

# Needs the package onnx.


_DATA = re.compile(r"test_data_set_?(\d*)")


class BackendTest(NamedTuple):
    """A model with one data set: values by the names that the graph has for them."""

    model: Any
    inputs: Mapping[str, TensorRef]
    outputs: Mapping[str, TensorRef]


def tests_of(path: str, model: Any) -> Iterator[BackendTest]:
    """Yield the model with each of its data sets."""
    folder = os.path.dirname(path)
    sets = {int(found[1] or 0): found[0] for found in map(_DATA.fullmatch, _listed(folder or ".")) if found}
    if not sets:
        raise Unmapped("there is no folder test_data_set_0 next to the model")
    given = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in given]
    for _, data in sorted(sets.items()):
        place = os.path.join(folder, data)
        yield BackendTest(model, _values(place, "input", inputs), _values(place, "output", model.graph.output))


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError as error:
        raise Unreadable(folder, f"cannot be read: {error.strerror or error}", "file-not-found") from None


def _values(folder: str, kind: str, infos: Iterable[Any]) -> dict[str, TensorRef]:
    """Return the tensors in the files of a data set by the names of the graph's inputs or outputs."""
    values = {}
    for index, info in enumerate(infos):
        path = os.path.join(folder, f"{kind}_{index}.pb")
        if not info.type.HasField("tensor_type"):
            form = (info.type.WhichOneof("value") or "nothing").removesuffix("_type")
            raise Unmapped(f"{info.name} is no tensor, but {form}, which DirectML does not have")
        if not os.path.isfile(path):
            raise Unmapped(f"{os.path.basename(folder)} has no {kind}_{index}.pb")
        tensor = parsed_tensor(path, file_bytes(path), "a tensor of ONNX")
        values[info.name] = checked_tensor(path, tensor, info.name)
        declared = info.type.tensor_type.elem_type
        if declared != tensor.data_type:
            raise Unmapped(
                f"{info.name} is {element_type(tensor.data_type)} in its file and {element_type(declared)} in the model"
            )
    return values
