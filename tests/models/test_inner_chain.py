"""If, Loop and Scan judged by the chain through their graphs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from run_models import ROUNDED, RUNTIME, Runtime, constant, onnx, runtime
from whole_models import INT64, model, node, save, tensor

from dmlcheck.formats.find import Target
from dmlcheck.models import inner_chain
from dmlcheck.models.cases import ModelRequest
from dmlcheck.models.run import ModelExecution
from dmlcheck.running.events import Done, Plan
from dmlcheck.running.results import CaseResult

pytestmark = pytest.mark.usefixtures("folder")

__all__ = ["runtime"]
helper = onnx.helper
BOOL = 9


def results(made: Any) -> dict[str, CaseResult]:
    execution = ModelExecution(Target(save(made), "model.onnx", None), Plan(implementation=RUNTIME), ModelRequest())
    return {event.result.case.name: event.result for event in execution.events() if isinstance(event, Done)}


def outcomes(made: Any) -> dict[str, str]:
    return {name: result.outcome for name, result in results(made).items()}


def graph(nodes: list[Any], inputs: list[Any], outputs: list[Any], constants: Any = ()) -> Any:
    return helper.make_graph(nodes, "inner", inputs, outputs, list(constants))


def body_of(nodes: list[Any], carried: list[Any], outputs: list[Any], constants: Any = ()) -> Any:
    inputs = [tensor("i", [], INT64), tensor("on", [], BOOL), *carried]
    return graph(nodes, inputs, [tensor("go", [], BOOL), *outputs], constants)


def growing(trips: int) -> Any:
    """Return a loop that makes its tensor longer, and gives the largest share of each turn."""
    nodes = [
        node("Concat", "a one", "b", axis=1),
        node("Softmax", "b", "s", axis=1),
        node("ReduceMax", "s", "most", axes=[1], keepdims=0),
        node("Identity", "on", "go"),
    ]
    outputs = [tensor("b", [1, "n"]), tensor("most", [1])]
    body = body_of(nodes, [tensor("a", [1, "m"])], outputs, [constant("one", [[1.0]])])
    loop = node("Loop", "n - x", "last all", "loop", body=body)
    made = model([loop], {"x": [1, 3]}, {"last": [1, "k"]}, [constant("n", trips, np.int64)])
    made.graph.output.append(tensor("all", [trips, 1]))
    return made


def test_all_turns_of_a_loop_are_judged(runtime: type[Runtime]) -> None:
    assert outcomes(growing(3)) == dict.fromkeys(["loop", "output:last", "output:all"], "passed")
    runtime.factors["loop"] = ROUNDED
    assert outcomes(growing(3)) == {"loop": "failed", "output:last": "failed", "output:all": "passed"}


def test_a_loop_ends_where_its_condition_does() -> None:
    """Twice 1.5 is 3, and twice that is beyond 4; a choice inside doubles."""
    double = graph([node("Add", "a a", "t")], [], [tensor("t", [])])
    same = graph([node("Identity", "a", "e")], [], [tensor("e", [])])
    nodes = [node("If", "on", "b", then_branch=double, else_branch=same), node("Less", "b four", "go")]
    body = body_of(nodes, [tensor("a", [])], [tensor("b", [])], [constant("four", 4.0)])
    loop = node("Loop", "- yes start", "y", "loop", body=body)
    constants = [constant("yes", True, bool)]
    made = model([node("Abs", "x", "p"), loop], {"x": []}, {"y": []}, constants)
    made.graph.node[0].output[0] = "start"
    assert outcomes(made) == {"Abs_0": "passed", "loop": "passed", "output:y": "passed"}


def test_a_loop_of_other_sizes_is_wrong(runtime: type[Runtime], monkeypatch: pytest.MonkeyPatch) -> None:
    right = Runtime.run_model

    def cut(self: Runtime, data: bytes, inputs: Any, keep: list[str]) -> dict[str, Any]:
        return {name: array[..., :-1] for name, array in right(self, data, inputs, keep).items()}

    monkeypatch.setattr(Runtime, "run_model", cut)
    found = results(growing(2))["loop"]
    assert (found.outcome, found.diagnostics[0].message) == (
        "failed",
        "last is float32 {1, 4}; it must be float32 {1, 5}",
    )
    assert runtime is Runtime


def test_a_loop_without_a_turn_has_empty_results_that_are_not_judged() -> None:
    found = results(growing(0))
    assert (found["loop"].outcome, found["loop"].reason) == (
        "skipped",
        "not-mapped: its output all is no tensor that the reference has",
    )
    assert found["output:last"].outcome == "passed"


def test_a_loop_of_no_nodes_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inner_chain, "_MOST", 5)
    body = graph([], [tensor("i", [], INT64), tensor("on", [], BOOL), tensor("a", [2])],
                 [tensor("on", [], BOOL), tensor("a", [2])])  # fmt: skip
    loop = node("Loop", "n - x", "y", "loop", body=body)
    found = results(model([loop], {"x": [2]}, {"y": [2]}, [constant("n", 9, np.int64)]))["loop"]
    assert (found.outcome, found.reason) == ("skipped", "not-mapped: more than 5 rounds of it are not followed")


def scanning(**attributes: Any) -> Any:
    """Return a scan whose state is the softmax of its sum with each slice, and that gives each state's square."""
    nodes = [node("Add", "s v", "a"), node("Softmax", "a", "b", axis=0), node("Mul", "b b", "square")]
    body = graph(nodes, [tensor("s", [3]), tensor("v", [3])], [tensor("b", [3]), tensor("square", [3])])
    scan = node("Scan", "start x", "last all", "scan", body=body, num_scan_inputs=1, **attributes)
    made = model([scan], {"x": [3, 3]}, {"last": [3]}, [constant("start", [0.1, 0.2, 0.3])])
    made.graph.output.append(tensor("all", [3, 3]))
    return made


