"""Models from other sources: the operator of ONNX is looked up, and its values give the tensors."""

from __future__ import annotations

from typing import Any

from dmlcheck.folders.case_file import Written
from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.attributes import attributes_of, is_graph
from dmlcheck.onnx.backend_tests.read import BackendTest
from dmlcheck.onnx.descs.case import case_of
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, Unmapped
from dmlcheck.onnx.operators.table import exact_steps
from dmlcheck.onnx.reading import DOMAINS, constant, first_line, opset_of, tensor_of


def foreign_case(test: BackendTest, source: str) -> Written:
    """Return a model of one operator as a case; Unmapped if DirectML has no such operator, or not of these values."""
    node = _only_node(test)
    try:
        return case_of(_only_step(node), source=source)
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise Unmapped(f"its {node.type} does not go with its values: {first_line(error)}") from None


# ---- the node


def _only_node(test: BackendTest) -> OnnxNode:
    """Return the only operator of a model with its attributes, by default those of the schema."""
    constants, nodes = _apart(test.model.graph)
    values = {**test.inputs, **constants}
    if len(nodes) != 1:
        raise Unmapped(f"the model has {len(nodes)} operators, and a case has one")
    (node,) = nodes
    empty = next((name for name, output in test.outputs.items() if not output.size), None)
    if empty is not None:
        raise Unmapped(f"{empty} has no elements, and a tensor of DirectML has at least one")
    opset = opset_of(test.model)
    graphs = {attribute.name: attribute.g for attribute in node.attribute if is_graph(attribute)}
    return OnnxNode(
        node.op_type if node.domain in DOMAINS else f"{node.domain}.{node.op_type}",
        opset,
        {**attributes_of(node, opset), **graphs},
        tuple(values.get(name) if name else None for name in node.input),
        tuple(test.outputs.get(name) if name else None for name in node.output),
    )


def _apart(graph: Any) -> tuple[dict[str, TensorRef], list[Any]]:
    """Return the constants of a graph by name, and its nodes that are none."""
    values = {tensor.name: constant(tensor, tensor.name) for tensor in graph.initializer}
    nodes = []
    for node in graph.node:
        given = tensor_of(node) if node.op_type == "Constant" and node.domain in DOMAINS else None
        if given is None:
            nodes.append(node)
        else:
            values[node.output[0]] = constant(given, node.output[0])
    return values, nodes


# ---- the case


def _only_step(node: OnnxNode) -> Counterpart:
    """Return the operator of DirectML that computes ONNX's meaning; Unmapped if it takes several."""
    made = exact_steps(node)
    if len(made) != 1:
        raise Unmapped(f"{node.type} becomes {len(made)} operators of DirectML, and a case has one")
    return made[0]
