"""A desc and its kernel: the field for each parameter of a formula, and its value in the desc."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.descs.fields import Size2D
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference.arrays.data_types import number
from dmlcheck.reference.ball.numbers import Arithmetic, Ball
from dmlcheck.reference.functions.nested import NONE, Nested
from dmlcheck.reference.rows import ELEMENTS, Groups, Kernel
from dmlcheck.specs.load import load_spec
from dmlcheck.specs.records import OUTPUT
from dmlcheck.values.number_formats import NUMPY_TYPES

Inputs = Mapping[str, Any]


class Binding(NamedTuple):
    """A kernel, and the pairs of its parameters and the fields that they take.

    `tensors` take inputs, `attributes` other fields as numbers or functions, `types` data types, `plain` fields
    unchanged.
    """

    kernel: Kernel
    function: Callable[..., Any]
    tensors: tuple[tuple[str, str], ...]
    attributes: tuple[tuple[str, str], ...]
    types: tuple[tuple[str, str], ...] = ()
    plain: tuple[tuple[str, str], ...] = ()


@cache
def row(operator: str, *, is_integer: bool = False) -> Binding:
    """Return the binding of an operator's kernel; with `is_integer` that of its formula for integers."""
    spec = load_spec(operator)
    kernel: Kernel = import_module(f"dmlcheck.reference.kernels.{spec.kernel}").KERNELS[spec.short]
    function = kernel.integers if is_integer and kernel.integers is not None else kernel.function
    fields = {parameter(name): field for name, field in spec.fields.items()}
    named = [name for name in _parameters(function) if name in fields]
    inputs = [(name, fields[name].name) for name in named if fields[name].kind == "input_tensor"]
    others = [(name, fields[name].name) for name in named if fields[name].kind != "input_tensor"]
    stems = {name: name.removesuffix("_type") for name in _parameters(function) if name not in fields}
    types = [(name, fields[stem].name) for name, stem in stems.items() if stem in fields]
    if not inputs and kernel.tiles is ELEMENTS:  # a ufunc, whose operands have no names
        inputs = [(parameter(field.name), field.name) for field in spec.inputs]
    plain = [pair for pair in others if fields[pair[0]].type not in _CONVERTED]
    others = [pair for pair in others if pair not in plain]
    return Binding(kernel, function, tuple(inputs), tuple(others), tuple(types), tuple(plain))


_CONVERTED = (
    "OPERATOR_DESC",
    "OPERATOR_DESC_ARRAY",
    "FLOAT",
    "FLOAT_ARRAY",
    "SIZE_2D",
    "SCALAR_UNION",
)  # by _attribute


def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    return () if isinstance(function, np.ufunc) else tuple(inspect.signature(function).parameters)


@cache
def parameter(field: str) -> str:
    """Return the parameter name of a field: `input` for InputTensor, `outputs[0]` for OutputTensors[0]."""
    bare = re.sub(r"Tensors(?=$|\[)", "s", field).removesuffix("Tensor")
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", bare).lower()


def _attribute(desc: OperatorDesc, name: str, arithmetic: Arithmetic | None) -> Any:
    """Return the value of a field for a kernel: FLOATs rounded to FLOAT32, operators as functions.

    An array of FLOATs is one array; with an arithmetic, FLOATs and the parts of a SIZE_2D are balls of it.
    """
    value, of = desc.values.get(name), desc.spec.fields[name].type
    if of in ("OPERATOR_DESC", "OPERATOR_DESC_ARRAY"):
        return _operators(desc, value, of, arithmetic)
    if value is None:
        return None
    if of == "FLOAT":
        return number(float(np.float32(value)), arithmetic)
    if of == "SIZE_2D":
        parts: list[Any] = [part if arithmetic is None else Ball(float(part), 0.0, arithmetic) for part in value]
        return Size2D(*parts)
    if of == "FLOAT_ARRAY":
        numbers = np.asarray(value, np.float32)
        return numbers.astype(np.float64) if arithmetic is None else Ball(numbers, 0.0, arithmetic)
    return NUMPY_TYPES[desc.values[desc.spec.fields[name].data_type or ""]].type(value).item()


def _operators(desc: OperatorDesc, value: Any, of: str, arithmetic: Arithmetic | None) -> Any:
    """Return the nested operator of a field as a function, or a list of several."""
    if value is None:
        return NONE if of == "OPERATOR_DESC" else []
    part = (desc.tensors(OUTPUT) or desc.tensors())[0]
    if of == "OPERATOR_DESC":
        return _nested(value, part.tensor.data_type, arithmetic)
    return [_nested(inner, part.tensor.data_type, arithmetic) for inner in value]


def _nested(inner: OperatorDesc, data_type: str, arithmetic: Arithmetic | None) -> Nested:
    """Return a nested operator as a function: its formula with its own fields, on tensors of a data type."""
    bound = row(inner.spec.operator)
    fields = _fields(bound, inner, arithmetic)
    if isinstance(bound.kernel.tiles, Groups):
        axes = tuple(fields.get("axes", (-1,)))
        return Nested(partial(bound.function, axes=axes), data_type, axes)
    formula = partial(bound.function, **fields)
    if inner.values.get("ScaleBias") is not None:
        formula = partial(_moved, formula, *scale_bias(inner, arithmetic))
    return Nested(formula, data_type)


def scale_bias(desc: OperatorDesc, arithmetic: Arithmetic | None) -> list[Any]:
    """Return the two numbers of ScaleBias."""
    return [number(float(np.float32(part)), arithmetic) for part in desc.values["ScaleBias"]]


def _moved(formula: Callable[..., Any], scale: Any, bias: Any, x: Any) -> Any:
    return formula(x * scale + bias)


def attributes_of(bound: Binding, desc: OperatorDesc, arithmetic: Arithmetic | None) -> dict[str, Any]:
    """Return the arguments of a formula that are not input tensors, by parameter."""
    given = _fields(bound, desc, arithmetic)
    for to, name in bound.types:
        given[to] = desc.parts[name][0].tensor.data_type
    return given


def _fields(bound: Binding, desc: OperatorDesc, arithmetic: Arithmetic | None) -> dict[str, Any]:
    given = {to: desc.values.get(name) for to, name in bound.plain}
    for to, name in bound.attributes:
        given[to] = _attribute(desc, name, arithmetic)
    return given


def tensors_of(bound: Binding, inputs: Inputs) -> dict[str, Any]:
    """Return the tensors of a formula, by parameter; None for one that is left out."""
    return {to: inputs.get(name) for to, name in bound.tensors}


def fields_of(desc: OperatorDesc) -> dict[str, Any]:
    """Return the unchanged fields of a desc, by parameter."""
    return {parameter(name): value for name, value in desc.values.items()}
