"""The edges of graphs: what they lead from, and whether both ends agree."""

from __future__ import annotations

import pytest

from dmlcheck.diagnostics.record import Finding
from dmlcheck.formats.dml_graph.descs import desc_of
from dmlcheck.formats.dml_graph.edges import Edges
from dmlcheck.formats.dml_graph.records import Constant, Graph, Node, Operator, Tensor

TYPE = "DML_TENSOR_DATA_TYPE_"
FIVE = Tensor(TYPE + "FLOAT32", (1, 1, 1, 5), None, 20)


def relu(name: str, reads: str, writes: str, x: Tensor = FIVE, y: Tensor = FIVE) -> Node:
    return Node(name, Operator("DML_OPERATOR_ACTIVATION_RELU", (x,), (y,)), (reads,), (writes,))


def constant(writes: str, size: int) -> Node:
    return Node("c", Constant(data=memoryview(bytes(size))), (), (writes,))


def found(*nodes: Node, inputs: tuple[str, ...] = ("x",), outputs: tuple[str, ...] = ("y",)) -> list[Finding]:
    edges = Edges(Graph(nodes, inputs, outputs))
    made = []
    for node in nodes:
        desc = desc_of(node, node.desc) if isinstance(node.desc, Operator) else None
        made += edges.findings(node, desc)
    return [*made, *edges.outputs()]


def rules(findings: list[Finding]) -> list[tuple[str, tuple[str | int, ...]]]:
    return [(finding.rule, finding.path) for finding in findings]


def test_edges_that_agree_are_right() -> None:
    assert found(relu("a", "x", "z"), relu("b", "z", "y")) == []
    assert found(relu("a", "x", "y"), relu("b", "y", "z"), outputs=("y", "z", "")) == []
    assert found(constant("w", 20), relu("b", "w", "y")) == []


def test_what_nothing_writes_dangles() -> None:
    (wrong,) = found(relu("a", "w", "y"))
    assert rules([wrong]) == [("dangling-edge", ("desc", "InputTensor"))]
    assert wrong.message == "the node 'a' reads 'w', which is no input of the graph and no output of any node"


def test_what_a_later_node_writes_dangles() -> None:
    (wrong,) = found(relu("b", "z", "y"), relu("a", "x", "z"))
    assert wrong.rule == "dangling-edge"
    assert wrong.message.endswith("no output of an earlier node: the node 'a' writes it later")
    assert rules(found(relu("a", "y", "y"))) == [("dangling-edge", ("desc", "InputTensor"))]  # nor its own


def test_an_output_that_no_node_writes_dangles() -> None:
    wrong = found(relu("a", "x", "z"), outputs=("z", "y", "x"))
    assert rules(wrong) == [("dangling-edge", ("graphOutputNames", 1)), ("dangling-edge", ("graphOutputNames", 2))]
    assert wrong[0].message == "no node writes 'y', an output of the graph"


def test_two_tensors_of_one_name_are_an_error() -> None:
    twice = found(relu("a", "x", "y"), relu("b", "x", "y"))
    assert rules(twice) == [("graph-syntax", ("outputNames", 0))]
    assert twice[0].message == "the node 'b' writes 'y', which is of the node 'a' too"
    assert rules(found(relu("a", "x", "x"), outputs=())) == [("graph-syntax", ("outputNames", 0))]


def test_a_reader_may_have_its_own_sizes_and_strides() -> None:
    assert found(relu("a", "x", "z"), relu("b", "z", "y", FIVE._replace(sizes=(5, 1)))) == []
    broadcast = FIVE._replace(sizes=(5, 5), strides=(0, 1))
    assert found(relu("a", "x", "z"), relu("b", "z", "y", broadcast)) == []


def test_another_data_type_is_a_mismatch() -> None:
    (wrong,) = found(relu("a", "x", "z"), relu("b", "z", "y", FIVE._replace(data_type=TYPE + "INT32")))
    assert rules([wrong]) == [("edge-mismatch", ("desc", "InputTensor", "DataType"))]
    assert wrong.message == "InputTensor of the node 'b' is INT32, and the node 'a' writes FLOAT32 to 'z'"


@pytest.mark.parametrize(("total", "count"), [(19, 0), (20, 0), (21, 1)])
def test_a_reader_of_more_bytes_than_are_written_is_a_mismatch(total: int, count: int) -> None:
    wrong = found(relu("a", "x", "z"), relu("b", "z", "y", FIVE._replace(total_size=total)))
    assert rules(wrong) == [("edge-mismatch", ("desc", "InputTensor", "TotalTensorSizeInBytes"))] * count


@pytest.mark.parametrize(
    ("tensor", "needed"),
    [
        (FIVE, 20),
        (Tensor(TYPE + "FLOAT16", (1,), None, 4), 2),  # not rounded up to four bytes
        (Tensor(TYPE + "UINT4", (3,), None, 4), 2),
        (Tensor(TYPE + "FLOAT32", (2, 3), (8, 1), 44), 44),  # the last is 1 * 8 + 2 * 1, the eleventh
        (Tensor(TYPE + "FLOAT32", (7, 5), (0, 1), 20), 20),
    ],
)
def test_a_constant_has_the_bytes_that_its_reader_takes(tensor: Tensor, needed: int) -> None:
    assert found(constant("w", needed), relu("b", "w", "y", tensor)) == []
    (wrong,) = found(constant("w", needed - 1), relu("b", "w", "y", tensor))
    assert rules([wrong]) == [("edge-mismatch", ("desc", "InputTensor", "TotalTensorSizeInBytes"))]
    assert f"takes {needed} bytes, and the constant 'c' has {needed - 1}" in wrong.message


def test_sizes_without_end_are_not_multiplied_out() -> None:
    huge = Tensor(TYPE + "FLOAT32", (2**32 - 1,) * 100_000, None, 4)
    assert rules(found(constant("w", 4), relu("b", "w", "y", huge))) == [
        ("edge-mismatch", ("desc", "InputTensor", "TotalTensorSizeInBytes"))
    ]


def test_a_name_that_has_no_tensor_is_looked_for_too() -> None:
    node = Node("a", Operator("DML_OPERATOR_ACTIVATION_RELU", (FIVE,), (FIVE,)), ("x", "lost"), ("y",))
    assert rules(found(node)) == [("dangling-edge", ("inputNames", 1))]


def test_constants_in_files_beside_are_known_by_what_they_bring() -> None:
    nodes = (Node("c", Constant("w_0"), (), ("w",)), constant("v", 4), relu("a", "w", "y"))
    edges = Edges(Graph(nodes, (), ("y",)))
    assert [list(edges.findings(node, None)) for node in nodes[:2]] == [[], []]
    assert edges.owned == {"w"}