@pytest.mark.slow
@pytest.mark.parametrize(
    "attributes", [{}, {"scan_input_axes": [1], "scan_output_axes": [1], "scan_output_directions": [1]}]
)
def test_all_turns_of_a_scan_are_judged(runtime: type[Runtime], attributes: dict[str, Any]) -> None:
    assert outcomes(scanning(**attributes)) == dict.fromkeys(["scan", "output:last", "output:all"], "passed")
    runtime.factors["scan"] = ROUNDED
    assert outcomes(scanning(**attributes))["scan"] == "failed"


def test_a_scan_of_no_nodes_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inner_chain, "_MOST", 5)
    body = graph([], [tensor("v", [2])], [tensor("v", [2])])
    found = results(model([node("Scan", "x", "y", "scan", body=body, num_scan_inputs=1)], {"x": [9, 2]}, {"y": [9, 2]}))
    assert found["scan"].reason == "not-mapped: more than 5 turns of it are not followed"


@pytest.mark.parametrize(
    ("change", "outcome"), [(lambda rows: rows[:1], "skipped"), (lambda rows: rows.astype(np.int32), "failed")]
)
def test_another_number_of_selected_boxes_inside_is_no_failure(
    monkeypatch: pytest.MonkeyPatch, change: Any, outcome: str
) -> None:
    """Errors may decide how many there are."""
    constants = [constant("b", [[[0, 0, 1, 1], [3, 3, 4, 4]]]), constant("most", [2], np.int64)]
    branches = [
        graph([node("NonMaxSuppression", "b s most", name, "nms")], [], [tensor(name, ["n", 3], INT64)], constants)
        for name in ("r", "q")
    ]
    boxes = node("If", "on", "y", "if", then_branch=branches[0], else_branch=branches[1])
    made = model([node("Exp", "x", "s"), boxes], {"x": [1, 1, 2]}, {}, [constant("on", True, np.bool_)])
    made.graph.output.append(tensor("y", ["n", 3], INT64))
    right = Runtime.run_model

    def changed(self: Runtime, data: bytes, inputs: Mapping[str, Any], keep: list[str]) -> dict[str, Any]:
        found = right(self, data, inputs, keep)
        return {name: change(array) if name == "y" else array for name, array in found.items()}

    monkeypatch.setattr(Runtime, "run_model", changed)
    found = results(made)["if"]
    assert found.outcome == outcome
    assert ("nms is not computed" in (found.reason or "")) is (outcome == "skipped")


def test_what_is_not_followed_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inner_chain, "_MOST", 5)
    found = results(growing(3))["loop"]
    assert (found.outcome, found.reason) == (
        "skipped",
        "not-mapped: more than 5 nodes inside of it are not followed",
    )
    inner = graph([node("RandomNormalLike", "x", "r")], [], [tensor("r", [4])])
    choice = node("If", "c", "y", "choice", then_branch=inner, else_branch=inner)
    made = model([choice], {"x": [4]}, {"y": [4]}, [constant("c", True, bool)])
    assert "which is inside of it, is not computed: it draws random numbers" in str(results(made)["choice"].reason)
