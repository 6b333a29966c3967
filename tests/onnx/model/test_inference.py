"""What ONNX knows of a node: the version of its operator, what is wrong with it, its outputs."""

from __future__ import annotations

from typing import Any

import pytest

from dmlcheck.onnx.model.inference import Context, type_of, values_of, version_of
from dmlcheck.onnx.model.values import Value

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
