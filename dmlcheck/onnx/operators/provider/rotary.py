"""RotaryEmbedding, onnxruntime's own: pairs of elements turned by angles that are looked up by position.

From DmlOperatorRotaryEmbedding.cpp of ONNX Runtime's DirectML provider.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dmlcheck.onnx.descs.node import Array, Counterpart, Makers, Node, Refused
from dmlcheck.onnx.descs.steps import Tensor, identity, join, pair, step
from dmlcheck.onnx.descs.tensors import Strided, empty_like, ranked, repeated, sized, type_name


class _Sizes(NamedTuple):
    """Batch, steps and heads, the elements of a head, and how many of those are turned."""

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


def _rotary(node: Node) -> list[Counterpart]:
    """Cut off what is turned, exchange its halves, multiply the two by cosines and sines, and add them up."""
    x, sizes = node.input(0), _sizes(node)
    part, rest = (empty_like(x, sizes.whole(last)) for last in (sizes.turned, sizes.head - sizes.turned))
    whole, is_part = empty_like(x, sizes.whole(sizes.head)), sizes.head != sizes.turned
    cut = [step("SPLIT", InputTensor=whole, OutputTensors=[part, rest], Axis=3)] if is_part else []
    joined = [join([part, rest], whole, 3)] if is_part else []
    return [*cut, *_turned(node, sizes), *joined]


def _sizes(node: Node) -> _Sizes:
    x, cosines = node.input(0), node.input(2)
    if x.ndim not in (3, 4) or cosines.ndim != 2 or node.input(3).shape != cosines.shape:
        raise Refused(f"{node.type} whose input has {x.ndim} dimensions, and its cosines {cosines.ndim}")
    hidden = x.shape[1] * x.shape[3] if x.ndim == 4 else x.shape[2]
    heads = node.whole("num_heads", 0)
    head = hidden // heads if heads > 0 else 2 * cosines.shape[1]
    turned = node.whole("rotary_embedding_dim", 0) or head
    length = x.shape[2] if x.ndim == 4 else x.shape[1]
    if head < 1 or hidden % head or turned != 2 * cosines.shape[1] or turned > head:
        raise Refused(f"{node.type} of {hidden} elements in heads of {head}, of which {turned} are turned")
    if length > cosines.shape[0] and not node.whole("is_packed_batching", 0):
        raise Refused(f"{node.type} of {length} steps, where cosines are for {cosines.shape[0]}")
    return _Sizes(x.shape[0], length, hidden // head, head, turned, x.ndim == 4)


def _turned(node: Node, sizes: _Sizes) -> list[Counterpart]:
    x, half = node.input(0), sizes.turned // 2
    outer = (sizes.batch, sizes.length, sizes.heads)
    is_mixed = bool(node.whole("interleaved", 0))
    pairs, single, axis = ((half, 2), (half, 1), 4) if is_mixed else ((2, half), (1, half), 3)
    strided, plain = _layouts(x, sizes)
    data, one = empty_like(x, (*outer, *pairs)), empty_like(x, (*outer, *single))
    angles = empty_like(x, (1, sizes.batch, sizes.length, half))
    of_pairs = repeated(sized(angles, (sizes.batch, sizes.length, 1, *single)), data.shape)
    signs = empty_like(x, (2,))
    of_halves = repeated(signs.reshape((2,) if is_mixed else (2, 1)), data.shape)
    start = {"ValueDataType": type_name(x), "ValueStart": -1, "ValueDelta": 2}
    return [
        identity(strided, plain, ScaleBias={"Scale": 1, "Bias": 0}),
        step("SPLIT", InputTensor=data, OutputTensors=[one, one], Axis=axis),
        *_looked_up(node, sizes, angles),
        step("FILL_VALUE_SEQUENCE", OutputTensor=signs, **start),
        join([one, one], data, axis),
        *(pair("MULTIPLY", data, factor, data) for factor in (of_pairs, of_pairs, of_halves)),
        pair("ADD", plain, plain, strided),
    ]


def _layouts(x: Array, sizes: _Sizes) -> tuple[Tensor, Array]:
    """Return what is turned as the model has it, and with the heads after the steps."""
    plain = empty_like(x, (sizes.batch, sizes.length, sizes.heads, sizes.turned))
    if not sizes.are_heads_first:
        return plain, plain
    row = sizes.length * sizes.turned
    return Strided(plain, (sizes.heads * row, sizes.turned, row, 1)), plain


def _looked_up(node: Node, sizes: _Sizes, angles: Array) -> list[Counterpart]:
    """Return the GATHERs of cosines and sines; one position is the first of a sequence that is made before."""
    positions = node.input(1)
    made: list[Counterpart] = []
    indices: Tensor = ranked(positions, 4)
    if positions.ndim == 1:
        steps = empty_like(positions, (1, 1, 1, sizes.length))
        every = empty_like(positions, (1, 1, sizes.batch, sizes.length))
        sequence: dict[str, Any] = {"ValueDataType": "INT64", "ValueStart": 0, "ValueDelta": 1}
        made = [
            step("FILL_VALUE_SEQUENCE", OutputTensor=steps, **sequence),
            pair("ADD", steps, np.atleast_1d(positions), every),
        ]
        indices = every
    gather = {"IndicesTensor": indices, "OutputTensor": angles, "Axis": 2, "IndexDimensions": 2}
    return [*made, *(step("GATHER", InputTensor=ranked(node.input(index), 4), **gather) for index in (2, 3))]


SEVERAL: dict[str, Makers] = {"com.microsoft.RotaryEmbedding": _rotary}
