"""Graphs computed from the memory that is bound to their inputs, into that of their outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmlcheck.descs.read import read_desc
from dmlcheck.diagnostics.record import collected
from dmlcheck.formats.dxdispatch.evaluate import graph_of_desc, run_bound, tensors_to_bind
from dmlcheck.graphs.check import valid_steps
from dmlcheck.graphs.records import Graph, GraphFile, Node

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
