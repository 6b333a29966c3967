"""The types and sizes that the outputs of a node must have, as ONNX infers them from its inputs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.onnx.model.file import MOST_VALUES
from dmlcheck.onnx.model.inference import Context, types_of_outputs
from dmlcheck.onnx.model.values import Value, initial
from dmlcheck.onnx.operators.table import row_of
from dmlcheck.onnx.reading import MISJUDGED, attributes_of, schema_of

_IR = 10  # of the file format, which types of outputs do not follow from


class Form(NamedTuple):
    """The element type and the sizes of a tensor."""

    dtype: Any
    sizes: tuple[int, ...]

    @property
    def bytes(self) -> int:
        """How many bytes it takes as an array."""
        return math.prod(self.sizes) * int(self.dtype.itemsize)


def forms_of_outputs(node: Any, opset: int, inputs: Sequence[Any]) -> dict[str, Form]:
    """Return the types and sizes of the outputs of one of ONNX's own nodes, by name, where they follow.

    Inputs are arrays, or None if one is left out.
    """
    schema = None if node.domain or node.op_type in MISJUDGED else schema_of(node.op_type, opset)
    if schema is None or _is_rounded(node, inputs):
        return {}
    try:
        return forms_from_values(node, {"": opset}, dict(zip(node.input, inputs, strict=True)))
    except (Unmapped, ValueError, KeyError, TypeError, RuntimeError, AttributeError):
        return {}


def _corrected(
    node: Any, opset: int, shapes: Sequence[tuple[int, ...] | None], forms: Mapping[str, Form | None]
) -> dict[str, Form]:
    """Return the known forms of outputs, all of one sizes where onnx infers others than ONNX means."""
    sizes = true_sizes(node, opset, shapes)
    known = {name: form for name, form in forms.items() if form is not None}
    return known if sizes is None else {name: form._replace(sizes=sizes) for name, form in known.items()}


def _is_rounded(node: Any, inputs: Sequence[Any]) -> bool:
    """Whether a size times a scale is another whole number in FLOAT32, in which Resize is computed and not inferred."""
    if node.op_type not in ("Resize", "Upsample"):
        return False
    x, *others = inputs
    scales = [each for each in others if each is not None and each.dtype == np.float32 and each.shape == (x.ndim,)]
    return any(
        math.floor(np.float32(size) * scale) != math.floor(size * float(scale))
        for each in scales
        for size, scale in zip(x.shape, each, strict=True)
    )


def forms_from_values(node: Any, opsets: Mapping[str, int], values: Mapping[str, Any]) -> dict[str, Form]:
    """Return the types and sizes of the outputs of a node, also one of ONNX Runtime's own, where they follow.

    `values` are its inputs by name: arrays, or an onnx.TensorProto for a constant. Unmapped where onnx finds it wrong.
    """
    of = Context(opsets, {}, _IR)
    inputs = [_value(values[name]) if name else Value(None) for name in node.input]
    found = {name: Value(form) for name, form in types_of_outputs(node, of, inputs).items()}
    forms = {name: _form(value.type) for name, value in found.items() if value.is_sized}
    return _corrected(node, opsets.get("", 1), [_shape(value) for value in inputs], forms)


def _shape(value: Value) -> tuple[int, ...] | None:
    form = None if value.type is None else _form(value.type)
    return None if form is None else form.sizes


def _value(values: Any) -> Value:
    from onnx import TensorProto, helper

    if isinstance(values, TensorProto):
        return initial(values)
    if not isinstance(values, np.ndarray):
        return Value(None)
    form = helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(values.dtype), values.shape)
    return Value(form, values if values.size <= MOST_VALUES else None)


def _form(value: Any) -> Form | None:
    """Return the form of an onnx.TypeProto, or None if some of it is unknown."""
    from onnx import helper

    tensor = value.tensor_type
    if not (value.HasField("tensor_type") and tensor.elem_type and tensor.HasField("shape")):
        return None
    if not all(dim.HasField("dim_value") for dim in tensor.shape.dim):
        return None
    return Form(helper.tensor_dtype_to_np_dtype(tensor.elem_type), tuple(dim.dim_value for dim in tensor.shape.dim))


# ---- sizes of outputs that onnx infers otherwise than ONNX means them


def true_sizes(node: Any, opset: int, shapes: Sequence[tuple[int, ...] | None]) -> tuple[int, ...] | None:
    """Return the sizes of the first output of a node of ONNX where onnx may infer others, None of all other nodes.

    `shapes` has the sizes of each input, None for one that is left out.
    """
    make = None if node.domain else row_of(node.op_type).sizes
    if make is None:
        return None
    try:
        return make(attributes_of(node, opset), opset, shapes)
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, Unmapped):
        return None
