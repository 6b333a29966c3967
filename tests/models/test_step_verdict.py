"""What an implementation gave for a graph of steps: right within what its roundings may do, wrong beyond it."""

from __future__ import annotations

from typing import Any

import numpy as np
from node_graphs import float32, graph, node_of

from dmlcheck.graphs.carry import Carried
from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.models.step_verdict import Named, as_numbers, judge_carried, judge_steps, limit_of
from dmlcheck.onnx.descs.node import OnnxNode
from dmlcheck.running.verdict import Limits, Verdict
from dmlcheck.specs.records import Peer

Array = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(3)
LIMITS = Limits()
SKIP = "com.microsoft.SkipLayerNormalization"


def random(*sizes: int) -> Array:
    return RANDOM.standard_normal(sizes).astype(np.float32)


def judged(node: OnnxNode, *outputs: Array, limits: Limits = LIMITS) -> Verdict:
    made = graph(node)
    data = {f"input {i}": x.buffer.bytes for i, x in enumerate(node.inputs) if x is not None}
    actual = {f"output {i}": values for i, values in enumerate(outputs)}
    return judge_steps(made, data, actual, limits, Named("model.onnx::node", "model.onnx"))  # type: ignore[arg-type]


def normalized() -> tuple[OnnxNode, Array]:
    """Return a node of three steps, and what FLOAT32 arithmetic gives for it."""
    x, skip, bias, scale = random(1, 4, 64), random(1, 4, 64), random(64), random(64)
    node = node_of(SKIP, [x, skip, scale, np.zeros(64, np.float32), bias], float32(1, 4, 64))
    total = x + skip + bias
    centered = total - total.mean(-1, keepdims=True)
    return node, centered / np.sqrt((centered**2).mean(-1, keepdims=True) + np.float32(1e-12)) * scale


def test_several_steps_are_right_as_far_as_their_roundings_go() -> None:
    node, values = normalized()
    verdict = judged(node, values)
    assert verdict.findings == ()
    assert 0 < (verdict.outputs["output 0"].max_share or 0) < 1


def test_several_steps_are_wrong_beyond_that_and_say_by_which_formulas() -> None:
    node, values = normalized()
    values = values.copy()
    values[0, 2, 5] *= np.float32(1.01)
    verdict = judged(node, values)
    (finding,) = verdict.findings
    assert (finding.rule, finding.params["tensor"]) == ("output-mismatch", "output 0")
    output = verdict.outputs["output 0"]
    assert (output.mismatches, output.worst and output.worst.place) == (1, (0, 2, 5))
    assert output.decided_by.startswith("the formulas of 3 operators, one after the other, with each operation rounded")


def test_the_largest_of_four_is_wrong_by_one_ulp() -> None:
    rows = [random(9) for _ in range(4)]
    node, right = node_of("Max", rows, float32(9)), np.max(rows, 0)
    assert judged(node, right).findings == ()
    wrong = right.copy()
    wrong[4] = np.nextafter(wrong[4], np.float32(np.inf))
    assert judged(node, wrong).outputs["output 0"].mismatches == 1


def test_a_quantized_sigmoid_is_right_in_float32_and_wrong_by_two() -> None:
    x = np.arange(256, dtype=np.uint8)
    numbers = [np.array(v, t) for v, t in ((0.05, "f4"), (128, "u1"), (1 / 256, "f4"), (0, "u1"))]
    node = node_of("com.microsoft.QLinearSigmoid", [x, *numbers], TensorRef("UINT8", (256,)))
    plain = 1 / (1 + np.exp(-np.float32(0.05) * (x.astype(np.float32) - 128)))
    right = np.clip(np.rint(plain * np.float32(256)), 0, 255).astype(np.uint8)
    assert judged(node, right).findings == ()
    wrong = right.copy()
    wrong[130] += 2
    assert judged(node, wrong).outputs["output 0"].mismatches == 1


def test_one_step_is_judged_as_a_case_with_the_name_of_the_graph() -> None:
    x = random(2, 3)
    verdict = judged(node_of("Relu", [x], float32(2, 3)), np.maximum(x, 0) + np.float32(1))
    assert set(verdict.outputs) == {"output 0"}
    assert [finding.params["tensor"] for finding in verdict.findings] == ["output 0"]


def test_outputs_that_are_not_given_are_not_asked_for() -> None:
    x = random(1, 1, 4, 4)
    node = node_of("MaxPool", [x], float32(1, 1, 2, 2), kernel_shape=[2, 2], strides=[2, 2])
    right = x.reshape(1, 1, 2, 2, 2, 2).max(axis=(3, 5))
    assert judged(node, right).findings == ()


def test_truth_values_are_bytes() -> None:
    node = node_of("Cast", [np.array([0.25, 0.0], np.float32)], TensorRef("BOOL", (2,)))
    assert judged(node, np.array([True, False])).findings == ()
    assert judged(node, np.array([True, True])).outputs["output 0"].mismatches == 1
    assert as_numbers(np.array(True)).tolist() == [1]


def test_what_has_no_bound_is_no_pass() -> None:
    limit = limit_of(graph(node_of("Max", [random(2)] * 3, float32(2))), LIMITS)
    lost = Carried("FLOAT32", np.array([1.0, 2.0]), np.full(2, np.inf), np.full(2, np.inf))
    verdict = judge_carried({"y": lost}, {"y": np.array([1.5, 2.5], np.float32)}, limit)
    assert (verdict.findings, verdict.is_unlimited) == ((), True)


def test_an_error_that_roundings_hardly_make_is_unlikely() -> None:
    limit = limit_of(graph(node_of("Max", [random(2)] * 3, float32(2))), LIMITS)
    value = np.array([1.0, 2.0])
    made = Carried("FLOAT32", value, np.full(2, 1e-3), np.full(2, 1e-5), 100)
    verdict = judge_carried({"y": made}, {"y": (value + 1e-4).astype(np.float32)}, limit)
    assert (verdict.findings, [finding.rule for finding in verdict.unlikely]) == ((), ["unlikely-error"])


def test_a_sigmoid_among_several_steps_may_be_as_far_off_as_the_implementation_is_known_to_be() -> None:
    x = np.linspace(-17, -9, 64).astype(np.float32)
    node = node_of("com.microsoft.QuickGelu", [x], float32(64), alpha=1.0)
    exact = 1 / (1 + np.exp(-x.astype(np.float64)))
    peers = Limits()
    peers.peer = Peer("onnxruntime", "1.32.0")
    for error, texts in ((1.7e-7, 1), (1e-6, 0)):
        values = (x * (exact + error)).astype(np.float32)
        assert (len(judged(node, values).known), bool(judged(node, values).findings)) == (0, True)
        assert len(judged(node, values, limits=peers).known) == texts
