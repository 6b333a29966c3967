"""A pool of children: each has a job, and the items of the jobs come in the order of the jobs."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from dmlcheck.processes.child import Child, LateChild, LostChild, end

_AHEAD = 2000  # items of a pending job


class Job:
    """A question for a child, and the items in its messages until the job is over: by default one, the answer.

    `deadline` is a time.monotonic().
    """

    deadline = math.inf

    def __init__(
        self, question: Any, limit: float | None = None, substitute: Callable[[LostChild], Any] | None = None
    ) -> None:
        """Take the question, the seconds for the answer, and the answer in place of one that is lost."""
        self.question = question
        self.limit = math.inf if limit is None else limit
        self.substitute = substitute
        self.items: deque[Any] = deque()
        self.is_over = False

    def take(self, message: Any) -> None:
        """Take a message of the child."""
        self.items.append(message)
        self.is_over = True

    def lost(self, loss: LostChild) -> None:
        """Take the loss of the child; if the job is not over, another child gets the question."""
        if self.substitute is None:
            raise loss
        self.take(self.substitute(loss))


AnyJob = TypeVar("AnyJob", bound=Job)


class Pool(Generic[AnyJob]):
    """Children that are started when there is a job for them, and kept for the next jobs."""

    def __init__(self, start: Callable[[], Child], size: int) -> None:
        """Begin without a child; there are `size` of them at most."""
        self.start = start
        self.size = size
        self.busy: dict[AnyJob, Child] = {}
        self._idle: list[Child] = []
        self._pending: deque[AnyJob] = deque()

    def through(self, jobs: Iterable[AnyJob], most: float = math.inf) -> Iterator[tuple[AnyJob, Any]]:
        """Yield jobs with their items; `most` jobs are begun at a time whose items were not all yielded."""
        left = iter(jobs)
        begun: deque[AnyJob] = deque()
        try:
            while True:
                while len(begun) < most and len(self.busy) < self.size and (job := next(left, None)) is not None:
                    begun.append(job)
                    self._pending.append(job)
                    self._hand_out()
                if not begun:
                    return
                turn = begun[0]
                while turn.items:
                    yield turn, turn.items.popleft()
                if turn.is_over:
                    begun.popleft()
                else:
                    self._listen(turn)
        finally:
            self._pending = deque(job for job in self._pending if job not in begun)
            end([self.busy.pop(job) for job in begun if job in self.busy])

    def answer(self, job: AnyJob) -> Any:
        """Return the only item of a job, which runs before the pending ones."""
        self._pending.appendleft(job)
        while not job.is_over:
            self._hand_out()
            self._listen(job)
        return job.items.popleft()

    def close(self) -> None:
        """End all children."""
        end([*self._idle, *self.busy.values()])
        self._idle.clear()
        self.busy.clear()

    def _hand_out(self) -> None:
        while self._pending and len(self.busy) < self.size:
            job = self._pending.popleft()
            child = self.busy[job] = self._idle.pop() if self._idle else self.start()
            child.send(job.question)
            job.deadline = time.monotonic() + (job.limit if child.is_ready else child.start_time)

    def _listen(self, turn: AnyJob) -> None:
        """Take the messages of children, up to a limit for pending jobs; hand out other jobs."""
        from multiprocessing.connection import wait

        heard = {
            child.connection: (job, child) for job, child in self.busy.items() if job is turn or len(job.items) < _AHEAD
        }
        first = min((job.deadline for job in self.busy), default=math.inf)
        for connection in wait(list(heard), None if first == math.inf else max(0.01, first - time.monotonic() + 0.01)):
            self._take(*heard[connection])  # type: ignore[index]
        for job, child in list(self.busy.items()):
            if time.monotonic() > job.deadline and not child.connection.poll():
                self._lose(job, child, LateChild(was_ready=child.is_ready))
        self._hand_out()

    def _take(self, job: AnyJob, child: Child) -> None:
        try:
            if child.is_ready:
                job.take(child.receive())
            else:
                child.ready()
                job.deadline = time.monotonic() + job.limit
        except LostChild as loss:
            self._lose(job, child, loss)
            return
        if job.is_over:
            del self.busy[job]
            child.is_busy = False
            self._idle.append(child)

    def _lose(self, job: AnyJob, child: Child, loss: LostChild) -> None:
        del self.busy[job]
        child.stop()
        job.lost(loss)
        if not job.is_over:
            self._pending.appendleft(job)
