"""A model on its way through the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from run_models import constant, onnx, perceptron, random
from whole_models import FLOAT, model, node, save, tensor

from dmlcheck.formats.find import Target
from dmlcheck.implementations import make
from dmlcheck.models import reference_nodes
from dmlcheck.models.cases import Loaded, ModelRequest, loaded
from dmlcheck.models.reference_nodes import (
    ByEvaluator,
    NodeOutputs,
    ReferenceNodes,
    Uncomputed,
    evaluator_text,
    names_text,
    stand_in,
)
from dmlcheck.models.run import ModelExecution
from dmlcheck.running.events import Done, Plan

pytestmark = pytest.mark.usefixtures("folder")

helper = onnx.helper
X = np.array([3, -4], np.float32)


def way(made: Any, *kept: str, **inputs: Any) -> ReferenceNodes:
    save(made)
    found = loaded(Target("model.onnx", "model.onnx"), ModelRequest({"batch": 3}), None)
    assert isinstance(found, Loaded)
    return ReferenceNodes(found._replace(inputs=inputs or found.inputs), kept)


def failure(made: Any, **inputs: Any) -> Uncomputed:
    last = list(way(made, "y", **inputs).nodes())[-1][1]
    assert isinstance(last, Uncomputed)
    return last


def of_x(nodes: list[Any], constants: list[Any] = [], **more: Any) -> Any:  # noqa: B006
    return model(nodes, {"x": [2]}, {"y": [2]}, constants, **more)


def value(made: Any) -> Any:
    found = way(made, "y", x=X)
    assert all(isinstance(each, NodeOutputs) for _, each in found.nodes())
    return found.value("y").tolist()


@pytest.mark.parametrize("sizes", [[3], [1]])
def test_a_form_of_more_or_fewer_elements_is_an_error(sizes: list[int]) -> None:
    found = failure(of_x([node("Reshape", "x s", "y")], [constant("s", sizes, np.int64)]), x=X)
    assert (found.rule, found.reason.partition(";")[0]) == ("not-mapped", f"Reshape of 2 elements to the sizes {sizes}")


# ---- nodes one after the other


def test_a_tensor_is_let_go_after_its_last_reader() -> None:
    found = way(perceptron(), "y")
    held = [sorted(found.tensors) for _ in found.nodes()]
    assert held == [["m1", "x"], ["a1", "m1"], ["a1", "r1"], ["m2", "r1"], ["m2", "y"]]
    assert list(found.tensors) == ["y"]


def test_outputs_of_sizes_that_do_not_follow_are_left_to_the_evaluator() -> None:
    assert value(of_x([node("NonZero", "x", "n"), node("Cast", "n", "y", to=FLOAT)])) == [[0, 1]]


def test_numbers_of_4_bits_are_those_of_the_constant() -> None:
    packed = helper.make_tensor("q", onnx.TensorProto.INT4, [2], [-8, 7])
    made = of_x([node("DequantizeLinear", "q s", "d"), node("Add", "x d", "y")], [packed, constant("s", 2.0)], opset=21)
    found = way(made, "y", x=X)
    (_, first), _ = found.nodes()
    assert found.value("y").tolist() == [-13, 10]
    assert isinstance(first, NodeOutputs)
    assert first.mapped is not None
    (step,) = first.mapped.graph.steps
    assert step.desc.parts["InputTensor"][0].tensor.data_type == "INT4"


def test_outputs_of_descs_with_strides_are_in_the_order_of_the_model() -> None:
    x = np.arange(1, 7, dtype=np.float32).reshape(1, 1, 2, 3)
    made = node("MaxPool", "x", "y z", kernel_shape=[1, 1], storage_order=1)  # indices count down the columns
    found = way(model([made], {"x": [1, 1, 2, 3]}, {"y": [1, 1, 2, 3], "z": [1, 1, 2, 3]}), "y", "z", x=x)
    list(found.nodes())
    assert found.value("y").tolist() == x.tolist()
    assert found.value("z").tolist() == [[[[0, 2, 4], [1, 3, 5]]]]


# ---- what is not computed


@pytest.mark.parametrize(
    ("made", "rule", "reason"),
    [
        (node("Gadget", "x", "y", domain="own"), "not-mapped", "DirectML has no operator that computes own.Gadget"),
        (node("RandomNormalLike", "x", "y"), "not-mapped", "it draws random numbers"),
        (node("Dropout", "x half yes", "y"), "not-mapped", "it draws random numbers"),
        (node("MatMul", "x w", "y"), "not-mapped", "Incompatible dimensions"),
        (node("ConstantOfShape", "many", "y"), "too-much-work", "its outputs take 3725.3 GiB"),
        (node("Scan", "x", "y", num_scan_inputs=1, body=helper.make_graph([], "g", [], [])), "not-mapped", "Scan"),
    ],
)
def test_a_node_that_neither_computes_says_why(made: Any, rule: str, reason: str) -> None:
    constants = [constant("w", np.ones((3, 2))), constant("many", [10**6, 10**6], np.int64)]
    constants += [constant("half", 0.5), constant("yes", True, bool)]
    found = failure(of_x([made], constants))
    assert (found.rule, reason in found.reason) == (rule, True), found


def test_texts_are_not_computed() -> None:
    found = failure(of_x([node("Cast", "x", "t", to=8), node("Cast", "t", "y", to=FLOAT)]))
    assert found.reason == "it reads texts, whose length has no limit"


def test_dropout_is_computed_where_nothing_trains() -> None:
    assert value(of_x([node("Dropout", "x half no", "y")], [constant("half", 0.5), constant("no", False, bool)])) == [
        3,
        -4,
    ]


# ---- If, Loop and Scan


def branch(name: str, operator: str) -> Any:
    return helper.make_graph([node(operator, "x", name)], name, [], [tensor(name, [2])])


@pytest.mark.parametrize(("condition", "expected"), [(True, [-3, 4]), (False, [3, 4])])
def test_the_branch_of_an_if_is_computed(condition: bool, expected: list[float]) -> None:
    made = node("If", "yes", "y", then_branch=branch("t", "Neg"), else_branch=branch("e", "Abs"))
    assert value(of_x([made], [constant("yes", condition, bool)])) == expected


def doubling(limit: str = "") -> Any:
    """Return the body of a loop that doubles v, gives it in each round, and goes on while its sum is below a limit."""
    nodes = [node("Add", "v v", "doubled"), node("Identity", "doubled", "shown")]
    if limit:
        nodes += [node("ReduceSum", "doubled", "sum", keepdims=0), node("Less", f"sum {limit}", "on")]
    else:
        nodes += [node("Identity", "c", "on")]
    scalar = [helper.make_tensor_value_info(name, kind, []) for name, kind in (("i", 7), ("c", 9), ("on", 9))]
    outputs = [scalar[2], tensor("doubled", [2]), tensor("shown", [2])]
    return helper.make_graph(nodes, "body", [*scalar[:2], tensor("v", [2])], outputs)


def looped(rounds: str, limit: str = "") -> ReferenceNodes:
    constants = [constant("three", 3, np.int64), constant("none", 0, np.int64), constant("most", 10.0)]
    made = of_x([node("Loop", f"{rounds} - x", "y each", "loop", body=doubling(limit))], constants)
    return way(made, "y", "each", x=np.array([1, 2], np.float32))


def test_a_loop_runs_its_rounds_and_gives_what_each_gave() -> None:
    found = looped("three")
    list(found.nodes())
    assert found.value("y").tolist() == [8, 16]
    assert found.value("each").tolist() == [[2, 4], [4, 8], [8, 16]]


def test_a_loop_ends_when_its_condition_does() -> None:
    found = looped("-", "most")
    list(found.nodes())
    assert found.value("each").tolist() == [[2, 4], [4, 8]]


def test_a_loop_without_rounds_gives_no_elements() -> None:
    found = looped("none")
    list(found.nodes())
    assert (found.value("y").tolist(), found.value("each").shape) == ([1, 2], (0, 2))


def scanned(*slices: list[float], **attributes: Any) -> ReferenceNodes:
    """Return a scan that adds up the slices of x, and gives the sum so far as well."""
    nodes = [node("Add", "s v", "sum"), node("Identity", "sum", "shown")]
    names = [[tensor(name, [2]) for name in names] for names in (("s", "v"), ("sum", "shown"))]
    body = helper.make_graph(nodes, "body", *names)
    scan = node("Scan", "zero x", "y each", "scan", body=body, num_scan_inputs=1, **attributes)
    found = way(of_x([scan], [constant("zero", [0.0, 0])]), "y", "each", x=np.array(slices, np.float32).reshape(-1, 2))
    list(found.nodes())
    return found


def test_a_scan_goes_through_its_input() -> None:
    """As test_scan9_sum of onnx."""
    assert scanned([1, 2], [3, 4]).value("y").tolist() == [4, 6]
    assert scanned([1, 2], [3, 4]).value("each").tolist() == [[1, 2], [4, 6]]


def test_a_scan_of_many_turns_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference_nodes, "_MOST_INSIDE", 3)
    body = helper.make_graph([], "body", [tensor("v", [])], [tensor("v", [])])
    made = of_x([node("Scan", "w", "y", body=body, num_scan_inputs=1)], [constant("w", [1.0, 2, 3, 4])])
    assert failure(made).reason == "it takes more than 3 turns"


def test_a_scan_goes_along_other_axes_and_backwards() -> None:
    found = scanned([1, 2], [3, 4], scan_input_axes=[1], scan_input_directions=[1], scan_output_directions=[1])
    assert found.value("y").tolist() == [3, 7]
    assert found.value("each").tolist() == [[3, 7], [2, 4]]


@pytest.mark.parametrize(("rounds", "limit"), [("three", ""), ("-", "most")])
def test_a_loop_of_many_rounds_is_given_up(rounds: str, limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it has a number of rounds, or ends by its condition alone."""
    assert reference_nodes._MOST_INSIDE == 20_000
    monkeypatch.setattr(reference_nodes, "_MOST_INSIDE", 3)
    ((_, found),) = looped(rounds, limit).nodes()
    assert isinstance(found, Uncomputed)
    assert (found.rule, "more than 3 nodes inside of others" in found.reason) == ("too-much-work", True)


def test_a_node_inside_that_is_not_computed_is_named() -> None:
    made = node("If", "yes", "y", then_branch=branch("t", "Gadget"), else_branch=branch("e", "Abs"))
    found = failure(of_x([made], [constant("yes", True, bool)]))
    assert found.reason.startswith("Gadget_0 (Gadget), which is inside of it, is not computed: ")


# ---- words


def test_nodes_of_the_evaluator_are_told_by_operator_and_reason() -> None:
    made = [ByEvaluator(f"s{number}", "Shape-15", "sizes") for number in range(7)]
    assert list(evaluator_text([*made, ByEvaluator("n", "NonZero-13", "open")])) == [
        "Shape-15 (7 nodes: s0, s1, s2, s3, s4 and 2 more) is computed by ONNX's own evaluator: sizes",
        "NonZero-13 (1 node: n) is computed by ONNX's own evaluator: open",
    ]
    assert names_text(["a", "b"]) == "2 nodes: a, b"


# ---- in the place of what an implementation does not support
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
