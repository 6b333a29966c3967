"""Moving elements as they are: joining, splitting, slicing, padding, repeating, and blocks of channels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate, pairwise, product
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference.blocks import BLOCK, Index, tiles_along
from dmlcheck.reference.numbers import raw
from dmlcheck.reference.pieces import Kernel, Open, Piece, cast, is_float, one_of

Sizes = tuple[int, ...]


def moved(x: Any) -> Any:
    """Return elements as they are."""
    return x


def placed(where: Any, x: Any) -> Piece:
    """Return the piece of an output that has the elements of x as they are."""
    return Piece(where, moved, (x,), is_exact=True)


# ---- parts


def parts(sizes: Sequence[Sizes], axis: int) -> Iterator[Index]:
    """Yield where each of several parts is in the tensor that they make up along an axis."""
    for start, stop in pairwise(accumulate((part[axis] for part in sizes), initial=0)):
        yield (*[slice(None)] * axis, slice(start, stop))


def join(inputs: Sequence[Any], *, axis: int) -> Iterator[Piece]:
    """Output[.., start + i, ..] = InputTensors[k][.., i, ..] along Axis, where the parts before have start elements."""
    for where, part in zip(parts([part.shape for part in inputs], axis), inputs, strict=True):
        yield placed(where, part)


def split(input: Any, *, outputs: Sequence[TensorDesc], axis: int) -> Iterator[Piece]:
    """OutputTensors[k][.., i, ..] = Input[.., start + i, ..] along Axis, where the parts before have start elements."""
    for number, at in enumerate(parts([part.sizes for part in outputs], axis)):
        name = f"outputs[{number}]"
        yield Piece({name: ()}, lambda part, name=name: {name: part}, (input[at],), is_exact=True)


# ---- windows


def strided(x: Any, starts: Sequence[int], strides: Sequence[int], sizes: Sequence[int]) -> Any:
    """Return the elements x[start + stride * c] with c below the size, in each dimension; nothing is copied."""
    corner = x[tuple(slice(start, None) for start in starts)]
    along = zip(x.strides, strides, sizes, strict=True)
    steps = [step * stride if size > 1 else 0 for step, stride, size in along]
    return np.lib.stride_tricks.as_strided(corner, sizes, steps, writeable=False)


def repeated(sizes: Sequence[int], strides: Sequence[int]) -> Any:
    """Say which elements a stride of 0 repeats: all but the first along its dimension."""
    found: Any = False
    for axis, (size, stride) in enumerate(zip(sizes, strides, strict=True)):
        if stride == 0:
            found = found | (np.arange(size) > 0).reshape(-1, *[1] * (len(sizes) - axis - 1))
    return found


def slice_(input: Any, *, offsets: Sizes, sizes: Sizes, strides: Sizes) -> Iterator[Piece]:
    """Output[c] = Input[Offsets + Strides * c]; left open is what a stride of 0 repeats."""
    is_open = repeated(sizes, strides)
    yield Piece((), lambda x: Open(x, is_open), (strided(input, offsets, strides, sizes),), is_exact=True)


def slice1(
    input: Any,
    *,
    input_window_offsets: Sizes,
    input_window_sizes: Sizes,
    input_window_strides: Sizes,
    output: TensorDesc,
) -> Iterator[Piece]:
    """Output[c] = Input[start + Stride * c]; a negative Stride starts with the last element of the window."""
    starts = window_starts(input_window_offsets, input_window_sizes, input_window_strides)
    yield placed((), strided(input, starts, input_window_strides, output.sizes))


def window_starts(offsets: Sizes, sizes: Sizes, strides: Sizes) -> list[int]:
    """Return the first element of a window that a stride takes: the last one where it is negative."""
    window = zip(offsets, sizes, strides, strict=True)
    return [offset if stride > 0 else offset + size - 1 for offset, size, stride in window]


def slice_grad(
    input_gradient: Any,
    *,
    input_window_offsets: Sizes,
    input_window_sizes: Sizes,
    input_window_strides: Sizes,
    output_gradient: TensorDesc,
) -> Iterator[Piece]:
    """OutputGradient[start + Stride * c] = InputGradient[c], start as that of SLICE1; 0 elsewhere."""
    strides, counts = input_window_strides, input_gradient.shape
    starts = window_starts(input_window_offsets, input_window_sizes, strides)
    upward = [slice(None, None, 1 if stride > 0 else -1) for stride in strides]
    ends = [start + stride * count for start, stride, count in zip(starts, strides, counts, strict=True)]
    hits = [range(*window)[order] for *window, order in zip(starts, ends, strides, upward, strict=True)]
    return pasted(input_gradient[tuple(upward)], hits, output_gradient.sizes, Fill((input_gradient.dtype.type(0),)))


# ---- tensors in larger ones


class Fill(NamedTuple):
    """What a larger tensor has where a smaller one is not: one of several values, which may be left open."""

    ways: tuple[Any, ...]
    is_open: bool = False


def pasted(x: Any, hits: Sequence[range], sizes: Sizes, fill: Fill) -> Iterator[Piece]:
    """Yield the pieces of a tensor that has the elements of x at some places of each dimension, and others elsewhere.

    The others are, dimension after dimension, those that are at a place of x in all dimensions before, and not in this.
    """
    inside = [slice(at.start, at.stop, at.step) for at in hits]
    yield placed(tuple(inside), x)
    for axis, at in enumerate(hits):
        for beside in left_out(at, sizes[axis]):
            where = (*inside[:axis], beside)
            shape = [len(range(size)[part]) for size, part in zip(sizes, where, strict=False)]
            spread = partial(np.broadcast_to, shape=(*shape, *sizes[axis + 1 :]))
            yield Piece(where, lambda spread=spread: Open(one_of(*fill.ways, of=spread), fill.is_open))


def left_out(at: range, size: int) -> Iterator[slice]:
    """Yield slices of what a range leaves out of a dimension: before, after, and in its steps."""
    yield slice(0, at[0])
    yield slice(at[-1] + 1, size)
    if at.step <= len(at):
        yield from (slice(at[0] + shift, at[-1], at.step) for shift in range(1, at.step))
    else:
        yield from (slice(place + 1, place + at.step) for place in at[:-1])


# ---- copies side by side


def tile(input: Any, *, repeats: Sizes) -> Iterator[Piece]:
    """Output[c] = Input[c mod InputTensor's sizes]."""
    sizes = [size for pair in zip(repeats, input.shape, strict=True) for size in pair]
    for index in tiles_along(range(len(sizes)), tuple(sizes), LIMIT):
        ranges = [range(size)[at] for size, at in zip(sizes, index, strict=True)]
        copies, places = ranges[::2], ranges[1::2]
        where = tuple(
            slice(number[0] * own + at[0], number[-1] * own + at[-1] + 1)
            for number, at, own in zip(copies, places, input.shape, strict=True)
        )
        yield Piece(where, partial(np.tile, reps=[*map(len, copies)]), (input[index[1::2]],), is_exact=True)


LIMIT = 2 * BLOCK  # elements of a piece that is copied twice, first within the cache


# ---- padding


def padding(
    input: Any, *, padding_mode: str, padding_value: Any, start_padding: Sizes, output: TensorDesc
) -> Iterator[Piece]:
    """Output[c] = Input[c - StartPadding], PaddingValue outside, or by PaddingMode an element of InputTensor.

    An integer has PaddingValue without its fraction, and is left open where that does not fit. FLOAT16 has it to the
    nearest or toward 0. REFLECTION outside of a dimension of size 1 is left open.
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
    """Output[c] = Input[c - StartPadding], PaddingValue outside, or by PaddingMode an element of InputTensor.

    REFLECTION outside of a dimension of size 1 is left open.
    """
    return padded(input, padding_mode, start_padding, output.sizes, Fill((input.dtype.type(padding_value),)))


def padded(x: Any, mode: str, starts: Sizes, sizes: Sizes, fill: Fill) -> Iterator[Piece]:
    """Yield the pieces of a tensor that begins with so much padding in each dimension."""
    axes = list(zip(x.shape, starts, sizes, strict=True))
    if mode == "CONSTANT":
        yield from pasted(x, [range(start, start + own) for own, start, _ in axes], sizes, fill)
        return
    for region in product(*(runs(PLACES[mode], *axis) for axis in axes)):
        where, places = zip(*region, strict=True)
        beside = any(own == 1 and not isinstance(at, range) for own, at in zip(x.shape, places, strict=True))
        yield from picked(x, places, where, is_open=beside and mode == "REFLECTION")


def runs(place: Callable[[Any, int], Any], own: int, start: int, size: int) -> Iterator[tuple[slice, Any]]:
    """Yield the runs of a dimension before, in and after a smaller tensor, with the places there of their elements."""
    yield slice(start, start + own), range(own)
    for first, last in ((0, start), (start + own, size)):
        if first < last:
            yield slice(first, last), place(np.arange(first, last) - start, own)


def picked(x: Any, places: Sequence[Any], where: Sequence[slice], *, is_open: bool) -> Iterator[Piece]:
    """Yield the pieces at `where` of an output with the elements x[places[0][c[0]], places[1][c[1]], ...]."""
    for tile in tiles_along(range(x.ndim), tuple(map(len, places)), LIMIT):
        inside = [range(part.start, part.stop)[cut] for part, cut in zip(where, tile, strict=True)]
        own = [at[cut] for at, cut in zip(places, tile, strict=True)]
        index = tuple(slice(at.start, at.stop) for at in inside)
        yield Piece(index, partial(taken, places=own, is_open=is_open), (x,), is_exact=True)


def taken(x: Any, *, places: Sequence[Any], is_open: bool) -> Open:
    """Return x[places[0][c[0]], places[1][c[1]], ...], where ranges are views."""
    x = x[tuple(slice(at.start, at.stop) if isinstance(at, range) else slice(None) for at in places)]
    for axis, at in enumerate(places):
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
    "DEPTH_TO_SPACE": Kernel(depth_to_space, is_exact=True),
    "DEPTH_TO_SPACE1": Kernel(depth_to_space, is_exact=True),
    "JOIN": Kernel(join, is_exact=True),
    "PADDING": Kernel(padding, is_exact=True),
    "PADDING1": Kernel(padding1, is_exact=True),
    "SLICE": Kernel(slice_, is_exact=True),
    "SLICE1": Kernel(slice1, is_exact=True),
    "SLICE_GRAD": Kernel(slice_grad, is_exact=True),
    "SPACE_TO_DEPTH": Kernel(space_to_depth, is_exact=True),
    "SPACE_TO_DEPTH1": Kernel(space_to_depth, is_exact=True),
    "SPLIT": Kernel(split, is_exact=True),
    "TILE": Kernel(tile, is_exact=True),
}
