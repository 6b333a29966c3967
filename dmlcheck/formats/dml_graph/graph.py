"""A DirectML graph on disk as a graph of nodes, with descs in the notation of case files; and as such files."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from dmlcheck import __version__
from dmlcheck.cases.prepare import too_large, value_findings
from dmlcheck.descs.records import OperatorDesc, TensorDesc, TensorPart
from dmlcheck.diagnostics.record import Checking, Diagnostic, Finding, collected
from dmlcheck.diagnostics.wording import counted, cut
from dmlcheck.files.document import Document
from dmlcheck.files.yaml_text import one_line
from dmlcheck.folders.case_file import FORM, Written, write_cases
from dmlcheck.folders.export_folder import Folder, Imported, free_name, import_all, safe_name
from dmlcheck.formats.dml_graph.read import Attribute, FileConstant, FileNode, Operator, Stored, Tensor, read_stored
from dmlcheck.graphs.check import valid_steps
from dmlcheck.graphs.records import Constant, Constants, GraphFile, Node, Step, constants_of
from dmlcheck.specs.load import full_name, load_spec
from dmlcheck.specs.names import DATA_TYPES, ENUMS, NEWEST_LEVEL, OPERATOR_PREFIX, integer_range
from dmlcheck.specs.records import INPUT, OUTPUT, Field, OperatorSpec
from dmlcheck.values.generators import random, sequence
from dmlcheck.values.layouts import Array, from_bytes, wide_span


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


_COMMENT = """\
From the DirectML graph {} by dmlcheck {}: a node's desc, and the constants that it reads.
Inputs that other nodes bring are random. An implementation's results are compared with the reference."""
_MOST = 200  # characters of a name


def import_(paths: Iterable[str], folder: str) -> list[Imported]:
    """Write a folder of case files for each graph among files, and return the result for each file.

    Files with the constants of others are left out. OSError if the folder cannot be written, Occupied if it has other
    contents than an earlier import.
    """
    read = [(path, read_graph(path)) for path in paths]
    constants = _constant_files(graph for _, graph in read) if len(read) > 1 else frozenset()
    graphs = ((path, graph) for path, graph in read if os.path.realpath(path) not in constants)
    return import_all(graphs, folder, FORM, _imported)


def _constant_files(graphs: Iterable[GraphFile | Diagnostic]) -> frozenset[str]:
    files = [
        os.path.join(os.path.dirname(graph.file), f"{constant.file}.bin")
        for graph in graphs
        if isinstance(graph, GraphFile)
        for constant in graph.constants
        if constant.file and "\0" not in constant.file
    ]
    return frozenset(map(os.path.realpath, files))


def _imported(source: tuple[str, GraphFile | Diagnostic], place: Folder, taken: set[str]) -> Imported:
    path, graph = source
    name = path.replace(os.sep, "/")
    document = Document(name, "")
    if isinstance(graph, Diagnostic):
        return Imported(name, problems=(graph,), document=document)
    steps, findings = collected(valid_steps(graph))
    stem = free_name(safe_name(os.path.splitext(os.path.basename(path))[0]), taken)
    stems: set[str] = set()
    remarks, constants = [], constants_of(graph)
    for step in steps:
        case, wrong = collected(_case(step, name, constants))
        findings += wrong
        if isinstance(case, Written):
            file = f"{stem}/{free_name(safe_name(step.name), stems)}"
            write_cases(place, file, [case], _COMMENT.format(one_line(name), __version__))
        elif case is not None:
            remarks.append(case)
    problems = tuple(finding.diagnostic()._replace(file=name) for finding in findings)
    return Imported(name, stem if stems else None, len(stems), tuple(remarks), problems, document)


def _case(step: Step, file: str, constants: Constants) -> Checking[Written | str | None]:
    """Return a step as a case, or why it cannot be one; None if a constant is wrong."""
    name = cut(step.name, _MOST)
    wide = wide_span(step.desc)
    if wide is not None:
        return f"{name} is not imported: {wide}"
    arrays: dict[str, Array] = {}
    for part in step.desc.tensors(INPUT):
        if step.inputs[part.label] in constants.tensors:
            data = yield from constants.load(step.inputs[part.label], part.tensor)
            if data is None:
                return None
            arrays[part.label] = from_bytes(part.tensor, data)
    inputs = node_inputs(step.desc, arrays)
    if inputs is None:
        return f"{name} is not imported: no values for its inputs were found"
    source = f"DirectML graph {os.path.basename(file)}, node {name}"
    return Written(name, step.desc, inputs, more={"source": source})


# ---- values for the inputs of a single node


_FLOATS = (-1, 1)
_WHOLE = (0, 100)  # range of integers that are not indices and have more than 8 bits

Literal = dict[str, Any]


def node_inputs(desc: OperatorDesc, constants: Mapping[str, Array]) -> dict[str, Any] | None:
    """Return the values of a desc's inputs by field: arrays for constants, and the notation of case files for others.

    None if no values satisfy the operator's constraints, or this machine cannot hold them.
    """
    for made in _candidates(desc):
        values: Mapping[str, Any] = {**made, **constants}
        if too_large(desc, desc.by_field(made), {}) is not None:
            return None
        arrays = {label: _array(values[label], part.tensor) for label, part in _inputs(desc)}
        if not value_findings(desc, desc.by_field(arrays), NEWEST_LEVEL):
            return desc.by_field(values)
    return None


def _candidates(desc: OperatorDesc) -> Iterator[dict[str, Literal]]:
    """Yield values to try: random ones, then integers that are all different, then 0."""
    drawn = {label: {"random": _range(part, desc, seed)} for seed, (label, part) in enumerate(_inputs(desc), 1)}
    whole = [label for label, part in _inputs(desc) if DATA_TYPES[part.tensor.data_type].kind != "float"]
    yield drawn
    yield {**drawn, **{label: {"sequence": {"start": 0, "step": 1}} for label in whole}}
    yield {**drawn, **{label: {"sequence": {"start": 0, "step": 0}} for label in whole}}


def _inputs(desc: OperatorDesc) -> Iterator[tuple[str, TensorPart]]:
    return ((part.label, part) for part in desc.tensors(INPUT))


def _range(part: TensorPart, desc: OperatorDesc, seed: int) -> Literal:
    """Return the random numbers for a tensor, in the notation; indices are inside the dimension that they index."""
    kind, bits = DATA_TYPES[part.tensor.data_type]
    low, high = _FLOATS if kind == "float" else _WHOLE if bits > 8 else integer_range(part.tensor.data_type)
    if kind != "float" and "Indices" in part.label:
        low, high = 0, _indexed(part, desc) - 1
    return {"seed": seed, "low": low, "high": high}


def _indexed(part: TensorPart, desc: OperatorDesc) -> int:
    """Return the number of valid indices, in the smallest dimension that an index may be about."""
    sizes = desc.tensors()[0].tensor.sizes
    if part.label.startswith("Batch"):
        return sizes[0]
    axis = desc.get("Axis")
    return sizes[axis] if isinstance(axis, int) and axis < len(sizes) else min(sizes)


def _array(given: Any, tensor: TensorDesc) -> Array:
    if not isinstance(given, dict):
        return given  # type: ignore[no-any-return]
    count = tensor.element_count
    ((kind, of),) = given.items()
    if kind == "random":
        flat = random(tensor.data_type, count, of["seed"], of["low"], of["high"])
    else:
        flat = sequence(tensor.data_type, count, of["start"], of["step"])
    return flat.reshape(tensor.sizes)
