"""Elements that are moved: the operators and fields that Chromium's DirectML backend gives them."""

from __future__ import annotations

import pytest
from webnn_tests import desc, operator, reason, tensor

X = {"x": tensor([1, 2, 3, 4, 5, 6], 2, 3)}


def test_copies_are_read_through_strides() -> None:
    found = desc(X, operator("transpose", "x"), tensor([1, 4, 2, 5, 3, 6], 3, 2))
    assert found == {
        "operator": "ELEMENT_WISE_IDENTITY",
        "InputTensor": "FLOAT32 [3, 2] [1, 3]",
        "OutputTensor": "FLOAT32 [3, 2]",
    }
    found = desc({"x": tensor([1, 2], 2, 1)}, operator("expand", "x", [2, 3]), tensor([1, 1, 1, 2, 2, 2], 2, 3))
    assert found["InputTensor"] == "FLOAT32 [2, 3] [1, 0]"
    found = desc(X, operator("reshape", "x", [3, 2]), tensor([1, 2, 3, 4, 5, 6], 3, 2))
    assert found["InputTensor"] == "FLOAT32 [3, 2]"
    order = operator("transpose", "x", permutation=[1, 0])
    assert desc(X, order, tensor([1, 4, 2, 5, 3, 6], 3, 2))["InputTensor"] == "FLOAT32 [3, 2] [1, 3]"


def test_a_scalar_has_one_dimension() -> None:
    found = desc({"x": tensor([7])}, operator("reshape", "x", [1, 1]), tensor([7], 1, 1))
    assert found["InputTensor"] == "FLOAT32 [1, 1]"
    assert reason({"x": tensor([7])}, operator("tile", "x", []), tensor([7])).startswith("tile of a scalar")


def test_parts_are_joined_and_split() -> None:
    inputs = {"x": tensor([1, 2], 1, 2), "y": tensor([3, 4, 5], 1, 3)}
    found = desc(inputs, operator("concat", ["x", "y"], 1), tensor([1, 2, 3, 4, 5], 1, 5))
    assert (found["operator"], found["Axis"], len(found["InputTensors"])) == ("JOIN", 1, 2)
    parts = {"a": tensor([1, 4], 2, 1), "b": tensor([2, 3, 5, 6], 2, 2)}
    found = desc(X, operator("split", "x", [1, 2], outputs=["a", "b"], axis=1), parts)
    assert (found["operator"], found["Axis"]) == ("SPLIT", 1)
    assert found["OutputTensors"] == ["FLOAT32 [2, 1]", "FLOAT32 [2, 2]"]


def test_windows_are_cut_out() -> None:
    found = desc(X, operator("slice", "x", [0, 0], [2, 3], strides=[1, 2]), tensor([1, 3, 4, 6], 2, 2))
    assert (found["operator"], found["Offsets"], found["Sizes"], found["Strides"]) == ("SLICE", [0, 0], [2, 2], [1, 2])
    found = desc(X, operator("reverse", "x", axes=[1]), tensor([3, 2, 1, 6, 5, 4], 2, 3))
    assert (found["operator"], found["InputWindowStrides"]) == ("SLICE1", [1, -1])
    found = desc(X, operator("reverse", "x"), tensor([6, 5, 4, 3, 2, 1], 2, 3))
    assert found["InputWindowStrides"] == [-1, -1]


def test_padding_has_its_mode() -> None:
    x = {"x": tensor([1, 2, 3], 3)}
    found = desc(x, operator("pad", "x", [1], [2], value=9), tensor([9, 1, 2, 3, 9, 9], 6))
    assert (found["operator"], found["PaddingMode"], found["PaddingValue"]) == ("PADDING", "CONSTANT", 9)
    found = desc(x, operator("pad", "x", [2], [0], mode="reflection"), tensor([3, 2, 1, 2, 3], 5))
    assert (found["PaddingMode"], found["StartPadding"], found["EndPadding"]) == ("REFLECTION", [2], [0])
    left_out = reason(x, operator("pad", "x", [1], [0], mode="symmetric"), tensor([1, 1, 2, 3], 4))
    assert left_out == "Chromium's DirectML backend does not take mode 'symmetric'"


def test_a_tensor_is_repeated() -> None:
    assert desc({"x": tensor([1, 2], 2)}, operator("tile", "x", [2]), tensor([1, 2, 1, 2], 4))["Repeats"] == [2]


