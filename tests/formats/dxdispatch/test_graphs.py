"""DirectML graphs that a DxDispatch model dispatches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commandline import dmlcheck, json_of
from dml_graphs import add, gemm, matmul_add, save

from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.files import yaml
from dmlcheck.formats.dxdispatch.read import read_model
from dmlcheck.models.dispatches import evaluate_model

INPUT = {"initialValuesDataType": "FLOAT32", "initialValues": [1, 0, 0, 0, 2]}
OUTPUT = {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 5, "value": 0}}
BINDINGS = {"model_input": "in", "model_output": "out"}


def saved(data: bytes | None = None, bindings: Any = BINDINGS, output: Any = OUTPUT) -> str:
    """Save a model that dispatches a graph, and prints its output, with the graph in a folder below it."""
    Path("graphs").mkdir()
    save(matmul_add() if data is None else data, "graphs/Partition_0.bin")
    np.arange(25, dtype=np.float32).tofile("graphs/w_0.bin")
    model = {
        "resources": {"in": INPUT, "out": output},
        "dispatchables": {"g": {"type": "dmlSerializedGraph", "sourcePath": "graphs/Partition_0.bin"}},
        "commands": [
            {"type": "dispatch", "dispatchable": "g", "bindings": bindings},
            {"type": "print", "resource": "out"},
        ],
    }
    Path("model.json").write_text(json.dumps(model), encoding="utf-8")
    return "model.json"


def dispatched(path: str) -> tuple[tuple[Diagnostic, ...], list[list[float]]]:
    """Return what is wrong with the dispatch of a model, and what it prints of its resource `out` after it."""
    model = read_model(yaml.read(path))
    assert model.problems == ()
    *_, last = evaluate_model(model, ".")
    return last.diagnostics, [values.tolist() for values, _ in last.outputs.values()]


def test_a_graph_is_computed_from_resources_into_resources() -> None:
    """The first row of the weights, 0 to 4, and twice the last, 20 to 24."""
    assert dispatched(saved()) == ((), [[40, 43, 46, 49, 52]])


@pytest.mark.parametrize(
    ("bindings", "rule", "pointer"),
    [
        ({"model_input": "in", "output": "out"}, "unknown-key", "commands[0].bindings.output"),
        ({"model_output": "out"}, "missing-tensor", "commands[0].bindings.model_input"),
        ({"model_input": "in"}, "missing-tensor", "commands[0].bindings.model_output"),
    ],
)
def test_bindings_that_do_not_fit_are_mistakes_of_the_model(bindings: Any, rule: str, pointer: str) -> None:
    (found,), values = dispatched(saved(bindings=bindings))
    assert (found.rule, found.pointer, found.file, values) == (rule, pointer, "model.json", [])
    assert found.line == 1


def test_a_resource_that_is_too_small_is_a_mistake() -> None:
    (found,), _ = dispatched(saved(output={**OUTPUT, "initialValues": {"valueCount": 4, "value": 0}}))
    assert (found.rule, found.pointer) == ("element-count", "commands[0].bindings.model_output")


def test_a_mistake_of_the_graph_stands_in_its_file() -> None:
    (found,), values = dispatched(saved(matmul_add(nodes=[gemm(sizes=(1, 1, 1, 6)), add()])))
    assert (found.rule, found.file) == ("size-mismatch", "graphs/Partition_0.bin")
    assert found.pointer == "nodes[2].desc.OutputTensor.Sizes[3]"
    assert values == []


def test_a_file_that_is_no_graph_is_a_mistake() -> None:
    (found,), _ = dispatched(saved(b""))
    assert (found.rule, found.file) == ("graph-syntax", "graphs/Partition_0.bin")


# ---- commands


def test_validate_checks_the_graph_as_a_whole() -> None:
    result = dmlcheck("validate", saved())
    assert result.exit_code == 0
    assert "graphs/Partition_0.bin is valid from DML_FEATURE_LEVEL_2_0" in result.output
    assert result.output.count("GEMM") == 1


def test_a_graph_that_is_given_too_is_checked_once() -> None:
    result = dmlcheck("validate", saved(), "./graphs/Partition_0.bin", "--format", "json")
    assert [model["file"] for model in json.loads(result.output)["models"]] == ["graphs/Partition_0.bin"]


def test_validate_tells_each_mistake_once() -> None:
    result = dmlcheck("validate", saved(matmul_add(nodes=[gemm(), add(name="lost")])), "--format", "json")
    assert result.exit_code == 1
    descs = json.loads(result.output)["descs"]
    assert [each["rule"] for desc in descs for each in desc["diagnostics"]] == ["dangling-edge"]


def test_run_fails_where_an_edge_leads_nowhere() -> None:
    result = dmlcheck("run", saved(matmul_add(nodes=[gemm(), add(name="lost")])))
    assert result.exit_code in (1, 2)
    assert "dangling-edge" in result.output


def test_import_says_how_a_graph_is_imported() -> None:
    result = dmlcheck("import", "dxdispatch", saved(), "-o", "out")
    assert result.exit_code == 5
    assert "`dmlcheck import graph` makes cases of graphs/Partition_0.bin" in result.output


@pytest.mark.parametrize("command", ["validate", "eval", "run"])
@pytest.mark.parametrize("place", ["absent.bin", "../outside.bin"])
def test_a_graph_that_is_not_in_the_folder_is_wrong_input(command: str, place: str) -> None:
    path = Path(saved())
    path.write_text(path.read_text(encoding="utf-8").replace("graphs/Partition_0.bin", place), encoding="utf-8")
    result = dmlcheck(command, "model.json")
    assert result.exit_code == 2
    assert "model.json:1:" in result.output
    assert f"error[file-not-found]: {place}" in result.output


def test_a_graph_of_several_dispatchables_is_read_once() -> None:
    path = saved()
    model = json_of(path)
    model["dispatchables"]["again"] = model["dispatchables"]["g"]
    Path(path).write_text(json.dumps(model), encoding="utf-8")
    graphs = read_model(yaml.read(path)).graphs
    assert graphs["g"] is graphs["again"]
