"""Normalization and quantization: the operators and fields that Chromium's DirectML backend gives them."""

from __future__ import annotations

from typing import Any

import pytest
from webnn_tests import case, desc, operator, reason, tensor


def test_a_batch_is_normalized_along_an_axis() -> None:
    """(x - mean) / sqrt(variance) with variances 4 and 9 and no epsilon, then the scale (2, 3) and no bias."""
    inputs = {
        "x": tensor([5, 7, 10, 16], 1, 2, 2),
        "m": tensor([1, 4], 2),
        "v": tensor([4, 9], 2),
        "s": tensor([2, 3], 2),
    }
    called = operator("batchNormalization", "x", "m", "v", scale="s", epsilon=0)
    found = desc(inputs, called, tensor([4, 6, 6, 12], 1, 2, 2))
    assert (found["operator"], found["MeanTensor"]) == ("BATCH_NORMALIZATION", "FLOAT32 [1, 2, 1]")
    assert (found["BiasTensor"], found["Spatial"], found["Epsilon"]) == ("FLOAT32 [1, 1, 1]", True, 0)
    last = {**inputs, "x": tensor([5, 10, 7, 16], 2, 2)}
    assert desc(last, called, tensor([4, 6, 6, 12], 2, 2))["ScaleTensor"] == "FLOAT32 [1, 2]"


def test_an_instance_is_normalized_over_its_image() -> None:
    """Mean 3 and variance 1 in one channel, 12 and 4 in the other; bias (10, 20) and no scale."""
    inputs = {"x": tensor([2, 10, 4, 14], 1, 1, 2, 2), "b": tensor([10, 20], 2)}
    called = operator("instanceNormalization", "x", layout="nhwc", bias="b", epsilon=0)
    found = desc(inputs, called, tensor([9, 19, 11, 21], 1, 1, 2, 2))
    assert (found["operator"], found["Axes"]) == ("MEAN_VARIANCE_NORMALIZATION1", [2, 3])
    assert found["InputTensor"] == "FLOAT32 [1, 2, 1, 2] [4, 1, 4, 2]"
    assert (found["ScaleTensor"], found["BiasTensor"]) == ("FLOAT32 [1, 1, 1, 1]", "FLOAT32 [1, 2, 1, 1]")
    assert found["NormalizeVariance"] is True


def test_a_layer_is_normalized_over_all_but_the_first_dimension_by_default() -> None:
    found = desc(
        {"x": tensor([2, 4, 10, 14], 2, 2)},
        operator("layerNormalization", "x", epsilon=0),
        tensor([-1, 1, -1, 1], 2, 2),
    )
    assert (found["Axes"], "ScaleTensor" in found) == ([1], False)
    assert (
        desc({"x": tensor([2, 4], 1, 2)}, operator("layerNormalization", "x"), tensor([-0.999995, 0.999995], 1, 2))[
            "Epsilon"
        ]
        == 1e-5
    )


def test_a_scale_has_the_order_of_the_axes() -> None:
    """The scale's first dimension is axis 1 of the input: it is read by columns."""
    x = tensor([-1, 1, -1, 1], 1, 2, 2)
    inputs = {"x": x, "s": tensor([1, 2, 3, 4], 2, 2)}
    found = desc(
        inputs, operator("layerNormalization", "x", scale="s", axes=[2, 1], epsilon=0), tensor([-1, 3, -2, 4], 1, 2, 2)
    )
    assert (found["Axes"], found["ScaleTensor"]) == ([2, 1], "FLOAT32 [1, 2, 2] [0, 1, 2]")
    left_out = reason({"x": x, "s": tensor([1, 2], 2)}, operator("layerNormalization", "x", scale="s", axes=[1, 2]), x)
    assert left_out == "a tensor of 1 dimensions stands for 2 axes"


def test_quantization_has_four_dimensions_and_blocks() -> None:
    """Blocks of two elements: 1 and 5 with scale 0.5 and zero point 1, 8 and -8 with scale 4 and zero point 0."""
    inputs = {
        "x": tensor([1, 5, 8, -8], 4),
        "s": tensor([0.5, 4], 2),
        "z": tensor([1, 0], 2, type="int8"),
    }
    found = desc(inputs, operator("quantizeLinear", "x", "s", "z"), tensor([3, 11, 2, -2], 4, type="int8"))
    assert (found["operator"], found["QuantizationType"]) == ("QUANTIZE", "SCALE_ZERO_POINT")
    assert found["QuantizationTensors"] == ["FLOAT32 [1, 1, 1, 2]", "INT8 [1, 1, 1, 2]"]
    inputs = {"x": tensor([-8, 7], 2, type="int4"), "s": tensor([0.5], 1), "z": tensor([1], 1, type="int4")}
    found = desc(inputs, operator("dequantizeLinear", "x", "s", "z"), tensor([-4.5, 3], 2))
    assert (found["operator"], found["InputTensor"]) == ("DEQUANTIZE", "INT4 [1, 1, 1, 2]")


