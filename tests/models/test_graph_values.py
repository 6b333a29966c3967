"""What `eval` prints of graphs."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from dml_graphs import (
    FLOAT32,
    activation,
    gemm,
    graph,
    matmul_add,
    mutations,
    operator,
    raw_constant,
    save,
    tensor,
    uint32,
)

from dmlcheck.descs.records import TensorDesc
from dmlcheck.diagnostics.record import Checking, Finding, collected
from dmlcheck.formats.dml_graph.graph import read_graph
from dmlcheck.formats.registry import opened
from dmlcheck.graphs.records import GraphFile
from dmlcheck.implementations import make
from dmlcheck.models.dispatches import evaluated_commands
from dmlcheck.models.graph_values import evaluate_graph, evaluated_graph
from dmlcheck.running.evaluate import Evaluated, EvaluationRequest
from dmlcheck.values.layouts import Array

ROW = tensor([1, 1, 1, 5])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.arange(25, dtype=np.float32).tofile("w_0.bin")
    np.savez("in.npz", model_input=np.array([1, 0, 0, 0, 2], dtype=np.float32))


class Values(NamedTuple):
    """What `eval` has of a graph: its outputs, and the remarks on them."""

    evaluated: Evaluated
    remarks: tuple[str, ...]


def values(data: bytes) -> Values:
    *remarks, last = evaluated_graph(opened(save(data)), EvaluationRequest(make("reference"), inputs="in.npz"))
    return Values(last, tuple(one.remark or "" for one in remarks))


def rules(found: Values) -> list[tuple[str, str | None]]:
    return [(each.rule, each.pointer) for each in found.evaluated.diagnostics]


def test_a_constant_that_is_an_output_is_remarked_upon() -> None:
    found = values(graph([raw_constant("c", "y", bytes(4))], [], ["y"]))
    assert dict(found.evaluated.outputs) == {}
    assert found.remarks == ("'y' is not printed: it is a constant, and the file does not say of which type",)


def test_undefined_elements_that_are_read_are_remarked_upon() -> None:
    """ARGMAX of NaN gives any index."""
    np.savez("in.npz", x=np.array([1, np.nan, 3], dtype=np.float32))
    index = tensor([1, 1, 1, 1], "DML_TENSOR_DATA_TYPE_UINT32")
    nodes = [
        operator(
            "top",
            "DML_OPERATOR_TOP_K1",
            {"x": tensor([1, 1, 1, 3])},
            {"value": tensor([1, 1, 1, 1]), "index": index},
            uint32(3),
            uint32(1),
            uint32(1),
        ),
        operator("same", "DML_OPERATOR_ELEMENT_WISE_IDENTITY", {"index": index}, {"again": index}),
    ]
    found = values(graph(nodes, ["x"], ["index", "again"]))
    assert rules(found) == []
    assert found.remarks == ("elements of 'index' are undefined, and with them the results that follow from it",)
    assert found.evaluated.undefined["index"].all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_changed_bytes_end_in_values_or_in_words(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However large the tensors of a changed file are, no more is taken than a small machine has."""
    monkeypatch.setattr("dmlcheck.values.memory.available_bytes", lambda: 300 * 2**20)
    draw = random.Random(seed)  # noqa: S311 - the same bytes on every machine
    fused = operator(
        "fused",
        "DML_OPERATOR_ELEMENT_WISE_ADD1",
        {"product": tensor([1, 1, 1, 5], FLOAT32, strides=[0, 0, 0, 1]), "bias": ROW},
        {"model_output": ROW},
        activation("DML_OPERATOR_ACTIVATION_RELU"),
    )
    change = mutations(matmul_add(nodes=[gemm(), fused]))[seed]
    for _ in range(100):
        found = values(change(draw))
        assert found.evaluated.diagnostics or found.evaluated.outputs or found.remarks


def test_the_commands_of_a_model_give_what_they_print() -> None:
    tensor = {"DataType": "FLOAT32", "Sizes": [2]}
    model = {
        "resources": {name: {"initialValuesDataType": "FLOAT32", "initialValues": [-1, 2]} for name in ("in", "out")},
        "dispatchables": {"relu": {"type": "ACTIVATION_RELU", "desc": {"InputTensor": tensor, "OutputTensor": tensor}}},
        "commands": [
            {"type": "dispatch", "dispatchable": "relu", "bindings": {"InputTensor": "in", "OutputTensor": "out"}},
            {"type": "print", "resource": "out"},
        ],
    }
    Path("model.json").write_text(json.dumps(model), encoding="utf-8")
    dispatched, printed = evaluated_commands(opened("model.json"), EvaluationRequest(make("reference")))
    assert (dispatched.outputs, dispatched.is_done) == ({}, True)
    assert (printed.name, printed.outputs["out"][0].tolist(), printed.outputs["out"][1]) == (None, [0, 2], "FLOAT32")
    Path("model.json").write_text(json.dumps({**model, "resources": 3}), encoding="utf-8")
    (wrong,) = evaluated_commands(opened("model.json"), EvaluationRequest(make("reference")))
    assert (wrong.is_wrong, wrong.diagnostics[0].pointer) == (True, "resources")


# ---- every node of a graph


def given(name: str, tensor: TensorDesc) -> Checking[Array | None]:
    """Give 1, 0, 0, 0, 2 to `model_input`, and nothing to others."""
    if name == "model_input":
        assert tensor.element_count == 5
        return np.array([1, 0, 0, 0, 2], dtype=np.float32).view(np.uint8)
    yield Finding("missing-tensor", (), {"tensor": name, "section": "inputs"})
    return None


def computed(data: bytes) -> tuple[dict[str, list[object]], list[Finding]]:
    path = save(data)
    found = read_graph(path)
    assert isinstance(found, GraphFile)
    results, findings = collected(evaluate_graph(found, given))
    return {name: each.values.reshape(-1).tolist() for name, each in results.outputs.items()}, findings


def test_a_reader_may_have_strides_that_repeat_what_was_written() -> None:
    """RELU writes 1, 0, 0, 0, 2; the sum takes the first two of them for each of two rows."""
    row, two = tensor([1, 1, 1, 5]), tensor([1, 1, 2, 2])
    repeated = tensor([1, 1, 2, 2], total=8, strides=[0, 0, 0, 1])
    nodes = [
        raw_constant("c", "c", np.array([10, 20, 30, 40], dtype=np.float32).tobytes()),
        operator("r", "DML_OPERATOR_ACTIVATION_RELU", {"model_input": row}, {"y": row}),
        operator("a", "DML_OPERATOR_ELEMENT_WISE_ADD", {"y": repeated, "c": two}, {"z": two}),
    ]
    assert computed(graph(nodes, ["model_input"], ["z"])) == ({"z": [11, 20, 31, 40]}, [])
