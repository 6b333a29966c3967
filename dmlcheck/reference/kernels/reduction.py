"""REDUCE, ARGMAX, ARGMIN, HARDMAX and HARDMAX1."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.reference.arrays.grouped import beginnings, comparable, extreme, first, positions
from dmlcheck.reference.functions.sums import fmean, fsum, ftotal, product, total, total_less_1
from dmlcheck.reference.results import AsMeasured, PartlyUndefined
from dmlcheck.reference.rows import MARK, PLACE, WHOLE_STEPS, Axes, Groups, Kernel, along, exact_row


def log_sum_exp(x: Any, axes: Axes) -> Any:
    """log(exp(x1) + ... + exp(xn)), with the largest element taken out so that nothing overflows."""
    top = np.maximum.reduce(x, axis=axes, keepdims=True)
    return np.where(np.isfinite(top), top + np.log1p(total_less_1(np.exp(x - top), axes)), top)


def largest(x: Any, axes: Axes) -> PartlyUndefined:
    """max(x1, ..., xn), ignoring NaN; undefined where there is one."""
    return extreme(x, axes, np.maximum, np.fmax)


def smallest(x: Any, axes: Axes) -> PartlyUndefined:
    """min(x1, ..., xn), ignoring NaN; undefined where there is one."""
    return extreme(x, axes, np.minimum, np.fmin)


def limit(x: Any, axes: Axes, *, of: Callable[..., PartlyUndefined], none: float) -> AsMeasured:
    """Return the largest or smallest element, ignoring NaN as DirectML does; of only NaN the infinity `none`."""
    best, is_nan = of(x, axes)
    return AsMeasured(np.where(np.isnan(best), none, best) if is_nan.any() else best, is_nan)


def place(x: Any, axes: Axes, *, of: Callable[..., PartlyUndefined], last: bool = False) -> Any:
    """Return the position of the largest or smallest element, of equal ones the first or last; NaN is undefined.

    In groups that DirectML compares one by one, a NaN is passed over, unless it is the first: then nothing beats it.
    """
    x = comparable(x)
    best, is_nan = of(x, axes)
    found = first(x == best, axes, last=last)
    begins = beginnings(x, axes) if is_nan.any() else None
    if begins is None:
        return PartlyUndefined(found, is_nan)
    return AsMeasured(np.where(np.isnan(begins), 0, found), is_nan)


EXACT: dict[str, Callable[..., Any]] = {
    "ARGMAX": partial(place, of=largest),
    "ARGMIN": partial(place, of=smallest),
    "MAX": partial(limit, of=largest, none=-np.inf),
    "MIN": partial(limit, of=smallest, none=np.inf),
}
FLOATS: dict[str, Callable[..., Any]] = EXACT | {
    "AVERAGE": fmean,
    "L1": lambda x, axes: fsum(np.abs(x), axes),
    "L2": lambda x, axes: np.sqrt(total(x * x, axes)),
    "LOG_SUM": lambda x, axes: np.log(ftotal(x, axes)),
    "LOG_SUM_EXP": log_sum_exp,
    "MULTIPLY": product,
    "SUM": fsum,
    "SUM_SQUARE": lambda x, axes: fsum(x * x, axes),
}
INTEGERS: dict[str, Callable[..., Any]] = EXACT | {
    "L1": lambda x, axes: total(np.abs(x), axes),
    "MULTIPLY": lambda x, axes: np.multiply.reduce(x, axis=axes, keepdims=True),
    "SUM": total,
    "SUM_SQUARE": lambda x, axes: total(x * x, axes),
}


def reduce(input: Any, *, function: str, axes: Axes) -> Any:
    """Function, applied to the elements of each group along Axes."""
    return FLOATS[function](input, axes)


def reduce_integers(input: Any, *, function: str, axes: Axes) -> Any:
    """Function, applied to the integers of each group along Axes."""
    return INTEGERS[function](input, axes)


def argmax(input: Any, *, axes: Axes, axis_direction: str) -> Any:
    """The index of the largest element along Axes; among equal elements the first, with DECREASING the last."""
    return place(input, axes, of=largest, last=axis_direction == "DECREASING")


def argmin(input: Any, *, axes: Axes, axis_direction: str) -> Any:
    """The index of the smallest element along Axes; among equal elements the first, with DECREASING the last."""
    return place(input, axes, of=smallest, last=axis_direction == "DECREASING")


def hardmax1(input: Any, *, axes: Axes) -> Any:
    """1 at the first largest element of each group along Axes, 0 elsewhere."""
    found = place(input, axes, of=largest)
    return found._replace(value=positions(input, axes) == found.value)


def hardmax(input: Any, *, axes: Axes) -> Any:
    """1 at the first largest element of each row of the last dimension, 0 elsewhere."""
    return hardmax1(input, axes=axes)


KERNELS: dict[str, Kernel] = {
    "REDUCE": Kernel(reduce, Groups(), lambda given: given["function"] in EXACT, integers=reduce_integers),
    "ARGMAX": exact_row(argmax, Groups(), seeks=PLACE),
    "ARGMIN": exact_row(argmin, Groups(), seeks=PLACE),
    "ACTIVATION_HARDMAX": exact_row(hardmax, along(-1), jumps=WHOLE_STEPS, seeks=MARK),
    "ACTIVATION_HARDMAX1": exact_row(hardmax1, Groups(), jumps=WHOLE_STEPS, seeks=MARK),
}
