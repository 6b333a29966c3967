"""Strides: packed ones, and whether others put two elements in one place."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dmlcheck.descs.records import TensorDesc
from dmlcheck.descs.strides import elements_overlap, packed_strides

DIMS = st.lists(st.tuples(st.integers(1, 5), st.integers(0, 30)), min_size=1, max_size=4)


def offsets(sizes: tuple[int, ...], strides: tuple[int, ...]) -> list[int]:
    """Return where every element of a tensor lies, counted in elements."""
    indices = itertools.product(*map(range, sizes))
    return [sum(i * stride for i, stride in zip(index, strides, strict=True)) for index in indices]


@pytest.mark.parametrize(
    ("sizes", "expected"), [((5,), (1,)), ((2, 3), (3, 1)), ((2, 3, 4), (12, 4, 1)), ((4, 1, 1), (1, 1, 1)), ((), ())]
)
def test_packed_strides_are_those_of_row_major_order(sizes: tuple[int, ...], expected: tuple[int, ...]) -> None:
    assert packed_strides(sizes) == expected


@pytest.mark.slow
@settings(deadline=None, max_examples=500)
@given(DIMS)
@example([(3, 3), (2, 5), (2, 7)])
@example([(5, 6), (4, 10), (3, 15)])
@example([(2, 0), (1, 0)])
def test_overlap_agrees_with_looking_at_every_element(dims: list[tuple[int, int]]) -> None:
    sizes, strides = zip(*dims, strict=True)
    everywhere = offsets(sizes, strides)
    overlap = len(set(everywhere)) < len(everywhere)
    assert elements_overlap(sizes, strides) == overlap
    assert TensorDesc("INT8", sizes, strides).shares_places or 0 in strides or not overlap


@pytest.mark.slow
@settings(deadline=None, max_examples=500)
@given(DIMS)
def test_strides_that_are_called_free_of_shared_places_share_none_but_by_0(dims: list[tuple[int, int]]) -> None:
    sizes, strides = zip(*dims, strict=True)
    if not TensorDesc("INT8", sizes, strides).shares_places:
        kept = tuple(size if stride else 1 for size, stride in dims)
        everywhere = offsets(kept, strides)
        assert len(set(everywhere)) == len(everywhere)


@pytest.mark.parametrize(
    ("sizes", "strides", "expected"),
    [
        # More elements than places.
        ((65536, 65535), (1, 2), True),
        ((16,) * 8, (1009, 1013, 1019, 1021, 1031, 1033, 1039, 1049), True),
        ((2,) * 31, tuple(range(1, 32)), True),
        # 1601 = 39 * 41 + 2
        ((40, 40, 40, 40, 40), (1, 41, 1601, 62001, 2400001), True),
        # Steps are the digits, from -14 to 14, of a number to base 30: only all zeros make 0. Found or given up.
        ((15,) * 6, tuple(2**31 + 30**index for index in range(6)), False),
    ],
)
def test_the_search_for_overlaps_ends_soon_however_tangled_the_strides(
    sizes: tuple[int, ...], strides: tuple[int, ...], expected: bool
) -> None:
    assert elements_overlap(sizes, strides) == expected
