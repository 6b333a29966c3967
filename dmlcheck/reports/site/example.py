"""The example of an operator: its tensors as grids, and code in C++, YAML, Python and for ONNX."""

from __future__ import annotations

import math
import pprint
import re
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import yaml

from dmlcheck.cases.records import Case
from dmlcheck.descs.fields import ScaleBias, Size2D
from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.onnx.export.mappings import build
from dmlcheck.onnx.export.records import ExportedGraph, ExportedNode, GraphValue, Inexpressible, Initializer
from dmlcheck.specs.about import Recipe
from dmlcheck.specs.names import FEATURE_LEVELS, enum_prefix
from dmlcheck.specs.records import INPUT, Field, OperatorSpec, c_type
from dmlcheck.validation import validate
from dmlcheck.values.literals import ANY

_SHADES = 5


class Cell(NamedTuple):
    """An element as it is printed, and how dark it is: the larger of its tensor, the darker."""

    text: str
    shade: int


class Grid(NamedTuple):
    """A tensor: its role, its data type and sizes, and its elements in matrices of rows."""

    name: str
    role: str
    data_type: str
    sizes: tuple[int, ...]
    matrices: tuple[tuple[tuple[Cell, ...], ...], ...]


class Example(NamedTuple):
    """A case as a page shows it.

    `onnx` is empty where ONNX has no such operator, and where it cannot express this case: `not_in_onnx` says why.
    """

    source: str
    grids: tuple[Grid, ...]
    attributes: tuple[tuple[str, str], ...]
    yaml: str
    python: str
    cpp: str
    onnx: str
    not_in_onnx: str

    @property
    def has_undefined(self) -> bool:
        """Whether a result of it is undefined."""
        rows = (row for grid in self.grids for matrix in grid.matrices for row in matrix)
        return any(cell.text == ANY for row in rows for cell in row)


def example_of(spec: OperatorSpec, case: Case) -> Example:
    """Return the example that a case is, whose values are all written out."""
    values = {**(case.inputs or {}), **(case.outputs or {})}
    grids = tuple(grid for name, value in values.items() for grid in _grids(spec, name, case.desc[name], value))
    attributes = tuple((name, _short(value)) for name, value in case.desc.items() if not spec.fields[name].is_tensor)
    desc = _desc(spec, case)
    lines = [f"operator: {spec.operator}", "desc:", *_entries(case.desc)]
    lines += ["inputs:", *_entries(case.inputs)] if case.inputs else ["inputs: {}"]
    texts = ("\n".join(lines) + "\n", _python(spec, case), program(desc), *_onnx(desc))
    return Example(case.source or "", grids, attributes, *texts)


def _grids(spec: OperatorSpec, name: str, tensor: Any, value: Any) -> Iterator[Grid]:
    """Yield the grid of a tensor, or the grids of an array of tensors."""
    role = "input" if spec.fields[name].kind == INPUT else "output"
    if isinstance(tensor, list):
        for index, (one, part) in enumerate(zip(tensor, value, strict=True)):
            yield _grid(f"{name}[{index}]", role, one, part)
    else:
        yield _grid(name, role, tensor, value)


def _grid(name: str, role: str, tensor: Mapping[str, Any], value: Any) -> Grid:
    sizes = tuple(tensor["Sizes"])
    numbers = [math.nan if number == ANY else float(number) for number in _flat(value)]
    finite = [number for number in numbers if math.isfinite(number)]
    low, high = min(finite, default=0.0), max(finite, default=0.0)
    texts = [ANY if raw == ANY else _number(number) for raw, number in zip(_flat(value), numbers, strict=True)]
    cells = [Cell(text, _shade(number, low, high)) for text, number in zip(texts, numbers, strict=True)]
    columns = sizes[-1]
    rows = [tuple(cells[start : start + columns]) for start in range(0, len(cells), columns)]
    height = sizes[-2] if len(sizes) > 1 else 1
    matrices = tuple(tuple(rows[start : start + height]) for start in range(0, len(rows), height))
    return Grid(name, role, tensor["DataType"], sizes, matrices)


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for part in value:
            yield from _flat(part)
    else:
        yield value


