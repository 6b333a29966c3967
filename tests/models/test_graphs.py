"""DirectML graphs checked: each operator, the edges, and the level of the whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dml_graphs import FLOAT32, add, gemm, graph, matmul_add, one_node, operator, save, tensor

from dmlcheck import load_cases
from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.diagnostics.record import MAX_PROBLEMS
from dmlcheck.formats.dml_graph.graph import read_graph
from dmlcheck.formats.registry import opened
from dmlcheck.graphs.records import GraphFile
from dmlcheck.models.graphs import GraphResult, validated_dispatches, validated_graph
from dmlcheck.running.legality import LevelRequest
from dmlcheck.specs.load import operator_names
from dmlcheck.validation import minimum_level

pytestmark = pytest.mark.usefixtures("folder")

CASES = Path(__file__).parent.parent.parent / "cases"


def checked(data: bytes, level: str | None = None) -> GraphResult:
    return validated_graph(save(data), LevelRequest(level))


def wrong(result: GraphResult) -> list[tuple[str, str, str | None]]:
    return [(entry.name, found.rule, found.pointer) for entry in result.entries for found in entry.diagnostics]


def test_a_graph_is_valid_from_the_level_of_its_most_demanding_node() -> None:
    """GEMM is of DML_FEATURE_LEVEL_1_0, ELEMENT_WISE_ADD1 came with 2_0."""
    result = checked(matmul_add())
    assert {desc.name: (desc.operator, desc.minimum) for desc in result.descs} == {
        "matmul": ("DML_OPERATOR_GEMM", "1_0"),
        "add": ("DML_OPERATOR_ELEMENT_WISE_ADD1", "2_0"),
    }
    assert (result.minimum, result.demanding, result.checked, result.constants) == ("2_0", ("add",), 2, 2)
    assert (wrong(result), result.is_wrong) == ([], False)


def test_edges_that_are_wrong_make_the_graph_valid_at_no_level() -> None:
    result = checked(matmul_add(nodes=[gemm(), add(name="lost")]))
    assert wrong(result) == [("add", "dangling-edge", "nodes[3].desc.ATensor")]
    assert (result.minimum, result.is_wrong) == (None, False)
    assert [desc.minimum for desc in result.descs] == ["1_0", "2_0"]


@pytest.mark.slow
@pytest.mark.parametrize("place", ["name", "operator", "data type", "edge"])
def test_what_is_said_does_not_grow_with_the_names_in_the_file(place: str) -> None:
    long = "A" * 200_000
    node = operator(
        long if place == "name" else "r",
        "DML_OPERATOR_" + (long if place == "operator" else "ACTIVATION_RELU"),
        {long if place == "edge" else "x": tensor([5], long if place == "data type" else FLOAT32)},
        {"y": tensor([5], "B" + long)},
    )
    result = checked(graph([node, add(name="y")], ["x"], ["y", long]))
    assert wrong(result)
    assert len(str(result.entries)) < 20_000


@pytest.mark.slow
def test_nodes_after_too_many_errors_are_not_checked() -> None:
    bad = [
        operator(f"n{index}", "DML_OPERATOR_ACTIVATION_RELU", {"lost": tensor([5])}, {f"y{index}": tensor([5])})
        for index in range(MAX_PROBLEMS + 3)
    ]
    result = checked(graph(bad, [], ["y0"]))
    assert "2 more nodes are not checked" in result.entries[-1].diagnostics[0].message
    assert (len(result.descs), result.minimum) == (MAX_PROBLEMS + 1, None)


def first_descs() -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the first legal desc of every operator that the shipped cases have, with all that a file can hold."""
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for path in sorted(CASES.rglob("*.yaml")):
        if path.parent.name not in found:
            for case in load_cases(str(path)):
                if case.invalid is None and "OWNED_BY_DML" not in str(case.desc) and case.desc:
                    found.setdefault(path.parent.name, (case.operator, dict(case.desc)))
    return found


@pytest.mark.slow
def test_every_operator_comes_back_as_it_was_written() -> None:
    """The desc is written as the format says; what it needs, and every value of it, is what it was before."""
    descs = first_descs()
    assert len(descs) == len(operator_names())
    for operator_name, given in descs.values():
        reading = read_desc(operator_name, given)
        assert reading.desc is not None
        data = one_node(reading.desc)
        found = read_graph(save(data))
        assert isinstance(found, GraphFile)
        made = found.nodes[0]
        again = read_desc(made.operator, made.fields)
        assert (made.findings, again.findings, again.desc is None) == ((), (), False), operator_name
        assert again.desc is not None
        assert same(again.desc.values) == same(reading.desc.values), operator_name
        assert validated_graph("Partition_0.bin", LevelRequest()).minimum == minimum_level(reading), operator_name


def same(value: Any) -> Any:
    """Return a value to compare: nothing for empty lists, floats as FLOAT32 has them, tensors with their sizes."""
    if isinstance(value, TensorDesc):
        return (*value[:3], value.implied_bytes if value.total_size is None else value.total_size)
    if isinstance(value, OperatorDesc):
        return value.spec.operator, same(value.values)
    if isinstance(value, Mapping):
        return {name: same(part) for name, part in value.items() if part not in ((), 0)}
    if isinstance(value, (list, tuple)):
        return [same(part) for part in value]
    return float(np.float32(value)) if isinstance(value, (int, float)) else value


def test_what_is_known_of_compiled_graphs_is_noted_of_a_valid_node() -> None:
    half = tensor([1, 1, 1, 4], "DML_TENSOR_DATA_TYPE_FLOAT16", 8)
    full = tensor([1, 1, 1, 4])
    result = checked(graph([operator("cast", "DML_OPERATOR_CAST", {"x": full}, {"y": half})], ["x"], ["y"]))
    ((note,),) = (desc.notes for desc in result.descs)
    assert "Compiled graphs can give wrong values" in note.message
    assert (note.severity, note.rule, note.file) == ("note", "known-deviation", "Partition_0.bin")
    assert note.pointer is not None
    assert note.pointer.startswith("nodes[0]")
    dangling = checked(graph([operator("cast", "DML_OPERATOR_CAST", {"x": full}, {"y": half})], [], ["y"]))
    assert [desc.notes for desc in dangling.descs] == [()]


# ---- files


def test_a_model_has_its_operators_by_themselves_and_each_graph_once() -> None:
    save(matmul_add())
    relu = {"InputTensor": {"DataType": "FLOAT32", "Sizes": [3]}, "OutputTensor": {"DataType": "FLOAT32", "Sizes": [3]}}
    stored = {"type": "dmlSerializedGraph", "sourcePath": "Partition_0.bin"}
    dispatchables = {"r": {"type": "ACTIVATION_RELU", "desc": relu}, "g": stored, "again": stored}
    model = {"resources": {}, "dispatchables": dispatchables, "commands": []}
    Path("model.json").write_text(json.dumps(model), encoding="utf-8")
    found = validated_dispatches(opened("model.json"), LevelRequest(), {})
    assert [(desc.name, desc.operator) for desc in found.descs] == [("r", "DML_OPERATOR_ACTIVATION_RELU")]
    assert [whole.file for whole in found.wholes] == ["Partition_0.bin"]
