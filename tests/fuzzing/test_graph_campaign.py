"""Campaigns of graphs: what is wrong in a node is a reduced case, what is wrong together a model with its inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from valid_descs import tensor, valid

from dmlcheck.cases.records import Case
from dmlcheck.descs.records import TensorDesc
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.drawing.graphs import DrawnGraph, DrawnStep, drawn_graph
from dmlcheck.fuzzing.graph_campaign import (
    GRAPH_STEPS,
    FailingGraph,
    GraphReducer,
    inputs_of,
    is_expressible,
    model_of,
    operators_of,
    part_of,
    save,
    simpler_graphs,
    simpler_steps,
    smaller,
    tensors_of,
    weight_of,
)
from dmlcheck.running.results import FAILED, CaseResult, NodeOfCase, Together
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.specs.records import INPUT

pytest.importorskip("onnx", reason="the extra `onnx` is not installed")

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


# ---- reducing graphs: the steps, sizes and values that a fault needs are left, and nothing else


SIZES = (1, 2, 4, 9)
X = tensor(*SIZES)
STEPS = ("ACTIVATION_RELU", "ELEMENT_WISE_ABS", "ELEMENT_WISE_SQRT", "ELEMENT_WISE_NEGATE", "ELEMENT_WISE_EXP")


def chain() -> DrawnGraph:
    """Return RELU -> ABS -> SQRT -> NEGATE -> EXP."""
    steps = [
        DrawnStep(valid(f"DML_OPERATOR_{name}", InputTensor=X, OutputTensor=X), {"InputTensor": f"t{at - 1}"}, f"t{at}")
        for at, name in enumerate(STEPS)
    ]
    return DrawnGraph(tuple(steps), {"t-1": TensorDesc("FLOAT32", SIZES)})


def result(message: str = "t4 is wrong", **more: Any) -> CaseResult:
    case = Case("model.onnx::x", "x", "model.onnx", "", None, {})
    return CaseResult(case, FAILED, "output mismatch", (Diagnostic("output-mismatch", message),), **more)


TOGETHER = result(together=Together(("a", "b"), ("A", "B")))
NODE = result(node=NodeOfCase("a", "Abs-13"))


class Fault:
    """Judges graphs: wrong with both of two steps, at least three elements in a row, and a value above 2 among them."""

    def __init__(self, first: str, last: str, *wrong: CaseResult) -> None:
        self.names = {f"DML_OPERATOR_{first}", f"DML_OPERATOR_{last}"}
        self.wrong = wrong or (TOGETHER,)
        self.seen: list[str] = []

    def __call__(self, graph: DrawnGraph, inputs: Mapping[str, Any]) -> Sequence[CaseResult]:
        self.seen.append(repr((graph, [array.tolist() for array in inputs.values()])))
        assert graph.inputs.keys() == inputs.keys()
        assert all(inputs[name].shape == one.sizes for name, one in graph.inputs.items())
        has_steps = self.names <= {step.desc.spec.operator for step in graph.steps}
        is_large = any(array.shape[-1] >= 3 and (array > 2).any() for array in inputs.values())
        return self.wrong if has_steps and is_large else ()


def reduced(fault: Fault, start: CaseResult, seconds: float | None = None) -> GraphReducer:
    values = {"t-1": np.full(SIZES, 5.25, np.float32)}
    made = GraphReducer(fault, FailingGraph(chain(), values, start), NEWEST_LEVEL, seconds)
    assert made.ended().is_whole is (seconds is None)
    return made


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "last", "left"),
    [
        ("ELEMENT_WISE_ABS", "ELEMENT_WISE_SQRT", STEPS[1:3]),
        ("ACTIVATION_RELU", "ELEMENT_WISE_SQRT", (STEPS[0], STEPS[2])),
        ("ELEMENT_WISE_ABS", "ELEMENT_WISE_ABS", STEPS[1:2]),
    ],
)
def test_the_steps_the_sizes_and_the_values_that_a_fault_needs_are_left(
    first: str, last: str, left: tuple[str, ...]
) -> None:
    fault = Fault(first, last)
    made = reduced(fault, TOGETHER)
    assert tuple(step.desc.spec.short for step in made.now.graph.steps) == left
    shapes = {array.shape for array in made.now.inputs.values()}
    assert (1, 1, 1, 3) in shapes
    elements = np.concatenate([array.reshape(-1) for array in made.now.inputs.values()])
    assert elements.max() == 3
    assert np.count_nonzero(elements) == 1
    assert len(fault.seen) == len(set(fault.seen)) == made.trials


def test_without_time_the_graph_stays_as_it_is() -> None:
    made = reduced(Fault("ELEMENT_WISE_ABS", "ELEMENT_WISE_SQRT"), TOGETHER, -1.0)
    assert (len(made.now.graph.steps), made.trials) == (5, 0)


@pytest.mark.parametrize(
    ("wrong", "is_taken"), [([TOGETHER], True), ([NODE], False), ([result()], False), ([NODE, TOGETHER], False)]
)
def test_a_graph_that_fails_in_another_way_is_not_taken(wrong: list[CaseResult], is_taken: bool) -> None:
    values = {"t-1": np.full(SIZES, 5.25, np.float32)}
    fault = Fault("ELEMENT_WISE_ABS", "ELEMENT_WISE_SQRT", *wrong)
    made = GraphReducer(fault, FailingGraph(chain(), values, TOGETHER), NEWEST_LEVEL, None)
    assert (made.with_inputs({"t-1": values["t-1"] - 1}) is not None) is is_taken


# ---- smaller graphs


IMAGE = tensor(1, 2, 6, 6)
RELU = valid("DML_OPERATOR_ACTIVATION_LEAKY_RELU", InputTensor=IMAGE, OutputTensor=IMAGE, Alpha=0.3)
POOL = valid(
    "DML_OPERATOR_AVERAGE_POOLING",
    InputTensor=IMAGE,
    OutputTensor=tensor(1, 2, 3, 3),
    Strides=[2, 2],
    WindowSize=[2, 2],
    StartPadding=[0, 0],
    EndPadding=[0, 0],
    IncludePadding=0,
)
SMALL = tensor(1, 2, 3, 3)
ADD = valid("DML_OPERATOR_ELEMENT_WISE_ADD", ATensor=SMALL, BTensor=SMALL, OutputTensor=SMALL)
GRAPH = DrawnGraph(
    (
        DrawnStep(RELU, {"InputTensor": "x0"}, "t0"),
        DrawnStep(POOL, {"InputTensor": "t0"}, "t1"),
        DrawnStep(ADD, {"ATensor": "t1", "BTensor": "t1"}, "t2"),
    ),
    {"x0": TensorDesc("FLOAT32", (1, 2, 6, 6))},
)


def check(graph: DrawnGraph) -> None:
    """Check that what a step reads has the type and the sizes that its desc asks for."""
    tensors = tensors_of(graph)
    for step in graph.steps:
        for part in step.desc.tensors(INPUT):
            there = tensors[step.reads[part.label]]
            assert (there.data_type, there.sizes) == (part.tensor.data_type, part.tensor.sizes)


def test_inputs_that_have_to_have_the_same_size_are_resized_together() -> None:
    reads = {"ATensor": "x0", "BTensor": "x1"}
    inputs = {name: TensorDesc("FLOAT32", (1, 2, 3, 3)) for name in reads.values()}
    graph = DrawnGraph((DrawnStep(ADD, reads, "t0"),), inputs)
    found = list(smaller(graph, NEWEST_LEVEL))
    assert found
    for one in found:
        check(one)


def test_an_optional_tensor_may_be_left_out() -> None:
    a, b, c = tensor(1, 1, 2, 3), tensor(1, 1, 3, 2), tensor(1, 1, 2, 2)
    more = {"TransA": "NONE", "TransB": "NONE", "Alpha": 1.0, "Beta": 1.0}
    gemm = valid("DML_OPERATOR_GEMM", ATensor=a, BTensor=b, CTensor=c, OutputTensor=c, **more)
    reads = {"ATensor": "x0", "BTensor": "x1", "CTensor": "x2"}
    given = zip(reads.values(), (a, b, c), strict=True)
    inputs = {name: TensorDesc("FLOAT32", tuple(one["Sizes"])) for name, one in given}
    graph = DrawnGraph((DrawnStep(gemm, reads, "t0"),), inputs)
    without = [one for one in simpler_steps(graph, NEWEST_LEVEL) if "x2" not in one.inputs]
    assert without
    assert all(
        "CTensor" not in one.steps[0].desc and one.steps[0].reads.keys() == {"ATensor", "BTensor"} for one in without
    )


def test_what_is_simpler_weighs_less_and_fewer_steps_weigh_least() -> None:
    found = [graph for step in GRAPH_STEPS for graph in simpler_graphs(GRAPH, NEWEST_LEVEL, step)]
    assert found
    assert all(weight_of(graph) < weight_of(GRAPH) for graph in found)
    assert all(weight_of(part_of(GRAPH, (0, 1))) < weight_of(graph) for graph in found)


def drawn(number: int) -> DrawnGraph:
    return drawn_graph(operators_of(NAMES), 0, number, NEWEST_LEVEL, is_expressible)


def test_a_graph_is_a_valid_model_that_computes_what_its_steps_do() -> None:
    for number in range(6):
        graph = drawn(number)
        model = model_of(graph)
        onnx.checker.check_model(model, full_check=True)
        assert len(model.graph.node) >= len(graph.steps)
        inputs = inputs_of(graph, 0, number)
        names = [value.name for value in model.graph.input]
        assert ReferenceEvaluator(model).run(None, {name: inputs[name] for name in names})


def test_a_model_is_saved_with_the_inputs_that_it_reads(tmp_path: Path) -> None:
    graph = drawn(1)
    path, inputs = save(model_of(graph), {**inputs_of(graph, 0, 1), "other": np.zeros(3)}, str(tmp_path))
    with np.load(inputs) as found:
        assert set(found) == {one.name for one in onnx.load(path).graph.input}
