"""The reference kernels: formulas by family, each module ending in its table of operators."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference.kernels._blocks import Array, Index, Result, Share, Wide, tiles
from dmlcheck.specs.load import load_spec

__all__ = ["Array", "Index", "Result", "Share", "Wide", "compute", "kernel", "tiles"]


@cache
def kernel(operator: str) -> tuple[Any, tuple[tuple[str, str], ...]]:
    """Return an operator's kernel and its parameters, each with the field that it takes."""
    spec = load_spec(operator)
    function = import_module(f"dmlcheck.reference.kernels.{spec.kernel}").KERNELS[spec.short]
    code = getattr(function, "__wrapped__", function).__code__
    fields = {parameter_name(field): field for field in spec.fields}
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return function, tuple((parameter, fields[parameter]) for parameter in parameters)


def compute(desc: OperatorDesc, inputs: dict[str, Any]) -> dict[str, Result]:
    """Return the results of an operator, by output, not yet rounded to the outputs' types.

    `inputs` holds an array of the tensor's shape and type for every input tensor of the desc (a list of them for an
    array of tensors). The desc must be valid; kernels check nothing.
    """
    function, parameters = kernel(desc.spec.operator)
    arguments = {name: inputs[field] if field in inputs else attribute(desc, field) for name, field in parameters}
    results = function(**arguments)
    names = outputs(desc)
    return {names[0]: results} if isinstance(results, Result) else dict(zip(names, results, strict=True))


def attribute(desc: OperatorDesc, field: str) -> Any:
    """Return what a field holds, None if it is left out; a FLOAT as the FLOAT32 number nearest to what is given."""
    value = desc.values.get(field)
    if value is None:
        return None
    match desc.spec.fields[field].type:
        case "FLOAT":
            return float(np.float32(value))
        case "SCALE_BIAS":
            return type(value)(*(float(np.float32(part)) for part in value))
    return value


def outputs(desc: OperatorDesc) -> list[str]:
    """Return the names of the outputs that a desc declares, parts of arrays one by one."""
    return [part.label for field in desc.spec.outputs for part in desc.parts[field.name]]


@cache
def parameter_name(field: str) -> str:
    """Return the parameter that a field goes by in a kernel: `input` for InputTensor, `axes` for Axes."""
    bare = field.replace("Tensors", "s") if field.endswith("Tensors") else field.removesuffix("Tensor")
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", bare).lower()
