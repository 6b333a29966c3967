"""Tensors as bytes for DirectML, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compiled_descs import desc_of
from drawn_descs import draws
from valid_descs import tensor, valid

from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.implementations.directml import input_bytes, output_of


def identity(data_type: str, *sizes: int, **more: Any) -> OperatorDesc:
    plain = {"DataType": data_type, "Sizes": list(sizes)}
    return desc_of("ELEMENT_WISE_IDENTITY", {"InputTensor": {**plain, **more}, "OutputTensor": plain})


def bytes_of(desc: OperatorDesc, values: Any, dtype: str) -> bytes:
    (bound,) = input_bytes(desc, {"InputTensor": np.array(values, dtype)})
    assert bound is not None
    return bound[0]


# ---- inputs


def test_a_packed_input_is_its_elements_and_zeros_to_a_multiple_of_four_bytes() -> None:
    assert bytes_of(identity("FLOAT32", 2), [1, -2], "float32") == b"\0\0\x80\x3f\0\0\0\xc0"
    assert bytes_of(identity("INT16", 3), [1, -2, 3], "int16") == b"\1\0\xfe\xff\3\0\0\0"
    assert bytes_of(identity("UINT8", 1, 5), [[1, 2, 3, 4, 5]], "uint8") == b"\1\2\3\4\5\0\0\0"


def test_an_input_is_as_long_as_its_desc_says() -> None:
    desc = identity("UINT8", 2, TotalTensorSizeInBytes=12)
    assert bytes_of(desc, [1, 2], "uint8") == b"\1\2" + bytes(10)


def test_a_strided_input_has_its_elements_at_their_places() -> None:
    desc = identity("UINT8", 2, 2, Strides=[4, 2])
    assert bytes_of(desc, [[1, 2], [3, 4]], "uint8") == b"\1\xff\2\xff\3\xff\4\0"
    transposed = identity("UINT8", 2, 2, Strides=[1, 2])
    assert bytes_of(transposed, [[1, 2], [3, 4]], "uint8") == b"\1\3\2\4"
    repeated = identity("UINT8", 2, 2, Strides=[0, 1])
    assert bytes_of(repeated, [[1, 2], [1, 2]], "uint8") == b"\1\2\0\0"


def test_an_array_that_is_no_block_of_memory_is_laid_out_as_its_desc_says() -> None:
    values = np.arange(6, dtype="uint8").reshape(3, 2).T
    assert bytes_of(identity("UINT8", 2, 3), values, "uint8") == b"\0\2\4\1\3\5\0\0"


def cast_of(data_type: str, *sizes: int, **more: Any) -> OperatorDesc:
    """Return a desc with an input of a type, whether or not the operator takes it."""
    desc = identity("UINT8", *sizes, **more)
    values = {
        name: value._replace(data_type=data_type, total_size=None)
        for name, value in desc.values.items()
        if value is not None
    }
    return OperatorDesc.of(desc.spec, values)


@pytest.mark.parametrize(
    ("data_type", "dtype", "values", "data"),
    [
        ("UINT4", "uint8", [1, 2, 15], b"\x21\x0f\0\0"),
        ("INT4", "int8", [-8, 7, -1, 0], b"\x78\x0f\0\0"),
        ("INT4", "int8", [-1, -2, -3, -4, -5, -6, -7, -8, 1], b"\xef\xcd\xab\x89\x01\0\0\0"),
    ],
)
def test_two_elements_of_four_bits_are_a_byte_the_first_in_its_low_half(
    data_type: str, dtype: str, values: list[int], data: bytes
) -> None:
    desc = cast_of(data_type, len(values))
    assert bytes_of(desc, values, dtype) == data
    back = output_of(desc.values["OutputTensor"], data)
    assert (back.dtype, back.tolist()) == (np.dtype(dtype), values)


def test_elements_of_four_bits_may_have_strides() -> None:
    desc = cast_of("UINT4", 2, 2, Strides=[3, 2])
    assert bytes_of(desc, [[1, 2], [3, 4]], "uint8") == b"\xf1\x32\x4f\0"


def test_a_desc_says_which_inputs_directml_owns() -> None:
    plain = {"DataType": "UINT8", "Sizes": [1]}
    owned = {**plain, "Flags": "OWNED_BY_DML"}
    desc = desc_of("ELEMENT_WISE_ADD", {"ATensor": plain, "BTensor": owned, "OutputTensor": plain})
    one, two = np.array([1], "uint8"), np.array([2], "uint8")
    assert input_bytes(desc, {"BTensor": two, "ATensor": one}) == [(b"\1\0\0\0", False), (b"\2\0\0\0", True)]


def test_inputs_are_bound_in_the_order_of_their_fields_and_none_is_for_those_left_out() -> None:
    plain = tensor(1, 1, 1, 1)
    tensors = {"ATensor": plain, "BTensor": plain, "OutputTensor": plain}
    desc = valid("GEMM", **tensors, TransA="NONE", TransB="NONE", Alpha=1, Beta=0)
    ones = np.ones((1, 1, 1, 1), "float32")
    one = (b"\0\0\x80\x3f", False)
    assert input_bytes(desc, {"ATensor": ones, "BTensor": ones}) == [one, one, None]


def test_the_tensors_of_an_array_are_bound_one_after_another() -> None:
    plain = {"DataType": "UINT8", "Sizes": [1, 1, 1, 1]}
    desc = desc_of("JOIN", {"InputTensors": [plain] * 3, "OutputTensor": {**plain, "Sizes": [1, 1, 1, 3]}, "Axis": 3})
    arrays = [np.full((1, 1, 1, 1), number, "uint8") for number in (1, 2, 3)]
    bound = input_bytes(desc, {"InputTensors": arrays})
    assert bound == [(bytes([number, 0, 0, 0]), False) for number in (1, 2, 3)]


# ---- outputs


def test_an_output_is_read_in_the_shape_of_its_sizes_whatever_follows_it() -> None:
    found = output_of(TensorDesc("INT16", (3, 1)), b"\1\0\xff\xff\3\0" + b"\xa5" * 6)
    assert (found.dtype, found.tolist()) == (np.dtype("int16"), [[1], [-1], [3]])
    found[0] = 9  # it is an array of its own


def test_a_strided_output_is_read_at_its_places() -> None:
    found = output_of(TensorDesc("UINT8", (2, 2), strides=(1, 3)), b"\1\2\xff\3\4\xff\xff\xff")
    assert found.tolist() == [[1, 3], [2, 4]]
    assert found.flags.c_contiguous


def test_a_strided_output_of_four_bits_is_read_at_its_places() -> None:
    found = output_of(TensorDesc("INT4", (2, 2), strides=(3, 1)), b"\xf1\x20\xfe\0")
    assert found.tolist() == [[1, -1], [2, -2]]


def test_bytes_that_are_no_whole_elements_are_left_alone() -> None:
    assert output_of(TensorDesc("FLOAT64", (1,)), np.array([0.5]).tobytes() + b"\xa5" * 4).tolist() == [0.5]


@pytest.mark.parametrize("short", ["ELEMENT_WISE_ADD", "CAST", "JOIN", "DEQUANTIZE", "GATHER"])
def test_drawn_inputs_come_back_from_their_bytes(short: str) -> None:
    for desc, inputs in draws(short, 20):
        bound = [each for each in input_bytes(desc, inputs) if each is not None]
        pairs = list(desc.inputs_with(inputs))
        assert len(bound) == len(pairs) > 0
        for (data, _), (part, values) in zip(bound, pairs, strict=True):
            assert len(data) == max(part.tensor.implied_bytes, part.tensor.total_size or 0)
            back = output_of(part.tensor, data)
            assert (back.dtype, back.tobytes()) == (values.dtype, np.ascontiguousarray(values).tobytes())
