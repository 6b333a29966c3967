"""Indices that roundings decide: the chain goes on with the implementation's where they are possible."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commandline import dmlcheck
from run_models import RUNTIME, Runtime, constant, runtime
from whole_models import model, node, numbers, save

from dmlcheck.formats.find import Target
from dmlcheck.models.cases import ModelRequest
from dmlcheck.models.run import ModelExecution
from dmlcheck.reports import reading
from dmlcheck.running.events import Done, Plan
from dmlcheck.running.results import CaseResult

onnx = pytest.importorskip("onnx", reason="the package onnx is not installed")

pytestmark = pytest.mark.usefixtures("folder")
__all__ = ["runtime"]

X = np.array([[0.5, 0.5, -1.0, 0.25]], np.float32)  # the first two have the same score, which is rounded
NODES = {
    "ArgMax": node("ArgMax", "s", "i", "top", axis=1, keepdims=1),
    "ArgMin": node("ArgMin", "s", "i", "top", axis=1, keepdims=1),
    "TopK": node("TopK", "s k", "v i", "top", axis=1),
    "Hardmax": node("Hardmax", "s", "i", "top", axis=1),
    "least": node("TopK", "s k", "v i", "top", axis=1, largest=0),
}


def chooser(kind: str) -> Any:
    """Return a model that takes from a table what its scores choose."""
    taken = node("MatMul", "i t", "y", "taken") if kind == "Hardmax" else node("Gather", "t i", "y", "taken")
    nodes = [node("Exp", "x", "s", "scores"), NODES[kind], taken]
    table = constant("t", [10.0, 20.0, 30.0, 40.0])
    return model(nodes, {"x": [1, 4]}, {"y": [1] if kind == "Hardmax" else [1, 1]}, [numbers("k", [1]), table])


def results(kind: str, **asked: Any) -> dict[str, CaseResult]:
    return run(chooser(kind), -X if kind in ("ArgMin", "least") else X, **asked)


def run(made: Any, x: Any, **asked: Any) -> dict[str, CaseResult]:
    np.savez("x.npz", x=x)
    target = Target(save(made), "model.onnx", asked.pop("case", None))
    execution = ModelExecution(target, Plan(implementation=RUNTIME), ModelRequest(inputs="x.npz"))
    return {event.result.case.name: event.result for event in execution.events() if isinstance(event, Done)}


def change(monkeypatch: pytest.MonkeyPatch, name: str, element: Any) -> None:
    """Change the first element of what a node gives alone, or of the outputs of the whole model."""
    right = Runtime.run_model

    def changed(self: Runtime, data: bytes, inputs: Mapping[str, Any], keep: list[str]) -> dict[str, Any]:
        found = right(self, data, inputs, keep)
        names = [each.name for each in onnx.load_from_string(data).graph.node]
        if names == [name] or (name == "" and len(names) > 1):
            for array in found.values():
                array.reshape(-1)[0] = element(array.reshape(-1)[0])
        return found

    monkeypatch.setattr(Runtime, "run_model", changed)


@pytest.mark.parametrize("kind", NODES)
@pytest.mark.parametrize("to", [-np.inf, np.inf])
def test_any_choice_that_roundings_allow_is_followed(
    runtime: type[Runtime], monkeypatch: pytest.MonkeyPatch, kind: str, to: float
) -> None:
    change(monkeypatch, "scores", lambda score: np.nextafter(np.float32(score), np.float32(to)))
    found = results(kind)
    assert runtime.calls
    whole = found.pop("together", None)  # where it chooses the other one
    assert whole is None or whole.outcome == "skipped"
    assert {name: result.outcome for name, result in found.items()} == dict.fromkeys(
        ["scores", "top", "taken", "output:y"], "passed"
    )


def test_the_node_that_chooses_is_told() -> None:
    np.savez("x.npz", x=X)
    path = save(chooser("ArgMax"), "model.onnx")
    found = dmlcheck("run", str(path), "--implementation", RUNTIME, "--inputs", "x.npz", "--json", "report.json", "-v")
    said = "errors may decide the results of top, and the reference went on with the implementation's\n"
    assert (found.exit_code, said in found.output) == (0, True), found.output
    cases = json.loads(Path("report.json").read_text(encoding="utf-8"))["cases"]
    chosen = next(case for case in cases if case["name"] == "output:y")
    assert chosen["output"]["choice"] == "top"
    assert reading.case_result(chosen).output.choice == "top"  # type: ignore[union-attr]


@pytest.mark.parametrize("kind", NODES)
def test_a_choice_that_no_rounding_explains_is_not_followed(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    is_float = kind == "Hardmax"
    change(monkeypatch, "top", lambda found: 1 - found if is_float else 2 if found.dtype.kind == "i" else found)
    found = results(kind)
    assert (found["top"].outcome, found["output:y"].outcome) == ("failed", "skipped")
    assert "the carried tolerance becomes infinite in top" in (found["output:y"].reason or "")


@pytest.mark.parametrize("kind", ["TopK", "ArgMin"])
def test_the_whole_model_may_choose_otherwise(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    change(monkeypatch, "", lambda number: 50 - number)
    found = results(kind, case="together")["together"]
    assert found.outcome == "skipped"
    assert (found.reason or "").endswith("when the whole model runs, and follows from what top chooses or rounds")


def selector() -> Any:
    """Return a model that takes from a table the boxes that it selects: the first two overlap."""
    boxes = constant("b", [[[0, 0, 2, 2], [0, 0.5, 2, 2.5], [8, 8, 9, 9], [5, 5, 6, 6]]])
    nodes = [
        node("Exp", "x", "s", "scores"),
        node("NonMaxSuppression", "b s m i l", "r", "nms"),
        node("Gather", "r c", "n", "column", axis=1),
        node("Gather", "t n", "y", "taken"),
    ]
    numbers_of = [numbers("m", [4]), numbers("c", [2]), constant("i", [0.5]), constant("l", [1.0])]
    table = constant("t", [10.0, 20.0, 30.0, 40.0])
    return model(nodes, {"x": [1, 1, 4]}, {"y": ["rows", 1]}, [boxes, *numbers_of, table])


def selected(x: Any, **asked: Any) -> dict[str, CaseResult]:
    return run(selector(), np.array([[x]], np.float32), **asked)


@pytest.mark.parametrize("to", [-np.inf, np.inf])
def test_boxes_that_roundings_select_are_followed(monkeypatch: pytest.MonkeyPatch, to: float) -> None:
    change(monkeypatch, "scores", lambda score: np.nextafter(np.float32(score), np.float32(to)))
    found = selected([0.5, 0.5, -1.0, 0.25])
    found.pop("together", None)  # where it selects the other one
    assert {name: result.outcome for name, result in found.items()} == dict.fromkeys(
        ["scores", "nms", "column", "taken", "output:y"], "passed"
    )


def test_a_selected_box_of_a_lower_score_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Runtime.run_model

    def changed(self: Runtime, data: bytes, inputs: Mapping[str, Any], keep: list[str]) -> dict[str, Any]:
        found = right(self, data, inputs, keep)
        return {name: array[:, [0, 1, 1]] if name == "r" else array for name, array in found.items()}

    monkeypatch.setattr(Runtime, "run_model", changed)
    found = selected([0.5, 0.4, -1.0, 0.25])
    assert (found["nms"].outcome, found["output:y"].outcome) == ("failed", "skipped")
    assert "nms is not computed: its outputs are wrong" in (found["output:y"].reason or "")


def test_the_whole_model_may_select_another_number_of_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Runtime.run_model

    def changed(self: Runtime, data: bytes, inputs: Mapping[str, Any], keep: list[str]) -> dict[str, Any]:
        found = right(self, data, inputs, keep)
        is_whole = len(onnx.load_from_string(data).graph.node) > 1
        return {name: array[:1] if is_whole else array for name, array in found.items()}

    monkeypatch.setattr(Runtime, "run_model", changed)
    found = selected([0.5, 0.5, -1.0, 0.25], case="together")["together"]
    assert (found.outcome, (found.reason or "").endswith("follows from what nms chooses or rounds")) == (
        "skipped",
        True,
    )


# ---- choices after a node that is wrong


TAKEN = node("Gather", "t i", "y", "taken")
TABLE = constant("t", [10.0, 20.0, 30.0, 40.0])


def test_what_is_not_computed_is_not_taken_from_an_index_that_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = [
        node("ArgMax", "x", "i", "top", axis=1, keepdims=1),
        node("Equal", "i all", "is_it", "marks"),
        node("NonZero", "is_it", "places", "places"),
        node("Gather", "t places", "y", "taken"),
    ]
    made = model(nodes, {"x": [1, 4]}, {"y": [2, 1]}, [numbers("all", [0, 1, 2, 3]), TABLE])
    assert run(made, X)["output:y"].outcome == "passed"
    change(monkeypatch, "top", lambda _: 2)
    found = run(made, X)
    assert (found["top"].outcome, found["output:y"].outcome) == ("failed", "skipped")
    assert "places is not computed" in (found["output:y"].reason or "")


def test_no_choice_is_followed_after_a_node_that_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = [
        node("Asin", "x", "a", "angle"),
        node("Mul", "a one", "s", "scores"),
        node("ArgMax", "s", "i", "top", axis=1, keepdims=1),
        TAKEN,
    ]
    made = model(nodes, {"x": [1, 4]}, {"y": [1, 1]}, [constant("one", [1.0]), TABLE])
    assert run(made, X)["output:y"].outcome == "passed"
    change(monkeypatch, "scores", lambda score: score + np.float32(3e-5))  # asin may be off by more
    found = run(made, X)
    assert (found["scores"].outcome, found["top"].outcome, found["output:y"].outcome) == ("failed", "passed", "skipped")


# ---- right results that differ by much: of functions with wide limits, and of integers inside of a node


def amplified(nodes: list[Any], given: list[Any], count: int, many: float) -> Any:
    """Return a model of nodes that give `a`, which is multiplied until its errors decide all of its sine."""
    more = [node("Mul", "a many", "s", "larger"), node("Sin", "s", "y", "last")]
    sizes = [1, count]
    return model([*nodes, *more], {"x": sizes}, {"y": sizes}, [*given, constant("many", [many])])


@pytest.mark.parametrize("operator", ["Sin", "Cos"])
def test_results_of_functions_with_wide_limits_are_taken(monkeypatch: pytest.MonkeyPatch, operator: str) -> None:
    made = amplified([node(operator, "x", "a", "angle")], [], 4, 1e4)
    x = np.array([[0.01, 0.02, -0.01, 3.14]], np.float32)
    assert run(made, x)["output:y"].outcome == "passed"
    change(monkeypatch, "angle", lambda number: number + np.float32(5e-4))  # within the limit
    assert run(made, x)["output:y"].outcome == "passed"
    change(monkeypatch, "angle", lambda number: number + np.float32(2e-3))
    found = run(made, x)
    assert (found["angle"].outcome, found["output:y"].outcome) == ("failed", "skipped")


def test_results_of_functions_with_wide_limits_are_not_taken_where_the_angle_is_not_known() -> None:
    nodes = [node("Sin", "x", "a", "angle"), node("Mul", "a large", "b", "angles"), node("Sin", "b", "y", "last")]
    made = model(nodes, {"x": [1, 4]}, {"y": [1, 4]}, [constant("large", [1e9])])
    found = run(made, X)["output:y"]
    assert found.outcome == "skipped", found


@pytest.mark.parametrize("kind", ["dynamic", "bits"])
def test_what_is_rounded_to_integers_inside_of_a_node_is_taken(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    places = (np.arange(16) * 17 + 0.5) / 255  # of 255 steps to 1; all but the last are halves
    places[-1] = 1
    x = np.sin(places).astype(np.float32).reshape(1, 16)
    if kind == "dynamic":
        inner = node("DynamicQuantizeMatMul", "r w scale", "a", "product", domain="com.microsoft")
        given = [constant("w", np.eye(16) * 100, np.int8), constant("scale", [0.01])]
    else:
        fields = {"K": 16, "N": 16, "bits": 4, "block_size": 16, "accuracy_level": 4}
        inner = node("MatMulNBits", "r w scale", "a", "product", domain="com.microsoft", **fields)
        given = [constant("w", np.full((16, 1, 8), 0x77), np.uint8), constant("scale", np.full(16, 0.01))]
    made = amplified([node("Asin", "x", "r", "angle"), inner], given, 16, 1e5)
    assert run(made, x)["output:y"].outcome == "passed"
    change(monkeypatch, "product", lambda number: number + np.float32(0.05))
    found = run(made, x)
    assert (found["product"].outcome, found["output:y"].outcome) == ("failed", "skipped")
