"""A whole model for its nodes: read without its weights, with sizes for its symbolic dimensions, functions inlined.

Needs the package onnx.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import islice
from typing import Any, NamedTuple

from dmlcheck.diagnostics.wording import size_text
from dmlcheck.onnx.model.bytes import MOST_BYTES, bytes_and_weights, model_bytes
from dmlcheck.onnx.model.named_sizes import names_of_size, size_of
from dmlcheck.onnx.model.parts import read_by
from dmlcheck.onnx.reading import DOMAINS, Unreadable, first_line, parsed_model, parsed_tensor, unknown_opset
from dmlcheck.values.memory import available_bytes

MOST_NODES = 200_000  # of a model
MOST_INLINED = 50_000  # of a model whose functions are inlined: a few of them can make very many
_MOST_DEPTH = 100  # calls within calls, as newer versions of onnx have it
NO_NAMES = ("", "?")  # the names that exporters give to a size that has none
MOST_VALUES = 1024  # elements of an initializer that are kept: shapes, axes, scales


class Model(NamedTuple):
    """An onnx.ModelProto without its weights, of which only types and sizes are left, and their names.

    ONNX's own domain is "" in it. `symbols` are the names that the file gives to sizes.
    """

    proto: Any
    weights: frozenset[str]
    symbols: frozenset[str] = frozenset()


class ModelToRun(NamedTuple):
    """An onnx.ModelProto without its weights, and these as onnx.TensorProto by name; `symbols` as in Model."""

    proto: Any
    weights: dict[str, Any]
    symbols: frozenset[str] = frozenset()


def read_whole(path: str, sizes: Mapping[str, int]) -> Model:
    """Return a model without its weights; Unreadable if the file is none.

    `sizes` are the sizes for symbolic dimensions, by their names. Data outside of the file is not read.
    """
    model = _checked(path, model_bytes(path))
    weights: set[str] = set()
    symbols: set[str] = set()
    for graph in graphs_of(model.graph):
        weights |= _strip(graph)
        symbols |= _give_sizes(graph, sizes)
    whole = _without_functions(path, model)
    return Model(whole, frozenset(weights), frozenset(symbols))


def read_to_run(path: str, sizes: Mapping[str, int]) -> ModelToRun:
    """Return a model with all its weights; Unreadable if the file is none, or weights in other files are missing.

    `sizes` are the sizes for symbolic dimensions, by their names.
    """
    weights: dict[str, Any] = {}

    def take(data: bytes) -> None:
        tensor = parsed_tensor(path, data)
        weights[tensor.name] = tensor

    model = _checked(path, bytes_and_weights(path, take))
    if not all(isinstance(name, str) for name in weights):
        raise Unreadable(path, "has names that are not UTF-8")
    _load_weights(path, model, weights.values())
    symbols = {name for graph in graphs_of(model.graph) for name in _give_sizes(graph, sizes)}
    _replace(model.graph.input, [value for value in model.graph.input if value.name not in weights])
    return ModelToRun(_without_functions(path, model), weights, frozenset(symbols))


def _load_weights(path: str, model: Any, weights: Iterable[Any]) -> None:
    """Read the values of tensors that lie in other files; Unreadable if they cannot be."""
    from onnx import TensorProto, checker, external_data_helper

    folder = os.path.dirname(path) or os.curdir
    outside = [tensor for tensor in weights if tensor.data_location == TensorProto.EXTERNAL]
    need = sum(int(entry.value) for tensor in outside for entry in tensor.external_data if _is_length(entry))
    have = available_bytes()
    if have is not None and need > have:
        problem = f"has weights of {size_text(need)}, and {size_text(have)} of memory are free"
        raise Unreadable(path, problem, "file-too-large")
    try:
        external_data_helper.load_external_data_for_model(model, folder)
        for tensor in outside:
            external_data_helper.load_external_data_for_tensor(tensor, folder)
            tensor.data_location = TensorProto.DEFAULT  # some versions of onnx leave it as it was
            del tensor.external_data[:]
    except (OSError, ValueError, RuntimeError, checker.ValidationError) as error:
        raise Unreadable(path, f"has weights in other files that cannot be read: {first_line(error)}") from None


def _is_length(entry: Any) -> bool:
    return bool(entry.key == "length" and entry.value.isascii() and entry.value.isdigit())


def _checked(path: str, data: bytes) -> Any:
    """Return a file's contents as a model of a known opset with readable names; Unreadable if they are none."""
    model = parsed_model(path, data)
    unknown = unknown_opset(model)
    if unknown is not None:
        raise Unreadable(path, unknown)
    if not all(isinstance(name, str) for name in _names(model)):
        raise Unreadable(path, "has names that are not UTF-8")
    return model


