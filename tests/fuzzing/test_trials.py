"""Trials on a bench: judged like cases, here or in a process that may be lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import fuzzed
import numpy as np
import pytest
from asked_library import E_INVALIDARG, AskedLibrary
from valid_descs import tensor, valid

from dmlcheck.drawing.units import Unit
from dmlcheck.fuzzing import trials
from dmlcheck.fuzzing.trials import (
    BenchApart,
    BenchHere,
    BenchThere,
    CaseOfFile,
    Judge,
    Trial,
    answers_there,
    bench,
    trial_of,
    validates_there,
)
from dmlcheck.implementations import Unavailable
from dmlcheck.processes.cluster import Lost
from dmlcheck.processes.kept import end_kept
from dmlcheck.running.results import ERRORED, PASSED, SKIPPED
from dmlcheck.running.settings import Settings
from dmlcheck.specs.names import NEWEST_LEVEL

RELU = "DML_OPERATOR_ACTIVATION_RELU"


def trial(*values: float, **more: Any) -> Trial:
    tensors = {"InputTensor": tensor(len(values)), "OutputTensor": tensor(len(values))}
    desc = valid("DML_OPERATOR_ELEMENT_WISE_ABS", **tensors)
    return Trial.of(desc, {"InputTensor": np.array(values, np.float32)}, NEWEST_LEVEL, **more)


def answer(implementation: Any, work: Any) -> Any:
    return BenchHere(implementation, Settings()).answer(work)


def test_a_unit_that_is_not_valid_breaks_one_constraint() -> None:
    made = trial_of(Unit(RELU, 0, 1, is_invalid=True))
    assert made is not None
    assert made.invalid is not None
    assert len(made.invalid) == 1


def test_a_mistake_of_dmlchecks_own_ends_no_campaign(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dmlcheck.fuzzing.trials.run_case", lambda *_: 1 / 0)
    found = answer(fuzzed.Right(), trial(1))
    assert found.outcome == SKIPPED
    assert "dmlcheck itself failed: ZeroDivisionError" in found.reason


def test_what_keeps_its_time_and_does_not_crash_runs_here() -> None:
    made = bench("python:fuzzed:Right", Settings(), 60.0)
    assert isinstance(made, BenchHere)
    made.close()
    assert isinstance(bench("python:fuzzed:Crashes", Settings(), 60.0), BenchApart)


@pytest.mark.slow
def test_a_process_that_crashes_or_hangs_is_the_answer_and_another_goes_on() -> None:
    apart = BenchApart("python:fuzzed:Crashes", Settings(), 3.0, 0.0)
    try:
        few, many, most = (trial(*[1.0] * count) for count in (5, 200, 2000))
        assert apart.answer(few).outcome == PASSED
        crashed = apart.answer(many)
        assert (crashed.difference.rule, "exit code 3" in crashed.message) == ("implementation-error", True)
        assert apart.answer(few).outcome == PASSED
        assert apart.answer(most).difference.rule == "timeout"
        assert apart.answer(few).outcome == PASSED
    finally:
        apart.close()


@pytest.mark.slow
def test_what_cannot_be_made_in_a_process_of_its_own_is_no_finding() -> None:
    apart = BenchApart("python:misbehaving:broken", Settings(), 3.0, 0.0)
    with pytest.raises(Unavailable, match="in a process of its own"):
        apart.answer(trial(1.0))


def test_a_library_that_executes_is_only_asked_about_what_its_release_does_not_have() -> None:
    tensors = {"InputTensor": tensor(2), "OutputTensor": tensor(2)}
    desc = valid("DML_OPERATOR_ELEMENT_WISE_NEGATE", **tensors)
    later = Trial.of(desc, {"InputTensor": np.ones(2, np.float32)}, "6_4")
    found = []
    for version in ("1.4.0", "1.15.4"):
        library = AskedLibrary(E_INVALIDARG, version)
        library.executes = True
        found.append(BenchHere(library, Settings("6_4")).answer(later).outcome)
    assert found == [PASSED, ERRORED]


# ---- trials on the workers of a cluster: in batches and in order, one by one where a worker died


JUDGE = Judge("reference", Settings(), None)
CASE = """\
operator: DML_OPERATOR_ELEMENT_WISE_NEGATE
desc: {InputTensor: {DataType: FLOAT32, Sizes: [2]}, OutputTensor: {DataType: FLOAT32, Sizes: [2]}}
inputs: {InputTensor: [1, 2]}
outputs: {OutputTensor: [-1, -3]}
"""


class Here:
    """A cluster of this process, which loses each call that has a unit it cannot stand."""

    def __init__(self, deadly: int = -1) -> None:
        self.deadly = deadly
        self.sizes: list[int] = []

    def map(self, function: Callable[[Any], Any], all_given: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        for given in all_given:
            self.sizes.append(len(given))
            dies = any(isinstance(unit, Unit) and unit.number == self.deadly for unit in given)
            yield given, Lost("KilledWorker") if dies else function(given)


def there(cluster: Any) -> BenchThere:
    return BenchThere(cluster, JUDGE)


def units(count: int) -> list[Unit]:
    return [Unit("DML_OPERATOR_ELEMENT_WISE_NEGATE", 0, number) for number in range(count)]


@pytest.fixture(autouse=True)
def _over() -> Iterator[None]:
    """Leave nothing that a worker keeps."""
    yield
    end_kept()


def test_draws_are_answered_in_batches_and_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "_TOGETHER", 4)
    cluster = Here()
    found = list(there(cluster).answers(iter(units(10))))
    assert [unit for unit, _ in found] == units(10)
    assert cluster.sizes == [4, 4, 2]
    assert {answer.outcome for _, answer in found} == {"skipped"}  # the reference is judged by nothing else


def test_of_a_batch_whose_worker_died_only_the_draw_that_kills_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "_TOGETHER", 4)
    cluster = Here(deadly=2)
    found = list(there(cluster).answers(units(5)))
    assert cluster.sizes == [4, 1, 1, 1, 1, 1]
    assert [answer.outcome for _, answer in found] == ["skipped", "skipped", "error", "skipped", "skipped"]
    lost = found[2][1]
    assert lost.difference is not None
    assert lost.difference.rule == "implementation-error"
    assert lost.message == "reference was lost with its worker: KilledWorker"


def test_a_case_of_a_file_is_sent_without_the_file(tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(CASE, encoding="utf-8")
    sent: list[Any] = []

    class Noting(Here):
        def map(self, function: Callable[[Any], Any], all_given: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
            sent.extend(all_given)
            return super().map(function, sent)

    there(Noting()).answer(CaseOfFile(str(path), "wrong"))
    ((trial,),) = sent
    assert trial.inputs["InputTensor"].tolist() == [1, 2]
    assert there(Here()).answer(CaseOfFile(str(path), "other")).reason == "the case cannot be read"


def test_a_worker_makes_an_implementation_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    real = trials.bench
    monkeypatch.setattr(trials, "bench", lambda *judge: made.append(judge) or real(*judge))
    for unit in units(3):
        answers_there(JUDGE, [unit])
    assert made == [JUDGE]


def test_a_worker_is_asked_whether_an_implementation_refuses_descs() -> None:
    assert not validates_there("reference")