def _number(number: float) -> str:
    """Return a whole number with all its digits, another with five, and a minus sign that is one."""
    is_whole = math.isfinite(number) and number == int(number)
    return with_minus_signs(f"{number:.10g}" if is_whole else f"{number:.5g}")


def with_minus_signs(text: str) -> str:
    """Return numbers as they are printed: with minus signs in place of hyphens."""
    return text.replace("-", "\N{MINUS SIGN}")


def _shade(number: float, low: float, high: float) -> int:
    if not math.isfinite(number) or high == low:
        return 0
    return min(_SHADES - 1, int((number - low) / (high - low) * _SHADES))


def _short(value: Any) -> str:
    """Return the value of an attribute as YAML has it, on one line."""
    text: str = yaml.safe_dump(_plain(value), default_flow_style=True, width=10**6, sort_keys=False)
    return text.removesuffix("...\n").strip()


def _plain(value: Any) -> Any:
    """Return a value of mappings, lists and numbers as YAML's writer takes it."""
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return value


def recipe_yaml(spec: OperatorSpec, recipe: Recipe) -> str:
    """Return the case of a recipe with its results, as a file that `dmlcheck run` checks."""
    parts = (("desc", recipe.desc), ("inputs", recipe.inputs), ("outputs", recipe.outputs))
    lines = [line for name, values in parts if values for line in (f"{name}:", *_entries(values))]
    return "\n".join([f"operator: {spec.operator}", *lines]) + "\n"


def _entries(values: Mapping[str, Any]) -> Iterator[str]:
    return (f"  {name}: {_short(value)}" for name, value in values.items())


def _python(spec: OperatorSpec, case: Case) -> str:
    desc, inputs = (
        _assigned(name, _plain(value or {})) for name, value in (("desc", case.desc), ("inputs", case.inputs))
    )
    call = f'outputs = dmlcheck.evaluate("{spec.short}", desc, inputs)'
    prints = "for name, output in outputs.items():\n    print(name, output)"
    return f"import dmlcheck\n\n{desc}\n{inputs}\n{call}\n{prints}\n"


def _desc(spec: OperatorSpec, case: Case) -> OperatorDesc:
    desc, findings = validate(spec.operator, case.desc, case.level)
    if desc is None or findings:
        raise ValueError(f"the example of {spec.operator} is not valid")
    return desc


def _onnx(desc: OperatorDesc) -> tuple[str, str]:
    """Return the program that makes the example in ONNX, or why ONNX cannot express it; neither without counterpart."""
    if "ONNX" not in desc.spec.names:
        return "", ""
    try:
        return onnx_code(build(desc)), ""
    except Inexpressible as reason:
        return "", str(reason)


def _assigned(name: str, value: Any) -> str:
    text = pprint.pformat(value, sort_dicts=False, width=88, compact=True).replace("'", '"')
    first, *others = re.sub(r"(?<![\w\"])(-?)(nan|inf)\b", r'float("\1\2")', text).split("\n")
    return "\n".join([f"{name} = {first}", *(" " * (len(name) + 3) + line for line in others)])


# ---- examples as programs, for the pages of the site: Python that makes an ONNX graph, C++ that creates an operator


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
    return _text(value) if isinstance(value, str) else _code_number(value)


def _value(value: GraphValue) -> str:
    return _call("make_tensor_value_info", _typed(value))


def _tensor(constant: Initializer) -> str:
    elements = f"[{', '.join(map(_code_number, constant.elements))}]"
    return _call("make_tensor", (*_typed(constant.value), elements))


def _typed(value: GraphValue) -> tuple[str, str, str]:
    return _text(value.name), f"TensorProto.{value.onnx_type}", f"[{', '.join(map(str, value.sizes))}]"


def _texts(names: Sequence[str]) -> str:
    return f"[{', '.join(map(_text, names))}]"


def _text(name: str) -> str:
    return f'"{name}"'


def _code_number(value: float) -> str:
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
