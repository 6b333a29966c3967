"""Element-wise operators of ONNX as DirectML's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from node_graphs import computed, float32, node_of
from onnx_nodes import agrees, fields, floats, found, zeros

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Unmapped

X = zeros(2, 3)


@pytest.mark.parametrize(
    ("type", "attributes", "operator"),
    [
        ("Add", {}, "ADD"),
        ("Greater", {}, "LOGICAL_GREATER_THAN"),
        ("Mod", {}, "MODULUS_FLOOR"),
        ("Mod", {"fmod": 1}, "MODULUS_TRUNCATE"),
        ("BitShift", {"direction": "LEFT"}, "BIT_SHIFT_LEFT"),
    ],
)
def test_of_two_operands_the_smaller_is_repeated(type: str, attributes: Any, operator: str) -> None:
    made = found(type, [X, zeros(3)], X, **attributes)
    assert made.operator == f"ELEMENT_WISE_{operator}"
    assert made.fields["ATensor"].strides is None
    assert made.fields["BTensor"].strides == (0, 1)


@pytest.mark.parametrize(
    ("limits", "operator", "expected"),
    [
        ([np.array(-1, "f4"), np.array(2, "f4")], "CLIP1", (-1, 2)),
        ([np.array(3, "f4"), np.array(2, "f4")], "CLIP", (3, 2)),
        ([None, np.array(2, "f4")], "CLIP1", (float(str(np.finfo("f4").min)), 2)),
    ],
)
def test_limits_of_a_clip_are_inputs_or_those_of_the_type(limits: Any, operator: str, expected: Any) -> None:
    made = found("Clip", [X, *limits], X)
    assert made.operator == f"ELEMENT_WISE_{operator}"
    assert (made.fields["Min"], made.fields["Max"]) == expected


@pytest.mark.parametrize(
    ("type", "attributes", "operator", "expected"),
    [
        ("Round", {}, "ELEMENT_WISE_ROUND", {"RoundingMode": "HALVES_TO_NEAREST_EVEN"}),
        ("IsInf", {"detect_negative": 0}, "ELEMENT_WISE_IS_INFINITY", {"InfinityMode": "POSITIVE"}),
        ("IsInf", {}, "ELEMENT_WISE_IS_INFINITY", {"InfinityMode": "EITHER"}),
    ],
)
def test_attributes_become_fields(type: str, attributes: Any, operator: str, expected: Any) -> None:
    made = found(type, [X], X, **attributes)
    assert (made.operator, fields(made)) == (operator, expected)


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


def test_whole_numbers_and_exponents_of_more_dimensions_have_powers_too() -> None:
    whole = node_of("Pow", [np.array([2, -3], np.int32), np.array(3, np.int32)], TensorRef("INT32", (2,)))
    assert computed(whole)[0].tolist() == [8, -27]
    raised = node_of("Pow", [floats(2, 3), np.full((1, 1), 2, np.float32)], float32(1, 2))
    assert computed(raised)[0].tolist() == [[4, 9]]
