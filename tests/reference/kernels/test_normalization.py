"""Normalizations against fractions, whole and in blocks; their properties, what is undefined, and their bounds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from bounds_of import gathered
from elements import refused
from grouped import blocks_of
from judged import case_of, giving, result_of
from oracle import groups
from valid_descs import valid

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference import engine

Array = np.ndarray[Any, Any]

NAN, INF = math.nan, math.inf
TYPES = {"FLOAT32": np.float32, "FLOAT16": np.float16}
MVN1, MVN2 = "MEAN_VARIANCE_NORMALIZATION1", "MEAN_VARIANCE_NORMALIZATION2"


# ---- descs


def built(operator: str, inputs: dict[str, Array], **fields: Any) -> tuple[OperatorDesc, dict[str, Array]]:
    """Return the desc of an operator with these inputs, by the names of the fields without `Tensor`, and the inputs."""
    given = {f"{name}Tensor": array for name, array in inputs.items()}
    desc = {name: described(array) for name, array in given.items()}
    desc["OutputTensor"] = described(inputs["Input"])
    if operator.endswith("TRAINING"):
        desc |= {name: described(inputs["Scale"]) for name in ("OutputMeanTensor", "OutputVarianceTensor")}
    found = valid(operator, {**desc, **fields})
    return found, given


def described(array: Array) -> dict[str, Any]:
    return {"DataType": array.dtype.name.upper(), "Sizes": list(array.shape)}


def results(operator: str, inputs: dict[str, Array], **fields: Any) -> list[Any]:
    """Return OutputTensor as a flat list, None for the elements that are undefined."""
    found = engine.evaluate(*built(operator, inputs, **fields))["OutputTensor"]
    is_undefined = np.zeros(found.values.shape, bool) if found.undefined is None else found.undefined
    pairs = zip(found.values.reshape(-1).tolist(), is_undefined.reshape(-1).tolist(), strict=True)
    return [None if mark else value for value, mark in pairs]


def bound(
    operator: str,
    inputs: dict[str, Array],
    *,
    label: str = "OutputTensor",
    accumulate: str = "FLOAT32",
    is_likely: bool = False,
    **fields: Any,
) -> engine.Bound:
    """Return the engine's bound of all elements of an output."""
    desc, given = built(operator, inputs, **fields)
    sizes = desc.parts[label][0].tensor.sizes
    return gathered(desc, given, {label: np.ones(sizes, bool)}, accumulate, is_likely=is_likely)[label]


# ---- what is right, in fractions


def root(square: Fraction) -> Any:
    with mpmath.workdps(40):
        return mpmath.sqrt(mpmath.mpf(square.numerator) / square.denominator)


def parameter(array: Array | None, index: tuple[int, ...], without: int) -> Fraction:
    """Return an element of a tensor whose sizes of 1 repeat."""
    if array is None:
        return Fraction(without)
    place = tuple(0 if size == 1 else at for size, at in zip(array.shape, index, strict=True))
    return Fraction(array[place].item())


def statistics(terms: list[Fraction], *, use_mean: bool) -> tuple[Fraction, Fraction]:
    mean = sum(terms) / Fraction(len(terms)) if use_mean else Fraction(0)
    return mean, sum((term - mean) ** 2 for term in terms) / Fraction(len(terms))


def right(
    inputs: dict[str, Array],
    axes: tuple[int, ...],
    epsilon: float,
    *,
    use_mean: bool = True,
    use_variance: bool = True,
) -> tuple[Array, Array, Array]:
    """Return the normalized elements, the means and the variances as float64."""
    x = inputs["Input"]
    terms = [Fraction(element) for element in x.reshape(-1).tolist()]
    results, means, variances = np.empty(x.size), [], []
    for group in groups(x.shape, axes):
        mean, variance = statistics([terms[place] for place in group], use_mean=use_mean)
        below = root(variance + Fraction(float(np.float32(epsilon)))) if use_variance else 1
        means.append(float(mean))
        variances.append(float(variance))
        for place in group:
            index = tuple(int(at) for at in np.unravel_index(place, x.shape))
            factor = (terms[place] - mean) * parameter(inputs.get("Scale"), index, 1)
            rest = parameter(inputs.get("Bias"), index, 0) + parameter(inputs.get("FusedAdd"), index, 0)
            with mpmath.workdps(40):
                above = mpmath.mpf(factor.numerator) / factor.denominator
                results[place] = float(above / below + mpmath.mpf(rest.numerator) / rest.denominator)
    return results.reshape(x.shape), np.array(means), np.array(variances)


SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((7,), (0,)),
    ((5, 3), (0,)),
    ((4, 6), (1,)),
    ((2, 3, 4), (2, 0)),
    ((3, 2, 3), (1,)),
    ((2, 2, 3, 2), (1, 2, 3)),
    ((2, 3, 2, 3), (3, 2)),
    ((2, 1, 3, 1, 2), (4, 1, 2)),
    ((1, 2, 1, 2, 1, 2, 1, 3), (7, 1)),
    ((64,), (0,)),
]


def elements(generator: np.random.Generator, shape: tuple[int, ...], data_type: str) -> Array:
    """Return elements of one scale around a mean."""
    spread = generator.choice([2.0**-6, 1, 3, 50])
    values = generator.normal(size=shape) * spread + generator.choice([0, 1, -7, 100])
    return values.astype(TYPES[data_type])


def parameters(
    generator: np.random.Generator, names: tuple[str, ...], shape: tuple[int, ...], data_type: str
) -> dict[str, Array]:
    """Return tensors with some of the sizes 1; of those that may be missing some are."""
    chosen = [name for name in names if generator.random() < 0.7]
    sizes = [tuple(1 if generator.random() < 0.5 else size for size in shape) for _ in chosen]
    return {
        name: (generator.normal(size=own) * 2).astype(TYPES[data_type]) for name, own in zip(chosen, sizes, strict=True)
    }


def tensors(data_type: str, seed: int, rounds: int) -> Iterator[tuple[dict[str, Array], tuple[int, ...], float]]:
    generator = np.random.default_rng(seed)
    for (shape, axes), _ in itertools.product(SHAPES, range(rounds)):
        inputs = {"Input": elements(generator, shape, data_type)}
        inputs |= parameters(generator, ("Scale", "Bias"), shape, data_type)
        yield inputs, axes, float(generator.choice([1e-5, 0.25, 3, 1e-3]))


# ---- batches


# ---- neighbours


@pytest.mark.parametrize("size", [3, 64])
def test_a_plain_local_response_in_float32_is_within_the_bound_and_faults_are_not(size: int) -> None:
    x = np.random.default_rng(14).normal(size=(2, 80, 3, 1)).astype(np.float32)
    fields = {"CrossChannel": 1, "LocalSize": size, "Alpha": 0.5, "Beta": 0.75, "Bias": 1}
    given = bound("LOCAL_RESPONSE_NORMALIZATION", {"Input": x}, **fields)

    def local(before: int, after: int, alpha: float) -> Array:
        sums = np.zeros_like(x)
        for step in range(-before, after + 1):
            moved = np.zeros_like(x)
            channels = slice(max(0, -step), 80 - max(0, step))
            moved[:, channels] = x[:, max(0, step) : 80 + min(0, step)]
            sums += moved * moved
        return np.asarray(x / (np.float32(1) + np.float32(alpha) * sums) ** np.float32(0.75)).reshape(-1)

    before, after = (size - 1) // 2, size // 2
    assert not refused(local(before, after, 0.5 / size), given).any()
    for wrong in (
        local(before, after, 0.5),
        local(before - 1, after, 0.5 / size),
        local(before, after + 1, 0.5 / size),
    ):
        assert refused(wrong, given).mean() > 0.5


# ---- bounds


def one_by_one(terms: Array) -> Array:
    return np.add.accumulate(terms, axis=1, dtype=terms.dtype)[:, -1:]


def pairwise(terms: Array) -> Array:
    return terms.sum(axis=1, keepdims=True, dtype=terms.dtype)


def from_distances(x: Array, mean: Array, means: Callable[[Array], Array]) -> Array:
    return means((x - mean) * (x - mean))


def from_squares(x: Array, mean: Array, means: Callable[[Array], Array]) -> Array:
    return means(x * x) - mean * mean


def directly(x: Array, mean: Array, below: Array, scale: Array, bias: Array) -> Array:
    return (x - mean) / below * scale + bias


def folded(x: Array, mean: Array, below: Array, scale: Array, bias: Array) -> Array:
    factor = scale / below
    return x * factor + (bias - mean * factor)


def plain(x: Array, scale: Array, bias: Array, epsilon: float, ways: tuple[Any, Any, Any]) -> Array:
    """Normalize rows in the arithmetic of x."""
    sums, variance_of, finish = ways

    def means(terms: Array) -> Array:
        return sums(terms) / terms.dtype.type(terms.shape[1])

    mean = means(x)
    below = np.sqrt(variance_of(x, mean, means) + x.dtype.type(epsilon))
    return np.asarray(finish(x, mean, below, scale, bias))


WAYS = list(itertools.product((one_by_one, pairwise), (from_distances, from_squares), (directly, folded)))


