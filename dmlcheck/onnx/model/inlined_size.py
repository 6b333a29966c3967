"""How large a model becomes when its functions are inlined: a few lines can make nodes and names without end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from graphlib import TopologicalSorter
from typing import Any, NamedTuple

_Name = tuple[str, str, str]
_Sizes = Mapping[str, int]
_SUFFIX = 16  # bytes that a name gets so that no other has it


class Size(NamedTuple):
    """Nodes and bytes, of which there may be fewer, and how deep functions call each other."""

    nodes: int
    bytes: int
    depth: int = 0


_NODE = Size(1, 0, -1)


def inlined_size(model: Any) -> Size:
    """Return how large a model can become; graphlib.CycleError if functions call each other in a circle."""
    functions = {(each.domain, each.name, each.overload): each for each in model.functions}
    calls = {name: {_called(node) for node in all_nodes(each)} & functions.keys() for name, each in functions.items()}
    order = list(TopologicalSorter(calls).static_order())  # functions that are called come first
    given = _largest_attributes(model.graph, [functions[name] for name in reversed(order)])
    longest = _longest_name([model.graph, *functions.values()])
    sizes: dict[_Name, Size] = {}
    for name in order:
        sizes[name] = _size(functions[name], sizes, longest, given[name])
    return _size(model.graph, sizes, longest, {})


def graphs_of(graph: Any) -> Iterator[Any]:
    """Yield a graph, or a function, and the graphs inside its nodes."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
                yield from graphs_of(inner)


def all_nodes(function: Any) -> Iterator[Any]:
    """Yield the nodes of a function or a graph, including the graphs inside them."""
    for graph in graphs_of(function):
        yield from graph.node


def _called(node: Any) -> _Name:
    return node.domain, node.op_type, node.overload


def _size(function: Any, sizes: Mapping[_Name, Size], longest: int, given: _Sizes) -> Size:
    """Return the size of a function, or of the graph, in whose nodes every name may become the longest."""
    nodes, total, depth = 0, sum(node.ByteSize() for node in function.node), 0
    for node in all_nodes(function):
        inner = sizes.get(_called(node), _NODE)
        nodes += inner.nodes
        total += inner.bytes + (longest + _SUFFIX) * (1 + len(node.input) + len(node.output))
        total += sum(given.get(attribute.ref_attr_name, 0) for attribute in node.attribute)
        depth = max(depth, inner.depth + 1)
    return Size(nodes, total, depth)


def _longest_name(functions: list[Any]) -> int:
    names = (name for each in functions for node in all_nodes(each) for name in (node.name, *node.input, *node.output))
    return max(map(len, names), default=0)


def _largest_attributes(graph: Any, functions: list[Any]) -> Mapping[_Name, _Sizes]:
    """Return the bytes of the largest value of each attribute of functions; functions that call come first."""
    given: dict[_Name, dict[str, int]] = defaultdict(dict)
    for each in (graph, *functions):
        own = given[each.domain, each.name, each.overload] if each is not graph else {}
        for attribute in () if each is graph else each.attribute_proto:
            own[attribute.name] = max(own.get(attribute.name, 0), attribute.ByteSize())
        for node in all_nodes(each):
            sizes = given[_called(node)]
            for attribute in node.attribute:
                size = own.get(attribute.ref_attr_name, 0) if attribute.ref_attr_name else attribute.ByteSize()
                sizes[attribute.name] = max(sizes.get(attribute.name, 0), size)
    return given
