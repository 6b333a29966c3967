"""ADAM_OPTIMIZER against mpmath and onnx's evaluator, its bounds, and what is undefined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from bounds_of import gathered
from elements import misrounded, refused
from made_descs import of_arrays

from dmlcheck.reference import engine
from dmlcheck.reference.tiling import cut

Array = np.ndarray[Any, Any]

NAMES = ("InputParameters", "InputFirstMoment", "InputSecondMoment", "Gradient")
OUTPUTS = ("OutputParametersTensor", "OutputFirstMomentTensor", "OutputSecondMomentTensor")
RATES = {"LearningRate": 0.001, "Beta1": 0.9, "Beta2": 0.999, "Epsilon": 1e-8}
TYPES = {"FLOAT32": np.float32, "FLOAT16": np.float16}


def tensors(data_type: str, count: int, seed: int = 3) -> dict[str, Array]:
    """Return weights, moments, second moments that are not negative, and gradients."""
    generator = np.random.default_rng(seed)
    x, m, g = (generator.normal(size=count) for _ in range(3))
    v = np.abs(generator.normal(size=count))
    return {name: array.astype(TYPES[data_type]) for name, array in zip(NAMES, (x, m, v, g), strict=True)}


def built(given: dict[str, Array], step: int, **rates: float) -> Any:
    inputs = {**given, "TrainingStep": np.array([[step]], np.uint32)}
    tensor = {"DataType": given["Gradient"].dtype.name.upper(), "Sizes": list(given["Gradient"].shape)}
    return of_arrays("ADAM_OPTIMIZER", inputs, dict.fromkeys(OUTPUTS, tensor), **{**RATES, **rates})


def computed(given: dict[str, Array], step: int, **rates: float) -> list[Array]:
    found = engine.run(*built(given, step, **rates))
    return [found[label] for label in OUTPUTS]


def bounds(given: dict[str, Array], step: int, *args: Any, **rates: float) -> list[engine.Bound]:
    asked = {label: np.ones(given["Gradient"].shape, bool) for label in OUTPUTS}
    found = gathered(*built(given, step, **rates), asked, *args)
    return [found[label] for label in OUTPUTS]


def right(given: dict[str, Array], step: int, **rates: float) -> list[Array]:
    """Return the three results with 50 digits, as float64."""
    with mpmath.workdps(50):
        lr, b1, b2, epsilon = (mpmath.mpf(float(np.float32(rate))) for rate in {**RATES, **rates}.values())
        factor = mpmath.sqrt(1 - b2**step) / (1 - b1**step)
        rows = []
        for x, m, v, g in zip(*(map(mpmath.mpf, given[name].tolist()) for name in NAMES), strict=True):
            first, second = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
            rows.append([float(y) for y in (x - lr * factor * first / (mpmath.sqrt(second) + epsilon), first, second)])
    return list(np.array(rows).T)


@pytest.mark.parametrize("block", [3, 65_536])
@pytest.mark.parametrize("step", [1, 2, 17, 1000, 2**24 + 1, 2**32 - 1])
@pytest.mark.parametrize("data_type", TYPES)
def test_the_results_are_those_of_the_formula(
    data_type: str, step: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cut, "BLOCK", block)
    given = tensors(data_type, 10)
    for rates in ({}, {"LearningRate": 0.3, "Beta1": 0.25, "Beta2": 0.75, "Epsilon": 0.1}):
        for found, expected in zip(computed(given, step, **rates), right(given, step, **rates), strict=True):
            assert not misrounded(found, expected).any()


# ---- bounds


def plain(given: dict[str, Array], step: int, *, is_merged: bool, **rates: float) -> list[Array]:
    """Return what an implementation computes in the type of the tensors, 1 - Beta^T in FLOAT32."""
    dtype = given["Gradient"].dtype.type
    x, m, v, g = (given[name] for name in NAMES)
    lr, b1, b2, epsilon = (np.float32(rate) for rate in {**RATES, **rates}.values())
    factor = np.sqrt(1 - b2 ** np.float32(step)) / (1 - b1 ** np.float32(step))
    (lr, b1, b2, epsilon, factor), one = map(dtype, (lr, b1, b2, epsilon, factor)), dtype(1)
    first, second = b1 * m + (one - b1) * g, b2 * v + (one - b2) * g * g
    root = np.sqrt(second) + epsilon
    return [x - lr * factor * first / root if is_merged else x - lr * (factor * (first / root)), first, second]


@pytest.mark.parametrize("is_merged", [True, False])
@pytest.mark.parametrize("step", [1, 3, 500, 10**6])
@pytest.mark.parametrize("data_type", TYPES)
def test_an_implementation_of_the_formula_is_within_the_bounds(data_type: str, step: int, *, is_merged: bool) -> None:
    given = tensors(data_type, 400)
    rates = {"LearningRate": 0.5, "Epsilon": 1e-3}
    for found, bound in zip(
        plain(given, step, is_merged=is_merged, **rates), bounds(given, step, data_type, **rates), strict=True
    ):
        assert not refused(found, bound).any()


def test_scalars_may_be_rounded_to_float16_or_not() -> None:
    given = tensors("FLOAT16", 100)
    wide = {name: array.astype(np.float32) for name, array in given.items()}
    rounded = {name: float(np.float16(rate)) for name, rate in RATES.items()}
    for rates in ({}, {**rounded, "LearningRate": 0.001, "Epsilon": 1e-8}):
        found = plain(wide, 4, is_merged=True, **rates)
        for array, bound in zip(found, bounds(given, 4), strict=True):
            assert not refused(array.astype(np.float16), bound).any()


FAULTS: dict[str, Callable[[Array, Array, Array, Array], Array]] = {
    "no correction": lambda x, m, v, _: x - 0.001 * m / (np.sqrt(v) + 1e-8),
    "only the first moment corrected": lambda x, m, v, _: x - 0.001 * m / (1 - 0.9**3) / (np.sqrt(v) + 1e-8),
    "epsilon below the root": lambda x, m, v, _: x - _factor(3) * m / np.sqrt(v + 1e-3),
    "the step before": lambda x, m, v, _: x - _factor(2) * m / (np.sqrt(v) + 1e-8),
    "the step after": lambda x, m, v, _: x - _factor(4) * m / (np.sqrt(v) + 1e-8),
    "no root": lambda x, m, v, _: x - _factor(3) * m / (v + 1e-8),
    "the gradient for the moment": lambda x, _, v, g: x - _factor(3) * g / (np.sqrt(v) + 1e-8),
    "upwards": lambda x, m, v, _: x + _factor(3) * m / (np.sqrt(v) + 1e-8),
}


def _factor(step: int) -> float:
    return float(0.001 * np.sqrt(1 - 0.999**step) / (1 - 0.9**step))


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_the_update_are_refused(fault: str) -> None:
    given = tensors("FLOAT32", 200)
    given["InputParameters"][:] = 0
    _, first, second = right(given, 3)
    gradients = given["Gradient"].astype(np.float64)
    found = FAULTS[fault](np.zeros(200), first, second, gradients).astype(np.float32)
    bound, *_ = bounds(given, 3)
    assert refused(found, bound).mean() > 0.9
    assert not refused((-_factor(3) * first / (np.sqrt(second) + 1e-8)).astype(np.float32), bound).any()


def test_faults_of_the_moments_are_refused() -> None:
    given = tensors("FLOAT32", 200)
    m, v, g = (given[name].astype(np.float64) for name in NAMES[1:])
    _, of_first, of_second = bounds(given, 3)
    for found, bound in ((0.9 * m + g, of_first), (0.1 * m + 0.9 * g, of_first), (0.999 * m + 0.001 * g, of_first)):
        assert refused(found.astype(np.float32), bound).mean() > 0.9
    for found in (0.999 * v + 0.001 * np.abs(g), 0.9 * v + 0.1 * g * g, 0.999 * v + 0.001 * (g - m) ** 2):
        assert refused(found.astype(np.float32), of_second).mean() > 0.9


# ---- what is undefined


@pytest.mark.parametrize(("step", "rates"), [(0, {}), (7, {"Beta1": 1}), (2, {"Beta1": -1})])
def test_weights_are_undefined_where_the_formula_divides_by_0_and_moments_are_not(
    step: int, rates: dict[str, float]
) -> None:
    found = engine.evaluate(*built(tensors("FLOAT32", 4), step, **rates))
    weights, first, second = (found[label].undefined for label in OUTPUTS)
    assert weights is not None
    assert weights.all()
    assert first is None
    assert second is None
    assert bounds(tensors("FLOAT32", 4), step, **rates)[0].undefined.all()
