"""Files in processes: what becomes of a case whose process is lost, and of those after it."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from misbehaving import CRASH, HANG
from misbehaving_cases import BAD, folder, write  # noqa: F401 - the fixture is used by its name

from dmlcheck.formats.find import Target
from dmlcheck.formats.registry import read_file
from dmlcheck.processes.child import Child, LateChild, LostChild
from dmlcheck.processes.pool import Pool
from dmlcheck.running.events import Done, Ended, Plan
from dmlcheck.running.execution import Files, Runner
from dmlcheck.running.file_jobs import FileJob
from dmlcheck.running.results import PASSED, CaseResult
from dmlcheck.running.worker import Started, Task, bare

A = Target("a.yaml", "a.yaml")


def job_of(**more: Any) -> FileJob:
    plan = Plan(timeout=2.5, retries=more.pop("retries", 0))
    return FileJob(A, plan, 2.5, **more)


def started(number: int) -> Started:
    return Started(bare(read_file("a.yaml").cases[number]))


def passed(number: int) -> Done:
    return Done(CaseResult(bare(read_file("a.yaml").cases[number]), PASSED))


def told(job: FileJob) -> list[Any]:
    """Return what a job has told so far."""
    return [
        (event.result.case.name, event.result.outcome, event.result.reason) if isinstance(event, Done) else event
        for event in job.items
    ]


def test_a_process_that_is_late_loses_its_case_though_names_were_not_asked_for() -> None:
    write("a.yaml", 1, 2)
    job = job_of(announces=False)
    job.take([started(0)])
    assert job.deadline == job.since + 2.5
    job.lost(LateChild())
    assert told(job) == [("c0", "error", "timed out")]


def test_a_case_that_is_lost_runs_again_as_often_as_it_may() -> None:
    write("a.yaml", 1, 2)
    job = job_of(retries=2)
    for tried in ((), ("error by implementation-error",)):
        assert job.question == Task(A, 0, announces=True, tried=tried)
        job.take([started(0)])
        job.lost(LostChild(3))
        assert told(job) == []
    job.take([started(0)])
    job.lost(LateChild())
    assert told(job) == [("c0", "error", "timed out")]
    assert job.question == Task(A, 1, announces=True)


def test_three_losses_outside_of_a_case_end_the_file() -> None:
    write("a.yaml", 1, 2)
    job = job_of()
    job.take([started(0), passed(0)])
    for _ in range(2):
        job.lost(LostChild(3))
        assert not job.is_over
    job.lost(LostChild(3))
    assert told(job)[1:] == [("a.yaml", "error", "the process ended"), Ended(None)]
    (diagnostic,) = job.items[1].result.diagnostics  # type: ignore[union-attr]
    assert diagnostic.message == "the file ended the process with exit code 3"
    assert (job.is_over, job.done) == (True, 2)


@pytest.mark.slow
def test_a_case_that_was_not_announced_is_known_when_its_time_is_up() -> None:
    """As with the reference engine and `-j`, where a case is only named when it takes long."""
    write("a.yaml", 1, HANG, 2)
    plan = Plan(BAD, timeout=1.5)
    pool: Pool[FileJob] = Pool(partial(Child, "dmlcheck.running.worker", plan), 1)
    events = pool.through([FileJob(A, plan, 1.5, announces=False)])
    found = [event.result for _, event in events if isinstance(event, Done)]
    pool.close()
    assert [(result.case.name, result.outcome) for result in found] == [
        ("c0", "passed"),
        ("c1", "error"),
        ("c2", "passed"),
    ]
    assert [diagnostic.rule for diagnostic in found[1].diagnostics] == ["timeout"]


@pytest.mark.slow
def test_idle_processes_run_the_next_files_and_one_that_crashed_is_another() -> None:
    write("a.yaml", 1, 2)
    write("b.yaml", 1, CRASH, 2)
    plan = Plan(BAD, timeout=60.0)
    runner = Runner(plan)
    seen, outcomes = [], []
    for name in ("a.yaml", "a.yaml", "b.yaml", "a.yaml"):
        events = runner.events(Files([Target(name, name)], plan))
        outcomes.append([event.result.outcome for event in events if isinstance(event, Done)])
        seen.extend(runner._pool._idle)
    runner.close()
    assert outcomes == [["passed", "passed"], ["passed", "passed"], ["passed", "error", "passed"], ["passed", "passed"]]
    assert seen[0] is seen[1] is not seen[2] is seen[3]
    assert (seen[3].process.returncode, runner._pool._idle) == (0, [])
