"""Examples as programs, for the pages of the site: Python that makes an ONNX graph, C++ that creates an operator."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dmlcheck.descs.fields import ScaleBias, Size2D
from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.onnx.export.records import ExportedGraph, ExportedNode, GraphValue, Initializer
from dmlcheck.specs.names import FEATURE_LEVELS, enum_prefix
from dmlcheck.specs.records import Field, c_type

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


# ---- a desc as C++ that creates the operator


_BEFORE = """\
#define DML_TARGET_VERSION {version}  // {operator} came with DML_FEATURE_LEVEL_{level}
#include <DirectML.h>

HRESULT Create(IDMLDevice* device, REFIID type, void** created)
{{
"""
_AFTER = """\

    const DML_OPERATOR_DESC operatorDesc{{{operator}, &desc}};
    return device->CreateOperator(&operatorDesc, type, created);
}}
"""


def program(desc: OperatorDesc) -> str:
    """Return a function in C++17 that creates the operator of a valid desc; nothing but DirectML.h is included."""
    level = desc.spec.introduced
    version = hex(FEATURE_LEVELS[level].value)
    body = "\n".join(f"    {line}" if line else "" for line in _struct(desc, "desc", ""))
    return (
        _BEFORE.format(version=version, operator=desc.spec.short, level=level)
        + body
        + _AFTER.format(operator=desc.spec.operator)
    )


def _struct(desc: OperatorDesc, name: str, prefix: str) -> Iterator[str]:
    """Yield the statements that fill the struct of an operator; `prefix` begins the names of its parts."""
    assignments: list[str] = []
    for field in desc.spec.fields.values():
        value = desc.values.get(field.name)
        if value is None:
            continue
        part = prefix + (field.name if prefix else field.name[:1].lower() + field.name[1:])
        before, expression = _cpp_value(field, value, part, desc)
        yield from before
        assignments.append(f"{name}.{field.name}{expression};")
    yield f"DML_{desc.spec.short}_OPERATOR_DESC {name}{{}};"
    yield from assignments


def _cpp_value(field: Field, value: Any, part: str, desc: OperatorDesc) -> tuple[list[str], str]:
    """Return the declarations that a field needs, and its assignment after the name of the field."""
    if isinstance(value, TensorDesc):
        return [*_cpp_tensor(value, part), ""], f" = &{part}"
    if isinstance(value, OperatorDesc):
        return [*_nested(value, part), ""], f" = &{part}"
    if isinstance(value, ScaleBias):
        numbers = f"{_float(value.Scale)}, {_float(value.Bias)}"
        return [f"const DML_SCALE_BIAS {part}{{{numbers}}};"], f" = &{part}"
    if isinstance(value, tuple) and not isinstance(value, Size2D):
        return _array(field, value, part)
    if field.type == "SCALAR_UNION":
        member, number = _scalar(desc.values[field.data_type or ""], value)
        return [], f".{member} = {number}"
    return [], f" = {_cpp_number(field, value)}"


def _array(field: Field, values: Sequence[Any], part: str) -> tuple[list[str], str]:
    """Return the declaration of an array; an empty one has none."""
    if not values:
        return [], " = nullptr"
    lines: list[str] = []
    for index, value in enumerate(values):
        if isinstance(value, TensorDesc):
            lines += [*_cpp_tensor(value, f"{part}{index}"), ""]
        elif isinstance(value, OperatorDesc):
            lines += [*_nested(value, f"{part}{index}"), ""]
    kind = c_type(field).removesuffix("*")
    elements = ", ".join(f"{part}{index}" if lines else _cpp_number(field, value) for index, value in enumerate(values))
    return [*lines, f"{kind} {part}[] = {{{elements}}};"], f" = {part}"


def _cpp_tensor(tensor: TensorDesc, name: str) -> Iterator[str]:
    yield f"const UINT {name}Sizes[] = {{{', '.join(map(str, tensor.sizes))}}};"
    if tensor.strides is not None:
        yield f"const UINT {name}Strides[] = {{{', '.join(map(str, tensor.strides))}}};"
    yield f"DML_BUFFER_TENSOR_DESC {name}Buffer{{}};"
    yield f"{name}Buffer.DataType = DML_TENSOR_DATA_TYPE_{tensor.data_type};"
    yield f"{name}Buffer.DimensionCount = {len(tensor.sizes)};"
    yield f"{name}Buffer.Sizes = {name}Sizes;"
    if tensor.strides is not None:
        yield f"{name}Buffer.Strides = {name}Strides;"
    yield f"{name}Buffer.TotalTensorSizeInBytes = {tensor.total_size or tensor.implied_bytes};"
    yield f"const DML_TENSOR_DESC {name}{{DML_TENSOR_TYPE_BUFFER, &{name}Buffer}};"


def _nested(desc: OperatorDesc, name: str) -> Iterator[str]:
    """Yield the statements of an operator inside another, which has no tensors."""
    yield from _struct(desc, f"{name}Desc", name)
    yield f"const DML_OPERATOR_DESC {name}{{{desc.spec.operator}, &{name}Desc}};"


def _cpp_number(field: Field, value: Any) -> str:
    if isinstance(value, Size2D):
        return f"{{{value.Width}, {value.Height}}}"
    if field.enum is not None:
        return enum_prefix(field.enum) + str(value)
    if isinstance(value, bool) or field.boolean:
        return "1" if value else "0"
    return _float(value) if field.type.startswith("FLOAT") else str(value)


def _float(value: float) -> str:
    if math.isnan(value):
        return "NAN"
    return f"{'-' if value < 0 else ''}INFINITY" if math.isinf(value) else f"{float(value)!r}f"


def _scalar(data_type: str, value: Any) -> tuple[str, str]:
    """Return the member of DML_SCALAR_UNION that holds a data type, and the number that it gets."""
    if data_type == "FLOAT16":
        return "UInt16", f"{int.from_bytes(struct.pack('<e', value), 'little'):#06x}"
    if data_type.startswith("FLOAT"):
        return data_type.replace("FLOAT", "Float"), _float(value)
    return data_type.replace("UINT", "UInt").replace("INT", "Int"), str(value)
