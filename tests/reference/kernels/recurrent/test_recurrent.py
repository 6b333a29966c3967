"""Recurrent networks against plain loops over fractions, mpmath and FLOAT32, directions, lengths, and bounds."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import mpmath
import numpy as np
import plain_recurrences as plain
import pytest
from bounds_of import gathered
from drawn_descs import TINY, Made, draws
from mpmath import mpf
from products_of import peak
from recurrences_of import OUTPUTS, RECURRENCES, described, outputs_of

from dmlcheck.comparison.compare import compare
from dmlcheck.comparison.tolerances import limit_for
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference import engine
from dmlcheck.reference.bounds import bounds
from dmlcheck.reference.limits.precision import Precision
from dmlcheck.reference.tiling import recurrence
from dmlcheck.reference.tiling.plan import tiles_of

Array = np.ndarray[Any, Any]
Inputs = dict[str, Array]

STEPS: dict[str, Callable[..., Any]] = {"GRU": plain.gru, "LSTM": plain.lstm, "RNN": plain.rnn}
OPERATORS = list(RECURRENCES)
DEFAULTS: dict[str, dict[str, Any]] = {
    "GRU": {"LinearBeforeReset": False},
    "LSTM": {"UseClipThreshold": False, "ClipThreshold": 0, "CoupleInputForget": False},
}


def recurrences(operator: str, count: int) -> Iterator[Made]:
    """Yield descs of all outputs with their inputs, whose states stay small."""
    for desc, inputs in draws(operator, count, sizes=TINY):
        given = {name: x if x.dtype.kind == "u" else x * x.dtype.type(0.7) for name, x in inputs.items()}
        yield again(desc, given, OUTPUTS[operator]), given


def mp_function(activation: OperatorDesc) -> Callable[[Any], Any]:
    """Return an activation of mpmath's numbers, by the formula of its page."""
    names = ("Alpha", "Beta", "Gamma", "Steepness")
    alpha, beta, gamma, steepness = (mpf(float(np.float32(activation.values.get(name, 0)))) for name in names)
    return {
        "CELU": lambda x: x if x >= 0 else alpha * mpmath.expm1(x / alpha),
        "ELU": lambda x: x if x >= 0 else alpha * mpmath.expm1(x),
        "HARD_SIGMOID": lambda x: max(mpf(0), min(alpha * x + beta, mpf(1))),
        "LEAKY_RELU": lambda x: x if x >= 0 else alpha * x,
        "LINEAR": lambda x: alpha * x + beta,
        "PARAMETRIC_SOFTPLUS": lambda x: alpha * mpmath.log1p(mpmath.exp(beta * x)),
        "RELU": lambda x: max(x, mpf(0)),
        "SCALED_ELU": lambda x: gamma * (x if x > 0 else alpha * mpmath.expm1(x)),
        "SCALED_TANH": lambda x: alpha * mpmath.tanh(beta * x),
        "SIGMOID": lambda x: 1 / (1 + mpmath.exp(-x)),
        "SOFTPLUS": lambda x: mpmath.log1p(mpmath.exp(steepness * x)) / steepness,
        "SOFTSIGN": lambda x: x / (1 + abs(x)),
        "TANH": mpmath.tanh,
        "THRESHOLDED_RELU": lambda x: x if x > alpha else mpf(0),
    }[activation.spec.short.removeprefix("ACTIVATION_")]


def options(desc: OperatorDesc) -> dict[str, Any]:
    """Return what the plain program of an operator takes beside tensors and activations."""
    names = {"LinearBeforeReset": "linear_before_reset", "CoupleInputForget": "is_coupled"}
    found: dict[str, Any] = {name: bool(desc.values[field]) for field, name in names.items() if field in desc.values}
    return {**found, "limit": float(np.float32(desc.values["ClipThreshold"]))} if is_clipped(desc) else found


def is_clipped(desc: OperatorDesc) -> bool:
    return bool(desc.values.get("UseClipThreshold"))


def values(desc: OperatorDesc, inputs: Inputs) -> Inputs:
    """Return the results."""
    return {label: found.values for label, found in engine.evaluate(desc, inputs).items()}


def marks(desc: OperatorDesc, inputs: Inputs, label: str) -> Array:
    """Return which results of an output are undefined."""
    found = engine.evaluate(desc, inputs)[label]
    return np.zeros(found.values.shape, bool) if found.undefined is None else found.undefined


