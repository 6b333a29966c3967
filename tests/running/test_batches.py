"""Batches of cases: together they are the run that one process makes, whatever becomes of a worker."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from commandline import GOOD, many, write

from dmlcheck.formats.find import Target
from dmlcheck.implementations import Unavailable
from dmlcheck.processes import child
from dmlcheck.processes.cluster import Cluster, Lost
from dmlcheck.processes.kept import end_kept
from dmlcheck.running import batches as module
from dmlcheck.running.batches import Batches, about_there, batches_of, run_batch
from dmlcheck.running.events import Done, Ended, Event, NotRun, Plan, Selection, digest_of
from dmlcheck.running.execution import Execution
from dmlcheck.running.worker import whole


class Here(Cluster):
    """A cluster whose worker is this process, but for some batches, whose worker is gone."""

    def __init__(self, lost: tuple[int, ...] = ()) -> None:
        super().__init__()
        self.lost = lost

    def threads(self) -> int:
        return 1

    def map(self, function: Callable[[Any], Any], all_given: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        for number, given in enumerate(all_given):
            yield given, Lost("KilledWorker: gone") if number in self.lost else function(given)


@pytest.fixture(autouse=True)
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Cut every file, even a wrong one, and read none from before."""
    monkeypatch.chdir(tmp_path)
    rooms(monkeypatch, 5, 5)
    module._last_read.cache_clear()
    yield
    end_kept()


def rooms(monkeypatch: pytest.MonkeyPatch, least: int, most: int) -> None:
    """Set the least and the most bytes of a batch."""
    monkeypatch.setattr(module, "_LEAST", least)
    monkeypatch.setattr(module, "_MOST", most)


def one() -> int:
    """Return how many threads a worker has."""
    return 1


def told(events: Iterable[Event]) -> tuple[list[Any], str, list[str]]:
    """Return the results, the cases that do not run, the digest of all, and the empty files."""
    happened = list(events)
    results: list[Any] = [
        (one.result.case.id, one.result.outcome, one.result.reason) if isinstance(one, Done) else one.id
        for one in happened
        if isinstance(one, (Done, NotRun))
    ]
    ends = [one for one in happened if isinstance(one, Ended)]
    digest = digest_of(end.digest or b"" for end in ends)
    return results, digest, [end.empty for end in ends if end.empty]


@pytest.mark.slow
@pytest.mark.parametrize(
    "plan",
    [
        Plan(digests=True),
        Plan(digests=True, shard=(1, 2)),
        Plan(digests=True, selection=Selection("c1 or c4")),
        Plan(digests=True, timeout=30.0),  # in a process of its own, which is ended when a case takes too long
    ],
)
def test_batches_are_the_run_that_one_process_makes(plan: Plan) -> None:
    texts = {"a.yaml": many(5), "b.yaml": GOOD, "wrong.yaml": "operator: [", "none.yaml": "cases: []\noperator: RELU\n"}
    targets = [Target(write(name, text), name) for name, text in texts.items()]
    found = told(Batches(targets, plan, Here()).events())
    assert found == told(Execution(targets, plan).events())
    assert len(found[0]) >= 6


