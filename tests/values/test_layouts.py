"""Tensors in buffers, against elements placed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.specs.load import load_spec
from dmlcheck.values.layouts import empty_buffer, from_bytes, laid_out, to_bytes, viewed, wide_span

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


SPAN = "the strides of InputTensor spread {} elements over {} GiB, for which no buffer is made"


@pytest.mark.parametrize(
    ("sizes", "strides", "expected"),
    [
        ((2, 2), (2**24 - 2, 1), None),  # 64 MiB of FLOAT32
        ((2, 2), (2**24 - 1, 1), SPAN.format(4, "0.1")),
        ((2, 2), (2**28, 1), SPAN.format(4, "1.0")),
        ((2**22, 1), (8, 1), None),  # 128 MiB, an element in 8
        ((2**22, 1), (9, 1), SPAN.format("4,194,304", "0.1")),
        ((2**30, 1), (0, 0), None),
    ],
)
def test_strides_may_not_spread_few_elements_over_much_memory(
    sizes: tuple[int, ...], strides: tuple[int, ...], expected: str | None
) -> None:
    spec = load_spec("DML_OPERATOR_ELEMENT_WISE_IDENTITY")
    tensors = {"InputTensor": TensorDesc("FLOAT32", sizes, strides), "OutputTensor": TensorDesc("FLOAT32", sizes)}
    assert wide_span(OperatorDesc.of(spec, tensors)) == expected


# ---- bytes


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
    assert tensor.span_bytes == len(data)
    assert to_bytes(tensor, given).tolist() == data
    assert from_bytes(tensor, np.array(data, dtype=np.uint8)).tolist() == values
