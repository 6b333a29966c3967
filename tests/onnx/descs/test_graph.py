"""The operators of a node as steps of a graph: who reads what, copies, constants, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from node_graphs import computed, float32, graph, node_of

from dmlcheck.graphs.check import checked
from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.graph import fields_of, graph_of, is_of_tensors, known_values, unchecked_graph
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, Unmapped

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def copied(x: TensorRef, output: TensorRef) -> list[Counterpart]:
    return [Counterpart("ELEMENT_WISE_ABS", {"InputTensor": x, "OutputTensor": output})]


def test_max_of_four_inputs_is_three_steps_with_two_tensors_between_them() -> None:
    made = graph(node_of("Max", [X, X + 1, X - 1, X], float32(2, 3)))
    assert [step.name for step in made.steps] == ["ELEMENT_WISE_MAX"] * 3
    first, second, third = made.steps
    assert second.inputs["BTensor"] == first.outputs["OutputTensor"]
    assert third.inputs["BTensor"] == second.outputs["OutputTensor"]
    assert [step.inputs["ATensor"] for step in made.steps] == ["input 0", "input 2", "input 3"]
    assert (made.outputs, third.outputs["OutputTensor"]) == (("output 0",), "output 0")


def test_values_that_no_input_has_are_constants() -> None:
    made = graph(node_of("Cast", [X], TensorRef("BOOL", (2, 3))))
    ((name, values),) = made.constants.items()
    assert made.steps[0].inputs["BTensor"] == name
    assert values.tolist() == [0, 0, 0, 0]  # a FLOAT32 of 0


def test_what_is_read_as_a_packed_copy_is_copied_before() -> None:
    x = TensorRef.of(X)
    node = OnnxNode("", 1, {}, (x,), (float32(3, 2),))
    made = graph(node, lambda one: copied(one.input(0).transpose((1, 0)).packed(), one.output()))
    assert [step.name for step in made.steps] == ["ELEMENT_WISE_IDENTITY", "ELEMENT_WISE_ABS"]
    assert made.steps[0].desc.parts["InputTensor"][0].tensor.strides == (1, 3)
    (values,) = computed(node, lambda one: copied(one.input(0).transpose((1, 0)).packed(), one.output()))
    assert values.tolist() == [[0, 3], [1, 4], [2, 5]]


def test_what_is_written_as_a_packed_copy_is_copied_afterwards() -> None:
    node = OnnxNode("", 1, {}, (TensorRef.of(X),), (float32(3, 2),))
    (values,) = computed(node, lambda one: copied(one.input(0), one.output().transpose((1, 0)).packed()))
    assert values.tolist() == [[0, 3], [1, 4], [2, 5]]


def test_a_copy_of_another_type_is_a_cast() -> None:
    node = OnnxNode("", 1, {}, (TensorRef.of(np.array([-1, 2], np.int32)),), (float32(2),))
    made = graph(node, lambda one: copied(one.input(0).astype("FLOAT32"), one.output()))
    assert [step.name for step in made.steps] == ["CAST", "ELEMENT_WISE_ABS"]


def test_a_tensor_that_nothing_gives_is_refused() -> None:
    node = OnnxNode("", 1, {}, (TensorRef.of(X),), (float32(2, 3),))
    with pytest.raises(Unmapped, match=r"^ELEMENT_WISE_ABS reads a tensor that nothing in the node gives$"):
        graph(node, lambda one: copied(one.input(0).unknown(), one.output()))


def test_a_desc_that_is_not_valid_is_refused_with_what_is_wrong() -> None:
    node = OnnxNode("", 1, {}, (TensorRef.of(X),), (float32(2, 4),))
    with pytest.raises(Unmapped, match=r"^DML_OPERATOR_ELEMENT_WISE_ABS does not take it: .*Sizes"):
        graph(node, lambda one: copied(one.input(0), one.output()))


def test_outputs_that_no_step_writes_are_left_out() -> None:
    x, kept, left = TensorRef.of(X), float32(2, 3), float32(1)
    assert graph_of(copied(x, kept), {"x": x}, {"kept": kept, "left": left}).outputs == ("kept",)


def test_fields_of_tensors_are_descs_of_them_and_their_values() -> None:
    fields = {"InputTensor": TensorRef.of(np.array(True)), "OutputTensors": [float32(2).view((2,), (0,))], "Axes": [1]}
    assert fields_of(fields) == {
        "InputTensor": {"DataType": "UINT8", "Sizes": [1]},
        "OutputTensors": [{"DataType": "FLOAT32", "Sizes": [2], "Strides": [0]}],
        "Axes": [1],
    }
    values = known_values(fields)
    assert (values["InputTensor"].tolist(), values["OutputTensors"]) == ([1], [None])
    assert [is_of_tensors(value) for value in fields.values()] == [True, True, False]


# ---- before it is checked


def chain(between: TensorRef, read: TensorRef) -> list[Counterpart]:
    """Return the absolute values of a tensor, and what is computed of them."""
    x, y = float32(*between.shape), float32(*read.shape)
    return [
        Counterpart("ELEMENT_WISE_ABS", {"InputTensor": x, "OutputTensor": between}),
        Counterpart("ELEMENT_WISE_NEGATE", {"InputTensor": read, "OutputTensor": y}),
    ]


def test_operators_are_nodes_whose_tensors_have_the_same_name_where_one_reads_what_another_writes() -> None:
    between = float32(2, 3)
    made = unchecked_graph("n", chain(between, between))
    first, second = made.nodes
    assert made.inputs == (first.inputs["InputTensor"],)
    assert second.inputs["InputTensor"] == first.outputs["OutputTensor"]
    assert [finding for one in checked(made) for finding in one.findings] == []


def test_an_operator_that_reads_more_than_another_writes_is_found() -> None:
    buffer = float32(2, 3).buffer
    made = unchecked_graph(
        "n", chain(TensorRef("FLOAT32", (2, 2), None, buffer), TensorRef("FLOAT32", (2, 3), None, buffer))
    )
    assert [(one.name, finding.rule) for one in checked(made) for finding in one.findings] == [("n 1", "edge-mismatch")]


def test_bits_that_are_read_as_another_type_are_a_tensor_of_their_own() -> None:
    between = TensorRef("UINT32", (2, 3))
    first, second = unchecked_graph("n", chain(between, between.bits("FLOAT32"))).nodes
    assert second.inputs["InputTensor"] != first.outputs["OutputTensor"]


def test_the_parts_of_a_list_have_labels_of_their_own() -> None:
    a, b, joined = float32(2), float32(3), float32(5)
    (node,) = unchecked_graph(
        "n", [Counterpart("JOIN", {"InputTensors": [a, b], "OutputTensor": joined, "Axis": 0})]
    ).nodes
    assert list(node.inputs) == ["InputTensors[0]", "InputTensors[1]"]
