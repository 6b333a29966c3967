"""What DxDispatch writes in another way than case files."""

from __future__ import annotations

from typing import Any

import pytest
from dxdispatch_models import DESC, model_of

from dmlcheck.formats.dxdispatch.form import data_type
from dmlcheck.specs.names import DATA_TYPES
from dmlcheck.validation import validate


@pytest.mark.parametrize("name", DATA_TYPES)
def test_the_type_of_a_resource_may_be_given_in_full(name: str) -> None:
    assert data_type(name) == data_type(f"DML_TENSOR_DATA_TYPE_{name}") == name


@pytest.mark.parametrize("raw", ["float32", "FLOAT31", "", "DML_TENSOR_DATA_TYPE_", 1, None, ["FLOAT32"]])
def test_what_is_no_data_type_has_none(raw: Any) -> None:
    assert data_type(raw) is None


@pytest.mark.parametrize(
    ("tensor", "normal"),
    [
        ({"Strides": []}, {}),
        ({"TotalTensorSizeInBytes": 0}, {}),
        ({"Strides": [], "TotalTensorSizeInBytes": 0, "Flags": "NONE"}, {"Flags": "NONE"}),
        ({"Strides": [3, 1], "TotalTensorSizeInBytes": 36}, {"Strides": [3, 1], "TotalTensorSizeInBytes": 36}),
        ({"TotalTensorSizeInBytes": False}, {"TotalTensorSizeInBytes": False}),
        ({"Strides": None}, {"Strides": None}),
    ],
)
@pytest.mark.parametrize("is_long", [False, True])
def test_no_strides_and_a_size_of_0_are_left_out_of_tensors(
    tensor: dict[str, Any], normal: dict[str, Any], is_long: bool
) -> None:
    def wrapped(fields: dict[str, Any]) -> dict[str, Any]:
        whole = {**DESC["InputTensor"], **fields}  # type: ignore[dict-item]
        return {"Type": "DML_TENSOR_TYPE_BUFFER", "Desc": whole} if is_long else whole

    model = model_of(dispatchables={"argmax": {"type": "ARGMAX", "desc": {**DESC, "InputTensor": wrapped(tensor)}}})
    case = model.operators["argmax"]
    assert case.desc == {**DESC, "InputTensor": wrapped(normal)}
    if normal != {"TotalTensorSizeInBytes": False}:
        assert validate(case.operator, case.desc, "6_4")[1] == []


def test_fields_of_an_operator_are_left_as_they_are() -> None:
    desc = {**DESC, "Strides": [], "Axes": [], "TotalTensorSizeInBytes": 0}
    assert model_of(dispatchables={"argmax": {"type": "ARGMAX", "desc": desc}}).operators["argmax"].desc == desc
