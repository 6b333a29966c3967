"""Scans go on from block to block, from either end, also with their bounds and with what is undefined."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dmlcheck.reference.arrays.blocks import Blocks, tiles_along
from dmlcheck.reference.ball.numbers import Arithmetic, Ball, radius, raw
from dmlcheck.reference.functions import scans
from dmlcheck.reference.functions.scans import (
    Scan,
    before_each,
    of_runs,
    products_up_to_each,
    scanned,
    sums_up_to_each,
    undefined_products,
    undefined_sums,
)
from dmlcheck.reference.results import AsMeasured

Array = np.ndarray[Any, Any]


pytestmark = pytest.mark.usefixtures("quiet")


def cut(x: Any, axis: int, count: int) -> Blocks:
    return Blocks(x.shape, list(tiles_along((axis,), x.shape, count)), lambda index: x[index])


def gathered(found: Any) -> list[Array]:
    """Return the values, errors and marks of a result, of Blocks put together."""
    if not isinstance(found, Blocks):
        return [raw(found.value), radius(found.value), np.asarray(found.where)]
    parts = [np.zeros(found.shape) for _ in range(3)]
    for index in found.cuts:
        result = found.block(index)
        for part, of in zip(parts, (raw(result.value), radius(result.value), result.where), strict=True):
            part[index] = of
    return parts


def running(x: Any, scan: Scan) -> AsMeasured:
    return AsMeasured(scan("sums", np.add, x), scan("negative", np.logical_or, raw(x) < 0))


def later(x: Any, scan: Scan) -> AsMeasured:
    return AsMeasured(scan.shifted("values", x, 7), scan.shifted("marks", raw(x) < 0, 0))


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("is_reversed", [False, True])
@pytest.mark.parametrize("formula", [running, later])
def test_blocks_give_what_the_whole_gives(axis: int, is_reversed: bool, formula: Any) -> None:
    x = np.random.default_rng(1).integers(-9, 20, (3, 5, 4)).astype(np.float64)
    whole = gathered(scanned(formula, x, axis, is_reversed=is_reversed))
    for count in range(1, 6):
        found = gathered(scanned(formula, cut(x, axis, count), axis, is_reversed=is_reversed))
        assert np.array_equal(found[0], whole[0])
        assert np.array_equal(found[2], whole[2])


def test_a_scan_is_that_of_the_elements_up_to_each() -> None:
    x = np.array([[1.0, 2, -3], [4, 5, 6]])
    found = scanned(running, x, 1, is_reversed=False)
    assert found.value.tolist() == [[1, 3, 0], [4, 9, 15]]
    assert found.where.tolist() == [[False, False, True], [False, False, False]]
    found = scanned(running, x, 1, is_reversed=True)
    assert found.value.tolist() == [[0, -1, -3], [15, 11, 6]]
    found = scanned(later, x, 0, is_reversed=False)
    assert found.value.tolist() == [[7, 7, 7], [1, 2, -3]]
    assert found.where.tolist() == [[False] * 3, [False, False, True]]


def test_blocks_that_nothing_is_asked_of_are_gone_through() -> None:
    x = np.arange(10.0)
    found = scanned(running, cut(x, 0, 3), 0, is_reversed=False)
    assert isinstance(found, Blocks)
    assert found.block(found.cuts[2]).value.tolist() == [21, 28, 36]
    with pytest.raises(IndexError):
        found.block(found.cuts[0])


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 7, 64])
@pytest.mark.parametrize("is_likely", [False, True])
def test_sums_in_sequence_and_in_blocks_are_within_the_bound_of_blocks(count: int, is_likely: bool) -> None:
    numbers = np.random.default_rng(2).normal(size=500).astype(np.float32)
    tracked = Ball(numbers, 0.0, Arithmetic(is_likely=is_likely))
    value, error, _ = gathered(scanned(running, cut(tracked, 0, count), 0, is_reversed=False))
    assert np.allclose(value, np.cumsum(numbers.astype(np.float64)))
    in_order = np.add.accumulate(numbers, dtype=np.float32)
    parts = numbers.reshape(-1, 10)
    before = np.concatenate([[0], np.add.accumulate(parts.sum(axis=1, dtype=np.float32), dtype=np.float32)[:-1]])
    in_parts = (before[:, None].astype(np.float32) + np.add.accumulate(parts, axis=1, dtype=np.float32)).reshape(-1)
    for found in (in_order, in_parts):
        assert (np.abs(found - value) <= error + np.spacing(np.abs(in_order))).all()
    assert error[0] == 0
    assert error[-1] < (1e-3 if is_likely else 2e-2)


def test_runs_begin_anywhere() -> None:
    sums, most, least = of_runs(np.array([1.0, -3, 2, 2, -1]), Scan(0))
    assert sums.tolist() == [1, -2, 0, 2, 1]
    assert most.tolist() == [1, 1, 2, 4, 4]
    assert least.tolist() == [0, -3, -3, -3, -3]


@pytest.mark.slow
@pytest.mark.parametrize("mark", [undefined_sums, undefined_products])
@pytest.mark.parametrize("is_reversed", [False, True])
def test_marks_of_blocks_are_those_of_the_whole(mark: Any, is_reversed: bool) -> None:
    generator = np.random.default_rng(3)
    values = [0.0, 1, -2, 3e4, -4e4, 6e4, 1e-3, 300, np.inf, -np.inf, np.nan]

    def formula(x: Any, scan: Scan) -> AsMeasured:
        return AsMeasured(x, mark("FLOAT16", x, scan))

    seen = 0
    for _ in range(60):
        x = generator.choice(values, 12, p=[0.14] * 4 + [0.08] * 4 + [0.04] * 3)
        whole = gathered(scanned(formula, x, 0, is_reversed=is_reversed))[2]
        seen += bool(whole.any())
        for count in (1, 2, 5):
            found = gathered(scanned(formula, cut(x, 0, count), 0, is_reversed=is_reversed))[2]
            assert np.array_equal(found, whole), x
    assert seen > 10


def test_sums_that_cannot_overflow_need_no_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(scans, "undefined_sums", lambda of, x, _: (asked.append(of), np.zeros(x.shape, bool))[1])

    def is_asked(x: Any, data_type: str = "FLOAT16") -> bool:
        asked.clear()
        gathered(sums_up_to_each(x, 1, data_type, is_reversed=False))
        return bool(asked)

    x = np.array([[3e4, -3e4, 5e3], [1, 2, 3]])
    assert not is_asked(x)
    assert not is_asked(cut(x, 1, 2))
    for number in (1e4, np.inf, np.nan):
        x[0, 2] = number
        assert is_asked(x)
        assert not is_asked(x, "INT32")


def test_only_products_of_floats_have_marks() -> None:
    x = np.array([1e30, 1e30, 1e-30])
    for data_type, marks in (("INT32", [False] * 3), ("FLOAT32", [False, False, True])):
        found = products_up_to_each(x, 0, data_type, is_reversed=False)
        assert found.where.tolist() == marks


@pytest.mark.parametrize("is_reversed", [False, True])
def test_results_move_to_the_next_element(is_reversed: bool) -> None:
    x = np.array([2.0, 3, 5, 7])
    for whole in (x, cut(x, 0, 3)):
        products = products_up_to_each(whole, 0, "FLOAT32", is_reversed=is_reversed)
        found, _, _ = gathered(before_each(products, 0, 1, is_reversed=is_reversed))
        assert found.tolist() == ([105, 35, 7, 1] if is_reversed else [1, 2, 6, 30])
