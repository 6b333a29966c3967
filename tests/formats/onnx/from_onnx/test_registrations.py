"""What ONNX Runtime's DirectML provider takes and leaves to others."""

from __future__ import annotations

from typing import Any

import pytest
from onnx_nodes import node, zeros

from dmlcheck.formats.onnx.from_onnx.registrations import Typed, left_to_others, opsets_of, registrations

X = zeros(1, 1, 4, 4)


def reason(name: str, version: int, *types: Typed, versions: dict[int, int] | None = None, **attributes: Any) -> Any:
    outputs = attributes.pop("outputs", 1)
    made = node(name, [X], *[X] * outputs, **attributes)
    return left_to_others(made, version, types, versions or {opset: opset for opset in opsets_of(name)})


def test_a_registered_operator_of_a_registered_version_and_type_is_taken() -> None:
    assert reason("Softmax", 13, Typed("T", "FLOAT16", "input input")) is None


def test_a_version_is_that_of_the_schema() -> None:
    assert reason("Conv", 1, versions={7: 1, 11: 11}) is None
    assert reason("Conv", 7, versions={7: 1, 11: 11}).endswith("has Conv-1, Conv-11, not Conv-7")


def test_types_are_those_of_the_version() -> None:
    assert reason("Clip", 12, Typed("T", "INT64", "input input")) is None
    assert "input input is INT64" in reason("Clip", 11, Typed("T", "INT64", "input input"))


def test_a_type_parameter_without_a_row_is_free() -> None:
    assert reason("LSTM", 14, Typed("T1", "INT32", "input sequence_lens")) is None


@pytest.mark.parametrize(
    ("name", "version", "attributes", "said"),
    [
        ("BatchNormalization", 15, {"training_mode": 1}, "in training"),
        ("MaxPool", 12, {"storage_order": 1}, "storage_order 1"),
        ("Resize", 13, {"mode": "cubic"}, "mode cubic"),
        ("Resize", 13, {"exclude_outside": 1}, "exclude_outside"),
        ("GRU", 14, {"layout": 1}, "layout 1"),
        ("ScatterND", 16, {"reduction": "add"}, "reduction add"),
        ("LayerNormalization", 17, {"outputs": 2}, "one output only"),
        ("Shape", 15, {}, "computes nothing"),
    ],
)
def test_some_attributes_are_left_to_others(name: str, version: int, attributes: dict[str, Any], said: str) -> None:
    assert said in reason(name, version, **attributes)
    if name != "Shape":
        assert reason(name, version) is None


def test_every_set_of_types_is_used_and_every_type_known() -> None:
    known = {
        "BOOL",
        "DOUBLE",
        "FLOAT",
        "FLOAT16",
        *(f"{sign}INT{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)),
    }
    rows = [row for found in registrations().rows.values() for row in found]
    assert {name for row in rows for types in row.types.values() for name in types} <= known
    assert all(row.opsets for row in rows)
    assert len(registrations().rows) > 150
