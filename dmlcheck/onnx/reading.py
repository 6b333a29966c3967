"""ONNX's protobufs: models and tensors in files, and the attributes of nodes and tensors.

Needs the package onnx.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.diagnostics.wording import counted, cut
from dmlcheck.files.plain import TooLarge, read_plain, reason
from dmlcheck.graphs.tensors import BOOL, Array, TensorRef
from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.onnx.export.records import TYPES

MOST_PROTOBUF = 2**31 - 1  # the most that a protobuf holds
_MOST_SAID = 1000  # characters of a message of a library
DOMAINS = ("", "ai.onnx")
ELEMENTS = {BOOL: BOOL, **{onnx: own for own, onnx in TYPES.items()}}  # of tensors, by ONNX's names
KNOWN = frozenset(ELEMENTS)


class Unreadable(Exception):
    """A file of the wrong form; the message is the rest of a sentence about it."""

    def __init__(self, path: str, problem: str, rule: str = "onnx-syntax") -> None:
        super().__init__(problem)
        self.name = path.replace(os.sep, "/")
        self.rule = rule

    def diagnostic(self) -> Diagnostic:
        """Return the diagnostic about the file."""
        message = str(self) if self.rule == "file-not-found" else f"the file {self}"
        return Diagnostic(self.rule, message, file=self.name)


# ---- files


def read_model(path: str) -> Any:
    """Return a file as an onnx.ModelProto that onnx itself finds valid."""
    from onnx import checker

    model = parsed_model(path, file_bytes(path))
    unknown = unknown_opset(model)
    if unknown is not None:
        raise Unmapped(f"the model {unknown}")
    attributes = (attribute.t for node in model.graph.node for attribute in node.attribute)
    for tensor in (*model.graph.initializer, *attributes):
        _check_inside(tensor)
    try:
        checker.check_model(model)
    except (checker.ValidationError, ValueError, RuntimeError) as error:
        raise Unmapped(f"onnx finds the model wrong: {first_line(error)}") from None
    return model


def parsed_model(path: str, data: bytes) -> Any:
    """Return a file's contents as an onnx.ModelProto with a graph and an opset."""
    from onnx import ModelProto

    model = _parsed(ModelProto(), path, data, "an ONNX model")
    if not model.HasField("graph") or not model.opset_import:
        raise Unreadable(path, "is not an ONNX model: it has no graph or no opset")
    return model


def parsed_tensor(path: str, data: bytes, what: str = "an ONNX model") -> Any:
    """Return a file, or a part of one, as an onnx.TensorProto; Unreadable if it is none."""
    from onnx import TensorProto

    return _parsed(TensorProto(), path, data, what)


def _parsed(message: Any, path: str, data: bytes, what: str) -> Any:
    """Return a message of protobuf with a file's contents."""
    try:
        message.ParseFromString(data)
    except (import_module("google.protobuf.message").DecodeError, ValueError, RuntimeError) as error:
        raise Unreadable(path, f"is not {what}: {first_line(error)}") from None
    return message


def file_bytes(path: str) -> bytes:
    """Return a file's contents; Unreadable if it cannot be read, or is too large."""
    try:
        return read_plain(path, MOST_PROTOBUF)
    except TooLarge:
        raise Unreadable(path, "is larger than 2 GiB, which no protobuf is", "file-too-large") from None
    except (OSError, ValueError) as error:
        raise Unreadable(path, reason(error), "file-not-found") from None


def first_line(error: Exception) -> str:
    """Return the first line of a library's message, which may have a whole node in it."""
    return cut((str(error).strip().splitlines() or [type(error).__name__])[0], _MOST_SAID)


# ---- tensors


def tensor_in(path: str) -> TensorRef:
    """Return the values of a file of a data set; Unreadable if it is none, Unmapped if DirectML has no such values."""
    return checked_tensor(path, parsed_tensor(path, file_bytes(path), "a tensor of ONNX"), os.path.basename(path))


def checked_tensor(path: str, tensor: Any, name: str) -> TensorRef:
    """Return a tensor of a file; Unreadable if it has not as many values as it says."""
    try:
        return _tensor(tensor, name)
    except ValueError as error:
        raise Unreadable(path, f"is not a tensor of ONNX: {first_line(error)}") from None


def _tensor(tensor: Any, name: str) -> TensorRef:
    """Return a tensor with its values; ValueError if it has not as many as its shape says."""
    from onnx import numpy_helper

    _check_inside(tensor)
    kind = element_type(tensor.data_type)
    if kind not in KNOWN:
        raise Unmapped(f"{name} is {kind}, a type that DirectML does not have")
    values: Array = numpy_helper.to_array(tensor)
    if values.shape != tuple(tensor.dims):
        raise ValueError(f"it has {counted(values.size, 'element')}, and its sizes are {list(tensor.dims)}")
    return valued(values, kind)


def valued(values: Array, kind: str) -> TensorRef:
    """Return a tensor of values, of a type in ONNX's name; 4-bit numbers are brought to bytes."""
    tensor = TensorRef(ELEMENTS[kind], values.shape)
    return TensorRef.of(values.astype(tensor.dtype, copy=False), tensor.element)


