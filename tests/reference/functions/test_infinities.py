"""Weighted sums that see infinite elements or NaN: with a weight, with one in doubt, and with 0."""

from __future__ import annotations

import numpy as np
import pytest

from dmlcheck.reference.ball.numbers import Arithmetic, Ball, raw
from dmlcheck.reference.functions.infinities import Kinds, Seen, finite, kinds_of, with_infinities
from dmlcheck.reference.results import ways_of

NO = Seen(np.array([False]), np.array([False]), np.array([False]))
SURELY = Seen(np.array([True]), np.array([True]), np.array([False]))
PERHAPS = Seen(np.array([False]), np.array([True]), np.array([True]))
IN_VAIN = Seen(np.array([False]), np.array([False]), np.array([True]))


@pytest.mark.parametrize(
    ("kinds", "right"),
    [
        (Kinds(NO, NO, NO), {"5"}),
        (Kinds(SURELY, NO, NO), {"inf"}),
        (Kinds(NO, SURELY, NO), {"-inf"}),
        (Kinds(NO, NO, SURELY), {"nan"}),
        (Kinds(SURELY, SURELY, NO), {"nan"}),
        (Kinds(IN_VAIN, NO, NO), {"5", "nan"}),
        (Kinds(NO, NO, IN_VAIN), {"5", "nan"}),
        (Kinds(PERHAPS, NO, NO), {"5", "nan", "inf"}),
        (Kinds(NO, PERHAPS, NO), {"5", "nan", "-inf"}),
        (Kinds(PERHAPS, PERHAPS, NO), {"5", "nan", "inf", "-inf"}),
        (Kinds(PERHAPS, SURELY, NO), {"nan", "-inf"}),
        (Kinds(SURELY, PERHAPS, NO), {"nan", "inf"}),
        (Kinds(SURELY, IN_VAIN, NO), {"nan", "inf"}),
    ],
)
def test_a_sum_is_what_its_weights_make_of_its_infinities(kinds: Kinds, right: set[str]) -> None:
    for sums in (np.array([5.0]), Ball(np.array([5.0]), 0.5, Arithmetic())):
        found = ways_of(with_infinities(sums, kinds))
        assert {f"{raw(way).item():g}" for way in found} == right


def test_kinds_are_told_apart() -> None:
    x = np.array([np.inf, -np.inf, np.nan, 3.0])
    kinds = kinds_of(x, lambda mask: Seen(mask, mask, mask))
    assert [kind.surely.tolist() for kind in kinds] == [[own == at for own in range(4)] for at in range(3)]
    assert finite(x).tolist() == [0, 0, 0, 3]


def test_the_masks_of_two_sums_are_joined() -> None:
    both = Kinds(SURELY, NO, IN_VAIN).or_(Kinds(NO, NO, PERHAPS))
    assert [[mask.item() for mask in kind] for kind in both] == [
        [True, True, False], [False, False, False], [False, True, True],
    ]  # fmt: skip
