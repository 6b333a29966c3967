"""A graph checked as a whole: the desc of every node, and whether both ends of each edge agree."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc, TensorDesc, TensorPart
from dmlcheck.diagnostics.record import Checking, Finding
from dmlcheck.diagnostics.wording import counted, cut
from dmlcheck.files.document import Path
from dmlcheck.graphs.records import Constant, GraphFile, Node, Step
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.specs.records import INPUT, OUTPUT
from dmlcheck.validation import check

_MOST_DIMENSIONS = 8  # that any operator takes


class CheckedDesc(NamedTuple):
    """A desc as it was read, or None, the findings about it, and the minimum level.

    `answer` is that of DirectML's library, if it was asked, and `doubts` are the findings about the answer.
    `accepted_by` has the releases of DirectML that take the desc.
    """

    desc: OperatorDesc | None
    findings: tuple[Finding, ...]
    minimum: str | None = None
    notes: tuple[Finding, ...] = ()
    answer: Any = None
    doubts: tuple[Finding, ...] = ()
    accepted_by: tuple[str, ...] = ()


CheckDesc = Callable[[str, Mapping[str, Any]], CheckedDesc]


class Checked(NamedTuple):
    """The check of a node, a constant or an output: its name, and findings with their places."""

    name: str
    findings: tuple[Finding, ...]
    node: Node | None = None
    desc: CheckedDesc | None = None

    @property
    def step(self) -> Step | None:
        """The step that a node without mistakes is."""
        if self.node is None or self.desc is None or self.desc.desc is None or self.findings:
            return None
        return Step(self.node.name, self.desc.desc, self.node.inputs, self.node.outputs, self.node.path)


def each_once(check_desc: CheckDesc) -> CheckDesc:
    """Return a checker that checks each of equal descs once: a graph has many equal ones."""
    known: dict[str, CheckedDesc] = {}

    def checked_once(operator: str, fields: Mapping[str, Any]) -> CheckedDesc:
        key = json.dumps([operator, fields], default=str)
        if key not in known:
            known[key] = check_desc(operator, fields)
        return known[key]

    return checked_once


def _at_newest(operator: str, fields: Mapping[str, Any]) -> CheckedDesc:
    reading = read_desc(operator, fields)
    return CheckedDesc(reading.desc, tuple(check(reading, NEWEST_LEVEL)))


def checked(graph: GraphFile, check_desc: CheckDesc = _at_newest) -> Iterator[Checked]:
    """Yield the checks of every node of a graph, between the checks of constants and of outputs."""
    edges, checked_once = _Edges(graph), each_once(check_desc)
    for constant in graph.constants:
        twice = tuple(edges.write_constant(constant))
        if twice:
            yield Checked(constant.node, twice)
    for node in graph.nodes:
        made = CheckedDesc(None, node.findings) if node.findings else checked_once(node.operator, node.fields)
        wrong = (*made.findings, *edges.of_node(node, made.desc))
        yield Checked(node.name, tuple(finding.under(node.path) for finding in wrong), node, made)
    for finding in edges.of_outputs():
        yield Checked(graph.outputs[int(finding.path[-1])], (finding,))


def valid_steps(graph: GraphFile) -> Checking[tuple[Step, ...]]:
    """Return the steps of a graph, without wrong ones."""
    steps = []
    for one in checked(graph):
        yield from one.findings
        steps += [one.step] if one.step is not None else []
    return tuple(steps)


# ---- edges


class _Source(NamedTuple):
    """The writer of a tensor: a node's name, None for an input of the graph; and the desc of the tensor, if known."""

    node: str | None
    written: TensorDesc | Constant | None = None


