"""What a worker of a cluster keeps: one thing at a time, for the calls of one run, and nothing after it."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from dmlcheck.processes.kept import end_kept, kept


class Thing:
    """Something that is closed once."""

    def __init__(self) -> None:
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


@pytest.fixture(autouse=True)
def _over() -> Iterator[None]:
    end_kept()
    yield
    end_kept()


def test_calls_with_the_same_key_share_a_thing_and_another_key_ends_it() -> None:
    with kept("a", Thing) as first:
        pass
    with kept("a", Thing) as second:
        pass
    assert second is first
    assert first.closed == 0
    with kept("b", Thing) as third:
        assert first.closed == 1
    assert third is not first
    end_kept()
    assert (first.closed, third.closed) == (1, 1)


def test_what_cannot_be_made_is_tried_again() -> None:
    def fails() -> Thing:
        raise ValueError("no")

    for _ in range(2):
        with pytest.raises(ValueError, match="no"), kept("a", fails):
            pass
    with kept("a", Thing) as made:
        assert made.closed == 0


def test_one_call_at_a_time_and_one_that_runs_at_the_end_of_a_run_ends_what_was_kept() -> None:
    order = []

    def call() -> None:
        with kept("a", Thing) as own:
            order.append(own)

    other = threading.Thread(target=call)
    with kept("a", Thing) as thing:
        other.start()
        end_kept()
        other.join(0.05)  # time in which it could go wrong
        order.append("first")
        assert thing.closed == 0
    other.join()
    assert order[0] == "first"
    assert (thing.closed, order[1].closed) == (1, 0)
