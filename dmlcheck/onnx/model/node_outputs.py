"""The types and sizes that the outputs of a node must have, as ONNX infers them from its inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from dmlcheck.onnx.schemas import MISJUDGED, schema_of

_MOST_VALUES = 1024  # elements of an input whose values sizes may follow from


class Form(NamedTuple):
    """The element type and the sizes of a tensor."""

    dtype: Any
    sizes: tuple[int, ...]


def forms_of_outputs(node: Any, opset: int, inputs: Sequence[Any]) -> dict[str, Form]:
    """Return the types and sizes of the outputs of one of ONNX's own nodes, by name, as far as they follow.

    Inputs are arrays, None where one is left out.
    """
    from onnx import helper, numpy_helper, shape_inference

    schema = None if node.domain or node.op_type in MISJUDGED else schema_of(node.op_type, opset)
    if schema is None:
        return {}
    given = {name: array for name, array in zip(node.input, inputs, strict=True) if name and array is not None}
    try:
        types = {
            name: helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in given.items()
        }
        data = {name: numpy_helper.from_array(array) for name, array in given.items() if array.size <= _MOST_VALUES}
        opsets = [helper.make_opsetid("", opset)]
        found = shape_inference.infer_node_outputs(schema, node, types, data, opset_imports=opsets)
    except (ValueError, KeyError, TypeError, RuntimeError, AttributeError, shape_inference.InferenceError):
        return {}
    forms = {name: _form(value) for name, value in found.items()}
    return {name: form for name, form in forms.items() if form is not None}


def _form(value: Any) -> Form | None:
    """Return the form of an onnx.TypeProto, None where it does not say all of it."""
    from onnx import helper

    tensor = value.tensor_type
    if not (value.HasField("tensor_type") and tensor.elem_type and tensor.HasField("shape")):
        return None
    if not all(dim.HasField("dim_value") for dim in tensor.shape.dim):
        return None
    return Form(helper.tensor_dtype_to_np_dtype(tensor.elem_type), tuple(dim.dim_value for dim in tensor.shape.dim))
