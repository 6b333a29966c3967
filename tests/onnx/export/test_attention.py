"""Attention as ONNX graphs: what has no words; test_crosscheck compares values."""

from __future__ import annotations

from typing import Any

import pytest

from dmlcheck import validation
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.onnx.export.mappings import build
from dmlcheck.onnx.export.records import Inexpressible
from dmlcheck.specs.names import NEWEST_LEVEL

ATTENTION = {"Scale": 0.5, "MaskFilterValue": -100.0, "HeadCount": 2, "MaskType": "NONE"}


def taken(fields: dict[str, Any]) -> OperatorDesc:
    """Return a desc of which some release takes all that newer ones refuse, as a past without this step."""
    desc, findings = validation.validate("DML_OPERATOR_MULTIHEAD_ATTENTION", fields, NEWEST_LEVEL)
    assert desc is not None
    assert all(finding.taken_by for finding in findings)
    return desc


SIZES: dict[str, list[int]] = {
    "QueryTensor": [2, 3, 4],
    "KeyTensor": [2, 5, 4],
    "ValueTensor": [2, 5, 4],
    "OutputTensor": [2, 3, 4],
}


@pytest.mark.parametrize(
    ("more", "fields", "reason"),
    [
        ({}, {"Scale": 0}, "a scale of 0"),
        ({"KeyTensor": None, "ValueTensor": None, "PastKeyTensor": [2, 2, 5, 2], "PastValueTensor": [2, 2, 5, 1]},
         {"OutputTensor": {"DataType": "FLOAT32", "Sizes": [2, 3, 2]}}, "one head size with only a key and a value"),
        ({}, {"MaskType": "KEY_SEQUENCE_LENGTH"}, "a type without a mask"),
    ],
)  # fmt: skip
def test_what_multi_head_attention_does_not_do_is_refused_with_the_reason(
    more: dict[str, list[int] | None], fields: dict[str, Any], reason: str
) -> None:
    sizes = {name: own for name, own in {**SIZES, **more}.items() if own is not None}
    tensors = {name: {"DataType": "FLOAT32", "Sizes": own} for name, own in sizes.items()}
    desc = taken({**tensors, **ATTENTION, **fields})
    with pytest.raises(Inexpressible, match=reason):
        build(desc)
