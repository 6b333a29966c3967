"""Random graphs as ONNX models."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the extra `onnx` is not installed")

import onnx
from onnx.reference import ReferenceEvaluator

from dmlcheck.drawing.graphs import DrawnGraph, drawn_graph
from dmlcheck.fuzzing.drawn_models import inputs_of, is_expressible, model_of, operators_of, save
from dmlcheck.specs.names import NEWEST_LEVEL

NAMES = tuple(f"DML_OPERATOR_ELEMENT_WISE_{name}" for name in ("ABS", "ADD", "SIN", "MULTIPLY"))


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
