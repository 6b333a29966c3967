"""RotaryEmbedding: pairs of elements turned by angles that are looked up by position.

onnxruntime's own is from DmlOperatorRotaryEmbedding.cpp of its DirectML provider. ONNX's, of opset 23, has the same
formulas; its angles may be given for each step, and then nothing is looked up.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, Unmapped
from dmlcheck.onnx.descs.steps import identity, join, pair, step
from dmlcheck.onnx.descs.tensors import ranked, repeated, sized, vector
from dmlcheck.onnx.operators.row import Row


class _Sizes(NamedTuple):
    """Batch, steps and heads, the elements of a head, and how many of these are rotated."""

    batch: int
    length: int
    heads: int
    head: int
    turned: int
    are_heads_first: bool

    def whole(self, last: int) -> tuple[int, int, int, int]:
        """Return the sizes of a part of the input as the model has it."""
        inner = (self.heads, self.length) if self.are_heads_first else (self.length, self.heads)
        return (self.batch, *inner, last)


def rotary(node: OnnxNode) -> list[Counterpart]:
    """Cut off the rotated part, exchange its halves, multiply both by cosines and sines, and add them up."""
    x, output, sizes = node.input(0), node.output(), _sizes(node)
    if sizes.head == sizes.turned:
        return _turned(node, sizes, x, output)
    part, made = (x.like(sizes.whole(sizes.turned)) for _ in range(2))
    rest = x.like(sizes.whole(sizes.head - sizes.turned))
    whole, target = x.reshape(sizes.whole(sizes.head)), output.reshape(sizes.whole(sizes.head))
    cut = step("SPLIT", InputTensor=whole, OutputTensors=[part, rest], Axis=3)
    return [cut, *_turned(node, sizes, part, made), join([made, rest], target, 3)]


def _of_onnx(node: OnnxNode) -> list[Counterpart]:
    """Turn pairs as onnxruntime does: positions are the last input, and the heads of four dimensions are the second.

    Angles without positions belong to the steps: they become a table, and the positions count its rows.
    """
    x, tables = node.input(0), [node.input(1), node.input(2)]
    sizes = tables[0].shape
    if len(sizes) != (2 if node.has(3) else 3) or tables[1].shape != sizes:
        raise Unmapped(f"{node.type} whose cosines have the sizes {list(sizes)}, and its sines {list(tables[1].shape)}")
    rows = TensorRef.of(np.arange(np.prod(sizes[:-1])).reshape(sizes[:-1]))
    positions = node.input(3) if node.has(3) else rows
    flat = [table.reshape((-1, sizes[-1])) for table in tables]
    own = node.with_attributes(num_heads=x.shape[1]) if x.ndim == 4 else node
    return rotary(own._replace(inputs=(x, positions, *flat)))


def _sizes(node: OnnxNode) -> _Sizes:
    x, cosines = node.input(0), node.input(2)
    if x.ndim not in (3, 4) or cosines.ndim != 2 or node.input(3).shape != cosines.shape:
        raise Unmapped(f"{node.type} whose input has {x.ndim} dimensions, and its cosines {cosines.ndim}")
    hidden = x.shape[1] * x.shape[3] if x.ndim == 4 else x.shape[2]
    heads = node.whole("num_heads", 0)
    head = hidden // heads if heads > 0 else 2 * cosines.shape[1]
    turned = node.whole("rotary_embedding_dim", 0) or head
    length = x.shape[2] if x.ndim == 4 else x.shape[1]
    if head < 1 or hidden % head or turned != 2 * cosines.shape[1] or turned > head:
        raise Unmapped(f"{node.type} of {hidden} elements in heads of {head}, of which {turned} are turned")
    if length > cosines.shape[0] and not node.whole("is_packed_batching", 0):
        raise Unmapped(f"{node.type} of {length} steps, where cosines are for {cosines.shape[0]}")
    return _Sizes(x.shape[0], length, hidden // head, head, turned, x.ndim == 4)


def _turned(node: OnnxNode, sizes: _Sizes, x: TensorRef, output: TensorRef) -> list[Counterpart]:
    half, outer = sizes.turned // 2, (sizes.batch, sizes.length, sizes.heads)
    is_mixed = bool(node.whole("interleaved", 0))
    pairs, single, axis = ((half, 2), (half, 1), 4) if is_mixed else ((2, half), (1, half), 3)
    shape = (*outer, *pairs)
    plain = x.like((*outer, sizes.turned))
    swapped, by_cosines, by_sines, signed = (x.like(shape) for _ in range(4))
    first, second = (x.like((*outer, *single)) for _ in range(2))
    cosines, sines = (x.like((1, sizes.batch, sizes.length, half)) for _ in range(2))
    signs = x.like((2,))
    of_pairs = [repeated(sized(angles, (sizes.batch, sizes.length, 1, *single)), shape) for angles in (cosines, sines)]
    of_halves = repeated(signs.reshape((2,) if is_mixed else (2, 1)), shape)
    start = {"ValueDataType": x.data_type, "ValueStart": -1, "ValueDelta": 2}
    return [
        identity(_as_steps(x, sizes), plain, ScaleBias={"Scale": 1, "Bias": 0}),
        step("SPLIT", InputTensor=plain.reshape(shape), OutputTensors=[first, second], Axis=axis),
        *_looked_up(node, sizes, cosines, sines),
        step("FILL_VALUE_SEQUENCE", OutputTensor=signs, **start),
        join([second, first], swapped, axis),
        pair("MULTIPLY", plain.reshape(shape), of_pairs[0], by_cosines),
        pair("MULTIPLY", swapped, of_pairs[1], by_sines),
        pair("MULTIPLY", by_sines, of_halves, signed),
        pair("ADD", by_cosines.reshape(plain.shape), signed.reshape(plain.shape), _as_steps(output, sizes)),
    ]


def _as_steps(x: TensorRef, sizes: _Sizes) -> TensorRef:
    """Return the rotated tensor with the heads after the steps; if they are before them, through strides."""
    shape = (sizes.batch, sizes.length, sizes.heads, sizes.turned)
    row = sizes.length * sizes.turned
    return x.view(shape, (sizes.heads * row, sizes.turned, row, 1) if sizes.are_heads_first else None)


def _looked_up(node: OnnxNode, sizes: _Sizes, cosines: TensorRef, sines: TensorRef) -> list[Counterpart]:
    """Return the GATHERs of cosines and sines; one position is the first of a sequence that is made before."""
    positions = node.input(1)
    made: list[Counterpart] = []
    indices: TensorRef = ranked(positions, 4)
    if positions.ndim == 1:
        steps = positions.like((1, 1, 1, sizes.length))
        every = positions.like((1, 1, sizes.batch, sizes.length))
        sequence: dict[str, Any] = {"ValueDataType": "INT64", "ValueStart": 0, "ValueDelta": 1}
        made = [
            step("FILL_VALUE_SEQUENCE", OutputTensor=steps, **sequence),
            pair("ADD", steps, vector(positions), every),
        ]
        indices = every
    gather = {"IndicesTensor": indices, "Axis": 2, "IndexDimensions": 2}
    tables = [(ranked(node.input(index), 4), made) for index, made in ((2, cosines), (3, sines))]
    return [*made, *(step("GATHER", InputTensor=table, OutputTensor=angles, **gather) for table, angles in tables)]


OPERATORS: dict[str, Row] = {
    "RotaryEmbedding": Row(exact=_of_onnx),
    "com.microsoft.RotaryEmbedding": Row(rotary),
}
