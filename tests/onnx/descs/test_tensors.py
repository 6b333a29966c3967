"""Tensors as DirectML has them."""

from __future__ import annotations

import numpy as np
import pytest

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.onnx.descs.tensors import (
    along,
    along_axis,
    channels,
    channels_second,
    converted,
    permuted,
    ranked,
    repeated,
    sized,
    unsigned,
    vector,
)


def of(*values: object, dtype: str = "float32") -> TensorRef:
    return TensorRef.of(np.array(values, dtype))


def values(x: TensorRef) -> object:
    assert x.values is not None
    return x.values.tolist()


def test_values_are_repeated_by_strides_of_0() -> None:
    x = of([1], [2])
    found = repeated(x, (3, 2, 2))
    assert (found.strides, values(found)) == ((0, 1, 0), [[[1, 1], [2, 2]]] * 3)
    assert repeated(x, (2, 1)) is x
    with pytest.raises(Unmapped, match=r"^sizes \[2, 1\] do not repeat to \[3, 2\]$"):
        repeated(x, (3, 2))


def test_a_scalar_has_one_dimension() -> None:
    scalar = TensorRef.of(np.array(5.0))
    assert values(repeated(scalar, ())) == [5]
    assert (vector(scalar).shape, vector(of(1, 2)).shape) == ((1,), (2,))


def test_a_vector_lies_along_its_axis() -> None:
    found = along(of(1, 2, 3), -2, (2, 3, 2))
    assert found.strides == (0, 1, 0)
    assert values(found) == [[[1, 1], [2, 2], [3, 3]]] * 2
    assert values(along(of(7), 0, (2, 2))) == [[7, 7], [7, 7]]
    assert along_axis(-1, 3) == (1, 1, -1)


def test_dimensions_of_size_1_come_first_or_around_the_channels() -> None:
    x = TensorRef("FLOAT32", (2, 3))
    assert ranked(x, 4).shape == (1, 1, 2, 3)
    assert channels(of(1, 2, 3), 4).shape == (1, 3, 1, 1)


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


def test_indices_have_no_sign_and_are_the_same_bytes() -> None:
    x = of(1, 2, dtype="int64")
    found = unsigned(x)
    assert (found.data_type, found.buffer is x.buffer, values(found)) == ("UINT64", True, [1, 2])


def test_numbers_of_another_width_or_of_floats_are_copied() -> None:
    x = of(1, 2, dtype="int64")
    for dtype, name in ((np.int32, "INT32"), (np.float32, "FLOAT32")):
        found = converted(x, dtype)
        assert (found.data_type, found.buffer.copied, values(found)) == (name, x, [1, 2])
    assert converted(x, np.int64) is x


def test_what_is_read_through_strides_repeats_too() -> None:
    """{2, 1} that is read with the strides {1, 2} keeps the first of them; a new dimension has 0."""
    made = repeated(TensorRef("FLOAT32", (2, 1), (1, 2)), (4, 2, 3))
    assert (made.shape, made.strides) == ((4, 2, 3), (0, 1, 0))


def test_channels_that_are_last_are_read_as_the_second_dimension() -> None:
    made = channels_second(TensorRef.of(np.arange(24.0).reshape(1, 2, 4, 3)))
    assert (made.shape, made.strides) == ((1, 3, 2, 4), (24, 1, 12, 3))
    assert made.values is not None
    assert made.values[0, 1, 1, 2] == 19  # 12 * 1 + 3 * 2 + 1
