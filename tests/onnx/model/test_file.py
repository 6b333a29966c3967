"""Whole models as they are read: without weights, with sizes for symbolic dimensions, functions inlined."""

from __future__ import annotations

import itertools
import re
from graphlib import CycleError
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from whole_models import attention_layer, model, node, numbers, residual_block, save, tensor, weight

from dmlcheck.onnx.model import file as model_file
from dmlcheck.onnx.model.file import elements, graphs_of, read_to_run, read_whole, symbols_of
from dmlcheck.onnx.reading import Unreadable

onnx = pytest.importorskip("onnx")

pytestmark = pytest.mark.usefixtures("folder")
helper = onnx.helper


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
    assert symbols_of(whole.proto, {}) == ["sequence"]
    assert symbols_of(read_whole(save(residual_block()), {}).proto, {}) == ["batch"]


def test_sizes_without_a_name_are_given_by_their_place() -> None:
    """Exporters write nothing, -1 or a question mark; a name may be given by its place too, a number not."""
    made = model([node("Relu", "x", "y")], {"x": [None, 3, "?", "?", "n", -1]}, {"y": [None, 3, "?", "?", "n", -1]})
    whole = read_whole(save(made), {})
    assert symbols_of(whole.proto, {}) == ["x:0", "x:2", "x:3", "n", "x:5"]
    assert whole.symbols == {"x:0", "x:2", "x:3", "x:5", "n"}
    whole = read_whole(save(made), {"x:0": 7, "x:2": 0, "x:3": 5, "x:4": 6, "x:1": 9})
    dims = whole.proto.graph.input[0].type.tensor_type.shape.dim
    assert [dim.dim_value for dim in dims] == [7, 3, 0, 5, 6, -1]
    assert (symbols_of(whole.proto, {}), "x:4" in whole.symbols, "x:1" in whole.symbols) == (["x:5"], True, False)
    assert symbols_of(read_whole(save(made), {"?": 2}).proto, {}) == ["x:0", "x:2", "x:3", "n", "x:5"]


def test_inner_graphs_are_found() -> None:
    inner = helper.make_graph([node("Relu", "x", "z")], "inner", [], [tensor("z", [4])])
    outer = model([node("If", "c", "y", then_branch=inner, else_branch=inner)], {"x": [4]}, {"y": [4]})
    assert [graph.name for graph in graphs_of(outer.graph)] == ["g", "inner", "inner"]


def test_names_that_are_not_utf_8_are_refused() -> None:
    data = model([node("Relu", "x", "y", "abc")], {"x": [4]}, {"y": [4]}).SerializeToString()
    Path("a.onnx").write_bytes(data.replace(b"abc", b"a\xffc"))
    with pytest.raises(Unreadable, match="names that are not UTF-8"):
        read_whole("a.onnx", {})


def test_functions_that_call_each_other_in_a_circle_are_refused_before_onnx_sees_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As the size after inlining tells it; the functions here are in none."""
    inline = Mock()
    monkeypatch.setattr("onnx.inliner.inline_local_functions", inline)
    monkeypatch.setattr(model_file, "inlined_size", Mock(side_effect=CycleError))
    with pytest.raises(Unreadable, match="has functions that call each other in a circle"):
        read_whole(save(of_functions([node("Relu", "a", "b")])), {})
    inline.assert_not_called()


def test_functions_that_grow_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of three functions calls the next one twice: eight nodes."""
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
        for name, other in itertools.pairwise(f"F{index}" for index in range(3))
    ]
    last = helper.make_function("own", "F2", ["a"], ["b"], [node("Relu", "a", "m"), node("Relu", "m", "b")], opsets)
    made = model([node("F0", "x", "y", domain="own")], {"x": [4]}, {"y": [4]}, functions=[*functions, last])
    monkeypatch.setattr(model_file, "MOST_INLINED", 8)
    assert len(read_whole(save(made), {}).proto.graph.node) == 8
    monkeypatch.setattr(model_file, "MOST_INLINED", 7)
    with pytest.raises(Unreadable, match="has more than 7 nodes when its functions are inlined"):
        read_whole(save(made), {})


