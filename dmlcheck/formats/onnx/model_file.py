"""A whole model for its nodes: read without its weights, with sizes for its symbolic dimensions, functions inlined.

Needs the package onnx.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from math import prod
from typing import Any, NamedTuple

from dmlcheck.formats.onnx.backend_tests import DOMAINS, Unreadable, first_line, parsed_model, too_new

_MOST_NODES = 1_000_000  # of a model whose functions are inlined
MOST_VALUES = 1024  # elements of an initializer that are kept: shapes, axes, scales


class Model(NamedTuple):
    """An onnx.ModelProto without its weights, of which only types and sizes are left, and their names.

    ONNX's own domain is "" in it. `symbols` are the names that the file gives to sizes.
    """

    proto: Any
    weights: frozenset[str]
    symbols: frozenset[str] = frozenset()


def read_whole(path: str, sizes: Mapping[str, int]) -> Model:
    """Return a model without its weights; Unreadable where a file is none.

    `sizes` are those of symbolic dimensions by their names. Data outside of the file is not read.
    """
    model = parsed_model(path)
    newer = too_new(model)
    if newer is not None:
        raise Unreadable(path, newer)
    names = [entry.domain for entry in model.opset_import]
    names += [name for graph in graphs_of(model.graph) for name in _names(graph)]
    if not all(isinstance(name, str) for name in names):
        raise Unreadable(path, "has names that are not UTF-8")
    weights: set[str] = set()
    symbols: set[str] = set()
    for graph in graphs_of(model.graph):
        weights |= _strip(graph)
        symbols |= _give_sizes(graph, sizes)
    whole = _inlined(path, model) if model.functions else model
    _name_domains(whole)
    return Model(whole, frozenset(weights), frozenset(symbols))


def graphs_of(graph: Any) -> Iterator[Any]:
    """Yield a graph, or a function, and the graphs inside its nodes."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
                yield from graphs_of(inner)


def symbols_of(model: Any) -> list[str]:
    """Return the names of the sizes that a model's inputs leave open, in their order."""
    given = (value.type.tensor_type.shape.dim for value in model.graph.input if value.type.HasField("tensor_type"))
    return list(dict.fromkeys(dim.dim_param for dims in given for dim in dims if dim.dim_param))


def _names(graph: Any) -> Iterator[Any]:
    """Yield the names of a graph: protobuf gives bytes for one that is not UTF-8."""
    for value in (*graph.input, *graph.output, *graph.value_info, *graph.initializer):
        yield value.name
    for value in (*graph.input, *graph.output, *graph.value_info):
        yield from (dim.dim_param for dim in value.type.tensor_type.shape.dim)
    for node in graph.node:
        yield from (node.name, node.op_type, node.domain, *node.input, *node.output)
        yield from (attribute.name for attribute in node.attribute)


def _name_domains(model: Any) -> None:
    """Give ONNX's own domain its empty name, which is the only one that onnx knows of nodes."""
    for named in (*model.opset_import, *_nodes(model.graph)):
        if named.domain in DOMAINS:
            named.domain = ""


def _strip(graph: Any) -> set[str]:
    """Put the types and sizes of large initializers, and of those in other files, where a graph has those of values.

    Return their names.
    """
    from onnx import TensorProto, helper

    large = [
        tensor
        for tensor in graph.initializer
        if prod(tensor.dims) > MOST_VALUES or tensor.data_location == TensorProto.EXTERNAL
    ]
    known = {tensor.name for tensor in graph.initializer}
    stripped = {tensor.name for tensor in large}
    infos = [helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims)) for tensor in large]
    _replace(graph.value_info, [*(info for info in graph.value_info if info.name not in stripped), *infos])
    _replace(graph.initializer, [tensor for tensor in graph.initializer if tensor.name not in stripped])
    _replace(graph.input, [value for value in graph.input if value.name not in known])
    return stripped


def _replace(field: Any, kept: list[Any]) -> None:
    """Give a repeated field other parts; nothing is copied where all stay."""
    if len(kept) != len(field) or any(one is not other for one, other in zip(kept, field, strict=True)):
        del field[:]
        field.extend(kept)


def _give_sizes(graph: Any, sizes: Mapping[str, int]) -> set[str]:
    """Put numbers in the place of the sizes that are named so, and return the names of all."""
    values = (*graph.input, *graph.output, *graph.value_info)
    named = [dim for value in values for dim in value.type.tensor_type.shape.dim if dim.dim_param]
    names = {str(dim.dim_param) for dim in named}
    for dim in named:
        if dim.dim_param in sizes:
            dim.dim_value = sizes[dim.dim_param]
    return names


def _inlined(path: str, model: Any) -> Any:
    from onnx import checker, inliner

    try:
        if _number_inlined(model) > _MOST_NODES:
            raise Unreadable(
                path, f"has more than {_MOST_NODES:,} nodes when its functions are inlined", "file-too-large"
            )
        return inliner.inline_local_functions(model)
    except CycleError:  # some versions of onnx do not come back from one
        raise Unreadable(path, "has functions that call each other in a circle") from None
    except (checker.ValidationError, ValueError, RuntimeError) as error:
        raise Unreadable(path, f"has functions that cannot be inlined: {first_line(error)}") from None


def _number_inlined(model: Any) -> int:
    """Return how many nodes there are when functions are inlined; CycleError where they call each other in a circle."""
    calls = {
        (each.domain, each.name): [(node.domain, node.op_type) for node in _nodes(each)] for each in model.functions
    }
    numbers: dict[tuple[str, str], int] = {}
    for name in TopologicalSorter(calls).static_order():
        numbers[name] = sum(numbers[called] for called in calls[name]) if name in calls else 1
    return sum(numbers.get((node.domain, node.op_type), 1) for node in _nodes(model.graph))


def _nodes(function: Any) -> Iterator[Any]:
    """Yield the nodes of a function, or of a graph, and those of the graphs inside them."""
    for graph in graphs_of(function):
        yield from graph.node
