"""Graphs checked as wholes: the desc of each node, and whether both ends of each edge agree."""

from __future__ import annotations

from typing import Any

import pytest

from dmlcheck.diagnostics.record import Finding, collected
from dmlcheck.graphs.check import CheckedDesc, checked, each_once, valid_steps
from dmlcheck.graphs.records import Constant, GraphFile, Node

FIVE = {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 5], "TotalTensorSizeInBytes": 20}
OF_EDGES = {"dangling-edge", "edge-mismatch", "graph-syntax"}


def tensor(**more: Any) -> dict[str, Any]:
    return {**FIVE, **more}


def relu(name: str, reads: str, writes: str, x: Any = FIVE, y: Any = FIVE) -> Node:
    fields = {"InputTensor": x, "OutputTensor": y}
    return Node(name, "DML_OPERATOR_ACTIVATION_RELU", fields, {"InputTensor": reads}, {"OutputTensor": writes})


def constant(writes: str, size: int) -> Constant:
    return Constant(writes, "c", data=memoryview(bytes(size)))


def graph(*parts: Node | Constant, inputs: tuple[str, ...] = ("x",), outputs: tuple[str, ...] = ("y",)) -> GraphFile:
    constants = tuple(part for part in parts if isinstance(part, Constant))
    return GraphFile("g.bin", inputs, constants, tuple(part for part in parts if isinstance(part, Node)), outputs)


def found(*parts: Node | Constant, **names: Any) -> list[Finding]:
    """Return what is wrong with the edges of a graph, whatever its descs are."""
    findings = [finding for one in checked(graph(*parts, **names)) for finding in one.findings]
    return [finding for finding in findings if finding.rule in OF_EDGES]


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
    assert rules(twice) == [("graph-syntax", ("desc", "OutputTensor"))]
    assert twice[0].message == "the node 'b' writes 'y', which is of the node 'a' too"
    assert rules(found(relu("a", "x", "x"), outputs=())) == [("graph-syntax", ("desc", "OutputTensor"))]


def test_a_reader_may_have_its_own_sizes_and_strides() -> None:
    assert found(relu("a", "x", "z"), relu("b", "z", "y", tensor(Sizes=[5, 1]))) == []
    broadcast = tensor(Sizes=[5, 5], Strides=[0, 1])
    assert found(relu("a", "x", "z"), relu("b", "z", "y", broadcast)) == []


def test_another_data_type_is_a_mismatch() -> None:
    (wrong,) = found(relu("a", "x", "z"), relu("b", "z", "y", tensor(DataType="INT32")))
    assert rules([wrong]) == [("edge-mismatch", ("desc", "InputTensor", "DataType"))]
    assert wrong.message == "InputTensor of the node 'b' is INT32, and the node 'a' writes FLOAT32 to 'z'"


@pytest.mark.parametrize(("total", "count"), [(19, 0), (20, 0), (21, 1)])
def test_a_reader_of_more_bytes_than_are_written_is_a_mismatch(total: int, count: int) -> None:
    wrong = found(relu("a", "x", "z"), relu("b", "z", "y", tensor(TotalTensorSizeInBytes=total)))
    assert rules(wrong) == [("edge-mismatch", ("desc", "InputTensor", "TotalTensorSizeInBytes"))] * count


@pytest.mark.parametrize(
    ("reads", "needed"),
    [
        (FIVE, 20),
        ({"DataType": "FLOAT16", "Sizes": [1], "TotalTensorSizeInBytes": 4}, 2),  # not rounded up to four bytes
        ({"DataType": "UINT4", "Sizes": [3], "TotalTensorSizeInBytes": 4}, 2),
        ({"DataType": "FLOAT32", "Sizes": [2, 3], "Strides": [8, 1]}, 44),  # the last is 1 * 8 + 2 * 1, the eleventh
        ({"DataType": "FLOAT32", "Sizes": [7, 5], "Strides": [0, 1]}, 20),
    ],
)
def test_a_constant_has_the_bytes_that_its_reader_takes(reads: Any, needed: int) -> None:
    assert found(constant("w", needed), relu("b", "w", "y", reads)) == []
    (wrong,) = found(constant("w", needed - 1), relu("b", "w", "y", reads))
    assert rules([wrong]) == [("edge-mismatch", ("desc", "InputTensor", "TotalTensorSizeInBytes"))]
    assert f"takes {needed} bytes, and the constant 'c' has {needed - 1}" in wrong.message


