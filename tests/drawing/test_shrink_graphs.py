"""Graphs that are simpler: their steps still fit, and each of them is valid."""

from __future__ import annotations

import pytest
from valid_descs import tensor, valid

from dmlcheck.descs.records import TensorDesc
from dmlcheck.drawing.graphs import DrawnGraph, DrawnStep
from dmlcheck.drawing.shrink_graphs import (
    GRAPH_STEPS,
    part_of,
    simpler_graphs,
    simpler_steps,
    smaller,
    tensors_of,
    weight_of,
)
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.specs.records import INPUT

X = tensor(1, 2, 6, 6)
RELU = valid("DML_OPERATOR_ACTIVATION_LEAKY_RELU", InputTensor=X, OutputTensor=X, Alpha=0.3)
POOL = valid(
    "DML_OPERATOR_AVERAGE_POOLING",
    InputTensor=X,
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


@pytest.mark.parametrize(
    ("group", "inputs"), [((0,), {"x0"}), ((1, 2), {"t0"}), ((0, 2), {"x0", "t1"}), ((0, 1, 2), {"x0"})]
)
def test_a_tensor_that_no_step_of_a_part_writes_is_its_input(group: tuple[int, ...], inputs: set[str]) -> None:
    part = part_of(GRAPH, group)
    assert part.steps == tuple(GRAPH.steps[at] for at in group)
    assert set(part.inputs) == inputs
    check(part)


def test_sizes_become_smaller_in_all_steps_and_outputs_follow() -> None:
    found = list(smaller(GRAPH, NEWEST_LEVEL))
    for graph in found:
        check(graph)
    sizes = [{name: one.sizes for name, one in tensors_of(graph).items()} for graph in found]
    halved = {"x0": (1, 2, 2, 2), "t0": (1, 2, 2, 2), "t1": (1, 2, 1, 1), "t2": (1, 2, 1, 1)}
    assert halved in sizes
    assert {"x0": (1, 1, 6, 6), "t0": (1, 1, 6, 6), "t1": (1, 1, 3, 3), "t2": (1, 1, 3, 3)} in sizes


def test_inputs_that_have_to_have_the_same_size_are_resized_together() -> None:
    reads = {"ATensor": "x0", "BTensor": "x1"}
    inputs = {name: TensorDesc("FLOAT32", (1, 2, 3, 3)) for name in reads.values()}
    graph = DrawnGraph((DrawnStep(ADD, reads, "t0"),), inputs)
    found = list(smaller(graph, NEWEST_LEVEL))
    assert found
    for one in found:
        check(one)


def test_an_attribute_of_one_step_becomes_simpler() -> None:
    found = list(simpler_steps(GRAPH, NEWEST_LEVEL))
    for graph in found:
        check(graph)
    assert {graph.steps[0].desc["Alpha"] for graph in found} >= {0.0, 1.0}
    assert all(graph.steps[1:] == GRAPH.steps[1:] for graph in found if graph.steps[0] != GRAPH.steps[0])


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
