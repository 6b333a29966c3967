"""Pooling of the elements under a window, of regions, and back to the places of the largest."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import product, starmap
from operator import add
from typing import Any

import numpy as np

from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference.ball.numbers import Ball, centred, hull, radius, raw
from dmlcheck.reference.grouped import comparable
from dmlcheck.reference.pieces import Alternatives, Open, any_of, is_float, limits
from dmlcheck.reference.places import Index, with_ones_after
from dmlcheck.reference.quantization import difference, requantized
from dmlcheck.reference.rows import Kernel, exact_row
from dmlcheck.reference.tiling.blocks import BLOCK, Blocks, blockwise, runs, tiles
from dmlcheck.reference.tiling.piece import Piece, exact_piece
from dmlcheck.reference.windows import (
    LARGE,
    View,
    Window,
    first_place,
    in_blocks,
    once_each,
    over,
    padded_count,
    seen_count,
    terms_of,
    views,
    windows,
)
from dmlcheck.reference.work import Work, terms
from dmlcheck.values.number_formats import FORMATS

Sizes = tuple[int, ...]


# ---- windows


def pools(
    formula: Callable[..., Any], input: Any, window: Window, sizes: Sizes, *, is_reduced: bool = True
) -> Iterator[Piece]:
    """Yield the pieces of an operator that computes something of what a window sees, and of its places.

    A formula that `is_reduced` only reduces what the window sees.
    """
    for index, seen, x in views(input, window, sizes, is_reduced=is_reduced):
        yield Piece(index, partial(formula, seen=seen), (in_blocks(x, seen),))


def work_of_windows(given: Mapping[str, Any]) -> Work:
    """Return the work of what windows see, one element after another where it is not only reduced."""
    size = given["window_size"]
    window = Window(size, given["strides"], given.get("dilations", (1,) * len(size)), given["start_padding"])
    is_reduced = given.get("output_indices") is None and given.get("p", 0) <= _MOST_PLAIN
    once = window if "output_indices" not in given else once_each(window)
    return terms(terms_of(given["output"].sizes, once, given["input"].shape[2:], is_reduced=is_reduced))


# ---- averages


def divisors(seen: View, *, sizes: Sizes, ends: Sizes, include_padding: bool) -> list[tuple[Any, Any]]:
    """Return the number of elements seen, or with IncludePadding those of the window, and where an average is open.

    Of a window that reaches beyond EndPadding, only the elements up to there may count as well.
    """
    if not include_padding:
        count = seen_count(seen.places, seen.window, sizes)
        return [(np.maximum(count, 1), count == 0)]
    count = padded_count(seen.places, seen.window, ends)
    return [(float(math.prod(seen.window.size)), False), (np.maximum(count, 1), count == 0)]


def average(x: Any, *, seen: View, **of: Any) -> Any:
    """The sum of the elements / their number, or with IncludePadding the number of elements of the window."""
    sums = over(np.add, x, seen)
    return any_of(*(Open(sums / count, is_open) for count, is_open in divisors(seen, **of)))


def average_pooling1(
    input: Any,
    *,
    strides: Sizes,
    window_size: Sizes,
    start_padding: Sizes,
    end_padding: Sizes,
    dilations: Sizes,
    include_padding: bool,
    output: TensorDesc,
) -> Iterator[Piece]:
    """The sum of Input[o * Strides + w * Dilations - StartPadding] over w / the number of those inside InputTensor.

    With IncludePadding the divisor is the number of elements of the window, or of those up to EndPadding.
    """
    window = Window(window_size, strides, dilations, start_padding)
    sizes = input.shape[2:]
    ends = tuple(map(add, sizes, end_padding))
    formula = partial(average, sizes=sizes, ends=ends, include_padding=include_padding)
    return pools(formula, input, window, output.sizes)


def average_pooling(
    input: Any,
    *,
    strides: Sizes,
    window_size: Sizes,
    start_padding: Sizes,
    end_padding: Sizes,
    include_padding: bool,
    output: TensorDesc,
) -> Iterator[Piece]:
    """The sum of Input[o * Strides + w - StartPadding] over w / the number of those inside InputTensor.

    With IncludePadding the divisor is the number of elements of the window, or of those up to EndPadding.
    """
    return average_pooling1(
        input,
        strides=strides,
        window_size=window_size,
        start_padding=start_padding,
        end_padding=end_padding,
        dilations=(1,) * len(strides),
        include_padding=include_padding,
        output=output,
    )


# ---- norms


def norm(x: Any, *, seen: View, p: int) -> Any:
    """(the sum of |x|^P)^(1 / P); of an odd P and a negative element it may be the root of the sum of x^P as well."""
    found = absolute_norm(x, seen, p)
    if p % 2 == 0 or not np.any(over(np.logical_or, blockwise(lambda part: raw(part) < 0, x), seen)):
        return found
    return Alternatives((found, *signed_norms(x, seen, p)))


def absolute_norm(x: Any, seen: View, p: int) -> Any:
    """(the sum of |x|^P)^(1 / P)."""
    if p == 1:
        return over(np.add, np.abs(x), seen)
    if p == 2:
        return np.sqrt(over(np.add, np.square(x), seen))
    size = np.abs(x)
    if p <= _MOST_PLAIN:
        return plain_norm(size, seen, p)
    low = partial(np.minimum, size, 2.0 ** (480 / p))  # so that float64 has its powers, and the squares of these
    found = scaled_norm(size, seen, p)
    return hull(lambda: found, lambda: centred(plain_norm(low(), seen, p), found))


_MOST_PLAIN = 6  # float64 has the 6th power of every FLOAT32 number, and the sum of as many as a tensor has


def plain_norm(size: Any, seen: View, p: int) -> Any:
    """Return the norm of elements that have this size, as an implementation computes it."""
    return np.power(over(np.add, np.power(size, p), seen), 1 / p)


def scaled_norm(size: Any, seen: View, p: int) -> Any:
    """Return the norm as m * (the sum of (|x| / m)^P)^(1 / P), m the largest |x|: no power overflows or vanishes."""
    unit, sums = scaled_sums(size, seen, p)
    found = unit * np.power(sums, 1 / p)
    return found.reshape(found.shape[: size.ndim])


def scaled_sums(x: Any, seen: View, p: int) -> tuple[Any, Any]:
    """Return m, the largest |x| that the window sees at each place, and the sum of (x / m)^P."""
    under: Any = x if isinstance(x, Blocks) else windows(x, seen)
    axes = tuple(range(under.ndim - len(seen.places), under.ndim))
    most = raw(np.maximum.reduce(np.abs(under), axis=axes, keepdims=True))
    unit = np.clip(most, *_UNITS)
    parts = blockwise(partial(exactly, lambda part: part / unit), under)
    sums = np.add.reduce(np.power(parts, p), axis=axes, keepdims=True)
    return unit, sums if seen.repeats == 1 else sums * float(seen.repeats)


def signed_norms(x: Any, seen: View, p: int) -> list[Any]:
    """Return (the sum of x^P)^(1 / P) of an odd P, and with NaN for the root of a negative sum, as powers have it."""
    if p == 1:
        return [over(np.add, x, seen)]
    unit, sums = scaled_sums(x, seen, p)
    shape = unit.shape[: x.ndim]
    unit, sums = unit.reshape(shape), sums.reshape(shape)
    root = unit * (np.sign(sums) * np.power(np.abs(sums), 1 / p))
    return [root, np.where(raw(sums) < radius(sums), np.nan, root)]


_UNITS = np.finfo(np.float32).smallest_subnormal, limits("FLOAT32")[1]  # what 0 and infinity can be divided by


def exactly(change: Callable[[Any], Any], x: Any) -> Any:
    """Return a linear function of elements, to which an implementation's roundings add nothing."""
    return x.moved(change) if isinstance(x, Ball) else change(x)


