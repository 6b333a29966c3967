"""Graphs as ONNX models, in the oldest file format that has their opset. Needs the package onnx."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dmlcheck import __version__
from dmlcheck.onnx.export.records import BYTES_OF, ExportedGraph, ExportedNode, GraphValue, Inexpressible, Initializer
from dmlcheck.values.number_formats import NUMPY_TYPES

CONTRIBUTED = "com.microsoft"  # the domain of onnxruntime's own operators, which a node's type may begin with


def model_proto(graph: ExportedGraph) -> Any:
    """Return a graph as an onnx.ModelProto, with the shape and type of every value.

    Inexpressible if an operator of ONNX does not take or give a data type, or where this onnx is older than the
    operator. ImportError without onnx.
    """
    from onnx import defs, helper

    if graph.opset > (newest := defs.onnx_opset_version()):
        raise Inexpressible(f"the package onnx here has opsets up to {newest}, and opset {graph.opset} is needed")
    _check_types(graph)
    made = {name for node in graph.nodes for name in node.outputs}
    ends = {value.name for value in graph.outputs}
    body = helper.make_graph(
        [_node(node, graph.opset) for node in graph.nodes],
        graph.operator,
        [_value(value) for value in graph.inputs],
        [_value(value) for value in graph.outputs],
        [tensor(constant) for constant in graph.constants],
        value_info=[_value(value) for value in graph.values if value.name in made - ends],
    )
    opsets = [helper.make_opsetid("", graph.opset)]
    oldest = helper.find_min_ir_version_for(opsets)
    if any(node.type.startswith(CONTRIBUTED) for node in graph.nodes):
        opsets.append(helper.make_opsetid(CONTRIBUTED, 1))
    return helper.make_model(
        body, opset_imports=opsets, ir_version=oldest, producer_name="dmlcheck", producer_version=__version__
    )


def tensor(constant: Initializer) -> Any:
    """Return a constant as an onnx.TensorProto."""
    import numpy as np

    value = constant.value
    dtype = np.dtype(bool) if value.element == "BOOL" else NUMPY_TYPES[value.data_type]
    with np.errstate(over="ignore"):
        array = np.array(constant.elements, dtype).reshape(value.sizes)
    return tensor_proto(value, array)


def tensor_proto(value: GraphValue, array: Any) -> Any:
    """Return the elements of a value, an array of its shape, as an onnx.TensorProto; 4-bit ones are packed."""
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    if value.data_type in BYTES_OF:
        kind = TensorProto.DataType.Value(value.onnx_type)
        return helper.make_tensor(value.name, kind, value.sizes, array.reshape(-1))
    return numpy_helper.from_array(np.asarray(array, order="C"), value.name)


def _value(value: GraphValue) -> Any:
    from onnx import TensorProto, helper

    return helper.make_tensor_value_info(value.name, TensorProto.DataType.Value(value.onnx_type), value.sizes)


def _check_types(graph: ExportedGraph) -> None:
    """Raise Inexpressible for a value of a type that its operator does not have, or has for other values only."""
    from onnx import defs

    made = [constant.value for constant in graph.constants]
    known = {value.name: value for value in (*graph.inputs, *made, *graph.values, *graph.outputs)}
    for node in graph.nodes:
        if "." not in node.type:  # onnx does not know the operators of other domains
            _check_node_types(node, defs.get_schema(node.type, graph.opset), known)


def _check_node_types(node: ExportedNode, schema: Any, known: Mapping[str, GraphValue]) -> None:
    allowed = {each.type_param_str: set(each.allowed_type_strs) for each in schema.type_constraints}
    bound: dict[str, GraphValue] = {}
    for formal, name in (*_with_formals(node.inputs, schema.inputs), *_with_formals(node.outputs, schema.outputs)):
        value = known.get(name)
        if value is None:
            continue
        if f"tensor({value.onnx_type.lower()})" not in allowed.get(formal.type_str, {formal.type_str}):
            raise Inexpressible(f"ONNX's {node.type} has no {_type(value)} for {formal.name}")
        first = bound.setdefault(formal.type_str, value) if formal.is_homogeneous else value
        if first.onnx_type != value.onnx_type:
            raise Inexpressible(f"ONNX's {node.type} does not take {_type(first)} with {_type(value)}")


def _with_formals(names: Sequence[str], formals: Sequence[Any]) -> Iterator[tuple[Any, str]]:
    """Pair the names of a node's values with its operator's parameters; the last parameter is for all further ones."""
    for index, name in enumerate(names):
        yield formals[min(index, len(formals) - 1)], name


def _type(value: GraphValue) -> str:
    return value.element or value.data_type


def _node(node: ExportedNode, opset: int) -> Any:
    from onnx import helper

    domain, _, name = node.type.rpartition(".")
    made = helper.make_node(name, node.inputs, node.outputs, domain=domain or None)
    made.attribute.extend(
        _attribute(key, value, _kind(domain, name, opset, key)) for key, value in node.attributes.items()
    )
    return made


def _kind(domain: str, type: str, opset: int, name: str) -> Any:
    """Return the type of an operator's attribute, or None where onnx does not know the operator."""
    from onnx import AttributeProto, defs

    if domain or name not in (attributes := defs.get_schema(type, opset).attributes):
        return None
    return AttributeProto.AttributeType.Value(str(attributes[name].type).rpartition(".")[2])


def _attribute(name: str, value: Any, kind: Any) -> Any:
    """Return an attribute: types are given by name, tensors as constants, and whole numbers do for floats."""
    from onnx import AttributeProto, TensorProto, helper

    if isinstance(value, Initializer):
        value = tensor(value)
    elif kind == AttributeProto.INT and isinstance(value, str):
        value = TensorProto.DataType.Value(value)
    elif kind == AttributeProto.FLOAT:
        value = float(value)
    elif kind == AttributeProto.FLOATS:
        value = [float(element) for element in value]
    elif kind == AttributeProto.INT:
        value = int(value)
    return helper.make_attribute(name, value, attr_type=kind)
