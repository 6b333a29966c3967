"""UNFOLD, which makes a column of the elements of each window, and FOLD, which adds up columns in their windows."""

from __future__ import annotations

from typing import Any

from dmlcheck.reference.arrays.data_types import sum_of_terms
from dmlcheck.reference.arrays.needs import BATCHES
from dmlcheck.reference.arrays.places import Places
from dmlcheck.reference.functions.phases import depth_of, layers_at, place_count
from dmlcheck.reference.functions.windows import Window, part, view, windows
from dmlcheck.reference.limits.work import BLOCKS_OF_LAYERS
from dmlcheck.reference.results import AsMeasured, PartlyUndefined
from dmlcheck.reference.rows import Cut, Given, Kernel, Spread, exact_row

Sizes = tuple[int, ...]


def unfold(
    input: Any,
    *,
    window_sizes: Sizes,
    strides: Sizes,
    dilations: Sizes,
    start_padding: Sizes,
    end_padding: Sizes,
    input_type: str,
    output_type: str,
) -> PartlyUndefined:
    """Output[n, c * P + w, b] = Input[n, c, b * Strides + w * Dilations - StartPadding], 0 outside InputTensor.

    w is an element of the window and b a position of the window, both counted in row-major order. P is the number of
    elements of the window.
    """
    window = Window(window_sizes, strides, dilations, start_padding)
    spatial = input.shape[2:]
    counts = map(place_count, spatial, *window, end_padding)
    seen = view([slice(0, count) for count in counts], window, spatial, is_whole=True)
    columns, rank = windows(part(input, seen), seen), len(spatial)
    order = [0, 1, *range(2 + rank, 2 + 2 * rank), *range(2, 2 + rank)]
    return PartlyUndefined(AsMeasured(columns.transpose(order), 0 in dilations), input_type != output_type)


def fold(input: list[Any], *, dilations: Sizes, input_type: str, output_type: str) -> PartlyUndefined:
    """Output[n, c, i] = sum of Input[n, c * P + w, b] over w, b with i = b * Strides + w * Dilations - StartPadding.

    w is an element of the window and b a position of the window, both counted in row-major order. P is the number of
    elements of the window.
    """
    found = AsMeasured(0 * input[0], where=True) if 0 in dilations else sum_of_terms(input, output_type)
    return PartlyUndefined(found, input_type != output_type)


def window_of(given: Given) -> Window:
    """Return the window of a desc."""
    return Window(given["window_sizes"], given["strides"], given["dilations"], given["start_padding"])


def terms_of_fold(x: Any, places: Places, given: Given) -> list[Any]:
    """Return the tensors whose sum is the result of a tile."""
    window, sizes = window_of(given), given["output"].sizes
    counts = tuple(map(place_count, sizes[2:], *window, given["end_padding"]))
    return layers_at(x.reshape(*sizes[:2], *window.size, *counts), places, window, counts)


def depth(given: Given) -> int:
    """Return the most elements that are added up in one result."""
    return depth_of(window_of(given))


FOLDED = Cut(needs={"input": terms_of_fold}, blocks=BLOCKS_OF_LAYERS, depth=depth)

KERNELS: dict[str, Kernel] = {
    "FOLD": Kernel(fold, FOLDED, is_exact=lambda given: depth(given) == 1, spread=Spread()),
    "UNFOLD": exact_row(unfold, Cut((0,), {"input": BATCHES}), spread=Spread()),
}
