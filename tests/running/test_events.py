"""What happens in a run: the order of its events, which case is running, and which cases are a shard's."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from judged import like_reference
from misbehaving_cases import folder, write  # noqa: F401 - the fixture is used by its name

from dmlcheck import implementations
from dmlcheck.formats.find import Target
from dmlcheck.implementations.protocol import adapted
from dmlcheck.running.events import Done, Ended, NotRun, Plan, Selection, digest, digest_of, in_shard
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
    assert digest_of([digest(["a.yaml::c0", "a.yaml::c1"])]) == digest_of([ended.digest])


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


@pytest.mark.parametrize("count", [2, 3, 5, 1000])
def test_which_shard_a_case_is_in_never_changes(count: int) -> None:
    """`printf a.yaml::a | sha256sum` begins with e34c484569e4264d."""
    assert in_shard("a.yaml::a", (0xE34C484569E4264D % count + 1, count))
