"""Products of matrices and reductions: the operators and fields that Chromium's DirectML backend gives them."""

from __future__ import annotations

from typing import Any

import pytest
from webnn_tests import desc, operator, reason, tensor

A = tensor([1, 2, 3, 4, 5, 6], 2, 3)
B = tensor([1, 0, 0, 1, 10, 100], 3, 2)


def test_gemm_has_four_dimensions_and_repeats_its_addend() -> None:
    """A B is [[31, 302], [64, 605]]; twice that and 0.5 of (2, 4)."""
    inputs = {"a": A, "b": B, "c": tensor([2, 4], 2)}
    found = desc(inputs, operator("gemm", "a", "b", c="c", alpha=2, beta=0.5), tensor([63, 606, 129, 1212], 2, 2))
    assert (found["ATensor"], found["CTensor"]) == ("FLOAT32 [1, 1, 2, 3]", "FLOAT32 [1, 1, 2, 2] [0, 0, 0, 1]")
    assert (found["Alpha"], found["Beta"], found["TransA"], found["TransB"]) == (2, 0.5, "NONE", "NONE")


def test_gemm_transposes_its_matrices() -> None:
    inputs = {"a": tensor([1, 4, 2, 5, 3, 6], 3, 2), "b": tensor([1, 0, 10, 0, 1, 100], 2, 3)}
    found = desc(inputs, operator("gemm", "a", "b", aTranspose=True, bTranspose=True), tensor([31, 302, 64, 605], 2, 2))
    assert (found["TransA"], found["TransB"]) == ("TRANSPOSE", "TRANSPOSE")


def test_batches_are_repeated() -> None:
    inputs = {"a": tensor([1, 2, 3, 4], 2, 1, 2), "b": tensor([1, 10], 2, 1)}
    found = desc(inputs, operator("matmul", "a", "b"), tensor([21, 43], 2, 1, 1))
    assert (found["operator"], found["BTensor"]) == ("GEMM", "FLOAT32 [1, 2, 2, 1] [0, 0, 1, 0]")
    assert (found["Alpha"], found["Beta"]) == (1, 0)


@pytest.mark.parametrize(
    ("shape", "values", "expected", "read"),
    [
        ((2, 1), [1, 10], [21, 43, 65, 87], "FLOAT32 [4, 1, 2, 1] [0, 0, 1, 0]"),
        ((1, 2, 1, 2, 1), [1, 10, 2, 20], [21, 86, 65, 174], "FLOAT32 [4, 1, 2, 1]"),  # which strides cannot repeat
        ((2, 2, 1, 2, 1), [1, 10, 2, 20, 3, 30, 4, 40], [21, 86, 195, 348], "FLOAT32 [4, 1, 2, 1]"),
        ((2, 1, 1, 2, 1), [1, 10, 2, 20], [21, 43, 130, 174], "FLOAT32 [4, 1, 2, 1]"),
    ],
)
def test_more_than_four_dimensions_become_four(
    shape: tuple[int, ...], values: list[int], expected: list[int], read: str
) -> None:
    """Two by two rows (1, 2), (3, 4), (5, 6), (7, 8), each with its column."""
    inputs = {"a": tensor([1, 2, 3, 4, 5, 6, 7, 8], 2, 2, 1, 1, 2), "b": tensor(values, *shape)}
    found = desc(inputs, operator("matmul", "a", "b"), tensor(expected, 2, 2, 1, 1, 1))
    assert (found["ATensor"], found["BTensor"]) == ("FLOAT32 [4, 1, 1, 2]", read)


def test_a_vector_is_no_matrix() -> None:
    inputs = {"a": tensor([1, 2], 2), "b": tensor([1, 10], 2, 1)}
    assert reason(inputs, operator("matmul", "a", "b"), tensor([21], 1)) == "matmul of a tensor that is no matrix"


@pytest.mark.parametrize(
    ("name", "function", "expected"),
    [
        ("reduceSum", "SUM", [6, 15]),
        ("reduceMean", "AVERAGE", [2, 5]),
        ("reduceMax", "MAX", [3, 6]),
        ("reduceMin", "MIN", [1, 4]),
        ("reduceProduct", "MULTIPLY", [6, 120]),
        ("reduceL1", "L1", [6, 15]),
        ("reduceL2", "L2", [3.7416575, 8.774964]),  # sqrt(14), sqrt(77)
        ("reduceSumSquare", "SUM_SQUARE", [14, 77]),
        ("reduceLogSum", "LOG_SUM", [1.7917595, 2.7080503]),  # log 6, log 15
        ("reduceLogSumExp", "LOG_SUM_EXP", [3.407606, 6.407606]),
    ],
)
def test_dimensions_that_are_reduced_are_kept_with_size_1(name: str, function: str, expected: list[float]) -> None:
    found = desc({"a": A}, operator(name, "a", axes=[1]), tensor(expected, 2))
    assert (found["operator"], found["Function"], found["Axes"]) == ("REDUCE", function, [1])
    assert found["OutputTensor"] == "FLOAT32 [2, 1]"


def test_all_dimensions_are_reduced_by_default_and_none_of_no_axes() -> None:
    assert desc({"a": A}, operator("reduceSum", "a"), tensor(21))["Axes"] == [0, 1]
    assert desc({"a": A}, operator("reduceSum", "a", keepDimensions=True), tensor([21], 1, 1))["Axes"] == [0, 1]
    squares = tensor([1, 4, 9, 16, 25, 36], 2, 3)
    assert desc({"a": A}, operator("reduceSumSquare", "a", axes=[]), squares)["Axes"] == []
    assert desc({"a": tensor([3])}, operator("reduceSumSquare", "a"), tensor([9]))["Axes"] == []


@pytest.mark.parametrize(("name", "expected"), [("argMax", [2, 2]), ("argMin", [0, 0])])
def test_the_place_of_an_extreme(name: str, expected: list[int]) -> None:
    found = desc({"a": A}, operator(name, "a", 1), tensor(expected, 2, type="int32"))
    made: dict[str, Any] = {"operator": name.upper(), "Axes": [1], "AxisDirection": "INCREASING"}
    assert {key: found[key] for key in made} == made
    assert found["OutputTensor"] == "INT32 [2, 1]"


def test_an_axis_beyond_the_dimensions_is_a_reason() -> None:
    assert (
        reason({"a": A}, operator("argMax", "a", 2), tensor([0, 0], 2, type="int32"))
        == "axis 2 is not one of 2 dimensions"
    )
