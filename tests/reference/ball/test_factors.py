"""Factors of products as matrix units take them: the numbers worked out by hand."""

from __future__ import annotations

from functools import partial
from itertools import groupby, islice
from operator import attrgetter
from typing import Any

import numpy as np
import pytest
from products_of import bound, product
from shipped import every_case

from dmlcheck.cases.prepare import LegalDescs, prepare
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference.ball import factors
from dmlcheck.reference.ball.factors import Moved, cut, moved, nearest
from dmlcheck.reference.bindings import row
from dmlcheck.reference.bounds import bounds
from dmlcheck.reference.limits.precision import Precision
from dmlcheck.reference.rows import PRODUCTS
from dmlcheck.specs.load import operator_names
from dmlcheck.specs.records import OUTPUT

Array = np.ndarray[Any, Any]
INF, NAN = float("inf"), float("nan")
LARGEST = float(np.finfo(np.float32).max)
U = 2.0**-24


@pytest.mark.parametrize(
    ("data_type", "x", "rounded", "less"),
    [
        ("TF32", 0.0, 0.0, 0.0),
        ("TF32", 1.5, 1.5, 1.5),
        ("TF32", 1 + 2**-10, 1 + 2**-10, 1 + 2**-10),
        ("TF32", 1 + 2**-11, 1 + 2**-10, 1.0),  # a half, away from 0
        ("TF32", -1 - 2**-11, -1 - 2**-10, -1.0),
        ("TF32", 1 + 2**-11 - 2**-23, 1.0, 1.0),
        ("TF32", 2 - 2**-11, 2.0, 2 - 2**-10),
        ("TF32", float.fromhex("0x1.333334p-2"), float.fromhex("0x1.334p-2"), float.fromhex("0x1.33p-2")),
        ("TF32", LARGEST, INF, (2 - 2**-10) * 2.0**127),
        ("TF32", -LARGEST, -INF, -(2 - 2**-10) * 2.0**127),
        ("TF32", INF, INF, INF),
        ("TF32", NAN, NAN, NAN),
        ("BFLOAT16", 1 + 2**-7, 1 + 2**-7, 1 + 2**-7),
        ("BFLOAT16", 1 + 2**-8, 1 + 2**-7, 1.0),
        ("BFLOAT16", 1 + 2**-9, 1.0, 1.0),
        ("BFLOAT16", -3 - 2**-6, -3 - 2**-6, -3.0 - 2**-6),
    ],
)
def test_numbers_are_rounded_to_the_nearest_or_cut(data_type: str, x: float, rounded: float, less: float) -> None:
    given = np.array([[x, 1.0]])
    assert np.array_equal(nearest(given, data_type), [[rounded, 1.0]], equal_nan=True)
    assert np.array_equal(cut(given, data_type), [[less, 1.0]], equal_nan=True)


def test_numbers_of_any_layout_are_rounded() -> None:
    x = np.broadcast_to(np.array([[1 + 2**-12], [2.0]]), (2, 3)).T
    assert nearest(x, "TF32").tolist() == [[1.0, 2.0]] * 3
    assert cut(np.array(1 + 2**-12), "TF32") == 1.0


D = 2.0**-12  # what rounding to TF32 takes of 1 + D


@pytest.mark.parametrize(
    ("x", "s", "y", "t", "most"),
    [
        ([1.0, 2.0], None, [3.0, 4.0], None, 0.0),  # TF32 has them all
        ([1 + D, 2.0], None, [3.0, 4.0], None, 3 * D),
        ([1 + D, 2.0], None, [1.0, 1 + D], None, D + 2 * D),
        ([1 + D, 0.0], None, [1 + D, 1.0], None, D * (1 + D) + (1 + 2 * D) * D),
        ([1.0, 2.0], [0.5, 0.0], [1.0, 1.0], None, 2.0**-10 * 1.5),  # what has an error may need a whole unit
        ([1.0, 2.0], None, [1.0, 1.0], [0.0, 0.5], 2 * 2.0**-10 * 1.5),
    ],
)
def test_roundings_move_a_sum_by_those_of_all_factors_at_most(
    x: list[float], s: list[float] | None, y: list[float], t: list[float] | None, most: float
) -> None:
    errors = [None if error is None else np.array(error) for error in (s, t)]
    found = moved(np.dot, [np.array(x), np.array(y)], errors, "TF32", is_likely=False)
    assert found.most == pytest.approx(most, rel=1e-9)


def test_what_is_beyond_the_type_once_it_is_rounded_has_no_bound() -> None:
    with np.errstate(invalid="ignore"):
        found = moved(np.multiply, [np.array([LARGEST, 1.0]), np.ones(2)], [None, None], "TF32", is_likely=False)
    assert np.isfinite(found.most).tolist() == [False, True]
    made = product(np.full((1, 1, 1, 1), LARGEST, np.float32), np.full((1, 1, 1, 1), 0.25, np.float32))
    assert bound(*made, factors="TF32").radius.tolist() == [INF]


