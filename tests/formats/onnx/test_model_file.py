"""Whole models as they are read: without weights, with sizes for symbolic dimensions, functions inlined."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
from whole_models import attention_layer, model, node, numbers, residual_block, save, tensor, weight

from dmlcheck.formats.onnx.backend_tests import Unreadable
from dmlcheck.formats.onnx.model_file import graphs_of, read_whole, symbols_of

onnx = pytest.importorskip("onnx")
helper = onnx.helper


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_weights_are_left_out_and_small_constants_kept() -> None:
    large = helper.make_tensor("large", 1, [33, 33], [0.0] * 1089)
    nodes = [node("Reshape", "x to", "r"), node("MatMul", "r large", "m"), node("Add", "m w", "y")]
    made = read_whole(
        save(model(nodes, {"x": [33, 33]}, {"y": [33, 33]}, [large, weight("w", [33]), numbers("to", [33, 33])])), {}
    )
    assert made.weights == {"large", "w"}
    assert [constant.name for constant in made.proto.graph.initializer] == ["to"]
    sizes = {
        info.name: [dim.dim_value for dim in info.type.tensor_type.shape.dim] for info in made.proto.graph.value_info
    }
    assert sizes == {"large": [33, 33], "w": [33]}


def test_initializers_that_are_inputs_too_are_no_inputs() -> None:
    made = model([node("Add", "x w", "y")], {"x": [4], "w": [4]}, {"y": [4]}, [weight("w", [4])])
    assert [value.name for value in read_whole(save(made), {}).proto.graph.input] == ["x"]


def test_symbolic_sizes_are_given_by_name() -> None:
    whole = read_whole(save(attention_layer()), {"batch": 2})
    (x,) = whole.proto.graph.input
    assert [dim.dim_value or dim.dim_param for dim in x.type.tensor_type.shape.dim] == [2, "sequence", 768]
    assert symbols_of(whole.proto) == ["sequence"]
    assert symbols_of(read_whole(save(residual_block()), {}).proto) == ["batch"]


def test_inner_graphs_are_found() -> None:
    inner = helper.make_graph([node("Relu", "x", "z")], "inner", [], [tensor("z", [4])])
    outer = model([node("If", "c", "y", then_branch=inner, else_branch=inner)], {"x": [4]}, {"y": [4]})
    assert [graph.name for graph in graphs_of(outer.graph)] == ["g", "inner", "inner"]


def test_names_that_are_not_utf_8_are_refused() -> None:
    data = model([node("Relu", "x", "y", "abc")], {"x": [4]}, {"y": [4]}).SerializeToString()
    Path("a.onnx").write_bytes(data.replace(b"abc", b"a\xffc"))
    with pytest.raises(Unreadable, match="names that are not UTF-8"):
        read_whole("a.onnx", {})


def test_functions_that_call_each_other_in_a_circle_are_refused() -> None:
    opsets = [helper.make_opsetid("own", 1)]
    functions = [
        helper.make_function("own", name, ["a"], ["b"], [node(other, "a", "b", domain="own")], opsets)
        for name, other in (("There", "Back"), ("Back", "There"))
    ]
    made = model([node("There", "x", "y", domain="own")], {"x": [4]}, {"y": [4]}, functions=functions)
    with pytest.raises(Unreadable, match="has functions that call each other in a circle"):
        read_whole(save(made), {})


def test_functions_that_grow_without_end_are_refused() -> None:
    """Each of 20 functions calls the next one twice: 2^20 nodes are just more than a million."""
    opsets = [helper.make_opsetid("own", 1), helper.make_opsetid("", 17)]
    functions = [
        helper.make_function(
            "own",
            name,
            ["a"],
            ["b"],
            [node(other, "a", "m", domain="own"), node(other, "m", "b", domain="own")],
            opsets,
        )
        for name, other in itertools.pairwise(f"F{index}" for index in range(20))
    ]
    last = helper.make_function("own", "F19", ["a"], ["b"], [node("Relu", "a", "m"), node("Relu", "m", "b")], opsets)
    made = model([node("F0", "x", "y", domain="own")], {"x": [4]}, {"y": [4]}, functions=[*functions, last])
    with pytest.raises(Unreadable, match="has more than 1,000,000 nodes when its functions are inlined"):
        read_whole(save(made), {})


def test_a_model_of_an_opset_that_onnx_does_not_have_is_refused() -> None:
    newest = onnx.defs.onnx_opset_version()
    read_whole(save(model([node("Relu", "x", "y")], {"x": [4]}, {"y": [4]}, opset=newest)), {})
    path = save(model([node("Relu", "x", "y")], {"x": [4]}, {"y": [4]}, opset=newest + 1))
    said = f"asks for opset {newest + 1}, and onnx {onnx.__version__} has opsets up to {newest}: install a newer onnx"
    with pytest.raises(Unreadable, match=re.escape(said)):
        read_whole(path, {})


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"no model", "is not an ONNX model"), (b"", "it has no graph or no opset")],
)
def test_what_is_no_model_is_refused(data: bytes, said: str) -> None:
    Path("a.onnx").write_bytes(data)
    with pytest.raises(Unreadable, match=said):
        read_whole("a.onnx", {})