def lp_pooling1(
    input: Any,
    *,
    strides: Sizes,
    window_size: Sizes,
    start_padding: Sizes,
    dilations: Sizes,
    p: int,
    output: TensorDesc,
) -> Iterator[Piece]:
    """(the sum of |Input[o * Strides + w * Dilations - StartPadding]|^P over w)^(1 / P), where padding is 0."""
    window = Window(window_size, strides, dilations, start_padding)
    return pools(partial(norm, p=p), input, window, output.sizes, is_reduced=p <= _MOST_PLAIN)


def lp_pooling(
    input: Any, *, strides: Sizes, window_size: Sizes, start_padding: Sizes, p: int, output: TensorDesc
) -> Iterator[Piece]:
    """(the sum of |Input[o * Strides + w - StartPadding]|^P over w)^(1 / P), where padding is 0."""
    window = Window(window_size, strides, (1,) * len(strides), start_padding)
    return pools(partial(norm, p=p), input, window, output.sizes, is_reduced=p <= _MOST_PLAIN)


# ---- maxima


def largest(x: Any, *, seen: View, sizes: Sizes) -> Open:
    """The largest element; left open are windows that see nothing, or a NaN."""
    found = over(np.maximum, comparable(x), seen)
    return Open(found, (seen_count(seen.places, seen.window, sizes) == 0) | np.isnan(found))