def test_a_large_file_is_cut_into_parts_of_its_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    target = Target(write("a.yaml", many(5)), "a.yaml")
    rooms(monkeypatch, 1, len(many(5)) // 3)
    assert [batch[0].part for batch in batches_of([target], one)] == [(0, 3), (1, 3), (2, 3)]
    assert list(batches_of([target._replace(case="c1")], one)) == [(target._replace(case="c1"),)]
    nowhere = Target("nowhere.yaml", "nowhere.yaml")
    assert list(batches_of([nowhere], one)) == [(nowhere,)]
    parts = [run_batch(Plan(), (target._replace(part=(number, 3)),)) for number in range(3)]
    assert [told(map(whole, sent))[0] for sent in parts] == [
        [("a.yaml::c0", "passed", None)],
        [("a.yaml::c1", "passed", None), ("a.yaml::c2", "passed", None)],
        [("a.yaml::c3", "passed", None), ("a.yaml::c4", "passed", None)],
    ]


def sizes_of(count: int, threads: int) -> list[int]:
    """Return how many files each batch has, of so many files of the same size."""
    targets = [Target(write(f"{number:02}.yaml", GOOD), f"{number:02}.yaml") for number in range(count)]
    found = list(batches_of(targets, lambda: threads))
    assert [target for batch in found for target in batch] == targets
    return [len(batch) for batch in found]


def test_small_files_are_together_and_no_file_is_read_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each batch takes half of what is left for each thread: 8 of 16 files if there is one, 4 of two."""
    monkeypatch.setattr(module, "read_file", None)
    rooms(monkeypatch, len(GOOD), 10_000)
    assert sizes_of(16, 1) == [8, 4, 2, 1, 1]
    assert sizes_of(16, 2) == [4, 3, 2, 1, 1, 1, 1, 1, 1, 1]
    rooms(monkeypatch, 3 * len(GOOD), 10_000)
    assert sizes_of(16, 2) == [4, 3, 3, 3, 3]
    rooms(monkeypatch, len(GOOD), 2 * len(GOOD) + 1)
    assert sizes_of(16, 1) == [2] * 7 + [1, 1]


def test_a_large_file_ends_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    rooms(monkeypatch, len(GOOD), 3 * len(GOOD))
    texts = {"a.yaml": GOOD, "b.yaml": GOOD, "c.yaml": 10 * len(GOOD) * "#", "d.yaml": GOOD}
    targets = [Target(write(name, text), name) for name, text in texts.items()]
    assert [[target.name for target in batch] for batch in batches_of(targets, one)] == [
        ["a.yaml", "b.yaml"],
        *[["c.yaml"]] * 3,
        ["d.yaml"],
    ]


def test_the_cases_of_a_batch_that_is_lost_are_errors_and_the_others_run(monkeypatch: pytest.MonkeyPatch) -> None:
    target = Target(write("a.yaml", many(5)), "a.yaml")
    rooms(monkeypatch, 1, len(many(5)) // 3)
    executor = Batches([target], Plan(digests=True, selection=Selection("not c2")), Here(lost=(1,)))
    happened = list(executor.events())
    results, digest, _ = told(happened)
    assert [one if isinstance(one, str) else one[:2] for one in results] == [
        ("a.yaml::c0", "passed"),
        ("a.yaml::c1", "error"),
        "a.yaml::c2",
        ("a.yaml::c3", "passed"),
        ("a.yaml::c4", "passed"),
    ]
    (result,) = [one.result for one in happened if isinstance(one, Done) and one.result.outcome == "error"]
    (diagnostic,) = result.diagnostics
    assert (result.reason, diagnostic.rule, diagnostic.file) == ("the worker ended", "implementation-error", "a.yaml")
    assert diagnostic.message == "reference was lost with its worker (KilledWorker: gone)"
    assert diagnostic.line is not None
    assert digest == told(Execution([target], executor.plan).events())[1]
    assert executor.running() == []


def test_a_worker_reads_a_file_once_until_it_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    reads = []
    read = module.read_file
    monkeypatch.setattr(module, "read_file", lambda path, name: reads.append(path) or read(path, name))
    target = Target(write("a.yaml", many(4)), "a.yaml")
    for part in ((0, 2), (1, 2)):
        assert len(run_batch(Plan(), (target._replace(part=part),))) == 3
    assert reads == ["a.yaml"]
    write("a.yaml", many(6))
    assert len(run_batch(Plan(), (target._replace(part=(1, 3)),))) == 3
    assert reads == ["a.yaml", "a.yaml"]


@pytest.mark.slow
def test_a_worker_keeps_the_process_that_cases_need_until_the_run_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []
    real = child.Child
    monkeypatch.setattr(child, "Child", lambda *given, **more: started.append(real(*given, **more)) or started[-1])
    target = Target(write("a.yaml", GOOD), "a.yaml")
    for _ in range(3):
        sent = run_batch(Plan(timeout=30.0), (target,))
        assert [type(event) for event in map(whole, sent)] == [Done, Ended]
    (one,) = started
    assert one.process.poll() is None
    end_kept()
    assert one.process.returncode == 0


def test_an_implementation_says_what_it_is_on_a_worker() -> None:
    assert about_there("reference", None).version
    with pytest.raises(Unavailable):
        about_there("python:nowhere:Nothing", None)
    with pytest.raises(Unavailable):
        about_there("reference", "1.8.0")
