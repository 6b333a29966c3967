"""ONNX's own tests of operators, as models: what the provider takes is mapped to legal descs, or has a reason."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from dmlcheck.descs.read import read_desc
from dmlcheck.formats.onnx.foreign_models import fields_of
from dmlcheck.formats.onnx.model_file import Model
from dmlcheck.formats.onnx.model_nodes import ModelNode, Unusable, nodes_of
from dmlcheck.validation import minimum_level

onnx = pytest.importorskip("onnx")
collect = pytest.importorskip("onnx.backend.test.case.node").collect_testcases

OPSETS = (21, 20, 19, 18, 17, 16, 14, 13, 11)  # where rows of the provider's table begin
# Functions; graphs inside a node, with sizes of their own; windows that begin outside, which older opsets count.
LEFT_OUT = ("_expanded", "flexattention", "last_window_starts_on_pad", "output_size_reduce_by_one")
NOT_MAPPED = {"DFT", "STFT", "Resize"}  # which the provider computes by shaders of its own; filters, rounded sizes
# Of version 21, whose scales may be FLOAT16, which the provider does not ask about and DirectML takes at no level.
NEVER_LEGAL = {"QLinearMatMul"}
# Their numbers are inputs of sequences, or what a loop makes.
OPEN = {"Add", "Identity", "Slice"}


@pytest.fixture(scope="module")
def nodes() -> list[ModelNode]:
    """Return the nodes of all tests, with all inputs but the first as constants."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the values that onnx makes
        made = collect(None)
    cases = [case for case in made if case.model is not None and not any(part in case.name for part in LEFT_OUT)]
    return [node for case in cases for node in in_a_registered_opset(with_constants(case))]


def in_a_registered_opset(model: Any) -> list[ModelNode]:
    """Return the nodes of a model in the newest opset that the provider takes them in, or in the model's own."""
    own = model.opset_import[0].version
    found = list(nodes_of(Model(model, frozenset())))
    for opset in OPSETS:
        if opset < own and any(isinstance(node.found, Unusable) for node in found):
            model.opset_import[0].version = opset
            older = list(nodes_of(Model(model, frozenset())))
            if not any(isinstance(node.found, Unusable) for node in older):
                return older
    return found


def with_constants(case: Any) -> Any:
    """Return the model of a test whose small inputs after the first are initializers, as exporters make them."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    graph = model.graph
    if len(graph.node) > 1 or not case.data_sets:
        return model
    for info, values in list(zip(graph.input, case.data_sets[0][0], strict=True))[1:]:
        if isinstance(values, (np.ndarray, np.generic)) and values.dtype.kind in "iuf" and values.size <= 64:
            graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(values), info.name))
    constants = {tensor.name for tensor in graph.initializer}
    kept = [info for info in graph.input if info.name not in constants]
    del graph.input[:]
    graph.input.extend(kept)
    return model


def unusable(nodes: list[ModelNode], rule: str) -> Iterator[str]:
    """Yield the operators of the nodes that have a note of a rule."""
    for node in nodes:
        if isinstance(node.found, Unusable) and node.found.rule == rule:
            yield node.operator.rpartition("-")[0]


@pytest.mark.slow
def test_no_node_is_called_wrong(nodes: list[ModelNode]) -> None:
    assert list(unusable(nodes, "onnx-syntax")) == []


@pytest.mark.slow
def test_what_the_provider_takes_is_mapped(nodes: list[ModelNode]) -> None:
    assert set(unusable(nodes, "not-mapped")) <= NOT_MAPPED
    assert set(unusable(nodes, "unknown-sizes")) <= OPEN
    mapped = Counter(node.operator.rpartition("-")[0] for node in nodes if not isinstance(node.found, Unusable))
    assert len(mapped) > 100
    assert sum(mapped.values()) > 600


@pytest.mark.slow
def test_every_desc_is_legal_at_some_level(nodes: list[ModelNode]) -> None:
    made = [(node, each) for node in nodes if not isinstance(node.found, Unusable) for each in node.found]
    never = [node for node, each in made if minimum_level(read_desc(each.operator, fields_of(each.fields))) is None]
    assert {node.operator.rpartition("-")[0] for node in never} == NEVER_LEGAL
