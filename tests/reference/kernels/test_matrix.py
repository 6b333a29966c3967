"""Products of matrices against fractions, their properties, what is left open, and their bounds."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from elements import refused
from oracle import nearest
from products_of import Array, bound, built, evaluated, marks, opened, random_floats

from dmlcheck.descs.records import OperatorDesc

TYPES = ("FLOAT32", "FLOAT16")
NAN, INF = float("nan"), float("inf")


def gemm(
    a: Array,
    b: Array,
    c: Array | None = None,
    *,
    turned: str = "",
    alpha: float = 1,
    beta: float = 1,
    fused: Any = None,
) -> tuple[OperatorDesc, dict[str, Array]]:
    """Return a GEMM of matrices, of which those that `turned` names are transposed."""
    sizes = (*(x.shape[axis] for x, axis in zip((a, b), _axes(turned), strict=True)),)
    fields = {
        "TransA": "TRANSPOSE" if "a" in turned else "NONE",
        "TransB": "TRANSPOSE" if "b" in turned else "NONE",
        "Alpha": alpha,
        "Beta": beta,
        "FusedActivation": fused,
    }
    return built("GEMM", (*a.shape[:-2], *sizes), a.dtype.name.upper(), {"A": a, "B": b, "C": c}, **fields)


def _axes(turned: str) -> tuple[int, int]:
    return -1 if "a" in turned else -2, -2 if "b" in turned else -1


def f32(values: Any) -> Array:
    return np.array(values, np.float32)


def f16(values: Any) -> Array:
    return np.array(values, np.float16)


def fraction(number: float) -> Fraction:
    return Fraction(float(number))


def right(a: Array, b: Array, c: Array | None, turned: str, alpha: float, beta: float) -> list[float]:
    """Return the exact results, rounded once."""
    a, b = a.swapaxes(-1, -2) if "a" in turned else a, b.swapaxes(-1, -2) if "b" in turned else b
    factors = [fraction(np.float32(x)) for x in (alpha, beta)]
    found = []
    for *batch, m, n in np.ndindex(*a.shape[:-1], b.shape[-1]):
        row, column = a[(*batch, m)].tolist(), b[(*batch, slice(None), n)].tolist()
        value = factors[0] * sum(fraction(x) * fraction(y) for x, y in zip(row, column, strict=True))
        if c is not None:
            value += factors[1] * fraction(c[(*batch, m, n)])
        found.append(nearest(value, a.dtype.name.upper()))
    return found


# ---- GEMM


@pytest.mark.parametrize("data_type", TYPES)
@pytest.mark.parametrize("turned", ["", "a", "b", "ab"])
def test_products_are_those_of_fractions(turned: str, data_type: str) -> None:
    generator = np.random.default_rng(3)
    for batch, has_c in itertools.product([(), (2,), (2, 3)], [True, False]):
        m, k, n = generator.integers(1, 7, 3).tolist()
        a = random_floats(generator, (*batch, *((k, m) if "a" in turned else (m, k))), data_type)
        b = random_floats(generator, (*batch, *((n, k) if "b" in turned else (k, n))), data_type)
        c = random_floats(generator, (*batch, m, n), data_type) if has_c else None
        alpha, beta = generator.choice([1, 0.1, -2, 0], 2).tolist()
        found = evaluated(*gemm(a, b, c, turned=turned, alpha=alpha, beta=beta)).reshape(-1).tolist()
        assert found == right(a, b, c, turned, alpha, beta)


def test_a_product_is_linear_in_each_factor() -> None:
    generator = np.random.default_rng(4)
    whole = [generator.integers(-50, 50, shape).astype(np.float32) for shape in ((4, 9), (4, 9), (9, 5))]
    first, second, b = whole
    apart = evaluated(*gemm(first, b)) + evaluated(*gemm(second, b))
    assert (evaluated(*gemm(first + second, b)) == apart).all()
    turned = evaluated(*gemm(np.ascontiguousarray(b.T), np.ascontiguousarray(first.T)))
    assert (turned == evaluated(*gemm(first, b)).T).all()


@pytest.mark.parametrize("axes", [[0], [1], [2], [0, 2], [2, 1, 0]])
def test_the_groups_of_a_fused_softmax_are_along_the_dimensions_of_the_output(axes: list[int]) -> None:
    generator = np.random.default_rng(5)
    a, b = random_floats(generator, (3, 4, 2), "FLOAT32"), random_floats(generator, (3, 2, 5), "FLOAT32")
    found = evaluated(*gemm(a, b, fused={"Type": "ACTIVATION_SOFTMAX1", "Axes": axes}))
    powers = np.exp(a.astype(np.float64) @ b.astype(np.float64))
    assert found == pytest.approx(powers / powers.sum(tuple(axes), keepdims=True), rel=1e-6)


@pytest.mark.parametrize("operator", ["ACTIVATION_SOFTMAX", "ACTIVATION_SOFTMAX1"])
def test_a_fused_softmax_leaves_groups_with_infinity_open(operator: str) -> None:
    fused = {"Type": operator} | ({"Axes": [1]} if operator.endswith("1") else {})
    desc, inputs = gemm(f32([[1], [INF]]), f32([[1, 2]]), fused=fused)
    assert marks(desc, inputs).tolist() == [[False, False], [True, True]]


@pytest.mark.parametrize(
    ("alpha", "beta", "expected"),
    [(1, 1, [INF, NAN]), (0, 1, [None, None]), (1, 0, [INF, NAN]), (0, 0, [None, None])],
)
def test_infinity_and_nan_times_an_alpha_of_0_are_left_open(alpha: float, beta: float, expected: list[Any]) -> None:
    found = opened(*gemm(f32([[1]]), f32([[INF, NAN]]), f32([[1, 2]]), alpha=alpha, beta=beta))
    assert found == pytest.approx(expected, nan_ok=True)


def test_infinity_and_nan_times_a_beta_of_0_are_left_open() -> None:
    a, b, c = f32([[1]]), f32([[2, 3, 4]]), f32([[INF, NAN, 5]])
    assert opened(*gemm(a, b, c, beta=0)) == [None, None, 4]
    assert opened(*gemm(a, b, c, beta=1)) == pytest.approx([INF, NAN, 9], nan_ok=True)


# ---- the bounds of GEMM


def in_float32(a: Array, b: Array, c: Array, alpha: float, beta: float, first: str = "") -> Array:
    """Multiply in FLOAT32, one product after the other, with Alpha on the sum or on A first."""
    alpha, beta = np.float32(alpha), np.float32(beta)
    terms = (alpha * a if first else a)[..., :, None, :] * b.swapaxes(-1, -2)[..., None, :, :]
    sums = np.add.accumulate(terms, axis=-1, dtype=np.float32)[..., -1]
    return (sums if first else alpha * sums) + beta * c


@pytest.mark.parametrize("first", ["", "alpha"])
@pytest.mark.parametrize("length", [1, 2, 3, 17, 300])
def test_a_plain_product_in_float32_is_within_the_bound(length: int, first: str) -> None:
    generator = np.random.default_rng(length)
    for alpha, beta in ((1, 1), (0.3, -1.7), (-3.3, 0.1)):
        a, b, c = (random_floats(generator, shape, "FLOAT32") for shape in ((20, length), (length, 30), (20, 30)))
        c -= (alpha / beta * (a @ b)).astype(np.float32)  # so that the sums cancel
        found = in_float32(a, b, c, alpha, beta, first).reshape(-1)
        for is_likely in (False, True):
            given = bound(*gemm(a, b, c, alpha=alpha, beta=beta), is_likely=is_likely)
            assert not refused(found, given).any()


@pytest.mark.parametrize("fault", ["a term lost", "alpha lost", "beta lost", "c turned"])
def test_a_fault_in_a_product_is_beyond_the_bound(fault: str) -> None:
    generator = np.random.default_rng(8)
    a, b, c = (random_floats(generator, shape, "FLOAT32") for shape in ((8, 64), (64, 8), (8, 8)))
    given = bound(*gemm(a, b, c, alpha=1.5, beta=0.5))
    wrong = {
        "a term lost": in_float32(a[:, 1:], b[1:], c, 1.5, 0.5),
        "alpha lost": in_float32(a, b, c, 1, 0.5),
        "beta lost": in_float32(a, b, c, 1.5, 1),
        "c turned": in_float32(a, b, c.T, 1.5, 0.5),
    }[fault]
    assert refused(wrong.reshape(-1), given).mean() > 0.85
    assert not refused(in_float32(a, b, c, 1.5, 0.5).reshape(-1), given).any()


def test_accumulation_in_float16_is_within_the_bound_of_float16_alone() -> None:
    generator = np.random.default_rng(9)
    a, b = (random_floats(generator, shape, "FLOAT16") for shape in ((10, 400), (400, 10)))
    terms = a[:, None, :] * b.T[None, :, :]
    found = np.add.accumulate(terms, axis=-1, dtype=np.float16)[..., -1].reshape(-1)
    assert refused(found, bound(*gemm(a, b))).mean() > 0.5
    assert not refused(found, bound(*gemm(a, b), accumulate="FLOAT16")).any()


def test_a_sum_that_a_fused_activation_cuts_off_may_go_either_way_beside_the_limit() -> None:
    a, b = f32([[1, 1]]), f32([[0.1, 3], [0.2, 4]])
    given = bound(*gemm(a, b, fused={"Type": "ACTIVATION_THRESHOLDED_RELU", "Alpha": 0.3}))
    assert (given.value - given.slack)[0] <= 0
    assert (given.value + given.slack)[0] >= 0.3
    assert given.value[1] == 7
    assert given.slack[1] < 1e-5
