"""Tensors in buffers, against elements placed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from dmlcheck.descs.records import TensorDesc
from dmlcheck.values.layouts import empty_buffer, laid_out, viewed

VALUES = np.array([[1, 2], [3, 4]], dtype=np.int16)


def test_a_packed_tensor_is_its_elements_in_row_major_order() -> None:
    assert laid_out(TensorDesc("INT16", (2, 2)), VALUES.T).tolist() == [1, 3, 2, 4]


def test_strides_place_elements_and_gaps_hold_what_no_one_expects() -> None:
    buffer = laid_out(TensorDesc("INT16", (2, 2), (4, 2)), VALUES)
    assert buffer.tolist() == [1, -1, 2, -1, 3, -1, 4]
    gaps = laid_out(TensorDesc("FLOAT16", (2,), (2,)), np.array([1, 2], dtype=np.float16))
    assert gaps.tolist()[::2] == [1, 2]
    assert np.isnan(gaps[1])


def test_a_stride_of_zero_repeats_one_element() -> None:
    tensor = TensorDesc("INT16", (2, 2), (0, 1))
    buffer = laid_out(tensor, np.array([[5, 6], [5, 6]], dtype=np.int16))
    assert buffer.tolist() == [5, 6]
    assert viewed(tensor, buffer).tolist() == [[5, 6], [5, 6]]


def test_what_is_written_through_a_view_is_in_the_buffer() -> None:
    tensor = TensorDesc("INT16", (2, 2), (1, 2))
    buffer = empty_buffer(tensor)
    assert buffer.tolist() == [-1] * 4
    viewed(tensor, buffer)[...] = VALUES
    assert buffer.tolist() == [1, 3, 2, 4]


def test_a_buffer_that_is_too_short_is_refused() -> None:
    with pytest.raises(ValueError, match="3 elements instead of 4"):
        viewed(TensorDesc("INT16", (2, 2)), np.zeros(3, dtype=np.int16))
