"""The edges of a DirectML graph: names that lead from a graph's inputs and earlier nodes to nodes and its outputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dmlcheck.diagnostics.record import Finding
from dmlcheck.diagnostics.wording import counted, cut
from dmlcheck.formats.dml_graph.descs import End, NodeDesc
from dmlcheck.formats.dml_graph.records import Constant, Graph, Node, Tensor
from dmlcheck.specs.names import DATA_TYPE_PREFIX, DATA_TYPES


class _Source(NamedTuple):
    """What writes an edge: a node, and what it writes; None where that is not known. No node: an input of the graph."""

    node: Node | None
    written: Tensor | Constant | None = None


class Edges:
    """The edges that are known so far, node by node in their order."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._known = {name: _Source(None) for name in graph.inputs if name}
        self._later: dict[str, str] = {}
        for node in graph.nodes:
            for name in node.outputs:
                self._later.setdefault(name, node.name)
        self.owned: set[str] = set()

    def findings(self, node: Node, made: NodeDesc | None) -> Iterator[Finding]:
        """Yield what is wrong with the edges of the next node, None for a constant; what it writes is known then."""
        ends = () if made is None else made.inputs
        told = {end.edge for end in ends}
        for end in ends:
            yield from self._read(node, end)
        for place, name in enumerate(node.inputs):
            if name and name not in told and name not in self._known:
                yield self._dangling(node, name, ("inputNames", place))
        yield from self._write(node, made)

    def _read(self, node: Node, end: End) -> Iterator[Finding]:
        source = self._known.get(end.edge) if end.edge else None
        path = ("desc", *end.path)
        if not end.edge:
            text = f"{label_of(end)} of the node {_quoted(node.name)} has a desc and no name of what it reads"
            yield Finding("dangling-edge", path, {"problem": text}, "let an edge of the graph bring it")
        elif source is None:
            yield self._dangling(node, end.edge, path)
        elif isinstance(source.written, Tensor):
            yield from _between(source, source.written, node, end)
        elif isinstance(source.written, Constant):
            yield from _from_constant(source, source.written, node, end)

    def _dangling(self, node: Node, name: str, path: tuple[str | int, ...]) -> Finding:
        text = f"the node {_quoted(node.name)} reads {_quoted(name)}, which is no input of the graph and no output of "
        help = "the graph was written wrong or changed: write it again"
        if name in self._later:
            text += f"an earlier node: the node {_quoted(self._later[name])} writes it later"
            help = "a node must come after those that it reads from"
        else:
            text += "any node"
        return Finding("dangling-edge", path, {"problem": text}, help)

    def _write(self, node: Node, made: NodeDesc | None) -> Iterator[Finding]:
        tensors = {} if made is None else {end.edge: end.tensor for end in made.outputs}
        for place, name in enumerate(node.outputs):
            if not name:
                continue
            earlier = self._known.get(name)
            if earlier is not None:
                whose = "an input of the graph" if earlier.node is None else f"of the node {_quoted(earlier.node.name)}"
                text = f"the node {_quoted(node.name)} writes {_quoted(name)}, which is {whose} too"
                yield Finding(
                    "graph-syntax", ("outputNames", place), {"problem": text}, "give each tensor its own name"
                )
            written = node.desc if isinstance(node.desc, Constant) else tensors.get(name)
            self._known[name] = _Source(node, written)
            if isinstance(node.desc, Constant) and node.desc.file:
                self.owned.add(name)

    def outputs(self) -> Iterator[Finding]:
        """Yield which outputs of the graph nothing writes, after the last node."""
        for place, name in enumerate(self.graph.outputs):
            source = self._known.get(name)
            if name and (source is None or source.node is None):
                text = f"no node writes {_quoted(name)}, an output of the graph"
                help = "the graph was written wrong or changed: write it again"
                yield Finding("dangling-edge", ("graphOutputNames", place), {"problem": text}, help)


def _between(source: _Source, written: Tensor, node: Node, end: End) -> Iterator[Finding]:
    """Yield where a tensor as it is written is not what its reader takes: each has sizes and strides of its own."""
    path = ("desc", *end.path)
    head = f"{label_of(end)} of the node {_quoted(node.name)}"
    name = _quoted(source.node.name if source.node is not None else "")
    if _type(written) != _type(end.tensor):
        text = f"{head} is {_shown(end.tensor)}, and the node {name} writes {_shown(written)} to {_quoted(end.edge)}"
        yield Finding("edge-mismatch", (*path, "DataType"), {"problem": text}, "both ends have one data type")
    elif written.total_size < end.tensor.total_size:
        text = (
            f"{head} takes {counted(end.tensor.total_size, 'byte')}, and the node {name} writes "
            f"{written.total_size:,} to {_quoted(end.edge)}"
        )
        help = "what is written must have at least the bytes that are read"
        yield Finding("edge-mismatch", (*path, "TotalTensorSizeInBytes"), {"problem": text}, help)


def _from_constant(source: _Source, constant: Constant, node: Node, end: End) -> Iterator[Finding]:
    """Yield that a constant in the file is too short for its reader; files beside are not read."""
    needed = _needed(end.tensor)
    if constant.data is None or needed is None or len(constant.data) >= needed:
        return
    name = _quoted(source.node.name if source.node is not None else "")
    text = (
        f"{label_of(end)} of the node {_quoted(node.name)} takes {counted(needed, 'byte')}, and the constant "
        f"{name} has {len(constant.data):,}"
    )
    help = "a constant must have at least the bytes that are read"
    yield Finding("edge-mismatch", ("desc", *end.path, "TotalTensorSizeInBytes"), {"problem": text}, help)


def _needed(tensor: Tensor) -> int | None:
    """Return the bytes up to the last element, without those that round up; None where they cannot be known."""
    bits = DATA_TYPES[_type(tensor)].bits if _type(tensor) in DATA_TYPES else 0
    strides = tensor.strides
    if not bits or 0 in tensor.sizes or (strides is not None and len(strides) != len(tensor.sizes)):
        return None
    if strides is None:
        count = 1
        for size in tensor.sizes:
            count = min(count * size, 2**64)
    else:
        count = 1 + sum((size - 1) * stride for size, stride in zip(tensor.sizes, strides, strict=True))
    return (count * bits + 7) // 8


def _type(tensor: Tensor) -> str:
    return tensor.data_type.removeprefix(DATA_TYPE_PREFIX)


def _shown(tensor: Tensor) -> str:
    return cut(_type(tensor), 100)


def label_of(end: End) -> str:
    """Return the name that reports give the tensor at an end of an edge: `InputTensors[1]`."""
    return "".join(f"[{step}]" if isinstance(step, int) else step for step in end.path)


def _quoted(name: str) -> str:
    return repr(cut(name, 100))
