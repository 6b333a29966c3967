"""The parts of each tensor that a tile needs: all of it, some places, lines, or what indices and regions name.

A row of a kernel's table names these functions as its `needs`: each takes the tensor, the places of the tile in the
output, and the tensors and attributes of the desc.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import accumulate
from typing import Any

import numpy as np

from dmlcheck.reference.arrays.grouped import AXES_OF_BLOCKS, split_channels
from dmlcheck.reference.arrays.places import Places, right_aligned, row_major, slices, whole_along
from dmlcheck.reference.rows import Axes, Given, Need


def WHOLE(x: Any, places: Places, given: Given) -> Any:  # noqa: ARG001, N802 - a constant among functions
    """Return all of a tensor."""
    return x


def LINES(x: Any, places: Places, given: Given) -> Any:  # noqa: N802 - a constant among functions
    """Return the places of the tile along all axes but Axis, and all of Axis."""
    return x[whole_along(given["axis"], slices(places))]


def taken(axis: int, of: int) -> Need:
    """Return the need of the places along an axis `of` the output, on an axis of the tensor; all along its others."""
    return lambda x, places, _: x[(*[slice(None)] * axis, slices(places)[of])]


BATCHES = taken(0, of=0)
CHANNELS = taken(1, of=1)
REGIONS = taken(2, of=0)  # one for each batch of the output


# ---- joined tensors, and channels in blocks


def joined_parts(inputs: Sequence[Any], places: Places, given: Given) -> list[Any]:
    """Return the parts of the joined tensors at some places of the output."""
    axis, index = given["axis"], slices(places)
    starts = accumulate((part.shape[axis] for part in inputs), initial=0)
    own = [
        (x, range(x.shape[axis])[max(0, places[axis].start - start) : max(0, places[axis].stop - start)])
        for x, start in zip(inputs, starts, strict=False)
    ]
    return [x[(*index[:axis], slice(at.start, at.stop), *index[axis + 1 :])] for x, at in own if at]


def channels_in_blocks(x: Any, places: Places, given: Given) -> Any:
    """Return the channels of the input that a tile of the output needs."""
    order, (batch, depth, *_) = given.get("order", "DEPTH_COLUMN_ROW"), slices(places)
    found = split_channels(x[batch], given["block_size"], order)
    part = found[(*[slice(None)] * AXES_OF_BLOCKS[order][2], depth)]
    return part.reshape(len(part), -1, *x.shape[2:])


def rows_in_blocks(x: Any, places: Places, given: Given) -> Any:
    """Return the rows of the input that a tile of the output needs."""
    rows = slice(places[2].start * given["block_size"], places[2].stop * given["block_size"])
    return x[slices(places)[0], :, rows]


# ---- indices


def lines_of_gather(x: Any, places: Places, given: Given) -> Any:
    """Return the part of the input that a tile needs: all along Axis, and the places of the tile elsewhere."""
    axis, count = given["axis"], given["index_dimensions"]
    index = right_aligned(slices(places), x.ndim - 1 + count)
    return x[(*index[:axis], slice(None), *index[axis + count :])]


def indices_of_gather(indices: Any, places: Places, given: Given) -> Any:
    """Return the indices of a tile of the output."""
    axis, count = given["axis"], given["index_dimensions"]
    index = right_aligned(slices(places), given["input"].ndim - 1 + count)
    return indices[right_aligned(index[axis : axis + count], indices.ndim)]


def parts_of_gather_nd(x: Any, places: Places, given: Given) -> Any:
    """Return the part of the input that a tile needs: all of the tuples' axes, the places of the tile elsewhere."""
    batches, width, count = _of_tuples(given)
    rank = given["input_dimension_count"]
    index = right_aligned(slices(places), count + rank - batches - width)
    return x[right_aligned((*index[:batches], *[slice(None)] * width, *index[count:]), x.ndim)]


def tuples_of_gather_nd(indices: Any, places: Places, given: Given) -> Any:
    """Return the tuples of a tile of the output."""
    batches, width, count = _of_tuples(given)
    index = right_aligned(slices(places), count + given["input_dimension_count"] - batches - width)
    return indices[right_aligned((*index[:count], slice(None)), indices.ndim)]


def _of_tuples(given: Given) -> tuple[int, int, int]:
    """Return the numbers of batch dimensions, of indices in a tuple, and of dimensions of the tuples."""
    return (
        given.get("batch_dimension_count", 0),
        given["indices"].shape[-1],
        given["indices_dimension_count"] - 1,
    )


def updates_after_tuples(updates: Any, places: Places, given: Given) -> Any:
    """Return the updates of a tile: for each tuple, the places of the tile along the axes after the tuple's."""
    after = axes_after_tuples(given)
    tuples = given["indices"].shape[-given["indices_dimension_count"] : -1]
    blocks = updates.reshape((*tuples, *given["input"].shape[given["input"].ndim - len(after) :]))
    return blocks[right_aligned(tuple(slices(places)[axis] for axis in after), blocks.ndim)]


def axes_after_tuples(given: Given) -> Axes:
    """Return the axes of the input after the tuples' axes."""
    rank, count = given["input"].ndim, given["input_dimension_count"]
    return tuple(range(rank - count + given["indices"].shape[-1], rank))


def axes_but_axis(given: Given) -> Axes:
    """Return all axes of the input but Axis."""
    return tuple(axis for axis in range(given["input"].ndim) if axis != given["axis"])


# ---- blocks of quantization


def repeated(tensors: Sequence[Any], places: Places, given: Given) -> list[Any]:
    """Return scales or zero points at some places of the input, each element repeated over its block."""
    sizes = given["input"].shape
    return [
        reduce(lambda part, axis: _repeated_along(part, axis, places[axis], sizes[axis]), range(x.ndim), x)
        for x in tensors
    ]


def _repeated_along(x: Any, axis: int, at: range, size: int) -> Any:
    own = x.shape[axis]
    index = slice(at.start, at.stop) if own == size else np.arange(at.start, at.stop) * own // size
    return x[(*[slice(None)] * axis, index)]


# ---- numbers of places


def row_major_index(_: Any, places: Places, given: Given) -> Any:
    """Return the row-major index of each element at some places, in the type of ValueDelta."""
    dtype = np.uint64 if isinstance(given["value_delta"], int) else np.float64
    return row_major(places, given["output"].sizes, dtype)
