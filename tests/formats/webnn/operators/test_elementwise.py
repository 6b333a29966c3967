"""Functions of elements: the operators and fields that Chromium's DirectML backend gives them."""

from __future__ import annotations

from typing import Any

import pytest
from webnn_tests import desc, operator, reason, tensor

SIX = {"x": tensor([1, 2, 3, 4, 5, 6], 2, 3)}


def test_copies_are_read_through_strides() -> None:
    found = desc(SIX, operator("transpose", "x"), tensor([1, 4, 2, 5, 3, 6], 3, 2))
    assert found == {
        "operator": "ELEMENT_WISE_IDENTITY",
        "InputTensor": "FLOAT32 [3, 2] [1, 3]",
        "OutputTensor": "FLOAT32 [3, 2]",
    }
    found = desc({"x": tensor([1, 2], 2, 1)}, operator("expand", "x", [2, 3]), tensor([1, 1, 1, 2, 2, 2], 2, 3))
    assert found["InputTensor"] == "FLOAT32 [2, 3] [1, 0]"
    found = desc(SIX, operator("reshape", "x", [3, 2]), tensor([1, 2, 3, 4, 5, 6], 3, 2))
    assert found["InputTensor"] == "FLOAT32 [3, 2]"
    order = operator("transpose", "x", permutation=[1, 0])
    assert desc(SIX, order, tensor([1, 4, 2, 5, 3, 6], 3, 2))["InputTensor"] == "FLOAT32 [3, 2] [1, 3]"


def test_a_scalar_has_one_dimension() -> None:
    found = desc({"x": tensor([7])}, operator("reshape", "x", [1, 1]), tensor([7], 1, 1))
    assert found["InputTensor"] == "FLOAT32 [1, 1]"
    assert reason({"x": tensor([7])}, operator("tile", "x", []), tensor([7])).startswith("tile of a scalar")


def test_parts_are_joined_and_split() -> None:
    inputs = {"x": tensor([1, 2], 1, 2), "y": tensor([3, 4, 5], 1, 3)}
    found = desc(inputs, operator("concat", ["x", "y"], 1), tensor([1, 2, 3, 4, 5], 1, 5))
    assert (found["operator"], found["Axis"], len(found["InputTensors"])) == ("JOIN", 1, 2)
    parts = {"a": tensor([1, 4], 2, 1), "b": tensor([2, 3, 5, 6], 2, 2)}
    found = desc(SIX, operator("split", "x", [1, 2], outputs=["a", "b"], axis=1), parts)
    assert (found["operator"], found["Axis"]) == ("SPLIT", 1)
    assert found["OutputTensors"] == ["FLOAT32 [2, 1]", "FLOAT32 [2, 2]"]


def test_windows_are_cut_out() -> None:
    found = desc(SIX, operator("slice", "x", [0, 0], [2, 3], strides=[1, 2]), tensor([1, 3, 4, 6], 2, 2))
    assert (found["operator"], found["Offsets"], found["Sizes"], found["Strides"]) == ("SLICE", [0, 0], [2, 2], [1, 2])
    found = desc(SIX, operator("reverse", "x", axes=[1]), tensor([3, 2, 1, 6, 5, 4], 2, 3))
    assert (found["operator"], found["InputWindowStrides"]) == ("SLICE1", [1, -1])
    found = desc(SIX, operator("reverse", "x"), tensor([6, 5, 4, 3, 2, 1], 2, 3))
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
    found = desc(SIX, operator("triangular", "x", **options), tensor(expected, 2, 3))
    assert found["operator"] == "DIAGONAL_MATRIX1"
    assert (found["DiagonalFillBegin"], found["DiagonalFillEnd"]) == diagonals


def test_a_triangle_of_five_dimensions_is_several_operators() -> None:
    x = {"x": tensor([1, 2, 3, 4], 1, 1, 1, 2, 2)}
    assert "several operators" in reason(x, operator("triangular", "x"), tensor([1, 2, 0, 4], 1, 1, 1, 2, 2))


def test_sums_run_along_an_axis() -> None:
    found = desc(SIX, operator("cumulativeSum", "x", 1, exclusive=True), tensor([0, 1, 3, 0, 4, 9], 2, 3))
    assert (found["Axis"], found["AxisDirection"], found["HasExclusiveSum"]) == (1, "INCREASING", True)
    found = desc(SIX, operator("cumulativeSum", "x", 0, reversed=True), tensor([5, 7, 9, 4, 5, 6], 2, 3))
    assert (found["Axis"], found["AxisDirection"], found["HasExclusiveSum"]) == (0, "DECREASING", False)


