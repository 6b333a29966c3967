"""ONNX's backend tests as case files: a model of one operator, and the values in the folders test_data_set_* beside it.

A model that dmlcheck exported becomes the case that it was; of any other, the operator is looked up. Needs the package
onnx.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from dmlcheck import __version__, validation
from dmlcheck.cases.prepare import content_findings
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import Finding
from dmlcheck.files.document import Document
from dmlcheck.formats.case_file import FORM, Written, free_name, one_line, safe_name, write_cases
from dmlcheck.formats.export_folder import Folder
from dmlcheck.formats.exporting import Imported, finish
from dmlcheck.formats.onnx import exporter
from dmlcheck.formats.onnx.node import Array, Laid, Mapped, Node, Refused, type_name
from dmlcheck.formats.onnx.operators import mapped
from dmlcheck.formats.onnx.to_onnx.records import TYPES, Inexpressible
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.specs.records import INPUT, OUTPUT, OperatorSpec

_MOST_BYTES = 2**31 - 1  # a protobuf holds no more
_DOMAINS = ("", "ai.onnx")
_DATA = re.compile(r"test_data_set_?(\d*)")


class _Unreadable(Exception):
    """A file that is not what it should be; the message is the rest of a sentence about it."""

    def __init__(self, path: str, problem: str, rule: str = "onnx-syntax") -> None:
        super().__init__(problem)
        self.path = path
        self.rule = rule


class _Test(NamedTuple):
    """A model with one data set: values by the names that the graph has for them."""

    model: Any
    inputs: Mapping[str, Array]
    outputs: Mapping[str, Array]


def import_(paths: Iterable[str], folder: str) -> list[Imported]:
    """Write a case file for each model that DirectML has an operator for, and say what became of each model.

    OSError when the folder cannot be written, Occupied when it holds something else than an earlier import, Unavailable
    without onnx.
    """
    exporter.require()
    with Folder(folder, FORM) as place:
        taken: set[str] = set()
        imported = [_imported(path, place, taken) for path in paths]
        finish(place, imported)
    return imported


def _imported(path: str, place: Folder, taken: set[str]) -> Imported:
    source = path.replace(os.sep, "/")
    name = _name(path)
    stem = safe_name(name)
    cases: list[Written] = []
    remarks: dict[str, None] = {}
    try:
        model = _model(path)
        for number, test in enumerate(_tests(path, model)):
            try:
                case = _case(test, _source(name, path, model))
            except Refused as reason:
                remarks[f"left out: {reason}"] = None
            else:
                cases.append(case._replace(name=stem if number == 0 else f"{stem}-{number}"))
    except _Unreadable as wrong:
        document = Document(wrong.path.replace(os.sep, "/"), "")
        params = {"path": document.name, "problem": str(wrong)}
        problem = Finding(wrong.rule, (), params).diagnostic()._replace(file=document.name)
        return Imported(source, problems=(problem,), document=document)
    except Refused as reason:
        remarks[f"left out: {reason}"] = None
    if not cases:
        return Imported(source, remarks=tuple(remarks))
    free = free_name(stem, taken)
    if len(cases) == 1:
        cases = [cases[0]._replace(name=free)]
    comment = f"From {one_line(source)} by dmlcheck {__version__}."
    return Imported(source, write_cases(place, free, cases, comment), len(cases), tuple(remarks))


def _name(path: str) -> str:
    """Return what a test is called: by its folder, as its model is by the format's rules."""
    folder, file = os.path.split(os.path.abspath(path))
    return os.path.basename(folder) if file == exporter.MODEL else os.path.splitext(file)[0]


def _source(name: str, path: str, model: Any) -> str:
    """Return where a case is from; a model says its opset, but the version of onnx only if it came with it."""
    import onnx

    own = os.path.realpath(os.path.dirname(onnx.__file__))
    version = f", onnx {onnx.__version__}" if os.path.realpath(path).startswith(own + os.sep) else ""
    return f"ONNX backend test {one_line(name)}, opset {_opset(model)}{version}"


