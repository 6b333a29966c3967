"""Element by element: arithmetic, comparisons, logic, limits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.diagnostics.wording import counted
from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, Unmapped, axis_of, shortest
from dmlcheck.onnx.descs.steps import identity, padded_steps, pair
from dmlcheck.onnx.descs.tensors import converted, repeated, sized
from dmlcheck.onnx.operators.row import Row
from dmlcheck.onnx.same_operators import BINARY, BITWISE, COMPARISONS, LOGICAL, UNARY


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
}
