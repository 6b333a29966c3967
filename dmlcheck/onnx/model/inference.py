"""A node of a model by ONNX's rules: its schema, its mistakes, and the types and numbers of its outputs.

Needs the package onnx.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from itertools import count, repeat
from typing import Any, NamedTuple

from dmlcheck.diagnostics.wording import cut, did_you_mean
from dmlcheck.onnx.descs.node import NeverMapped, Unmapped
from dmlcheck.onnx.model.own_shapes import own_types
from dmlcheck.onnx.model.values import Value, computed, limited, of_numbers, sequence_parts
from dmlcheck.onnx.operators.table import row_of
from dmlcheck.onnx.provider.registrations import is_registered
from dmlcheck.onnx.reading import MISJUDGED, first_line, schema_of, valueless, versions_of_operators

_DOMAINS = ("", "ai.onnx.ml")
MOST_SHOWN = 200  # characters of sizes
_STILL_LOADED = ("GroupNormalization",)  # of opset 18, which ONNX withdrew later
_OF_SEQUENCE = "ConcatFromSequence"
Scope = MutableMapping[str, Value]


class Context(NamedTuple):
    """The context of all nodes of a graph: the versions of domains, the declared types, the prefix of names.

    `used` are the values that nodes read, or that the graph returns; `is_static` says that no size has a name, and
    `outputs` are the names of the graph's own outputs. `inlining` has an entry for each node whose function may still
    be followed, `numbers` one for each node that is yielded. `alike` has what became of nodes, by all that it follows
    from.
    """

    opsets: Mapping[str, int]
    declared: Mapping[str, Any]
    ir_version: int
    used: frozenset[str] = frozenset()
    is_static: bool = False
    inlining: Iterator[Any] = repeat(None)
    prefix: str = ""
    outputs: frozenset[str] = frozenset()
    numbers: Iterator[int] = count()
    alike: dict[Any, Any] | None = None


def misnamed(node: Any, scope: Scope) -> str | None:
    """Return the mistake in the names of a node's values, or None."""
    missing = next((name for name in node.input if name not in scope), None)
    if missing is not None:
        return f"it reads {missing!r}, which is no input and no initializer, and no node before it makes it"
    twice = next((name for name in node.output if name and name in scope), None)
    if twice is not None:
        return f"it makes {twice!r}, and another value has that name"
    return None


def values_of(node: Any, of: Context, scope: Scope) -> tuple[list[Value], list[Value]]:
    """Return the inputs and the outputs of a node; Unmapped if it is wrong."""
    broken = misnamed(node, scope) or valueless(node) or _broken(node, of)
    if broken is not None:
        raise Unmapped(broken)
    inputs = [scope[input] for input in node.input]
    return inputs, outputs_of(node, of, inputs)


def type_of(node: Any) -> str:
    """Return the operator of a node, with its domain unless that is ONNX's own."""
    return f"{node.domain}.{node.op_type}" if node.domain else str(node.op_type)


def schema_of_node(node: Any, opsets: Mapping[str, int]) -> Any:
    """Return the schema of a node's operator, or None if onnx has none, as outside of its own domains."""
    return schema_of(node.op_type, opsets.get(node.domain, 1), node.domain) if node.domain in _DOMAINS else None


def version_of(node: Any, opsets: Mapping[str, int]) -> int:
    """Return the version of a node's operator: its schema's, or the opset without one."""
    opset = opsets.get(node.domain, 1)
    schema = schema_of_node(node, opsets)
    if schema is None:
        last = row_of(type_of(node)).last_opset
        is_gone = last is not None and opset > last
        return 1 if is_registered(type_of(node)) and not is_gone else opset  # onnxruntime's own are of version 1
    return int(schema.since_version)


def _broken(node: Any, of: Context) -> str | None:
    """Return the mistake that onnx finds in a node itself, or None."""
    from onnx import checker

    if node.domain or (schema_of_node(node, of.opsets) is None and is_registered(node.op_type)):
        return None  # onnx has no schemas of onnxruntime's own
    if any(attribute.HasField("g") for attribute in node.attribute):
        return None
    schema = schema_of_node(node, of.opsets)
    if schema is None:
        return _unknown(str(node.op_type), of.opsets.get("", 1))
    if schema.deprecated and node.op_type in _STILL_LOADED:
        return None
    context = checker.C.CheckerContext()
    try:
        context.ir_version, context.opset_imports = of.ir_version, dict(of.opsets)
        checker.check_node(node, context)
    except (checker.ValidationError, ValueError, RuntimeError, TypeError) as error:
        return first_line(error)
    return None


def _unknown(operator: str, opset: int) -> str | None:
    """Return the message about an operator that ONNX does not have, or not in an opset."""
    versions = versions_of_operators()
    if operator not in versions:
        help = did_you_mean(operator, versions)
        return f"ONNX has no operator {operator}" + (f"; {help}" if help else "")
    first = min(versions[operator])
    return f"ONNX has no operator {operator} in opset {opset}" + (f", but from {first} on" if first > opset else "")


