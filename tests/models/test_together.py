"""The whole model run once beside its nodes: what is compared, what is only said, and where it does not run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from run_models import ROUNDED, RUNTIME, Runtime, one_input, onnx, perceptron, runtime
from whole_models import node, save

from dmlcheck.formats.find import Target
from dmlcheck.models.cases import ModelRequest
from dmlcheck.models.run import ModelExecution
from dmlcheck.running.events import Done, Plan, Selection
from dmlcheck.running.results import CaseResult

pytestmark = pytest.mark.usefixtures("folder")

__all__ = ["runtime"]


def together(made: Any, *, case: str | None = None, plan: Plan = Plan(), **asked: Any) -> CaseResult | None:  # noqa: B008
    """Return the case of a model as a whole, None where there is none."""
    request = ModelRequest({"batch": 3})._replace(**asked)
    execution = ModelExecution(Target(save(made), "model.onnx", case), plan._replace(implementation=RUNTIME), request)
    found = [event.result for event in execution.events() if isinstance(event, Done)]
    return next((result for result in found if result.case.name == "together"), None)


def change_whole(monkeypatch: pytest.MonkeyPatch, change: Any) -> None:
    """Change the outputs of all models of more than one node."""
    right = Runtime.run_model

    def changed(self: Runtime, data: bytes, inputs: Mapping[str, Any], keep: list[str]) -> dict[str, Any]:
        found = right(self, data, inputs, keep)
        is_whole = len(onnx.load_from_string(data).graph.node) > 1
        return {name: change(array) for name, array in found.items()} if is_whole else found

    monkeypatch.setattr(Runtime, "run_model", changed)


def test_a_difference_within_the_tolerance_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    change_whole(monkeypatch, lambda array: np.nextafter(array, np.float32(np.inf)))
    assert together(perceptron()) is None


def test_a_difference_beyond_it_is_a_failure_with_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    change_whole(monkeypatch, lambda array: array * np.float32(1.5))
    found = together(perceptron())
    assert found is not None
    assert (found.outcome, found.diagnostics[0].rule) == ("failed", "output-mismatch")
    assert "y differs by 0.5 of the largest element when the whole model runs" in found.diagnostics[0].message
    assert "--bisect" in (found.diagnostics[0].help or "")


def test_other_sizes_are_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    change_whole(monkeypatch, lambda array: array[:1])
    found = together(perceptron())
    assert found is not None
    text = "y is float32 [1, 8] when the whole model runs; the nodes alone give float32 [3, 8]"
    assert (found.outcome, text in found.diagnostics[0].message) == ("failed", True)


def test_where_the_tolerance_is_of_no_use_the_difference_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Det is not computed by the chain."""
    change_whole(monkeypatch, lambda array: array * np.float32(1.25))
    made = one_input([node("Relu", "x", "r", "relu"), node("Det", "r", "y", "det")], [2, 3, 3])
    del made.graph.output[0].type.tensor_type.shape.dim[1:]
    found = together(made)
    assert found is not None
    assert found.outcome == "skipped"
    assert "y differs by 0.25 of the largest element when the whole model runs, and det is not computed" in str(
        found.reason
    )


def test_an_output_that_is_wrong_without_the_whole_too_is_not_called_right(
    runtime: type[Runtime], monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime.factors["softmax"] = ROUNDED
    change_whole(monkeypatch, lambda array: array * np.float32(1.5))
    found = together(perceptron(), case="together")
    assert found is not None
    assert found.outcome == "skipped"
    assert str(found.reason).endswith("when the whole model runs, and is wrong when each node runs alone, too")


def test_a_whole_model_that_does_not_run_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def ends(_: Any) -> Any:
        raise RuntimeError("out of breath")

    change_whole(monkeypatch, ends)
    found = together(perceptron())
    assert found is not None
    assert (found.outcome, "the whole model does not run: " in str(found.reason)) == ("skipped", True)
    assert "out of breath" in str(found.reason)


def test_a_model_with_a_node_that_does_not_run_does_not_run_as_a_whole(runtime: type[Runtime]) -> None:
    runtime.raising.add("bias")
    assert together(perceptron()) is None
    assert all(len(keep) == 1 for keep in runtime.calls)
    found = together(perceptron(), case="together")
    assert found is not None
    assert (found.outcome, found.reason) == ("skipped", "a node of it did not run alone")


@pytest.mark.parametrize(
    ("plan", "asked"),
    [
        (Plan(shard=(1, 1)), {}),
        (Plan(selection=Selection("bias")), {}),
        (Plan(), {"is_whole": True}),
        (Plan(), {"is_bisecting": True}),
    ],
)
def test_it_does_not_run_where_it_is_not_asked_for(
    monkeypatch: pytest.MonkeyPatch, plan: Plan, asked: dict[str, bool]
) -> None:
    change_whole(monkeypatch, lambda array: array * np.float32(1.5))
    assert together(perceptron(), plan=plan, **asked) is None