# ---- files


def _model(path: str) -> Any:
    """Return a file as an onnx.ModelProto that onnx itself finds valid."""
    from onnx import ModelProto, checker

    model = _parsed(ModelProto(), path, "an ONNX model")
    if not model.HasField("graph") or not model.opset_import:
        raise _Unreadable(path, "is not an ONNX model: it has no graph or no opset")
    for constant in model.graph.initializer:
        _check_inside(constant)
    try:
        checker.check_model(model)
    except (checker.ValidationError, ValueError, RuntimeError) as error:
        raise Refused(f"onnx finds the model wrong: {_words(error)}") from None
    return model


def _parsed(message: Any, path: str, what: str) -> Any:
    """Return a message of protobuf with what a file holds."""
    data = _bytes(path)
    try:
        message.ParseFromString(data)
    except (import_module("google.protobuf.message").DecodeError, ValueError, RuntimeError) as error:
        raise _Unreadable(path, f"is not {what}: {_words(error)}") from None
    return message


def _bytes(path: str) -> bytes:
    try:
        if os.path.getsize(path) > _MOST_BYTES:
            raise _Unreadable(path, "is larger than 2 GiB, which no protobuf is", "file-too-large")
        with open(path, "rb") as file:
            return file.read()
    except (OSError, ValueError) as error:
        problem = f"cannot be read: {getattr(error, 'strerror', None) or error}"
        raise _Unreadable(path, problem, "file-not-found") from None


def _words(error: Exception) -> str:
    """Return the first line of what a library says."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _tests(path: str, model: Any) -> Iterator[_Test]:
    """Yield the model with each of its data sets."""
    folder = os.path.dirname(path)
    sets = {int(found[1] or 0): found[0] for found in map(_DATA.fullmatch, _listed(folder or ".")) if found}
    if not sets:
        raise Refused("there is no folder test_data_set_0 beside the model")
    given = {constant.name for constant in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in given]
    for _, data in sorted(sets.items()):
        place = os.path.join(folder, data)
        yield _Test(model, _values(place, "input", inputs), _values(place, "output", model.graph.output))


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError as error:
        raise _Unreadable(folder, f"cannot be read: {error.strerror or error}", "file-not-found") from None


def _values(folder: str, kind: str, infos: Iterable[Any]) -> dict[str, Array]:
    """Return the tensors in the files of a data set by the names of the graph's inputs or outputs."""
    from onnx import TensorProto

    values = {}
    for index, info in enumerate(infos):
        path = os.path.join(folder, f"{kind}_{index}.pb")
        if not info.type.HasField("tensor_type"):
            form = (info.type.WhichOneof("value") or "nothing").removesuffix("_type")
            raise Refused(f"{info.name} is no tensor, but {form}")
        if not os.path.isfile(path):
            raise Refused(f"{os.path.basename(folder)} has no {kind}_{index}.pb")
        tensor = _parsed(TensorProto(), path, "a tensor of ONNX")
        try:
            values[info.name] = _array(tensor, info.name)
        except ValueError as error:
            raise _Unreadable(path, f"is not a tensor of ONNX: {_words(error)}") from None
        declared = info.type.tensor_type.elem_type
        if declared != tensor.data_type:
            raise Refused(f"{info.name} is {_type(tensor.data_type)} in its file and {_type(declared)} in the model")
    return values


_KNOWN = frozenset((*TYPES.values(), "BOOL"))


def _array(tensor: Any, name: str) -> Array:
    """Return a tensor's values; ValueError where it has not as many as its shape says."""
    from onnx import numpy_helper

    _check_inside(tensor)
    kind = _type(tensor.data_type)
    if kind not in _KNOWN:
        raise Refused(f"{name} is {kind}, and tensors of that type are not imported")
    values: Array = numpy_helper.to_array(tensor)
    if values.shape != tuple(tensor.dims):
        raise ValueError(f"it has {values.size} elements, and its sizes are {list(tensor.dims)}")
    return values