def _without_functions(path: str, model: Any) -> Any:
    """Return a model with its functions inlined, and ONNX's own domain named ""; Unreadable if it has too much."""
    whole = _inlined(path, model) if model.functions else model
    if sum(len(graph.node) for graph in graphs_of(whole.graph)) > MOST_NODES:
        raise Unreadable(path, f"has more than {MOST_NODES:,} nodes, and dmlcheck reads no more", "file-too-large")
    # ONNX's own domain gets its empty name, the only one that onnx accepts in nodes.
    for named in (*whole.opset_import, *all_nodes(whole.graph)):
        if named.domain in DOMAINS:
            named.domain = ""
    for graph in graphs_of(whole.graph):
        _sort(graph)
    return whole


def _sort(graph: Any) -> None:
    """Put the nodes of a graph after those that they read, as ONNX Runtime does; one with a cycle stays as it is.

    A node comes later only where it must.
    """
    makers: dict[str, int] = {}
    for at, node in enumerate(graph.node):
        for name in filter(None, node.output):
            makers.setdefault(name, at)
    reads = [sorted({makers[name] for name in read_by(node) if name in makers}) for node in graph.node]
    if all(before < at for at, befores in enumerate(reads) for before in befores):
        return
    try:
        list(TopologicalSorter(dict(enumerate(reads))).static_order())
    except CycleError:
        return
    order: dict[int, None] = {}
    waiting = list(reversed(range(len(reads))))
    while waiting:
        missing = [before for before in reads[waiting[-1]] if before not in order]
        if missing:
            waiting.extend(reversed(missing))
        else:
            order[waiting.pop()] = None
    _replace(graph.node, [graph.node[at] for at in order])


def elements(sizes: Iterable[int], most: int) -> int:
    """Return how many elements a tensor of some sizes has, or a number above `most`: all digits of it may be many."""
    count = 1
    for size in sorted(map(abs, sizes)):  # a size of 0 comes before all large ones
        count *= size
        if count > most:
            return count
    return count


def symbols_of(model: Any, sizes: Mapping[str, int]) -> list[str]:
    """Return the names of the sizes of a model's inputs that are not known, in their order.

    A size without a name is named after its place, as `--dim` takes it. Of one that is computed from others those of
    these that are not in `sizes` are named.
    """
    given = [(value.name, value.type.tensor_type.shape.dim) for value in model.graph.input]
    open_sizes = (
        each
        for name, dims in given
        for axis, dim in enumerate(dims)
        if not _is_known(dim)
        for each in ([place_of(name, axis)] if _has_no_name(dim) else names_of_size(str(dim.dim_param), sizes))
    )
    return list(dict.fromkeys(open_sizes))


def place_of(name: str, axis: int) -> str:
    """Return the place of a size: the input's name, and the number of the dimension."""
    return f"{name}:{axis}"


def _is_known(dim: Any) -> bool:
    return bool(dim.HasField("dim_value") and dim.dim_value >= 0)