def with_index(x: Any, *, seen: View, sizes: Sizes, base: Any) -> dict[str, Any]:
    """The largest element, and where it is in the whole input; of equal ones the first."""
    best, is_open = largest(x, seen=seen, sizes=sizes)
    hits = windows(comparable(x), seen) == with_ones_after(best, len(sizes))
    index = base + first_place(hits, seen, sizes)
    return {"output": Open(best, is_open), "output_indices": Open(index, is_open)}


def max_pooling2(
    input: Any,
    *,
    strides: Sizes,
    window_size: Sizes,
    start_padding: Sizes,
    dilations: Sizes,
    output: TensorDesc,
    output_indices: TensorDesc | None,
) -> Iterator[Piece]:
    """The maximum of Input[o * Strides + w * Dilations - StartPadding] over w, and its index in all of InputTensor.

    Among equal elements the first wins.
    """
    window, sizes = once_each(Window(window_size, strides, dilations, start_padding)), input.shape[2:]
    least = -np.inf if is_float(input) else np.iinfo(input.dtype).min
    planes = np.arange(math.prod(input.shape[:2])).reshape(*input.shape[:2], *[1] * len(sizes)) * math.prod(sizes)
    for index, seen, x in views(input, window, output.sizes, least, is_reduced=output_indices is None):
        if output_indices is None:
            yield exact_piece(index, partial(largest, seen=seen, sizes=sizes), (x,))
        else:
            where = dict.fromkeys(("output", "output_indices"), index)
            yield exact_piece(where, partial(with_index, seen=seen, sizes=sizes, base=planes[index[:2]]), (x,))


def max_pooling1(
    input: Any,
    *,
    strides: Sizes,
    window_size: Sizes,
    start_padding: Sizes,
    output: TensorDesc,
    output_indices: TensorDesc | None,
) -> Iterator[Piece]:
    """The maximum of Input[o * Strides + w - StartPadding] over w, and its index in all of InputTensor.

    Among equal elements the first wins.
    """
    return max_pooling2(
        input,
        strides=strides,
        window_size=window_size,
        start_padding=start_padding,
        dilations=(1,) * len(strides),
        output=output,
        output_indices=output_indices,
    )


def max_pooling(
    input: Any, *, strides: Sizes, window_size: Sizes, start_padding: Sizes, output: TensorDesc
) -> Iterator[Piece]:
    """The maximum of Input[o * Strides + w - StartPadding] over w."""
    return max_pooling1(
        input,
        strides=strides,
        window_size=window_size,
        start_padding=start_padding,
        output=output,
        output_indices=None,
    )


