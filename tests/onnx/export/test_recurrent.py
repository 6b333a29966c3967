"""RNN, GRU and LSTM as ONNX graphs: the values of their equations in plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_models import answers, expect, f32, raw, small
from recurrences_of import described

from dmlcheck import validation
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.onnx.export.builder import build
from dmlcheck.onnx.export.records import Inexpressible
from dmlcheck.specs.names import NEWEST_LEVEL

Array = np.ndarray[Any, Any]


def steps_of(direction: str, length: int) -> range:
    return range(length) if direction == "FORWARD" else range(length - 1, -1, -1)


def network(gates: int, direction: str, **more: Array) -> tuple[dict[str, Array], str]:
    """Return inputs of 3 steps, a batch of 2, 2 elements in and a hidden size of 2."""
    return {
        "InputTensor": small(1, 3, 2, 2),
        "WeightTensor": small(1, 1, 2 * gates, 2, step=3),
        "RecurrenceTensor": small(1, 1, 2 * gates, 2, step=7),
        "BiasTensor": small(1, 1, 1, 4 * gates, step=11),
        "HiddenInitTensor": small(1, 1, 2, 2, step=13),
        **more,
    }, direction


def pieces(inputs: dict[str, Any], gates: int) -> tuple[Any, ...]:
    x, w, r = inputs["InputTensor"][0], inputs["WeightTensor"][0, 0], inputs["RecurrenceTensor"][0, 0]
    return x, np.split(w, gates), np.split(r, gates), np.split(inputs["BiasTensor"][0, 0, 0], 2 * gates)


def test_numbers_of_activations_go_to_those_that_have_them() -> None:
    """Of two with numbers in results, and of one with and one without in the attributes of the node."""
    inputs, _ = network(1, "FORWARD")
    both = {name: np.concatenate([value, value], 1 if value.shape[2] > 1 else 2) for name, value in inputs.items()}
    both["InputTensor"] = inputs["InputTensor"]
    both["BiasTensor"] = inputs["BiasTensor"].repeat(2, 2)
    x, (w,), (r,), (bw, br) = pieces(inputs, 1)

    def leaky(value: Any) -> Array:
        return np.where(value < 0, 0.25 * value, value)

    def elu(value: Any) -> Array:
        return np.where(value < 0, 0.5 * np.expm1(value), value)

    made = np.empty((3, 2, 2, 2), np.float32)
    for place, function, order in ((0, elu, "FORWARD"), (1, leaky, "BACKWARD")):
        h = inputs["HiddenInitTensor"][0, 0]
        for t in steps_of(order, 3):
            h = function(x[t] @ w.T + h @ r.T + bw + br)
            made[t, place] = h
    with_numbers = [{"Type": "ACTIVATION_ELU", "Alpha": 0.5}, {"Type": "ACTIVATION_LEAKY_RELU", "Alpha": 0.25}]
    fields = {"ActivationDescs": with_numbers, "Direction": "BIDIRECTIONAL"}
    expect("RNN", both, {"OutputSequenceTensor": made}, 1e-5, by=("onnxruntime",), **fields)
    fields["ActivationDescs"] = [{"Type": "ACTIVATION_TANH"}, with_numbers[1]]
    graph = build(described("RNN", both, {"OutputSequenceTensor": made.shape}, **fields))
    attributes = next(node.attributes for node in graph.nodes if node.type == "RNN")
    assert (attributes["activations"], attributes["activation_alpha"]) == (["Tanh", "LeakyRelu"], [0.25])
    assert "activation_beta" not in attributes


@pytest.mark.parametrize(
    ("activation", "expected"),
    [
        ({"Type": "ACTIVATION_CELU", "Alpha": 1}, ("Elu", [1], None)),
        ({"Type": "ACTIVATION_CELU", "Alpha": 2}, None),
        ({"Type": "ACTIVATION_IDENTITY"}, ("Affine", [1], [0])),
        ({"Type": "ACTIVATION_PARAMETRIC_SOFTPLUS", "Alpha": 1, "Beta": 1}, ("Softplus", None, None)),
        ({"Type": "ACTIVATION_PARAMETRIC_SOFTPLUS", "Alpha": 1, "Beta": 2}, None),
        ({"Type": "ACTIVATION_SCALED_ELU", "Alpha": 2, "Gamma": 1}, ("Elu", [2], None)),
        ({"Type": "ACTIVATION_SCALED_ELU", "Alpha": 1, "Gamma": 2}, None),
        ({"Type": "ACTIVATION_SOFTPLUS", "Steepness": 1}, ("Softplus", None, None)),
        ({"Type": "ACTIVATION_SOFTPLUS", "Steepness": 2}, None),
        ({"Type": "ACTIVATION_GELU"}, None),
    ],
)
def test_an_activation_is_a_function_that_onnx_has_with_its_numbers(activation: Any, expected: Any) -> None:
    inputs, _ = network(1, "FORWARD")
    desc = described(
        "RNN", inputs, {"OutputSequenceTensor": (3, 1, 2, 2)}, ActivationDescs=[activation], Direction="FORWARD"
    )
    if expected is None:
        with pytest.raises(Inexpressible, match=f"no {activation['Type']} with its parameters"):
            build(desc)
        return
    attributes = next(node.attributes for node in build(desc).nodes if node.type == "RNN")
    name, alpha, beta = expected
    assert attributes["activations"] == [name]
    assert (attributes.get("activation_alpha"), attributes.get("activation_beta")) == (alpha, beta)


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