def rows_of(kind: str, count: int) -> tuple[Array, Array, Array]:
    generator = np.random.default_rng(count)
    x = generator.normal(size=(40 if count < 10_000 else 3, count))
    if kind == "shifted":
        x = x * 2 + 30
    if kind == "equal":
        x[:] = 0.3
    scale, bias = generator.normal(size=(2, 1, count))
    return x.astype(np.float32), scale.astype(np.float32), bias.astype(np.float32)


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 5, 64, 1024, 65_536])
@pytest.mark.parametrize("kind", ["normal", "shifted", "equal"])
def test_a_plain_implementation_in_float32_is_within_both_bounds(kind: str, count: int) -> None:
    x, scale, bias = rows_of(kind, count)
    inputs = {"Input": x, "Scale": scale, "Bias": bias}
    fields = {"Axes": [1], "NormalizeVariance": 1, "Epsilon": 1e-5}
    given, likely = (bound(MVN1, inputs, is_likely=is_likely, **fields) for is_likely in (False, True))
    assert (likely.radius <= given.radius).all()
    for ways in WAYS:
        with np.errstate(all="ignore"):
            found = plain(x, scale, bias, 1e-5, ways).reshape(-1)
        # Squares that cancel may leave less than 0, which has no root.
        assert not refused(found, given).any() or (kind, ways[1]) == ("equal", from_squares)
        assert not refused(found, likely).any() or ways[1] == from_squares


def running(x: Array) -> tuple[Array, Array]:
    """Return means and variances by Welford's algorithm, in the arithmetic of x."""
    mean = squares = x[:, :1] * 0
    for at in range(x.shape[1]):
        element = x[:, at : at + 1]
        before = element - mean
        mean = mean + before / x.dtype.type(at + 1)
        squares = squares + before * (element - mean)
    return mean, squares / x.dtype.type(x.shape[1])


def from_the_mean(x: Array) -> tuple[Array, Array]:
    mean = one_by_one(x) / x.dtype.type(x.shape[1])
    return mean, one_by_one((x - mean) ** 2) / x.dtype.type(x.shape[1])


def from_the_first(x: Array) -> tuple[Array, Array]:
    """Return means and variances from the squares of what is left when the first element is taken from all."""
    rest = x - x[:, :1]
    mean = one_by_one(rest) / x.dtype.type(x.shape[1])
    return mean + x[:, :1], one_by_one(rest * rest) / x.dtype.type(x.shape[1]) - mean * mean


OF_ROWS = [from_the_mean, running, from_the_first]


def far_rows(mean: float, count: int) -> Array:
    """Return rows of a spread of 1 that are far from 0."""
    rows = np.random.default_rng(count).normal(mean, 1, size=(8, count))
    return rows.astype(np.float32)


@pytest.mark.slow
@pytest.mark.parametrize("way", OF_ROWS)
@pytest.mark.parametrize(("mean", "count"), [(0, 768), (10, 4096), (100, 768), (1000, 768)])
def test_right_ways_are_likely_however_far_the_mean_is(way: Any, mean: float, count: int) -> None:
    x = far_rows(mean, count)
    means, variances = way(x)
    found = {"OutputTensor": (x - means) / np.sqrt(variances + np.float32(1e-5))}
    found |= {"OutputMeanTensor": means, "OutputVarianceTensor": variances}
    inputs = {"Input": x, "Scale": np.ones((8, 1), np.float32), "Bias": np.zeros((8, 1), np.float32)}
    for label, values in found.items():
        for is_likely in (False, True):
            given = bound("BATCH_NORMALIZATION_TRAINING", inputs, label=label, is_likely=is_likely, Epsilon=1e-5)
            assert not refused(values.reshape(-1), given).any(), (label, is_likely)
    fields = {"Axes": [1], "NormalizeVariance": 1, "Epsilon": 1e-5}
    for is_likely in (False, True):
        given = bound(MVN1, {"Input": x}, is_likely=is_likely, **fields)
        assert not refused(found["OutputTensor"].reshape(-1), given).any()


def test_a_likely_error_is_small_beside_the_spread_however_far_the_mean_is() -> None:
    x = far_rows(100, 768)
    fields = {"Axes": [1], "NormalizeVariance": 1, "Epsilon": 1e-5}
    given, likely = (bound(MVN1, {"Input": x}, is_likely=is_likely, **fields) for is_likely in (False, True))
    # The mean's is 6 / sqrt(3) * 2^-24 * sqrt(768 * 4 / 3) * 100, 6.6e-4. Its square, and what squares round, is less.
    assert likely.radius.max() < 1e-3
    # No result is further than sqrt(n) from 0: the hard bound, which the squares' cancellation has, ends there.
    assert given.radius.max() <= math.sqrt(768) + np.abs(given.value).max()
    zeros = np.zeros(x.size, np.float32)
    assert refused(zeros, likely).mean() > 0.99


