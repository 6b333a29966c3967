"""One node judged: its operators of DirectML, or why there are none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from whole_models import node

from dmlcheck.models.node_verdict import NodeVerdict, Unjudged, judge_node
from dmlcheck.running.verdict import Limits

Array = Any


def judged(
    made: Any, inputs: list[Array | None], outputs: list[Array | None], *, opset: int = 17, is_directml: bool = False
) -> NodeVerdict | Unjudged:
    return judge_node(made, opset, inputs, outputs, is_directml=is_directml, limits=Limits(), file="m.onnx")


def floats(*values: float) -> Array:
    return np.array(values, np.float32)


def test_a_wrong_node_has_them() -> None:
    found = judged(node("Relu", "x", "y"), [floats(-1, 2)], [floats(0, 3)])
    assert isinstance(found, NodeVerdict)
    assert [finding.rule for finding in found.verdict.findings] == ["output-mismatch"]
    assert found.actual["y"].tolist() == found.labelled()["OutputTensor"].tolist() == [0, 3]


@pytest.mark.parametrize(("operator", "sizes"), [("Reshape", ()), ("Expand", (1,)), ("Unsqueeze", (1,))])
def test_a_node_is_judged_whose_sizes_or_axes_are_none(operator: str, sizes: tuple[int, ...]) -> None:
    given = [floats(3), np.zeros(0, np.int64)]
    for value, wrong in ((3, []), (4, ["output-mismatch"])):
        found = judged(node(operator, "x s", "y"), given, [np.full(sizes, value, np.float32)])
        assert isinstance(found, NodeVerdict)
        assert [finding.rule for finding in found.verdict.findings] == wrong


@pytest.mark.parametrize(
    ("made", "inputs", "outputs", "rule", "reason"),
    [
        (node("Shape", "x", "y"), [floats(1)], [np.array([1])], "not-mapped", "gives sizes"),
        (node("Relu", "x", "y"), [floats()], [floats()], "runs-elsewhere", "a tensor has no elements"),
        (node("Own", "x", "y", domain="own"), [floats(1)], [floats(1)], "not-mapped", "DirectML has no operator"),
        (
            node("Gemm", "a b", "y"),
            [np.ones((1, 2), "f4"), np.ones((3, 1), "f4")],
            [np.ones((1, 1), "f4")],
            "not-mapped",
            "does not take it",
        ),
    ],
)
def test_what_is_not_judged_says_why(
    made: Any, inputs: list[Array], outputs: list[Array], rule: str, reason: str
) -> None:
    found = judged(made, inputs, outputs)
    assert isinstance(found, Unjudged)
    assert found.rule == rule
    assert reason in found.reason


@pytest.mark.parametrize("output", [floats(0, 2, 0), np.array([0.0, 2.0]), np.array([0, 2])])
def test_an_output_of_another_type_or_other_sizes_is_wrong(output: Array) -> None:
    found = judged(node("Relu", "x", "y"), [floats(-1, 2)], [output])
    assert isinstance(found, NodeVerdict)
    (finding,) = found.verdict.findings
    assert finding.message.startswith(f"y is {output.dtype} {{{output.size}}}; it must be float32 {{2}}")


@pytest.mark.parametrize(
    ("kind", "zero", "right", "wrong"),
    [
        ("uint16", 1000, [0, 1002, 1004, 998, 65535, 999], [[5, 1000], [1, 1001], [2, 1002], [4, 65534]]),
        ("int16", -1000, [-5000, -998, -996, -1002, 32767, -1001], [[0, -4999], [3, -1001], [4, -32768], [5, -1000]]),
        ("int16", None, [-4000, 2, 4, -2, 32767, -1], [[2, 2], [5, 0]]),
    ],
)
def test_numbers_quantized_to_16_bits_are_judged_in_steps(
    kind: str, zero: int | None, right: list[int], wrong: list[list[int]]
) -> None:
    """2.5 gives 2, 3.5 gives 4 and -2.5 gives -2; a half may also give its other neighbour, and no other number."""
    x, dtype = floats(-1000, 0.625, 0.875, -0.625, 1e9, -0.25), np.dtype(kind)
    inputs = [x, floats(0.25), None if zero is None else np.array([zero], dtype)]
    quantize = node("QuantizeLinear", "x s z", "y")
    if zero is None:
        quantize = node("QuantizeLinear", "x s", "y", output_dtype=5)  # INT16

    def findings(values: list[int]) -> int:
        found = judged(quantize, inputs[: len(quantize.input)], [np.array(values, dtype)], opset=21)
        assert isinstance(found, NodeVerdict)
        return len(found.verdict.findings)

    assert findings(right) == 0
    for place, value in wrong:
        assert findings([value if at == place else number for at, number in enumerate(right)]) == 1


def test_elements_that_directml_does_not_have_are_not_judged() -> None:
    for dtype in (object, np.complex64):
        array = np.ones(2, dtype)
        found = judged(node("Neg", "x", "y"), [array], [array])
        assert isinstance(found, Unjudged)
        assert found.reason == f"a tensor has elements of {np.dtype(dtype)}, which DirectML does not have"


def test_what_the_provider_computes_otherwise_is_judged_so_for_directml_alone() -> None:
    x = floats(1.0)
    exact, by_tanh = floats(0.8413447), floats(0.841192)  # 0.5 * (1 + erf(1 / sqrt(2))), and the tanh of the polynomial
    made = node("FastGelu", "x", "y", domain="com.microsoft")
    for y, is_directml, findings in ((by_tanh, False, 0), (exact, False, 1), (exact, True, 0), (by_tanh, True, 1)):
        found = judged(made, [x], [y], is_directml=is_directml)
        assert isinstance(found, NodeVerdict)
        assert (found.meaning, len(found.verdict.findings)) == ("provider" if is_directml else "onnx", findings)


def test_directml_is_judged_by_the_descs_of_its_provider_first() -> None:
    meanings = []
    for is_directml in (False, True):
        found = judged(node("Relu", "x", "y"), [floats(-1, 2)], [floats(0, 2)], is_directml=is_directml)
        assert isinstance(found, NodeVerdict)
        meanings.append((found.meaning, len(found.descs[0].parts["InputTensor"][0].tensor.sizes)))
    assert meanings == [("onnx", 1), ("provider", 4)]


@pytest.mark.parametrize(
    ("made", "inputs", "outputs", "reason"),
    [
        (node("TopK", "x k", "y i", sorted=0), [floats(1, 3, 2), np.array([2])],
         [floats(2, 3), np.array([2, 1])], "in any order"),
        (node("Dropout", "x r t", "y"), [floats(1, 2), np.array(0.5, "f4"), np.array(True)], [floats(2, 0)],
         "draws random numbers"),
        (node("IsInf", "x", "y", detect_negative=0, detect_positive=0), [floats(np.inf)], [np.array([False])],
         "finds neither"),
    ],
)  # fmt: skip
def test_what_onnx_means_is_never_what_the_provider_makes_instead(
    made: Any, inputs: list[Any], outputs: list[Any], reason: str
) -> None:
    """All of these are right, and the provider computes something else."""
    found = judged(made, inputs, outputs)
    assert isinstance(found, Unjudged)
    assert (found.rule, reason in found.reason) == ("not-mapped", True)
    for_directml = judged(made, inputs, outputs, is_directml=True)
    assert isinstance(for_directml, NodeVerdict)
    assert for_directml.meaning == "provider"


def test_a_layer_of_several_types_is_computed_in_float32() -> None:
    x, scale = floats(-1, 1).reshape(1, 2), np.array([2, 4], np.float16)
    made = node("LayerNormalization", "x s", "y", epsilon=0.0)
    for y, count in (([-2, 4], 0), ([-2, 3], 1)):
        found = judged(made, [x, scale], [np.array([y], np.float16)], opset=16)
        assert isinstance(found, NodeVerdict)
        assert (found.meaning, len(found.verdict.findings)) == ("onnx", count)


def test_several_steps_are_judged_together_and_are_cases_one_by_one() -> None:
    x, skip, ones = floats(1, 2, 4).reshape(1, 1, 3), floats(0, 1, 2).reshape(1, 1, 3), np.ones(3, np.float32)
    made = node("SkipLayerNormalization", "x s g", "y", domain="com.microsoft", epsilon=0.0)
    summed = (x + skip)[0, 0]  # 1, 3, 6
    centered = summed - summed.mean()
    y = (centered / np.sqrt((centered**2).mean())).reshape(1, 1, 3)
    found = judged(made, [x, skip, ones], [y])
    assert isinstance(found, NodeVerdict)
    assert (found.verdict.findings, found.labelled()) == ((), {})
    first, second = found.steps()
    assert (first[0].spec.short, second[0].spec.short) == ("ELEMENT_WISE_ADD", "MEAN_VARIANCE_NORMALIZATION2")
    assert second[1]["InputTensor"].reshape(-1).tolist() == [1, 3, 6]
    wrong = judged(made, [x, skip, ones], [y * np.float32(1.01)])
    assert isinstance(wrong, NodeVerdict)
    assert wrong.verdict.findings


def test_numbers_of_four_bits_are_known_by_their_type() -> None:
    made, scale = node("DequantizeLinear", "x s", "y"), np.array(0.5, np.float32)
    found = judge_node(made, 21, [np.array([-8, 7], np.int8), scale], [floats(-4, 3.5)], is_directml=False,
                       limits=Limits(), elements={"x": "INT4"})  # fmt: skip
    assert isinstance(found, NodeVerdict)
    assert (found.operators, found.verdict.findings) == (("DML_OPERATOR_DEQUANTIZE",), ())


def test_what_only_the_provider_computes_is_no_judge_of_other_implementations() -> None:
    """Clipping the gates of a GRU is what DirectML has not: the provider leaves it out."""
    x, w, r = (np.ones(sizes, np.float32) for sizes in ((1, 1, 2), (1, 6, 2), (1, 6, 2)))
    gru, y = node("GRU", "x w r", "y", hidden_size=2, clip=0.5), np.zeros((1, 1, 1, 2), np.float32)
    assert isinstance(judged(gru, [x, w, r], [y]), Unjudged)
    assert isinstance(judged(gru, [x, w, r], [y], is_directml=True), NodeVerdict)


def test_what_onnx_defines_by_a_function_is_judged_by_the_functions_nodes() -> None:
    scores, targets = np.log(np.array([[0.25, 0.75]], np.float32)), np.array([1])
    loss = node("NegativeLogLikelihoodLoss", "x t", "y", reduction="sum")
    right = judged(loss, [scores, targets], [np.float32(np.log(4 / 3)).reshape(())])
    wrong = judged(loss, [scores, targets], [np.float32(np.log(4 / 3) * (1 + 2.0**-9)).reshape(())])
    assert isinstance(right, NodeVerdict)
    assert isinstance(wrong, NodeVerdict)
    assert (len(right.verdict.findings), len(wrong.verdict.findings)) == (0, 1)
    assert (right.meaning, len(right.operators) > 1) == ("onnx", True)


BLOCKS = {"N": 8, "K": 64, "bits": 8, "block_size": 32}


def product_of_blocks(level: int, rounded: Callable[[Array], Array], factor: float = 1) -> NodeVerdict:
    """Judge a product whose first factor is rounded, and whose second block of weights is multiplied by a factor."""
    rng = np.random.default_rng(0)
    x, weights = rng.standard_normal((4, 64)).astype(np.float32), rng.integers(0, 256, (8, 2, 32)).astype(np.uint8)
    scales = rng.uniform(0.01, 0.1, 16).astype(np.float32)
    numbers = (weights.astype("f8") - 128) * scales.reshape(8, 2, 1) * [[[1], [factor]]]
    y = (rounded(x.astype("f8")) @ numbers.reshape(8, 64).T).astype(np.float32)
    made = node("MatMulNBits", "x w s", "y", domain="com.microsoft", accuracy_level=level, **BLOCKS)
    found = judged(made, [x, weights, scales], [y])
    assert isinstance(found, NodeVerdict)
    return found


def to_int8(x: Array) -> Array:
    """Round to INT8 in blocks of 32, each with a scale of its own, as the operator's text lets an implementation do."""
    blocks = x.reshape(-1, 2, 32)
    step = np.abs(blocks).max(-1, keepdims=True) / 127
    return (np.rint(blocks / step) * step).reshape(x.shape)


