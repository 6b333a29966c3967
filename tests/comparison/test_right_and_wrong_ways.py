"""Ways to compute that are right, and faults that are not, against the tolerances that formulas give."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from valid_descs import tensor, valid

from dmlcheck.comparison.compare import compare
from dmlcheck.comparison.records import OutputResult
from dmlcheck.comparison.tolerances import limit_for
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference import engine
from dmlcheck.reference.bounds import bounds

Array = np.ndarray[Any, Any]
F32 = np.float32


def judged(desc: OperatorDesc, inputs: dict[str, Any], found: Array, label: str = "OutputTensor") -> OutputResult:
    """Compare what an implementation found with what the reference engine computes."""
    limit = limit_for(desc, None)
    expected = {label: (desc.parts[label][0].tensor, engine.run(desc, inputs)[label])}
    return compare(expected, {label: found}, limit, partial(bounds, desc, inputs))[label].result


def is_right(result: OutputResult) -> bool:
    return not (result.mismatches or result.unlikely or result.systematic or result.unlimited)


def is_wrong(result: OutputResult) -> bool:
    """Whether it fails a case without --strict."""
    return bool(result.mismatches or result.systematic)


# ---- sums


# The sum is 0. In FLOAT32, 0.1 + 0.2 - 0.1 - 0.2 is 2^-26 in this order, and the errors of three sums are below 2^-23.
@pytest.mark.parametrize(
    ("found", "is_expected"),
    [(-26 * np.log(2), True), (-40.0, True), (-np.inf, True), (np.nan, True), (-10.0, False), (5.0, False)],
)
def test_the_logarithm_of_a_sum_that_cancels_is_one_of_any_small_number(found: float, *, is_expected: bool) -> None:
    x = np.array([[0.1, 0.2, -0.1, -0.2]], F32)
    assert x[0, 0] + x[0, 1] + x[0, 2] + x[0, 3] == F32(2.0**-26)
    desc = valid("REDUCE", Function="LOG_SUM", InputTensor=tensor(1, 4), OutputTensor=tensor(1, 1), Axes=[1])
    result = judged(desc, {"InputTensor": x}, np.array([[found]], F32))
    assert is_wrong(result) != is_expected


def drawn(kind: str, sizes: tuple[int, ...]) -> Array:
    random = np.random.default_rng(5)
    made = {
        "normal": lambda: random.standard_normal(sizes),
        "far from 0": lambda: 1000 + random.standard_normal(sizes),
        "two values": lambda: random.choice([0.1, 0.7], sizes),
        "two values of both signs": lambda: random.choice([-0.1, 0.3], sizes),
        "ten values": lambda: random.choice(random.random(10), sizes),
        "one value": lambda: np.full(sizes, 0.1),
    }[kind]()
    return np.asarray(made, F32)


KINDS = ["normal", "far from 0", "two values", "two values of both signs", "ten values", "one value"]


def sums() -> OperatorDesc:
    return valid("REDUCE", Function="SUM", InputTensor=tensor(16, 65536), OutputTensor=tensor(16, 1), Axes=[1])


# ---- products


def cut(x: Array, bits: int) -> Array:
    """Return FLOAT32 numbers without their last bits: 13 for TF32, 16 for BFLOAT16."""
    found: Array = (x.view(np.uint32) & np.uint32(2**32 - 2**bits)).view(F32)
    return found


def gemm(size: int, terms: int) -> OperatorDesc:
    return valid(
        "GEMM",
        ATensor=tensor(1, 1, size, terms),
        BTensor=tensor(1, 1, terms, size),
        OutputTensor=tensor(1, 1, size, size),
        TransA="NONE",
        TransB="NONE",
        Alpha=1.0,
        Beta=0.0,
    )


def factors(kind: str, size: int, terms: int) -> tuple[Array, Array]:
    return drawn(kind, (size, terms)), drawn(kind, (terms, size)).T.reshape(size, terms).T.copy()


def product(kind: str, size: int, terms: int, way: Callable[[Array, Array], Array]) -> OutputResult:
    a, b = factors(kind, size, terms)
    inputs = {"ATensor": a[None, None], "BTensor": b[None, None]}
    return judged(gemm(size, terms), inputs, way(a, b).astype(F32)[None, None])


def one_by_one(a: Array, b: Array) -> Array:
    found = np.zeros((len(a), b.shape[1]), F32)
    for k in range(len(b)):
        found = found + a[:, k : k + 1] * b[k : k + 1]
    return found


def by_three_tf32(a: Array, b: Array) -> Array:
    """Products of large and small parts that TF32 holds: what libraries offer as FLOAT32 on matrix units."""
    large, other = cut(a, 13), cut(b, 13)
    small, rest = cut(a - large, 13), cut(b - other, 13)
    return (large @ rest + small @ other) + large @ other


def by_strassen(a: Array, b: Array) -> Array:
    size = len(a) // 2
    if size < 16:
        return a @ b
    (p, q), (r, s) = ([x[:, :size], x[:, size:]] for x in (a[:size], a[size:]))
    (t, u), (v, w) = ([x[:, :size], x[:, size:]] for x in (b[:size], b[size:]))
    pairs = ((p + s, t + w), (r + s, t), (p, u - w), (s, v - t), (p + q, w), (r - p, t + u), (q - s, v + w))
    m1, m2, m3, m4, m5, m6, m7 = (by_strassen(x, y) for x, y in pairs)
    return np.block([[m1 + m4 - m5 + m7, m3 + m5], [m2 + m4, m1 - m2 + m3 + m6]])


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("terms", [64, 4096])
@pytest.mark.parametrize("way", [np.matmul, one_by_one, by_three_tf32])
def test_a_product_is_right_in_any_order_and_in_three_parts(
    way: Callable[[Array, Array], Array], terms: int, kind: str
) -> None:
    assert is_right(product(kind, 32, terms, way))


@pytest.mark.parametrize("kind", ["normal", "far from 0", "two values"])
def test_the_errors_of_strassens_products_are_not_systematic(kind: str) -> None:
    result = product(kind, 64, 64, by_strassen)
    assert (result.mismatches, result.systematic) == (0, None)


def test_sums_of_integers_are_exact_before_they_are_scaled() -> None:
    random = np.random.default_rng(3)
    size, terms = 16, 2048
    desc = valid(
        "MATRIX_MULTIPLY_INTEGER_TO_FLOAT",
        ATensor=tensor(1, 1, size, terms, data_type="UINT8"),
        AScaleTensor=tensor(1, 1, 1, 1),
        BTensor=tensor(1, 1, terms, size, data_type="UINT8"),
        BScaleTensor=tensor(1, 1, 1, 1),
        OutputTensor=tensor(1, 1, size, size),
    )
    a, b = (random.integers(0, 256, sizes).astype(np.uint8) for sizes in ((size, terms), (terms, size)))
    scales = np.full((1, 1, 1, 1), 0.1, F32), np.full((1, 1, 1, 1), 0.3, F32)
    inputs = {"ATensor": a[None, None], "AScaleTensor": scales[0], "BTensor": b[None, None], "BScaleTensor": scales[1]}
    integers = a.astype(np.int64) @ b.astype(np.int64)
    scaled = (integers.astype(F32) * (scales[0] * scales[1])[0, 0])[None, None]
    assert is_right(judged(desc, inputs, scaled))
    off = judged(desc, inputs, scaled * F32(1 + 1e-5))
    assert (off.mismatches, off.unlikely) == (0, size * size)


# ---- functions


def function(operator: str, x: Array, found: Any) -> OutputResult:
    desc = valid(operator, InputTensor=tensor(*x.shape), OutputTensor=tensor(*x.shape))
    return judged(desc, {"InputTensor": x}, np.asarray(found).astype(F32))


X = np.random.default_rng(9).uniform(-3, 3, (1, 512)).astype(F32)


def erf_by_polynomial(x: Array) -> Array:
    """Abramowitz and Stegun, 7.1.25: off by 2.5e-5."""
    t = 1 / (1 + 0.47047 * np.abs(x))
    return np.copysign(1 - t * (0.3480242 + t * (-0.0958798 + t * 0.7478556)) * np.exp(-(x.astype(np.float64) ** 2)), x)


@pytest.mark.parametrize(
    ("operator", "x", "found"),
    [
        ("ELEMENT_WISE_ERF", X, erf_by_polynomial(X)),
        ("ELEMENT_WISE_SIN", X, np.sin(X.astype(np.float64)) + 1e-5),
        ("ELEMENT_WISE_COS", X, np.cos(X.astype(np.float64)) + 1e-5),
        ("ELEMENT_WISE_TAN", X / 3, np.tan(X.astype(np.float64) / 3) + 1e-4),
        ("ELEMENT_WISE_TANH", X / 1000, X.astype(np.float64) / 1000 * 0.999),
        ("ACTIVATION_TANH", X / 1000, X.astype(np.float64) / 1000 * 0.999),
    ],
)
def test_what_sources_grant_and_no_implementation_needs_is_unlikely(operator: str, x: Array, found: Array) -> None:
    result = function(operator, x, found)
    assert (result.mismatches, result.unlikely > 0) == (0, True)


@pytest.mark.parametrize(("operator", "sign"), [("ELEMENT_WISE_COSH", 1), ("ELEMENT_WISE_SINH", -1)])
def test_half_a_power_may_overflow_where_the_power_does(operator: str, sign: int) -> None:
    x = np.array([[88.5, 88.73, 89.2, 89.5]], F32)
    with np.errstate(over="ignore"):
        halves = (np.exp(x) + sign * np.exp(-x)) * F32(0.5)
    assert halves.tolist()[0][1:] == [np.inf] * 3
    assert is_right(function(operator, x, halves))
    assert function(operator, x, np.full_like(x, np.inf)).mismatches == 1


def test_a_moment_of_adam_may_be_interpolated() -> None:
    random = np.random.default_rng(4)
    shape = tensor(1, 1, 1, 1000)
    names = ("Parameters", "FirstMoment", "SecondMoment")
    desc = valid(
        "ADAM_OPTIMIZER",
        **{f"Input{name}Tensor": shape for name in names},
        **{f"Output{name}Tensor": shape for name in names},
        GradientTensor=shape,
        TrainingStepTensor=tensor(1, 1, 1, 1, data_type="UINT32"),
        LearningRate=0.001,
        Beta1=0.9,
        Beta2=0.999,
        Epsilon=1e-8,
    )
    x, m, v, g = random.standard_normal((4, 1, 1, 1, 1000)).astype(F32)
    inputs = {f"Input{name}Tensor": values for name, values in zip(names, (x, m, v * v), strict=True)}
    inputs |= {"GradientTensor": g, "TrainingStepTensor": np.ones((1, 1, 1, 1), np.uint32)}
    interpolated = m + (1 - F32(0.9)) * (g - m)
    assert is_right(judged(desc, inputs, interpolated, "OutputFirstMomentTensor"))
    assert is_wrong(judged(desc, inputs, m + F32(0.1001) * (g - m), "OutputFirstMomentTensor"))


# ---- normalizations


def test_a_normalization_of_a_large_mean_has_limits() -> None:
    x = (1000 + np.random.default_rng(8).standard_normal((1, 1, 256, 256))).astype(F32)
    desc = valid(
        "MEAN_VARIANCE_NORMALIZATION1",
        InputTensor=tensor(*x.shape),
        OutputTensor=tensor(*x.shape),
        Axes=[2, 3],
        NormalizeVariance=True,
        Epsilon=1e-5,
    )
    centred = x - x.mean(dtype=F32)
    found = centred / np.sqrt((centred * centred).mean(dtype=F32) + F32(1e-5))
    assert is_right(judged(desc, {"InputTensor": x}, found))
    assert judged(desc, {"InputTensor": x}, np.zeros_like(x)).unlikely > 0


def test_errors_are_measured_from_the_nearest_of_several_right_results() -> None:
    """Epsilon is added to the sum, or is the least divisor: both are right, and each output is one of them all over."""
    x = np.random.default_rng(8).standard_normal((5, 5, 3, 3)).astype(F32)
    shape = tensor(*x.shape)
    desc = valid("LP_NORMALIZATION", InputTensor=shape, OutputTensor=shape, Axis=1, Epsilon=1e-5, P=2)
    sums = (x * x).sum(axis=1, keepdims=True, dtype=F32)
    assert is_right(judged(desc, {"InputTensor": x}, x * (1 / np.sqrt(sums + F32(1e-5)))))
    assert is_right(judged(desc, {"InputTensor": x}, x / np.maximum(np.sqrt(sums), F32(1e-5))))
