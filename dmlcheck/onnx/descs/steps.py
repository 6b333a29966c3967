"""Operators from which nodes of several descs are built, each with the number of dimensions that its tensors need."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode
from dmlcheck.onnx.descs.tensors import along, repeated


def step(operator: str, **fields: Any) -> Counterpart:
    """Return an operator whose tensors keep the dimensions that they have; fields that are None are left out."""
    given = {name: value for name, value in fields.items() if value is not None}
    return Counterpart(operator, given, least=1)


def padded_steps(made: Iterable[Counterpart]) -> list[Counterpart]:
    """Return operators whose tensors get four dimensions where they have less."""
    return [each._replace(least=4) for each in made]


def identity(x: TensorRef, output: TensorRef, **more: Any) -> Counterpart:
    """Return a copy, perhaps through strides."""
    return step("ELEMENT_WISE_IDENTITY", InputTensor=x, OutputTensor=output, **more)


def pair(operator: str, a: TensorRef, b: TensorRef, output: TensorRef) -> Counterpart:
    """Return an operator of two tensors element by element, which repeat to the sizes of the output."""
    sizes = output.shape
    return step(f"ELEMENT_WISE_{operator}", ATensor=repeated(a, sizes), BTensor=repeated(b, sizes), OutputTensor=output)


def unary(operator: str, x: TensorRef, output: TensorRef) -> Counterpart:
    """Return an operator of one tensor that has no other fields."""
    return step(operator, InputTensor=x, OutputTensor=output)


def product(a: TensorRef, b: TensorRef, output: TensorRef, **more: Any) -> Counterpart:
    """Return a GEMM; without other fields neither factor is transposed, and nothing is added."""
    fields = {"TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 0, **more}
    return step("GEMM", ATensor=a, BTensor=b, OutputTensor=output, **fields)


MOST_OF_PRODUCT = 4  # dimensions of a GEMM's tensors


def of_fewer_batches(made: Counterpart) -> list[Counterpart]:
    """Return a product of matrices whose batches have more dimensions than a GEMM takes, as one of fewer.

    Neighbours that all tensors step through alike are one dimension. Factors that repeat otherwise are copied first.
    """
    if made.operator != "GEMM" or made.fields["OutputTensor"].ndim <= MOST_OF_PRODUCT or "CTensor" in made.fields:
        return [made]
    tensors = {name: made.fields[name] for name in ("ATensor", "BTensor", "OutputTensor")}
    merged = _merged(tensors)
    if merged["OutputTensor"].ndim <= MOST_OF_PRODUCT:
        return [made.with_fields(**merged)]
    copies = {name: tensors[name].like(tensors[name].shape) for name in ("ATensor", "BTensor")}
    again = made.with_fields(**_merged({**tensors, **copies}))
    return [*(identity(tensors[name], copy) for name, copy in copies.items()), again]


def _merged(tensors: Mapping[str, TensorRef]) -> dict[str, TensorRef]:
    """Return matrices with as few dimensions of batches as all tensors together can have."""
    shape = next(iter(tensors.values())).shape
    last, groups = len(shape) - 2, list[list[int]]()
    for axis in (axis for axis in range(last) if shape[axis] != 1):
        if groups and all(x.steps[groups[-1][-1]] == shape[axis] * x.steps[axis] for x in tensors.values()):
            groups[-1].append(axis)
        else:
            groups.append([axis])
    sizes = [math.prod(shape[axis] for axis in group) for group in groups]
    ends = [*(group[-1] for group in groups), last, last + 1]
    return {name: x.view([*sizes, *x.shape[last:]], [x.steps[axis] for axis in ends]) for name, x in tensors.items()}


def window(x: TensorRef, output: TensorRef, offsets: Sequence[int]) -> Counterpart:
    """Return a SLICE1 of the output's sizes, every element from the offsets on."""
    sizes = list(output.shape)
    windows = {
        "InputWindowOffsets": list(offsets),
        "InputWindowSizes": sizes,
        "InputWindowStrides": [1] * len(sizes),
    }
    return step("SLICE1", InputTensor=x, OutputTensor=output, **windows)


def join(parts: Sequence[TensorRef], output: TensorRef, axis: int) -> Counterpart:
    """Return a JOIN of tensors along an axis."""
    return step("JOIN", InputTensors=list(parts), OutputTensor=output, Axis=axis)


# ---- quantized numbers


def scaled(operator: str, x: TensorRef, scale: TensorRef, zero: TensorRef, output: TensorRef) -> Counterpart:
    """Return a QUANTIZE_LINEAR or DEQUANTIZE_LINEAR, its numbers repeated to all elements."""
    tensors = {"ScaleTensor": along(scale, 0, x.shape), "ZeroPointTensor": along(zero, 0, x.shape)}
    return Counterpart(f"ELEMENT_WISE_{operator}_LINEAR", {"InputTensor": x, **tensors, "OutputTensor": output})


def dequantized(x: TensorRef, scale: TensorRef, zero: TensorRef) -> tuple[Counterpart, TensorRef]:
    """Return a DEQUANTIZE_LINEAR, and the floats that it gives."""
    made = TensorRef("FLOAT32", x.shape)
    return scaled("DEQUANTIZE", x, scale, zero, made), made


def zero_of(node: OnnxNode, index: int, like: TensorRef) -> TensorRef:
    """Return a zero point, 0 if it is left out."""
    return node.optional(index) or TensorRef.of(np.zeros((), like.dtype))
