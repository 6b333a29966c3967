"""Tensors as bytes for DirectML, and back."""

from __future__ import annotations

import numpy as np
import pytest
from drawn_descs import draws

from dmlcheck.descs.records import TensorDesc
from dmlcheck.implementations.directml import input_bytes, output_of

# ---- outputs


def test_bytes_that_are_no_whole_elements_are_left_alone() -> None:
    assert output_of(TensorDesc("FLOAT64", (1,)), np.array([0.5]).tobytes() + b"\xa5" * 4).tolist() == [0.5]


@pytest.mark.slow
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