def passes(desc: OperatorDesc, inputs: Inputs, actual: Inputs, accumulate: str = "FLOAT32") -> bool:
    """Whether results of an implementation are within the bounds."""
    expected = {part.label: (part.tensor, values(desc, inputs)[part.label]) for part in desc.tensors("output_tensor")}
    own, precision = {label: actual[label] for label in expected}, Precision(accumulate)
    found = compare(expected, own, limit_for(desc, None, precision), partial(bounds, desc, inputs, precision=precision))
    return all(comparison.result.mismatches == 0 and not comparison.result.shape for comparison in found.values())


# ---- values


@pytest.mark.slow
@pytest.mark.parametrize("operator", OPERATORS)
def test_the_results_are_the_mathematical_ones_rounded_once(operator: str) -> None:
    with mpmath.workprec(200):
        for desc, inputs in recurrences(operator, 40):
            functions = [mp_function(each) for each in desc.values["ActivationDescs"]]
            found = plain.network(STEPS[operator], inputs, functions, desc.values["Direction"], mpf, **options(desc))
            with np.errstate(over="ignore"):
                right = plain.arrays(found, inputs, float)
            ours = values(desc, inputs)
            assert all(np.array_equal(right[label], ours[label]) for label in ours), desc


def linear(inputs: Inputs, direction: str = "FORWARD") -> OperatorDesc:
    """Return an RNN without a function."""
    identity = [{"Type": "ACTIVATION_IDENTITY"}] * (2 if direction == "BIDIRECTIONAL" else 1)
    return described("RNN", inputs, outputs_of(inputs, OUTPUTS["RNN"]), ActivationDescs=identity, Direction=direction)


# ---- directions and lengths, of every network


def without(inputs: Inputs, *names: str) -> Inputs:
    return {name: x for name, x in inputs.items() if name not in names}


def again(desc: OperatorDesc, inputs: Inputs, outputs: tuple[str, ...] = (), **fields: Any) -> OperatorDesc:
    """Return a desc with other inputs, outputs and fields."""
    kept = {name: value for name, value in desc.values.items() if not desc.spec.fields[name].is_tensor}
    kept["ActivationDescs"] = [notation(each) for each in desc.values["ActivationDescs"]]
    names = outputs or tuple(part.label for part in desc.tensors("output_tensor"))
    return described(
        desc.spec.short, inputs, outputs_of(inputs, names), **{**without(kept, "ActivationDescCount"), **fields}
    )


def notation(activation: OperatorDesc) -> dict[str, Any]:
    return {
        "Type": activation.spec.short,
        **{name: value for name, value in activation.values.items() if value is not None},
    }


@pytest.mark.slow
@pytest.mark.parametrize("operator", OPERATORS)
def test_backward_is_forward_over_the_input_in_the_opposite_order(operator: str) -> None:
    for desc, inputs in recurrences(operator, 30):
        if desc.values["Direction"] != "BACKWARD" or "SequenceLengthsTensor" in inputs:
            continue
        turned = {**inputs, "InputTensor": np.flip(inputs["InputTensor"], 1)}
        forward = values(again(desc, turned, Direction="FORWARD"), turned)
        backward = values(desc, inputs)
        backward["OutputSequenceTensor"] = np.flip(backward["OutputSequenceTensor"], 0)
        assert all(np.array_equal(forward[label], backward[label]) for label in forward)


