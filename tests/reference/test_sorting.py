"""Sorting: the keys of elements, and the spans of long sequences, against plain Python's sort."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from dmlcheck.reference import sorting

Array = np.ndarray[Any, Any]

TYPES = ("float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8")


def elements(data_type: str) -> list[Any]:
    """Return elements of a type, the smallest first, with its ends and what is beside 0."""
    dtype = np.dtype(data_type)
    if dtype.kind == "f":
        about = np.finfo(dtype)
        ends = [about.smallest_subnormal, about.smallest_normal, dtype.type(1.5), about.max, dtype.type(math.inf)]
        return [*(-x for x in reversed(ends)), dtype.type(0), *ends]
    limits = np.iinfo(dtype)
    return [dtype.type(x) for x in sorted({limits.min, limits.min + 1, 0, 1, 2, limits.max - 1, limits.max})]


@pytest.mark.parametrize("data_type", TYPES)
def test_keys_are_in_the_order_of_the_elements(data_type: str) -> None:
    x = np.array(elements(data_type), data_type)
    up, down = (sorting.keys(x, is_decreasing=is_decreasing).tolist() for is_decreasing in (False, True))
    assert up == sorted(set(up))
    assert down == sorted(set(down), reverse=True)
    assert min(up + down) >= 0
    assert max(up + down) < 2 ** (8 * x.dtype.itemsize)


@pytest.mark.parametrize("is_decreasing", [False, True])
@pytest.mark.parametrize("data_type", ["float64", "float32", "float16"])
def test_both_zeros_have_one_key_and_nan_has_the_last(data_type: str, *, is_decreasing: bool) -> None:
    x = np.array([0.0, -0.0, math.nan, -math.nan, math.inf, -math.inf], data_type)
    zero, negative_zero, nan, negative_nan, *others = sorting.keys(x, is_decreasing=is_decreasing).tolist()
    assert zero == negative_zero
    assert nan == negative_nan > max(others)


@pytest.mark.parametrize("data_type", TYPES)
def test_the_spans_of_a_sequence_are_its_elements_in_order(data_type: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorting, "PART", 7)
    monkeypatch.setattr(sorting, "BITS", 3)
    generator = np.random.default_rng(5)
    for limit in (1, 4, 30):
        monkeypatch.setattr(sorting, "LIMIT", limit)
        for is_decreasing in (False, True):
            x = generator.choice(np.array(elements(data_type), data_type), 40)
            spans = list(sorting.spans(x, sorting.whole(x), is_decreasing=is_decreasing))
            found = [sorting.in_order(x, span, is_decreasing=is_decreasing).tolist() for span in spans]
            assert [len(at) for at in found] == [span.size for span in spans]
            assert all(0 < span.size <= max(limit, 7) for span in spans)
            listed = x.tolist()
            assert [*itertools.chain(*found)] == sorted(range(40), key=listed.__getitem__, reverse=is_decreasing)


def test_neighbours_are_grouped_up_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorting, "LIMIT", 5)
    found = list(sorting.grouped([2, 3, 1, 9, 0, 5, 5, 0, 0]))
    assert found == [(0, 2, 5), (2, 3, 1), (3, 4, 9), (4, 6, 5), (6, 9, 5)]
    assert list(sorting.grouped([0, 7, 0, 6, 0])) == [(1, 2, 7), (3, 4, 6)]
