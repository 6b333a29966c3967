"""Recurrent networks of one hidden unit, with relu for every activation: each gate is a number that can be read."""

from __future__ import annotations

from typing import Any

import pytest
from webnn_tests import case, desc, operator, reason, tensor

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
