"""The commands of a model carried out one after the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dxdispatch_models import DISPATCH, RESOURCES, model_of
from numpy.typing import NDArray
from valid_descs import tensor

from dmlcheck.descs.read import read_desc
from dmlcheck.diagnostics.record import collected
from dmlcheck.graphs.check import valid_steps
from dmlcheck.graphs.records import Graph, GraphFile, Node
from dmlcheck.models.dispatches import evaluate_model, graph_of_desc, run_bound
from dmlcheck.running.evaluate import Evaluated

PRINT = {"type": "print", "resource": "out"}
ONNX = {"type": "onnx", "sourcePath": "x.onnx"}


def steps(folder: Path, commands: list[dict[str, Any]], **parts: Any) -> list[Evaluated]:
    model = model_of(commands=commands, **parts)
    assert model.problems == ()
    found = map(_kept, evaluate_model(model, str(folder)))
    return [step for step in found if step.outputs or step.remark or step.diagnostics]


def _kept(step: Evaluated) -> Evaluated:
    """Return a step whose elements no later command changes."""
    return step._replace(outputs={name: (values.copy(), kind) for name, (values, kind) in step.outputs.items()})


def problems(step: Evaluated) -> list[tuple[str, str | None]]:
    return [(problem.rule, problem.pointer) for problem in step.diagnostics]


def test_what_is_not_directml_is_left_out_with_a_remark(tmp_path: Path) -> None:
    resources = {**RESOURCES, "later": {"initialValuesDataType": "FLOAT32", "initialValues": "deferred"}}
    commands = [
        {"type": "dispatch", "dispatchable": "concat", "bindings": {"y": "later"}},
        {"type": "print", "resource": "later"},
        {"type": "writeFile", "resource": "later", "targetPath": "x.npy"},
    ]
    found = steps(tmp_path, commands, dispatchables={"concat": ONNX}, resources=resources)
    assert [step.remark for step in found] == [
        "concat is not dispatched: onnx is not DirectML",
        "later is not printed: only an ONNX dispatchable would fill it",
        "later is not written: only an ONNX dispatchable would fill it",
    ]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ({**DISPATCH, "bindings": {"OutputTensor": "out"}}, [("missing-tensor", "commands[1].bindings.InputTensor")]),
        (
            {**DISPATCH, "bindings": {}},
            [
                ("missing-tensor", "commands[1].bindings.InputTensor"),
                ("missing-tensor", "commands[1].bindings.OutputTensor"),
            ],
        ),
        (
            {"type": "writeFile", "resource": "out", "targetPath": "x.npy", "dimensions": [2, 2]},
            [("element-count", "commands[1].dimensions")],
        ),
        (
            {"type": "writeFile", "resource": "out", "targetPath": "x.npy", "dimensions": [3, "1"]},
            [("wrong-type", "commands[1].dimensions[1]")],
        ),
        (
            {"type": "writeFile", "resource": "out", "targetPath": "../x.npy"},
            [("file-not-found", "commands[1].targetPath")],
        ),
        (
            {"type": "writeFile", "resource": "out", "targetPath": "x.png"},
            [("file-not-found", "commands[1].targetPath")],
        ),
        (
            {"type": "writeFile", "resource": "out", "targetPath": "x.\ud800"},
            [("file-not-found", "commands[1].targetPath")],
        ),
        (
            {"type": "writeFile", "resource": "out", "targetPath": "x.npy", "dimensions": [3, *[1] * 99]},
            [("element-count", "commands[1].dimensions")],
        ),
    ],
)
def test_a_command_that_cannot_be_carried_out_ends_the_run(
    tmp_path: Path, command: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    first, second = steps(tmp_path, [PRINT, command, PRINT])
    assert first.outputs
    assert problems(second) == expected
    assert list(tmp_path.rglob("x.*")) == []


@pytest.mark.parametrize(("dimensions", "shape"), [(None, (3,)), ([1, 3], (1, 3)), ([], (3,))])
def test_a_npy_file_has_the_dimensions_that_are_given(tmp_path: Path, dimensions: Any, shape: tuple[int, ...]) -> None:
    command = {"type": "writeFile", "resource": "out", "targetPath": "a/out.npy", "dimensions": dimensions}
    _, step = steps(tmp_path, [DISPATCH, PRINT, command])
    assert step.remark == "out written to a/out.npy"
    values = np.load(tmp_path / "a" / "out.npy")
    assert (values.dtype, values.shape, values.reshape(-1).tolist()) == (np.uint32, shape, [2, 2, 2])


def test_any_other_file_has_the_bytes(tmp_path: Path) -> None:
    steps(tmp_path, [DISPATCH, {"type": "writeFile", "resource": "out", "targetPath": "out.bin"}])
    assert np.fromfile(tmp_path / "out.bin", np.uint32).tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("name", "before", "is_replaced"),
    [
        ("out.npy", b"\x93NUMPY and so on", True),
        ("out.npy", b"mine", False),
        ("setup.py", b"mine", False),
        ("setup.py", b"\x93NUMPY", False),
        ("setup.py", b"", True),
    ],
)
def test_a_model_writes_over_arrays_alone(tmp_path: Path, name: str, before: bytes, *, is_replaced: bool) -> None:
    (tmp_path / name).write_bytes(before)
    (step,) = steps(tmp_path, [{"type": "writeFile", "resource": "out", "targetPath": name}])
    assert ((tmp_path / name).read_bytes() == before) is not is_replaced
    assert problems(step) == ([] if is_replaced else [("file-not-found", "commands[0].targetPath")])


def test_bytes_that_are_no_elements_are_not_printed(tmp_path: Path) -> None:
    (tmp_path / "odd.bin").write_bytes(b"123")
    raw = {"initialValuesDataType": "FLOAT32", "initialValues": {"sourcePath": "odd.bin"}}
    model = model_of(resources={"odd": raw}, dispatchables={}, commands=[{"type": "print", "resource": "odd"}])
    model.document.name = f"{tmp_path}/model.json"
    (step,) = evaluate_model(model, str(tmp_path))
    assert problems(step) == [("element-count", "commands[0]")]


# ---- graphs computed from the memory that is bound to their inputs, into that of their outputs


RELU = "DML_OPERATOR_ACTIVATION_RELU"


def graph(operator: str = "ACTIVATION_IDENTITY", **fields: Any) -> Graph:
    """Return the graph of one desc."""
    desc, findings = read_desc(operator, fields)
    assert desc is not None
    assert findings == ()
    return graph_of_desc(desc)


def floats(*numbers: float) -> NDArray[np.uint8]:
    return np.array(numbers, np.float32).view(np.uint8)


def run(graph: Graph, **memory: NDArray[np.uint8]) -> None:
    assert collected(run_bound(graph, memory)) == (None, [])


def relu(name: str, size: int, reads: str, writes: str, operator: str = RELU) -> Node:
    fields = {"InputTensor": tensor(size), "OutputTensor": tensor(size)}
    return Node(name, operator, fields, {"InputTensor": reads}, {"OutputTensor": writes})


def test_an_operator_may_write_to_what_it_reads() -> None:
    numbers = floats(1, 2, 3)
    run(
        graph("ELEMENT_WISE_NEGATE", InputTensor=tensor(3), OutputTensor=tensor(3)),
        InputTensor=numbers,
        OutputTensor=numbers,
    )
    assert numbers.view(np.float32).tolist() == [-1, -2, -3]


def test_halves_of_bytes_lie_two_in_a_byte() -> None:
    """The low half comes first, and a negative number has its sign in the upper bit of its half."""
    four = {"DataType": "INT4", "Sizes": [1, 1, 1, 4]}
    out = np.zeros(2, np.uint8)
    made = graph("ELEMENT_WISE_IDENTITY", InputTensor=four, OutputTensor=four)
    run(made, InputTensor=np.array([0xE1, 0x43], np.uint8), OutputTensor=out)
    assert out.tolist() == [0xE1, 0x43]


def test_outputs_are_written_once_all_is_computed() -> None:
    """Two tensors that are swapped come out swapped."""
    nodes = (relu("first", 2, "b", "x", "ACTIVATION_IDENTITY"), relu("second", 2, "a", "y", "ACTIVATION_IDENTITY"))
    steps, _ = collected(valid_steps(GraphFile("g.bin", ("a", "b"), (), nodes, ("x", "y"))))
    numbers = floats(1, 2, 3, 4)
    first, second = numbers[:8], numbers[8:]
    run(Graph(steps, ("a", "b"), ("x", "y")), a=first, b=second, x=first, y=second)
    assert numbers.view(np.float32).tolist() == [3, 4, 1, 2]
