"""A model as cases: plain descs."""

from __future__ import annotations

import json
from pathlib import Path

from commandline import dmlcheck
from dml_graphs import add, gemm, graph, matmul_add, operator, raw_constant, save, tensor
from dxdispatch_models import DESC, TEXT

from dmlcheck.cases.records import Case
from dmlcheck.diagnostics.record import Finding
from dmlcheck.formats.dml_graph.graph import read_graph
from dmlcheck.formats.dxdispatch.read import node_cases
from dmlcheck.formats.registry import read_file
from dmlcheck.graphs.records import GraphFile
from dmlcheck.validation import validate


def test_an_operator_of_a_model_is_a_plain_desc(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(TEXT, encoding="utf-8")
    file = read_file(str(path))
    (case,) = file.cases
    assert case.id == f"{path.as_posix()}::the first"
    assert (case.name, case.operator, case.desc) == ("the first", "DML_OPERATOR_ARGMAX", DESC)
    assert case.is_plain_desc
    assert case.position == (9, 22, 1)
    assert (file.problems, file.broken) == ((), {})
    assert validate(case.operator, case.desc, "6_4")[1] == []
    given = read_file(str(path), "models/model.json")
    assert [case.id for case in given.cases] == ["models/model.json::the first"]


def test_what_is_not_directml_is_noted_and_not_checked(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(TEXT, encoding="utf-8")
    (note,) = read_file(str(path)).notes
    assert (note.rule, note.severity, note.pointer) == ("not-directml", "note", "dispatchables.shader")
    assert (note.line, note.column) == (19, 19)
    assert note.message == "the dispatchable shader is of type HLSL, not a DirectML operator; it is not checked"


def test_what_is_not_directml_breaks_nothing(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text('{"resources": {}, "dispatchables": {"a": {"type": "hlsl"}}, "commands": []}', encoding="utf-8")
    done = dmlcheck("validate", str(path), "--format", "json")
    read = json.loads(done.stdout)
    assert (done.exit_code, read["valid"], [desc["valid"] for desc in read["descs"]]) == (0, True, [True])


# ---- graphs

ROW = tensor([1, 1, 1, 5])


def cases(data: bytes, folder: Path) -> list[tuple[Case, list[Finding]]]:
    found = read_graph(save(data, str(folder / "g.bin")))
    assert isinstance(found, GraphFile)
    return node_cases(found, Case("m.json::g", "g", "m.json", "", None, {}))


def test_an_operator_is_a_plain_desc_named_after_its_dispatchable(tmp_path: Path) -> None:
    (matmul, of_matmul), (added, of_added) = cases(matmul_add(), tmp_path)
    assert (matmul.id, matmul.name, matmul.file) == ("m.json::g/matmul", "g/matmul", "m.json")
    assert (matmul.operator, matmul.is_plain_desc) == ("DML_OPERATOR_GEMM", True)
    assert added.desc["BTensor"] == {"DataType": FLOAT32, "Sizes": [1, 1, 1, 5], "TotalTensorSizeInBytes": 20}
    assert (of_matmul, of_added) == ([], [])


FLOAT32 = "DML_TENSOR_DATA_TYPE_FLOAT32"


def test_operators_of_one_name_are_told_apart(tmp_path: Path) -> None:
    nodes = [
        operator("r", "DML_OPERATOR_ACTIVATION_RELU", {"x": ROW}, {"y": ROW}),
        operator("r", "DML_OPERATOR_ACTIVATION_RELU", {"y": ROW}, {"z": ROW}),
    ]
    assert [case.name for case, _ in cases(graph(nodes, ["x"], ["z"]), tmp_path)] == ["g/r", "g/r (1)"]


def test_what_is_wrong_beside_descs_goes_with_an_operator(tmp_path: Path) -> None:
    """A constant that is written twice goes with the next operator, an output that nothing writes with the last."""
    twice = [raw_constant("b", "bias", bytes(20)), raw_constant("c", "bias", bytes(20))]
    data = graph([*twice, gemm(), add(name="lost")], ["model_input", "weights"], ["absent"])
    (_, of_matmul), (_, of_added) = cases(data, tmp_path)
    assert [(each.rule, each.path) for each in of_matmul] == [("graph-syntax", ("nodes", 1))]
    assert [(each.rule, each.path) for each in of_added] == [
        ("dangling-edge", ("nodes", 3, "desc", "ATensor")),
        ("dangling-edge", ("graphOutputNames", 0)),
    ]
