"""Parts of a model as models of their own: some nodes, and the whole model with more of its tensors as outputs.

Needs the package onnx.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from dmlcheck.onnx.model.bytes import in_pieces
from dmlcheck.onnx.reading import element_type

MOST_IR = 11  # of the file format of models that are made here, which older runtimes read too
SHAPE_OF = "dmlcheck.shape_of."  # how the names of outputs begin that have the shapes of tensors


def read_by(node: Any) -> list[str]:
    """Return the names of the tensors that a node reads, including those that its inner graphs take from around it."""
    names = dict.fromkeys(name for name in node.input if name)
    for graph in graphs_of(node):
        names.update(dict.fromkeys(_taken_from_outside(graph)))
    return list(names)


def graphs_of(node: Any) -> Iterator[Any]:
    """Yield the graphs that a node runs."""
    for attribute in node.attribute:
        yield from (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs)


def _taken_from_outside(graph: Any) -> Iterator[str]:
    own = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
    for node in graph.node:
        yield from (name for name in read_by(node) if name not in own)
        own.update(node.output)
    yield from (value.name for value in graph.output if value.name not in own)


def whole_number(node: Any, name: str, default: Any) -> Any:
    """Return an attribute of a node that is a whole number, without a look at the operator's schema."""
    return next((attribute.i for attribute in node.attribute if attribute.name == name), default)


def has_graphs(node: Any) -> bool:
    """Whether a node runs graphs of its own, as If and Loop do."""
    return next(graphs_of(node), None) is not None


def read_from_outside(nodes: Iterable[Any]) -> list[str]:
    """Return the names of the tensors that some nodes read and that none of the earlier ones gives, in their order."""
    names: dict[str, None] = {}
    made: set[str] = set()
    for node in nodes:
        names.update(dict.fromkeys(name for name in read_by(node) if name not in made))
        made.update(node.output)
    return list(names)


def model_of_node(node: Any, model: Any, constants: Mapping[str, Any], inputs: Mapping[str, Any]) -> Any:
    """Return an onnx.ModelProto of a node of a model with all its outputs, as `model_of_nodes` makes it."""
    return model_of_nodes([node], model, constants, inputs, [name for name in node.output if name])


def bytes_of_node(node: Any, model: Any, constants: Mapping[str, Any], inputs: Mapping[str, Any]) -> list[bytes]:
    """Return the bytes of `model_of_node` in pieces, in which its constants are copied only once.

    ValueError if a protobuf does not hold them.
    """
    bare = model_of_node(node, model, {}, inputs)
    graph = bare.graph.SerializeToString()
    bare.ClearField("graph")
    own = (constants[name].SerializeToString() for name in read_from_outside([node]) if name in constants)
    return in_pieces(bare.SerializeToString(), graph, own)


def model_of_nodes(
    nodes: Sequence[Any], model: Any, constants: Mapping[str, Any], inputs: Mapping[str, Any], outputs: Iterable[str]
) -> Any:
    """Return an onnx.ModelProto of nodes of a model: their constants, which are onnx.TensorProto, and typed inputs.

    `inputs` has an array, or a list of arrays for a sequence, for each tensor that the nodes read, and neither a
    constant is nor one of them gives. Graphs of nodes do not see their sizes: branches that are not taken may not go
    with them.
    """
    from onnx import ValueInfoProto, helper

    has_sizes = not any(map(has_graphs, nodes))
    graph = helper.make_graph(
        nodes,
        "node" if len(nodes) == 1 else "nodes",
        [_typed(name, value, has_sizes=has_sizes) for name, value in inputs.items()],
        [ValueInfoProto(name=name) for name in outputs],
        [constants[name] for name in read_from_outside(nodes) if name in constants],
    )
    version = min(model.ir_version, MOST_IR)
    return helper.make_model(graph, opset_imports=list(model.opset_import), ir_version=version)


def _typed(name: str, value: Any, *, has_sizes: bool) -> Any:
    from onnx import helper

    if isinstance(value, list):
        kind = helper.np_dtype_to_tensor_dtype(value[0].dtype) if value else 1
        return helper.make_tensor_sequence_value_info(name, kind, None)
    sizes = list(value.shape) if has_sizes else None
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), sizes)


def join_weights(model: Any, constants: dict[str, Any]) -> Any:
    """Give a model the constants that none of its nodes makes; the model's own replace others of the same name."""
    graph = model.graph
    made = {name for node in graph.node for name in node.output}
    for name in [name for name in constants if name not in made]:
        graph.initializer.append(constants.pop(name))
    constants.update((tensor.name, tensor) for tensor in graph.initializer)
    return model


@contextmanager
def with_outputs(model: Any, names: Sequence[str], shapes_of: Iterable[str] = ()) -> Iterator[Any]:
    """Give a model further outputs for a block: the tensors of some names, and the shapes of others."""
    from onnx import ValueInfoProto

    graph = model.graph
    there = list(graph.output)
    nodes, declared = len(graph.node), {value.name: value for value in there}
    measured = list(shapes_of)
    try:
        del graph.output[:]
        graph.output.extend(declared.get(name) or ValueInfoProto(name=name) for name in names)
        for name in measured:
            graph.node.add(op_type="Shape", input=[name], output=[SHAPE_OF + name])
            graph.output.add(name=SHAPE_OF + name)
        yield model
    finally:
        del graph.output[:]
        graph.output.extend(there)
        del graph.node[nodes:]


def element_types(model: Any, constants: Iterable[Any] = ()) -> dict[str, str]:
    """Return the element types of tensors by name, where ONNX infers them; "sequence" and the like for others.

    `constants` are the model's as onnx.TensorProto, if it does not have them itself.
    """
    from onnx import shape_inference

    try:
        inferred = shape_inference.infer_shapes(_without_weights(model, constants))
    except (ValueError, RuntimeError, shape_inference.InferenceError):
        return {}
    values = (*inferred.graph.value_info, *inferred.graph.input, *inferred.graph.output)
    return {value.name: _kind(value.type) for value in values if value.type.WhichOneof("value")}


def _kind(type: Any) -> str:
    form = str(type.WhichOneof("value")).removesuffix("_type")
    return element_type(type.tensor_type.elem_type) if form == "tensor" else form


def bytes_of_kind(kind: str) -> int | None:
    """Return the bytes of an element of a type as NumPy has it, or None if only an extension of NumPy has it."""
    return _BYTES.get(kind)


_BYTES = {
    **dict.fromkeys(("BOOL", "INT8", "UINT8"), 1),
    **dict.fromkeys(("INT16", "UINT16", "FLOAT16"), 2),
    **dict.fromkeys(("INT32", "UINT32", "FLOAT"), 4),
    **dict.fromkeys(("INT64", "UINT64", "DOUBLE", "COMPLEX64"), 8),
    "COMPLEX128": 16,
}


def _without_weights(model: Any, constants: Iterable[Any]) -> Any:
    """Return a model with the types of its weights in place of their values."""
    from onnx import ModelProto, helper

    bare = ModelProto(ir_version=model.ir_version, opset_import=model.opset_import)
    graph = model.graph
    bare.graph.node.extend(graph.node)
    bare.graph.input.extend(graph.input)
    bare.graph.output.extend(graph.output)
    bare.graph.input.extend(
        helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims))
        for tensor in (*graph.initializer, *constants)
    )
    return bare