def outputs_of(node: Any, of: Context, inputs: Sequence[Value]) -> list[Value]:
    """Return the outputs of a node, their numbers where they are few and known; Unmapped where onnx finds it wrong."""
    types = types_of_outputs(node, of, inputs)
    parts = None if node.domain else sequence_parts(node, inputs)
    outputs = [Value(merged(types.get(name), of.declared.get(name)), parts=parts) for name in node.output]
    given = [value for name, value in zip(node.input, inputs, strict=True) if name]
    numbers = computed(node, given, outputs, of.opsets)
    return [of_numbers(values) for values in numbers] if len(numbers) == len(outputs) else outputs


def tensors_of(node: Any, inputs: Sequence[Value]) -> list[Value | None]:
    """Return the inputs of a node, None for missing ones; for ConcatFromSequence the tensors of the sequence."""
    if node.op_type == _OF_SEQUENCE and inputs and inputs[0].parts is not None:
        return list(inputs[0].parts)
    return [value if name else None for value, name in zip(inputs, node.input, strict=True)]


def types_of_outputs(node: Any, of: Context, inputs: Sequence[Value]) -> Mapping[str, Any]:
    """Return the types of a node's outputs by name, where they follow; Unmapped where onnx finds it wrong."""
    from onnx import checker, helper, numpy_helper, shape_inference

    schema = schema_of_node(node, of.opsets)
    if schema is None or schema.deprecated or node.op_type in (_OF_SEQUENCE, *MISJUDGED):
        return own_types(type_of(node), node, tensors_of(node, inputs), of.opsets.get("", 1))
    named = dict(zip(node.input, inputs, strict=True))
    types = {name: value.type for name, value in named.items() if value.type is not None}
    is_unknown = any(name and name not in types for name in node.input)
    if is_unknown or any(attribute.HasField("g") for attribute in node.attribute):
        return {}
    data = {name: numpy_helper.from_array(value.numbers) for name, value in named.items() if value.numbers is not None}
    opsets = [helper.make_opsetid(domain, version) for domain, version in of.opsets.items()]
    try:
        inferred: Mapping[str, Any] = shape_inference.infer_node_outputs(
            schema, node, types, data, opset_imports=opsets, ir_version=of.ir_version
        )
    except checker.ValidationError as error:
        raise NeverMapped(first_line(error)) from None
    except (shape_inference.InferenceError, ValueError, RuntimeError, KeyError) as error:
        kind = NeverMapped if _OF_TYPES in str(error) else Unmapped
        raise kind(first_line(error)) from None
    return inferred if all(_has_sizes(each) for each in inferred.values()) else _completed(node, of, inputs, inferred)


_OF_TYPES = "[TypeInferenceError]"  # in the words of onnx; of sizes it is ShapeInferenceError


def _has_sizes(type: Any) -> bool:
    return not type.HasField("tensor_type") or type.tensor_type.HasField("shape")


def _completed(node: Any, of: Context, inputs: Sequence[Value], inferred: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the types of outputs; types without sizes get the ones of own_shapes."""
    own = own_types(type_of(node), node, tensors_of(node, inputs), of.opsets.get("", 1))
    return {name: each if _has_sizes(each) else own.get(name, each) for name, each in inferred.items()}


def merged(inferred: Any, declared: Any) -> Any:
    """Return the type of an output: the inferred one, completed by the declared one."""
    inferred = limited(inferred)
    if inferred is None or declared is None:
        return declared if inferred is None else inferred
    if Value(inferred).is_sized or contradiction(Value(inferred), declared) is not None:
        return inferred
    return inferred if not Value(declared).is_sized else declared


def contradicted(node: Any, of: Context, outputs: Sequence[Value]) -> str | None:
    """Return the first output of a node that contradicts the model's declaration, or None.

    ONNX Runtime refuses other types. About other sizes it warns; nodes that follow may need them, so they are reported
    too, except for outputs of a graph, which nothing reads.
    """
    for name, value in zip(node.output, outputs, strict=True):
        problem = contradiction(value, of.declared.get(name), is_last=name in of.outputs) if name else None
        if problem is not None:
            return f"its output {name} is {problem}"
    return None


def contradiction(value: Value, declared: Any, *, is_last: bool = False) -> str | None:
    """Return a value's type and the one that the model declares instead, or None if they agree where both are known."""
    if value.type is None or declared is None:
        return None
    said = Value(declared)
    if value.element and said.element and value.element != said.element:
        return f"{value.element}, and the model declares {said.element}"
    sizes, other = value.sizes, said.sizes
    if is_last or sizes is None or other is None or (len(sizes) == len(other) and all(map(_agree, sizes, other))):
        return None
    return f"of the sizes {_listed(sizes)}, and the model declares {_listed(other)}"


def _agree(size: int | str, other: int | str) -> bool:
    return size == other or isinstance(size, str) or isinstance(other, str)


def _listed(sizes: Sequence[int | str]) -> str:
    return f"[{cut(', '.join(str(size) if size != '' else '?' for size in sizes), MOST_SHOWN)}]"
