"""Trials on the workers of a cluster: in batches and in order, one by one where a worker died."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dmlcheck.drawing.units import Unit
from dmlcheck.fuzzing import trials_there
from dmlcheck.fuzzing.trials import CaseOfFile
from dmlcheck.fuzzing.trials_there import BenchThere, Judge, answers_there, validates_there
from dmlcheck.processes.cluster import Lost
from dmlcheck.processes.kept import end_kept
from dmlcheck.running.settings import Settings

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
    monkeypatch.setattr(trials_there, "_TOGETHER", 4)
    cluster = Here()
    found = list(there(cluster).answers(iter(units(10))))
    assert [unit for unit, _ in found] == units(10)
    assert cluster.sizes == [4, 4, 2]
    assert {answer.outcome for _, answer in found} == {"skipped"}  # the reference is judged by nothing else


def test_of_a_batch_whose_worker_died_only_the_draw_that_kills_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials_there, "_TOGETHER", 4)
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
    real = trials_there.bench
    monkeypatch.setattr(trials_there, "bench", lambda *judge: made.append(judge) or real(*judge))
    for unit in units(3):
        answers_there(JUDGE, [unit])
    assert made == [JUDGE]


def test_a_worker_is_asked_whether_an_implementation_refuses_descs() -> None:
    assert not validates_there("reference")
