"""A DirectML graph on disk as a graph of nodes, with their descs in the notation of case files."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from dmlcheck.diagnostics.record import Diagnostic, Finding
from dmlcheck.diagnostics.wording import counted
from dmlcheck.formats.dml_graph.read import Attribute, FileConstant, FileNode, Operator, Stored, Tensor, read_stored
from dmlcheck.graphs.records import Constant, GraphFile, Node
from dmlcheck.specs.load import full_name, load_spec
from dmlcheck.specs.names import DATA_TYPES, ENUMS, OPERATOR_PREFIX
from dmlcheck.specs.records import INPUT, OUTPUT, Field, OperatorSpec


def read_graph(path: str) -> GraphFile | Diagnostic:
    """Return the graph of a file, or the findings about the file."""
    stored = read_stored(path)
    return stored if isinstance(stored, Diagnostic) else graph_of(stored, path.replace(os.sep, "/"))


def graph_of(stored: Stored, file: str = "") -> GraphFile:
    """Return the graph of a file as a Graph: constants in files next to it are owned by DirectML."""
    constants = tuple(
        Constant(name, node.name, ("nodes", index), node.desc.data, node.desc.file)
        for index, node in enumerate(stored.nodes)
        if isinstance(node.desc, FileConstant)
        for name in node.outputs
        if name
    )
    owned = frozenset(constant.tensor for constant in constants if constant.file)
    nodes = tuple(
        _node(node, node.desc, index, owned)
        for index, node in enumerate(stored.nodes)
        if isinstance(node.desc, Operator)
    )
    return GraphFile(file, stored.inputs, constants, nodes, stored.outputs)


def _node(node: FileNode, operator: Operator, index: int, owned: frozenset[str]) -> Node:
    made = desc_of(node, operator, owned)
    inputs, outputs = ({label_of(end): end.edge for end in ends} for ends in (made.inputs, made.outputs))
    others = tuple(name for name in node.outputs if name and name not in outputs.values())
    return Node(node.name, made.operator, made.fields, inputs, outputs, ("nodes", index), others, made.findings)


# ---- descs


class End(NamedTuple):
    """One end of an edge at an operator: the edge's name, the field with an index where it is a list, the tensor."""

    edge: str
    path: tuple[str | int, ...]
    tensor: Tensor


def label_of(end: End) -> str:
    """Return the name that reports give the tensor at an end of an edge: `InputTensors[1]`."""
    return "".join(f"[{step}]" if isinstance(step, int) else step for step in end.path)


class NodeDesc(NamedTuple):
    """The desc of a node: fields in the notation, its edges, and the findings about the file's notation of it."""

    operator: str
    fields: Mapping[str, Any]
    inputs: tuple[End, ...] = ()
    outputs: tuple[End, ...] = ()
    findings: tuple[Finding, ...] = ()


def desc_of(node: FileNode, operator: Operator, owned: frozenset[str] = frozenset()) -> NodeDesc:
    """Return the desc of an operator; tensors at edges with a name in `owned` are owned by DirectML."""
    name = full_name(operator.type) if operator.type.startswith(OPERATOR_PREFIX) else None
    if name is None:
        return NodeDesc(operator.type, {})
    spec, findings = load_spec(name), list[Finding]()
    fields: dict[str, Any] = {}
    ends = {}
    sides = ((INPUT, "input", node.inputs, operator.inputs), (OUTPUT, "output", node.outputs, operator.outputs))
    for kind, word, names, tensors in sides:
        matched = _Matched(spec, kind, names, tensors)
        ends[kind] = tuple(matched.ends())
        findings += matched.findings(word)
        fields |= _tensor_fields(spec, kind, ends[kind], owned if kind == INPUT else frozenset())
    findings += _put_attributes(spec, operator.attributes, fields, ("desc",))
    return NodeDesc(name, fields, ends[INPUT], ends[OUTPUT], tuple(findings))


# ---- tensors


class _Matched(NamedTuple):
    """The input or output tensors of a node, matched to the operator's fields by the names of its edges."""

    spec: OperatorSpec
    kind: str
    names: tuple[str, ...]
    tensors: tuple[Tensor, ...]

    @property
    def given(self) -> list[tuple[str, Tensor | None]]:
        """Each name with its tensor; None for missing tensors.

        If there are as many tensors as names, none is missing: an empty name belongs to an output without readers.
        """
        if len(self.names) == len(self.tensors):
            return list(zip(self.names, self.tensors, strict=True))
        rest = iter(self.tensors)
        return [(name, next(rest, None) if name else None) for name in self.names]

    def ends(self) -> Iterator[End]:
        given = iter(self.given)
        for field in self.fields:
            if field.type == "TENSOR_DESC":
                parts = [next(given, ("", None))]
            else:
                parts = [part for part in given if part[1] is not None]
            for index, (name, tensor) in enumerate(parts):
                if tensor is not None:
                    yield End(name, (field.name,) if field.type == "TENSOR_DESC" else (field.name, index), tensor)

    @property
    def fields(self) -> list[Field]:
        return [field for field in self.spec.fields.values() if field.kind == self.kind]

    def findings(self, word: str) -> Iterator[Finding]:
        """Yield a finding if the numbers of names and tensors differ, or are more than the operator has."""
        named = sum(map(bool, self.names))
        if len(self.names) != len(self.tensors) != named:
            text = f"it names {counted(named, word)} and has the descs of {len(self.tensors)}"
            yield Finding("graph-syntax", (), {"problem": text})
        most = len(self.fields) if all(field.type == "TENSOR_DESC" for field in self.fields) else None
        given = max((place for place, (name, _) in enumerate(self.given, 1) if name), default=0)
        if most is not None and max(given, len(self.tensors)) > most:
            text = f"it has {max(given, len(self.tensors))} {word}s; {self.spec.operator} has at most {most}"
            yield Finding("graph-syntax", (), {"problem": text})