def _constant(tensor: Any, name: str) -> Array:
    """Return the values that a model itself gives a tensor; onnx finds wrong ones fine, some versions more of them."""
    try:
        return _array(tensor, name)
    except ValueError as error:
        raise Refused(f"the values of {name} cannot be read: {_words(error)}") from None


def _check_inside(tensor: Any) -> None:
    """Refuse a tensor whose values lie in another file, which may be any file."""
    if tensor.data_location or tensor.external_data:
        raise Refused(
            f"the values of {tensor.name or 'a tensor'} lie in another file, and only the model's own are read"
        )


def _type(number: int) -> str:
    from onnx import TensorProto

    names: dict[int, str] = {value: name for name, value in TensorProto.DataType.items()}
    return names.get(number, f"of type {number}")


# ---- cases


def _case(test: _Test, source: str) -> Written:
    """Return a test as a case; Refused where it cannot be one."""
    own = _own(test)
    return _foreign(test, source) if own is None else own


def _own(test: _Test) -> Written | None:
    """Return the case that a model was exported from, or None where it does not say so or is not what is made of it."""
    kept = _metadata(test.model)
    if "operator" not in kept or "desc" not in kept:
        return None
    level = kept.get("feature_level") or NEWEST_LEVEL
    try:
        desc, findings = validation.validate(kept["operator"], kept["desc"], level)
        same = desc is not None and not findings and exporter.is_model_of(desc, test.model)
    except (Inexpressible, ArithmeticError, LookupError, TypeError, ValueError):
        same = False
    if desc is None or not same:
        return None
    outputs = {label: values for label, values in test.outputs.items() if label in kept.get("given", ())}
    more = {key: kept.get(key) for key in ("feature_level", "source", "tolerance", "tags", "note")}
    more["source"] = more["source"] or f"exported from {kept.get('case')}"
    return _checked(desc, test.inputs, outputs, more)


_KEPT: dict[str, type | tuple[type, ...]] = {
    "case": str,
    "operator": str,
    "desc": dict,
    "feature_level": str,
    "source": str,
    "note": str,
    "tags": list,
    "tolerance": (str, dict),
    "given": list,
}


def _metadata(model: Any) -> dict[str, Any]:
    """Return what an export has put down in a model, nothing where an export would not have put it so."""
    kept: dict[str, Any] = {}
    for entry in model.metadata_props:
        if not isinstance(entry.key, str):  # protobuf gives bytes for what is not UTF-8
            return {}
        key = entry.key.removeprefix(exporter.PREFIX)
        if key == entry.key:
            continue
        try:
            kept[key] = json.loads(entry.value)
        except (ValueError, RecursionError):
            return {}
        if not isinstance(kept[key], _KEPT.get(key, ())):
            return {}
    return kept


def _foreign(test: _Test, source: str) -> Written:
    node = _node(test)
    try:
        found = mapped(node)
        return _written(found, source)
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise Refused(f"its {node.type} does not go with its values: {_words(error)}") from None


def _node(test: _Test) -> Node:
    """Return the only operator of a model with its attributes, those that are left out by their defaults."""
    from onnx import AttributeProto, defs, helper

    graph = test.model.graph
    values: dict[str, Array] = {**test.inputs}
    for tensor in graph.initializer:
        values[tensor.name] = _constant(tensor, tensor.name)
    nodes = []
    for node in graph.node:
        given = node.attribute[0] if node.op_type == "Constant" and len(node.attribute) == 1 else None
        if given is not None and given.type == AttributeProto.TENSOR:
            values[node.output[0]] = _constant(given.t, node.output[0])
        else:
            nodes.append(node)
    if len(nodes) != 1:
        raise Refused(f"the model has {len(nodes)} operators, and a case has one")
    (node,) = nodes
    if node.domain not in _DOMAINS:
        raise Refused(f"{node.op_type} is of the domain {node.domain}")
    opset = _opset(test.model)
    try:
        schema = defs.get_schema(node.op_type, opset)
    except defs.SchemaError:
        raise Refused(f"this onnx does not know {node.op_type} of opset {opset}") from None
    attributes = {
        name: helper.get_attribute_value(attribute.default_value)
        for name, attribute in schema.attributes.items()
        if attribute.default_value.type
    }
    attributes.update((attribute.name, helper.get_attribute_value(attribute)) for attribute in node.attribute)
    return Node(
        node.op_type,
        opset,
        {name: _plain(value) for name, value in attributes.items()},
        tuple(values.get(name) if name else None for name in node.input),
        tuple(test.outputs.get(name) if name else None for name in node.output),
    )


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return list(value) if isinstance(value, (list, tuple)) or hasattr(value, "extend") else value


