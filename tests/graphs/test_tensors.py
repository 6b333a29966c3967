"""Tensors as views of buffers: values through strides, other sizes, copies, types."""

from __future__ import annotations

import numpy as np
import pytest

from dmlcheck.graphs.tensors import BOOL, Buffer, TensorRef, element_of

X = TensorRef.of(np.arange(6, dtype=np.float32).reshape(2, 3))


def values(x: TensorRef) -> object:
    assert x.values is not None
    return x.values.tolist()


def test_a_view_reads_the_buffer_through_its_strides() -> None:
    assert values(X) == [[0, 1, 2], [3, 4, 5]]
    assert values(X.view((3, 2), (1, 3))) == [[0, 3], [1, 4], [2, 5]]
    assert values(X.view((2,), (0,))) == [0, 0]
    assert X.view((2,)).buffer is X.buffer


def test_a_view_that_reaches_beyond_its_buffer_is_refused() -> None:
    with pytest.raises(ValueError, match="reach beyond 6 elements"):
        assert X.view((3, 2), (3, 1)).values is not None


def test_values_that_are_not_known_are_none() -> None:
    x = X.unknown()
    assert (x.values, x.shape, x.data_type, x.buffer is X.buffer) == (None, (2, 3), "FLOAT32", False)
    assert X.like((4,), "INT8").data_type == "INT8"


def test_sizes_change_freely_where_nothing_is_strided() -> None:
    assert X.reshape(3, 2).shape == X.reshape((3, -1)).shape == (3, 2)
    with pytest.raises(ValueError, match=r"cannot reshape 6 elements to \[4\]"):
        X.reshape(4)


def test_strides_let_dimensions_of_size_1_come_and_go_and_no_others() -> None:
    turned = X.transpose((1, 0))
    wide = turned.reshape(1, 3, 1, 2)
    assert (wide.strides, wide.reshape(3, 2).strides) == ((0, 1, 0, 3), (1, 3))
    with pytest.raises(ValueError, match=r"strides do not let \[3, 2\] become \[6\]"):
        turned.reshape(6)


def test_repeated_sizes_have_strides_of_0() -> None:
    row = TensorRef.of(np.array([1.0, 2.0]))
    found = row.broadcast_to((3, 2))
    assert (found.strides, values(found)) == ((0, 1), [[1, 2]] * 3)
    with pytest.raises(ValueError, match="do not repeat"):
        row.broadcast_to((2, 3))


def test_a_packed_copy_knows_what_it_is_a_copy_of() -> None:
    turned = X.transpose((1, 0))
    copy = turned.packed()
    assert (copy.strides, copy.buffer.copied, values(copy)) == (None, turned, [[0, 3], [1, 4], [2, 5]])
    assert X.packed() is X
    assert values(X.astype("INT32")) == [[0, 1, 2], [3, 4, 5]]


def test_the_same_bits_are_another_type() -> None:
    signed = TensorRef.of(np.array([-1], np.int32))
    assert values(signed.bits("UINT32")) == [2**32 - 1]


def test_truth_values_are_bytes_to_directml() -> None:
    x = TensorRef.of(np.array([True, False]))
    assert (x.element, x.data_type, x.dtype) == (BOOL, "UINT8", np.dtype(bool))
    assert element_of(np.float16) == "FLOAT16"


def test_numbers_of_four_bits_take_half_a_byte() -> None:
    x = TensorRef.of(np.array([1, -8, 7], np.int8), "INT4")
    assert (x.data_type, values(x)) == ("INT4", [1, -8, 7])
    assert x.buffer.bytes is not None
    assert x.buffer.bytes.tolist() == [0x81, 0x07]
    assert Buffer("INT4").bytes is None


def test_a_text_of_it_has_type_sizes_and_strides() -> None:
    assert repr(X.transpose((1, 0))) == "TensorRef(FLOAT32 [3, 2] by [1, 3])"
