"""Descs that tests begin with: valid at the newest feature level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.validation import validate


def tensor(*sizes: int, data_type: str = "FLOAT32", **more: Any) -> dict[str, Any]:
    return {"DataType": data_type, "Sizes": list(sizes), **more}


def convolution(x: Sequence[int], taps: Sequence[int], output: Sequence[int], **more: Any) -> dict[str, Any]:
    """Return the fields of a CONVOLUTION of these sizes; the others are as usual, but for `more`."""
    count = len(x) - 2
    return {
        "InputTensor": tensor(*x),
        "FilterTensor": tensor(*taps),
        "OutputTensor": tensor(*output),
        "Mode": "CROSS_CORRELATION",
        "Direction": "FORWARD",
        **dict.fromkeys(("Strides", "Dilations"), [1] * count),
        **dict.fromkeys(("StartPadding", "EndPadding", "OutputPadding"), [0] * count),
        "GroupCount": 1,
        **more,
    }


def product(a: Sequence[int], b: Sequence[int], output: Sequence[int], **more: Any) -> dict[str, Any]:
    """Return the fields of a GEMM of matrices of these sizes, of which none is transposed, but for `more`."""
    tensors = {"ATensor": tensor(*a), "BTensor": tensor(*b), "OutputTensor": tensor(*output)}
    return {**tensors, "TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 0, **more}


def valid(operator: str, fields: Mapping[str, Any] = {}, **others: Any) -> OperatorDesc:
    """Return the desc of these fields."""
    desc, findings = validate(operator, {**fields, **others}, NEWEST_LEVEL)
    assert desc is not None, findings
    assert findings == []
    return desc
