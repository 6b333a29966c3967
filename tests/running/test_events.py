"""What happens in a run: the order of its events, which case is running, and which cases are a shard's."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from judged import like_reference
from misbehaving_cases import folder, write  # noqa: F401 - the fixture is used by its name

from dmlcheck import implementations
from dmlcheck.formats.find import Target
from dmlcheck.implementations.protocol import adapted
from dmlcheck.running.events import Done, Ended, NotRun, Plan, Selection, digest_of, digest_of_ids, in_shard, is_named
from dmlcheck.running.execution import Execution


def kinds(plan: Plan, jobs: int = 1, case: str | None = None, *more: str) -> list[type]:
    """Return the kinds of the events of a run of a.yaml, b.yaml and more files."""
    targets = [Target(name, name, case) for name in ("a.yaml", "b.yaml", *more)]
    return [type(event) for event in Execution(targets, plan, jobs).events()]


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_events_come_in_order(jobs: int) -> None:
    write("a.yaml", 1, 2)
    write("b.yaml", 3)
    assert kinds(Plan(), jobs) == [Done, Done, Ended, Done, Ended]
    assert kinds(Plan(selection=Selection("c1")), jobs) == [NotRun, Done, Ended, NotRun, Ended]
    assert kinds(Plan(), jobs, case="c0") == [Done, Ended, Done, Ended]


def test_a_run_has_digests_where_it_is_asked_for_them() -> None:
    write("a.yaml", 1, 2)
    targets = [Target("a.yaml", "a.yaml")]
    (without,) = (event for event in Execution(targets, Plan()).events() if isinstance(event, Ended))
    (ended,) = (event for event in Execution(targets, Plan(digests=True)).events() if isinstance(event, Ended))
    parts = [int.from_bytes(hashlib.sha256(name).digest(), "big") for name in (b"a.yaml::c0", b"a.yaml::c1")]
    total = (sum(parts) % 2**256).to_bytes(32, "big")
    assert (without.digest, ended.digest) == (None, total)
    assert digest_of([ended.digest]) == hashlib.sha256(total).hexdigest()
    assert digest_of([part.to_bytes(32, "big") for part in parts]) == digest_of([ended.digest])
    assert digest_of([ended.digest, None]) is None
    assert digest_of_ids(["a.yaml::c0", "a.yaml::c1"]) == digest_of([ended.digest])


def test_a_file_without_a_case_is_named() -> None:
    Path("a.yaml").write_text("cases: []\n", encoding="utf-8")
    (ended,) = Execution([Target("a.yaml", "a.yaml")], Plan()).events()
    assert ended == Ended(None, "a.yaml")


@pytest.mark.parametrize(
    ("plan", "case", "number"),
    [
        (Plan(), None, 4),
        (Plan(), "c0", 3),
        (Plan(selection=Selection("c1")), None, 2),
        (Plan(selection=Selection("a.yaml")), None, 3),
    ],
)
def test_the_number_of_cases_is_known_before_they_run(plan: Plan, case: str | None, number: int) -> None:
    write("a.yaml", 1, 2)
    write("b.yaml", 3)
    Path("c.yaml").write_text("[", encoding="utf-8")  # one result: the file cannot be used
    execution = Execution([Target(name, name, case) for name in ("a.yaml", "b.yaml", "c.yaml")], plan)
    assert execution.total == number
    assert kinds(plan, 1, case, "c.yaml").count(Done) == number
    shards = [Execution(execution.targets, plan._replace(shard=(part, 2))) for part in (1, 2)]
    assert [shard.total for shard in shards] == [[*map(type, shard.events())].count(Done) for shard in shards]
    assert sum(shard.total for shard in shards) == number


def test_an_implementation_has_no_part_in_what_is_not_well_formed() -> None:
    write("a.yaml", 1)
    Path("b.yaml").write_text(
        Path("a.yaml").read_text(encoding="utf-8") + "- {name: odd, output: 3}\n", encoding="utf-8"
    )
    Path("c.yaml").write_text("[", encoding="utf-8")
    targets = [Target(name, name) for name in ("a.yaml", "b.yaml", "c.yaml")]
    results = [event.result for event in Execution(targets, Plan()).events() if isinstance(event, Done)]
    assert [result.is_computed for result in results] == [True, True, False, False]
    assert [result.is_malformed for result in results] == [False, False, True, True]


def test_the_case_that_is_running_is_known_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    write("a.yaml", 1, 2)
    execution = Execution([Target("a.yaml", "a.yaml")], Plan())
    running = []

    def note(outputs: dict[str, Any]) -> dict[str, Any]:
        running.append(execution.slowest())
        return outputs

    monkeypatch.setattr(implementations, "make", lambda *_: adapted(like_reference(note)))
    between = [execution.slowest() for _ in execution.events()]
    assert [slow and slow[0] for slow in running] == ["a.yaml::c0", "a.yaml::c1"]
    assert between == [None, None, None]


# ---- shards


def test_every_case_is_in_one_shard() -> None:
    ids = [f"f.yaml::case-{number}[T=FLOAT32]" for number in range(3000)]
    shards = [{case for case in ids if in_shard(case, (index, 7))} for index in range(1, 8)]
    assert sum(map(len, shards)) == len(set().union(*shards)) == 3000
    assert min(map(len, shards)) > 300
    assert all(in_shard(case, None) for case in ids)


@pytest.mark.parametrize("count", [2, 3, 5, 1000])
def test_which_shard_a_case_is_in_never_changes(count: int) -> None:
    """`printf a.yaml::a | sha256sum` begins with e34c484569e4264d."""
    assert in_shard("a.yaml::a", (0xE34C484569E4264D % count + 1, count))


def test_a_case_is_called_by_its_name_with_or_without_that_of_its_matrix() -> None:
    assert is_named("k[K=16]", "k")
    assert is_named("k[K=16]", "k[K=16]")
    assert not is_named("kernel", "k")
