"""A graph of ONNX as Python that makes it with onnx.helper, for the pages of the site."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dmlcheck.onnx.export.records import ExportedGraph, ExportedNode, GraphValue, Initializer

_WIDTH = 96  # characters of a line; a longer list goes on below
_OF_TYPES = frozenset(("to", "dtype"))  # attributes that are data types


def onnx_code(graph: ExportedGraph) -> str:
    """Return the program that makes a graph; onnx's checker accepts its `model`."""
    nodes = [_call("make_node", _node(node)) for node in graph.nodes]
    lines = ["from onnx import TensorProto, helper", "", *_list("nodes", nodes)]
    lines += _list("inputs", map(_value, graph.inputs))
    lines += _list("outputs", map(_value, graph.outputs))
    constants = ""
    if graph.constants:
        lines += _list("constants", map(_tensor, graph.constants))
        constants = ", constants"
    short = graph.operator.removeprefix("DML_OPERATOR_")
    lines.append(f'graph = helper.make_graph(nodes, "{short}", inputs, outputs{constants})')
    return "\n".join([*lines, *_model(graph)]) + "\n"


def _model(graph: ExportedGraph) -> Iterator[str]:
    """Yield the statements that make the model; its file format is the oldest with the opset."""
    domains = {node.type.rpartition(".")[0] for node in graph.nodes} - {""}
    opsets = [f'helper.make_opsetid("", {graph.opset})']
    opsets += [f'helper.make_opsetid("{domain}", 1)' for domain in sorted(domains)]
    yield f"opsets = [{', '.join(opsets)}]"
    yield "version = helper.find_min_ir_version_for(opsets[:1])"
    yield "model = helper.make_model(graph, opset_imports=opsets, ir_version=version)"


def _list(name: str, calls: Iterable[str]) -> Iterator[str]:
    lines = [f"    {call}," for call in calls]
    yield from (f"{name} = [", *lines, "]") if lines else (f"{name} = []",)


def _call(function: str, arguments: Iterable[str]) -> str:
    """Return a call inside a list, on as many lines as it takes."""
    lines = [f"helper.{function}("]
    for number, argument in enumerate(arguments):
        joined = f"{lines[-1]}{', ' if number else ''}{argument}"
        if number and len(joined) > _WIDTH:
            lines[-1] += ","
            joined = f"{' ' * 8}{argument}"
            lines.append(joined)
        else:
            lines[-1] = joined
    return "\n".join(lines) + ")"


def _node(node: ExportedNode) -> Iterator[str]:
    domain, _, name = node.type.rpartition(".")
    yield _text(name)
    yield _texts(node.inputs)
    yield _texts(node.outputs)
    if domain:
        yield f"domain={_text(domain)}"
    for key, value in node.attributes.items():
        yield f"{key}={f'TensorProto.{value}' if key in _OF_TYPES else _attribute(value)}"


def _attribute(value: Any) -> str:
    if isinstance(value, Initializer):
        return _tensor(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_attribute, value))}]"
    return _text(value) if isinstance(value, str) else _number(value)


def _value(value: GraphValue) -> str:
    return _call("make_tensor_value_info", _typed(value))


def _tensor(constant: Initializer) -> str:
    elements = f"[{', '.join(map(_number, constant.elements))}]"
    return _call("make_tensor", (*_typed(constant.value), elements))


def _typed(value: GraphValue) -> tuple[str, str, str]:
    """Return the name, the type and the shape of a value."""
    return _text(value.name), f"TensorProto.{value.onnx_type}", f"[{', '.join(map(str, value.sizes))}]"


def _texts(names: Sequence[str]) -> str:
    return f"[{', '.join(map(_text, names))}]"


def _text(name: str) -> str:
    return f'"{name}"'


def _number(value: float) -> str:
    """Return a number in as few digits as give the same FLOAT32, if it is one."""
    if isinstance(value, int):
        return str(int(value))
    if not math.isfinite(value):
        return f'float("{value}")'
    single = struct.pack("<f", value) if abs(value) < 2.0**127 else b""
    if not single or struct.unpack("<f", single)[0] != value:
        return repr(value)
    shorter = (float(f"{value:.{digits}g}") for digits in range(1, 10))
    return repr(next(number for number in shorter if struct.pack("<f", number) == single))
