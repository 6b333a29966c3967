"""The commands of a model carried out one after the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dxdispatch_models import DISPATCH, RESOURCES, model_of
from numpy.typing import NDArray

from dmlcheck.descs.read import read_desc
from dmlcheck.diagnostics.record import collected
from dmlcheck.graphs.check import valid_steps
from dmlcheck.graphs.records import Graph, GraphFile, Node
from dmlcheck.models.dispatches import evaluate_model, graph_of_desc, run_bound, tensors_to_bind
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


def printed(step: Evaluated) -> tuple[str, list[Any], str]:
    ((name, (values, kind)),) = step.outputs.items()
    return name, values.tolist(), kind


def problems(step: Evaluated) -> list[tuple[str, str | None]]:
    return [(problem.rule, problem.pointer) for problem in step.diagnostics]


def test_a_resource_is_printed_as_it_is_at_that_time(tmp_path: Path) -> None:
    before, after = steps(tmp_path, [PRINT, DISPATCH, PRINT])
    assert printed(before) == ("out", [0, 0, 0], "UINT32")
    assert printed(after) == ("out", [2, 2, 2], "UINT32")


def test_one_dispatch_reads_what_another_writes(tmp_path: Path) -> None:
    tensor = {"DataType": "FLOAT32", "Sizes": [9]}
    desc = {"InputTensor": tensor, "OutputTensor": tensor}
    dispatchables = {name: {"type": f"ELEMENT_WISE_{name.upper()}", "desc": desc} for name in ("negate", "abs")}
    resources = dict.fromkeys(("in", "between", "out"), RESOURCES["in"])
    commands = [
        {"type": "dispatch", "dispatchable": "negate", "bindings": {"InputTensor": "in", "OutputTensor": "between"}},
        {"type": "dispatch", "dispatchable": "abs", "bindings": {"InputTensor": "between", "OutputTensor": "out"}},
        {**PRINT, "resource": "between"},
        PRINT,
    ]
    found = steps(tmp_path, commands, dispatchables=dispatchables, resources=resources)
    assert [printed(step)[1][:2] for step in found] == [[-1, -2], [1, 2]]


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


def test_everything_that_is_wrong_with_descs_and_resources_is_told_before_anything_runs(tmp_path: Path) -> None:
    tensor = {"DataType": "FLOAT32", "Sizes": [3]}
    wrong = {"type": "ACTIVATION_RELU", "desc": {"InputTensor": tensor, "OutputTensor": {**tensor, "Sizes": [4]}}}
    resources = {**RESOURCES, "x": {"initialValuesDataType": "UINT8", "initialValues": [256]}}
    (step,) = steps(tmp_path, [PRINT], dispatchables={"relu": wrong}, resources=resources)
    assert problems(step) == [
        ("size-mismatch", "desc.OutputTensor.Sizes[0]"),
        ("value-not-representable", "resources.x.initialValues[0]"),
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


def tensor(*sizes: int, **more: Any) -> dict[str, Any]:
    return {"DataType": "FLOAT32", "Sizes": list(sizes), **more}


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


def test_what_lies_between_the_elements_of_an_output_stays() -> None:
    out = floats(9, 9, 9, 9, 9, 9)
    strided = graph(InputTensor=tensor(2, 2), OutputTensor=tensor(2, 2, Strides=[3, 1]))
    run(strided, InputTensor=floats(2, 3, 4, 5), OutputTensor=out[: 5 * 4])
    assert out.view(np.float32).tolist() == [2, 3, 9, 4, 5, 9]


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


def test_a_graph_is_bound_as_its_largest_reader_takes_each_input() -> None:
    file = GraphFile("g.bin", ("x", "unread"), (), (relu("a", 2, "x", "y"), relu("b", 3, "x", "z")), ("y",))
    steps, findings = collected(valid_steps(file))
    assert findings == []
    made = Graph(steps, file.inputs, file.outputs)
    assert {part.label: part.tensor.sizes for part in tensors_to_bind(made)} == {"x": (3,), "y": (2,)}
    out = floats(0, 0)
    run(made, x=floats(1, -2, 3), y=out)
    assert out.view(np.float32).tolist() == [1, 0]


def test_outputs_are_written_once_all_is_computed() -> None:
    """Two tensors that are swapped come out swapped."""
    nodes = (relu("first", 2, "b", "x", "ACTIVATION_IDENTITY"), relu("second", 2, "a", "y", "ACTIVATION_IDENTITY"))
    steps, _ = collected(valid_steps(GraphFile("g.bin", ("a", "b"), (), nodes, ("x", "y"))))
    numbers = floats(1, 2, 3, 4)
    first, second = numbers[:8], numbers[8:]
    run(Graph(steps, ("a", "b"), ("x", "y")), a=first, b=second, x=first, y=second)
    assert numbers.view(np.float32).tolist() == [3, 4, 1, 2]


def test_a_desc_alone_is_a_graph_of_one_step() -> None:
    part = tensor(2)
    made = graph("JOIN", InputTensors=[part, part], OutputTensor=tensor(4), Axis=0)
    assert (made.inputs, made.outputs) == (("InputTensors[0]", "InputTensors[1]"), ("OutputTensor",))
    out = floats(0, 0, 0, 0)
    run(made, **{"InputTensors[0]": floats(1, 2), "InputTensors[1]": floats(3, 4), "OutputTensor": out})
    assert out.view(np.float32).tolist() == [1, 2, 3, 4]