# ---- quantized averages


def quantized_average(
    x: Any,
    zero: Any,
    scale: Any,
    output_scale: Any,
    zero_point: Any,
    *,
    seen: View,
    output_type: str,
    **of: Any,
) -> Any:
    """The average of (x - zero) * Scale, quantized; implementations scale sums of integers or add up scaled numbers."""
    total = partial(over, np.add, seen=seen)
    whole = difference(x, zero)

    def over_count(count: Any, is_open: Any) -> Open:
        ways = total(whole), lambda: total(whole * scale) / count
        return Open(requantized(*ways, scale / count, output_scale, zero_point, output_type), is_open)

    return any_of(*starmap(over_count, divisors(seen, **of)))


def quantized_linear_average_pooling(
    input: Any,
    input_scale: Any,
    input_zero_point: Any,
    output_scale: Any,
    output_zero_point: Any,
    *,
    strides: Sizes,
    window_size: Sizes,
    start_padding: Sizes,
    end_padding: Sizes,
    dilations: Sizes,
    include_padding: bool,
    output: TensorDesc,
    output_type: str,
) -> Iterator[Piece]:
    """The average of (Input[i] - InputZeroPoint) * InputScale, quantized by OutputScale and OutputZeroPoint.

    i is o * Strides + w * Dilations - StartPadding, over all w whose i is inside InputTensor. With IncludePadding the
    divisor is the number of elements of the window.
    """
    window, sizes = Window(window_size, strides, dilations, start_padding), input.shape[2:]
    ends = tuple(map(add, sizes, end_padding))
    given = (input_zero_point, input_scale, output_scale, output_zero_point)
    numbers = [of_channels(x, input.ndim) for x in given]
    fill = 0 if numbers[0] is None else numbers[0]
    options = {"sizes": sizes, "ends": ends, "include_padding": include_padding, "output_type": output_type}
    for index, seen, x in views(input, window, output.sizes, fill, is_reduced=True):
        own = (each if each is None or each.size == 1 else each[:, index[1]] for each in numbers)
        yield Piece(index, partial(quantized_average, seen=seen, **options), (in_blocks(x, seen), *own))


def of_channels(x: Any, rank: int) -> Any:
    """Return one element, or one for each channel, in as many dimensions as the input has; None stays None."""
    return x if x is None else x.reshape(1, x.size, *[1] * (rank - 2))


# ---- regions


def roi_pooling(input: Any, roi: Any, *, spatial_scale: Any, pooled_size: Any) -> Iterator[Piece]:
    """The maximum of Input[batch, c, y, x] over the y and x of each part of a region, whose corners are both inside.

    A corner is at round(coordinate * SpatialScale). Part i of n of a region of H rows begins at row floor(i * H / n)
    and ends before row ceil((i + 1) * H / n); only rows and columns inside InputTensor count.
    """
    for number, row in enumerate(roi[0, 0]):
        (x1, y1, x2, y2), in_doubt = rounded(row[1:], raw(spatial_scale))
        image = float(row[0])
        is_known = image.is_integer() and 0 <= image < len(input)
        rows = parts_of(y1, y2, pooled_size.Height, input.shape[2])
        columns = parts_of(x1, x2, pooled_size.Width, input.shape[3])
        formula = partial(largest_of_parts, rows=rows, columns=columns, is_open=in_doubt or not is_known)
        yield exact_piece(number, formula, (input[int(image) if is_known else 0],))


def rounded(coordinates: Any, scale: Any) -> tuple[list[int], bool]:
    """Return coordinates times a scale as whole numbers, and whether the rounding of a product may decide one."""
    of = FORMATS[coordinates.dtype.name.upper()]
    with np.errstate(all="ignore"):
        held = float(np.asarray(scale).astype(coordinates.dtype))
        wide = coordinates.astype(float)
        scaled = wide * scale
        is_exact = (scaled.astype(coordinates.dtype) == scaled) & (held == scale)
        reach = np.where(is_exact, 0, wide * (abs(scale) * of.unit_roundoff + abs(held - scale)))
        in_doubt = (np.rint(scaled - reach) != np.rint(scaled + reach)) | (scaled - np.floor(scaled) == 0.5)
    return [int(x) for x in np.rint(np.nan_to_num(scaled))], bool((in_doubt | ~np.isfinite(scaled)).any())