@pytest.mark.parametrize(
    ("level", "rounded", "is_right"),
    [
        (0, np.float32, True),
        (0, to_int8, False),
        (1, to_int8, False),
        (2, np.float16, True),
        (2, to_int8, False),
        (3, np.float16, True),
        (4, to_int8, True),
        (4, np.float32, True),
    ],
)
def test_a_factor_may_be_rounded_as_far_as_the_accuracy_level_lets_it(level: int, rounded: Any, is_right: bool) -> None:
    verdict = product_of_blocks(level, lambda x: rounded(x).astype("f8")).verdict
    assert (not verdict.findings and not verdict.unlikely) == is_right


def test_a_wrong_scale_is_found_whatever_the_accuracy_level() -> None:
    assert product_of_blocks(4, to_int8, factor=2).verdict.findings


def test_directml_rounds_no_factor() -> None:
    """Its provider takes no notice of the accuracy_level: DEQUANTIZE, GEMM."""
    x, weights, one = np.ones((4, 64), np.float32), np.full((8, 2, 32), 129, np.uint8), np.ones(16, np.float32)
    made = node("MatMulNBits", "x w s", "y", domain="com.microsoft", accuracy_level=4, **BLOCKS)
    found = judged(made, [x, weights, one], [np.full((4, 8), 64.1, np.float32)], is_directml=True)
    assert isinstance(found, NodeVerdict)
    assert (found.meaning, bool(found.verdict.findings), found.slack) == ("provider", True, {})