# ---- by indices


def index(data: list[int], *shape: int) -> dict[str, object]:
    return tensor(data, *shape, type="int32")


def test_a_scalar_index_keeps_the_dimension() -> None:
    found = desc({**SIX, "i": index([1])}, operator("gather", "x", "i", axis=1), tensor([2, 5], 2))
    assert (found["operator"], found["Axis"], found["IndexDimensions"]) == ("GATHER", 1, 1)
    assert (found["IndicesTensor"], found["OutputTensor"]) == ("INT32 [1, 1]", "FLOAT32 [2, 1]")


def test_indices_of_several_dimensions_move_the_axis() -> None:
    inputs = {"x": tensor([5, 6, 7], 3), "i": index([2, 0, 1, 1], 2, 2)}
    found = desc(inputs, operator("gather", "x", "i"), tensor([7, 5, 6, 6], 2, 2))
    assert (found["Axis"], found["IndexDimensions"], found["InputTensor"]) == (1, 2, "FLOAT32 [1, 3]")


def test_elements_are_gathered_and_scattered() -> None:
    found = desc({**SIX, "i": index([2, 0], 2, 1)}, operator("gatherElements", "x", "i", axis=1), tensor([3, 4], 2, 1))
    assert (found["operator"], found["Axis"]) == ("GATHER_ELEMENTS", 1)
    inputs = {**SIX, "i": index([2, 0], 2, 1), "u": tensor([8, 9], 2, 1)}
    called = operator("scatterElements", "x", "i", "u", axis=1)
    assert desc(inputs, called, tensor([1, 2, 8, 9, 5, 6], 2, 3))["operator"] == "SCATTER"


def test_places_have_leading_dimensions() -> None:
    inputs = {**SIX, "i": index([1, 0, 0, 2], 2, 2)}
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


# ---- functions


X = {"x": tensor([-2, 0.5, 3], 3)}


@pytest.mark.parametrize(
    ("name", "options", "expected", "made"),
    [
        ("abs", {}, [2, 0.5, 3], {"operator": "ELEMENT_WISE_ABS"}),
        ("ceil", {}, [-2, 1, 3], {"operator": "ELEMENT_WISE_CEIL"}),
        ("floor", {}, [-2, 0, 3], {"operator": "ELEMENT_WISE_FLOOR"}),
        ("identity", {}, [-2, 0.5, 3], {"operator": "ELEMENT_WISE_IDENTITY"}),
        ("reciprocal", {}, [-0.5, 2, 0.33333334], {"operator": "ELEMENT_WISE_RECIP"}),
        ("sign", {}, [-1, 1, 1], {"operator": "ELEMENT_WISE_SIGN"}),
        ("relu", {}, [0, 0.5, 3], {"operator": "ACTIVATION_RELU"}),
        ("neg", {}, [2, -0.5, -3], {"operator": "ELEMENT_WISE_IDENTITY", "ScaleBias": {"Scale": -1, "Bias": 0}}),
        ("roundEven", {}, [-2, 0, 3], {"RoundingMode": "HALVES_TO_NEAREST_EVEN", "operator": "ELEMENT_WISE_ROUND"}),
        ("leakyRelu", {}, [-0.02, 0.5, 3], {"operator": "ACTIVATION_LEAKY_RELU", "Alpha": 0.01}),
        ("leakyRelu", {"alpha": 0.5}, [-1, 0.5, 3], {"operator": "ACTIVATION_LEAKY_RELU", "Alpha": 0.5}),
        ("linear", {"alpha": 2, "beta": 1}, [-3, 2, 7], {"operator": "ACTIVATION_LINEAR", "Alpha": 2, "Beta": 1}),
        ("elu", {}, [-0.8646647, 0.5, 3], {"operator": "ACTIVATION_ELU", "Alpha": 1}),  # exp(-2) - 1
        # 0.2 x + 0.5 between 0 and 1
        ("hardSigmoid", {}, [0.1, 0.6, 1], {"operator": "ACTIVATION_HARD_SIGMOID", "Alpha": 0.2, "Beta": 0.5}),
        # x times x / 6 + 0.5 between 0 and 1
        (
            "hardSwish",
            {},
            [-2 / 6, 0.29166666, 3],
            {"operator": "ACTIVATION_HARD_SWISH", "Alpha": 0.16666667, "Beta": 0.5},
        ),
        ("softplus", {}, [0.126928, 0.974077, 3.0485873], {"operator": "ACTIVATION_SOFTPLUS", "Steepness": 1}),
        ("softsign", {}, [-2 / 3, 1 / 3, 0.75], {"operator": "ACTIVATION_SOFTSIGN"}),
        (
            "clamp",
            {"minValue": -1},
            [-1, 0.5, 3],
            {"operator": "ELEMENT_WISE_CLIP1", "Min": -1, "MinMaxDataType": "FLOAT32"},
        ),
        ("clamp", {"maxValue": 1}, [-2, 0.5, 1], {"operator": "ELEMENT_WISE_CLIP1", "Max": 1}),
    ],
)
def test_a_function_of_each_element(name: str, options: Any, expected: list[float], made: dict[str, Any]) -> None:
    found = desc(X, operator(name, "x", **options), tensor(expected, 3))
    assert {key: found[key] for key in made} == made