@pytest.mark.slow
@pytest.mark.parametrize("operator", OPERATORS)
def test_tiles_of_one_sequence_are_like_the_whole(operator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = list(recurrences(operator, 10))
    whole = [values(*each) for each in made]
    monkeypatch.setattr(recurrence, "LARGEST", 1)
    monkeypatch.setattr(recurrence, "STEPS", 2)
    for (desc, inputs), expected in zip(made, whole, strict=True):
        assert len(list(tiles_of(desc, inputs))) == expected["OutputSingleTensor"][0, :, :, 0].size
        found = values(desc, inputs)
        assert all(np.array_equal(found[label], expected[label]) for label in expected)


@pytest.mark.slow
def test_a_long_sequence_is_not_copied_as_a_whole() -> None:
    inputs = {
        "InputTensor": np.ones((1, 2000, 1, 512), np.float32),
        "WeightTensor": np.ones((1, 1, 8, 512), np.float32),
        "RecurrenceTensor": np.zeros((1, 1, 8, 8), np.float32),
    }
    desc = linear(inputs)
    assert peak(desc, inputs) < inputs["InputTensor"].nbytes / 2
    assert np.array_equal(values(desc, inputs)["OutputSequenceTensor"], np.full((2000, 1, 1, 8), 512))


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["FORWARD", "BACKWARD"])
def test_the_states_of_a_long_sequence_are_not_kept(direction: str) -> None:
    """Each state is the one before, and 1."""
    inputs = {
        "InputTensor": np.ones((1, 2000, 1, 1), np.float32),
        "WeightTensor": np.ones((1, 1, 64, 1), np.float32),
        "RecurrenceTensor": np.eye(64, dtype=np.float32)[None, None],
    }
    desc = linear(inputs, direction)
    found = values(desc, inputs)
    size = found["OutputSequenceTensor"].nbytes
    assert peak(desc, inputs) < 1.5 * size
    numbers = np.arange(1, 2001)[:: 1 if direction == "FORWARD" else -1]
    assert (found["OutputSequenceTensor"] == numbers[:, None, None, None]).all()
    assert (found["OutputSingleTensor"] == 2000).all()
    asked = np.zeros((2000, 1, 1, 64), bool)
    asked[500, 0, 0, 7] = True
    tracemalloc.start()
    try:
        (value,) = gathered(desc, inputs, {"OutputSequenceTensor": asked})["OutputSequenceTensor"].value
        assert tracemalloc.get_traced_memory()[1] < 1.5 * size
    finally:
        tracemalloc.stop()
    assert value == numbers[500]


@pytest.mark.slow
def test_many_short_sequences_are_not_computed_all_at_once() -> None:
    gates, batch, size = 4, 1 << 15, 64
    inputs = {
        "InputTensor": np.ones((1, 1, batch, 1), np.float32),
        "WeightTensor": np.zeros((1, 1, gates * size, 1), np.float32),
        "RecurrenceTensor": np.zeros((1, 1, gates * size, size), np.float32),
    }
    functions = [{"Type": f"ACTIVATION_{name}"} for name in RECURRENCES["LSTM"].functions]
    outputs = outputs_of(inputs, ("OutputSequenceTensor",))
    desc = described("LSTM", inputs, outputs, ActivationDescs=functions, Direction="FORWARD", **DEFAULTS["LSTM"])
    one_array = 8 * batch * size
    assert peak(desc, inputs) < 4 * one_array  # a step has more arrays than these
    assert not values(desc, inputs)["OutputSequenceTensor"].any()


# ---- bounds


def rounded(desc: OperatorDesc, inputs: Inputs, dtype: Any = np.float32) -> Inputs:
    """Return the results of a program that rounds every operation to a type."""
    functions = {"TANH": np.tanh, "SIGMOID": lambda x: dtype(1) / (dtype(1) + np.exp(-x))}
    own = [functions[each.spec.short.removeprefix("ACTIVATION_")] for each in desc.values["ActivationDescs"]]
    found = plain.network(STEPS[desc.spec.short], inputs, own, desc.values["Direction"], dtype, **options(desc))
    return plain.arrays(found, inputs, float)


def usual(operator: str, steps: int, size: int = 6, seed: int = 4, scale: float = 0.5, **fields: Any) -> Any:
    """Return a forward network with all tensors and its usual activations."""
    gates, names = RECURRENCES[operator]
    generator = np.random.default_rng(seed)
    sizes = {
        "InputTensor": (1, steps, 2, size),
        "WeightTensor": (1, 1, gates * size, size),
        "RecurrenceTensor": (1, 1, gates * size, size),
        "BiasTensor": (1, 1, 1, 2 * gates * size),
        "HiddenInitTensor": (1, 1, 2, size),
    }
    inputs = {name: (generator.normal(size=shape) * scale).astype(np.float32) for name, shape in sizes.items()}
    chosen = {"ActivationDescs": [{"Type": f"ACTIVATION_{name}"} for name in names], "Direction": "FORWARD"}
    chosen |= {**DEFAULTS.get(operator, {}), **fields}
    return described(operator, inputs, outputs_of(inputs, OUTPUTS[operator]), **chosen), inputs


@pytest.mark.slow
@pytest.mark.parametrize("operator", OPERATORS)
def test_a_program_in_float32_is_within_the_bounds(operator: str) -> None:
    for seed in range(6):
        desc, inputs = usual(operator, 12, seed=seed)
        assert passes(desc, inputs, rounded(desc, inputs))


