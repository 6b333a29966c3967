"""Errors that rounded factors of products explain: named for what a matrix unit does, and for nothing else."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from products_of import built, product

from dmlcheck.comparison import patterns
from dmlcheck.comparison.compare import JudgedOutputs, compare
from dmlcheck.comparison.patterns import consistent_type
from dmlcheck.comparison.tolerances import Limit, limit_for
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference import engine
from dmlcheck.reference.bounds import bounds
from dmlcheck.reference.limits.precision import Precision
from dmlcheck.specs.records import OUTPUT, Tolerance

Array = np.ndarray[Any, Any]
Made = tuple[OperatorDesc, dict[str, Array]]
BITS = {"TF32": 11, "BFLOAT16": 8}


def rounded(x: Array, data_type: str, *, is_cut: bool = False) -> Array:
    """Return FLOAT32 numbers with fewer bits, halves away from 0."""
    drop = np.uint32(24 - BITS[data_type])
    half = np.uint32(0) if is_cut else np.uint32(1) << (drop - np.uint32(1))
    return ((x.view(np.uint32) + half) >> drop << drop).view(np.float32)


def matrices(rows: int = 16, terms: int = 40, columns: int = 16, seed: int = 1, dtype: Any = np.float32) -> Made:
    random = np.random.default_rng(seed)
    return product(
        *(random.uniform(-1, 1, (1, 1, *sizes)).astype(dtype) for sizes in ((rows, terms), (terms, columns)))
    )


def named(made: Made, actual: Array, limit: Limit | None = None) -> str | None:
    """Return the type that is named for what was found in the place of the right output."""
    desc, inputs = made
    limit = limit_for(desc, None) if limit is None else limit
    right = engine.run(desc, inputs)
    expected = {part.label: (part.tensor, right[part.label]) for part in desc.tensors(OUTPUT)}
    bounds_of = partial(bounds, desc, inputs, precision=limit.precision)
    found = {"OutputTensor": actual}
    compared = compare(expected, found, limit, bounds_of)
    return consistent_type(JudgedOutputs(desc, inputs, expected, found, {}, compared, limit))


def of_rounded(made: Made, change: Callable[[Array], Array]) -> Array:
    """Return the product of changed matrices, added up in FLOAT32."""
    a, b = (change(made[1][name]) for name in ("ATensor", "BTensor"))
    found: Array = a @ b
    return found


@pytest.mark.slow
@pytest.mark.parametrize("is_cut", [False, True])
@pytest.mark.parametrize("data_type", list(BITS))
@pytest.mark.parametrize("sizes", [(16, 40, 16), (1, 1000, 64), (64, 3, 5), (1, 1, 1), (2, 7, 1)])
def test_a_unit_that_rounds_factors_is_named(sizes: tuple[int, int, int], data_type: str, *, is_cut: bool) -> None:
    made = matrices(*sizes)
    assert named(made, of_rounded(made, partial(rounded, data_type=data_type, is_cut=is_cut))) == data_type


def test_nothing_is_named_where_nothing_is_wrong() -> None:
    made = matrices()
    assert named(made, of_rounded(made, lambda x: x)) is None


def right(made: Made) -> Array:
    return engine.run(*made)["OutputTensor"]


def without_last_row(made: Made) -> Array:
    found = right(made).copy()
    found[..., -1, :] = 0
    return found


def off_by(share: float, made: Made) -> Array:
    """Return results that are off by a share of what they are, some up and some down."""
    found = right(made)
    return (found * (1 + share * np.random.default_rng(7).choice([-1, 1], found.shape))).astype(np.float32)


def beside(share: float, made: Made) -> Array:
    """Return results with errors of the size that rounded factors make, and of no other likeness to these."""
    found = right(made)
    return (found + share * found.std() * np.random.default_rng(8).standard_normal(found.shape)).astype(np.float32)


def one_element(share: float, made: Made) -> Array:
    found = right(made).copy()
    found[..., 3, 5] *= np.float32(1 + share)
    return found


def sums_in_float16(made: Made) -> Array:
    a, b = made[1]["ATensor"], made[1]["BTensor"]
    total = np.zeros((*a.shape[:-1], b.shape[-1]), np.float16)
    for term in range(a.shape[-1]):
        total = (total + a[..., :, [term]] * b[..., [term], :]).astype(np.float16)
    return total.astype(np.float32)


@pytest.mark.parametrize(
    "fault",
    [
        without_last_row,
        sums_in_float16,
        *(partial(off_by, share) for share in (0.01, 2**-8, 2**-10, 2**-12)),
        *(partial(beside, share) for share in (2**-7, 2**-9, 2**-11)),
        *(partial(one_element, share) for share in (0.01, 2**-10)),
        lambda made: right(made) * np.float32(1.01),
        lambda made: np.zeros_like(right(made)),
        lambda made: np.full_like(right(made), np.nan),
    ],
)
def test_other_faults_are_not_named(fault: Callable[[Made], Array]) -> None:
    made = matrices()
    assert named(made, fault(made)) is None


def test_a_unit_that_rounds_factors_and_loses_a_row_is_not_named() -> None:
    made = matrices()
    found = of_rounded(made, partial(rounded, data_type="TF32")).copy()
    found[..., -1, :] = 0
    assert named(made, found) is None


def test_only_what_the_run_does_not_accept_is_named() -> None:
    made = matrices()
    limit = limit_for(made[0], None)
    brain = of_rounded(made, partial(rounded, data_type="BFLOAT16"))
    assert named(made, brain, limit._replace(precision=Precision(factors="TF32"))) == "BFLOAT16"
    assert named(made, brain, limit._replace(precision=Precision(factors="BFLOAT16"))) is None


def test_a_cases_own_tolerance_is_about_no_arithmetic() -> None:
    made = matrices()
    own = limit_for(made[0], Tolerance(ulp=1.0))
    assert named(made, of_rounded(made, partial(rounded, data_type="TF32")), own) is None


def test_float16_tensors_and_other_operators_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    made = matrices(dtype=np.float16)
    assert named(made, right(made) + np.float16(0.25)) is None
    x = np.random.default_rng(5).uniform(1, 2, (8, 8)).astype(np.float32)
    monkeypatch.setattr(patterns, "_within", None)
    added = built("ELEMENT_WISE_ADD", x.shape, "FLOAT32", {"A": x, "B": x})
    assert named(added, rounded(right(added), "TF32")) is None


def test_large_tensors_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    made = matrices()
    monkeypatch.setattr(patterns, "MOST", 16 * 40 * 2 + 16 * 16 - 1)
    assert named(made, of_rounded(made, partial(rounded, data_type="TF32"))) is None


def test_an_output_of_another_shape_is_not_named() -> None:
    made = matrices()
    assert named(made, right(made).reshape(1, 1, 8, 32)) is None
