"""FLOAT16 as DirectML computes it: intermediate results in FLOAT16, and conversions that cut off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from judged import Fake, case_of, giving, result_of

from dmlcheck.descs.read import read_desc
from dmlcheck.reference.bounds import arithmetic_of
from dmlcheck.reference.limits.precision import Precision
from dmlcheck.running.results import CaseResult
from dmlcheck.validation.conditions import half_of

Array = Any


def cut(x: Array) -> Array:
    """Return numbers rounded to FLOAT16 toward 0, in FLOAT32; too large ones become its largest number."""
    near = np.clip(x, -65504, 65504).astype(np.float16)
    is_larger = np.abs(near.astype(np.float64)) > np.abs(x)
    return np.where(is_larger, np.nextafter(near, np.float16(0)), near).astype(np.float32)


def softmax(x: Array) -> Array:
    powers = cut(np.exp(x - x.max(axis=-1, keepdims=True)))
    return cut(powers / cut(powers.sum(axis=-1, keepdims=True, dtype=np.float32)))


def without_the_last(x: Array) -> Array:
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return cut(powers / powers[..., :-1].sum(axis=-1, keepdims=True))


def without_the_largest(x: Array) -> Array:
    powers = np.exp(x)
    return cut(powers / (1 + powers.sum(axis=-1, keepdims=True)))


def tensor(*sizes: int) -> dict[str, Any]:
    return {"DataType": "FLOAT16", "Sizes": list(sizes)}


def made(compute: Callable[..., Array], *, is_directml: bool) -> Any:
    """Return an implementation that computes in FLOAT32 from its inputs, and rounds to FLOAT16."""

    def of(_: Any, inputs: dict[str, Any]) -> dict[str, Array]:
        return {"OutputTensor": compute(*(x.astype(np.float32) for x in inputs.values())).astype(np.float16)}

    return Fake(of, is_directml=is_directml)


def result(operator: str, desc: dict[str, Any], implementation: Any, *inputs: Array) -> CaseResult:
    names = ("ATensor", "BTensor") if operator == "GEMM" else ("InputTensor",)
    given = {name: values.astype(np.float16).tolist() for name, values in zip(names, inputs, strict=True)}
    return result_of(case_of(operator, desc, given), implementation)


@pytest.mark.parametrize(
    ("compute", "is_directml", "outcome"),
    [
        (softmax, True, "passed"),
        (softmax, False, "failed"),
        (without_the_last, True, "failed"),
        (without_the_largest, True, "failed"),
        (lambda x: softmax(x[..., ::-1]), True, "failed"),
        (lambda x: softmax(x) + 0.004, True, "failed"),
    ],
)
def test_values_in_float16_are_right_for_directml_alone_and_faults_stay_wrong(
    compute: Callable[..., Array], is_directml: bool, outcome: str
) -> None:
    x = np.random.default_rng(5).uniform(-3, 3, (4, 50))
    desc = {"InputTensor": tensor(4, 50), "OutputTensor": tensor(4, 50), "Axes": [1]}
    found = result("ACTIVATION_SOFTMAX1", desc, made(compute, is_directml=is_directml), x)
    assert found.outcome == outcome, found.outputs
    told = found.outputs["OutputTensor"].decided_by
    assert ("as DirectML does: the exponentials, their sum" in told) == is_directml


GEMM = {"ATensor": tensor(1, 1, 40, 64), "BTensor": tensor(1, 1, 64, 40), "OutputTensor": tensor(1, 1, 40, 40)}
GEMM |= {"TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 0}
CONVOLUTION = {"OutputTensor": tensor(1, 4, 1), "Mode": "CROSS_CORRELATION", "Direction": "FORWARD", "GroupCount": 1}
CONVOLUTION |= {"Strides": [1], "Dilations": [1], "StartPadding": [0], "EndPadding": [0], "OutputPadding": [0]}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("largest", "is_directml", "outcome"),
    [(65504, True, "passed"), (65504, False, "failed"), (65472, True, "failed"), (-65504, True, "failed")],
)
def test_the_largest_number_stands_for_an_overflow_of_directml(largest: float, is_directml: bool, outcome: str) -> None:
    a, b = np.full((1, 1, 40, 64), 100), np.full((1, 1, 64, 40), 100)
    one = giving(largest, is_directml=is_directml)
    assert result("GEMM", GEMM, one, a, b).outcome == outcome
    a[..., 0] = 0
    b = np.where(np.arange(64)[:, None] == 1, np.inf, b)  # an infinity of the inputs is not cut off
    assert result("GEMM", GEMM, one, a, b).outcome == "failed"


@pytest.mark.parametrize(
    ("data_type", "fields", "keeps"),
    [
        ("FLOAT16", {}, False),
        ("FLOAT16", {"FusedActivation": {"Type": "ACTIVATION_RELU"}}, True),
        ("FLOAT32", {"FusedActivation": {"Type": "ACTIVATION_RELU"}}, False),
    ],
)
def test_a_sum_is_kept_in_float16_for_a_further_step(data_type: str, fields: dict[str, Any], keeps: bool) -> None:
    typed = {name: {**value, "DataType": data_type} for name, value in GEMM.items() if isinstance(value, dict)}
    desc = read_desc("GEMM", {**GEMM, **typed, **fields}).desc
    assert desc is not None
    assert (half_of(desc) is not None) == keeps
    own = arithmetic_of(desc, Precision(is_directml=True))
    assert (own.data_type, own.computed_in) == (("FLOAT16", "FLOAT32") if keeps else ("FLOAT32", ""))
    assert (own.unit_roundoff, own.stored) == ((2.0**-10, "stored") if keeps else (2.0**-24, ""))
    assert arithmetic_of(desc, Precision("FLOAT16", is_directml=True)) == arithmetic_of(desc, Precision("FLOAT16"))


@pytest.mark.parametrize(
    ("count", "is_directml", "given", "outcome"),
    [
        (96, True, -0.001953125, "passed"),
        (96, False, -0.001953125, "failed"),
        (88, True, -0.001953125, "failed"),
        (96, True, 0.25, "failed"),
    ],
)
@pytest.mark.parametrize("operator", ["GEMM", "CONVOLUTION"])
def test_parts_of_a_long_sum_are_in_float16(
    operator: str, count: int, is_directml: bool, given: float, outcome: str
) -> None:
    """DirectML 1.13.1 and 1.15.4, vkd3d-proton on lavapipe 25.0, 2026-11-30: a part ends after 32 products of 96.

    The same sum of 88 products is -0.0027618408203125.
    """
    terms = np.zeros(count, np.float16)
    terms[31:34] = 1, -1, -0.0027618408203125
    ones, filters = np.ones(count), np.repeat(terms[None], 4, axis=0)
    if operator == "GEMM":
        inputs = {"ATensor": np.ones((1, 1, 4, count)), "BTensor": filters.T[None, None]}
        desc = GEMM | {name: tensor(*values.shape) for name, values in inputs.items()}
        desc |= {"OutputTensor": tensor(1, 1, 4, 4)}
    else:
        inputs = {"InputTensor": ones.reshape(1, -1, 8), "FilterTensor": filters.reshape(4, -1, 8)}
        desc = CONVOLUTION | {name: tensor(*values.shape) for name, values in inputs.items()}
    case = case_of(operator, desc, {name: values.tolist() for name, values in inputs.items()})
    assert result_of(case, giving(given, is_directml=is_directml)).outcome == outcome


ROI_GRADIENT = {
    "InputGradientTensor": tensor(2, 1, 1, 1),
    "ROITensor": tensor(2, 4),
    "BatchIndicesTensor": {"DataType": "UINT32", "Sizes": [2]},
    "OutputGradientTensor": tensor(1, 1, 3, 3),
    "ReductionFunction": "AVERAGE",
    "SpatialScaleX": 1,
    "SpatialScaleY": 1,
    "InputPixelOffset": 0,
    "OutputPixelOffset": 0,
    "MinimumSamplesPerOutput": 3,
    "MaximumSamplesPerOutput": 3,
    "AlignRegionsToCorners": False,
}


@pytest.mark.parametrize(
    ("mode", "is_directml", "given", "outcome"),
    [
        ("NEAREST_NEIGHBOR", True, 0.187255859375, "passed"),
        ("NEAREST_NEIGHBOR", False, 0.187255859375, "failed"),
        ("NEAREST_NEIGHBOR", True, 0.1796875, "failed"),
        ("LINEAR", True, 0.187255859375, "failed"),
        ("LINEAR", True, 0.1875, "passed"),
    ],
)
def test_the_gradient_of_a_nearest_sample_is_in_float16(
    mode: str, is_directml: bool, given: float, outcome: str
) -> None:
    """DirectML 1.13.1 and 1.15.4, vkd3d-proton on lavapipe 25.0, 2026-11-30: 9 * half(1/9) - 9 * half(0.8125/9)."""
    inputs = {
        "InputGradientTensor": [[[[1]]], [[[-0.8125]]]],
        "ROITensor": [[1, 1, 1, 1], [1, 1, 1, 1]],
        "BatchIndicesTensor": [0, 0],
    }
    case = case_of("ROI_ALIGN_GRAD", ROI_GRADIENT | {"InterpolationMode": mode}, inputs)
    implementation = giving([0, 0, 0, 0, given, 0, 0, 0, 0], is_directml=is_directml)
    assert result_of(case, implementation).outcome == outcome


# ---- scaled integers

SCALED = [
    [0.37060546875, 4.4453125, 8.890625],
    [0.654296875, 7.8515625, 15.703125],
    [0.958984375, 11.5078125, 23.015625],
    [1.2646484375, 15.171875, 30.34375],
    [1.5703125, 18.828125, 37.65625],
    [2.091796875, 25.109375, 50.21875],
]


@pytest.mark.parametrize(
    ("given", "is_directml", "outcome"),
    [(SCALED, True, "passed"), (SCALED, False, "failed"), (np.multiply(SCALED, 1.004).tolist(), True, "failed")],
)
def test_scaled_integers_are_in_float16(given: Any, is_directml: bool, outcome: str) -> None:
    """DirectML 1.15.4, vkd3d-proton on Mesa lavapipe 25.0, 2026-11-29: both factors are cut off, and their product."""
    inputs = {
        "ATensor": [[20], [33], [47], [61], [75], [99]],
        "AScaleTensor": [[0.2066650390625]],
        "AZeroPointTensor": [[3]],
        "BTensor": [[7, 29, 53]],
        "BScaleTensor": [[0.05279541015625]],
        "BZeroPointTensor": [[5]],
    }
    desc = {
        name: {"DataType": "FLOAT16" if "Scale" in name else "INT8", "Sizes": list(np.shape(values))}
        for name, values in inputs.items()
    }
    desc["OutputTensor"] = tensor(6, 3)
    case = case_of("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", desc, inputs)
    assert result_of(case, giving(given, is_directml=is_directml)).outcome == outcome


# ---- recurrent networks


def rnn(data_type: str, x: Array, h: Array | None, w: Array, r: Array, bias: Array | None) -> dict[str, Any]:
    """Return a case of RNN without an activation: x is {steps, batch, size}, w {hidden, size}, r {hidden, hidden}."""
    given = {
        "InputTensor": x[None],
        "WeightTensor": w[None, None],
        "RecurrenceTensor": r[None, None],
        "BiasTensor": None if bias is None else bias[None, None, None],
        "HiddenInitTensor": None if h is None else h[None, None],
    }
    inputs = {name: values for name, values in given.items() if values is not None}
    sizes = {name: list(values.shape) for name, values in inputs.items()}
    sizes["OutputSequenceTensor"] = [len(x), 1, x.shape[1], len(r)]
    desc = {name: {"DataType": data_type, "Sizes": own} for name, own in sizes.items()}
    desc |= {"ActivationDescs": [{"Type": "ACTIVATION_IDENTITY"}], "Direction": "FORWARD"}
    return {"desc": desc, "inputs": {name: values.tolist() for name, values in inputs.items()}}


def rnn_result(case: dict[str, Any], states: Array, *, is_directml: bool) -> CaseResult:
    return result_of(case_of("RNN", **case), giving(states, is_directml=is_directml))


MEASURED = [-0.0205078125, 0.0, 0.0205078125, 0.041015625, 0.0615234375, 0.08203125]


@pytest.mark.parametrize(
    ("given", "is_directml", "outcome"),
    [
        (MEASURED, True, "passed"),
        (MEASURED, False, "failed"),
        ([*MEASURED[:-1], MEASURED[-1] + 0.01], True, "failed"),
        ([-each for each in MEASURED], True, "failed"),
    ],
)
def test_the_products_of_a_gate_are_each_in_float16(given: list[float], is_directml: bool, outcome: str) -> None:
    """DirectML 1.15.4, vkd3d-proton on Mesa lavapipe 25.0, 2026-11-29: the products are near 1.8, and cancel."""
    x = np.array([1.0625, 1.1875, 1.3125, 1.4375, 1.5625, 1.6875])[:, None]
    weights = (np.array([[each]]) for each in (1.376953125, -1.2119140625))
    case = rnn("FLOAT16", x[None], x, *weights, np.array([1.1171875, -1.3134765625]))
    assert rnn_result(case, np.array(given)[None, :, None], is_directml=is_directml).outcome == outcome


@pytest.mark.parametrize(("is_directml", "outcome"), [(True, "passed"), (False, "failed")])
def test_errors_of_states_that_are_all_cut_off_add_up(is_directml: bool, outcome: str) -> None:
    """Each state is the mean of 64 before it: their errors are all below 0, and nothing of them cancels."""
    steps, size = 40, 64
    x = np.full((steps, 1, 1), np.float16(2**-11)).astype(np.float64)
    states, h = [], np.full((1, size), 1.0)
    for step in x:
        h = cut(h.mean(axis=1, keepdims=True) + cut(step)).astype(np.float64) * np.ones((1, size))
        states.append(h)
    case = rnn("FLOAT16", x, np.full((1, size), 1.0), np.ones((size, 1)), np.full((size, size), 1 / size), None)
    assert rnn_result(case, np.array(states), is_directml=is_directml).outcome == outcome


@pytest.mark.parametrize(
    ("later", "beside", "outcome"), [(1.7014117e38, 1, "xfailed"), (2e38, 1, "xfailed"), (1.7014117e38, 3, "failed")]
)
def test_the_next_states_follow_from_one_that_is_clipped(later: float, beside: float, outcome: str) -> None:
    """DirectML 1.15.4, vkd3d-proton on Mesa lavapipe 25.0, 2026-11-29: 4e38 is 3.4e38, half of which is 1.7e38."""
    x = np.array([[2e38, 1], [0, 0]])[..., None]
    case = rnn("FLOAT32", x, np.zeros((2, 1)), np.array([[2.0]]), np.array([[0.5]]), None)
    states = np.array([[3.4028235e38, 2], [later, beside]])[..., None]
    assert rnn_result(case, states, is_directml=True).outcome == outcome
