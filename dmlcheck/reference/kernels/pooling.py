"""Pooling of windows and of regions, and max unpooling."""

from __future__ import annotations

import math
from functools import partial
from itertools import product
from operator import add
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference.arrays.data_types import beginning, is_float, limits
from dmlcheck.reference.arrays.grouped import comparable
from dmlcheck.reference.arrays.needs import CHANNELS, REGIONS
from dmlcheck.reference.arrays.places import Places, with_ones_after
from dmlcheck.reference.functions.conversions import difference, quantized_nan, requantized
from dmlcheck.reference.functions.pooled import (
    Corners,
    Parts,
    absolute_norm,
    alternatives_of_signs,
    corners,
    corners_in_32_bits,
    has_plain_powers,
    parts_in_32_bits,
    parts_of,
    rows_and_columns,
)
from dmlcheck.reference.functions.windows import (
    View,
    Window,
    first_place,
    over,
    padded_count,
    seen_count,
    windows,
    without_repeats,
)
from dmlcheck.reference.results import AsMeasured, PartlyUndefined, any_of, stacked
from dmlcheck.reference.rows import NORMS, UNCUT, Cut, Given, Kernel, Spread, Windows, exact_row

Sizes = tuple[int, ...]


# ---- windows


def window_of(given: Given) -> Window:
    """Return the window of a pooling."""
    size = given["window_size"]
    return Window(size, given["strides"], given.get("dilations", (1,) * len(size)), given["start_padding"])


# ---- averages


def divisors(seen: View, end_padding: Sizes, *, include_padding: bool) -> list[Any]:
    """Return the right divisors of an average.

    It is the number of elements inside the tensor; with IncludePadding the size of the window, or the number of its
    elements up to EndPadding.
    """
    if not include_padding:
        return [seen_count(seen.places, seen.window, seen.sizes)]
    ends = tuple(map(add, seen.sizes, end_padding))
    return [float(math.prod(seen.window.size)), padded_count(seen.places, seen.window, ends)]


def average_pooling1(input: Any, *, seen: View, end_padding: Sizes, include_padding: bool) -> Any:
    """The sum of Input[o * Strides + w * Dilations - StartPadding] over w / the number of those inside InputTensor.

    With IncludePadding the divisor is the number of elements of the window, or of those up to EndPadding.
    """
    sums = over(np.add, input, seen)
    counts = divisors(seen, end_padding, include_padding=include_padding)
    return any_of(*(AsMeasured(sums / count, count == 0) for count in counts))


def average_pooling(input: Any, *, seen: View, end_padding: Sizes, include_padding: bool) -> Any:
    """The sum of Input[o * Strides + w - StartPadding] over w / the number of those inside InputTensor.

    With IncludePadding the divisor is the number of elements of the window, or of those up to EndPadding.
    """
    return average_pooling1(input, seen=seen, end_padding=end_padding, include_padding=include_padding)


# ---- norms


def lp_pooling1(input: Any, *, seen: View, p: int) -> Any:
    """(the sum of |Input[o * Strides + w * Dilations - StartPadding]|^P over w)^(1 / P), where padding is 0.

    Of an odd P and a negative element it may be the root of the sum of x^P as well.
    """
    found = absolute_norm(input, seen, p)
    return found if p % 2 == 0 else alternatives_of_signs(found, input, seen, p)


def lp_pooling(input: Any, *, seen: View, p: int) -> Any:
    """(the sum of |Input[o * Strides + w - StartPadding]|^P over w)^(1 / P), where padding is 0."""
    return lp_pooling1(input, seen=seen, p=p)


# ---- maxima


def least(given: Given) -> Any:
    """Return the least number of the tensor's type, which pads it."""
    dtype = given["input"].dtype
    return -np.inf if is_float(given["input"]) else np.iinfo(dtype).min


class Maxima(NamedTuple):
    """The largest element of each window, the elements that were compared, and a mask of those undefined."""

    largest: Any
    compared: Any
    is_open: Any


def maxima(input: Any, seen: View) -> Maxima:
    """Return the largest element of each window; what has NaN, which DirectML leaves out, or none is open."""
    x = comparable(input)
    best = over(np.maximum, x, seen)
    is_open = np.isnan(best)
    if is_open.any():
        x = np.where(np.isnan(x), -np.inf, x)
        best = over(np.maximum, x, seen)
    return Maxima(best, x, is_open | (seen_count(seen.places, seen.window, seen.sizes) == 0))


