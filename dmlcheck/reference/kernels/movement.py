"""Moving elements: joining, splitting, slicing, padding, tiling, reversing, and depth to space."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from operator import add
from typing import Any

import numpy as np

from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference.arrays.grouped import AXES_OF_BLOCKS, split_channels
from dmlcheck.reference.arrays.needs import (
    LINES,
    WHOLE,
    channels_in_blocks,
    joined_parts,
    rows_in_blocks,
)
from dmlcheck.reference.arrays.places import Index, Places, slices, with_ones_after
from dmlcheck.reference.functions.conversions import in_type_of
from dmlcheck.reference.functions.edges import continued
from dmlcheck.reference.results import AsMeasured, PartlyUndefined, alternatives, ways_of, with_measured
from dmlcheck.reference.rows import UNCUT, Cut, Kernel, Spread, exact_row

Sizes = tuple[int, ...]


# ---- parts


def join(inputs: Sequence[Any], *, axis: int) -> Any:
    """Output[.., start + i, ..] = InputTensors[k][.., i, ..] along Axis; start is the size of all inputs before."""
    return inputs[0] if len(inputs) == 1 else np.concatenate(inputs, axis)


def split(input: Any, *, outputs: Sequence[TensorDesc], axis: int) -> dict[str, Any]:
    """OutputTensors[k][.., i, ..] = Input[.., start + i, ..] along Axis; start is the size of all outputs before."""
    starts = list(accumulate(part.sizes[axis] for part in outputs))[:-1]
    return {f"outputs[{number}]": part for number, part in enumerate(np.split(input, starts, axis))}


# ---- windows


def slice_(input: Any, *, offsets: Sizes, sizes: Sizes, strides: Sizes) -> Any:
    """Output[c] = Input[Offsets + Strides * c]."""

    def seen(offset: int, size: int, stride: int) -> slice:
        return slice(offset, offset + stride * (size - 1) + 1, stride)

    return input[tuple(map(seen, offsets, sizes, strides))]


def window(offsets: Sizes, sizes: Sizes, strides: Sizes, counts: Sizes) -> tuple[list[range], Index]:
    """Return the places of a strided window in rising order, and the index that puts their elements in the right order.

    A positive stride begins with the first element of the window, and a negative one with the last.
    """

    def reached(offset: int, size: int, stride: int, count: int) -> range:
        return range(offset, offset + size)[::stride][:count]

    def rising(at: range) -> range:
        return at[:: np.sign(at.step)]

    places = list(map(reached, offsets, sizes, strides, counts))
    return list(map(rising, places)), tuple(slice(None, None, np.sign(at.step)) for at in places)


def slice1(
    input: Any,
    *,
    input_window_offsets: Sizes,
    input_window_sizes: Sizes,
    input_window_strides: Sizes,
    output: TensorDesc,
) -> Any:
    """Output[c] = Input[start + Stride * c]; start is the window's first element, with a negative Stride its last."""
    at, turn = window(input_window_offsets, input_window_sizes, input_window_strides, output.sizes)
    return input[slices(at)][turn]


def slice_grad(
    input_gradient: Any,
    *,
    input_window_offsets: Sizes,
    input_window_sizes: Sizes,
    input_window_strides: Sizes,
    places: Places,
) -> Any:
    """OutputGradient[start + Stride * c] = InputGradient[c], with the start of SLICE1; 0 elsewhere."""
    at, turn = window(input_window_offsets, input_window_sizes, input_window_strides, input_gradient.shape)
    return pasted(input_gradient[turn], at, places, 0)


def pasted(x: Any, at: Places, places: Places, value: Any) -> PartlyUndefined:
    """Return some places of a tensor that has the elements of x at the places `at`, and a value elsewhere."""
    own = tuple(map(inside, at, places))
    where = slices(list(map(counted_from, map(clipped, at, places), (part.start for part in places))))

    def around(outside: Any, part: Any) -> Any:
        found = np.full([*map(len, places)], outside, part.dtype)
        found[where] = part
        return found

    value, *marks = with_measured(value)
    found = alternatives(*ways_of(value), of=lambda way: around(way, x[own]))
    is_undefined, is_measured = (mark and around(mark, np.zeros_like(x[own], bool)) for mark in marks)
    return PartlyUndefined(AsMeasured(found, is_measured), is_undefined)


def inside(at: range, part: range) -> slice:
    """Return the slice of some places, in rising order, that are in a part of the dimension."""
    return slice(bisect_left(at, part.start), bisect_left(at, part.stop))


def clipped(at: range, part: range) -> range:
    """Return some places, in rising order, that are in a part of the dimension."""
    return at[inside(at, part)]


def counted_from(at: range, start: int) -> range:
    """Return some places, counted from a start."""
    return range(at.start - start, at.stop - start, at.step)


# ---- tiling


def tile(input: Any, *, places: Places) -> Any:
    """Output[c] = Input[c mod InputTensor's sizes]."""
    found = list(map(copied, places, input.shape))
    part = input[tuple(seen for seen, _, _ in found)]
    return np.tile(part, [copies for _, copies, _ in found])[tuple(cut for _, _, cut in found)]