@pytest.mark.parametrize(
    ("options", "expected", "diagonals"),
    [
        ({}, [1, 2, 3, 0, 5, 6], (-(2**31), 0)),
        ({"upper": False}, [1, 0, 0, 4, 5, 0], (1, 2**31 - 1)),
        ({"diagonal": 1}, [0, 2, 3, 0, 0, 6], (-(2**31), 1)),
        ({"upper": False, "diagonal": -1}, [0, 0, 0, 4, 0, 0], (0, 2**31 - 1)),
    ],
)
def test_diagonals_on_the_other_side_are_filled(
    options: dict[str, int], expected: list[int], diagonals: tuple[int, int]
) -> None:
    found = desc(X, operator("triangular", "x", **options), tensor(expected, 2, 3))
    assert found["operator"] == "DIAGONAL_MATRIX1"
    assert (found["DiagonalFillBegin"], found["DiagonalFillEnd"]) == diagonals


def test_a_triangle_of_five_dimensions_is_several_operators() -> None:
    x = {"x": tensor([1, 2, 3, 4], 1, 1, 1, 2, 2)}
    assert "several operators" in reason(x, operator("triangular", "x"), tensor([1, 2, 0, 4], 1, 1, 1, 2, 2))


def test_sums_run_along_an_axis() -> None:
    found = desc(X, operator("cumulativeSum", "x", 1, exclusive=True), tensor([0, 1, 3, 0, 4, 9], 2, 3))
    assert (found["Axis"], found["AxisDirection"], found["HasExclusiveSum"]) == (1, "INCREASING", True)
    found = desc(X, operator("cumulativeSum", "x", 0, reversed=True), tensor([5, 7, 9, 4, 5, 6], 2, 3))
    assert (found["Axis"], found["AxisDirection"], found["HasExclusiveSum"]) == (0, "DECREASING", False)


# ---- by indices


def index(data: list[int], *shape: int) -> dict[str, object]:
    return tensor(data, *shape, type="int32")


def test_a_scalar_index_keeps_the_dimension() -> None:
    found = desc({**X, "i": index([1])}, operator("gather", "x", "i", axis=1), tensor([2, 5], 2))
    assert (found["operator"], found["Axis"], found["IndexDimensions"]) == ("GATHER", 1, 1)
    assert (found["IndicesTensor"], found["OutputTensor"]) == ("INT32 [1, 1]", "FLOAT32 [2, 1]")


def test_indices_of_several_dimensions_move_the_axis() -> None:
    inputs = {"x": tensor([5, 6, 7], 3), "i": index([2, 0, 1, 1], 2, 2)}
    found = desc(inputs, operator("gather", "x", "i"), tensor([7, 5, 6, 6], 2, 2))
    assert (found["Axis"], found["IndexDimensions"], found["InputTensor"]) == (1, 2, "FLOAT32 [1, 3]")


def test_elements_are_gathered_and_scattered() -> None:
    found = desc({**X, "i": index([2, 0], 2, 1)}, operator("gatherElements", "x", "i", axis=1), tensor([3, 4], 2, 1))
    assert (found["operator"], found["Axis"]) == ("GATHER_ELEMENTS", 1)
    inputs = {**X, "i": index([2, 0], 2, 1), "u": tensor([8, 9], 2, 1)}
    called = operator("scatterElements", "x", "i", "u", axis=1)
    assert desc(inputs, called, tensor([1, 2, 8, 9, 5, 6], 2, 3))["operator"] == "SCATTER"


def test_places_have_leading_dimensions() -> None:
    inputs = {**X, "i": index([1, 0, 0, 2], 2, 2)}
    found = desc(inputs, operator("gatherND", "x", "i"), tensor([4, 3], 2))
    assert (found["operator"], found["OutputTensor"]) == ("GATHER_ND", "FLOAT32 [1, 2]")
    assert (found["InputDimensionCount"], found["IndicesDimensionCount"]) == (2, 2)
    inputs = {"x": tensor([1, 2, 3], 3), "i": index([2, 0], 2, 1), "u": tensor([8, 9], 2)}
    found = desc(inputs, operator("scatterND", "x", "i", "u"), tensor([9, 2, 8], 3))
    assert (found["operator"], found["InputTensor"], found["InputDimensionCount"]) == (
        "SCATTER_ND",
        "FLOAT32 [1, 3]",
        1,
    )