@pytest.mark.slow
@pytest.mark.parametrize("operator", OPERATORS)
def test_a_program_in_float16_is_within_the_bounds_of_float16_alone(operator: str) -> None:
    desc, inputs = usual(operator, 8, 16)
    own = {name: x.astype(np.float16) for name, x in inputs.items()}
    found = rounded(again(desc, own), own, np.float16)
    assert passes(again(desc, own), own, found, "FLOAT16")
    single = {name: x.astype(np.float32) for name, x in own.items()}
    as_float32 = {name: x.astype(np.float32) for name, x in found.items()}
    assert passes(again(desc, single), single, as_float32, "FLOAT16")
    assert not passes(again(desc, single), single, as_float32, "FLOAT32")


@pytest.mark.slow
@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("name", ["WeightTensor", "RecurrenceTensor", "BiasTensor", "HiddenInitTensor"])
def test_a_weight_that_is_off_by_a_twentieth_is_noticed(operator: str, name: str) -> None:
    desc, inputs = usual(operator, 6)
    off = {**inputs, name: inputs[name].copy()}
    off[name].flat[1] *= 1.05
    assert not passes(desc, inputs, rounded(desc, off))


@pytest.mark.slow
@pytest.mark.parametrize("operator", OPERATORS)
def test_errors_of_many_steps_stay_far_from_the_results(operator: str) -> None:
    desc, inputs = usual(operator, 64, scale=0.3)
    asked = {"OutputSequenceTensor": np.ones((64, 1, 2, 6), bool)}
    bound = gathered(desc, inputs, asked)["OutputSequenceTensor"]
    radius = bound.radius.reshape(64, -1).max(axis=1)
    assert (radius > 0).all()
    assert radius[-1] < 10 * radius[0] < 1e-3


def test_a_state_may_be_rounded_to_float16_between_the_steps() -> None:
    third = np.array([1 / 3]).astype(np.float16).item()
    inputs = {
        "InputTensor": np.array([1.0, 0.0], np.float16).reshape(1, 2, 1, 1),
        "WeightTensor": np.full((1, 1, 1, 1), third, np.float16),
        "RecurrenceTensor": np.full((1, 1, 1, 1), 3.0, np.float16),
        "BiasTensor": np.array([2.0**-13, 0.0], np.float16).reshape(1, 1, 1, 2),
    }
    desc = described(
        "RNN",
        inputs,
        outputs_of(inputs, ("OutputSequenceTensor",)),
        ActivationDescs=[{"Type": "ACTIVATION_LINEAR", "Alpha": 1, "Beta": 0}],
        Direction="FORWARD",
    )
    bound = gathered(desc, inputs, {"OutputSequenceTensor": np.ones((2, 1, 1, 1), bool)})["OutputSequenceTensor"]
    kept = third + 2.0**-13
    assert bound.value.tolist() == [kept, 3 * kept + 2.0**-13]
    rounded = np.float64(np.float16(kept))
    assert bound.radius[1] >= 3 * abs(rounded - kept) > 0


def test_a_gru_may_take_the_difference_to_the_state_before() -> None:
    fields = {
        "ActivationDescs": [{"Type": "ACTIVATION_LINEAR", "Alpha": 0, "Beta": 1}, {"Type": "ACTIVATION_IDENTITY"}]
    }
    inputs = {
        "InputTensor": np.full((1, 1, 1, 1), 1000.3, np.float32),
        "WeightTensor": np.array([0, 0, 1], np.float32).reshape(1, 1, 3, 1),
        "RecurrenceTensor": np.zeros((1, 1, 3, 1), np.float32),
        "HiddenInitTensor": np.full((1, 1, 1, 1), 0.001, np.float32),
    }
    outputs = outputs_of(inputs, ("OutputSingleTensor",))
    desc = described("GRU", inputs, outputs, Direction="FORWARD", LinearBeforeReset=True, **fields)
    n, h = np.float32(1000.3), np.float32(0.001)
    other = n + (h - n)
    assert other != h
    assert passes(desc, inputs, {"OutputSingleTensor": np.full((1, 1, 1, 1), other)})
    assert not passes(desc, inputs, {"OutputSingleTensor": np.full((1, 1, 1, 1), 1.5 * h)})


# ---- what is undefined


