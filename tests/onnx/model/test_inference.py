"""What ONNX knows of a node: the version of its operator, what is wrong with it, its outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.onnx.model.inference import Context, type_of, values_of, version_of
from dmlcheck.onnx.model.values import Value, of_numbers

helper = pytest.importorskip("onnx.helper")
FLOAT = pytest.importorskip("onnx").TensorProto.FLOAT


def floats(*sizes: int | str | None) -> Value:
    return Value(helper.make_tensor_type_proto(FLOAT, sizes))


def graph(opset: int = 17, **declared: Value) -> Context:
    return Context({"": opset, "com.microsoft": 1}, {name: value.type for name, value in declared.items()}, 8)


def outputs(made: Any, of: Context | None = None, **scope: Value) -> list[Value]:
    return values_of(made, of or graph(), scope)[1]


@pytest.mark.parametrize(
    ("type", "domain", "opset", "version"),
    [
        ("Softmax", "", 12, 11),
        ("Softmax", "", 17, 13),
        ("Gelu", "com.microsoft", 17, 1),
        ("Affine", "", 9, 1),  # experimental, and gone with opset 10
        ("Affine", "", 17, 17),
        ("Mine", "com.example", 17, 3),
    ],
)
def test_the_version_of_an_operator_is_that_of_its_schema(type: str, domain: str, opset: int, version: int) -> None:
    made = helper.make_node(type, ["x"], ["y"], domain=domain)
    assert version_of(made, {"": opset, "com.microsoft": 1, "com.example": 3}) == version
    assert type_of(made) == (f"{domain}.{type}" if domain else type)


def test_outputs_have_the_types_and_sizes_that_onnx_infers() -> None:
    (y,) = outputs(helper.make_node("MatMul", ["a", "b"], ["y"]), a=floats(2, 3), b=floats(3, "n"))
    assert (y.element, list(y.sizes or ())) == ("FLOAT", [2, "n"])


@pytest.mark.parametrize(
    ("opset", "made", "expected"),
    [
        (12, helper.make_node("GreaterOrEqual", ["a", "b"], ["y"]), ("BOOL", (2, 3))),
        (14, helper.make_node("LessOrEqual", ["a", "b"], ["y"]), ("BOOL", (2, 3))),
        (9, helper.make_node("MeanVarianceNormalization", ["a"], ["y"]), ("FLOAT", (2, 3))),
        (13, helper.make_node("MeanVarianceNormalization", ["a"], ["y"]), ("FLOAT", (2, 3))),
        (18, helper.make_node("GroupNormalization", ["a", "b", "b"], ["y"], num_groups=1), ("FLOAT", (2, 3))),
        (21, helper.make_node("GroupNormalization", ["a", "b", "b"], ["y"], num_groups=1), ("FLOAT", (2, 3))),
    ],
)
def test_operators_of_which_onnx_infers_the_type_alone_have_sizes(opset: int, made: Any, expected: Any) -> None:
    (y,) = outputs(made, graph(opset), a=floats(2, 3), b=floats(3))
    assert (y.element, y.sizes) == expected


def test_what_the_model_declares_counts_where_onnx_infers_less() -> None:
    made = helper.make_node("Mine", ["x"], ["y"], domain="com.example")
    (y,) = outputs(made, graph(y=floats(4)), x=floats(2))
    assert list(y.sizes or ()) == [4]
    (y,) = outputs(helper.make_node("Neg", ["x"], ["y"]), graph(y=floats("n")), x=floats(2))
    assert list(y.sizes or ()) == [2]


def test_numbers_are_computed_of_numbers_that_are_known() -> None:
    (y,) = outputs(
        helper.make_node("Add", ["a", "b"], ["y"]), a=of_numbers(np.array([1, 2])), b=of_numbers(np.array([3, 4]))
    )
    assert y.numbers is not None
    assert y.numbers.tolist() == [4, 6]


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        (helper.make_node("Neg", ["z"], ["y"]), "it reads 'z', which is no input and no initializer"),
        (helper.make_node("Neg", ["x"], ["x"]), "it makes 'x', and another value has that name"),
        (helper.make_node("Neg", ["x", "x"], ["y"]), "Neg"),
        (helper.make_node("Softmax", ["x"], ["y"], axes=[1]), "axes"),
        (helper.make_node("MatMul", ["x", "x"], ["y"]), "dimension"),
    ],
)
def test_a_node_that_is_wrong_is_refused(made: Any, problem: str) -> None:
    with pytest.raises(Unmapped, match=problem):
        outputs(made, x=floats(2, 3))