def largest(found: Maxima, data_type: str) -> AsMeasured:
    """Return the largest elements as DirectML gives them: in FLOAT32 none of these is below the finite numbers."""
    best = np.maximum(found.largest, beginning(data_type))
    return AsMeasured(np.where(found.is_open, best, found.largest), found.is_open)


def max_pooling2(
    input: Any, *, seen: View, places: Places, output: TensorDesc, output_indices: TensorDesc | None
) -> dict[str, Any]:
    """The maximum of Input[o * Strides + w * Dilations - StartPadding] over w, and its index in all of InputTensor.

    Among equal elements the first wins.
    """
    found, rank = maxima(input, seen), len(seen.sizes)
    if output_indices is None:
        return {"output": largest(found, output.data_type)}
    hits = windows(found.compared, seen) == with_ones_after(found.largest, rank)
    planes = np.add.outer(np.asarray(places[0]) * output.sizes[1], np.asarray(places[1])) * math.prod(seen.sizes)
    index = with_ones_after(planes, rank) + first_place(hits, seen, seen.sizes)
    has_none = seen_count(seen.places, seen.window, seen.sizes) == 0
    where = AsMeasured(np.where(has_none, 0, index), found.is_open)
    return {"output": largest(found, output.data_type), "output_indices": where}


def max_pooling1(
    input: Any, *, seen: View, places: Places, output: TensorDesc, output_indices: TensorDesc | None
) -> dict[str, Any]:
    """The maximum of Input[o * Strides + w - StartPadding] over w, and its index in all of InputTensor.

    Among equal elements the first wins.
    """
    return max_pooling2(input, seen=seen, places=places, output=output, output_indices=output_indices)


def max_pooling(input: Any, *, seen: View, output_type: str) -> AsMeasured:
    """The maximum of Input[o * Strides + w - StartPadding] over w."""
    return largest(maxima(input, seen), output_type)


# ---- quantized averages


def zero_point(given: Given) -> Any:
    """Return the zero point of the input, which pads it."""
    return 0 if given["input_zero_point"] is None else given["input_zero_point"]


def of_nan(zero_point: Any, output_type: str) -> float:
    """Return the result for an average that is NaN: the least number, or without a zero point the largest."""
    return limits(output_type)[zero_point is None]


def quantized_extremes(average: Any, scale: Any, zero_point: Any, output_type: str) -> Any:
    """Return averages quantized by a scale, where the quotient may be infinite or NaN."""
    return quantized_nan(average / scale, zero_point, output_type, of_nan(zero_point, output_type)).value


def quantized_linear_average_pooling(
    input: Any,
    input_scale: Any,
    input_zero_point: Any,
    output_scale: Any,
    output_zero_point: Any,
    *,
    seen: View,
    end_padding: Sizes,
    include_padding: bool,
    output_type: str,
) -> Any:
    """The average of (Input[i] - InputZeroPoint) * InputScale, quantized by OutputScale and OutputZeroPoint.

    i is o * Strides + w * Dilations - StartPadding, over all w whose i is inside InputTensor. With IncludePadding the
    divisor is the number of elements of the window. Implementations scale sums of integers or add up scaled numbers.
    """
    whole, total = difference(input, input_zero_point), partial(over, np.add, seen=seen)

    def over_count(count: Any) -> AsMeasured:
        divisor = np.maximum(count, 1)
        ways, scale = (total(whole), lambda: total(whole * input_scale) / divisor), input_scale / divisor
        to = output_scale, output_zero_point, output_type
        found = requantized(*ways, scale, *to, lambda: quantized_extremes(ways[1](), *to))
        return AsMeasured(
            np.where(count == 0, of_nan(output_zero_point, output_type), found.value), found.where | (count == 0)
        )

    return any_of(*map(over_count, divisors(seen, end_padding, include_padding=include_padding)))


# ---- regions


def roi_pooling(input: Any, roi: Any, *, spatial_scale: Any, pooled_size: Any) -> Any:
    """The maximum of Input[batch, c, y, x] over the y and x of each part of a region; a region includes its corners.

    A corner is at round(coordinate * SpatialScale). Part i of n of a region of H rows begins at row floor(i * H / n)
    and ends before row ceil((i + 1) * H / n). Only rows and columns inside InputTensor count.
    """
    return stacked([largest_of_region(input, row, spatial_scale, pooled_size) for row in roi[0, 0]])