def constant(tensor: Any, name: str) -> TensorRef:
    """Return a tensor that a model itself gives; onnx accepts some wrong ones, depending on its version."""
    try:
        return _tensor(tensor, name)
    except ValueError as error:
        raise Unmapped(f"the values of {name} cannot be read: {first_line(error)}") from None


_NUMBERS = {"value_float": "f4", "value_floats": "f4", "value_int": "i8", "value_ints": "i8"}


def valueless(node: Any) -> str | None:
    """Return which attribute of a node has no value, and why, or None."""
    for attribute in node.attribute:
        if attribute.ref_attr_name:
            return f"its attribute {attribute.name} names {attribute.ref_attr_name} of a function, and it is in none"
        if not attribute.type:
            return f"its attribute {attribute.name} has no type"
    return None


def tensor_of(node: Any) -> Any:
    """Return the tensor that a Constant gives, or None where it gives text or a sparse one.

    Unmapped where an attribute has no value.
    """
    from onnx import helper, numpy_helper

    empty = valueless(node)
    if empty is not None:
        raise Unmapped(empty)
    for attribute in node.attribute:
        given = helper.get_attribute_value(attribute)
        if attribute.name == "value":
            return given
        if attribute.name in _NUMBERS:
            return numpy_helper.from_array(np.array(given, _NUMBERS[attribute.name]))
    return None


def _check_inside(tensor: Any) -> None:
    """Refuse a tensor whose values lie in another file, which may be any file."""
    if tensor.data_location or tensor.external_data:
        raise Unmapped(
            f"the values of {tensor.name or 'a tensor'} lie in another file, and only the model's own are read"
        )


def element_type(number: int) -> str:
    """Return ONNX's name of an element type."""
    return _element_types().get(number, f"of type {number}")


@cache
def _element_types() -> Mapping[int, str]:
    from onnx import TensorProto

    return {value: name for name, value in TensorProto.DataType.items()}


def opset_of(model: Any) -> int:
    """Return the version of ONNX's own operators that a model asks for."""
    return max((int(entry.version) for entry in model.opset_import if entry.domain in DOMAINS), default=1)


def unknown_opset(model: Any) -> str | None:
    """Return the message about a model of an opset that this onnx does not have, or None."""
    import onnx

    known, opset = onnx.defs.onnx_opset_version(), opset_of(model)
    lowest = min((int(entry.version) for entry in model.opset_import if entry.domain in DOMAINS), default=1)
    if lowest < 1:
        return f"asks for opset {lowest}, and the first opset is 1"
    if opset <= known:
        return None
    return f"asks for opset {opset}, and onnx {onnx.__version__} has opsets up to {known}: install a newer onnx"


# ---- the attributes of a node of ONNX, with their defaults. Needs the package onnx


def attributes_of(node: Any, opset: int) -> dict[str, Any]:
    """Return the attributes of a node, and the defaults of the others where onnx knows the operator's domain.

    Unmapped where an attribute has no value.
    """
    from onnx import helper

    empty = valueless(node)
    if empty is not None:
        raise Unmapped(empty)
    schema = schema_of(node.op_type, opset) if node.domain in DOMAINS else None
    attributes = {} if schema is None else defaults_of(schema)
    attributes.update((attribute.name, attribute) for attribute in node.attribute if not is_graph(attribute))
    return {name: _plain(helper.get_attribute_value(attribute)) for name, attribute in attributes.items()}


def is_graph(attribute: Any) -> bool:
    """Whether the value of an attribute is a graph, or several."""
    return attribute.HasField("g") or bool(attribute.graphs)


def _plain(value: Any) -> Any:
    from onnx import TensorProto

    if isinstance(value, TensorProto):
        return _numbers(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) or hasattr(value, "extend") else value


def _numbers(tensor: Any) -> Array | None:
    """Return the values of a tensor, or None if the model does not have them all."""
    from onnx import numpy_helper

    try:
        return None if tensor.data_location else numpy_helper.to_array(tensor)
    except (TypeError, ValueError):
        return None


# ---- the schemas of ONNX's own operators, from the package onnx


MISJUDGED = ("STFT",)  # operators whose sizes the package infers otherwise than its own tests have them


@cache
def schema_of(type: str, opset: int, domain: str = "") -> Any:
    """Return the schema of one of ONNX's own operators in an opset of a domain, or None."""
    from onnx import defs

    try:
        return defs.get_schema(type, opset, domain)
    except defs.SchemaError:
        return None


@cache
def versions_of_operators() -> dict[str, set[int]]:
    """Return the versions of all operators of ONNX's own domain."""
    from onnx import defs

    versions: dict[str, set[int]] = {}
    for schema in defs.get_all_schemas_with_history():
        if not schema.domain:
            versions.setdefault(schema.name, set()).add(schema.since_version)
    return versions


def defaults_of(schema: Any) -> dict[str, Any]:
    """Return the attributes that have a default, by their names, each as an onnx.AttributeProto."""
    return {name: each.default_value for name, each in schema.attributes.items() if each.default_value.type}
