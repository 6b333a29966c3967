"""Tensors as bytes between steps."""

from __future__ import annotations

import numpy as np
import pytest

from dmlcheck.descs.records import TensorDesc
from dmlcheck.graphs.buffers import byte_count, from_bytes, to_bytes


def test_packed_elements_are_their_bytes() -> None:
    tensor = TensorDesc("UINT16", (1, 2))
    data = to_bytes(tensor, np.array([[1, 0x0203]], dtype=np.uint16))
    assert data.tolist() == [1, 0, 3, 2]
    assert from_bytes(tensor, data).tolist() == [[1, 0x0203]]


def test_a_reader_has_its_own_sizes_and_strides() -> None:
    """A row of three that is read as three rows of two, each the same element twice."""
    data = to_bytes(TensorDesc("UINT8", (3,)), np.array([1, 2, 3], dtype=np.uint8))
    assert from_bytes(TensorDesc("UINT8", (3, 2), (1, 0)), data).tolist() == [[1, 1], [2, 2], [3, 3]]


def test_between_strided_elements_is_what_no_reader_takes_for_a_result() -> None:
    data = to_bytes(TensorDesc("UINT8", (2, 2), (3, 1)), np.array([[1, 2], [3, 4]], dtype=np.uint8))
    assert data.tolist() == [1, 2, 255, 3, 4]


@pytest.mark.parametrize(
    ("data_type", "values", "data"),
    [("UINT4", [1, 15, 8], [0xF1, 0x08]), ("INT4", [1, -1, -8], [0xF1, 0x08]), ("INT4", [7, -7], [0x97])],
)
def test_two_elements_of_4_bits_are_a_byte_the_first_in_its_low_half(
    data_type: str, values: list[int], data: list[int]
) -> None:
    tensor = TensorDesc(data_type, (len(values),))
    given = np.array(values, dtype=np.int8 if data_type == "INT4" else np.uint8)
    assert byte_count(tensor) == len(data)
    assert to_bytes(tensor, given).tolist() == data
    assert from_bytes(tensor, np.array(data, dtype=np.uint8)).tolist() == values
