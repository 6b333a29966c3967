"""What goes into graphs inside nodes and comes out, as ONNX describes If, Loop and Scan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from whole_models import FLOAT, INT64, model, node, save, tensor

from dmlcheck.onnx.model.file import read_whole
from dmlcheck.onnx.model.inner_graphs import inlined, types_given, types_taken
from dmlcheck.onnx.model.nodes import nodes_of
from dmlcheck.onnx.model.values import Value

helper = pytest.importorskip("onnx.helper")
BODY = helper.make_graph([], "body", [], [])
NOTHING = Value(None)


def floats(*sizes: int | str | None) -> Value:
    return Value(helper.make_tensor_type_proto(FLOAT, sizes))


UNSIZED = Value(helper.make_tensor_type_proto(FLOAT, None))


def said(types: list[Any]) -> list[Any]:
    """Return the element and the sizes of types."""
    values = map(Value, types)
    return [None if value.type is None else (value.element, value.sizes) for value in values]


def test_a_loop_gives_its_body_a_number_a_truth_value_and_states_whose_sizes_may_change() -> None:
    made = node("Loop", "n c s t", "y", body=BODY)
    inputs = [NOTHING, NOTHING, floats(2, 3), NOTHING]
    assert said(types_given(made, inputs, 17)) == [("INT64", ()), ("BOOL", ()), ("FLOAT", None), None]


def test_a_loop_gives_its_body_a_sequence_without_the_sizes_of_its_tensors() -> None:
    """A sequence that grows may hold tensors of other sizes; PyTorch's exporter writes such loops for index_put."""
    made = node("Loop", "n c s", "y", body=BODY)
    floats_of = [helper.make_sequence_type_proto(floats(*sizes).type) for sizes in ((2, 3), (4,))]
    whole = helper.make_sequence_type_proto(UNSIZED.type)
    assert types_given(made, [NOTHING, NOTHING, Value(floats_of[0])], 17)[2:] == [whole]
    after = [[NOTHING, Value(floats_of[1])]]
    assert types_taken(made, [NOTHING, NOTHING, Value(floats_of[0])], after, 17) == [whole]
    assert types_taken(made, [NOTHING, NOTHING, floats(2)], after, 17) == [None]


def test_a_scan_gives_its_body_states_and_slices() -> None:
    made = node("Scan", "s x y", "z", body=BODY, num_scan_inputs=2, scan_input_axes=[1, -1])
    inputs = [floats(5), floats(2, 3, 4), floats("n", 3)]
    assert said(types_given(made, inputs, 17)) == [("FLOAT", (5,)), ("FLOAT", (2, 4)), ("FLOAT", ("n",))]
    assert said(types_given(node("Scan", "x", "z", body=BODY, num_scan_inputs=1), [UNSIZED], 17)) == [("FLOAT", None)]


@pytest.mark.parametrize(
    "made",
    [
        node("Scan", "x", "z", body=BODY, num_scan_inputs="one"),
        node("Scan", "x", "z", body=BODY, num_scan_inputs=3),
        node("Scan", "x", "z", body=BODY, num_scan_inputs=-1),
        node("Scan", "x", "z", body=BODY, num_scan_inputs=1, scan_input_axes=[7]),
        node("Scan", "x", "z", body=BODY, num_scan_inputs=1, scan_input_axes=["a"]),
        node("Scan", "x", "z", body=BODY, num_scan_inputs=1, domain="own"),
        node("If", "x", "z", then_branch=BODY),
    ],
)
def test_nothing_is_given_where_nothing_follows(made: Any) -> None:
    assert types_given(made, [floats(2, 3)], 17) == []
    if made.op_type == "Scan":
        assert types_taken(made, [floats(2, 3)], [[floats(2)]], 17) in ([], [None])