def test_the_next_step_takes_a_state_that_overflows_as_it_is_or_as_infinity() -> None:
    """6e38 is infinite in the output; then 2 + 0.25 * (6e38 + 6e38) is 3e38, and 2 + 0.25 * (3e38 + 3e38) 1.5e38."""
    inputs = {
        "InputTensor": np.array([[1, 1], [3e38, 1], [1, 1], [1, 1]], np.float32).reshape(1, 4, 2, 1),
        "WeightTensor": np.full((1, 1, 2, 1), 2, np.float32),
        "RecurrenceTensor": np.full((1, 1, 2, 2), 0.25, np.float32),
    }
    desc = linear(inputs)
    assert not any(marks(desc, inputs, label).any() for label in OUTPUTS["RNN"])
    found = values(desc, inputs)
    other = found["OutputSequenceTensor"][:, 0, 1, 0].tolist()
    assert other == [2, 3, 3.5, 3.75]

    def is_right(*states: float) -> bool:
        sequence, single = (found[label].copy() for label in OUTPUTS["RNN"])
        sequence[:, 0, 0], single[0, 0, 0] = np.array(states)[:, None], states[-1]
        return passes(desc, inputs, {"OutputSequenceTensor": sequence, "OutputSingleTensor": single})

    inf = math.inf
    assert is_right(2, inf, 3e38, 1.5e38)
    assert is_right(2, inf, inf, inf)
    assert not any(is_right(2, inf, *states) for states in ((2e38, 1.5e38), (3e38, 1e38), (3e38, math.nan)))


# By operator the activations of a network whose states have no limit, and in how many steps they are beyond FLOAT32.
GROWING = {
    "GRU": (["LINEAR", "IDENTITY"], 6),
    "LSTM": (["LINEAR", "IDENTITY", "IDENTITY"], 6),
    "RNN": (["IDENTITY"], 28),
}


@pytest.mark.slow
@pytest.mark.parametrize("operator", OPERATORS)
def test_what_overflows_on_the_way_is_right_as_float32_has_it_and_nan_before_is_not(operator: str) -> None:
    """The states grow until sums and terms are infinities of both signs, from which NaN spreads."""
    names, steps = GROWING[operator]
    functions = {"LINEAR": lambda x: np.float32(1.5) * x, "IDENTITY": lambda x: x}
    fields = {"LINEAR": {"Alpha": 1.5, "Beta": 0}, "IDENTITY": {}}
    chosen, at_end = [{"Type": f"ACTIVATION_{name}", **fields[name]} for name in names], 0
    for seed in range(4):
        desc, inputs = usual(operator, steps, 3, seed=seed, scale=30, ActivationDescs=chosen)
        with np.errstate(all="ignore"):
            own = [functions[name] for name in names]
            found = plain.network(STEPS[operator], inputs, own, "FORWARD", np.float32, **options(desc))
            actual = plain.arrays(found, inputs, float)
        assert passes(desc, inputs, actual)
        sequence = actual["OutputSequenceTensor"]
        assert np.isfinite(sequence[0]).all()
        at_end += int(np.isnan(sequence[-1]).any())
        broken = sequence.copy()
        broken[0, 0, 1, 2] = np.nan
        assert not passes(desc, inputs, {**actual, "OutputSequenceTensor": broken})
    assert at_end >= 2


# By operator: LINEAR's Beta as the gates, h or c and the last sum before a step, and the state after it.
TERMS = {
    "GRU": (-2.0, (3e38, 1.0), (3e38, 2.0), 4.0),  # 9e38 - 6e38, and 6 - 2
    "LSTM": (2.0, (3e38, 1.0), (-2.5e38, 3.0), 8.0),  # 6e38 - 5e38, and 2 + 6
}


@pytest.mark.parametrize("operator", TERMS)
def test_a_state_whose_terms_overflow_to_both_sides_may_be_nan_and_no_other(operator: str) -> None:
    """The sum of the terms is within FLOAT32. In the second sequence all are small."""
    gate, state, last, right = TERMS[operator]
    gates, names = RECURRENCES[operator]
    inputs = {
        "InputTensor": np.array(last, np.float32).reshape(1, 1, 2, 1),
        "WeightTensor": np.array([*[0] * (gates - 1), 1], np.float32).reshape(1, 1, gates, 1),
        "RecurrenceTensor": np.zeros((1, 1, gates, 1), np.float32),
        "HiddenInitTensor" if operator == "GRU" else "CellMemInitTensor": np.array(state, np.float32).reshape(
            1, 1, 2, 1
        ),
    }
    label = OUTPUTS[operator][-1]
    functions = [
        {"Type": "ACTIVATION_LINEAR", "Alpha": 0, "Beta": gate},
        *[{"Type": "ACTIVATION_IDENTITY"}] * len(names),
    ]
    fields = {**DEFAULTS[operator], "ActivationDescs": functions[: len(names)], "Direction": "FORWARD"}
    fields |= {"LinearBeforeReset": True} if operator == "GRU" else {}
    desc = described(operator, inputs, outputs_of(inputs, ("OutputSingleTensor", label)), **fields)
    assert marks(desc, inputs, label).reshape(-1).tolist() == [True, False]
    found = values(desc, inputs)
    assert found[label].reshape(-1)[1] == right
    for states, expected in (((np.nan, right), True), ((np.inf, right), True), ((np.nan, np.nan), False)):
        actual = np.array(states, np.float32).reshape(1, 1, 2, 1)
        assert passes(desc, inputs, {**found, label: actual}) == expected


