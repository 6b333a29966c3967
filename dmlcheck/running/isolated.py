"""Single cases that run in a process of their own, one after the other."""

from __future__ import annotations

import time

from dmlcheck.cases.find import Target
from dmlcheck.cases.records import Case
from dmlcheck.diagnostics.record import Finding
from dmlcheck.running.children import ending
from dmlcheck.running.events import Done, Ended, Plan
from dmlcheck.running.known_failures import DirectML
from dmlcheck.running.processes import GRACE, Worker, never_ended
from dmlcheck.running.results import CaseResult


class IsolatedRunner:
    """Runs cases one at a time in a process of its own: a time limit or a crash is an error of the case.

    The process is started for the first case, and again after each one that ended it.
    """

    def __init__(self, plan: Plan, directml: DirectML | None = None, patience: float = 0.0) -> None:
        """Prepare to run cases as a plan says, on that DirectML if it is one.

        `patience` are seconds for an implementation that ends its own work.
        """
        self.plan = plan
        self.directml = directml
        self.patience = patience
        self.worker: Worker | None = None

    def run(self, target: Target, case: Case) -> CaseResult:
        """Return the result of the case that a target asks for."""
        from dmlcheck.running.worker import Task

        worker = self.worker = self.worker or Worker(self.plan, self.patience)
        worker.give(0, Task(target, announces=True))
        try:
            result = self._result(worker)
        except (EOFError, OSError):
            worker.child.process.join(GRACE)
            self.close()
            params = {"implementation": self.plan.implementation, "problem": ending(worker.child.process.exitcode)}
            return never_ended(case, "the process ended", Finding("implementation-error", (), params), self.directml)
        if result is not None:
            return result
        self.close()
        finding = Finding("timeout", (), {"seconds": f"{self.plan.timeout:g}"})
        return never_ended(case, "timed out", finding, self.directml)

    def _result(self, worker: Worker) -> CaseResult | None:
        """Return the result that a process sends before it is through with the file, or None if its time is up."""
        result = None
        while True:
            left = self._seconds_left(worker)
            if left is not None and not worker.child.connection.poll(max(0.0, left)):
                return None
            for event in worker.receive():
                result = event.result if isinstance(event, Done) else result
                if isinstance(event, Ended):
                    worker.file = None
                    if result is None:
                        raise EOFError  # the file has changed: the case is not in it any more
                    return result

    def _seconds_left(self, worker: Worker) -> float | None:
        if self.plan.timeout is None or worker.case is None:
            return None
        return worker.since + self.plan.timeout + self.patience - time.monotonic()

    def close(self) -> None:
        """End the process."""
        worker, self.worker = self.worker, None
        if worker is not None:
            worker.stop()
