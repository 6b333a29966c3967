"""Moving elements as they are: joining, splitting, slicing, padding, repeating, reversing, and blocks of channels."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate, chain, pairwise, product
from operator import add
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference.ball.numbers import raw
from dmlcheck.reference.pieces import Open, alternatives, cast, is_float
from dmlcheck.reference.rows import Kernel, exact_row
from dmlcheck.reference.tiling.blocks import (
    BLOCK,
    BLOCK_AS_IS,
    Index,
    ranges,
    tiles_along,
    whole_along,
    with_ones_after,
)
from dmlcheck.reference.tiling.piece import Piece, exact_piece

Sizes = tuple[int, ...]


def moving(where: Any, formula: Callable[..., Any], x: Any) -> Piece:
    """Return the piece of an output that a formula makes of elements as they are."""
    return exact_piece(where, formula, (x,))


def placed(where: Any, x: Any) -> Piece:
    """Return the piece of an output that has just the elements of x."""
    return moving(where, lambda part: part, x)


def slices(places: Sequence[range]) -> Index:
    """Return the index that has some places of each dimension, in rising order."""
    return tuple(slice(at.start, at.stop, at.step) for at in places)


# ---- parts


def parts(sizes: Sequence[Sizes], axis: int) -> Iterator[Index]:
    """Yield where each of several parts is in the tensor that they make up along an axis."""
    for start, stop in pairwise(accumulate((part[axis] for part in sizes), initial=0)):
        yield (*[slice(None)] * axis, slice(start, stop))


def join(inputs: Sequence[Any], *, axis: int) -> Iterator[Piece]:
    """Output[.., start + i, ..] = InputTensors[k][.., i, ..] along Axis; start is the size of all inputs before."""
    return map(placed, parts([part.shape for part in inputs], axis), inputs)


def split(input: Any, *, outputs: Sequence[TensorDesc], axis: int) -> Iterator[Piece]:
    """OutputTensors[k][.., i, ..] = Input[.., start + i, ..] along Axis; start is the size of all outputs before."""
    for number, at in enumerate(parts([part.sizes for part in outputs], axis)):
        name = f"outputs[{number}]"
        yield moving({name: ()}, lambda part, name=name: {name: part}, input[at])


# ---- windows


def slice_(input: Any, *, offsets: Sizes, sizes: Sizes, strides: Sizes) -> Iterator[Piece]:
    """Output[c] = Input[Offsets + Strides * c]."""

    def seen(offset: int, size: int, stride: int) -> slice:
        return slice(offset, offset + stride * (size - 1) + 1, stride or None)

    part = np.broadcast_to(input[tuple(map(seen, offsets, sizes, strides))], sizes)
    yield moving((), lambda x: Open(x, repeated(sizes, strides)), part)


def repeated(sizes: Sizes, strides: Sizes) -> Any:
    """Say which elements a stride of 0 repeats: all but the first along its dimension."""
    is_repeated = np.ones(np.where(strides, 1, sizes), bool)
    is_repeated[tuple(slice(None if stride else 1) for stride in strides)] = False
    return is_repeated


def window(offsets: Sizes, sizes: Sizes, strides: Sizes, counts: Sizes) -> tuple[list[range], Index]:
    """Return the places that strides take from a window, in rising order, and what turns their elements round.

    They begin with the first element of the window, or the last one where the stride is negative.
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
) -> Iterator[Piece]:
    """Output[c] = Input[start + Stride * c]; start is the window's first element, with a negative Stride its last."""
    places, turn = window(input_window_offsets, input_window_sizes, input_window_strides, output.sizes)
    yield placed((), input[slices(places)][turn])


def slice_grad(
    input_gradient: Any,
    *,
    input_window_offsets: Sizes,
    input_window_sizes: Sizes,
    input_window_strides: Sizes,
    output_gradient: TensorDesc,
) -> Iterator[Piece]:
    """OutputGradient[start + Stride * c] = InputGradient[c], with the start of SLICE1; 0 elsewhere."""
    places, turn = window(input_window_offsets, input_window_sizes, input_window_strides, input_gradient.shape)
    return pasted(input_gradient[turn], places, output_gradient.sizes, Fill((0,)))


# ---- tensors in larger ones


class Fill(NamedTuple):
    """What a larger tensor has where a smaller one is not: one of several values, which may be left open."""

    ways: tuple[Any, ...]
    is_open: bool = False