def test_the_likely_error_of_known_factors_is_what_their_roundings_do_and_six_deviations() -> None:
    x, y = np.array([1 + D, -1 - 2.0**-11 - D, 2.0]), np.array([1.0, 1.0, 5.0])
    # To the nearest: -D, and -(2^-11 - D); cut: -D and 2^-11 + D.
    found = moved(np.dot, [x, y], [None, None], "TF32", is_likely=True)
    assert (found.nearest, found.cut) == (-D - (2.0**-11 - D), -D + 2.0**-11 + D)
    assert found.squares == D**2 + (2.0**-11 - D) ** 2
    likely = 2.0**-11 + 6 * np.sqrt(2) * D
    assert likely > found.most == D + 2.0**-11 + D
    assert found.likely(is_even=False) == found.most
    assert found._replace(most=1.0).likely(is_even=False) == pytest.approx(likely)
    assert found._replace(most=1.0).likely(is_even=True) == 1.0


def test_parts_of_a_sum_are_rounded_together() -> None:
    assert Moved(1.0, 2.0, 3.0, 4.0).and_of(Moved(5.0, -2.0, 1.0, 4.0)) == Moved(6.0, 0.0, 4.0, 8.0)


def rounded(x: Array, bits: int, way: str) -> Array:
    """Return FLOAT32 numbers with fewer bits, by a division by the unit of the last of them."""
    wide = x.astype(np.float64)
    unit = np.ldexp(1.0, np.frexp(wide)[1] - bits)
    units = np.abs(wide / unit)
    return np.copysign(np.floor(units if way == "cut" else units + 0.5) * unit, wide)


@pytest.mark.parametrize("way", ["nearest", "cut"])
@pytest.mark.parametrize(("data_type", "bits", "finer"), [("TF32", 11, "FLOAT32"), ("BFLOAT16", 8, "TF32")])
@pytest.mark.parametrize("low", [-1.0, 0.0])
def test_a_product_of_rounded_matrices_is_within_the_bound_and_not_within_a_finer_one(
    way: str, data_type: str, bits: int, finer: str, low: float
) -> None:
    random = np.random.default_rng(bits)
    a, b = (random.uniform(low, 1, (1, 1, 64, 64)).astype(np.float32) for _ in range(2))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    narrow = rounded(a, bits, way) @ rounded(b, bits, way)
    error = np.abs(narrow - exact).reshape(-1)
    for is_likely in (False, True):
        allowed = bound(*product(a, b), factors=data_type, is_likely=is_likely)
        assert (error <= allowed.radius).all()
    assert (error > bound(*product(a, b), factors=finer, is_likely=True).radius).any()
    made = bound(*product(a, b), factors=data_type, unit=way)
    assert np.allclose(made.value, narrow.reshape(-1), rtol=0, atol=1e-12)
    assert (made.radius <= 1.01 * bound(*product(a, b)).radius.max()).all()


def test_equal_factors_round_alike() -> None:
    """Cut, each loses the same: a random walk would be far less."""
    a, b = np.full((1, 1, 1, 4096), np.float32(0.3)), np.full((1, 1, 4096, 1), np.float32(0.7))
    narrow, exact = rounded(a, 8, "cut") @ rounded(b, 8, "cut"), a.astype(float) @ b.astype(float)
    error = abs((narrow - exact).item())
    likely = bound(*product(a, b), factors="BFLOAT16", is_likely=True).radius
    assert 1 < error < likely < 1.1 * error


@pytest.mark.parametrize("factors", ["TF32", "BFLOAT16"])
def test_float16_numbers_are_not_rounded(factors: str) -> None:
    a, b = (np.random.default_rng(3).uniform(-1, 1, (1, 1, 8, 8)).astype(np.float16) for _ in range(2))
    made = product(a, b)
    assert np.array_equal(bound(*made, factors=factors).radius, bound(*made).radius)


@pytest.mark.slow
def test_the_operators_with_sums_of_products_are_those_whose_rows_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[str] = set()
    for name, desc, inputs in some_cases():
        monkeypatch.setattr(factors, "moved", lambda *_, name=name, **__: seen.add(name) or Moved(0.0))
        asked = {part.label: np.ones(part.tensor.sizes, bool) for part in desc.tensors(OUTPUT)}
        for _ in bounds(desc, inputs, asked, Precision(factors="TF32")):
            pass
    named = {operator for operator in operator_names() if row(operator).kernel.sums == PRODUCTS}
    assert seen == {operator.removeprefix("DML_OPERATOR_") for operator in named}


def some_cases() -> Any:
    """Yield a small case with FLOAT32 tensors of each file."""
    for _, cases in groupby(every_case(), key=attrgetter("file")):
        found = map(partial(prepared, descs=LegalDescs()), cases)
        yield from islice(filter(None, found), 1)


def prepared(case: Any, descs: LegalDescs) -> tuple[str, OperatorDesc, Any] | None:
    if case.invalid is not None or case.is_plain_desc:
        return None
    made = prepare(case, descs)
    if made.desc is None or made.findings:
        return None
    tensors = [part.tensor for part in made.desc.tensors()]
    is_small = sum(tensor.element_count for tensor in tensors) < 10_000
    has_floats = "FLOAT32" in {tensor.data_type for tensor in tensors}
    return (made.desc.spec.short, made.desc, made.inputs) if is_small and has_floats else None
