"""The findings that parts of a model have in common."""

from __future__ import annotations

from typing import Any

import pytest
from dxdispatch_models import DESC, model_of

from dmlcheck.validation import validate

# ---- what DxDispatch writes in another way than case files


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
