"""Models in a process of their own: what ends it, or outlives its time, costs its own tensors and no others."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dmlcheck.implementations import make
from dmlcheck.models.process import ModelProcess, tensors_of
from dmlcheck.running.computed import NoOutputs

MODULE = """
import os, sys, time

import numpy as np

class Object:
    name = "object"

    def unsupported(self, desc):
        return None

    def run(self, desc, inputs):
        raise NotImplementedError

    def run_model(self, model, inputs, keep):
        does = model.decode()
        if does == "crash":
            os._exit(3)
        if does == "hang":
            time.sleep(60)
        if does == "raise":
            raise RuntimeError("no such kernel")
        if does == "secret":
            return {name: [np.array([lambda: None])] for name in keep}
        self.ran_elsewhere = does == "elsewhere"
        return {name: inputs["x"] + 1 for name in keep}

    def optimizing(self):
        other = Object()
        other.run_model = lambda model, inputs, keep: {name: inputs["x"] + 2 for name in keep}
        return other
"""
X = {"x": np.arange(3, dtype=np.float32)}


@pytest.fixture
def implementation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelProcess]:
    (tmp_path / "in_a_process.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    name = "python:in_a_process:Object"
    made = ModelProcess(make(name), name, 4.0)  # seconds, which a start under load takes, too
    yield made
    made.close()


def asked(implementation: ModelProcess, does: str, **more: Any) -> Any:
    return tensors_of(does.encode(), X, ["y"], implementation, **more)


@pytest.mark.slow
def test_tensors_come_from_the_process(implementation: ModelProcess) -> None:
    assert asked(implementation, "add")["y"].tolist() == [1, 2, 3]
    assert implementation.name == "object"
    assert not implementation.ran_elsewhere
    asked(implementation, "elsewhere")
    assert implementation.ran_elsewhere


@pytest.mark.slow
def test_nodes_together_run_as_the_implementation_optimizes_them(implementation: ModelProcess) -> None:
    assert asked(implementation, "add", is_optimized=True)["y"].tolist() == [2, 3, 4]


@pytest.mark.slow
def test_what_ends_the_process_is_told_and_another_goes_on(implementation: ModelProcess) -> None:
    found = asked(implementation, "crash")
    assert isinstance(found, NoOutputs)
    assert found.finding is not None
    assert found.finding.params["problem"] == "ended the process with exit code 3"
    assert asked(implementation, "add")["y"].tolist() == [1, 2, 3]


@pytest.mark.slow
def test_what_outlives_its_time_is_ended_and_another_goes_on(implementation: ModelProcess) -> None:
    asked(implementation, "add")
    start = time.monotonic()
    found = asked(implementation, "hang")
    assert time.monotonic() - start < 20
    assert (found.reason, found.finding.rule, found.finding.params) == ("timed out", "timeout", {"seconds": "4"})
    assert asked(implementation, "add")["y"].tolist() == [1, 2, 3]


@pytest.mark.slow
def test_what_an_implementation_raises_comes_with_its_traceback(implementation: ModelProcess) -> None:
    found = asked(implementation, "raise")
    assert found.finding.params["problem"] == "raised RuntimeError: no such kernel"
    assert "in run_model" in found.traceback


@pytest.mark.slow
def test_what_cannot_be_sent_is_no_result(implementation: ModelProcess) -> None:
    problem = asked(implementation, "secret").finding.params["problem"]
    assert problem.startswith("returned an object that cannot be sent to another process: ")
    assert asked(implementation, "add")["y"].tolist() == [1, 2, 3]


@pytest.mark.slow
def test_a_process_that_is_at_work_is_ended_at_once(implementation: ModelProcess) -> None:
    asked(implementation, "add")
    child = implementation._child
    assert child is not None
    child.is_busy = True  # as after an interrupt
    start = time.monotonic()
    implementation.close()
    assert time.monotonic() - start < 4
    assert child.process.poll() is not None


def test_without_a_process_the_implementation_is_asked_itself(implementation: ModelProcess) -> None:
    here = implementation.given
    assert tensors_of(b"add", X, ["y"], here)["y"].tolist() == [1, 2, 3]
    assert tensors_of(b"add", X, ["y"], here, is_optimized=True)["y"].tolist() == [2, 3, 4]