@pytest.mark.parametrize(
    ("name", "expected", "made"),
    [
        ("isNaN", [0, 1, 0], {"operator": "ELEMENT_WISE_IS_NAN"}),
        ("isInfinite", [1, 0, 0], {"operator": "ELEMENT_WISE_IS_INFINITY", "InfinityMode": "EITHER"}),
    ],
)
def test_what_kind_of_number_an_element_is(name: str, expected: list[int], made: dict[str, Any]) -> None:
    inputs = {"x": tensor([float("-inf"), float("nan"), 1], 3)}
    found = desc(inputs, operator(name, "x"), tensor(expected, 3, type="uint8"))
    assert {key: found[key] for key in made} == made


def test_a_scalar_is_repeated_too() -> None:
    inputs = {"x": tensor([2, 3], 2), "y": tensor([2])}
    found = desc(inputs, operator("pow", "x", "y"), tensor([4, 9], 2))
    assert found["operator"] == "ELEMENT_WISE_POW"
    assert (found["InputTensor"], found["ExponentTensor"]) == ("FLOAT32 [2]", "FLOAT32 [2] [0]")


def test_where_chooses_by_its_condition() -> None:
    inputs = {"c": tensor([1, 0], 2, type="uint8"), "x": tensor([1, 2], 2), "y": tensor([7])}
    found = desc(inputs, operator("where", "c", "x", "y"), tensor([1, 7], 2))
    assert (found["operator"], found["BTensor"]) == ("ELEMENT_WISE_IF", "FLOAT32 [2] [0]")


def test_a_slope_is_repeated_to_the_output() -> None:
    inputs = {"x": tensor([-1, 2, -3, 4], 2, 2), "slope": tensor([0.5, 10], 2)}
    found = desc(inputs, operator("prelu", "x", "slope"), tensor([-0.5, 2, -1.5, 4], 2, 2))
    assert found["SlopeTensor"] == "FLOAT32 [2, 2] [0, 1]"


def test_the_limits_of_integers_are_those_of_their_type() -> None:
    x = {"x": tensor([-128, 5, 127], 3, type="int8")}
    found = desc(x, operator("clamp", "x", maxValue=4), tensor([-128, 4, 4], 3, type="int8"))
    assert (found["Min"], found["Max"], found["MinMaxDataType"]) == (-128, 4, "INT8")
    found = desc(x, operator("clamp", "x", minValue=float("-inf")), tensor([-128, 5, 127], 3, type="int8"))
    assert (found["Min"], found["Max"]) == (-128, 127)


def test_softmax_is_along_its_axis() -> None:
    """exp(0) and exp(log 3) are 1 and 3 of 4."""
    log3 = 1.0986122886681098
    inputs = {"x": tensor([0, 0, log3, log3], 2, 2)}
    found = desc(inputs, operator("softmax", "x", 0), tensor([0.25, 0.25, 0.75, 0.75], 2, 2))
    assert (found["operator"], found["Axes"]) == ("ACTIVATION_SOFTMAX1", [0])


def test_what_is_no_number_or_tensor_is_a_reason() -> None:
    y = tensor([0, 0, 0], 3)
    assert reason(X, operator("elu", "x", alpha="x y"), y) == "`alpha` of elu is 'x y', not a number"
    assert reason(X, operator("add", "x", 1), y) == "`b` of add is 1, not a tensor of the test"
    assert reason(X, operator("add", "x", "nowhere"), y) == "`b` of add is 'nowhere', not a tensor of the test"
    assert reason(X, operator("abs", "x", 1), y) == "abs is called with 2 arguments, and has 1"
    assert "repeat" in reason({**X, "y": tensor([1, 2], 2)}, operator("add", "x", "y"), y)