def test_sizes_without_end_are_not_multiplied_out() -> None:
    huge = tensor(Sizes=[2**32 - 1] * 100_000, TotalTensorSizeInBytes=4)
    assert found(constant("w", 4), relu("b", "w", "y", huge)) == []


def test_a_constant_in_a_file_beside_has_any_size() -> None:
    assert found(Constant("w", "c", file="w_0"), relu("b", "w", "y")) == []


def test_a_reader_of_more_than_the_elements_that_are_written_is_a_mismatch() -> None:
    """Both ends have 8 bytes, as sizes are rounded up to 4; the fourth FLOAT16 is none that was written."""
    three = {"DataType": "FLOAT16", "Sizes": [1, 1, 1, 3], "TotalTensorSizeInBytes": 8}
    four = {**three, "Sizes": [1, 1, 1, 4]}
    assert found(relu("a", "x", "z", three, three), relu("b", "z", "y", three, three)) == []
    (wrong,) = found(relu("a", "x", "z", three, three), relu("b", "z", "y", four, four))
    assert rules([wrong]) == [("edge-mismatch", ("desc", "InputTensor"))]
    assert wrong.message == "InputTensor of the node 'b' reads 8 bytes, and the node 'a' writes 6 to 'z'"


def test_edges_between_descs_that_are_not_valid_are_checked_as_far_as_they_can_be_read() -> None:
    other = tensor(DataType="INT64", Strides=[1])
    assert [rule for rule, _ in rules(found(relu("a", "x", "z"), relu("b", "z", "y", other, other)))] == [
        "edge-mismatch"
    ]
    assert rules(found(relu("a", "x", "z"), relu("b", "lost", "y", {"DataType": "INT65"}))) == [
        ("dangling-edge", ("desc", "InputTensor"))
    ]


def test_an_edge_without_a_name_dangles() -> None:
    assert rules(found(relu("a", "", "y"))) == [("dangling-edge", ("desc", "InputTensor"))]


def test_names_that_a_node_writes_without_a_tensor_are_known() -> None:
    node = relu("a", "x", "z")._replace(others=("more",))
    assert found(node, relu("b", "more", "y")) == []


# ---- steps


def test_a_node_without_mistakes_is_a_step() -> None:
    first, second = relu("a", "x", "z")._replace(path=("nodes", 3)), relu("b", "z", "y")
    steps, findings = collected(valid_steps(graph(first, second)))
    assert findings == []
    assert [(step.name, step.inputs, step.outputs, step.path) for step in steps] == [
        ("a", {"InputTensor": "x"}, {"OutputTensor": "z"}, ("nodes", 3)),
        ("b", {"InputTensor": "z"}, {"OutputTensor": "y"}, ()),
    ]
    assert steps[0].desc.spec.short == "ACTIVATION_RELU"


def test_a_node_with_a_mistake_is_no_step_and_its_findings_have_its_place() -> None:
    wrong = relu("a", "x", "z", y=tensor(Sizes=[1, 1, 1, 4]))._replace(path=("nodes", 0))
    steps, findings = collected(valid_steps(graph(wrong, relu("b", "z", "y", tensor(Sizes=[1, 1, 1, 4])))))
    assert steps == ()
    assert [(finding.rule, finding.path[:4]) for finding in findings] == [
        ("size-mismatch", ("nodes", 0, "desc", "OutputTensor")),
        ("size-mismatch", ("desc", "OutputTensor", "Sizes", 3)),
    ]


def test_what_is_wrong_with_the_form_of_a_node_is_told_instead_of_what_follows_from_it() -> None:
    form = Finding("graph-syntax", (), {"problem": "odd"})
    node = relu("a", "x", "y", tensor(DataType="INT65"))._replace(findings=(form,))
    (one,) = checked(graph(node))
    assert (one.findings, one.step) == ((form,), None)


def test_equal_descs_are_checked_once() -> None:
    asked = []

    def check(operator: str, fields: Any) -> CheckedDesc:
        asked.append((operator, fields["Axis"]))
        return CheckedDesc(None, ())

    once = each_once(check)
    assert once("A", {"Axis": 1}) is once("A", {"Axis": 1})
    once("A", {"Axis": 2})
    assert asked == [("A", 1), ("A", 2)]
