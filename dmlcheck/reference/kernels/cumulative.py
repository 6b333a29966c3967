"""CUMULATIVE_SUMMATION and CUMULATIVE_PRODUCT."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.reference.functions.scans import Scan, marks_of_products, marks_of_sums, scanned
from dmlcheck.reference.results import PartlyUndefined
from dmlcheck.reference.rows import Groups, Kernel


def cumulative_summation(
    input: Any, *, axis: int, axis_direction: str, has_exclusive_sum: bool, input_type: str
) -> Any:
    """x1 + ... + xi, without xi where HasExclusiveSum is set; DECREASING begins at the end of Axis.

    Integers wrap.
    """
    mark = marks_of_sums(input_type, input, (axis,))
    formula = partial(up_to_each, ufunc=np.add, is_exclusive=has_exclusive_sum, mark=mark)
    return scanned(formula, input, axis, is_reversed=axis_direction == "DECREASING")


def cumulative_product(
    input: Any, *, axis: int, axis_direction: str, has_exclusive_product: bool, input_type: str
) -> Any:
    """x1 * ... * xi, without xi where HasExclusiveProduct is set; DECREASING begins at the end of Axis.

    Integers wrap.
    """
    mark = marks_of_products(input_type, input, (axis,))
    formula = partial(up_to_each, ufunc=np.multiply, is_exclusive=has_exclusive_product, mark=mark)
    return scanned(formula, input, axis, is_reversed=axis_direction == "DECREASING")


def up_to_each(
    x: Any, scan: Scan, *, ufunc: np.ufunc, is_exclusive: bool, mark: Callable[..., Any] | None
) -> PartlyUndefined:
    """Return the running results of a ufunc; `mark` returns a mask of the undefined ones."""
    results = scan("results", ufunc, x)
    is_undefined = np.zeros(x.shape, dtype=bool) if mark is None else mark(x, scan)
    if not is_exclusive:
        return PartlyUndefined(results, is_undefined)
    before = scan.shifted("exclusive", results, ufunc.identity)
    return PartlyUndefined(before, scan.shifted("undefined", is_undefined, 0))


LINES = Groups(lambda given: (given["axis"],))

KERNELS: dict[str, Kernel] = {
    "CUMULATIVE_PRODUCT": Kernel(cumulative_product, LINES, domain=(0.8, 1.25)),
    "CUMULATIVE_SUMMATION": Kernel(cumulative_summation, LINES),
}
