"""Cases as folders in the layout of ONNX's backend tests: a model, its inputs, and the outputs that they must give.

Needs the package onnx.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dmlcheck import __version__
from dmlcheck.cases.records import Case
from dmlcheck.folders.export_folder import Exported, Folder, MissingRequirement, Ready, each, ready
from dmlcheck.onnx import metadata
from dmlcheck.onnx.export.builder import build
from dmlcheck.onnx.export.records import BYTES_OF, ExportedGraph, ExportedNode, GraphValue, Inexpressible, Initializer
from dmlcheck.reference.limits.work import TooMuchWork
from dmlcheck.specs.records import OUTPUT
from dmlcheck.values.number_formats import NUMPY_TYPES

FORM = "onnx"
INSTALL = "python -m pip install onnx"
MODEL = "model.onnx"
DATA = "test_data_set_0"
LIMITS = "data.json"  # where ONNX's runner looks for the tolerance of a test
_RTOL, _ATOL = 1e-3, 1e-7  # ONNX's own, where a test has none
_MOST_BYTES = 2**31 - 1  # the most that a protobuf holds
_UNSAFE = re.compile(r"[^A-Za-z0-9]+")
_MAX_NAME = 40  # characters of a case's name in its folder's


class ExportedValues(NamedTuple):
    """The values of a graph's inputs and outputs, by label, and which outputs the case itself gives."""

    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
    given: tuple[str, ...]


def export(cases: Iterable[Case], folder: str) -> list[Exported]:
    """Write a folder for each case that ONNX can express, and return the result for each case.

    OSError if the folder cannot be written, Occupied if it has other contents than an earlier export,
    MissingRequirement without onnx.
    """
    require()
    with Folder(folder, FORM) as place:
        exported = each(cases, lambda case: _exported(case, place))
        left_out = [{"case": one.case, "reason": one.reason} for one in exported if one.reason is not None]
        place.finish(left_out)
    return exported


def require() -> None:
    """Raise MissingRequirement if onnx cannot be imported."""
    try:
        import onnx  # noqa: F401 - what everything here is made with
    except ImportError as error:
        raise MissingRequirement(
            f"ONNX's files need the package {error.name or 'onnx'}; install it with: {INSTALL}"
        ) from None


def _exported(case: Case, place: Folder) -> Exported:
    going = ready(case, with_outputs=True)
    if isinstance(going, Exported):
        return going
    if going.has_any:
        return Exported(case.id, reason="elements of its outputs are `any`, which ONNX cannot say")
    try:
        graph = build(going.desc)
        model = model_proto(graph)
        tensors = _tensors(going)
        limits = _limits(going)
    except (Inexpressible, TooMuchWork) as reason:
        return Exported(case.id, reason=str(reason))
    largest = max(array.nbytes for array in (*tensors.inputs.values(), *tensors.outputs.values()))
    if largest > _MOST_BYTES - 2**16:
        return Exported(case.id, reason="a tensor takes more than 2 GiB, which a protobuf cannot hold")
    # A name that no other case has, with the beginning that ONNX's runner requires.
    words = _UNSAFE.sub("_", going.case.name)[:_MAX_NAME].strip("_").lower()
    name = f"test_{going.desc.spec.short.lower()}_{words}_{len(place.entries):05}"
    for file, data in _files(going, graph, model, tensors, limits):
        place.write(f"{name}/{file}", data)
    place.entries[name] = {"folder": name, "operator": going.desc.spec.operator, "cases": [case.id]}
    return Exported(case.id, name)


# ---- values


def _tensors(going: Ready) -> ExportedValues:
    """Return the values of a case; outputs that it does not give are the reference engine's."""
    outputs = {label: values for label, (_, values) in going.expected.items()}
    inputs = {part.label: values for part, values in going.desc.inputs_with(going.inputs)}
    labels = [part.label for part in going.desc.tensors(OUTPUT)]
    if any(label not in outputs for label in labels):
        from dmlcheck.reference import engine

        outputs = {**engine.run(going.desc, going.inputs), **outputs}
    return ExportedValues(inputs, {label: outputs[label] for label in labels}, tuple(going.expected))


# ---- files


def _files(
    going: Ready, graph: ExportedGraph, model: Any, tensors: ExportedValues, limits: dict[str, float] | None
) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a case's folder, each with its name."""
    metadata.add(model, going.case, going.desc, tensors.given)
    yield MODEL, model.SerializeToString(deterministic=True)
    for kind, values, arrays in (("input", graph.inputs, tensors.inputs), ("output", graph.outputs, tensors.outputs)):
        for index, value in enumerate(values):
            tensor = tensor_proto(value, arrays[value.name])
            yield f"{DATA}/{kind}_{index}.pb", tensor.SerializeToString(deterministic=True)
    if limits is not None:
        yield LIMITS, (json.dumps(limits) + "\n").encode()


# ---- the tolerance of ONNX's runner


def _limits(going: Ready) -> dict[str, float] | None:
    """Return the rtol and atol of a test, |difference| <= atol + rtol * |expected|; None if ONNX's defaults suffice.

    ONNX has no units in the last place, and no tolerance for each element: the rest of the widest tolerance beyond rtol
    is the atol. Inexpressible if the documentation leaves an element undefined, as ONNX cannot except it.
    """
    from dmlcheck.comparison.tolerances import limit_for

    own = going.case.tolerance
    limit = limit_for(going.desc, own)
    largest = _largest_bound(going)
    if not any(limit.has_bound(part.tensor.data_type) for part in going.desc.tensors(OUTPUT)):
        return {"rtol": 0.0, "atol": largest}
    if own is not None and own.ulp is None:
        return {"rtol": float(own.relative or 0), "atol": float(own.absolute or 0)}
    return {"rtol": _RTOL, "atol": largest} if largest > _ATOL else None


def _largest_bound(going: Ready) -> float:
    """Return the most that an element may differ by beyond rtol, where that follows from the operator's formula."""
    import numpy as np

    from dmlcheck.reference.bounds import bounds

    largest = 0.0
    every = {part.label: np.ones(part.tensor.sizes, dtype=bool) for part in going.desc.tensors(OUTPUT)}
    for label, _, bound in bounds(going.desc, going.inputs, every):
        if bound.undefined.any() or bound.others:
            raise Inexpressible(f"elements of {label} are undefined, which ONNX cannot express")
        with np.errstate(invalid="ignore"):
            beyond = bound.radius - (_RTOL * np.abs(bound.value) if bound.value.dtype.kind == "f" else 0)
        largest = max(largest, float(beyond[np.isfinite(beyond)].max(initial=0)))
    return largest


# ---- graphs and tensors as onnx has them


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