def _opset(model: Any) -> int:
    return max((int(entry.version) for entry in model.opset_import if entry.domain in _DOMAINS), default=1)


def _written(found: Mapped, source: str) -> Written:
    """Return an operator and its fields as a case; tensors have the type, sizes and strides of their values."""
    import numpy as np

    fields: dict[str, Any] = {}
    values: dict[str, Any] = {}
    for name, given in found.fields.items():
        parts = given if isinstance(given, list) else [given]
        if not parts or not isinstance(parts[0], (np.ndarray, Laid)):
            fields[name] = given
            continue
        tensors = [_tensor(part) for part in parts]
        arrays = [_logical(part) for part in parts]
        fields[name], values[name] = (tensors, arrays) if isinstance(given, list) else (tensors[0], arrays[0])
    desc, findings = validation.validate(found.operator, fields, NEWEST_LEVEL)
    if desc is None or findings:
        reasons = "; ".join(dict.fromkeys(finding.message for finding in findings))
        raise Refused(f"DML_OPERATOR_{found.operator} does not take it: {reasons}")
    inputs, outputs = ({name: values[name] for name in names if name in values} for names in _tensor_names(desc.spec))
    level_findings = content_findings(desc, inputs, NEWEST_LEVEL)
    if level_findings:
        raise Refused(f"DML_OPERATOR_{found.operator} does not take it: {level_findings[0].message}")
    return Written("", desc, inputs, outputs, {"source": source})


def _tensor_names(spec: OperatorSpec) -> tuple[list[str], list[str]]:
    return [field.name for field in spec.inputs], [field.name for field in spec.outputs]


def _tensor(values: Array | Laid) -> dict[str, Any]:
    array = _logical(values)
    tensor: dict[str, Any] = {"DataType": type_name(array), "Sizes": list(array.shape)}
    if isinstance(values, Laid):
        tensor["Strides"] = list(values.strides)
    return tensor


def _logical(values: Array | Laid) -> Array:
    """Return values with at least one dimension, truth values as 0 and 1."""
    array = values.values if isinstance(values, Laid) else values
    array = array.reshape(array.shape or (1,))
    return array.view("u1") if array.dtype == bool else array


def _checked(
    desc: OperatorDesc, inputs: Mapping[str, Array], outputs: Mapping[str, Array], more: dict[str, Any]
) -> Written:
    """Return a case whose values, by the labels of the desc's tensors, have the types and sizes that the desc says."""
    for part in desc.tensors():
        values = {INPUT: inputs, OUTPUT: outputs}[desc.spec.fields[str(part.path[0])].kind].get(part.label)
        if values is None and desc.spec.fields[str(part.path[0])].kind == OUTPUT:
            continue
        if values is None or (type_name(values), values.shape) != (part.tensor.data_type, part.tensor.sizes):
            raise Refused(f"the values of {part.label} are not those of its tensor")
    sections = []
    for fields, given in ((desc.spec.inputs, inputs), (desc.spec.outputs, outputs)):
        section: dict[str, Any] = {}
        for field in fields:
            arrays = [given[part.label] for part in desc.parts[field.name] if part.label in given]
            if arrays:
                section[field.name] = arrays[0] if field.type == "TENSOR_DESC" else arrays
        sections.append(section)
    return Written("", desc, sections[0], sections[1] or None, {key: value for key, value in more.items() if value})
