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


@pytest.mark.parametrize("count", [2, 3, 5, 7, 16, 100])
def test_two_nodes_in_a_row_are_found_wherever_they_are(count: int) -> None:
    for first in range(count - 1):
        search = Smallest(count, wrong_with(first, first + 1))
        assert search.found() == (first, first + 1)


@pytest.mark.parametrize(("first", "last"), [(0, 2), (3, 5), (48, 51), (10, 89), (0, 99)])
def test_nodes_that_are_wrong_only_in_a_row_are_all_found(first: int, last: int) -> None:
    assert Smallest(100, wrong_in_a_row(first, last)).found() == tuple(range(first, last + 1))


def test_nodes_between_that_do_not_matter_are_left_out() -> None:
    assert Smallest(100, wrong_with(20, 33, 41)).found() == (20, 33, 41)


def test_nodes_far_apart_are_found_without_those_between() -> None:
    assert Smallest(1000, wrong_with(3, 990)).found() == (3, 990)


def test_of_a_large_group_no_single_node_between_its_ends_is_left_out() -> None:
    search = Smallest(200, wrong_with(*(node for node in range(3, 191) if node != 77)))
    assert search.found() == tuple(range(3, 191))
    assert search.checks < 120


def test_nothing_is_found_where_all_nodes_are_right_after_one_check() -> None:
    search = Smallest(100, lambda _: False)
    assert (search.found(), search.checks) == (None, 1)


@pytest.mark.parametrize("count", [0, 1])
def test_a_node_alone_is_no_group(count: int) -> None:
    search = Smallest(count, lambda _: True)
    assert (search.found(), search.checks) == (None, 0)


@pytest.mark.parametrize("first", [0, 31, 49, 50, 98])
def test_smaller_groups_are_looked_at_where_nothing_is_known_of_all_nodes(first: int) -> None:
    def check(group: Group) -> bool | None:
        return None if len(group) > 40 else {first, first + 1} <= set(group)

    search = Smallest(100, check)
    assert search.found() == (first, first + 1)
    assert None in search.known.values()


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


@pytest.mark.parametrize("first", [0, 40, 126])
def test_most_of_the_groups_that_are_checked_are_small(first: int) -> None:
    search = Smallest(128, wrong_with(first, first + 1))
    search.found()
    assert sum(map(len, search.known)) < 4 * 128


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


@pytest.mark.parametrize("at", [0, 3, 4, 8])
def test_one_node_is_found_where_a_group_may_have_one(at: int) -> None:
    assert Smallest(9, wrong_with(at), least=1).found() == (at,)
    assert Smallest(9, wrong_with(0, at), least=1).found() == tuple(sorted({0, at}))