# ---- products of matrices and reductions: the operators and fields that Chromium's DirectML backend gives them


A = tensor([1, 2, 3, 4, 5, 6], 2, 3)
B = tensor([1, 0, 0, 1, 10, 100], 3, 2)


def test_gemm_has_four_dimensions_and_repeats_its_addend() -> None:
    """A B is [[31, 302], [64, 605]]; twice that and 0.5 of (2, 4)."""
    inputs = {"a": A, "b": B, "c": tensor([2, 4], 2)}
    found = desc(inputs, operator("gemm", "a", "b", c="c", alpha=2, beta=0.5), tensor([63, 606, 129, 1212], 2, 2))
    assert (found["ATensor"], found["CTensor"]) == ("FLOAT32 [1, 1, 2, 3]", "FLOAT32 [1, 1, 2, 2] [0, 0, 0, 1]")
    assert (found["Alpha"], found["Beta"], found["TransA"], found["TransB"]) == (2, 0.5, "NONE", "NONE")


def test_gemm_transposes_its_matrices() -> None:
    inputs = {"a": tensor([1, 4, 2, 5, 3, 6], 3, 2), "b": tensor([1, 0, 10, 0, 1, 100], 2, 3)}
    found = desc(inputs, operator("gemm", "a", "b", aTranspose=True, bTranspose=True), tensor([31, 302, 64, 605], 2, 2))
    assert (found["TransA"], found["TransB"]) == ("TRANSPOSE", "TRANSPOSE")


def test_batches_are_repeated() -> None:
    inputs = {"a": tensor([1, 2, 3, 4], 2, 1, 2), "b": tensor([1, 10], 2, 1)}
    found = desc(inputs, operator("matmul", "a", "b"), tensor([21, 43], 2, 1, 1))
    assert (found["operator"], found["BTensor"]) == ("GEMM", "FLOAT32 [1, 2, 2, 1] [0, 0, 1, 0]")
    assert (found["Alpha"], found["Beta"]) == (1, 0)


@pytest.mark.parametrize(
    ("shape", "values", "expected", "read"),
    [
        ((2, 1), [1, 10], [21, 43, 65, 87], "FLOAT32 [4, 1, 2, 1] [0, 0, 1, 0]"),
        ((1, 2, 1, 2, 1), [1, 10, 2, 20], [21, 86, 65, 174], "FLOAT32 [4, 1, 2, 1]"),  # which strides cannot repeat
        ((2, 2, 1, 2, 1), [1, 10, 2, 20, 3, 30, 4, 40], [21, 86, 195, 348], "FLOAT32 [4, 1, 2, 1]"),
        ((2, 1, 1, 2, 1), [1, 10, 2, 20], [21, 43, 130, 174], "FLOAT32 [4, 1, 2, 1]"),
    ],
)
def test_more_than_four_dimensions_become_four(
    shape: tuple[int, ...], values: list[int], expected: list[int], read: str
) -> None:
    """Two by two rows (1, 2), (3, 4), (5, 6), (7, 8), each with its column."""
    inputs = {"a": tensor([1, 2, 3, 4, 5, 6, 7, 8], 2, 2, 1, 1, 2), "b": tensor(values, *shape)}
    found = desc(inputs, operator("matmul", "a", "b"), tensor(expected, 2, 2, 1, 1, 1))
    assert (found["ATensor"], found["BTensor"]) == ("FLOAT32 [4, 1, 1, 2]", read)


def test_a_vector_is_no_matrix() -> None:
    inputs = {"a": tensor([1, 2], 2), "b": tensor([1, 10], 2, 1)}
    assert reason(inputs, operator("matmul", "a", "b"), tensor([21], 1)) == "matmul of a tensor that is no matrix"


