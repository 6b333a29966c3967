"""Random graphs: of 2 to 8 steps whose types and sizes fit, some with a tensor that is read twice."""

from __future__ import annotations

from collections import Counter

import pytest

from dmlcheck.drawing.graphs import LEAST, MOST, DrawnGraph, drawn_graph, suits
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.specs.records import INPUT

OPERATORS = tuple(name for name in operator_names() if suits(load_spec(name)))


def drawn(number: int, seed: int = 0) -> DrawnGraph:
    return drawn_graph(OPERATORS, seed, number, NEWEST_LEVEL, lambda _: True)


def test_what_a_step_reads_is_there_with_the_type_and_the_sizes_that_it_asks_for() -> None:
    for number in range(20):
        graph = drawn(number)
        tensors = dict(graph.inputs)
        for step in graph.steps:
            for part in step.desc.tensors(INPUT):
                there = tensors[step.reads[part.label]]
                assert (there.data_type, there.sizes) == (part.tensor.data_type, part.tensor.sizes)
            tensors[step.writes] = step.desc["OutputTensor"]


@pytest.mark.slow
def test_graphs_have_2_to_8_steps_and_some_are_diamonds() -> None:
    graphs = [drawn(number) for number in range(60)]
    counts = Counter(len(graph.steps) for graph in graphs)
    assert set(counts) - {0} == set(range(LEAST, MOST + 1))
    assert counts[0] <= 2
    reads = [Counter(name for step in graph.steps for name in step.reads.values()) for graph in graphs]
    assert sum(max(counted.values()) > 1 for counted in reads if counted) > 15


def test_a_graph_is_the_same_for_a_seed_and_another_for_another() -> None:
    assert drawn(3) == drawn(3)
    assert drawn(3) != drawn(3, seed=1)


def test_only_what_is_taken_is_a_step() -> None:
    graph = drawn_graph(OPERATORS, 0, 0, NEWEST_LEVEL, lambda desc: desc.spec.short == "ELEMENT_WISE_ABS")
    assert {step.desc.spec.short for step in graph.steps} <= {"ELEMENT_WISE_ABS"}


def test_operators_whose_inputs_mean_places_are_no_steps() -> None:
    assert not suits(load_spec("DML_OPERATOR_GATHER"))
    assert not suits(load_spec("DML_OPERATOR_SPLIT"))
    assert suits(load_spec("DML_OPERATOR_GEMM"))
