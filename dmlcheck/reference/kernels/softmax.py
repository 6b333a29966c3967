"""SOFTMAX, SOFTMAX1, LOG_SOFTMAX and LOG_SOFTMAX1; the largest element is subtracted first, against overflow."""

from __future__ import annotations

from typing import Any

import numpy as np

from dmlcheck.reference.functions.sums import total, total_less_1
from dmlcheck.reference.results import AsMeasured
from dmlcheck.reference.rows import SHARES, Axes, Groups, Kernel, Spread, along


def softmax1(input: Any, *, axes: Axes) -> AsMeasured:
    """exp(x) / (the sum of exp over the group along Axes)."""
    top = np.maximum.reduce(input, axis=axes, keepdims=True)
    powers = np.exp(input - top)
    return AsMeasured(powers / total(powers, axes), np.isinf(top))


def softmax(input: Any, *, axes: Axes) -> AsMeasured:
    """exp(x) / (the sum of exp over the row of the last dimension)."""
    return softmax1(input, axes=axes)


def log_softmax1(input: Any, *, axes: Axes) -> AsMeasured:
    """log(exp(x) / (the sum of exp over the group along Axes))."""
    top = np.maximum.reduce(input, axis=axes, keepdims=True)
    less = input - top
    is_infinite = np.isinf(top)
    return AsMeasured(less - np.where(is_infinite, 0.0, np.log1p(total_less_1(np.exp(less), axes))), is_infinite)


def log_softmax(input: Any, *, axes: Axes) -> AsMeasured:
    """log(exp(x) / (the sum of exp over the row of the last dimension))."""
    return log_softmax1(input, axes=axes)


OF_SHARES = Spread(SHARES)

KERNELS: dict[str, Kernel] = {
    "ACTIVATION_LOG_SOFTMAX": Kernel(log_softmax, along(-1), spread=OF_SHARES),
    "ACTIVATION_LOG_SOFTMAX1": Kernel(log_softmax1, Groups(), spread=OF_SHARES),
    "ACTIVATION_SOFTMAX": Kernel(softmax, along(-1), spread=OF_SHARES),
    "ACTIVATION_SOFTMAX1": Kernel(softmax1, Groups(), spread=OF_SHARES),
}