def parts_of(first: int, last: int, count: int, size: int) -> list[slice]:
    """Return the parts that a range with both of its ends is cut into, as far as they are from 0 to below a size."""
    length = last - first + 1
    ends = ((first + at * length // count, first - -(at + 1) * length // count) for at in range(count))
    return [slice(*(min(max(end, 0), size) for end in (start, stop))) for start, stop in ends]


def largest_of_parts(image: Any, *, rows: list[slice], columns: list[slice], is_open: bool) -> Open:
    """The largest element of each channel in every part of an image; 0, which is left open, where there is none."""
    found = np.zeros((len(image), len(rows), len(columns)), image.dtype)
    is_empty = np.zeros(found.shape[1:], bool)
    for (y, row), (x, column) in product(enumerate(rows), enumerate(columns)):
        seen = image[:, row, column]
        is_empty[y, x] = not seen.size
        if seen.size:
            found[:, y, x] = seen.max(axis=(1, 2))
    return Open(found, is_empty | np.isnan(found) | is_open)


# ---- maxima in their places


def max_unpooling(input: Any, indices: Any, *, output: TensorDesc) -> Iterator[Piece]:
    """Output[Indices[j]] = Input[j], counted through all of OutputTensor, and 0 everywhere else."""
    given = [(index, int(indices[index].min()), int(indices[index].max())) for index in tiles(input.shape, BLOCK)]
    is_lost = any(most >= math.prod(output.sizes) for _, _, most in given)
    for where, start, sizes in runs(output.sizes, LARGE):
        stop = start + math.prod(sizes)
        own = [index for index, least, most in given if least < stop and most >= start]
        formula = partial(unpooled, parts=own, start=start, sizes=sizes, is_lost=is_lost)
        yield exact_piece(where, formula, (input, indices))


def unpooled(x: Any, indices: Any, *, parts: list[Index], start: int, sizes: Sizes, is_lost: bool) -> Open:
    """The elements of some parts of x at their indices in a part of a tensor of 0, which begins at `start`."""
    found, is_open = np.zeros(math.prod(sizes), x.dtype), np.full(math.prod(sizes), is_lost)

    def placed() -> Iterator[tuple[Any, Any]]:
        for index in parts:
            inside = (indices[index] >= start) & (indices[index] - start < found.size)
            yield (indices[index][inside] - start).astype(np.intp), x[index][inside]

    for places, values in placed():
        found[places] = values
    for places, values in placed():
        is_other = (found[places] != values) & ~(np.isnan(found[places]) & np.isnan(values))
        is_open[places[is_other]] = True
    return Open(found.reshape(sizes), is_open.reshape(sizes))


KERNELS: dict[str, Kernel] = {
    "AVERAGE_POOLING": Kernel(average_pooling, work=work_of_windows),
    "AVERAGE_POOLING1": Kernel(average_pooling1, work=work_of_windows),
    "LP_POOLING": Kernel(lp_pooling, work=work_of_windows),
    "LP_POOLING1": Kernel(lp_pooling1, work=work_of_windows),
    "MAX_POOLING": exact_row(max_pooling, work=work_of_windows),
    "MAX_POOLING1": exact_row(max_pooling1, work=work_of_windows),
    "MAX_POOLING2": exact_row(max_pooling2, work=work_of_windows),
    "MAX_UNPOOLING": exact_row(max_unpooling),
    "QUANTIZED_LINEAR_AVERAGE_POOLING": Kernel(quantized_linear_average_pooling, work=work_of_windows),
    "ROI_POOLING": exact_row(roi_pooling),
}
