"""Values as DirectML's tensors have them."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_nodes import zeros

from dmlcheck.onnx.descs.node import Refused
from dmlcheck.onnx.descs.tensors import (
    Strided,
    along,
    channels,
    channels_second,
    empty_like,
    four_bits,
    permuted,
    plain,
    ranked,
    repeated,
    sized,
    type_name,
    unsigned,
)


def test_values_are_repeated_by_strides_of_0() -> None:
    x = np.array([[1], [2]])
    found = repeated(x, (3, 2, 2))
    assert isinstance(found, Strided)
    assert found.strides == (0, 1, 0)
    assert found.values.tolist() == [[[1, 1], [2, 2]]] * 3
    assert repeated(x, (2, 1)) is x
    with pytest.raises(Refused, match=r"^sizes \[2, 1\] do not repeat to \[3, 2\]$"):
        repeated(x, (3, 2))


def test_a_scalar_has_one_dimension() -> None:
    found = repeated(np.array(5), ())
    assert isinstance(found, Strided)
    assert found.values.tolist() == [5]


def test_a_vector_lies_along_its_axis() -> None:
    found = along(np.array([1, 2, 3]), -2, (2, 3, 2))
    assert isinstance(found, Strided)
    assert found.strides == (0, 1, 0)
    assert found.values[1].tolist() == [[1, 1], [2, 2], [3, 3]]
    one = along(np.array([7]), 0, (2, 2))
    assert isinstance(one, Strided)
    assert one.values.tolist() == [[7, 7], [7, 7]]


def test_dimensions_of_size_1_come_first_or_around_the_channels() -> None:
    assert ranked(zeros(2, 3), 4).shape == (1, 1, 2, 3)
    assert channels(zeros(3), 4).shape == (1, 3, 1, 1)


def test_other_sizes_have_as_many_elements() -> None:
    assert sized(zeros(6), [2, 3]).shape == (2, 3)
    with pytest.raises(Refused, match=r"^values of the sizes \[6\] are not of \[4\]$"):
        sized(zeros(6), [4])


def test_another_order_of_axes_is_one_of_strides() -> None:
    x = np.arange(6).reshape(2, 3)
    found = permuted(x, [1, 0])
    assert isinstance(found, Strided)
    assert found.strides == (1, 3)
    assert found.values.tolist() == x.T.tolist()
    assert permuted(x, [0, 1]) is x
    with pytest.raises(Refused, match=r"^\[0, 0\] is no order of 2 dimensions$"):
        permuted(x, [0, 0])


def test_4_bit_elements_are_known_as_such_whatever_moves_them() -> None:
    q = four_bits(np.array([[1, -8], [3, 4]]), "INT4")
    for moved in (
        q,
        q.T,
        q.reshape(4),
        np.broadcast_to(q[:1], (3, 2)),
        np.repeat(q, 2, 1),
        np.atleast_1d(q[0, 0, ...]),
    ):
        assert type_name(moved) == "INT4"
        assert moved.dtype == np.int8
    assert type_name(four_bits(np.array([15]), "UINT4")) == "UINT4"
    assert type_name(plain(q)) == "INT8"
    assert plain(q).tolist() == [[1, -8], [3, 4]]


def test_truth_values_are_bytes_and_indices_have_no_sign() -> None:
    assert type_name(np.array([True])) == "UINT8"
    assert type_name(zeros(1, dtype="float16")) == "FLOAT16"
    assert unsigned(np.array([1, 2])).dtype == np.uint64


def test_what_is_read_through_strides_repeats_too() -> None:
    """{2, 1} that is read with the strides {1, 2} keeps the first of them; a new dimension has 0."""
    made = repeated(Strided(np.zeros((2, 1)), (1, 2)), (4, 2, 3))
    assert isinstance(made, Strided)
    assert (made.values.shape, made.strides) == ((4, 2, 3), (0, 1, 0))


def test_channels_that_are_last_are_read_as_the_second_dimension() -> None:
    made = channels_second(np.arange(24).reshape(1, 2, 4, 3))
    assert (made.values.shape, made.strides) == ((1, 3, 2, 4), (24, 1, 12, 3))
    assert made.values[0, 1, 1, 2] == 19  # 12 * 1 + 3 * 2 + 1


def test_an_empty_tensor_takes_no_memory() -> None:
    made = empty_like(np.zeros(1, np.float16), (2**20, 2**20))
    assert (made.dtype, made.shape, made.strides) == (np.float16, (2**20, 2**20), (0, 0))