class _Edges:
    """The tensors that are known so far, node by node in their order."""

    def __init__(self, graph: GraphFile) -> None:
        self.outputs = graph.outputs
        self._known = {name: _Source(None) for name in graph.inputs if name}
        self._later: dict[str, str] = {}
        for node in graph.nodes:
            for name in (*node.outputs.values(), *node.others):
                self._later.setdefault(name, node.name)

    def write_constant(self, constant: Constant) -> Iterator[Finding]:
        """Yield the finding about a constant with the name of another tensor, and record the constant."""
        yield from self._write(constant.node, constant.tensor, constant.path, constant)

    def of_node(self, node: Node, desc: OperatorDesc | None) -> Iterator[Finding]:
        """Yield the findings about the edges of the next node, and record the tensors that it writes."""
        parts = {} if desc is None else {part.label: part for part in desc.tensors(INPUT)}
        for label, name in node.inputs.items():
            yield from self._read(node, label, name, parts.get(label))
        written = {} if desc is None else {part.label: part.tensor for part in desc.tensors(OUTPUT)}
        for label, name in node.outputs.items():
            yield from self._write(node.name, name, ("desc", *_path(label)), written.get(label))
        for name in node.others:
            yield from self._write(node.name, name, (), None)

    def _read(self, node: Node, label: str, name: str, part: TensorPart | None) -> Iterator[Finding]:
        source = self._known.get(name) if name else None
        path: Path = ("desc", *_path(label))
        if not name:
            text = f"{label} of the node {_quoted(node.name)} has a desc and no name of the tensor that it reads"
            yield Finding("dangling-edge", path, {"problem": text}, "let an edge of the graph bring it")
        elif source is None:
            yield self._dangling(node, name, path)
        elif part is not None and isinstance(source.written, TensorDesc):
            yield from _between(source, source.written, node, name, part)
        elif part is not None and isinstance(source.written, Constant):
            yield from _from_constant(source.written, node, part)

    def _dangling(self, node: Node, name: str, path: Path) -> Finding:
        text = f"the node {_quoted(node.name)} reads {_quoted(name)}, which is no input of the graph and no output of "
        help = "the graph was written wrong or changed: write it again"
        if name in self._later:
            text += f"an earlier node: the node {_quoted(self._later[name])} writes it later"
            help = "a node must come after those that it reads from"
        else:
            text += "any node"
        return Finding("dangling-edge", path, {"problem": text}, help)

    def _write(self, node: str, name: str, path: Path, what: TensorDesc | Constant | None) -> Iterator[Finding]:
        """Yield the finding about a tensor with the name of an earlier one, and record the tensor."""
        earlier = self._known.get(name)
        if earlier is not None:
            whose = "an input of the graph" if earlier.node is None else f"of the node {_quoted(earlier.node)}"
            text = f"the node {_quoted(node)} writes {_quoted(name)}, which is {whose} too"
            yield Finding("graph-syntax", path, {"problem": text}, "give each tensor its own name")
        if name:
            self._known[name] = _Source(node, what)

    def of_outputs(self) -> Iterator[Finding]:
        """Yield which outputs of the graph nothing writes, after the last node."""
        for place, name in enumerate(self.outputs):
            source = self._known.get(name)
            if name and (source is None or source.node is None):
                text = f"no node writes {_quoted(name)}, an output of the graph"
                help = "the graph was written wrong or changed: write it again"
                yield Finding("dangling-edge", ("graphOutputNames", place), {"problem": text}, help)


def _between(source: _Source, written: TensorDesc, node: Node, name: str, part: TensorPart) -> Iterator[Finding]:
    """Yield the differences between a tensor as it is written and as its reader takes it; strides may differ."""
    head = f"{part.label} of the node {_quoted(node.name)}"
    writes = f"the node {_quoted(source.node or '')} writes"
    taken, given = _byte_count(part.tensor), _byte_count(written)
    if written.data_type != part.tensor.data_type:
        text = f"{head} is {part.tensor.data_type}, and {writes} {written.data_type} to {_quoted(name)}"
        yield _mismatch(part, text, "both ends have one data type", "DataType")
    elif (written.total_size or 0) < (part.tensor.total_size or 0):
        text = f"{head} takes {counted(part.tensor.total_size or 0, 'byte')}, and {writes} "
        text += f"{written.total_size or 0:,} to {_quoted(name)}"
        yield _mismatch(part, text, "what is written must have at least the bytes that are read", _TOTAL)
    elif taken is not None and given is not None and given < taken:
        text = f"{head} reads {counted(taken, 'byte')}, and {writes} {given:,} to {_quoted(name)}"
        yield _mismatch(part, text, "let it read no more than is written")


def _from_constant(constant: Constant, node: Node, part: TensorPart) -> Iterator[Finding]:
    """Yield the finding about a constant that is too short for its reader; files next to the graph are not read."""
    needed = _byte_count(part.tensor)
    if constant.data is None or needed is None or len(constant.data) >= needed:
        return
    text = f"{part.label} of the node {_quoted(node.name)} takes {counted(needed, 'byte')}, and the constant "
    text += f"{_quoted(constant.node)} has {len(constant.data):,}"
    yield _mismatch(part, text, "a constant must have at least the bytes that are read", _TOTAL)


_TOTAL = "TotalTensorSizeInBytes"


def _mismatch(part: TensorPart, text: str, help: str, *field: str) -> Finding:
    return Finding("edge-mismatch", ("desc", *part.path, *field), {"problem": text}, help)


def _byte_count(tensor: TensorDesc) -> int | None:
    """Return the bytes up to the last element, without padding; None for impossible sizes."""
    strides = tensor.strides
    if 0 in tensor.sizes or len(tensor.sizes) > _MOST_DIMENSIONS or (strides and len(strides) != len(tensor.sizes)):
        return None
    return tensor.span_bytes


def _path(label: str) -> Path:
    """Return the path in its desc of the tensor with a label: the path of `InputTensors[1]` has an index."""
    field, _, index = label.partition("[")
    return (field, int(index.rstrip("]"))) if index else (field,)


def _quoted(name: str) -> str:
    return repr(cut(name, 100))
