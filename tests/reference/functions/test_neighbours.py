"""Regions around elements: their sums against plain loops, and which elements have whole ones."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from dmlcheck.reference.functions.neighbours import Region, local

Array = np.ndarray[Any, Any]


def around(x: Array, at: tuple[int, ...], own: Region) -> list[float]:
    """Return what is in the region of an element, one by one."""
    ranges = [range(a - low, a + high + 1) for a, low, high in zip(at, own.before, own.after, strict=True)]
    return [float(x[place]) for place in itertools.product(*ranges)]


@pytest.mark.parametrize("own", [Region((0, 1), (0, 2)), Region((2, 0), (0, 0)), Region((1, 1), (2, 0))])
def test_sums_are_those_of_each_element_whose_region_is_whole(own: Region) -> None:
    x = np.random.default_rng(1).integers(-9, 9, (6, 7)).astype(float)
    inner = own.inner(np.indices(x.shape)[0]), own.inner(np.indices(x.shape)[1])
    elements = list(zip(*(part.reshape(-1).tolist() for part in inner), strict=True))
    assert len(elements) == (6 - own.before[0] - own.after[0]) * (7 - own.before[1] - own.after[1])
    assert own.sums(x).reshape(-1).tolist() == [sum(around(x, at, own)) for at in elements]
    assert own.any(x > 7).reshape(-1).tolist() == [max(around(x, at, own)) > 7 for at in elements]


def test_a_region_of_an_even_size_reaches_further_after_its_element() -> None:
    given = [{"local_size": size, "cross_channel": size > 2} for size in (1, 2, 3, 8)]
    assert list(map(local, given)) == [((2, 3), (0, 0)), ((2, 3), (0, 1)), ((1,), (1, 1)), ((1,), (3, 4))]
