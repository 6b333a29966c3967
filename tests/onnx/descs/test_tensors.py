"""Tensors as DirectML has them."""

from __future__ import annotations

import numpy as np
import pytest

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.onnx.descs.tensors import (
    permuted,
    sized,
)


def of(*values: object, dtype: str = "float32") -> TensorRef:
    return TensorRef.of(np.array(values, dtype))


def values(x: TensorRef) -> object:
    assert x.values is not None
    return x.values.tolist()


def test_other_sizes_have_as_many_elements() -> None:
    x = TensorRef("FLOAT32", (6,))
    assert sized(x, [2, 3]).shape == (2, 3)
    with pytest.raises(Unmapped, match=r"^values of the sizes \[6\] are not of \[4\]$"):
        sized(x, [4])


def test_another_order_of_axes_is_one_of_strides() -> None:
    x = of([0, 1, 2], [3, 4, 5])
    found = permuted(x, [1, 0])
    assert (found.strides, values(found)) == ((1, 3), [[0, 3], [1, 4], [2, 5]])
    assert permuted(x, [0, 1]) is x
    with pytest.raises(Unmapped, match=r"^\[0, 0\] is no order of 2 dimensions$"):
        permuted(x, [0, 0])
