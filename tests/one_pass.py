"""The reference engine with a variance in one pass."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from dmlcheck.reference.functions import sums


@contextlib.contextmanager
def one_pass_variance() -> Iterator[None]:
    """Let normalizations take the mean of the squares less the square of the mean, in FLOAT32."""

    def variance(x: Any, centre: Any, axes: Any) -> Any:  # noqa: ARG001 - as the engine's
        single = np.asarray(x, np.float32)
        count = math.prod(single.shape[axis] for axis in axes)
        total, squares = (
            np.add.reduce(terms, axis=axes, keepdims=True, dtype=np.float32) for terms in (single, single * single)
        )
        mean = total / np.float32(count)
        return (squares / np.float32(count) - mean * mean).astype(np.float64)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sums, "variance", variance)
        yield
