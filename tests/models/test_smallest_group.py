"""The search for the smallest group that is wrong only together."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from dmlcheck.models.smallest_group import Check, Group, Smallest


def wrong_with(*nodes: int) -> Check:
    """Return a check by which a group is wrong that has some nodes."""
    return lambda group: set(nodes) <= set(group)


def wrong_in_a_row(first: int, last: int) -> Check:
    """Return a check by which a group is wrong that has all nodes from one to another."""
    return wrong_with(*range(first, last + 1))


def test_a_group_within_one_that_is_right_is_not_looked_at() -> None:
    checked: list[Group] = []

    def check(group: Group) -> bool | None:
        checked.append(group)
        return None if len(group) == 100 else False

    assert Smallest(100, check).found() is None
    assert checked == [tuple(range(100)), tuple(range(50)), tuple(range(25, 75)), tuple(range(50, 100))]


@pytest.mark.parametrize(
    ("check", "most"),
    [(wrong_with(50, 51), 20), (wrong_with(49, 50), 20), (wrong_in_a_row(40, 60), 80), (wrong_in_a_row(0, 99), 100)],
)
def test_the_checks_are_few(check: Check, most: int) -> None:
    search = Smallest(100, check)
    assert search.found() is not None
    assert search.checks <= most


@pytest.mark.parametrize("check", [lambda _: None, lambda group: len(group) % 3 == 0 or None, lambda g: len(g) > 60])
def test_the_checks_are_never_more_than_n_log_n(check: Callable[[Group], bool | None]) -> None:
    search = Smallest(100, check)
    search.found()
    assert search.checks <= 100 * math.ceil(math.log2(100)) + 16


def test_after_the_most_checks_the_smallest_group_so_far_stands() -> None:
    search = Smallest(100, wrong_with(49, 50))
    search.most = 4
    found = search.found()
    assert found is not None
    assert {49, 50} <= set(found)
    assert (len(found) > 2, search.checks) == (True, 4)
