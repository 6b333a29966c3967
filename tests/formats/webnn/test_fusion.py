"""What is one operator of DirectML: alone, with an activation, or with transposes that a product reads."""

from __future__ import annotations

from typing import Any

import pytest
from webnn_tests import desc, operator, reason, tensor

A, B = tensor([1, -2, 3, 4], 2, 2), tensor([1, 0, 0, 1], 2, 2)
INPUTS = {"a": A, "b": B}


@pytest.mark.parametrize(
    ("name", "options", "made"),
    [
        ("relu", {}, {"Type": "DML_OPERATOR_ACTIVATION_RELU"}),
        ("linear", {"alpha": 1, "beta": 0}, {"Type": "DML_OPERATOR_ACTIVATION_LINEAR", "Alpha": 1, "Beta": 0}),
        ("leakyRelu", {"alpha": 0.5}, {"Type": "DML_OPERATOR_ACTIVATION_LEAKY_RELU", "Alpha": 0.5}),
    ],
)
def test_an_activation_is_fused(name: str, options: dict[str, Any], made: dict[str, Any]) -> None:
    called = [operator("matmul", "a", "b", outputs="c"), operator(name, "c", **options)]
    least = {"relu": 0, "linear": -2, "leakyRelu": -1}[name]
    found = desc(INPUTS, called, tensor([1, least, 3, 4], 2, 2))
    assert (found["operator"], found["FusedActivation"]) == ("GEMM", made)


def test_a_sum_with_an_activation_is_another_operator() -> None:
    called = [operator("add", "a", "b", outputs="c"), operator("relu", "c")]
    found = desc(INPUTS, called, tensor([2, 0, 3, 5], 2, 2))
    assert (found["operator"], found["FusedActivation"]["Type"]) == (
        "ELEMENT_WISE_ADD1",
        "DML_OPERATOR_ACTIVATION_RELU",
    )
    assert desc(INPUTS, operator("add", "a", "b"), tensor([2, -2, 3, 5], 2, 2))["operator"] == "ELEMENT_WISE_ADD"


OF_TWO = "notEqual becomes ELEMENT_WISE_LOGICAL_EQUALS and ELEMENT_WISE_LOGICAL_NOT, and a case has one operator"
LEFT = "2 operators are left after fusion, and a case has one: "


@pytest.mark.parametrize(
    ("called", "left_out"),
    [
        ([operator("sub", "a", "b", outputs="c"), operator("relu", "c")], f"{LEFT}sub, relu"),  # takes none
        ([operator("matmul", "a", "b", outputs="c"), operator("gelu", "c")], f"{LEFT}matmul, gelu"),  # is not fused
        (
            [operator("matmul", "a", "b", outputs="c"), operator("relu", "a")],
            f"{LEFT}matmul, relu",
        ),  # of another tensor
        ([operator("relu", "a", outputs="c"), operator("matmul", "c", "b")], f"{LEFT}relu, matmul"),
        (
            [operator("matmul", "a", "b", outputs="c"), operator("prelu", "c", "c")],
            f"{LEFT}matmul, prelu",
        ),
        ([operator("notEqual", "a", "b")], OF_TWO),
        ([operator("einsum", "a", "b")], "no operator of DirectML is known for einsum"),
        ([operator("abs", "a")] * 12, LEFT.replace("2", "12") + "abs, " * 9 + "abs ..."),
    ],
)
def test_several_operators_are_left_out(called: list[Any], left_out: str) -> None:
    assert reason(INPUTS, called, tensor([1, 0, 3, 4], 2, 2)) == left_out


def test_no_operator_is_left_out_too() -> None:
    assert reason(INPUTS, [], tensor([1], 1)) == "0 operators are left after fusion, and a case has one: "


def test_a_result_that_is_an_output_too_is_not_fused() -> None:
    called = [operator("matmul", "a", "b", outputs="c"), operator("relu", "c")]
    expected = {"c": tensor([1, -2, 3, 4], 2, 2), "output": tensor([1, 0, 3, 4], 2, 2)}
    assert reason(INPUTS, called, expected) == f"{LEFT}matmul, relu"


def test_integers_have_no_activation() -> None:
    inputs = {"a": tensor([1, -2], 2, type="int32"), "b": tensor([0, 0], 2, type="int32")}
    called = [operator("add", "a", "b", outputs="c"), operator("relu", "c")]
    assert reason(inputs, called, tensor([1, 0], 2, type="int32")) == f"{LEFT}add, relu"


def test_transposes_are_read_by_a_product() -> None:
    """The transposes of [[1, -2], [3, 4]] and [[1, 5], [0, 1]] by each other, and through an activation."""
    inputs = {"a": A, "b": tensor([1, 5, 0, 1], 2, 2)}
    called = [
        operator("transpose", "a", outputs="p", permutation=[1, 0]),
        operator("transpose", "b", outputs="q", permutation=[1, 0]),
        operator("matmul", "p", "q"),
    ]
    found = desc(inputs, called, tensor([16, 3, 18, 4], 2, 2))
    assert (found["TransA"], found["TransB"]) == ("TRANSPOSE", "TRANSPOSE")
    called = [called[1], operator("matmul", "a", "q", outputs="c"), operator("relu", "c")]
    found = desc(inputs, called, tensor([0, 0, 23, 4], 2, 2))
    assert (found["TransA"], found["TransB"], "FusedActivation" in found) == ("NONE", "TRANSPOSE", True)


@pytest.mark.parametrize(
    "called",
    [
        [operator("transpose", "a", outputs="p", permutation=[0, 1]), operator("matmul", "p", "b")],
        [operator("transpose", "a", outputs="p"), operator("matmul", "p", "b")],  # in an order that is not written
        [operator("transpose", "a", outputs="p", permutation=[1, 0]), operator("matmul", "p", "p")],  # read twice
        [operator("transpose", "a", outputs="p", permutation=[1, 0]), operator("gemm", "p", "b")],
    ],
)
def test_other_transposes_are_operators(called: list[Any]) -> None:
    assert reason(INPUTS, called, A).startswith(f"{LEFT}transpose, ")


def test_an_output_without_expected_values_is_left_out() -> None:
    assert reason(INPUTS, operator("abs", "a", outputs="c"), A) == "no values are expected of c"