def pasted(x: Any, places: Sequence[range], sizes: Sizes, fill: Fill) -> Iterator[Piece]:
    """Yield the pieces of a tensor that has the elements of x at some places of each dimension, others elsewhere."""

    def seen(at: range, cut: range) -> slice:
        return slice(bisect_left(at, cut.start), bisect_left(at, cut.stop))

    def place(at: range, own: slice, cut: range) -> slice:
        return slice(at[own].start - cut.start, at[own].stop - cut.start, at.step)

    for index in tiles_along(range(x.ndim), sizes, BLOCK_AS_IS):
        cuts = ranges(index, sizes)
        own = tuple(map(seen, places, cuts))
        where = tuple(map(place, places, own, cuts))
        yield moving(index, partial(filled, sizes=tuple(map(len, cuts)), where=where, fill=fill), x[own])


def filled(x: Any, *, sizes: Sizes, where: Index, fill: Fill) -> Open:
    """Return a part of a larger tensor with the elements of x in their place."""

    def around(value: Any, part: Any = x) -> Any:
        whole = np.full(sizes, value, part.dtype)
        whole[where] = part
        return whole

    return Open(alternatives(*fill.ways, of=around), fill.is_open and around(fill.is_open, np.zeros_like(x, bool)))


# ---- copies side by side


def tile(input: Any, *, repeats: Sizes) -> Iterator[Piece]:
    """Output[c] = Input[c mod InputTensor's sizes]."""

    def reach(copies: range, places: range, own: int) -> slice:
        return slice(copies[0] * own + places[0], copies[-1] * own + places[-1] + 1)

    sizes = tuple(np.column_stack([repeats, input.shape]).ravel().tolist())
    for index in tiles_along(range(len(sizes)), sizes, BLOCK_AS_IS):
        found = ranges(index, sizes)
        copies, places = found[::2], found[1::2]
        where = tuple(map(reach, copies, places, input.shape))
        yield moving(where, partial(np.tile, reps=tuple(map(len, copies))), input[slices(places)])


# ---- starts of lines reversed


def reverse_subsequences(input: Any, sequence_lengths: Any, *, axis: int) -> Iterator[Piece]:
    """Output[.., i, ..] = Input[.., L - 1 - i, ..] along Axis where i < L, else Input[.., i, ..].

    L is the element of SequenceLengths for the sequence, at most the size of Axis.
    """
    lengths = np.minimum(sequence_lengths, input.shape[axis]).astype(np.int64)
    for index in tiles_along(range(input.ndim), input.shape, BLOCK):
        lines = whole_along(axis, index)
        formula = partial(reversed_starts, at=index[axis], axis=axis)
        yield exact_piece(index, formula, (input[lines], lengths[lines]))


def reversed_starts(x: Any, length: Any, *, at: slice, axis: int) -> Any:
    """Return elements of lines at some places, once the start of each line is reversed."""
    places = with_ones_after(np.arange(*at.indices(x.shape[axis])), x.ndim - axis - 1)
    return np.take_along_axis(x, np.where(places < length, length - 1 - places, places), axis)


# ---- padding


def padding(
    input: Any, *, padding_mode: str, padding_value: Any, start_padding: Sizes, output: TensorDesc
) -> Iterator[Piece]:
    """Output[c] = Input[c - StartPadding]; outside, PaddingValue or the element that PaddingMode chooses.

    In integer types PaddingValue loses its fraction. In FLOAT16 it is rounded to the nearest number or toward 0.
    """
    number = float(raw(padding_value))
    value = cast(number, input)
    if is_float(input):
        fill = Fill((value, np.nextafter(value, value.dtype.type(0)) if abs(float(value)) > abs(number) else value))
    else:
        fill = Fill((value,), is_open=float(value) != np.trunc(number))
    return padded(input, padding_mode, start_padding, output.sizes, fill)


def padding1(
    input: Any, *, padding_mode: str, padding_value: Any, start_padding: Sizes, output: TensorDesc
) -> Iterator[Piece]:
    """Output[c] = Input[c - StartPadding]; outside, PaddingValue or the element that PaddingMode chooses."""
    return padded(input, padding_mode, start_padding, output.sizes, Fill((padding_value,)))


def padded(x: Any, mode: str, starts: Sizes, sizes: Sizes, fill: Fill) -> Iterator[Piece]:
    """Return the pieces of a tensor that begins with so much padding in each dimension."""
    if mode == "CONSTANT":
        return pasted(x, list(map(range, starts, map(add, starts, x.shape))), sizes, fill)
    return chain.from_iterable(
        picked(x, region) for region in product(*map(partial(runs, mode), x.shape, starts, sizes))
    )


class Run(NamedTuple):
    """A run of places of a dimension, what gives the places of a smaller tensor for some of them, and if it is open."""

    places: range
    origins: Callable[[range], Any]
    is_open: bool = False


