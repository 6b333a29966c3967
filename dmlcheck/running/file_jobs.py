"""The files of a run in processes: a case that crashes its process, or exceeds its time limit, is that case's error.

Another process goes on after it.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from functools import partial

from dmlcheck.cases.records import Case, DetachedOrigin
from dmlcheck.descs.read import read_desc
from dmlcheck.diagnostics.record import Diagnostic, Finding
from dmlcheck.files.document import diagnostic_at
from dmlcheck.formats.find import Target
from dmlcheck.formats.registry import read_file
from dmlcheck.processes.child import Child, LateChild, LostChild
from dmlcheck.processes.pool import Job, Pool
from dmlcheck.running.events import Done, Ended, Event, Plan, case_of_file, how_it_ended
from dmlcheck.running.known_failures import DirectML, with_known
from dmlcheck.running.results import ERRORED, CaseResult
from dmlcheck.running.worker import Message, Started, Task, whole

_TRIES = 3  # to read on in a file at a place where no case is known to be wrong


class FileJob(Job):
    """A file with the number of its results, the case that runs now, and how it ended before.

    With `announces` each case is named before it runs. If not, the case that ended a process is not known. Then the
    cases without a result run again, each of them named. `limit` is the time limit of a case, None for any time.
    """

    def __init__(
        self,
        target: Target,
        plan: Plan,
        limit: float | None = None,
        directml: DirectML | None = None,
        *,
        announces: bool = True,
    ) -> None:
        """Begin at the first case of a file, which is judged as that DirectML if it is one."""
        super().__init__(Task(target, announces=announces))
        self.case_limit = math.inf if limit is None else limit
        self.plan = plan
        self.directml = directml
        self.done = 0
        self.tried: tuple[str, ...] = ()
        self.case: Case | None = None
        self.since = 0.0
        self._losses: Counter[int] = Counter()  # outside of a known case, by the number of results before

    def take(self, message: Message) -> None:
        """Take events of the process."""
        for event in map(whole, message):
            if isinstance(event, Started):
                self._at(event.case)
            else:
                self._add(event)

    def _at(self, case: Case | None) -> None:
        self.case, self.since = case, time.monotonic()
        self.deadline = math.inf if case is None else self.since + self.case_limit

    def _add(self, event: Event) -> None:
        self.items.append(event)
        if isinstance(event, Done):
            self._at(None)
            self.done += 1
            self.tried = ()
        elif isinstance(event, Ended):
            self.is_over = True

    def lost(self, loss: LostChild) -> None:
        """Report the case during which the process was lost; the next one goes on after it.

        A process that is late names its case before it is lost.
        """
        if self.case is not None and (self.question.announces or isinstance(loss, LateChild)):
            result = self.error(self._whole(self.case), loss)
            if len(self.tried) < self.plan.retries:
                self.tried = (*self.tried, how_it_ended(result))
            else:
                self._add(Done(result))
        else:
            # Once may be chance. Repeatedly, it is the file: no more of it can run.
            self._losses[self.done] += 1
            if self._losses[self.done] == _TRIES:
                name = self.question.target.name
                diagnostic = Diagnostic("implementation-error", f"the file {loss.problem}", file=name, line=1, column=1)
                case = case_of_file(name, DetachedOrigin())
                self._add(Done(CaseResult(case, ERRORED, "the process ended", (diagnostic,), is_malformed=True)))
                self._add(Ended(None))
        self._at(None)
        self.question = Task(self.question.target, self.done, announces=True, tried=self.tried)

    def error(self, case: Case, loss: LostChild) -> CaseResult:
        """Return the result of a case whose process was lost."""
        return never_ended(case, *loss.result(self.plan.names, self.plan.timeout), self.directml)

    def _whole(self, case: Case) -> Case:
        """Return a case with its desc, if the run needs that: the lost process gave only its place."""
        if self.directml is None:
            return case
        target = self.question.target
        return next((found for found in read_file(target.file, target.name).cases if found.id == case.id), case)


def never_ended(case: Case, reason: str, finding: Finding, directml: DirectML | None) -> CaseResult:
    """Return the result of a case whose process was lost."""
    diagnostic = diagnostic_at(finding, case.file, case.position)
    result = CaseResult(case, ERRORED, reason, (diagnostic,), level=case.feature_level)
    desc = read_desc(case.operator, case.desc).desc if directml is not None and case.desc else None
    return result if desc is None or directml is None else with_known(result, desc, directml)


# ---- single cases that run in a process of their own


class IsolatedRunner:
    """Runs cases one at a time in a process of its own: a time limit or a crash is an error of the case.

    The process is started for the first case, and again after each one that ended it.
    """

    def __init__(self, plan: Plan, directml: DirectML | None = None) -> None:
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