def _has_no_name(dim: Any) -> bool:
    """Whether a size has neither a number nor a name: exporters write nothing, -1 or a question mark."""
    return not _is_known(dim) and dim.dim_param in NO_NAMES


def _names(model: Any) -> Iterator[Any]:
    """Yield the names of a model: protobuf gives bytes for one that is not UTF-8."""
    yield from (entry.domain for entry in model.opset_import)
    for graph in graphs_of(model.graph):
        yield from _names_of_values(graph)
        yield from _names_of_nodes(graph)
    for function in model.functions:
        yield from (function.name, function.domain, *function.input, *function.output, *function.attribute)
        yield from (attribute.name for attribute in function.attribute_proto)
        yield from (entry.domain for entry in function.opset_import)
        yield from _names_of_nodes(function)
        for graph in islice(graphs_of(function), 1, None):
            yield from _names_of_values(graph)
            yield from _names_of_nodes(graph)


def _names_of_values(graph: Any) -> Iterator[Any]:
    for value in (*graph.input, *graph.output, *graph.value_info, *graph.initializer):
        yield value.name
    for value in (*graph.input, *graph.output, *graph.value_info):
        yield from (dim.dim_param for dim in value.type.tensor_type.shape.dim)


def _names_of_nodes(graph: Any) -> Iterator[Any]:
    for node in graph.node:
        yield from (node.name, node.op_type, node.domain, *node.input, *node.output)
        for attribute in node.attribute:
            yield from (attribute.name, attribute.ref_attr_name)


def _strip(graph: Any) -> set[str]:
    """Move the types and sizes of large initializers, and of those in other files, to the types of a graph's values.

    Return their names.
    """
    from onnx import TensorProto, helper

    large = [
        tensor
        for tensor in graph.initializer
        if elements(tensor.dims, MOST_VALUES) > MOST_VALUES or tensor.data_location == TensorProto.EXTERNAL
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
    """Replace sizes by numbers, and return the names of all: a place stands in where a size has none."""
    names = set()
    for value in graph.input:
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            place = place_of(value.name, axis)
            if _has_no_name(dim) or (place in sizes and not _is_known(dim)):
                names.add(place)
                if place in sizes:
                    dim.dim_value = sizes[place]
    values = (*graph.input, *graph.output, *graph.value_info)
    dims = (dim for value in values for dim in value.type.tensor_type.shape.dim)
    named = [dim for dim in dims if dim.dim_param not in NO_NAMES]
    texts = {str(dim.dim_param) for dim in named}
    numbers = {text: size_of(text, sizes.get) for text in texts}
    for dim in named:
        number = numbers[str(dim.dim_param)]
        if number is not None:
            dim.dim_value = number
    return names | texts | {name for text in texts for name in names_of_size(text)}


def _inlined(path: str, model: Any) -> Any:
    """Return a model without functions: where it calls one, its nodes stand."""
    from onnx import checker, inliner

    try:
        size = inlined_size(model)
        if size.depth > _MOST_DEPTH:
            raise Unreadable(path, f"has functions that call each other more than {_MOST_DEPTH} deep")
        for number, most, what in ((size.nodes, MOST_INLINED, "nodes"), (size.bytes, MOST_BYTES, "bytes")):
            if number > most:
                problem = f"has more than {most:,} {what} when its functions are inlined"
                raise Unreadable(path, problem, "file-too-large")
        whole = inliner.inline_local_functions(model)
    except CycleError:  # found before onnx sees it
        raise Unreadable(path, "has functions that call each other in a circle") from None
    except (checker.ValidationError, ValueError, RuntimeError) as error:
        raise Unreadable(path, f"has functions that cannot be inlined: {first_line(error)}") from None
    if len(model.graph.node) > 0 and not whole.graph.node:
        raise Unreadable(path, "has functions that cannot be inlined: no node is left")
    return whole


# ---- how large a model becomes when its functions are inlined: a few lines can make nodes and names without end


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
