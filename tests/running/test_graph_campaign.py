"""Campaigns of graphs: what is wrong in a node is a reduced case, what is wrong together a model with its inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("onnx", reason="the extra `onnx` is not installed")

import onnx
from commandline import dmlcheck
from onnx.reference import ReferenceEvaluator

from dmlcheck.drawing.graphs import drawn_graph
from dmlcheck.formats.read import read_file
from dmlcheck.running.campaign import CampaignFinding, CampaignRequest, CampaignTally
from dmlcheck.running.finding_files import FindingFiles
from dmlcheck.running.graph_campaign import GraphCampaign, inputs_of, is_expressible, model_of, operators_of
from dmlcheck.running.one_case import Settings
from dmlcheck.running.trials import bench
from dmlcheck.specs.names import NEWEST_LEVEL

NAMES = tuple(f"DML_OPERATOR_ELEMENT_WISE_{name}" for name in ("ABS", "ADD", "SIN", "MULTIPLY"))


class Evaluator:
    """ONNX's own evaluator as an implementation; it runs descs as the reference engine does."""

    name = "evaluator"
    keeps_time = True

    def unsupported(self, _: Any) -> str | None:
        return None

    def run(self, desc: Any, inputs: dict[str, Any]) -> dict[str, Any]:
        from dmlcheck.reference import engine

        return {name: self.changed(desc.spec.short, values) for name, values in engine.run(desc, inputs).items()}

    def changed(self, _: str, values: Any) -> Any:
        return values

    def run_model(self, model: Any, inputs: dict[str, Any], keep: list[str]) -> dict[str, Any]:
        proto = onnx.load_from_string(model) if isinstance(model, bytes) else onnx.load(model)
        values = ReferenceEvaluator(proto).run(keep, inputs)
        return dict(zip(keep, values, strict=True))


class WrongSin(Evaluator):
    """Gives twice the sine."""

    name = "wrong-sin"

    def changed(self, short: str, values: Any) -> Any:
        return values * 2 if short.endswith("SIN") else values

    def run_model(self, model: Any, inputs: dict[str, Any], keep: list[str]) -> dict[str, Any]:
        proto = onnx.load_from_string(model)
        found = super().run_model(model, inputs, keep)
        sines = {node.output[0] for node in proto.graph.node if node.op_type == "Sin"}
        return {name: values * 2 if name in sines else values for name, values in found.items()}


class WithoutSin(Evaluator):
    """Has no sine: it says so of a desc, and of a model only when it makes it."""

    name = "without-sin"

    def unsupported(self, desc: Any) -> str | None:
        return "no sine here" if desc.spec.short.endswith("SIN") else None

    def run_model(self, model: Any, inputs: dict[str, Any], keep: list[str]) -> dict[str, Any]:
        if any(node.op_type == "Sin" for node in onnx.load_from_string(model).graph.node):
            raise RuntimeError("failed to make the session")
        return super().run_model(model, inputs, keep)


class WrongSinOfModels(WrongSin):
    """Runs models and no descs."""

    name = "wrong-sin-of-models"
    run = None  # type: ignore[assignment]


class WrongTogether(Evaluator):
    """Adds 1 to the outputs of a model with a sum of an absolute value that nobody asks for."""

    name = "wrong-together"

    def run_model(self, model: Any, inputs: dict[str, Any], keep: list[str]) -> dict[str, Any]:
        proto = onnx.load_from_string(model)
        hidden = {node.output[0] for node in proto.graph.node if node.op_type == "Abs"} - {*keep}
        found = super().run_model(model, inputs, keep)
        is_fused = any(node.op_type == "Add" and hidden & {*node.input} for node in proto.graph.node)
        return {name: values + values.dtype.type(is_fused) for name, values in found.items()}


def campaign(folder: Path, name: str, examples: int) -> list[CampaignFinding]:
    return ended(folder, name, examples)[0]


def ended(folder: Path, name: str, examples: int) -> tuple[list[CampaignFinding], CampaignTally]:
    implementation = f"python:test_graph_campaign:{name}"
    asked = CampaignRequest(NAMES, implementation, examples=examples, is_of_graphs=True)
    made = GraphCampaign(asked, bench(implementation, Settings(), 60.0), FindingFiles(str(folder)), Settings(), 60.0)
    found = [event for event in made.events() if isinstance(event, CampaignFinding)]
    made.files.close()
    assert made.tally.compared == examples
    return found, made.tally


@pytest.fixture
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the implementations be found by the name of this module, also by a process of its own."""
    monkeypatch.chdir(Path(__file__).parent)


def test_a_graph_is_a_valid_model_that_computes_what_its_steps_do() -> None:
    for number in range(6):
        drawn = drawn_graph(operators_of(NAMES), 0, number, NEWEST_LEVEL, is_expressible)
        model = model_of(drawn)
        onnx.checker.check_model(model, full_check=True)
        assert len(model.graph.node) >= len(drawn.steps)
        inputs = inputs_of(drawn, 0, number)
        names = [value.name for value in model.graph.input]
        assert ReferenceEvaluator(model).run(None, {name: inputs[name] for name in names})


@pytest.mark.slow
@pytest.mark.usefixtures("_here")
def test_a_right_implementation_has_no_findings(tmp_path: Path) -> None:
    assert campaign(tmp_path / "found", "Evaluator", 2) == []


@pytest.mark.slow
@pytest.mark.usefixtures("_here")
@pytest.mark.parametrize("name", ["WrongSin", "WrongSinOfModels"])
def test_a_node_that_is_wrong_is_a_reduced_case(tmp_path: Path, name: str) -> None:
    found = campaign(tmp_path / "found", name, 4)
    assert [one.operator for one in found] == ["DML_OPERATOR_ELEMENT_WISE_SIN"]
    (case,) = read_file(found[0].path).cases
    assert case.desc["InputTensor"]["Sizes"] in ([1], [1, 1, 1, 1])


@pytest.mark.slow
@pytest.mark.usefixtures("_here")
def test_nodes_that_are_not_supported_are_skipped_each_time_and_fail_nowhere(tmp_path: Path) -> None:
    found, tally = ended(tmp_path / "found", "WithoutSin", 6)
    assert found == []
    assert tally.repeated.total() == 0
    ((why, count),) = tally.reasons.items()
    assert why.startswith("Sin-")
    assert why.endswith("nothing was compared: unsupported-by-implementation: no sine here")
    assert count > 1


@pytest.mark.slow
@pytest.mark.usefixtures("_here")
def test_nodes_that_are_wrong_together_are_found_once_and_run_again_as_a_model(tmp_path: Path) -> None:
    words = (
        "--implementation",
        "python:test_graph_campaign:WrongTogether",
        "--examples",
        "8",
        "-o",
        str(tmp_path / "x"),
    )
    result = dmlcheck("fuzz", *NAMES[:2], "--graphs", *words)
    assert (result.exit_code, result.output.count("FOUND")) == (1, 1)
    assert "  again: dmlcheck run " in result.output
    assert "to see them fail" not in result.output  # no case was written
    (model,) = tmp_path.rglob("model.onnx")
    assert model.with_name("inputs.npz").is_file()
