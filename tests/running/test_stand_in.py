"""What the reference gives in the place of an implementation that does not support a node."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from run_models import random
from whole_models import model, node, save

from dmlcheck.cases.find import Target
from dmlcheck.implementations import make
from dmlcheck.models.cases import Loaded, ModelRequest, loaded
from dmlcheck.models.reference_nodes import stand_in
from dmlcheck.models.run import ModelExecution
from dmlcheck.running.events import Done, Plan

pytestmark = pytest.mark.usefixtures("folder")

OWN = "com.microsoft"


def groups() -> Any:
    """Return a node that ONNX Runtime has on GPUs alone, between two that its CPU has."""
    nodes = [
        node("Relu", "x", "r", "relu"),
        node("GroupNorm", "r g h", "n", "groups", domain=OWN, groups=2, activation=0, epsilon=1e-5),
        node("Neg", "n", "y", "neg"),
    ]
    return model(nodes, {"x": [1, 3, 3, 8]}, {"y": [1, 3, 3, 8]}, [random("g", 8), random("h", 8)])


def opened(made: Any) -> Loaded:
    found = loaded(Target(save(made), "model.onnx"), ModelRequest(), make("onnxruntime"))
    assert isinstance(found, Loaded)
    return found


def test_the_outputs_follow_from_the_inputs_that_the_node_has() -> None:
    made = opened(groups())
    x = np.random.default_rng(1).standard_normal((1, 3, 3, 8)).astype(np.float32)
    (normal,) = stand_in(made.nodes[1], made, {"r": x}).values()
    grouped = x.reshape(1, 9, 2, 4)
    off = grouped - grouped.mean((1, 3), keepdims=True)
    scale, shift = (np.frombuffer(made.constants[name].raw_data, np.float32) for name in "gh")
    right = (off / np.sqrt((off**2).mean((1, 3), keepdims=True) + 1e-5)).reshape(x.shape) * scale + shift
    np.testing.assert_allclose(normal, right, rtol=1e-4, atol=1e-5)
    assert normal.dtype == np.float32


def test_nothing_stands_in_for_what_the_reference_does_not_compute() -> None:
    made = opened(model([node("Custom", "x", "y", "odd", domain="own")], {"x": [2]}, {"y": [2]}))
    assert stand_in(made.nodes[0], made, {"x": np.ones(2, np.float32)}) == {}
    assert stand_in(made.nodes[0], made, {}) == {}


def test_the_nodes_after_one_that_is_not_supported_are_judged() -> None:
    execution = ModelExecution(Target(save(groups()), "model.onnx"), Plan("onnxruntime"), ModelRequest())
    found = {event.result.case.name: event.result for event in execution.events() if isinstance(event, Done)}
    assert {name: one.outcome for name, one in found.items()} == {
        "relu": "passed", "groups": "skipped", "neg": "passed", "output:y": "passed",
    }  # fmt: skip
    assert found["groups"].reason.startswith("unsupported-by-implementation: ")
    assert found["output:y"].output is not None
    assert 0 < found["output:y"].output.error < found["output:y"].output.tolerance
