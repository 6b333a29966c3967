"""Operators that ONNX defines by a function of others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from whole_models import FLOAT, model, node, save

from dmlcheck.onnx.model.inlined_functions import inlined

defs = pytest.importorskip("onnx.defs")
helper = pytest.importorskip("onnx.helper")


def parts(made: Any, opset: int, *kinds: int) -> list[Any]:
    types = [helper.make_tensor_type_proto(kind, [2, 3]) for kind in kinds]
    return inlined(made, defs.get_schema(made.op_type, opset), opset, types, "p/")


def test_an_operator_without_a_function_has_no_parts() -> None:
    assert parts(node("Abs", "a", "b"), 17, FLOAT) == []
    assert parts(node("Softplus", "a", "b"), 17, FLOAT) == []  # its function came with opset 18
    made = node("Gelu", "a", "b")
    assert inlined(made, defs.get_schema("Gelu", 20), 20, [None], "p/") == []


@pytest.mark.parametrize("operator", ["HardSwish", "Mish"])
def test_onnx_runtime_inlines_the_same_operators(
    operator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = pytest.importorskip("onnxruntime")
    load = pytest.importorskip("onnx").load
    monkeypatch.chdir(tmp_path)
    made = node(operator, "x", "y")
    save(model([made], {"x": [2, 3]}, {"y": [2, 3]}, opset=18))
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.optimized_model_filepath = "inlined.onnx"
    options.log_severity_level = 3
    runtime.InferenceSession("model.onnx", options, providers=["CPUExecutionProvider"])
    own = [each.op_type for each in parts(made, 18, FLOAT)]
    assert own == [each.op_type for each in load("inlined.onnx").graph.node]