@pytest.mark.parametrize("count", [2, 16, 300])
def test_a_plain_implementation_in_float16_is_within_the_bound_of_that_arithmetic(count: int) -> None:
    x, scale, bias = (array.astype(np.float16) for array in rows_of("normal", count))
    inputs = {"Input": x, "Scale": scale, "Bias": bias}
    fields = {"Axes": [1], "NormalizeVariance": 1, "Epsilon": 1e-3}
    given = bound(MVN1, inputs, accumulate="FLOAT16", **fields)
    for ways in WAYS:
        with np.errstate(all="ignore"):
            assert not refused(plain(x, scale, bias, 1e-3, ways).reshape(-1), given).any()
    in_float32 = bound(MVN1, inputs, **fields)
    found = plain(x, scale, bias, 1e-3, (one_by_one, from_distances, directly)).reshape(-1)
    assert refused(found, in_float32).any()


FAULTS: dict[str, Callable[[Array], Array]] = {
    "one element less": lambda x: (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, ddof=1, keepdims=True) + 1e-2),
    "epsilon outside the root": lambda x: (x - x.mean(1, keepdims=True)) / (x.std(1, keepdims=True) + 1e-2),
    "no epsilon": lambda x: (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True),
    "no root": lambda x: (x - x.mean(1, keepdims=True)) / (x.var(1, keepdims=True) + 1e-2),
    "no mean": lambda x: x / np.sqrt(x.var(1, keepdims=True) + 1e-2),
    "mean without the last": lambda x: (x - x[:, :-1].mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-2),
    "the mean of all rows": lambda x: (x - x.mean()) / np.sqrt(x.var(1, keepdims=True) + 1e-2),
    "the variance of all rows": lambda x: (x - x.mean(1, keepdims=True)) / np.sqrt(x.var() + 1e-2),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_refused(fault: str) -> None:
    x, _, _ = rows_of("normal", 64)
    given = bound(MVN1, {"Input": x}, Axes=[1], NormalizeVariance=1, Epsilon=1e-2)
    found = FAULTS[fault](x.astype(np.float64)).astype(np.float32).reshape(-1)
    assert refused(found, given).mean() > 0.9
    right = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + np.float32(1e-2))
    assert not refused(right.reshape(-1), given).any()


@pytest.mark.slow
def test_the_bound_of_a_row_in_blocks_is_that_of_the_whole_row() -> None:
    x, scale, bias = rows_of("shifted", 20)
    fields = {"Axes": [1], "NormalizeVariance": 1, "Epsilon": 0.1, "FusedActivation": {"Type": "ACTIVATION_GELU"}}
    for is_likely in (False, True):
        whole = bound(MVN1, {"Input": x, "Scale": scale, "Bias": bias}, is_likely=is_likely, **fields)
        with blocks_of(7):
            cut = bound(MVN1, {"Input": x, "Scale": scale, "Bias": bias}, is_likely=is_likely, **fields)
        assert cut.value == pytest.approx(whole.value, rel=1e-12, abs=1e-14)
        assert cut.radius == pytest.approx(whole.radius, rel=1e-6)
        assert cut.terms == whole.terms == 20


@pytest.mark.parametrize("finish", [directly, folded])
def test_batch_normalization_in_float32_is_within_the_bound_in_either_order(
    finish: Callable[..., Array],
) -> None:
    generator = np.random.default_rng(12)
    shape = (50, 40)
    x, mean = (generator.normal(size=shape).astype(np.float32) + 1000 for _ in range(2))
    variance, scale, bias = (np.abs(generator.normal(size=shape)).astype(np.float32) for _ in range(3))
    inputs = {"Input": x, "Mean": mean, "Variance": variance, "Scale": scale, "Bias": bias}
    given = bound("BATCH_NORMALIZATION", inputs, Spatial=1, Epsilon=0.1)
    below = np.sqrt(variance + np.float32(0.1))
    assert not refused(finish(x, mean, below, scale, bias).reshape(-1), given).any()
    wrong = finish(x, mean, np.sqrt(variance) + np.float32(0.1), scale, bias)
    assert refused(wrong.reshape(-1), given).mean() > 0.9


