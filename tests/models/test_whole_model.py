"""Whole models whose tensors are kept in as many runs as fit into memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from run_models import Runtime, onnx, perceptron, runtime

from dmlcheck.implementations import make
from dmlcheck.models import whole_model
from dmlcheck.models.whole_model import WholeModel, as_given, optimized
from dmlcheck.onnx.model.parts import SHAPE_OF
from dmlcheck.running.computed import NoOutputs

__all__ = ["runtime"]
X = {"x": np.ones((3, 16), np.float32)}
NODES = {"up": ["m1"], "bias": ["m1", "a1"], "relu": ["a1", "r1"]}
BYTES = 3 * 32 * 4  # of each of the tensors
KINDS = dict.fromkeys(["m1", "a1", "r1"], "FLOAT")


def kept(most: int) -> list[Any]:
    return list(WholeModel(perceptron(), X, most, Runtime(), KINDS).tensors(NODES))


@pytest.mark.parametrize(
    ("most", "passes"),
    [
        (3 * BYTES, [["m1", "a1", "r1"]]),
        (2 * BYTES, [["m1", "a1"], ["a1", "r1"]]),
        (BYTES, [["m1"], ["m1", "a1"], ["a1", "r1"]]),
        (1, [["m1"], ["m1", "a1"], ["a1", "r1"]]),
    ],
)
def test_it_runs_as_often_as_its_tensors_need(runtime: type[Runtime], most: int, passes: list[list[str]]) -> None:
    found = kept(most)
    assert [sorted(tensors) for tensors in found] == [["m1"], ["a1", "m1"], ["a1", "r1"]]
    assert found[2]["r1"].shape == (3, 32)
    assert runtime.calls == [[SHAPE_OF + name for name in ("m1", "a1", "r1")], *passes]


def test_a_model_that_does_not_run_is_said_once(runtime: type[Runtime]) -> None:
    runtime.raising.add("down")
    made = WholeModel(perceptron(), X, 2**30, Runtime()).tensors(NODES)
    first, second, third = (next(made) for _ in range(3))
    assert isinstance(first, NoOutputs)
    assert second == third == "the whole model did not run"


def test_a_model_larger_than_a_protobuf_is_a_file_with_its_weights_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_model, "MOST_PROTOBUF", whole_model._SPARE)
    made = perceptron()
    before = list(map(onnx.numpy_helper.to_array, made.graph.initializer))
    with as_given(made) as given:
        assert isinstance(given, str)
        (m1,) = make("onnxruntime").run_model(given, X, ["y"]).values()  # type: ignore[attr-defined]
        assert m1.shape == (3, 8)
    after = list(map(onnx.numpy_helper.to_array, made.graph.initializer))
    assert all((one == other).all() for one, other in zip(before, after, strict=True))
    assert isinstance(next(WholeModel(made, X, 1, Runtime()).tensors(NODES)), NoOutputs)


def test_onnxruntime_optimizes_a_model() -> None:
    made = optimized(perceptron(), make("onnxruntime"))
    assert [each.op_type for each in made.graph.node] != [each.op_type for each in perceptron().graph.node]


def test_what_cannot_optimize_says_so() -> None:
    found = optimized(perceptron(), Runtime())
    assert isinstance(found, NoOutputs)
    assert found.finding is not None
    assert "cannot optimize the model" in found.finding.message