def copied(at: range, size: int) -> tuple[slice, int, slice]:
    """Return the part of a dimension that has some places of its copies, how often it is there, and their index in it.

    That is the whole dimension, unless one copy has all of the places.
    """
    start = at.start % size
    own = slice(start, start + len(at))
    return (own, 1, slice(None)) if own.stop <= size else (slice(None), -(-own.stop // size), own)


# ---- reversing


def reverse_subsequences(input: Any, sequence_lengths: Any, *, axis: int, places: Places) -> Any:
    """Output[.., i, ..] = Input[.., L - 1 - i, ..] along Axis where i < L, else Input[.., i, ..].

    L is the element of SequenceLengths for the sequence. Beyond the end of Axis is its last element.
    """
    size, length = input.shape[axis], sequence_lengths.astype(np.uint32).astype(np.int64)
    at = with_ones_after(np.asarray(places[axis]), input.ndim - axis - 1)
    source = np.where(at < length, np.minimum(length - 1 - at, size - 1), at)
    return AsMeasured(np.take_along_axis(input, source, axis), sequence_lengths > size)


# ---- padding


def padding(input: Any, *, padding_mode: str, padding_value: Any, start_padding: Sizes, places: Places) -> Any:
    """Output[c] = Input[c - StartPadding]; outside, PaddingValue or the element that PaddingMode chooses.

    In integer types PaddingValue loses its fraction. In FLOAT16 it is rounded to the nearest number or toward 0.
    """
    value = in_type_of(padding_value, input)
    return padding1(input, padding_mode=padding_mode, padding_value=value, start_padding=start_padding, places=places)


def padding1(input: Any, *, padding_mode: str, padding_value: Any, start_padding: Sizes, places: Places) -> Any:
    """Output[c] = Input[c - StartPadding]; outside, PaddingValue or the element that PaddingMode chooses."""
    if padding_mode == "CONSTANT":
        ends = map(add, start_padding, input.shape)
        return pasted(input, [*map(range, start_padding, ends)], places, padding_value)
    return continued(input, list(map(counted_from, places, start_padding)), padding_mode)


# ---- depth to space


def depth_to_space(input: Any, *, block_size: int, order: str = "DEPTH_COLUMN_ROW") -> Any:
    """Output[n, c, y * BlockSize + row, x * BlockSize + column] = Input[n, (row * BlockSize + column) * C + c, y, x].

    C is the number of channels of OutputTensor. With COLUMN_ROW_DEPTH the channel is (c * BlockSize + row) * BlockSize
    + column.
    """
    batch, channels, height, width = input.shape
    sizes = (batch, channels // block_size**2, height * block_size, width * block_size)
    row, column, depth = AXES_OF_BLOCKS[order]
    return split_channels(input, block_size, order).transpose(0, depth, 4, row, 5, column).reshape(sizes)


def space_to_depth(input: Any, *, block_size: int, order: str = "DEPTH_COLUMN_ROW") -> Any:
    """Output[n, (row * BlockSize + column) * C + c, y, x] = Input[n, c, y * BlockSize + row, x * BlockSize + column].

    C is the number of channels of InputTensor. With COLUMN_ROW_DEPTH the channel is (c * BlockSize + row) * BlockSize
    + column.
    """
    batch, channels, height, width = input.shape
    rows, columns = height // block_size, width // block_size
    blocks = input.reshape(batch, channels, rows, block_size, columns, block_size)
    axes = (1, 3, 5) if order == "COLUMN_ROW_DEPTH" else (3, 5, 1)
    return blocks.transpose(0, *axes, 2, 4).reshape(batch, channels * block_size**2, rows, columns)


OF_PLACES = Cut(needs={"input": WHOLE})
DEPTHS = Cut((0, 1), {"input": channels_in_blocks})
ROWS = Cut((0, 2), {"input": rows_in_blocks})

KERNELS: dict[str, Kernel] = {
    "DEPTH_TO_SPACE": exact_row(depth_to_space, DEPTHS),
    "DEPTH_TO_SPACE1": exact_row(depth_to_space, DEPTHS),
    "JOIN": exact_row(join, Cut(needs={"inputs": joined_parts})),
    "PADDING": exact_row(padding, OF_PLACES, spread=Spread()),
    "PADDING1": exact_row(padding1, OF_PLACES, spread=Spread()),
    "REVERSE_SUBSEQUENCES": exact_row(reverse_subsequences, Cut(needs={"input": LINES, "sequence_lengths": LINES})),
    "SLICE": exact_row(slice_, UNCUT),
    "SLICE1": exact_row(slice1, UNCUT),
    "SLICE_GRAD": exact_row(slice_grad, Cut(needs={"input_gradient": WHOLE}), spread=Spread()),
    "SPACE_TO_DEPTH": exact_row(space_to_depth, ROWS),
    "SPACE_TO_DEPTH1": exact_row(space_to_depth, ROWS),
    "SPLIT": exact_row(split, Cut(lambda given: tuple(range(given["axis"])), {"input": LINES})),
    "TILE": exact_row(tile, OF_PLACES),
}