@pytest.mark.parametrize("variance_of", [from_distances, from_squares])
@pytest.mark.parametrize("kind", ["normal", "shifted"])
def test_means_and_variances_of_training_are_within_their_bounds(kind: str, variance_of: Callable[..., Array]) -> None:
    x, _, _ = rows_of(kind, 500)
    ones = np.ones((len(x), 1), np.float32)
    inputs = {"Input": x, "Scale": ones, "Bias": ones}
    of_mean, of_variance = (
        bound("BATCH_NORMALIZATION_TRAINING", inputs, label=f"Output{name}Tensor", Epsilon=0)
        for name in ("Mean", "Variance")
    )

    def means(terms: Array) -> Array:
        return one_by_one(terms) / np.float32(500)

    assert not refused(means(x).reshape(-1), of_mean).any()
    variance = variance_of(x, means(x), means).reshape(-1)
    assert not refused(variance, of_variance).any()
    too_large = np.float32(500 / 499 if kind == "normal" else 1.05)  # the squares of shifted elements are larger
    assert refused(variance * too_large, of_variance).mean() > 0.9


@pytest.mark.parametrize("order", [1, 2])
def test_norms_in_float32_are_within_the_bound_and_faults_are_not(order: int) -> None:
    x, _, _ = rows_of("normal", 64)
    given = bound("LP_NORMALIZATION", {"Input": x}, Axis=1, Epsilon=1e-6, P=order)
    for sums in (one_by_one, pairwise):
        norm = sums(np.abs(x)) if order == 1 else np.sqrt(sums(x * x))
        assert not refused((x / norm).reshape(-1), given).any()
        assert not refused((x * (1 / norm)).reshape(-1), given).any()
    for wrong in (
        x.max(1, keepdims=True),
        np.sqrt(np.abs(x).sum(1, keepdims=True)),
        np.abs(x[:, 1:]).sum(1, keepdims=True),
    ):
        assert refused((x / wrong).reshape(-1), given).mean() > 0.9


def test_a_float16_result_may_be_rounded_before_the_activation() -> None:
    x = np.linspace(-9, -7, 200).astype(np.float16)
    ones = np.ones(1, np.float16)
    inputs = {"Input": x, "Mean": ones, "Variance": ones, "Scale": ones * np.float16(0.7), "Bias": -ones}
    activation = {"Type": "ACTIVATION_SOFTPLUS", "Steepness": 1}
    given = bound("BATCH_NORMALIZATION", inputs, Spatial=1, Epsilon=0, FusedActivation=activation)
    result = np.float64(np.float16(0.7)) * (x.astype(np.float64) - 1) - 1
    for before in (result, result.astype(np.float16).astype(np.float64)):
        assert not refused(np.log1p(np.exp(before)).astype(np.float16), given).any()
    assert refused(np.log1p(np.exp(result + 0.02)).astype(np.float16), given).all()


EQUAL, APART = [0.11880769] * 3, [1.0, 2.0, 6.0]
SIZES = {
    "InputTensor": (1, 1, 1, 3),
    "ScaleTensor": (1, 1, 1, 1),
    "BiasTensor": (1, 1, 1, 1),
    "OutputTensor": (1, 1, 1, 3),
}


@pytest.mark.parametrize(
    ("operator", "fields"),
    [
        ("MEAN_VARIANCE_NORMALIZATION", {"CrossChannel": False, "NormalizeVariance": False}),
        ("MEAN_VARIANCE_NORMALIZATION1", {"Axes": [3], "NormalizeVariance": False}),
        ("MEAN_VARIANCE_NORMALIZATION2", {"Axes": [3], "UseMean": True, "UseVariance": False}),
    ],
)
@pytest.mark.parametrize(
    ("x", "given", "outcome"),
    [
        (EQUAL, INF, "xfailed"),
        (EQUAL, NAN, "passed"),
        (EQUAL, 5, "failed"),
        (APART, [INF, INF, -INF], "passed"),
        (APART, INF, "failed"),
    ],
)
def test_the_rounding_of_the_mean_decides_the_sign_of_infinity(
    operator: str, fields: dict[str, Any], x: list[float], given: Any, outcome: str
) -> None:
    """DirectML 1.13.1 and 1.15.4 gave infinity for equal elements, vkd3d-proton on Mesa lavapipe 25.0, 2026-11-30."""
    desc = {name: {"DataType": "FLOAT32", "Sizes": list(sizes)} for name, sizes in SIZES.items()}
    inputs = {"InputTensor": [[[x]]], "ScaleTensor": [[[[-INF]]]], "BiasTensor": [[[[1]]]]}
    values = given if isinstance(given, float | int) else [[[given]]]
    case = case_of(operator, {**desc, **fields, "Epsilon": 0}, inputs)
    assert result_of(case, giving(values, is_directml=True)).outcome == outcome