def _tensor_fields(spec: OperatorSpec, kind: str, ends: tuple[End, ...], owned: frozenset[str]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for end in ends:
        field = spec.fields[str(end.path[0])]
        tensor = _tensor(end.tensor, is_owned=end.edge in owned)
        if field.type == "TENSOR_DESC":
            fields[field.name] = tensor
        else:
            fields.setdefault(field.name, []).append(tensor)
    for field in spec.fields.values():
        if field.kind == kind and field.type != "TENSOR_DESC" and not field.optional:
            fields.setdefault(field.name, [])
    return fields


def _tensor(tensor: Tensor, *, is_owned: bool) -> dict[str, Any]:
    made: dict[str, Any] = {"DataType": tensor.data_type, "Sizes": list(tensor.sizes)}
    if is_owned:
        made["Flags"] = "OWNED_BY_DML"
    if tensor.strides is not None:
        made["Strides"] = list(tensor.strides)
    made["TotalTensorSizeInBytes"] = tensor.total_size
    return made


# ---- attributes

_KINDS = {  # by type of DirectML's structs: the file's types, and the value if the file lacks it
    "UINT": (("UInt32", "Bool"), 0),
    "INT": (("Int32",), 0),
    "FLOAT": (("Float32",), 0.0),
    "BOOL": (("Bool", "UInt32"), False),
    "UINT_ARRAY": (("UIntArray",), None),
    "INT_ARRAY": (("IntArray",), None),
    "FLOAT_ARRAY": (("FloatArray",), None),
    "SCALE_BIAS": (("ScaleBias",), None),
    "SIZE_2D": (("Size2D",), (0, 0)),
    "SCALAR_UNION": (("ScalarUnionData",), bytes(8)),
    "OPERATOR_DESC": (("Activation",), None),
    "OPERATOR_DESC_ARRAY": (("ActivationArray",), None),
}
_MEMBERS = {"SCALE_BIAS": ("Scale", "Bias"), "SIZE_2D": ("Width", "Height")}
_FORMS = {("float", 16): "<e", ("float", 32): "<f", ("float", 64): "<d"}


def _put_attributes(
    spec: OperatorSpec, attributes: tuple[Attribute, ...], fields: dict[str, Any], path: tuple[str | int, ...]
) -> Iterator[Finding]:
    """Assign attributes to fields by position; yield a finding for each of the wrong type."""
    known = [field for field in spec.fields.values() if not field.is_tensor]
    if len(attributes) > len(known):
        text = f"it has {counted(len(attributes), 'attribute')}; {spec.operator} has {len(known)}"
        yield Finding("graph-syntax", path[:-1], {"problem": text})
    for index, field in enumerate(known):
        kinds, default = _KINDS[field.type]
        given = attributes[index] if index < len(attributes) else Attribute(kinds[0], default)
        if given.kind not in (*kinds, "nothing") or (given.value is None and default is not None):
            found = "without a value" if given.kind in kinds else given.kind
            text = f"{field.name} of {spec.operator} is {found} in the file, and must be {' or '.join(kinds)}"
            yield Finding("graph-syntax", (*path, field.name), {"problem": text})
        elif given.value is not None and not (field.optional and given.value == ()):
            fields[field.name] = yield from _value(field, given.value, (*path, field.name))
    for field in known:
        if isinstance(fields.get(field.name), bytes):
            fields[field.name] = _scalar(fields[field.name], fields.get(field.data_type or ""))


def _value(field: Field, value: Any, path: tuple[str | int, ...]) -> Any:
    """Return a value in the notation, after yielding the findings about it."""
    if field.type == "OPERATOR_DESC":
        return (yield from _activation(value, path))
    if field.type == "OPERATOR_DESC_ARRAY":
        made = []
        for index, part in enumerate(value):
            made.append((yield from _activation(part, (*path, index))))
        return made
    if field.type in _MEMBERS:
        return dict(zip(_MEMBERS[field.type], value, strict=True))
    if field.enum is not None:
        values = ENUMS[field.enum]  # in the order of their numbers, which begin at 0
        return values[value] if value < len(values) else str(value)
    if isinstance(value, tuple):
        return list(value)
    return int(value) if field.type == "UINT" and not field.boolean else value


def _activation(operator: Operator, path: tuple[str | int, ...]) -> Any:
    made: dict[str, Any] = {"Type": operator.type}
    name = full_name(operator.type)
    if name is not None:
        yield from _put_attributes(load_spec(name), operator.attributes, made, path)
    return made


def _scalar(data: bytes, data_type: Any) -> Any:
    """Return the number of a scalar union; if its type is not known, its bytes as a number."""
    kind, bits = DATA_TYPES.get(data_type, ("uint", 64))
    if kind == "float":
        return struct.unpack_from(_FORMS[kind, bits], data)[0]
    size = max(1, bits // 8)
    return int.from_bytes(data[:size], "little", signed=kind == "int")
