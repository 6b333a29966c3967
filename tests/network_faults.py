"""ONNX Runtime's CPU with a fault in one node of a network, and the faults that implementations have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
import onnx
from run_models import Runtime

Array = Any
Given = list[Any]
HALF = np.float16


class Faulty(Runtime):
    """ONNX Runtime's CPU, in which one node has a fault.

    `spoil` maps the name of the node to what makes its outputs wrong: it is given the node, its inputs in order, its
    outputs in order, and a function that runs another onnx.NodeProto on the same inputs.
    """

    spoil: ClassVar[dict[str, Callable[..., Given]]] = {}

    def run_model(self, data: bytes, inputs: Mapping[str, Array], keep: list[str]) -> dict[str, Array]:
        given = super().run_model(data, inputs, keep)
        made = onnx.load_from_string(data)
        node = made.graph.node[0]
        wrong = self.spoil.get(node.name)
        if wrong is None:
            return given
        constants = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in made.graph.initializer}
        held = {**constants, **inputs}

        def other(changed: Any) -> Given:
            made.graph.node[0].CopyFrom(changed)
            changes = super(Faulty, self).run_model(made.SerializeToString(), inputs, keep)
            return [changes.get(name) for name in node.output]

        spoiled = wrong(node, [held.get(name) for name in node.input], [given.get(name) for name in node.output], other)
        return {name: array for name, array in zip(node.output, spoiled, strict=True) if name in given}


def one_off(_: Any, __: Given, outputs: Given, ___: Any) -> Given:
    """Multiply floats by 1 + 2^-9, as rounding to BFLOAT16 does at worst; add 1 to one whole number."""
    first, *others = outputs
    if first.dtype.kind == "f":
        return [(first.astype(np.float64) * (1 + 2.0**-9)).astype(first.dtype), *others]
    first = first.copy()
    flat, middle = first.reshape(-1), first.size // 2
    flat[middle] += -1 if flat[middle] == np.iinfo(first.dtype).max else 1
    return [first, *others]


def zero_tile(_: Any, __: Given, outputs: Given, ___: Any) -> Given:
    """Leave a part of the first output zero, as a group of threads does that never ran."""
    first = outputs[0].copy()
    first[tuple(slice(size // 2, size // 2 + 8) for size in first.shape)] = 0
    return [first, *outputs[1:]]


def large_epsilon(node: Any, _: Given, __: Given, other: Callable[[Any], Given]) -> Given:
    """Add ten times as much to the variance."""
    changed = onnx.NodeProto()
    changed.CopyFrom(node)
    next(each for each in changed.attribute if each.name == "epsilon").f *= 10
    return other(changed)


def half_sums(node: Any, inputs: Given, outputs: Given, _: Any) -> Given:
    """Add up in FLOAT16, one term after the other."""
    named = {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}
    made = _HALF_SUMS[node.op_type]([None if x is None else x.astype(np.float32) for x in inputs], named)
    return [made.astype(outputs[0].dtype).reshape(outputs[0].shape), *outputs[1:]]


def _sum(terms: Any) -> Array:
    total = HALF(0)
    for term in terms:
        total = (np.float32(total) + term).astype(HALF)
    return np.float32(total)


def _product(inputs: Given, _: Mapping[str, Any]) -> Array:
    left, right = inputs[:2]
    return _sum(left[..., :, place, None] * right[..., None, place, :] for place in range(left.shape[-1]))


def _gemm(inputs: Given, named: Mapping[str, Any]) -> Array:
    right = inputs[1].T if named.get("transB") else inputs[1]
    return _product([inputs[0], right], {}) + inputs[2]


def _convolution(inputs: Given, named: Mapping[str, Any]) -> Array:
    """Return a convolution in one group, with the same padding on all sides."""
    x, weights = inputs[:2]
    step, pad = named.get("strides", [1])[0], named.get("pads", [0])[0]
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    high, wide = ((size - kernel) // step + 1 for size, kernel in zip(x.shape[2:], weights.shape[2:], strict=True))
    made = _sum(
        x[:, place[0], None, place[1] : place[1] + step * high : step, place[2] : place[2] + step * wide : step]
        * weights[(slice(None), *place)][None, :, None, None]
        for place in np.ndindex(weights.shape[1:])
    )
    return made + (inputs[2][:, None, None] if len(inputs) > 2 else 0)


def _softmax(inputs: Given, _: Mapping[str, Any]) -> Array:
    powers = np.exp(inputs[0] - inputs[0].max(-1, keepdims=True))
    return powers / _sum(np.moveaxis(powers, -1, 0))[..., None]


def _normalization(inputs: Given, named: Mapping[str, Any]) -> Array:
    x, count = inputs[0], inputs[0].shape[-1]
    off = x - (_sum(np.moveaxis(x, -1, 0)) / count)[..., None]
    variance = _sum(np.moveaxis(off**2, -1, 0)) / count
    return off / np.sqrt(variance + named["epsilon"])[..., None] * inputs[1] + inputs[2]


_HALF_SUMS: dict[str, Callable[[Given, Mapping[str, Any]], Array]] = {
    "Conv": _convolution,
    "Gemm": _gemm,
    "LayerNormalization": _normalization,
    "MatMul": _product,
    "Softmax": _softmax,
}
FAULTY = "python:network_faults:Faulty"
