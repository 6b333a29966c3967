"""Element by element: arithmetic, comparisons, logic, limits; fills, diagonals, and experimental operators.

Experimental ones are those of ONNX up to opset 9, which onnx does not know any more, and onnxruntime still does. They
are from DmlOperatorAffine.cpp, DmlOperatorCrop.cpp, DmlOperatorValueScale2D.cpp and DmlOperatorActivation.cpp of ONNX
Runtime's DirectML provider. Defaults of attributes are from ONNX Runtime's contrib_defs.cc, or else from the provider's
OperatorUtility.cpp.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.diagnostics.wording import counted
from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, Unmapped, axis_of, shortest
from dmlcheck.onnx.descs.tensors import converted, identity, padded_steps, pair, repeated, sized
from dmlcheck.onnx.operators.row import Row
from dmlcheck.onnx.same_operators import BINARY, BITWISE, COMPARISONS, LOGICAL, UNARY

_LAST_OPSET = 9


def _affine(node: OnnxNode) -> list[Counterpart]:
    factors = {"Scale": shortest(node.get("alpha", 1.0)), "Bias": shortest(node.get("beta", 0.0))}
    return [Counterpart("ELEMENT_WISE_IDENTITY", {**node.tensors(), "ScaleBias": factors})]


def _activation(operator: str, node: OnnxNode) -> list[Counterpart]:
    factors = {"Alpha": shortest(node.get("alpha", 1.0)), "Beta": shortest(node.get("beta", 1.0))}
    return [Counterpart(operator, {**node.tensors(), **factors})]


def _image(node: OnnxNode) -> list[Counterpart]:
    """VALUE_SCALE_2D: all channels have one factor, and each has its own term."""
    bias = node.get("bias") or []
    if node.input(0).ndim != 4 or len(bias) != node.input(0).shape[1]:
        raise Unmapped(f"{node.type} with {len(bias)} terms for images of the sizes {list(node.input(0).shape)}")
    fields = {"Scale": shortest(node.get("scale", 1.0)), "Bias": [shortest(term) for term in bias]}
    return [Counterpart("VALUE_SCALE_2D", {**node.tensors(), **fields})]


def _crop(node: OnnxNode) -> list[Counterpart]:
    """SLICE from the left and upper border on, to the right and lower ones, or of a height and a width."""
    x, border, size = node.input(0), node.get("border") or [], node.get("scale")
    if x.ndim != 4 or len(border) != 4 or len(size or [0, 0]) != 2:
        raise Unmapped(f"{node.type} of {x.ndim} dimensions with the border {border}")
    left, top, right, bottom = border
    height, width = size or (x.shape[2] - top - bottom, x.shape[3] - left - right)
    fields = {"Offsets": [0, 0, top, left], "Sizes": [*x.shape[:2], height, width], "Strides": [1] * 4}
    return [Counterpart("SLICE", {**node.tensors(), **fields})]


_LOWEST, _HIGHEST = -(2**31), 2**31 - 1  # which no diagonal reaches


def _constant(node: OnnxNode) -> list[Counterpart]:
    """FILL_VALUE_CONSTANT, of the value that the whole output has."""
    output = node.output()
    given = output.values if node.has_outputs else node.get("value")
    value = 0 if given is None else given.reshape(-1)[0]
    fields = {"ValueDataType": output.data_type, "Value": shortest(value, output.dtype)}
    return [Counterpart("FILL_VALUE_CONSTANT", {"OutputTensor": output, **fields})]


def _sequence(node: OnnxNode) -> list[Counterpart]:
    output = node.output()
    given = [node.known(index) for index in (0, 2)]
    start, delta = (shortest(value.reshape(-1)[0], output.dtype) for value in given if value is not None)
    fields = {"ValueDataType": output.data_type, "ValueStart": start, "ValueDelta": delta}
    return [Counterpart("FILL_VALUE_SEQUENCE", {"OutputTensor": output, **fields})]


def _triangle(node: OnnxNode) -> list[Counterpart]:
    """DIAGONAL_MATRIX1: 0 on all diagonals below the first that stays, or above the last."""
    return _triangles(node, node.tensors())


def _triangle_of_any_rank(node: OnnxNode) -> list[Counterpart]:
    """DIAGONAL_MATRIX1 of all matrices in one dimension, as it takes up to four dimensions."""
    x, output = node.input(0), node.output()
    sizes = (-1, *x.shape[-2:])
    return _triangles(node, {"InputTensor": x.reshape(*sizes), "OutputTensor": output.reshape(*sizes)})


def _triangles(node: OnnxNode, tensors: dict[str, TensorRef]) -> list[Counterpart]:
    first = (node.numbers("k", 1) or [0])[0]
    begin, end = (_LOWEST, first) if node.get("upper", 1) else (first + 1, _HIGHEST)
    value = {"ValueDataType": node.output().data_type, "Value": 0}
    ends = {"DiagonalFillBegin": begin, "DiagonalFillEnd": end}
    return [Counterpart("DIAGONAL_MATRIX1", {**tensors, **value, **ends})]


def _ones(node: OnnxNode) -> list[Counterpart]:
    fields = {"Offset": node.get("k", 0), "Value": 1}
    return [Counterpart("DIAGONAL_MATRIX", {"OutputTensor": node.output(), **fields})]


def _unary(operator: str, node: OnnxNode) -> list[Counterpart]:
    return [Counterpart(operator, node.tensors())]


def _magnitude(node: OnnxNode) -> list[Counterpart]:
    """ABS; of unsigned integers, which ABS does not take, a copy."""
    return _unary("ELEMENT_WISE_IDENTITY" if node.input(0).dtype.kind == "u" else "ELEMENT_WISE_ABS", node)


def _binary(operator: str, node: OnnxNode) -> list[Counterpart]:
    if len(node.inputs) != 2:
        raise Unmapped(f"{node.type} of {counted(len(node.inputs), 'input')}, where DirectML's has 2")
    output = node.output()
    tensors = {f"{name}Tensor": repeated(node.input(index), output.shape) for index, name in enumerate("AB")}
    return [Counterpart(operator, {**tensors, "OutputTensor": output})]


def _from_an_axis(operator: str, node: OnnxNode) -> list[Counterpart]:
    """Return an operator whose second input lies along axes of the first.

    Before opset 7 an attribute names the first axis.
    """
    return _binary(operator, _along_axes(node))


def _along_axes(node: OnnxNode) -> OnnxNode:
    axis, x, y = node.get("axis"), node.input(0), node.input(1)
    if node.opset >= 7 or axis is None:
        return node
    after = x.ndim - axis_of(axis, x.ndim) - y.ndim
    return node.with_inputs(x, sized(y, (*y.shape, *(1 for _ in range(after)))))


def _modulus(node: OnnxNode) -> list[Counterpart]:
    operator = "MODULUS_TRUNCATE" if node.get("fmod", 0) else "MODULUS_FLOOR"
    return _binary(f"ELEMENT_WISE_{operator}", node)


def _exact_modulus(node: OnnxNode) -> list[Counterpart]:
    """MODULUS, but for a rest of a division by infinity that is rounded down, which version 28 of ONNX says."""
    by = node.input(1)
    if by.dtype.kind == "f" and not node.get("fmod", 0) and np.isinf(node.numbers_of(1)).any():
        raise Unmapped("Mod by infinity, for which DirectML gives NaN")
    return _modulus(node)


def _shift(node: OnnxNode) -> list[Counterpart]:
    direction = node.get("direction")
    if direction not in ("LEFT", "RIGHT"):
        raise Unmapped(f"the direction of {node.type} is {direction!r}; it must be 'LEFT' or 'RIGHT'")
    return _binary(f"ELEMENT_WISE_BIT_SHIFT_{direction}", node)


def _shift_of_bits(node: OnnxNode) -> list[Counterpart]:
    """BIT_SHIFT of the bits of signed numbers, which DirectML has as unsigned ones."""
    x, by = node.input(0), node.input(1)
    if x.dtype.kind != "i":
        return _shift(node)
    places = node.numbers_of(1)
    if places.min() < 0 or places.max() >= 8 * x.dtype.itemsize:
        raise Unmapped("BitShift by less than 0 bits, or by all: DirectML does not say what that gives")
    if node.get("direction") == "RIGHT" and node.numbers_of(0).min() < 0:
        raise Unmapped("BitShift of negative numbers to the right, where DirectML brings in zeros")
    unsigned = f"UINT{8 * x.dtype.itemsize}"
    bits = node.with_inputs(x.bits(unsigned), by.bits(unsigned))
    return _shift(bits._replace(outputs=(node.output().bits(unsigned),)))


def _power(node: OnnxNode) -> list[Counterpart]:
    """POW; in a model whose exponent is one constant, CONSTANT_POW, unless graph optimizations are disabled."""
    exponent = node.input(1)
    known = exponent.values
    if not node.has_outputs and exponent.size == 1 and known is not None:
        value = shortest(float(known.reshape(-1)[0]))
        return [Counterpart("ELEMENT_WISE_CONSTANT_POW", {**node.tensors(), "Exponent": value})]
    return _power_of_tensors(node)


def _power_of_tensors(node: OnnxNode) -> list[Counterpart]:
    output = node.output()
    names = ("InputTensor", "ExponentTensor")
    tensors = {name: repeated(node.input(index), output.shape) for index, name in enumerate(names)}
    return [Counterpart("ELEMENT_WISE_POW", {**tensors, "OutputTensor": output})]


_NARROW = {"INT64": np.int32, "UINT64": np.uint32}


def _exact_power(node: OnnxNode) -> list[Counterpart]:
    """POW: 64-bit exponents in the range of 32 bits become numbers of 32 bits.

    CONSTANT_POW takes floats, and no exponent of more dimensions than its input.
    """
    x, exponent = node.input(0), node.input(1)
    narrow = _NARROW.get(exponent.data_type)
    if narrow is not None:
        values = node.numbers_of(1)
        if (values == values.astype(narrow)).all():
            node = node.with_inputs(x, converted(exponent, narrow))
    make = _power if x.dtype.kind == "f" and exponent.ndim <= x.ndim else _power_of_tensors
    return make(_along_axes(node))


def _choice(node: OnnxNode) -> list[Counterpart]:
    output = node.output()
    names = ("ConditionTensor", "ATensor", "BTensor")
    tensors = {name: repeated(node.input(index), output.shape) for index, name in enumerate(names)}
    return [Counterpart("ELEMENT_WISE_IF", {**tensors, "OutputTensor": output})]


def _clip(node: OnnxNode) -> list[Counterpart]:
    """CLIP1; CLIP before opset 11, and where Min is above Max, since there both give Max."""
    x = node.input(0)
    dtype: Any = np.dtype(np.float32) if node.opset < 11 else x.dtype
    info = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    limits = []
    for index, (name, default) in enumerate((("min", info.min), ("max", info.max)), start=1):
        given = node.known(index)
        limits.append(shortest(node.get(name, default) if given is None else given.reshape(-1)[0], dtype))
    tensors = {"InputTensor": x, "OutputTensor": node.output()}
    if node.opset < 11 or limits[0] > limits[1]:
        return [Counterpart("ELEMENT_WISE_CLIP", {**tensors, "Min": limits[0], "Max": limits[1]})]
    fields = {"MinMaxDataType": x.data_type, "Min": limits[0], "Max": limits[1]}
    return [Counterpart("ELEMENT_WISE_CLIP1", {**tensors, **fields})]


def _clip_of_provider(node: OnnxNode) -> list[Counterpart]:
    """CLIP1 from opset 11 on, also where Min is above Max; the least number of INT64 is not among its limits."""
    if node.opset < 11:
        return _clip(node)
    x = node.input(0)
    info: Any = np.finfo(x.dtype) if x.dtype.kind == "f" else np.iinfo(x.dtype)
    given = node.known(1), node.known(2)
    ends = (info.min if x.dtype.kind == "f" else max(info.min, 1 - 2**63), info.max)
    least, most = (
        shortest(end if values is None else values.reshape(-1)[0], x.dtype)
        for values, end in zip(given, ends, strict=True)
    )
    fields = {"MinMaxDataType": x.data_type, "Min": least, "Max": most}
    return [Counterpart("ELEMENT_WISE_CLIP1", {**node.tensors(), **fields})]


def _deviation_of_clip(node: OnnxNode) -> str | None:
    (made,) = _clip_of_provider(node)
    if made.fields["Min"] <= made.fields["Max"]:
        return None
    return "a Clip whose min is above its max gives other values than max, which ONNX has"


def _infinity(node: OnnxNode) -> list[Counterpart]:
    modes = {(1, 1): "EITHER", (1, 0): "NEGATIVE", (0, 1): "POSITIVE"}
    mode = modes.get((node.get("detect_negative", 1), node.get("detect_positive", 1)))
    if mode is None:
        raise Unmapped("IsInf that finds neither infinity")
    return [Counterpart("ELEMENT_WISE_IS_INFINITY", {**node.tensors(), "InfinityMode": mode})]


def _infinity_of_provider(node: OnnxNode) -> list[Counterpart]:
    """IS_INFINITY, of either sign also where neither is asked for."""
    is_neither = not node.get("detect_negative", 1) and not node.get("detect_positive", 1)
    return _infinity(node.with_attributes(detect_negative=1, detect_positive=1) if is_neither else node)


def _round(node: OnnxNode) -> list[Counterpart]:
    return [Counterpart("ELEMENT_WISE_ROUND", {**node.tensors(), "RoundingMode": "HALVES_TO_NEAREST_EVEN"})]


# ---- of any number of inputs


def _of_any_number(operator: str, node: OnnxNode) -> list[Counterpart]:
    """Combine the first two inputs, then each other one with the result so far; of one input a copy."""
    return padded_steps(_combined(operator, _inputs(node), node.output()))


def _inputs(node: OnnxNode) -> list[TensorRef]:
    return [node.input(index) for index in range(len(node.inputs))]


def _combined(operator: str, inputs: Sequence[TensorRef], output: TensorRef) -> list[Counterpart]:
    if len(inputs) == 1:
        return [identity(inputs[0], output)]
    results = [*(output.unknown() for _ in inputs[2:]), output]
    first = pair(operator, inputs[0], inputs[1], results[0])
    further = zip(inputs[2:], results, results[1:], strict=False)
    return [first, *(pair(operator, *each) for each in further)]


def _mean(node: OnnxNode) -> list[Counterpart]:
    """MEAN of two inputs; of more their sum, scaled."""
    inputs, output = _inputs(node), node.output()
    if len(inputs) < 3:
        return _of_any_number("MEAN", node)
    summed = output.unknown()
    scale = {"Scale": shortest(1 / len(inputs)), "Bias": 0}
    return padded_steps([*_combined("ADD", inputs, summed), identity(summed, output, ScaleBias=scale)])


def _sum_of_three(node: OnnxNode) -> list[Counterpart]:
    """ADD of the bias, then of the skipped input; from DmlOperatorBiasAdd.cpp."""
    x, bias, skipped = (node.input(index) for index in range(3))
    output = node.output()
    between = output.unknown()
    return padded_steps([pair("ADD", x, bias, between), pair("ADD", between, skipped, output)])


_UNARY = {**UNARY, "BitwiseNot": "BIT_NOT", "IsNaN": "IS_NAN", "Not": "LOGICAL_NOT", "Reciprocal": "RECIP"}
_FROM_AN_AXIS = frozenset(["Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Sub", "Xor"])


def _row_of_two(name: str, own: str) -> Row:
    operator = f"ELEMENT_WISE_{own}"
    return Row(partial(_binary, operator), exact=partial(_from_an_axis, operator) if name in _FROM_AN_AXIS else None)


OPERATORS: dict[str, Row] = {
    **{name: Row(partial(_unary, f"ELEMENT_WISE_{own}")) for name, own in _UNARY.items()},
    **{name: _row_of_two(name, own) for name, own in {**BINARY, **BITWISE, **LOGICAL, **COMPARISONS}.items()},
    "Abs": Row(_magnitude),
    "BitShift": Row(_shift, exact=_shift_of_bits),
    "Clip": Row(_clip, provider=_clip_of_provider, deviation=_deviation_of_clip),
    "IsInf": Row(_infinity, provider=_infinity_of_provider),
    "Max": Row(partial(_of_any_number, "MAX")),
    "Mean": Row(_mean),
    "Min": Row(partial(_of_any_number, "MIN")),
    "Mod": Row(_modulus, exact=_exact_modulus),
    "Pow": Row(_power, exact=_exact_power),
    "Round": Row(_round),
    "Sum": Row(partial(_of_any_number, "ADD")),
    "Where": Row(_choice),
    "com.microsoft.BiasAdd": Row(_sum_of_three),
    "ConstantOfShape": Row(_constant),
    "EyeLike": Row(_ones),
    "Range": Row(_sequence),
    "Trilu": Row(_triangle, exact=_triangle_of_any_rank),
    "Affine": Row(_affine, last_opset=_LAST_OPSET),
    "Crop": Row(_crop, last_opset=_LAST_OPSET),
    "ImageScaler": Row(_image, last_opset=_LAST_OPSET),
    "ParametricSoftplus": Row(partial(_activation, "ACTIVATION_PARAMETRIC_SOFTPLUS"), last_opset=_LAST_OPSET),
    "ScaledTanh": Row(partial(_activation, "ACTIVATION_SCALED_TANH"), last_opset=_LAST_OPSET),
}
