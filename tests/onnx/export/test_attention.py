"""Attention as ONNX graphs: the values of its formula, written out here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_models import answers, expect, f32, raw, small

from dmlcheck import validation
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.onnx.export.mappings import build
from dmlcheck.onnx.export.records import Inexpressible
from dmlcheck.specs.names import NEWEST_LEVEL

Array = np.ndarray[Any, Any]


def attended(
    q: Array, k: Array, v: Array, heads: int, scale: float, added: Array | float = 0.0
) -> tuple[Array, Array, Array]:
    """Return the softmax of each head's products of query and key, times its values; heads side by side."""

    def apart(x: Array) -> Array:
        return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)

    scores = apart(q) @ apart(k).swapaxes(-1, -2) * scale + added
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    mixed = weights / weights.sum(-1, keepdims=True) @ apart(v)
    return mixed.transpose(0, 2, 1, 3).reshape(*q.shape[:2], -1), apart(k), apart(v)


ATTENTION = {"Scale": 0.5, "MaskFilterValue": -100.0, "HeadCount": 2, "MaskType": "NONE"}


BY_RUNTIME = ("onnxruntime",)


def test_attention_puts_the_past_before_this_step_or_takes_it_alone() -> None:
    q, k, v = small(2, 3, 4), small(2, 2, 4, step=3), small(2, 2, 4, step=7)
    past_k, past_v = small(2, 2, 3, 2, step=11), small(2, 2, 3, 2, step=13)

    def side_by_side(past: Array, step: Array) -> Array:
        return np.concatenate([past.transpose(0, 2, 1, 3).reshape(2, 3, 4), step], 1)

    wanted, present_k, present_v = attended(q, side_by_side(past_k, k), side_by_side(past_v, v), 2, 0.5)
    past = {"PastKeyTensor": past_k, "PastValueTensor": past_v}
    outputs = {"OutputTensor": wanted, "OutputPresentKeyTensor": present_k, "OutputPresentValueTensor": present_v}
    outputs = {name: f32(value) for name, value in outputs.items()}
    inputs = {"QueryTensor": q, "KeyTensor": k, "ValueTensor": v, **past}
    expect("MULTIHEAD_ATTENTION", inputs, outputs, 1e-5, BY_RUNTIME, **ATTENTION)
    expect("MULTIHEAD_ATTENTION", inputs, {"OutputTensor": outputs["OutputTensor"]}, 1e-5, BY_RUNTIME, **ATTENTION)
    alone, _, _ = attended(q, side_by_side(past_k, k)[:, :3], side_by_side(past_v, v)[:, :3], 2, 0.5)
    inputs = {"QueryTensor": q, **past}
    tensors = {name: raw(value) for name, value in {**inputs, "OutputTensor": f32(alone)}.items()}
    (answer,) = answers(taken({**tensors, **ATTENTION}), inputs, BY_RUNTIME)
    np.testing.assert_allclose(answer["OutputTensor"], alone, 1e-5, 1e-5)


def taken(fields: dict[str, Any]) -> OperatorDesc:
    """Return a desc of which some release takes all that newer ones refuse, as a past without this step."""
    desc, findings = validation.validate("DML_OPERATOR_MULTIHEAD_ATTENTION", fields, NEWEST_LEVEL)
    assert desc is not None
    assert all(finding.taken_by for finding in findings)
    return desc


def test_attention_masks_keys_by_length_or_one_by_one() -> None:
    q, k, v = small(2, 3, 4), small(2, 5, 4, step=3), small(2, 5, 4, step=7)
    seen = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 0]])
    inputs = {"QueryTensor": q, "KeyTensor": k, "ValueTensor": v}
    wanted, _, _ = attended(q, k, v, 2, 0.5, (1 - seen[:, None, None]) * -100.0)
    lengths = {**inputs, "MaskTensor": np.array([[3, 4]], np.int32)}
    fields = ATTENTION | {"MaskType": "KEY_SEQUENCE_LENGTH"}
    expect("MULTIHEAD_ATTENTION", lengths, {"OutputTensor": f32(wanted)}, 1e-5, BY_RUNTIME, **fields)
    mask = np.ones((2, 2, 3, 5), np.int32)
    mask[0, :, 1, 2] = mask[1, :, 2, 0] = 0
    wanted, _, _ = attended(q, k, v, 2, 0.5, (1 - mask) * -100.0)
    fields = ATTENTION | {"MaskType": "BOOLEAN", "MaskTensor": {"Strides": [15, 0, 5, 1]}}
    masked = {**inputs, "MaskTensor": mask}
    expect("MULTIHEAD_ATTENTION", masked, {"OutputTensor": f32(wanted)}, 1e-5, BY_RUNTIME, **fields)


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
