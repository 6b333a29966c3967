"""Size formulas that are too long for a row of a spec; rows name them in their expressions.

Each takes sizes and fields as tuples of whole numbers and returns a tuple of sizes, or None where no sizes would do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

Sizes = tuple[int, ...]


def window_count(size: int, window: int, stride: int, start: int, end: int, dilation: int = 1) -> int | None:
    """Return at how many places a window stands on a padded dimension: (padded - span) // stride + 1."""
    span = (window - 1) * dilation + 1
    padded = size + start + end
    return (padded - span) // stride + 1 if stride > 0 and 0 < span <= padded else None


def pooled(
    sizes: Sequence[int],
    window: Sequence[int],
    strides: Sequence[int],
    start: Sequence[int],
    end: Sequence[int],
    dilations: Sequence[int] | None = None,
) -> Sizes | None:
    """Return the spatial sizes that pooling, or a forward convolution, leaves of the last dimensions of `sizes`."""
    spatial = sizes[len(sizes) - len(window) :]
    steps = dilations if dilations is not None else [1] * len(window)
    if not len(spatial) == len(window) == len(strides) == len(start) == len(end) == len(steps):
        return None
    counts = [window_count(*given) for given in zip(spatial, window, strides, start, end, steps, strict=True)]
    return None if None in counts else tuple(count for count in counts if count is not None)


def pooled_like(output: Sequence[int], sizes: Sequence[int], *given: Any) -> Sizes | None:
    """Return the spatial sizes of a pooling's output, rounded up if the given output's are and there is a remainder.

    As in ONNX, the last window begins inside the input or its start padding.
    """
    counts = pooled(sizes, *given)
    if counts is None or len(output) < len(counts):
        return counts
    window, strides, start, end, *more = given
    rests = zip(
        counts,
        output[-len(counts) :],
        sizes[-len(counts) :],
        window,
        strides,
        start,
        end,
        *more or [[1] * len(window)],
        strict=True,
    )
    return tuple(count + (wanted == count + 1 and _has_rest(count, *of)) for count, wanted, *of in rests)


def _has_rest(count: int, size: int, window: int, stride: int, start: int, end: int, dilation: int) -> bool:
    """Return whether elements are left behind the last of some windows, of which another would not only see padding."""
    is_whole = (size + start + end - (window - 1) * dilation - 1) % stride == 0
    return not is_whole and count * stride < size + start


def transposed(
    sizes: Sequence[int],
    window: Sequence[int],
    strides: Sequence[int],
    start: Sequence[int],
    end: Sequence[int],
    dilations: Sequence[int],
    output: Sequence[int],
) -> Sizes | None:
    """Return the spatial sizes that a backward convolution makes of the last dimensions of `sizes`."""
    spatial = sizes[len(sizes) - len(window) :]
    if not len(spatial) == len(window) == len(strides) == len(start) == len(end) == len(dilations) == len(output):
        return None
    made = tuple(
        (size - 1) * stride + (width - 1) * dilation + 1 + more - before - after
        for size, width, stride, before, after, dilation, more in zip(
            spatial, window, strides, start, end, dilations, output, strict=True
        )
    )
    return made if all(size > 0 for size in made) else None


def right_aligned(sizes: Sequence[int], rank: int) -> Sizes | None:
    """Return sizes in `rank` dimensions: with 1 before them, or without leading ones that do not fit."""
    surplus = len(sizes) - rank
    if surplus > 0:
        return tuple(sizes[surplus:]) if all(size == 1 for size in sizes[:surplus]) else None
    return (1,) * -surplus + tuple(sizes)


def without_leading_ones(sizes: Sequence[int]) -> Sizes:
    """Return sizes from the first one that is not 1 on."""
    return tuple(sizes[next((axis for axis, size in enumerate(sizes) if size != 1), len(sizes)) :])


def gathered(sizes: Sequence[int], indices: Sequence[int], axis: int, index_dimensions: int, rank: int) -> Sizes | None:
    """Return GATHER's output: the axis of the input replaced by the last dimensions of the indices."""
    if not 0 <= axis < len(sizes) or not 0 <= index_dimensions <= len(indices):
        return None
    taken = tuple(indices[len(indices) - index_dimensions :])
    return right_aligned((*sizes[:axis], *taken, *sizes[axis + 1 :]), rank)


def gathered_nd(
    sizes: Sequence[int],
    indices: Sequence[int],
    input_dimensions: int,
    indices_dimensions: int,
    rank: int,
    batch_dimensions: int = 0,
) -> Sizes | None:
    """Return the sizes of GATHER_ND's output: the dimensions of the tuples, then the input's after a tuple's."""
    if not 1 <= input_dimensions <= len(sizes) or not 1 <= indices_dimensions <= len(indices):
        return None
    source = sizes[len(sizes) - input_dimensions :]
    tuples = indices[len(indices) - indices_dimensions :]
    left = batch_dimensions + tuples[-1]
    return right_aligned((*tuples[:-1], *source[left:]), rank) if left <= input_dimensions else None


def broadcast(*shapes: Sequence[int]) -> Sizes | None:
    """Return the sizes that shapes have in common once dimensions of size 1 are repeated."""
    rank = max(map(len, shapes), default=0)
    common = []
    for column in zip(*[(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes], strict=True):
        wide = {size for size in column if size != 1}
        if len(wide) > 1:
            return None
        common.append(wide.pop() if wide else 1)
    return tuple(common)


SHAPES: dict[str, Callable[..., object]] = {
    "broadcast": broadcast,
    "gathered": gathered,
    "gathered_nd": gathered_nd,
    "pooled": pooled,
    "pooled_like": pooled_like,
    "prod": math.prod,
    "right_aligned": right_aligned,
    "transposed": transposed,
    "window_count": window_count,
    "without_leading_ones": without_leading_ones,
}
