"""Work ahead of a run: its order, its errors, and its end."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from dmlcheck.models.ahead import Behind, one_ahead


def test_items_come_in_their_order_and_one_is_made_ahead() -> None:
    made: list[int] = []
    is_second = threading.Event()

    def items() -> Iterator[int]:
        for number in range(5):
            made.append(number)
            if number == 1:
                is_second.set()
            yield number

    ahead = one_ahead(items())
    assert next(ahead) == 0
    assert is_second.wait(60)
    assert made == [0, 1]
    assert list(ahead) == [1, 2, 3, 4]


def test_an_error_comes_in_the_place_of_its_item() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise ValueError("the second")

    ahead = one_ahead(items())
    assert next(ahead) == 1
    with pytest.raises(ValueError, match="the second"):
        next(ahead)


def test_who_ends_early_does_not_wait_for_the_next_item() -> None:
    is_over = threading.Event()

    def items() -> Iterator[int]:
        yield 1
        is_over.wait(60)
        yield 2

    ahead = one_ahead(items())
    assert next(ahead) == 1
    ahead.close()  # type: ignore[attr-defined]
    assert not is_over.is_set()
    is_over.set()


def test_calls_are_made_in_their_order() -> None:
    found: list[int] = []
    behind = Behind()
    for number in range(20):
        behind.call(found.append, number)
    behind.finish()
    assert found == list(range(20))
    behind.close()


def test_an_error_of_a_call_is_raised_at_the_end() -> None:
    def fail() -> None:
        raise ValueError("of a call")

    behind = Behind()
    behind.call(fail)
    with pytest.raises(ValueError, match="of a call"):
        behind.finish()
    behind.close()


@pytest.mark.parametrize(("size", "most"), [(0, 4), (40 * 2**20, 1), (80 * 2**20, 1), (20 * 2**20, 3)])
def test_the_caller_is_few_calls_before_the_thread(size: int, most: int) -> None:
    may_go, found = threading.Event(), list[int]()
    behind = Behind()
    behind.call(may_go.wait, 60, size=size)
    for number in range(1, most):
        behind.call(found.append, number, size=size)
    assert not found
    threading.Timer(0.05, may_go.set).start()
    behind.call(found.append, most, size=size)
    assert may_go.is_set()
    behind.finish()
    assert found == list(range(1, most + 1))
    behind.close()
