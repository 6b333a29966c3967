"""What this machine can spare."""

from __future__ import annotations

import pytest

from dmlcheck.values import memory


def test_the_memory_that_is_left_is_a_number_of_bytes_or_not_known() -> None:
    available = memory.available_bytes()
    assert available is None or 0 <= available < 2**60


@pytest.mark.parametrize(
    ("system", "cgroup", "least"), [(10, 20, 10), (20, 10, 10), (10, None, 10), (None, 10, 10), (None, None, None)]
)
def test_the_least_of_what_is_known_counts(
    monkeypatch: pytest.MonkeyPatch, system: int | None, cgroup: int | None, least: int | None
) -> None:
    monkeypatch.setattr(memory, "_system_bytes", lambda: system)
    monkeypatch.setattr(memory, "_cgroup_bytes", lambda: cgroup)
    assert memory.available_bytes() == least


def test_there_is_a_core_to_run_on() -> None:
    assert memory.cores() >= 1