def test_a_scan_without_its_number_of_inputs_gives_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if its attributes had none."""
    made = node("Scan", "x", "z", body=BODY, num_scan_inputs=1)
    assert said(types_given(made, [floats(2, 3)], 17)) == [("FLOAT", (3,))]
    monkeypatch.setattr("dmlcheck.onnx.model.inner_graphs.attributes_of", lambda *_: {})
    assert types_given(made, [floats(2, 3)], 17) == []
    assert types_taken(made, [floats(2, 3)], [[floats(2)]], 17) == []


def test_an_if_has_the_sizes_that_both_branches_have() -> None:
    made = node("If", "c", "a b d e", then_branch=BODY, else_branch=BODY)
    number = Value(helper.make_tensor_type_proto(INT64, [2]))
    one = [floats(2, 3), floats(2), floats(2), NOTHING]
    other = [floats(2, 4), floats(2, 1), number, floats(2)]
    assert said(types_taken(made, [NOTHING], [one, other], 17)) == [("FLOAT", (2, "")), ("FLOAT", None), None, None]
    assert said(types_taken(made, [NOTHING], [one], 17)) == [("FLOAT", (2, 3)), ("FLOAT", (2,)), ("FLOAT", (2,)), None]


def test_a_loop_may_never_turn_and_stacks_the_outputs_of_its_turns() -> None:
    made = node("Loop", "n c s t", "a b d", body=BODY)
    inputs = [NOTHING, NOTHING, floats(2, 3), floats(4)]
    outputs = [NOTHING, floats(2, 5), floats(4), floats(6), UNSIZED]
    assert said(types_taken(made, inputs, [outputs], 17)) == [
        ("FLOAT", (2, "")),
        ("FLOAT", (4,)),
        ("FLOAT", ("", 6)),
        ("FLOAT", None),
    ]


def test_the_nodes_of_a_scan_and_after_it_have_their_sizes(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    undeclared = [helper.make_tensor_value_info(name, FLOAT, None) for name in ("row", "double")]
    body = helper.make_graph([node("Add", "row row", "double", "add")], "body", undeclared[:1], undeclared[1:])
    scan = node("Scan", "x", "y", "scan", body=body, num_scan_inputs=1)
    made = model([scan, node("Relu", "y", "z", "relu")], {"x": [3, 4]}, {})
    made.graph.output.append(tensor("z", ["a", "b"]))
    found = {one.name: one.found for one in nodes_of(read_whole(save(made), {}))}
    (add,), (relu,) = found["scan/body/add"], found["relu"]
    assert add.fields["OutputTensor"].shape == (1, 1, 1, 4)
    assert relu.fields["InputTensor"].shape == (1, 1, 3, 4)


defs = pytest.importorskip("onnx.defs")


def parts(made: Any, opset: int, *kinds: int) -> list[Any]:
    types = [helper.make_tensor_type_proto(kind, [2, 3]) for kind in kinds]
    return inlined(made, defs.get_schema(made.op_type, opset), opset, types, "p/")


def test_an_operator_without_a_function_has_no_parts() -> None:
    assert parts(node("Abs", "a", "b"), 17, FLOAT) == []
    assert parts(node("Softplus", "a", "b"), 17, FLOAT) == []  # its function came with opset 18
    made = node("Gelu", "a", "b")
    assert inlined(made, defs.get_schema("Gelu", 20), 20, [None], "p/") == []


@pytest.mark.parametrize("operator", ["HardSwish", "Mish"])
def test_onnx_runtime_inlines_the_same_operators(
    operator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = pytest.importorskip("onnxruntime")
    load = pytest.importorskip("onnx").load
    monkeypatch.chdir(tmp_path)
    made = node(operator, "x", "y")
    save(model([made], {"x": [2, 3]}, {"y": [2, 3]}, opset=18))
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.optimized_model_filepath = "inlined.onnx"
    options.log_severity_level = 3
    runtime.InferenceSession("model.onnx", options, providers=["CPUExecutionProvider"])
    own = [each.op_type for each in parts(made, 18, FLOAT)]
    assert own == [each.op_type for each in load("inlined.onnx").graph.node]
