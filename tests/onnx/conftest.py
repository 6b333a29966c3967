"""The nodes of ONNX's own tests of operators, for the tests that read them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from dmlcheck.onnx.model.file import Model
from dmlcheck.onnx.model.nodes import ModelNode, UnusableNode, nodes_of

OPSETS = (21, 20, 19, 18, 17, 16, 14, 13, 11)  # where rows of the provider's table begin
# Functions; graphs inside a node, with sizes of their own; windows that begin outside, which older opsets count.
LEFT_OUT = ("_expanded", "flexattention", "last_window_starts_on_pad", "output_size_reduce_by_one")


@pytest.fixture(scope="module")
def nodes() -> list[ModelNode]:
    """Return the nodes of all tests, with all inputs but the first as constants."""
    collect = pytest.importorskip("onnx.backend.test.case.node").collect_testcases
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
        if opset < own and any(isinstance(node.found, UnusableNode) for node in found):
            model.opset_import[0].version = opset
            older = list(nodes_of(Model(model, frozenset())))
            if not any(isinstance(node.found, UnusableNode) for node in older):
                return older
    return found


def with_constants(case: Any) -> Any:
    """Return the model of a test whose small inputs after the first are initializers, as exporters make them."""
    onnx = pytest.importorskip("onnx")
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
