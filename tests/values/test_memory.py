"""What this machine can spare."""

from __future__ import annotations

import ctypes
import platform
import subprocess
import sys

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


@pytest.mark.slow
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc's allocator is told")
def test_arrays_take_the_memory_of_those_that_are_gone() -> None:
    found = subprocess.run([sys.executable, "-c", _FAULTS], capture_output=True, text=True, check=True)
    without, with_ = map(int, found.stdout.split())
    assert with_ * 10 < without


_FAULTS = """
import resource
import numpy as np
from dmlcheck.values.memory import reuse_freed_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        kept = [np.ones(1 << 18) for _ in range(8)]
        del kept
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

first = faults()
reuse_freed_memory()
faults()
print(first, faults())
"""


def test_other_allocators_are_left_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    memory.reuse_freed_memory()