def runs(mode: str, own: int, start: int, size: int) -> Iterator[Run]:
    """Yield the runs of a dimension in, before and after a smaller tensor."""
    yield Run(range(start, start + own), lambda at: range(at.start - start, at.stop - start))
    for run in (range(start), range(start + own, size)):
        if run:
            origins = partial(outside, mode, own, start)
            yield Run(run, origins, is_open=(mode, own) == ("REFLECTION", 1))


def outside(mode: str, own: int, start: int, at: range) -> Any:
    """Return the places of a smaller tensor that are seen at some outside of it."""
    return PLACES[mode](np.arange(at.start, at.stop) - start, own)


def picked(x: Any, region: Sequence[Run]) -> Iterator[Piece]:
    """Yield the pieces of a region of an output, with the elements of x at the places that its runs give."""
    is_open = any(run.is_open for run in region)
    for index in tiles_along(range(x.ndim), tuple(len(run.places) for run in region), BLOCK_AS_IS):
        where = [run.places[cut] for run, cut in zip(region, index, strict=True)]
        origins = [run.origins(at) for run, at in zip(region, where, strict=True)]
        yield moving(slices(where), partial(taken, origins=origins, is_open=is_open), x)


def taken(x: Any, *, origins: Sequence[Any], is_open: bool) -> Open:
    """Return x[origins[0][c[0]], origins[1][c[1]], ...], where ranges are views."""
    x = x[tuple(slice(at.start, at.stop) if isinstance(at, range) else slice(None) for at in origins)]
    for axis, at in enumerate(origins):
        x = x if isinstance(at, range) else x.take(at, axis)
    return Open(x, is_open)


def mirrored(at: Any, period: int, shift: int) -> Any:
    """Return places that go to and fro: i and period - shift - i are the same, and so is each period."""
    return np.minimum(at % period, period - shift - at % period)


PLACES: dict[str, Callable[[Any, int], Any]] = {
    "EDGE": lambda at, size: np.clip(at, 0, size - 1),
    "REFLECTION": lambda at, size: mirrored(at, max(1, 2 * size - 2), 0),
    "SYMMETRIC": lambda at, size: mirrored(at, 2 * size, 1),
    "WRAP": lambda at, size: at % size,
}


# ---- blocks of channels


def blocks(size: int, channels: int, order: str) -> Iterator[tuple[Index, Index]]:
    """Yield what belongs together for each row and column of a block: the channels, and the places in the image.

    The number of a channel is (row * BlockSize + column) * channels + c, or c * BlockSize^2 + row * BlockSize + column
    with COLUMN_ROW_DEPTH.
    """
    for number, (row, column) in enumerate(np.ndindex(size, size)):
        first = slice(number * channels, (number + 1) * channels)
        deep = slice(number, None, size * size) if order == "COLUMN_ROW_DEPTH" else first
        every = slice(None)
        yield (every, deep), (every, every, slice(row, None, size), slice(column, None, size))


def depth_to_space(
    input: Any, *, block_size: int, order: str = "DEPTH_COLUMN_ROW", output: TensorDesc
) -> Iterator[Piece]:
    """Output[n, c, y * BlockSize + row, x * BlockSize + column] = Input[n, (row * BlockSize + column) * C + c, y, x].

    C is the number of channels of OutputTensor. With COLUMN_ROW_DEPTH the channel is (c * BlockSize + row) * BlockSize
    + column.
    """
    for deep, wide in blocks(block_size, output.sizes[1], order):
        yield placed(wide, input[deep])


def space_to_depth(input: Any, *, block_size: int, order: str = "DEPTH_COLUMN_ROW") -> Iterator[Piece]:
    """Output[n, (row * BlockSize + column) * C + c, y, x] = Input[n, c, y * BlockSize + row, x * BlockSize + column].

    C is the number of channels of InputTensor. With COLUMN_ROW_DEPTH the channel is (c * BlockSize + row) * BlockSize
    + column.
    """
    for deep, wide in blocks(block_size, input.shape[1], order):
        yield placed(deep, input[wide])


KERNELS: dict[str, Kernel] = {
    "DEPTH_TO_SPACE": exact_row(depth_to_space),
    "DEPTH_TO_SPACE1": exact_row(depth_to_space),
    "JOIN": exact_row(join),
    "PADDING": exact_row(padding),
    "PADDING1": exact_row(padding1),
    "REVERSE_SUBSEQUENCES": exact_row(reverse_subsequences),
    "SLICE": exact_row(slice_),
    "SLICE1": exact_row(slice1),
    "SLICE_GRAD": exact_row(slice_grad),
    "SPACE_TO_DEPTH": exact_row(space_to_depth),
    "SPACE_TO_DEPTH1": exact_row(space_to_depth),
    "SPLIT": exact_row(split),
    "TILE": exact_row(tile),
}
