"""Products of matrices against fractions, their properties, what is undefined, and their bounds."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from elements import refused
from oracle import nearest
from products_of import Array, bound, built, peak, random_floats, random_integers

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference.functions.nested import NONE
from dmlcheck.reference.kernels import matrix
from dmlcheck.reference.results import ways_of

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


def test_a_factor_of_0_may_leave_out_its_term_alone() -> None:
    a, b, c = f32([[1]]), f32([[INF, 3, NAN]]), f32([[1, INF, NAN]])

    def ways(alpha: float, beta: float) -> list[list[float]]:
        found = matrix.gemm(a, b, c, alpha=alpha, beta=beta, fused_activation=NONE)
        return [way.reshape(-1).tolist() for way in ways_of(found)]

    with np.errstate(all="ignore"):
        assert str(ways(0, 1)) == "[[nan, inf, nan], [1.0, inf, nan]]"
        assert str(ways(1, 0)) == "[[inf, nan, nan], [inf, 3.0, nan]]"
        assert str(ways(0, 0)[-1]) == "[0.0, 0.0, 0.0]"
        assert len(ways(1, 1)) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("m", "k", "n"), [(2, 1 << 22, 2), (1 << 21, 2, 2)])
def test_long_rows_and_many_rows_are_never_there_as_float64_all_at_once(m: int, k: int, n: int) -> None:
    made = gemm(np.ones((m, k), np.float32), np.ones((k, n), np.float32))
    assert peak(*made) < 4 * m * n + 60 * 2**20  # as float64 the factors, or factor and product, take 64 to 128 MiB


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
    assert (given.value - given.radius)[0] <= 0
    assert (given.value + given.radius)[0] >= 0.3
    assert given.value[1] == 7
    assert given.radius[1] < 1e-5


# ---- quantized matrices


class Quantized(NamedTuple):
    """Quantized factors: integers, with the scales and zero points of rows and columns."""

    a: Array
    a_scale: Array
    a_zero: Array
    b: Array
    b_scale: Array
    b_zero: Array

    def whole(self) -> list[list[list[int]]]:
        """Return the products of integers less their zero points, of each batch."""
        zeros = [each.reshape(-1).tolist() for each in (self.a_zero, self.b_zero)]
        return [
            [
                [
                    sum((x - zeros[0][m % len(zeros[0])]) * (y - zeros[1][n % len(zeros[1])]) for x, y in pairs)
                    for n, pairs in enumerate(list(zip(row, column, strict=True)) for column in zip(*b, strict=True))
                ]
                for m, row in enumerate(a)
            ]
            for a, b in zip(self.a.tolist(), self.b.tolist(), strict=True)
        ]

    def real(self) -> list[list[list[Fraction]]]:
        """Return the products of what the integers stand for."""
        scales = [[fraction(x) for x in each.reshape(-1)] for each in (self.a_scale, self.b_scale)]
        return [
            [
                [value * scales[0][m % len(scales[0])] * scales[1][n % len(scales[1])] for n, value in enumerate(row)]
                for m, row in enumerate(matrix)
            ]
            for matrix in self.whole()
        ]


def quantized(generator: np.random.Generator, types: tuple[str, str] = ("INT8", "UINT8")) -> Quantized:
    """Return two batches of factors, with one scale and one zero point, or one of each for each row or column."""
    m, k, n = generator.integers(1, 9, 3).tolist()
    forms = generator.integers(0, 2, 2).tolist()
    return Quantized(
        random_integers(generator, (2, m, k), types[0]),
        generator.uniform(0.01, 2, (1, m if forms[0] else 1, 1)).astype(np.float32),
        random_integers(generator, (1, m if forms[0] else 1, 1), types[0]),
        random_integers(generator, (2, k, n), types[1]),
        generator.uniform(0.01, 2, (1, 1, n if forms[1] else 1)).astype(np.float32),
        random_integers(generator, (1, 1, n if forms[1] else 1), types[1]),
    )


def sizes_of(factors: Quantized) -> tuple[int, ...]:
    return (*factors.a.shape[:-1], factors.b.shape[-1])


def to_float(x: Quantized, data_type: str = "FLOAT32", bias: Array | None = None) -> Any:
    scales = {"AScale": x.a_scale.astype(data_type.lower()), "BScale": x.b_scale.astype(data_type.lower())}
    tensors = {"A": x.a, **scales, "AZeroPoint": x.a_zero, "B": x.b, "BZeroPoint": x.b_zero, "Bias": bias}
    return built("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", sizes_of(x), data_type, tensors)


def flat(nested: list[list[list[Any]]]) -> list[Any]:
    return [value for matrix in nested for row in matrix for value in row]


@pytest.mark.parametrize("way", ["integers first", "floats first"])
def test_sums_of_integers_and_of_scaled_numbers_are_within_the_bound(way: str) -> None:
    generator = np.random.default_rng(13)
    for _ in range(50):
        x = quantized(generator, ("INT8", "INT8"))
        bias = -np.array(flat(x.real()), np.float32).reshape(sizes_of(x))  # so that what is left is roundings
        whole = [(each.astype(np.int32) - zero) for each, zero in ((x.a, x.a_zero), (x.b, x.b_zero))]
        if way == "integers first":
            found = (whole[0] @ whole[1]).astype(np.float32) * (x.a_scale * x.b_scale) + bias
        else:
            found = (whole[0].astype(np.float32) * x.a_scale) @ (whole[1].astype(np.float32) * x.b_scale) + bias
        assert not refused(found.reshape(-1), bound(*to_float(x, bias=bias))).any()


@pytest.mark.parametrize("fault", ["zero point lost", "scale of a lost", "rows and columns mixed up"])
def test_a_fault_in_a_dequantized_product_is_beyond_the_bound(fault: str) -> None:
    generator = np.random.default_rng(14)
    x = quantized(generator)._replace(a=random_integers(generator, (2, 8, 8), "UINT8"))
    x = x._replace(a_scale=np.full((1, 1, 1), 0.3, np.float32), a_zero=np.full((1, 1, 1), 7, np.uint8))
    x = x._replace(b_scale=generator.uniform(0.1, 1, (1, 1, 8)).astype(np.float32))
    x = x._replace(b=random_integers(generator, (2, 8, 8), "UINT8"), b_zero=np.full((1, 1, 8), 100, np.uint8))
    given = bound(*to_float(x))
    left, right = x.a.astype(np.float32) - 7, x.b.astype(np.float32) - 100
    wrong = {
        "zero point lost": (left @ x.b.astype(np.float32)) * x.a_scale * x.b_scale,
        "scale of a lost": (left @ right) * x.b_scale,
        "rows and columns mixed up": (left @ right) * x.a_scale * x.b_scale.swapaxes(1, 2),
    }[fault]
    assert refused(wrong.astype(np.float32).reshape(-1), given).mean() > 0.8


def one(value: float) -> Array:
    return np.full((1, 1, 1), value, np.float32)
