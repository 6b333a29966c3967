"""Pools: the order of jobs, the children that have them, and the jobs whose child is lost."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from left_processes import left_of

from dmlcheck.processes import pool as module
from dmlcheck.processes.child import Child, LateChild, LostChild
from dmlcheck.processes.pool import Job, Pool

CHILD = partial(Child, "asked_process")


@pytest.fixture(autouse=True)
def _none_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("DMLCHECK_OF", str(tmp_path))
    yield
    assert left_of(tmp_path) == []


@pytest.fixture
def pool() -> Iterator[Pool[Any]]:
    made: Pool[Any] = Pool(CHILD, 2)
    yield made
    made.close()


class Asking(Job):
    """A question whose last message is its answer; after a loss it is another question, if there is one."""

    def __init__(self, name: str, argument: Any = None, *, instead: Any = None, limit: float | None = None) -> None:
        super().__init__((name, argument), limit, lambda loss: (type(loss), str(loss), loss.was_ready))
        self.instead = instead

    def take(self, message: Any) -> None:
        super().take(message)
        self.is_over = self.question[0] != "messages" or message == "end"

    def lost(self, loss: LostChild) -> None:
        super().lost(loss)
        if self.instead is not None:
            self.question, self.instead, self.is_over = self.instead, None, False


EXIT = "ended with exit code {}"
LATE = "closed its connection instead of answering"


def items_of(pool: Pool[Any], jobs: Iterable[Job], most: float = math.inf) -> list[Any]:
    return [item for _, item in pool.through(jobs, most)]


@pytest.mark.slow
def test_items_come_in_the_order_of_the_jobs(pool: Pool[Any]) -> None:
    jobs = [Asking("sleep", 0.3), Asking("echo", 1), Asking("messages", 3), Asking("echo", 2)]
    assert items_of(pool, jobs) == [None, 1, 0, 1, 2, "end", 2]


@pytest.mark.slow
def test_children_work_at_a_time_and_are_kept_for_the_next_jobs(pool: Pool[Any]) -> None:
    first = list(items_of(pool, [Asking("sleep", 0.2), Asking("pid"), Asking("sleep", 0.2), Asking("pid")]))
    again = set(items_of(pool, [Asking("pid") for _ in range(6)]))
    assert {first[1], first[3]} <= again | set(first)
    assert len(pool._idle) == 2
    assert again <= {child.process.pid for child in pool._idle}


def test_no_more_children_are_started_than_there_are_jobs(pool: Pool[Any]) -> None:
    assert items_of(pool, []) == []
    assert pool._idle == []
    assert items_of(pool, [Asking("echo", 1)]) == [1]
    assert len(pool._idle) == 1


def test_no_more_jobs_are_begun_than_may_be(pool: Pool[Any]) -> None:
    begun = []

    def jobs() -> Iterator[Asking]:
        for number in range(6):
            begun.append(number)
            yield Asking("echo", number)

    items = pool.through(jobs(), 1)
    assert [(next(items)[1], len(begun)) for _ in range(6)] == [(number, number + 1) for number in range(6)]


@pytest.mark.slow
def test_a_job_goes_on_in_another_child_after_a_loss(pool: Pool[Any]) -> None:
    jobs = [Asking("echo", 1), Asking("exit", 3, instead=("echo", 2)), Asking("exit", 4), Asking("echo", 3)]
    assert items_of(pool, jobs) == [1, (LostChild, EXIT.format(3), True), 2, (LostChild, EXIT.format(4), True), 3]


@pytest.mark.slow
def test_a_child_that_is_late_is_lost_and_the_others_go_on(pool: Pool[Any]) -> None:
    start = time.monotonic()
    jobs = [Asking("sleep", 60, limit=0.3), Asking("echo", 1), Asking("echo", 2, limit=60)]
    assert items_of(pool, jobs) == [(LateChild, LATE, True), 1, 2]
    assert time.monotonic() - start < 40


@pytest.mark.slow
@pytest.mark.parametrize(
    ("argument", "start_time", "loss"),
    [("never ready", 0.2, (LateChild, LATE, False)), ("not made", 60, (LostChild, EXIT.format(5), False))],
)
def test_a_child_that_is_never_ready_is_lost_before_its_job_begins(argument: str, start_time: float, loss: Any) -> None:
    pool: Pool[Any] = Pool(partial(CHILD, argument, start_time=start_time), 1)
    assert pool.answer(Asking("echo", 1)) == loss
    pool.close()


def test_a_start_takes_none_of_the_time_of_a_job() -> None:
    pool: Pool[Any] = Pool(partial(CHILD, start_time=60), 1)
    assert items_of(pool, [Asking("echo", number, limit=0.5) for number in range(3)]) == [0, 1, 2]
    pool.close()


@pytest.mark.slow
def test_a_job_may_be_run_before_those_that_are_pending(pool: Pool[Any]) -> None:
    """As a finding is reduced between two draws."""
    items = pool.through((Asking("echo", number) for number in range(8)), 3)
    found = [(item, pool.answer(Asking("echo", -item))) for _, item in items]
    assert found == [(number, -number) for number in range(8)]


@pytest.mark.slow
def test_a_job_that_is_far_ahead_waits_for_its_turn(pool: Pool[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_AHEAD", 5)
    ahead = Asking("messages", 1000)
    items = pool.through([Asking("sleep", 1.0), ahead])
    assert next(items)[1] is None
    assert len(ahead.items) <= 6
    assert [item for _, item in items] == [*range(1000), "end"]


@pytest.mark.slow
def test_children_of_jobs_that_nobody_waits_for_are_ended(pool: Pool[Any]) -> None:
    items = pool.through([Asking("echo", 1), Asking("sleep", 60), Asking("sleep", 60)])
    assert next(items)[1] == 1
    start = time.monotonic()
    items.close()
    assert (pool.busy, list(pool._pending)) == ({}, [])
    assert time.monotonic() - start < 40
    assert items_of(pool, [Asking("echo", 2)]) == [2]