def test_a_model_of_an_opset_that_onnx_does_not_have_is_refused() -> None:
    newest = onnx.defs.onnx_opset_version()
    read_whole(save(model([node("Relu", "x", "y")], {"x": [4]}, {"y": [4]}, opset=newest)), {})
    path = save(model([node("Relu", "x", "y")], {"x": [4]}, {"y": [4]}, opset=newest + 1))
    said = f"asks for opset {newest + 1}, and onnx {onnx.__version__} has opsets up to {newest}: install a newer onnx"
    with pytest.raises(Unreadable, match=re.escape(said)):
        read_whole(path, {})


@pytest.mark.parametrize("opset", [0, -1, -(2**63)])
def test_an_opset_below_1_is_refused(opset: int) -> None:
    made = model([node("Shape", "", "y")], {"x": [4]}, {"y": [4]}, opset=opset)
    with pytest.raises(Unreadable, match=f"asks for opset {opset}, and the first opset is 1"):
        read_whole(save(made), {})
    made.opset_import.append(helper.make_opsetid("ai.onnx", 17))
    with pytest.raises(Unreadable, match="and the first opset is 1"):
        read_whole(save(made), {})


def of_functions(*functions: list[Any], calls: int = 1, **attributes: Any) -> Any:
    """Return a model that calls the first of some functions, F0, which have these nodes."""
    opsets = [helper.make_opsetid("own", 1), helper.make_opsetid("", 17)]
    made = [
        helper.make_function("own", f"F{index}", ["a"], ["b"], nodes, opsets, attributes=list(attributes))
        for index, nodes in enumerate(functions)
    ]
    called = [node("F0", "x", f"y{index}", domain="own", **attributes) for index in range(calls)]
    return model(called, {"x": [4]}, {"y0": [4]}, functions=made)


@pytest.mark.parametrize("name", [b"Relu", b"F0", b"bee", b"own", b"attr", b"wide"])
def test_names_in_functions_that_are_not_utf_8_are_refused(name: bytes) -> None:
    branch = helper.make_graph([node("Neg", "a", "bee")], "branch", [tensor("a", ["wide"])], [])
    body = [node("Relu", "a", "m"), node("If", "m", "b", attr=branch)]
    data = of_functions(body).SerializeToString()
    assert name in data
    Path("a.onnx").write_bytes(data.replace(name, b"\xff" + name[1:]))
    with pytest.raises(Unreadable, match="names that are not UTF-8"):
        read_whole("a.onnx", {})


