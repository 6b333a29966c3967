"""SOFTMAX and LOG_SOFTMAX against mpmath, whole and in blocks, what is undefined, and their bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from elements import refused
from grouped import blocks_of, bound

Array = np.ndarray[Any, Any]

TYPES = {"FLOAT32": np.float32, "FLOAT16": np.float16}
OPERATORS = [("ACTIVATION_SOFTMAX", False), ("ACTIVATION_LOG_SOFTMAX", True)]
# ---- values


def elements(generator: np.random.Generator, shape: tuple[int, ...], data_type: str) -> Array:
    """Return elements of one scale or of all, with equal ones, and -infinity here and there."""
    limit = float(np.finfo(TYPES[data_type]).max)
    scale = generator.choice([2.0**-12, 0.1, 1, 10, 100, 1000, limit / 2**20, limit / 8])
    values = generator.normal(size=shape) * scale
    if generator.random() < 0.3:
        values *= 2.0 ** -generator.integers(0, 30, shape)
    if generator.random() < 0.3:
        values = np.rint(values)
    flat = np.clip(values, -limit, limit).reshape(-1).astype(TYPES[data_type])
    if generator.random() < 0.3:
        flat[generator.random(flat.size) < 0.3] = flat.max()
    if generator.random() < 0.2:
        flat[1:][generator.random(flat.size - 1) < 0.2] = -math.inf
    return flat.reshape(shape)


# ---- bounds


def one_by_one(terms: Array) -> Array:
    return np.add.accumulate(terms, axis=1, dtype=terms.dtype)[:, -1:]


def pairwise(terms: Array) -> Array:
    return terms.sum(axis=1, keepdims=True, dtype=terms.dtype)


def plain(x: Array, sums: Callable[[Array], Array], is_log: bool) -> Array:
    """Compute the function as it stands, in the arithmetic of x."""
    less = x - x.max(axis=1, keepdims=True)
    powers = np.exp(less)
    return less - np.log(sums(powers)) if is_log else powers / sums(powers)


def rows_of(kind: str, count: int) -> Array:
    generator = np.random.default_rng(count)
    x = generator.normal(size=(50 if count < 10_000 else 3, count))
    if kind == "large":
        x *= 30
    if kind == "dominated":
        x[:, 0] = 12
    if kind == "equal":
        x[:] = 0.3
    return x.astype(np.float32)


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 3, 5, 64, 1024, 65_536])
@pytest.mark.parametrize("kind", ["normal", "large", "dominated", "equal"])
@pytest.mark.parametrize(("operator", "is_log"), OPERATORS)
def test_a_plain_implementation_in_float32_is_within_both_bounds(
    operator: str, is_log: bool, kind: str, count: int
) -> None:
    x = rows_of(kind, count)
    given, likely = (bound(operator, x, is_likely=is_likely) for is_likely in (False, True))
    assert (likely.radius <= given.radius).all()
    assert given.terms == (count if count > 1 else 0)
    for sums in (one_by_one, pairwise):
        with np.errstate(all="ignore"):
            found = plain(x, sums, is_log).reshape(-1)
        assert not refused(found, given).any()
        assert not refused(found, likely).any()


@pytest.mark.parametrize("count", [1024, 65_536])
@pytest.mark.parametrize(("operator", "is_log"), OPERATORS)
def test_accumulation_in_float16_is_beyond_the_likely_bound(operator: str, is_log: bool, count: int) -> None:
    x = rows_of("normal", count)
    with np.errstate(all="ignore"):
        found = plain(x, lambda terms: one_by_one(terms.astype(np.float16)).astype(np.float32), is_log)
    assert refused(found.reshape(-1), bound(operator, x, is_likely=True)).mean() > 0.9


@pytest.mark.parametrize(("operator", "is_log"), OPERATORS)
def test_a_term_too_few_and_a_result_of_the_other_function_are_refused(operator: str, is_log: bool) -> None:
    x = rows_of("normal", 16)
    given = bound(operator, x)
    assert refused(plain(x, lambda terms: pairwise(terms[:, 1:]), is_log).reshape(-1), given).mean() > 0.9
    assert refused(plain(x, pairwise, not is_log).reshape(-1), given).all()


@pytest.mark.slow
@pytest.mark.parametrize("block", [1, 3, 7])
@pytest.mark.parametrize("operator", [operator for operator, _ in OPERATORS])
def test_the_bound_of_a_row_in_blocks_is_that_of_the_whole_row(operator: str, block: int) -> None:
    x = rows_of("dominated", 20)
    for is_likely in (False, True):
        whole = bound(operator, x, is_likely=is_likely)
        with blocks_of(block):
            cut = bound(operator, x, is_likely=is_likely)
        assert cut.value == pytest.approx(whole.value, rel=1e-13)
        assert cut.radius == pytest.approx(whole.radius, rel=1e-9)
        assert cut.terms == whole.terms == 20