@pytest.mark.parametrize("direction", ["FORWARD", "BACKWARD"])
def test_the_products_of_a_state_that_is_left_out_are_left_out_beside_infinity(direction: str) -> None:
    """The first sequence has one step, of 1; the other has two, of 2 and 3, and the later meets infinity.

    Backward the first step is one of the other sequence alone.
    """
    inputs = {
        "InputTensor": np.array([[1, 2], [9, 3]], np.float32).reshape(1, 2, 2, 1),
        "WeightTensor": np.ones((1, 1, 1, 1), np.float32),
        "RecurrenceTensor": np.full((1, 1, 1, 1), math.inf, np.float32),
        "SequenceLengthsTensor": np.array([[[[1, 2]]]], np.uint32),
    }
    desc = linear(inputs, direction)
    is_forward = direction == "FORWARD"
    left_out = [[1, 2], [0, math.inf]] if is_forward else [[math.nan, math.inf], [0, 3]]
    ways = [np.array([[math.nan, math.nan], [0, math.nan]]), np.array(left_out), np.array(left_out) + 1]
    at = 1 if is_forward else 0
    outputs = [
        {
            "OutputSequenceTensor": way.astype(np.float32).reshape(2, 1, 2, 1),
            "OutputSingleTensor": np.array([way[0, 0], way[at, 1]], np.float32).reshape(1, 1, 2, 1),
        }
        for way in ways
    ]
    assert [passes(desc, inputs, output) for output in outputs] == [False, True, False]


def lstm_in_float16(given: dict[str, Any], *activations: str) -> tuple[OperatorDesc, Inputs]:
    """Return an LSTM of one hidden element, whose weights are 0 if they are not given."""
    zeros = dict.fromkeys(("WeightTensor", "RecurrenceTensor"), np.zeros((1, 1, 4, 1), np.float16))
    inputs = zeros | {name: np.array(values, np.float16) for name, values in given.items()}
    outputs = outputs_of(inputs, ("OutputSingleTensor", "OutputCellSingleTensor"))
    fields = {**DEFAULTS["LSTM"], "Direction": "FORWARD"}
    fields["ActivationDescs"] = [{"Type": f"ACTIVATION_{name}"} for name in activations]
    return described("LSTM", inputs, outputs, **fields), inputs


@pytest.mark.parametrize(("peephole", "is_open"), [(-0.001, True), (0.001, False), (None, False)])
def test_an_output_gate_of_a_cell_that_overflows_takes_infinity_too(peephole: float | None, *, is_open: bool) -> None:
    """C is 300 * -300, and H the output gate, clipped at 0, times 0: for infinity that is NaN, or 0 too."""
    given = {"InputTensor": [[[[1]]]], "WeightTensor": [[[[0], [0], [300], [0]]]], "CellMemInitTensor": [[[[-300]]]]}
    given |= {} if peephole is None else {"PeepholeTensor": [[[[0, peephole, 0]]]]}
    desc, inputs = lstm_in_float16(given, "RELU", "IDENTITY", "RELU")
    assert marks(desc, inputs, "OutputSingleTensor").item() is is_open
    assert not marks(desc, inputs, "OutputCellSingleTensor").any()
    assert values(desc, inputs)["OutputCellSingleTensor"].item() == -math.inf


@pytest.mark.parametrize(("later", "is_open"), [(0, True), (1, False)])
def test_a_state_after_one_that_overflows_is_open_where_infinity_makes_nan_of_it(
    later: float, *, is_open: bool
) -> None:
    """C is 300 * 300, and then 0 or 1 times it."""
    given = {"InputTensor": [[[[300]], [[later]]]], "WeightTensor": [[[[0], [0], [1], [0]]]]}
    given |= {"CellMemInitTensor": [[[[300]]]]}
    desc, inputs = lstm_in_float16(given, "IDENTITY", "IDENTITY", "TANH")
    assert marks(desc, inputs, "OutputCellSingleTensor").item() is is_open