def largest_of_region(input: Any, row: Any, scale: Any, pooled_size: Any) -> Any:
    """Return the largest elements of the parts of a region; of an image that does not exist, of the nearest one."""
    image, sizes = float(row[0]), rows_and_columns(pooled_size)
    held = 0 if np.isnan(image) else int(np.clip(np.trunc(image), 0, len(input) - 1))
    found = corners(row[1:], scale)
    if not found:
        measured = largest_within(input[held], corners_in_32_bits(row[1:], scale), sizes, parts_in_32_bits)
        return AsMeasured(measured.value, where=True)
    return AsMeasured(any_of(*(largest_within(input[held], corner, sizes) for corner in found)), held != image)


def largest_within(image: Any, region: Corners, sizes: Sizes, parts: Parts = parts_of) -> AsMeasured:
    """Return the largest elements of the parts of a region of an image."""
    x1, y1, x2, y2 = region
    rows, columns = map(parts, (y1, x1), (y2, x2), sizes, image.shape[1:])
    return AsMeasured(*largest_of_parts(image, rows, columns))


def largest_of_parts(image: Any, rows: list[slice], columns: list[slice]) -> tuple[Any, Any]:
    """Return the largest element of each channel in each part of an image, and a mask of those undefined.

    They are in empty parts, with 0, and in parts with NaN, which DirectML leaves out.
    """
    found = np.zeros((len(image), len(rows), len(columns)), image.dtype)
    is_open = np.zeros(found.shape, bool)
    for (y, row), (x, column) in product(enumerate(rows), enumerate(columns)):
        seen = image[:, row, column]
        is_nan = np.isnan(seen)
        is_open[:, y, x] = is_nan.any(axis=(1, 2)) | (not seen.size)
        if seen.size:
            found[:, y, x] = np.where(is_nan, beginning(image.dtype.name.upper()), seen).max(axis=(1, 2))
    return found, is_open


# ---- max unpooling


def max_unpooling(input: Any, indices: Any, *, output: TensorDesc) -> PartlyUndefined:
    """Output[Indices[j]] = Input[j], counted through all of OutputTensor, and 0 everywhere else.

    DirectML leaves out what is outside.
    """
    size = math.prod(output.sizes)
    is_inside = indices.ravel() < size
    own = slice(None) if is_inside.all() else is_inside
    places, values = indices.ravel()[own].astype(np.intp), input.ravel()[own]
    found, is_undefined = np.zeros(size, input.dtype), np.zeros(size, bool)
    found[places] = values
    is_other = (found[places] != values) & ~(np.isnan(found[places]) & np.isnan(values))
    is_undefined[places[is_other]] = True
    measured = AsMeasured(found.reshape(output.sizes), own is is_inside)
    return PartlyUndefined(measured, is_undefined.reshape(output.sizes))


POOLED = Windows(window_of)
POWERS = Windows(window_of, is_reduced=has_plain_powers)
LARGEST = Windows(
    lambda given: without_repeats(window_of(given)), least, lambda given: given.get("output_indices") is None
)
POOLED_REGIONS = Cut((0, 1), {"input": CHANNELS, "roi": REGIONS})

KERNELS: dict[str, Kernel] = {
    "AVERAGE_POOLING": Kernel(average_pooling, POOLED, spread=Spread()),
    "AVERAGE_POOLING1": Kernel(average_pooling1, POOLED, spread=Spread()),
    "LP_POOLING": Kernel(lp_pooling, POWERS, spread=Spread(NORMS)),
    "LP_POOLING1": Kernel(lp_pooling1, POWERS, spread=Spread(NORMS)),
    "MAX_POOLING": exact_row(max_pooling, LARGEST, spread=Spread()),
    "MAX_POOLING1": exact_row(max_pooling1, LARGEST, spread=Spread()),
    "MAX_POOLING2": exact_row(max_pooling2, LARGEST, spread=Spread()),
    "MAX_UNPOOLING": exact_row(max_unpooling, UNCUT, spread=Spread(places=("indices",))),
    "QUANTIZED_LINEAR_AVERAGE_POOLING": Kernel(quantized_linear_average_pooling, Windows(window_of, zero_point)),
    "ROI_POOLING": exact_row(roi_pooling, POOLED_REGIONS, spread=Spread(places=("roi",))),
}