@pytest.mark.parametrize(
    ("name", "function", "expected"),
    [
        ("reduceSum", "SUM", [6, 15]),
        ("reduceMean", "AVERAGE", [2, 5]),
        ("reduceMax", "MAX", [3, 6]),
        ("reduceMin", "MIN", [1, 4]),
        ("reduceProduct", "MULTIPLY", [6, 120]),
        ("reduceL1", "L1", [6, 15]),
        ("reduceL2", "L2", [3.7416575, 8.774964]),  # sqrt(14), sqrt(77)
        ("reduceSumSquare", "SUM_SQUARE", [14, 77]),
        ("reduceLogSum", "LOG_SUM", [1.7917595, 2.7080503]),  # log 6, log 15
        ("reduceLogSumExp", "LOG_SUM_EXP", [3.407606, 6.407606]),
    ],
)
def test_dimensions_that_are_reduced_are_kept_with_size_1(name: str, function: str, expected: list[float]) -> None:
    found = desc({"a": A}, operator(name, "a", axes=[1]), tensor(expected, 2))
    assert (found["operator"], found["Function"], found["Axes"]) == ("REDUCE", function, [1])
    assert found["OutputTensor"] == "FLOAT32 [2, 1]"


def test_all_dimensions_are_reduced_by_default_and_none_of_no_axes() -> None:
    assert desc({"a": A}, operator("reduceSum", "a"), tensor(21))["Axes"] == [0, 1]
    assert desc({"a": A}, operator("reduceSum", "a", keepDimensions=True), tensor([21], 1, 1))["Axes"] == [0, 1]
    squares = tensor([1, 4, 9, 16, 25, 36], 2, 3)
    assert desc({"a": A}, operator("reduceSumSquare", "a", axes=[]), squares)["Axes"] == []
    assert desc({"a": tensor([3])}, operator("reduceSumSquare", "a"), tensor([9]))["Axes"] == []


@pytest.mark.parametrize(("name", "expected"), [("argMax", [2, 2]), ("argMin", [0, 0])])
def test_the_place_of_an_extreme(name: str, expected: list[int]) -> None:
    found = desc({"a": A}, operator(name, "a", 1), tensor(expected, 2, type="int32"))
    made: dict[str, Any] = {"operator": name.upper(), "Axes": [1], "AxisDirection": "INCREASING"}
    assert {key: found[key] for key in made} == made
    assert found["OutputTensor"] == "INT32 [2, 1]"


def test_an_axis_beyond_the_dimensions_is_a_reason() -> None:
    assert (
        reason({"a": A}, operator("argMax", "a", 2), tensor([0, 0], 2, type="int32"))
        == "axis 2 is not one of 2 dimensions"
    )


# ---- recurrent networks of one hidden unit, with relu for every activation: each gate is a number that can be read


RELU = {"activations": ["relu", "relu"]}
# With x = 2 and h = 4: z = 2 / 4 = 0.5, r = 4 / 2 = 2, n = 2 + 1 + r (4 / 4 + 0.5) = 6, and h' = 0.5 n + 0.5 h = 5.
GRU = {"w": [0.25, 0, 1], "r": [0, 0.5, 0.25], "b": [0, 0, 1], "q": [0, 0, 0.5]}
# With x = 2 and c = 3: i = 2, o = 4, f = 1, g = 3, so c' = 3 + 6 = 9 and h' = 4 c' = 36.
LSTM = {"iofg": [1, 2, 0.5, 1.5], "ifgo": [1, 0.5, 1.5, 2]}


def of_network(numbers: dict[str, list[float]]) -> dict[str, Any]:
    """Return weights and biases of one direction."""
    return {
        name: tensor(values, 1, len(values), 1) if name in "wr" else tensor(values, 1, len(values))
        for name, values in numbers.items()
    }


def test_the_biases_of_gru_are_joined() -> None:
    inputs = {"x": tensor([2], 1, 1, 1), "h": tensor([4], 1, 1, 1), **of_network(GRU)}
    called = operator("gru", "x", "w", "r", 1, 1, bias="b", recurrentBias="q", initialHiddenState="h", **RELU)
    found = case(inputs, called, tensor([5], 1, 1, 1))
    assert found.inputs is not None
    assert found.inputs["BiasTensor"] == [[[[0, 0, 1, 0, 0, 0.5]]]]
    assert (found.desc["LinearBeforeReset"], found.desc["Direction"]) == (True, "FORWARD")
    assert found.desc["ActivationDescs"] == [{"Type": "DML_OPERATOR_ACTIVATION_RELU"}] * 2


def test_a_bias_that_is_left_out_is_zero() -> None:
    """n is 2 + r (1 + 0.5) = 5, and h' is 4.5."""
    inputs = {"x": tensor([2], 1, 1, 1), "h": tensor([4], 1, 1, 1), **of_network(GRU)}
    called = operator("gru", "x", "w", "r", 1, 1, recurrentBias="q", initialHiddenState="h", **RELU)
    found = case(inputs, called, tensor([4.5], 1, 1, 1))
    assert found.inputs is not None
    assert found.inputs["BiasTensor"] == [[[[0, 0, 0, 0, 0, 0.5]]]]


