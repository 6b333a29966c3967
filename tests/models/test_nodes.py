"""The nodes of ONNX models as case files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commandline import dmlcheck
from run_models import constant, onnx, perceptron
from whole_models import model, node, save

from dmlcheck.formats.registry import read_file
from dmlcheck.models import nodes as model_nodes
from dmlcheck.models.nodes import import_

pytestmark = pytest.mark.usefixtures("folder")


def imported(made: Any, **options: Any) -> Any:
    save(made)
    (found,) = import_(["model.onnx"], "out", **options)
    return found


@pytest.mark.slow
def test_right_implementations_pass_the_cases_and_the_reference_skips_them() -> None:
    imported(perceptron(), sizes={"batch": 3})
    result = dmlcheck("run", "out", "--implementation", "onnxruntime")
    assert (result.exit_code, "5 passed" in result.output) == (0, True)
    assert dmlcheck("run", "out").exit_code == 5


def test_a_node_of_several_operators_has_a_case_of_each() -> None:
    made = model([node("Max", "x x x x", "y", "most")], {"x": [2]}, {"y": [2]})
    assert imported(made).cases == 3
    assert [case.name for case in read_file("out/model/most.yaml").cases] == ["step-1", "step-2", "step-3"]


def test_no_more_is_written_than_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first two nodes read 16 bytes each, the third would be the one too many."""
    monkeypatch.setattr(model_nodes, "_MOST_BYTES", 40)
    nodes = [node("Relu", "x", "r", "relu"), node("Neg", "r", "n", "neg"), node("Abs", "n", "y", "abs")]
    found = imported(model(nodes, {"x": [4]}, {"y": [4]}))
    assert sorted(path.stem for path in Path("out/model").glob("*.yaml")) == ["neg", "relu"]
    assert found.remarks == (
        "Abs-13 is not imported (1 node: abs): the inputs of the nodes before it fill 0.0 GiB, and no more is written",
    )


@pytest.mark.slow
def test_what_is_no_case_is_told_with_its_reason() -> None:
    nodes = [
        node("Shape", "x", "s", "size"),
        node("Shape", "x", "t", "other"),
        node("Gadget", "x", "g", "gadget", domain="own"),
        node("Relu", "g", "r", "after"),
        node("Abs", "x", "y", "abs"),
    ]
    found = imported(model(nodes, {"x": [2]}, {"y": [2]}))
    assert found.cases == 1
    assert found.remarks == (
        "Shape-15 is not imported (2 nodes: size, other): Shape gives sizes, which DirectML has in descs only",
        "own.Gadget is not imported (1 node: gadget): DirectML has no operator that computes own.Gadget",
        "Relu-14 is not imported (1 node: after): it reads g, which nothing gives",
    )


def graph(nodes: list[Any], inputs: dict[str, Any], outputs: list[str]) -> Any:
    values = onnx.helper.make_tensor_value_info
    given = [values(name, *kind) for name, kind in inputs.items()]
    return onnx.helper.make_graph(nodes, "body", given, [values(name, 1, [2]) for name in outputs])


def test_nodes_of_the_branch_that_is_taken_are_cases() -> None:
    negated, doubled = (graph([node(kind, reads, "b", "inner")], {}, ["b"]) for kind, reads in NEGATED_AND_DOUBLED)
    np.savez("in.npz", x=np.array([-1, 2], np.float32))
    made = node("If", "yes", "y", "if", then_branch=negated, else_branch=doubled)
    found = imported(
        model([made], {"x": [2]}, {"y": [2]}, [constant("yes", False, bool)]),
        inputs="in.npz",
    )
    assert (found.file, found.cases) == ("model", 1)
    assert "If-16 is not imported (1 node: if): it runs graphs of its own, whose nodes are cases" in found.remarks[0]
    text = Path("out/model/if-else_branch-inner.yaml").read_text(encoding="utf-8")
    assert "# The node if/else_branch/inner (Add-14) of" in text
    assert text.count("[-1, 2]") == 2


NEGATED_AND_DOUBLED = (("Neg", "x"), ("Add", "x x"))


@pytest.mark.slow
def test_nodes_of_the_first_and_the_last_turn_are_cases() -> None:
    """By hand: 1 is doubled by three turns, which read 1, 2 and 4."""
    np.savez("in.npz", x=np.array([1, -1], np.float32))
    inputs = {"number": (7, []), "before": (9, []), "state": (1, [2])}
    body = graph([node("Add", "state state", "next", "double")], inputs, ["next"])
    body.output.insert(0, onnx.helper.make_tensor_value_info("before", 9, []))
    made = node("Loop", "most - x", "y", "loop", body=body)
    found = imported(model([made], {"x": [2]}, {"y": [2]}, [constant("most", 3, np.int64)]), inputs="in.npz")
    assert found.cases == 2
    first, last = (Path(f"out/model/loop-body-{name}.yaml").read_text(encoding="utf-8")
                   for name in ("double", "turn-3-double"))  # fmt: skip
    assert (first.count("[1, -1]"), last.count("[4, -4]")) == (2, 2)
    assert dmlcheck("run", "out", "--implementation", "onnxruntime").exit_code == 0


def test_on_the_command_line() -> None:
    save(perceptron())
    result = dmlcheck("import", "graph", "model.onnx", "-o", "out", "--dim", "batch=3", "--seed", "2")
    assert (result.exit_code, result.output) == (0, "model.onnx: 5 cases imported to model\n")
    assert "with the seed 2" in Path("out/model/up.yaml").read_text(encoding="utf-8")
    result = dmlcheck("import", "graph", "model.onnx", "-o", "out2")
    assert result.exit_code == 2
    assert "model.onnx: error[unknown-sizes]: the model's inputs have sizes without a number: batch" in result.output
