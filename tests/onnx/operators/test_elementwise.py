"""Element-wise operators of ONNX as DirectML's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_nodes import agrees, floats, found, zeros

from dmlcheck.onnx.descs.node import Unmapped

X = zeros(2, 3)


def test_a_search_for_neither_infinity_is_refused() -> None:
    with pytest.raises(Unmapped, match="finds neither infinity"):
        found("IsInf", [X], X, detect_negative=0, detect_positive=0)


# ---- before opset 7, and of other types


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8"])
def test_signed_bits_are_shifted_as_unsigned_ones(dtype: str) -> None:
    x, by = np.array([-3, 5, 1], dtype), np.array([1, 2, 7], dtype)
    left = found("BitShift", [x, by], np.array([-6, 20, -128 if dtype == "i1" else 128], dtype), direction="LEFT")
    assert left.operator == "ELEMENT_WISE_BIT_SHIFT_LEFT"
    assert agrees(left)
    right = found("BitShift", [np.array([9, 5], dtype), by[:2]], np.array([4, 1], dtype), direction="RIGHT")
    assert right.operator == "ELEMENT_WISE_BIT_SHIFT_RIGHT"
    assert agrees(right)


def test_shifts_that_directml_does_not_have_are_refused() -> None:
    x, one = np.array([-8], np.int8), np.array([1], np.int8)
    for by in (-1, 8):
        with pytest.raises(Unmapped, match="by less than 0 bits, or by all"):
            found("BitShift", [x, np.array([by], np.int8)], x, direction="LEFT")
    with pytest.raises(Unmapped, match="of negative numbers to the right"):
        found("BitShift", [x, one], x, direction="RIGHT")


def test_a_rest_of_a_division_by_infinity_that_is_rounded_down_has_no_counterpart() -> None:
    """Version 28 of ONNX says 3 and infinity for 3 and -3, where DirectML subtracts infinity times 0."""
    given = [floats(3, -3), floats(np.inf, np.inf)]
    assert found("Mod", given, floats(3, -3), fmod=1).operator == "ELEMENT_WISE_MODULUS_TRUNCATE"
    with pytest.raises(Unmapped, match="Mod by infinity"):
        found("Mod", given, floats(3, np.inf))


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_exponents_of_64_bits_are_those_of_32(dtype: Any) -> None:
    made = found("Pow", [floats(2, 3), np.array([3, 4], dtype)], floats(8, 81))
    assert made.fields["ExponentTensor"].dtype.itemsize == 4
    assert agrees(made)
    large = found("Pow", [floats(1), np.array([2**40], dtype)], floats(1))
    assert large.fields["ExponentTensor"].dtype == dtype
