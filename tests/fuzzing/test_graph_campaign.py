"""Campaigns of graphs: what is wrong in a node is a reduced case, what is wrong together a model with its inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("onnx", reason="the extra `onnx` is not installed")

import numpy as np
import onnx
from commandline import dmlcheck
from onnx.reference import ReferenceEvaluator

from dmlcheck.formats.registry import read_file
from dmlcheck.fuzzing.campaign import CampaignFinding, CampaignRequest, CampaignTally
from dmlcheck.fuzzing.finding_files import FindingFiles
from dmlcheck.fuzzing.graph_campaign import GraphCampaign
from dmlcheck.fuzzing.trials import bench
from dmlcheck.running.settings import Settings

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


class WrongSinInModels(WrongSin):
    """Gives twice the sine in a model; it computes descs rightly."""

    name = "wrong-sin-in-models"

    def changed(self, _: str, values: Any) -> Any:
        return values


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
def test_two_nodes_that_are_wrong_together_are_all_that_their_finding_has_and_it_runs_with_its_folder(
    tmp_path: Path,
) -> None:
    folder, name = str(tmp_path / "x"), "python:test_graph_campaign:WrongTogether"
    result = dmlcheck("fuzz", *NAMES, "--graphs", "--implementation", name, "--examples", "8", "-o", folder)
    assert (result.exit_code, result.output.count("FOUND")) == (1, 1)
    assert result.output.endswith(f"to see them fail: dmlcheck run {folder} --implementation {name}\n")
    (path,) = tmp_path.rglob("model.onnx")
    graph = onnx.load(path).graph
    assert [node.op_type for node in graph.node] == ["Abs", "Add"]
    assert [[size.dim_value for size in one.type.tensor_type.shape.dim] for one in graph.input] == [[1, 1, 1, 1]] * 2
    with np.load(path.with_name("inputs.npz")) as inputs:
        assert [inputs[one.name].tolist() for one in graph.input] == [[[[[0.0]]]]] * 2
    assert dmlcheck("run", folder, "--implementation", name).exit_code == 1
    assert dmlcheck("run", folder).exit_code == 0


@pytest.mark.slow
@pytest.mark.usefixtures("_here")
def test_a_node_that_fails_in_a_model_only_is_a_model_of_this_node(tmp_path: Path) -> None:
    (found,) = campaign(tmp_path / "found", "WrongSinInModels", 4)
    assert found.operator == "Sin-7"
    assert [node.op_type for node in onnx.load(found.path).graph.node] == ["Sin"]
