"""Single cases that run in a process of their own, one after the other."""

from __future__ import annotations

from functools import partial

from dmlcheck.cases.find import Target
from dmlcheck.cases.records import Case
from dmlcheck.processes.child import Child, LostChild
from dmlcheck.processes.pool import Pool
from dmlcheck.running.events import Done, Plan
from dmlcheck.running.file_jobs import FileJob
from dmlcheck.running.known_failures import DirectML
from dmlcheck.running.results import CaseResult


class IsolatedRunner:
    """Runs cases one at a time in a process of its own: a time limit or a crash is an error of the case.

    The process is started for the first case, and again after each one that ended it.
    """

    def __init__(self, plan: Plan, directml: DirectML | None = None) -> None:
        """Prepare to run cases as a plan says, on that DirectML if it is one."""
        self.plan = plan
        self.directml = directml
        self._pool: Pool[FileJob] = Pool(partial(Child, "dmlcheck.running.worker", plan), 1)

    def run(self, target: Target, case: Case) -> CaseResult:
        """Return the result of the case that a target asks for."""
        job = _CaseJob(target, self.plan, self.plan.timeout, self.directml)
        job.whole = case
        results = [event.result for _, event in self._pool.through([job]) if isinstance(event, Done)]
        return results[0] if results else job.error(case, LostChild(0))  # it is not in the file any more

    def close(self) -> None:
        """End the process."""
        self._pool.close()


class _CaseJob(FileJob):
    """A case of a file, which a loss of the process is an error of."""

    whole: Case

    def lost(self, loss: LostChild) -> None:
        """Report that the case did not end."""
        self.items.append(Done(self.error(self.whole, loss)))
        self.is_over = True
