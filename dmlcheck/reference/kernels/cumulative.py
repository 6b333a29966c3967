"""CUMULATIVE_SUMMATION and CUMULATIVE_PRODUCT."""

from __future__ import annotations

from typing import Any

from dmlcheck.reference.functions.scans import before_each, products_up_to_each, sums_up_to_each
from dmlcheck.reference.rows import Groups, Kernel


def cumulative_summation(
    input: Any, *, axis: int, axis_direction: str, has_exclusive_sum: bool, input_type: str
) -> Any:
    """x1 + ... + xi, without xi where HasExclusiveSum is set; DECREASING begins at the end of Axis.

    Integers wrap.
    """
    is_reversed = axis_direction == "DECREASING"
    sums = sums_up_to_each(input, axis, input_type, is_reversed=is_reversed)
    return before_each(sums, axis, 0, is_reversed=is_reversed) if has_exclusive_sum else sums


def cumulative_product(
    input: Any, *, axis: int, axis_direction: str, has_exclusive_product: bool, input_type: str
) -> Any:
    """x1 * ... * xi, without xi where HasExclusiveProduct is set; DECREASING begins at the end of Axis.

    Integers wrap.
    """
    is_reversed = axis_direction == "DECREASING"
    products = products_up_to_each(input, axis, input_type, is_reversed=is_reversed)
    return before_each(products, axis, 1, is_reversed=is_reversed) if has_exclusive_product else products


LINES = Groups(lambda given: (given["axis"],))

KERNELS: dict[str, Kernel] = {
    "CUMULATIVE_PRODUCT": Kernel(cumulative_product, LINES),
    "CUMULATIVE_SUMMATION": Kernel(cumulative_summation, LINES),
}
