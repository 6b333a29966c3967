"""What a process of a run sends: when, and how much."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import dmlcheck
from dmlcheck.cases.records import Case
from dmlcheck.running.events import Done, NotRun
from dmlcheck.running.results import CaseResult
from dmlcheck.running.worker import MOST, Outbox, Started, bare, portable, whole

TEXT = """\
operator: DML_OPERATOR_REDUCE
source: by hand
cases:
  - name: sum
    desc:
      Function: SUM
      InputTensor: {DataType: INT32, Sizes: [3]}
      OutputTensor: {DataType: INT32, Sizes: [1]}
      Axes: [0]
    inputs: {InputTensor: [1, 2, 3]}
    outputs: {OutputTensor: [TOTAL]}
"""


class Line:
    """A connection that keeps what is sent."""

    def __init__(self) -> None:
        self.sent: list[list[Any]] = []

    def send(self, message: tuple[bytes, list[int]]) -> None:
        self.sent.append(pickle.loads(message[0]))  # noqa: S301 - of the code under test


@pytest.fixture
def line() -> Line:
    return Line()


@pytest.fixture
def outbox(line: Line) -> Outbox:
    return Outbox(line)  # type: ignore[arg-type]


@pytest.fixture
def passed(tmp_path: Any) -> CaseResult:
    return result_of(tmp_path, 6)


@pytest.fixture
def case(passed: CaseResult) -> Case:
    return passed.case


def result_of(folder: Any, total: int) -> CaseResult:
    """Return the result of a case whose sum is 6."""
    path = folder / "a.yaml"
    path.write_text(TEXT.replace("TOTAL", str(total)), encoding="utf-8")
    (result,) = dmlcheck.run_cases(dmlcheck.load_cases(path))
    return result


def test_many_events_are_one_message(outbox: Outbox, line: Line, case: Case) -> None:
    for number in range(2 * MOST + 1):
        outbox.begin(case)
        outbox.add(NotRun(str(number)))
    assert [len(message) for message in line.sent] == [MOST, MOST]
    outbox.send()
    outbox.send()
    assert line.sent[2:] == [[NotRun(str(2 * MOST))]]


def test_a_case_is_named_before_it_runs_where_that_is_asked_for(outbox: Outbox, line: Line, case: Case) -> None:
    outbox.announces = True
    for number in range(2):
        outbox.begin(case)
        outbox.add(NotRun(str(number)))
    kinds = [[type(event) for event in message] for message in line.sent]
    assert kinds == [[Started], [NotRun, Started]]
    assert line.sent[0][0].case.id == case.id


def test_a_case_that_runs_for_a_while_is_named_once(outbox: Outbox, line: Line, case: Case) -> None:
    outbox.add(NotRun("before"))
    outbox.begin(case)
    outbox.send()
    outbox.send()
    outbox.add(NotRun("after"))
    outbox.send()
    assert [[type(event) for event in message] for message in line.sent] == [[NotRun, Started], [NotRun]]


def test_a_case_that_passes_costs_few_bytes(passed: CaseResult) -> None:
    flaky = passed._replace(reason="flaky", seconds=0.5, is_flaky=True)
    for result in (passed, flaky):
        sent = pickle.dumps(portable(Done(result), details=False))
        assert len(sent) < 500
        assert whole(pickle.loads(sent)) == Done(result._replace(case=bare(passed.case)))  # noqa: S301 - just made
    named = bare(passed.case)
    assert (named.desc, named.inputs, named.source, named.position) == ({}, None, None, passed.case.position)


def test_what_a_case_fails_with_goes_along_but_for_its_file(tmp_path: Any, passed: CaseResult) -> None:
    failed = result_of(tmp_path, 7)
    for result, details in ((failed, False), (passed, True)):
        sent = whole(portable(Done(result), details=details))
        assert isinstance(sent, Done)
        assert sent.result.case.desc == result.case.desc
        assert sent.result.case.inputs == {"InputTensor": "[1, 2, 3]"}
        assert sent.result.case.source == "by hand"
        assert len(pickle.dumps(sent)) < 2000
    (diagnostic,) = failed.diagnostics
    sent = pickle.loads(pickle.dumps(portable(Done(failed), details=False)))  # noqa: S301 - what was just made
    assert sent.result.case.origin.line(diagnostic.line) == "    outputs: {OutputTensor: [7]}"