def test_a_cell_is_a_network_of_one_step() -> None:
    weights = {
        "w": tensor(GRU["w"], 3, 1),
        "r": tensor(GRU["r"], 3, 1),
        "b": tensor(GRU["b"], 3),
        "q": tensor(GRU["q"], 3),
    }
    inputs = {"x": tensor([2], 1, 1), "h": tensor([4], 1, 1), **weights}
    called = operator("gruCell", "x", "w", "r", "h", 1, bias="b", recurrentBias="q", **RELU)
    found = desc(inputs, called, tensor([5], 1, 1))
    assert (found["operator"], found["OutputSingleTensor"]) == ("GRU", "FLOAT32 [1, 1, 1, 1]")


def test_both_directions_have_activations_and_a_sequence() -> None:
    """Without weights of the input and with z = 0, each state is relu of the hidden weight by the one before: 0."""
    inputs = {"x": tensor([1, 2], 2, 1, 1), "w": tensor([0, 0, 1, 0, 0, 10], 2, 3, 1), "r": tensor([0] * 6, 2, 3, 1)}
    outputs = {"last": tensor([2, 10], 2, 1, 1), "all": tensor([1, 10, 2, 20], 2, 2, 1, 1)}
    called = operator(
        "gru", "x", "w", "r", 2, 1, direction="both", returnSequence=True, outputs=["last", "all"], **RELU
    )
    found = desc(inputs, called, outputs)
    assert (found["Direction"], len(found["ActivationDescs"])) == ("BIDIRECTIONAL", 4)
    assert found["OutputSequenceTensor"] == "FLOAT32 [2, 2, 1, 1]"


@pytest.mark.parametrize("layout", LSTM)
def test_the_gates_of_lstm_are_put_in_order(layout: str) -> None:
    inputs = {
        "x": tensor([2], 1, 1, 1),
        "c": tensor([3], 1, 1, 1),
        **of_network({"w": LSTM[layout], "r": [0, 0, 0, 0]}),
    }
    options: dict[str, Any] = {"layout": layout, "initialCellState": "c", "activations": ["relu"] * 3}
    outputs = {"h": tensor([36], 1, 1, 1), "n": tensor([9], 1, 1, 1)}
    found = case(inputs, operator("lstm", "x", "w", "r", 1, 1, outputs=["h", "n"], **options), outputs)
    assert found.inputs is not None
    assert found.inputs["WeightTensor"] == [[[[1], [2], [0.5], [1.5]]]]


def test_a_cell_of_lstm_has_its_state_and_peepholes() -> None:
    """The input gate sees a third of the cell: i = 2 + 1, c' = 3 + 9 and h' = 4 c'."""
    inputs = {
        "x": tensor([2], 1, 1),
        "w": tensor(LSTM["iofg"], 4, 1),
        "r": tensor([0, 0, 0, 0], 4, 1),
        "h": tensor([0], 1, 1),
        "c": tensor([3], 1, 1),
        "p": tensor([1 / 3, 0, 0], 3),
    }
    options: dict[str, Any] = {"peepholeWeight": "p", "activations": ["relu"] * 3}
    outputs = {"hidden": tensor([48], 1, 1), "cell": tensor([12], 1, 1)}
    called = operator("lstmCell", "x", "w", "r", "h", "c", 1, outputs=["hidden", "cell"], **options)
    found = desc(inputs, called, outputs)
    assert (found["PeepholeTensor"], found["CellMemInitTensor"]) == ("FLOAT32 [1, 1, 1, 3]", "FLOAT32 [1, 1, 1, 1]")
    assert (found["UseClipThreshold"], found["CoupleInputForget"]) == (False, False)


def test_what_chromium_does_not_take_is_a_reason() -> None:
    inputs = {"x": tensor([2], 1, 1, 1), **of_network({"w": GRU["w"], "r": GRU["r"]})}
    y = tensor([0], 1, 1, 1)
    left_out = reason(inputs, operator("gru", "x", "w", "r", 1, 1, layout="rzn"), y)
    assert left_out == "Chromium's DirectML backend does not take layout 'rzn'"
    left_out = reason(inputs, operator("gru", "x", "w", "r", 1, 1, activations=["relu", "elu"]), y)
    assert "these activations" in left_out
    assert (
        reason(inputs, operator("gru", "x", "w", "r", 1, 1, outputs=["a", "b", "c"]), dict.fromkeys("abc", y))
        == "gru has 3 outputs"
    )
