"""Models among findings: they run after the cases of their folder, on the inputs beside them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.importorskip("onnx", reason="the extra `onnx` is not installed")

import numpy as np
from commandline import GOOD, dmlcheck, write
from whole_models import model, node, save

from dmlcheck.formats.find import Target
from dmlcheck.implementations import make
from dmlcheck.models.found import ReferenceModels, WithModels
from dmlcheck.running.events import Done, Ended, Plan
from dmlcheck.running.execution import Execution

MODEL = "found/graph-1/model.onnx"
TWICE = model([node("Abs", "x", "a", "abs"), node("Add", "a a", "y", "add")], {"x": [2]}, {"y": [2]})


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("found/sum.yaml", GOOD)
    write(MODEL, "")
    save(TWICE, MODEL)
    np.savez("found/graph-1/inputs.npz", x=np.array([1, -3], np.float32))


def test_the_reference_runs_a_model_node_by_node() -> None:
    reference = ReferenceModels(make("reference"))
    found = reference.run_model(TWICE.SerializeToString(), {"x": np.array([1, -3], np.float32)}, ["y", "a"])
    assert {name: values.tolist() for name, values in found.items()} == {"y": [2, 6], "a": [1, 3]}
    assert reference.name == "reference"


def test_a_node_that_the_reference_does_not_compute_is_an_error_of_the_model() -> None:
    made = model([node("RandomNormalLike", "x", "y")], {"x": [2]}, {"y": [2]})
    with pytest.raises(ValueError, match="random"):
        ReferenceModels(make("reference")).run_model(made.SerializeToString(), {"x": np.ones(2, np.float32)}, ["y"])


def test_the_cases_come_first_and_then_the_nodes_and_outputs_of_the_models() -> None:
    plan = Plan("reference")
    cases = Execution([Target("found/sum.yaml", "found/sum.yaml")], plan)
    run = WithModels(cases, [Target(MODEL, MODEL)], plan)
    assert run.total == 4
    events = list(run.events())
    ids = [event.result.case.id for event in events if isinstance(event, Done)]
    assert ids == ["found/sum.yaml::sum", f"{MODEL}::abs", f"{MODEL}::add", f"{MODEL}::output:y"]
    assert [event.bisected for event in events if isinstance(event, Ended)] == [None, None]


def test_a_folder_runs_with_its_models() -> None:
    result = dmlcheck("run", "found")
    assert (result.exit_code, result.output.count("passed in")) == (0, 1)
    assert "4 cases at the feature levels of their files" in result.output


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("-k", "sum"), "models run whole and here; leave out --executor, --shard and what selects cases"),
        (("--shard", "1/1"), "models run whole and here; leave out --executor, --shard and what selects cases"),
        (("--implementation", "python:fuzzed:DropsNan"), "python:fuzzed:DropsNan runs no ONNX models"),
    ],
)
def test_models_that_do_not_run_are_named_with_the_reason(words: tuple[str, ...], why: str) -> None:
    result = dmlcheck("run", "found", *words)
    assert result.exit_code == 0
    assert f"dmlcheck: {MODEL} is not run: {why}" in result.stderr
    assert "1 passed in" in result.stdout


def test_a_folder_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    searched, walk = [], os.walk
    monkeypatch.setattr(os, "walk", lambda path, **options: searched.append(path) or walk(path, **options))
    found = dmlcheck("run", "found")
    assert (found.exit_code, searched) == (0, ["found"])
    assert "the model's 1 output is right" in found.output