def test_names_and_attributes_that_inlining_multiplies_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name of 1,000 characters in 200 nodes is 200 KB, and so is an attribute."""
    nodes = [node("Relu", "a", f"b{index}") for index in range(200)]
    made = of_functions([*nodes, node("Relu", "a", "b")])
    made.graph.node[0].input[0] = made.graph.input[0].name = "n" * 1000
    for one in nodes:
        one.attribute.add(name="s", ref_attr_name="s", type=3)
    other = of_functions([*nodes, node("Relu", "a", "b")], s="s" * 1000)
    for each in (made, other):
        assert read_whole(save(each), {}).proto.graph.node
    monkeypatch.setattr(model_file, "MOST_BYTES", 150_000)
    for each in (made, other):
        with pytest.raises(Unreadable, match="has more than 150,000 bytes when its functions are inlined"):
            read_whole(save(each), {})


def test_a_model_that_calls_multiply_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """11 calls of a function with an attribute of 20,000 bytes; of more than 2 GiB protobuf makes an empty model."""
    made = of_functions([node("Relu", "a", "b"), node("Mine", "a", "c", domain="other", s="s" * 20_000)], calls=11)
    assert read_whole(save(made), {}).proto.graph.node
    monkeypatch.setattr(model_file, "MOST_BYTES", 200_000)
    with pytest.raises(Unreadable, match="has more than 200,000 bytes when its functions are inlined"):
        read_whole(save(made), {})


def test_what_is_inlined_is_far_from_what_protobuf_and_onnx_bear() -> None:
    assert (model_file.MOST_BYTES, model_file.MOST_INLINED) == (128 * 2**20, 50_000)


def test_a_model_that_comes_back_empty_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onnx.inliner.inline_local_functions", lambda _: onnx.ModelProto())
    with pytest.raises(Unreadable, match="no node is left"):
        read_whole(save(of_functions([node("Relu", "a", "b")])), {})


def test_calls_have_a_depth() -> None:
    def chain(length: int) -> Any:
        inner = [[node(f"F{index + 1}", "a", "b", domain="own")] for index in range(length - 1)]
        return of_functions(*inner, [node("Relu", "a", "b")])

    assert len(read_whole(save(chain(99)), {}).proto.graph.node) == 1
    with pytest.raises(Unreadable, match="functions that call each other more than 100 deep"):
        read_whole(save(chain(101)), {})


def test_nodes_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = helper.make_graph([node("Relu", "x", "z")], "inner", [], [])
    made = save(model([node("If", "c", "y", then_branch=inner, else_branch=inner)], {"x": [4]}, {"y": [4]}))
    monkeypatch.setattr(model_file, "MOST_NODES", 3)
    read_whole(made, {})
    monkeypatch.setattr(model_file, "MOST_NODES", 2)
    with pytest.raises(Unreadable, match="has more than 2 nodes, and dmlcheck reads no more"):
        read_whole(made, {})


@pytest.mark.parametrize(
    ("sizes", "number"),
    [([], 1), ([2, 3], 6), ([0, 2**62], 0), ([2**62, 0], 0), ([5, 2, 2], 20), ([-5, 3], 15)],
)
def test_elements_are_counted(sizes: list[int], number: int) -> None:
    assert elements(sizes, 20) == number


def test_many_elements_are_not_counted_to_the_end() -> None:
    """The product has 3 million digits."""
    assert 1000 < elements([2**62] * 200_000, 1000) < 2**73
    assert 1000 < elements([-(2**62)] * 200_000, 1000) < 2**124


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"no model", "is not an ONNX model"),
        (b"", "it has no graph or no opset"),
        (b"\x3a\x04\x0a\x02\x0a\x05", "is not an ONNX model"),  # an input that is longer than its node
    ],
)
def test_what_is_no_model_is_refused(data: bytes, said: str) -> None:
    Path("a.onnx").write_bytes(data)
    with pytest.raises(Unreadable, match=said):
        read_whole("a.onnx", {})


# ---- with its weights


def weighty() -> Any:
    values = helper.make_tensor("w", 1, [2, 3], [1.0, 2, 3, 4, 5, 6])
    return model([node("MatMul", "x w", "y")], {"x": ["n", 2], "w": [2, 3]}, {"y": ["n", 3]}, [values])


def test_a_model_to_run_has_its_weights_apart() -> None:
    read = read_to_run(save(weighty()), {"n": 4})
    assert onnx.numpy_helper.to_array(read.weights["w"]).tolist() == [[1, 2, 3], [4, 5, 6]]
    assert [value.name for value in read.proto.graph.input] == ["x"]
    assert read.proto.graph.input[0].type.tensor_type.shape.dim[0].dim_value == 4
    assert (list(read.proto.graph.initializer), read.symbols) == ([], {"n"})


def test_weights_in_other_files_are_read() -> None:
    made = weighty()
    made.graph.initializer[0].CopyFrom(
        onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(made.graph.initializer[0]), "w")
    )
    onnx.save_model(made, "m.onnx", save_as_external_data=True, location="m.bin", size_threshold=0)
    assert Path("m.bin").stat().st_size == 24
    (tensor,) = read_to_run("m.onnx", {}).weights.values()
    assert onnx.numpy_helper.to_array(tensor).tolist() == [[1, 2, 3], [4, 5, 6]]
    assert (tensor.data_location, list(tensor.external_data)) == (onnx.TensorProto.DEFAULT, [])


def test_weights_that_are_not_there_or_elsewhere_are_refused() -> None:
    for place in ("nowhere.bin", "../m.bin"):
        made = weighty()
        made.graph.initializer[0].CopyFrom(weight("w", [2, 3]))
        made.graph.initializer[0].external_data[0].value = place
        with pytest.raises(Unreadable, match="has weights in other files that cannot be read"):
            read_to_run(save(made), {})


def test_weights_that_do_not_fit_into_memory_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_file, "available_bytes", lambda: 2**20)
    made = weighty()
    made.graph.initializer[0].CopyFrom(weight("w", [2, 3]))
    made.graph.initializer[0].external_data.add(key="length", value=str(2**30))
    with pytest.raises(Unreadable, match=r"has weights of 1(\.0)? GiB"):
        read_to_run(save(made), {})


def test_functions_of_a_model_to_run_are_inlined() -> None:
    function = helper.make_function(
        "own", "Twice", ["a"], ["b"], [node("Add", "a a", "b")], [helper.make_opsetid("", 17)]
    )
    made = model([node("Twice", "w", "y", domain="own")], {}, {"y": [1]}, [helper.make_tensor("w", 1, [1], [1.0])],
                 functions=[function])  # fmt: skip
    read = read_to_run(save(made), {})
    assert [each.op_type for each in read.proto.graph.node] == ["Add"]
    assert list(read.weights) == ["w"]


@pytest.mark.parametrize("data", [b"no model", b"", b"\x3a\x04\x0a\x02\x0a\x05", b"\x3a\x04\x2a\x02\xff\xff"])
def test_what_is_no_model_does_not_run(data: bytes) -> None:
    Path("a.onnx").write_bytes(data)
    with pytest.raises(Unreadable):
        read_to_run("a.onnx", {})


# ---- nodes that stand before what they read: ONNX Runtime's converter to FLOAT16 puts its casts last


def order(*nodes: Any) -> list[str]:
    return [each.name for each in read_whole(save(model(list(nodes), {"x": [2]}, {"y": [2]})), {}).proto.graph.node]


def test_nodes_come_after_what_they_read_and_stay_where_they_can() -> None:
    add, cast = node("Add", "a c", "y", "add"), node("Cast", "x", "c", "cast", to=1)
    assert order(node("Relu", "x", "a", "first"), add, node("Neg", "y", "z", "last"), cast) == [
        "first",
        "cast",
        "add",
        "last",
    ]
    assert order(cast, node("Relu", "x", "a", "second"), add) == ["cast", "second", "add"]


def test_what_an_inner_graph_reads_comes_before_it_and_its_own_nodes_are_put_in_order() -> None:
    inner = [node("Neg", "b", "r", "late"), node("Relu", "c", "b", "early")]
    branch = helper.make_graph(inner, "branch", [], [tensor("r", [2])])
    made = [node("If", "yes", "y", "if", then_branch=branch, else_branch=branch), node("Cast", "x", "c", "cast", to=1)]
    made.append(node("Identity", "y", "z", "last"))
    read = read_whole(save(model(made, {"x": [2]}, {"z": [2]})), {}).proto.graph
    names = [[each.name for each in graph.node] for graph in graphs_of(read)]
    assert names == [["cast", "if", "last"], ["early", "late"], ["early", "late"]]


def test_nodes_in_a_circle_or_with_outputs_of_one_name_stay_as_they_are() -> None:
    circle = [node("Add", "x b", "a", "a"), node("Neg", "a", "b", "b"), node("Relu", "x", "c", "c")]
    assert order(*circle) == ["a", "b", "c"]
    twice = [node("Neg", "x", "a", "first"), node("Relu", "a", "b", "reader"), node("Abs", "b", "a", "again")]
    assert order(*twice) == ["first", "reader", "again"]
