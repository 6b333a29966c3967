"""The types and sizes that the outputs of a node must have, as ONNX infers them from its inputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.onnx.model.file import MOST_VALUES
from dmlcheck.onnx.model.inference import Context, types_of_outputs
from dmlcheck.onnx.model.values import Value, initial
from dmlcheck.onnx.operators.einsum import sizes_of_output
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


Sizes = tuple[int, ...]
_Attributes = Mapping[str, Any]
_DROPPED = 22  # the opset from which onnx leaves out a window that begins in the padding at the end


def true_sizes(node: Any, opset: int, shapes: Sequence[Sizes | None]) -> Sizes | None:
    """Return the sizes of the first output of a node of ONNX where onnx may infer others, None of all other nodes.

    `shapes` has the sizes of each input, None for one that is left out.
    """
    make = None if node.domain else _SIZES.get(node.op_type)
    if make is None:
        return None
    try:
        return make(attributes_of(node, opset), opset, shapes)
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, Unmapped):
        return None


def _of(shapes: Sequence[Sizes | None], index: int) -> Sizes:
    shape = shapes[index]
    if shape is None:
        raise LookupError(index)
    return shape


def _windows(given: _Attributes, widths: Sequence[int]) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
    """Return the strides, the reach of the window and the pads, first and last, for each dimension of a window."""
    count = len(widths)
    dilations = given.get("dilations") or [1] * count
    reaches = [(width - 1) * gap + 1 for width, gap in zip(widths, dilations, strict=True)]
    pads = given.get("pads") or [0] * (2 * count)
    return given.get("strides") or [1] * count, reaches, [0] * (2 * count) if _is_automatic(given) else pads


def _is_automatic(given: _Attributes) -> bool:
    return str(given.get("auto_pad", "NOTSET")) != "NOTSET"


def _transposed(given: _Attributes, _: int, shapes: Sequence[Sizes | None]) -> Sizes | None:
    """Return output_shape, or for SAME the input's sizes times the stride, or the sizes that the windows reach."""
    x, weights = _of(shapes, 0), _of(shapes, 1)
    sizes, widths = x[2:], weights[2:]
    strides, reaches, pads = _windows(given, widths)
    added, count = given.get("output_padding") or [0] * len(widths), len(widths)
    if given.get("output_shape"):
        made = list(given["output_shape"])[-count:]
    elif str(given.get("auto_pad", "NOTSET")).startswith("SAME"):
        made = [size * stride for size, stride in zip(sizes, strides, strict=True)]
    else:
        places = zip(sizes, strides, reaches, added, pads[:count], pads[count:], strict=True)
        made = [(size - 1) * stride + reach + more - first - last for size, stride, reach, more, first, last in places]
    return (x[0], weights[1] * int(given.get("group", 1)), *made)


def _pooled(given: _Attributes, opset: int, shapes: Sequence[Sizes | None]) -> Sizes | None:
    """Return sizes that are rounded up, without the window that begins in the padding at the end.

    With SAME a size is that of the input by the stride, rounded up, also where the window is smaller than the stride.
    """
    if not given.get("ceil_mode", 0):
        return None
    x, widths = _of(shapes, 0), list(given["kernel_shape"])
    strides, reaches, pads = _windows(given, widths)
    if str(given.get("auto_pad", "NOTSET")).startswith("SAME"):
        return (*x[:2], *(-(-size // stride) for size, stride in zip(x[2:], strides, strict=True)))
    if _is_automatic(given) or opset >= _DROPPED:
        return None
    made = []
    for size, stride, reach, first, last in zip(
        x[2:], strides, reaches, pads[: len(widths)], pads[len(widths) :], strict=True
    ):
        count = -(-(size + first + last - reach) // stride) + 1
        made.append(count - 1 if (count - 1) * stride >= size + first else count)
    return (*x[:2], *made)


def _of_labels(given: _Attributes, _: int, shapes: Sequence[Sizes | None]) -> Sizes:
    return sizes_of_output(given["equation"], [_of(shapes, index) for index in range(len(shapes))])


_SIZES: dict[str, Callable[[_Attributes, int, Sequence[Sizes | None]], Sizes | None]] = {
    "AveragePool": _pooled,
    "ConvTranspose": _transposed,
    "Einsum": _of_labels,
    "LpPool": _pooled,
    "MaxPool": _pooled,
}
