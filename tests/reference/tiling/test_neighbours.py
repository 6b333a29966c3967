"""Tiles of results of which each is of the region around its element."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from installed import Install, described, install

from dmlcheck.reference import engine
from dmlcheck.reference.results import PartlyUndefined
from dmlcheck.reference.rows import Kernel, Neighbours
from dmlcheck.reference.tiling import windows as of_windows

__all__ = ["install"]

Array = np.ndarray[Any, Any]
SIZES = (2, 7, 3)
X = (np.random.default_rng(1).permutation(42) + 1).astype(np.float32).reshape(SIZES)


@pytest.fixture(params=[1, 8, 21, 65_536])
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Cut into tiles of so many elements."""
    monkeypatch.setattr(of_windows, "BLOCK", request.param)
    return int(request.param)


def found(install: Install, formula: Any, declared: Neighbours) -> engine.ComputedOutput:
    install("ACTIVATION_RELU", Kernel(formula, declared))
    desc = described("ACTIVATION_RELU", InputTensor=("FLOAT32", *SIZES), OutputTensor=("FLOAT32", *SIZES))
    return engine.evaluate(desc, {"InputTensor": X})["OutputTensor"]


def shifted(by: int) -> Array:
    """Return the elements so many places further along the second axis, 0 beyond the edge."""
    moved = np.zeros_like(X)
    for at in range(SIZES[1]):
        if 0 <= at + by < SIZES[1]:
            moved[:, at] = X[:, at + by]
    return moved


@pytest.mark.usefixtures("block")
def test_each_result_has_what_is_around_its_element(install: Install) -> None:
    def total(input: Any, *, region: Any) -> Any:
        return region.sums(input) * 100 + region.inner(input)

    computed = found(install, total, Neighbours(lambda _: ((1,), (1, 2))))
    assert (computed.values == (shifted(-1) + X + shifted(1) + shifted(2)) * 100 + X).all()


@pytest.mark.usefixtures("block")
def test_each_result_may_have_what_is_around_that_as_well(install: Install) -> None:
    def spread(input: Any, *, region: Any, inside: Any) -> Any:
        sums = np.where(inside, region.sums(input) + 1, 0)
        return PartlyUndefined(region.sums(sums), region.any(sums == 0))

    computed = found(install, spread, Neighbours(lambda _: ((1,), (0, 1)), is_twice=True))
    after = np.ones_like(X)
    after[:, -1] = 0
    assert (computed.values == X + shifted(1) + 1 + (shifted(1) + shifted(2) + 1) * after).all()
    assert computed.undefined is not None
    assert (computed.undefined == (after == 0)).all()


def test_regions_that_have_everything_are_groups(install: Install) -> None:
    def mean(input: Any, *, region: Any, inside: Any) -> Any:
        assert inside is True
        return region.inner(input) - region.sums(input)

    computed = found(install, mean, Neighbours(lambda _: ((1,), (6, 7)), is_twice=True))
    assert (computed.values == X - X.sum(axis=1, keepdims=True)).all()
