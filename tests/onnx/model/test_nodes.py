"""The nodes of whole models: what each becomes, and why some have no descs."""

from __future__ import annotations

import tracemalloc
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from whole_models import (
    FLOAT,
    FLOAT16,
    INT64,
    attention_layer,
    mobile_block,
    model,
    node,
    numbers,
    save,
    tensor,
    weight,
)

from dmlcheck.onnx.model import nodes as model_nodes
from dmlcheck.onnx.model import values
from dmlcheck.onnx.model.file import read_whole
from dmlcheck.onnx.model.nodes import ModelNode, UnusableNode, nodes_of

helper = pytest.importorskip("onnx.helper")
onnx = pytest.importorskip("onnx")

pytestmark = pytest.mark.usefixtures("folder")
TensorProto = onnx.TensorProto


def found(made: Any, sizes: Mapping[str, int] | None = None) -> list[ModelNode]:
    return list(nodes_of(read_whole(save(made), sizes or {})))


def becomes(one: ModelNode) -> str:
    """Return the operator of a node, or the rule of the note."""
    return one.found.rule if isinstance(one.found, UnusableNode) else "+".join(each.operator for each in one.found)


def by_name(made: Any, sizes: Mapping[str, int] | None = None) -> dict[str, str]:
    return {one.name: becomes(one) for one in found(made, sizes)}


def reason(made: Any, name: str) -> str:
    (one,) = (one for one in found(made) if one.name == name)
    assert isinstance(one.found, UnusableNode)
    return one.found.reason


def test_a_block_of_mobilenet_is_mapped_with_the_attributes_of_its_opset() -> None:
    nodes = {one.name: one for one in found(mobile_block())}
    assert nodes["clip1"].operator == "Clip-6"
    assert nodes["depthwise"].operator == "Conv-1"
    (clip,), (depthwise,) = nodes["clip1"].found, nodes["depthwise"].found
    assert (clip.operator, clip.fields["Min"], clip.fields["Max"]) == ("ELEMENT_WISE_CLIP", 0, 6)
    assert depthwise.fields["GroupCount"] == 96


def test_a_layer_of_bert_is_mapped_where_its_open_sizes_are_given() -> None:
    made = by_name(attention_layer(), {"batch": 2, "sequence": 128})
    assert made["scores"] == "GEMM"
    assert made["norm"] == "MEAN_VARIANCE_NORMALIZATION2"
    assert {made[name] for name in ("shape", "batch", "length", "batch1", "split")} == {"runs-elsewhere"}
    assert "unknown-sizes" not in made.values()
    assert "onnx-syntax" not in made.values()


def test_weights_that_are_not_there_take_no_memory() -> None:
    """32 products of 1024x1024 are 128 MiB of weights in FLOAT; gathers and scales convert indices and types."""
    side = 1024
    chain = [node("MatMul", f"x{index} w{index}", f"x{index + 1}", f"m{index}") for index in range(32)]
    indexed = [
        node("Gather", "table indices", "g", "gather"),
        node("TopK", "x32 k", "t ti", "top"),
        node("DequantizeLinear", "packed s", "d", "dequantize", axis=0),
        node("MaxPool", "image", "p pi", "pool", kernel_shape=[1, 1]),
    ]
    weights = [weight(f"w{index}", [side, side]) for index in range(32)]
    weights += [weight("table", [2**14, 1024]), weight("packed", [side, side], 3), weight("s", [side])]
    inputs = {"x0": [side, side], "image": [1, 1, side, side]}
    made = model([*chain, *indexed], inputs, {"t": [side, 5]}, [*weights, numbers("k", [5])], opset=13)
    made.graph.input.append(tensor("indices", [2**12, 2**9], INT64))
    made.graph.output.append(tensor("pi", [1, 1, side, side], INT64))
    save(made)
    tracemalloc.start()
    try:
        made_of = {one.name: becomes(one) for one in nodes_of(read_whole("model.onnx", {}))}
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert made_of["m31"] == "GEMM"
    assert (made_of["gather"], made_of["top"]) == ("GATHER", "TOP_K1")
    assert made_of["pool"] == "MAX_POOLING2"
    assert made_of["dequantize"] == "ELEMENT_WISE_DEQUANTIZE_LINEAR"
    assert most < 2**22


def test_what_is_constant_is_computed_when_the_model_is_loaded() -> None:
    made = model(
        [node("Add", "a a", "b", "sum"), node("Add", "x b", "y", "last")], {"x": [4]}, {"y": [4]}, [weight("a", [4])]
    )
    assert by_name(made) == {"sum": "runs-elsewhere", "last": "ELEMENT_WISE_ADD"}
    assert "all its inputs are constant" in reason(made, "sum")


def test_what_onnx_runtime_has_fused_for_directml_is_not_called_the_cpus() -> None:
    made = model([node("DmlFusedConv", "x", "y", "one", domain="com.microsoft.dml")], {"x": [4]}, {"y": [4]})
    assert by_name(made) == {"one": "not-mapped"}


def test_a_node_that_no_desc_fits_is_not_called_legal() -> None:
    gelu = node("Gelu", "x", "y", "gelu", approximate="tanh")
    half = node("BiasSplitGelu", "x b", "z", "half", domain="com.microsoft")
    made = model([half, gelu], {"x": [4, 7], "b": [7]}, {"z": [4, 3]}, opset=20)
    assert by_name(made) == {"half": "not-mapped", "gelu": "runs-elsewhere"}
    assert reason(made, "half").endswith("of the sizes [4, 7], which have no halves")


@pytest.mark.parametrize(
    ("type", "attributes"),
    [
        ("MatMulNBits", {"K": 16, "N": 4, "block_size": [16]}),
        ("MultiHeadAttention", {"num_heads": [4]}),
        ("MultiHeadAttention", {"num_heads": weight("outside", [1])}),
        ("Attention", {"num_heads": 4, "qkv_hidden_sizes": 5}),
        ("GroupNorm", {"groups": "four"}),
        ("NhwcConv", {"strides": 2}),
    ],
)
def test_attributes_of_a_wrong_type_are_no_crash(type: str, attributes: dict[str, Any]) -> None:
    made = node(type, "x x x x", "y", "one", domain="com.microsoft", **attributes)
    assert by_name(model([made], {"x": [2, 5, 16]}, {"y": [2, 5, 16]}))["one"] in (
        "not-mapped",
        "no-provider",
        "runs-elsewhere",
    )


def test_more_dimensions_than_an_array_can_have_are_no_crash() -> None:
    made = model([node("Relu", "x", "y", "relu")], {"x": [1] * 70}, {"y": [1] * 70})
    assert reason(made, "relu") == "x has 70 dimensions, more than a tensor can have"


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ([2**62] * 100, "x has 100 dimensions, more than a tensor can have"),
        ([2**62] * 101, "the sizes of x are not known"),  # which are no longer followed
        ([2**62] * 3, f"x has the sizes [{2**62}, {2**62}, {2**62}], more elements than a tensor can have"),
        ([0, 2**62], f"x has the sizes [0, {2**62}], more elements than a tensor can have"),
    ],
)
def test_sizes_beyond_all_arrays_are_no_crash(sizes: list[int], said: str) -> None:
    assert reason(model([node("Relu", "x", "y", "relu")], {"x": sizes}, {"y": sizes}), "relu") == said
    made = model([node("Add", "x z", "y", "add")], {"z": sizes}, {"y": sizes}, [weight("x", sizes)])
    assert reason(made, "add") == said


def test_nodes_that_others_come_in_the_place_of_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """One in a branch, one of other sizes beside it; a Softplus has a function too, and is registered."""
    branch = helper.make_graph([node("HardSwish", "x", "z", "in")], "branch", [], [tensor("z", [4])])
    nodes = [
        node("If", "c", "y", "if", then_branch=branch),
        node("HardSwish", "v", "w", "out"),
        node("Softplus", "x", "s"),
    ]
    made = model(nodes, {"x": [4], "v": [5], "c": []}, {"w": [5]})
    monkeypatch.setattr(model_nodes, "MOST_INLINED", 2)
    assert by_name(made)["out"] == "ACTIVATION_HARD_SIGMOID+ELEMENT_WISE_MULTIPLY"
    monkeypatch.setattr(model_nodes, "MOST_INLINED", 1)
    assert by_name(made)["if/then_branch/in"] == "ACTIVATION_HARD_SIGMOID+ELEMENT_WISE_MULTIPLY"
    assert by_name(made)["out"] == "not-mapped"
    assert by_name(made)["s"] == "ACTIVATION_SOFTPLUS"
    assert reason(made, "out") == "more than 1 nodes are defined by others, as it is, and dmlcheck follows no more"


def test_long_sizes_are_cut_in_a_message() -> None:
    told = reason(model([node("Relu", "x", "y", "relu")], {"x": ["n" * 2000]}, {"y": [4]}), "relu")
    assert told == f"the sizes of x are [{'n' * 197}...]"


def test_a_custom_operator_before_an_addition_is_no_crash() -> None:
    """Nothing is known of its output; what the model declares of the sum is small."""
    nodes = [node("Mine", "x", "m", "mine", domain="own"), node("Add", "m c", "y", "add")]
    made = model(nodes, {"x": [4]}, {"y": [4]}, [helper.make_tensor("c", 1, [4], [1, 2, 3, 4])])
    assert by_name(made) == {"mine": "runs-elsewhere", "add": "unknown-sizes"}


@pytest.mark.parametrize("kind", [0, 999])
@pytest.mark.parametrize("type", ["Reshape", "Identity", "Concat", "Gelu", "Mine", "Shape", "Where"])
def test_types_that_onnx_does_not_have_are_no_crash(type: str, kind: int) -> None:
    """As a declared type, as that of an input, and as that of a constant."""
    domain = {"Gelu": "com.microsoft", "Mine": "own"}.get(type, "")
    nodes = [node("Mine", "x", "m", domain="own")]
    nodes += [node(type, f"{name} to", f"{name}_of", domain=domain) for name in ("m", "x", "c")]
    made = model(
        [*nodes, node("Shape", "x", "s"), node(type, "s c", "s_of", domain=domain)],
        {"x": [2, 2]},
        {"m_of": [4]},
        [TensorProto(name="c", data_type=kind, dims=[2, 2]), numbers("to", [4])],
        kind=kind,
        infos=[tensor(name, [2, 2], kind) for name in ("m", "s_of", "x_of")],
    )
    assert "m" in by_name(made)


def test_a_constant_without_a_value_is_an_error_of_the_node() -> None:
    made = node("Constant", "", "c", "constant")
    made.attribute.add(name="value", ref_attr_name="what", type=4)
    said = "its attribute value names what of a function, and it is in none"
    assert reason(model([made, node("Add", "x c", "y")], {"x": [4]}, {"y": [4]}), "constant") == said


@pytest.mark.parametrize("domain", ["", "com.microsoft", "own"])
def test_an_attribute_without_a_value_is_an_error_of_the_node(domain: str) -> None:
    """One that refers to an attribute of a function, in which the node is not, and one of no type."""
    made = node("Gelu", "x", "y", "gelu", domain=domain)
    made.attribute.add(name="approximate", ref_attr_name="how", type=3)
    said = "its attribute approximate names how of a function, and it is in none"
    assert reason(model([made], {"x": [4]}, {"y": [4]}, opset=20), "gelu") == said
    made.attribute[0].CopyFrom(onnx.AttributeProto(name="approximate", s=b"tanh"))
    assert reason(model([made], {"x": [4]}, {"y": [4]}), "gelu") == "its attribute approximate has no type"


def test_a_shape_of_nothing_is_no_crash() -> None:
    made = model([node("Shape", "", "y", "own", domain="own"), node("Shape", "", "z", "onnx")], {}, {"y": [4]})
    assert by_name(made) == {"own": "runs-elsewhere", "onnx": "onnx-syntax"}


@pytest.mark.parametrize("inputs", ["x", "-", ""])
def test_a_map_of_what_is_no_sequence_is_no_crash(inputs: str) -> None:
    body = helper.make_graph([node("Relu", "e", "z", "relu")], "body", [tensor("e", [4])], [tensor("z", [4])])
    made = model([node("SequenceMap", inputs, "y", "map", body=body)], {"x": [4]}, {"y": [4]})
    assert by_name(made) == {"map": "runs-elsewhere", "map/body/relu": "ACTIVATION_RELU"}


def test_sizes_that_double_with_each_node_are_not_followed_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three nodes, beside an If: numbers that are joined to themselves, and indices whose dimensions add up."""
    branch = helper.make_graph([node("Relu", "x", "z")], "branch", [], [tensor("z", [4])])
    chosen = node("If", "c", "w", "choose", then_branch=branch, else_branch=branch)
    joined = [node("Concat", f"n{i} n{i}", f"n{i + 1}", axis=0) for i in range(3)]
    gathered = [node("Gather", f"g{i} g{i}", f"g{i + 1}") for i in range(2)]
    last = [node("Expand", "x n3", "y"), node("Relu", "y", "r"), node("Cast", "g2", "k", to=FLOAT)]
    made = model([chosen, *joined, *gathered, *last], {"x": [4], "c": []}, {}, [numbers("n0", [1])])
    made.graph.output.extend(tensor(name, [4]) for name in ("r", "k"))
    made.graph.input.append(tensor("g0", [1, 1], INT64))
    names = by_name(made)
    assert (names["n3"], names["r"], names["k"]) == ("runs-elsewhere", "ACTIVATION_RELU", "CAST")
    monkeypatch.setattr(values, "MOST_VALUES", 4)
    monkeypatch.setattr(values, "_MOST_FOLLOWED", 4)
    names = by_name(made)
    assert (names["n3"], names["r"], names["k"]) == ("runs-elsewhere", "unknown-sizes", "unknown-sizes")


@pytest.mark.slow
def test_a_sequence_that_grows_is_followed_to_a_number_of_tensors() -> None:
    """Joined after 200 and after 2,000 tensors."""
    grown = [node("SequenceInsert", f"s{i} x", f"s{i + 1}") for i in range(2000)]
    joins = [node("ConcatFromSequence", f"s{i}", f"y{i}", axis=0) for i in (200, 2000)]
    made = model([node("SequenceConstruct", "x", "s0"), *grown, *joins], {"x": [4]}, {"y200": [4], "y2000": [4]})
    names = by_name(made)
    assert (names["y200"], names["y2000"]) == ("JOIN", "unknown-sizes")


def test_a_long_name_is_cut_where_it_is_repeated() -> None:
    """For each of the nodes inside of a node, and inside of these."""
    inner = helper.make_graph([node("Relu", "x", "z", "in")], "inner", [], [])
    outer = helper.make_graph([node("If", "c", "w", "m" * 600, then_branch=inner)], "outer", [], [])
    made = model([node("If", "c", "y", "n" * 600, then_branch=outer)], {"x": [4], "c": []}, {"y": [4]})
    names = [one.name for one in found(made)]
    long = f"{'n' * 600}/then_branch/"
    assert names[1] == long + "m" * 600
    assert names[2] == f"{long}{'m' * (997 - len(long))}.../in"


def test_open_sizes_of_a_node_that_is_inlined_are_said_as_the_model_names_them() -> None:
    made = model([node("HardSwish", "x", "y", "one")], {"x": ["n"]}, {"y": ["n"]})
    assert reason(made, "one") == "the sizes of x are [n]"


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ([node("Relu", "nothing", "y", "bad")], "it reads 'nothing', which is no input"),
        ([node("Relu", "x x", "y", "bad")], "input size 2 not in range"),
        ([node("NoSuch", "x", "y", "bad")], "ONNX has no operator NoSuch"),
        ([node("MatMul", "x w", "y", "bad")], "Incompatible dimensions"),
        ([node("Not", "x", "y", "bad")], "unsupported type: tensor(float)"),
        ([node("Constant", "", "c", "bad", value=3)], "Mismatched attribute type"),
        ([node("Constant", "", "c", "bad", value_int="three")], "Mismatched attribute type"),
        ([node("Constant", "", "", "bad", value_int=1)], "has zero input and zero output"),
    ],
)
def test_a_broken_node_is_an_error_that_names_it(nodes: list[Any], said: str) -> None:
    made = model(nodes, {"x": [4, 4]}, {"y": [4, 4]}, [weight("w", [5, 5])])
    (one,) = found(made)
    assert isinstance(one.found, UnusableNode)
    assert (one.name, one.found.rule) == ("bad", "onnx-syntax")
    assert said in one.found.reason


def test_a_constant_in_another_file_is_not_read() -> None:
    made = model([node("Constant", "", "c", value=weight("", [4])), node("Add", "x c", "y")], {"x": [4]}, {"y": [4]})
    assert by_name(made) == {"y": "ELEMENT_WISE_ADD"}


def test_operators_that_nobody_knows_have_the_sizes_that_the_model_gives() -> None:
    other = node("NoSuch", "x", "y", "other", domain="com.microsoft")
    last = node("Relu", "y", "z", "relu")
    made = model([other, last], {"x": [4]}, {"z": [4]})
    assert by_name(made) == {"other": "no-provider", "relu": "unknown-sizes"}
    assert by_name(model([other, last], {"x": [4]}, {"z": [4]}, infos=[tensor("y", [4])]))["relu"] == "ACTIVATION_RELU"


def test_types_of_all_inputs_of_onnx_runtimes_own_operators_are_checked() -> None:
    def rotary(positions: int) -> Any:
        inputs = [
            tensor("x", [1, 2, 4, 8]),
            tensor("ids", [1, 4], positions),
            tensor("c", [16, 4]),
            tensor("s", [16, 4]),
        ]
        made = model(
            [node("RotaryEmbedding", "x ids c s", "y", "rotary", domain="com.microsoft")], {}, {"y": [1, 2, 4, 8]}
        )
        made.graph.input.extend(inputs)
        return made

    assert by_name(rotary(INT64))["rotary"] != "runs-elsewhere"
    said = "input 1 is INT32, which the DirectML provider of ONNX Runtime 1.24 does not take there"
    assert reason(rotary(TensorProto.INT32), "rotary") == f"{said}, and the CPU takes INT64 as input 1, not INT32"


def test_an_operator_that_onnx_got_later_is_onnx_runtimes_own_version_before() -> None:
    normalized = node("LayerNormalization", "x s", "y", "norm")
    for opset, version in ((13, 1), (17, 17)):
        made = model([normalized], {"x": [2, 8]}, {"y": [2, 8]}, [weight("s", [8])], opset=opset)
        (one,) = found(made)
        assert one.operator == f"LayerNormalization-{version}"
        assert not isinstance(one.found, UnusableNode)


def test_a_resize_leaves_its_regions_empty() -> None:
    """As exporters of opset 11 and 12 do: the input is asked for, and only one mode reads it."""
    scales = helper.make_tensor("scales", FLOAT, [4], [1.0, 1.0, 2.0, 2.0])
    made = model(
        [node("Resize", "x roi scales", "y", "resize")],
        {"x": [1, 3, 4, 4]},
        {"y": [1, 3, 8, 8]},
        [helper.make_tensor("roi", FLOAT, [0], []), scales],
        opset=11,
    )
    assert by_name(made)["resize"].startswith("RESAMPLE")


# ---- what no provider takes


def of_kind(made: Any, *kinds: int, opset: int = 17) -> Any:
    """Return a model of one node with inputs a, b, c of some types."""
    whole = model([made], {}, {}, opset=opset)
    for name, kind in zip("abc", kinds, strict=False):
        whole.graph.input.append(tensor(name, [1, 4, 8, 8], kind))
    whole.graph.output.append(tensor("y", [1, 4, 8, 8], kinds[0]))
    return whole


DOUBLE, BFLOAT16 = 11, 16


@pytest.mark.parametrize(  # ONNX Runtime 1.24.4 makes no session of the ones, and one of the others
    ("made", "kinds", "opset", "expected"),
    [
        (node("MatMul", "a b", "y"), (BFLOAT16, BFLOAT16), 17, "no-provider"),
        (node("MatMul", "a b", "y"), (DOUBLE, DOUBLE), 17, "runs-elsewhere"),
        (node("MatMul", "a b", "y"), (FLOAT16, FLOAT16), 17, "GEMM"),
        (node("Conv", "a b", "y"), (DOUBLE, DOUBLE), 17, "no-provider"),
        (node("Add", "a b", "y"), (BFLOAT16, BFLOAT16), 17, "no-provider"),
        (node("Det", "a", "y"), (FLOAT,), 17, "runs-elsewhere"),
        (node("Det", "a", "y"), (FLOAT16,), 17, "runs-elsewhere"),
        (node("Det", "a", "y"), (DOUBLE,), 17, "no-provider"),
        (node("HardSwish", "a", "y"), (DOUBLE,), 17, "no-provider"),
        (node("Gelu", "a", "y"), (DOUBLE,), 20, "no-provider"),
        (node("MeanVarianceNormalization", "a", "y"), (DOUBLE,), 17, "no-provider"),
        (node("DeformConv", "a b c", "y"), (FLOAT, FLOAT, FLOAT), 19, "no-provider"),
        (node("FastGelu", "a", "y", domain="com.microsoft"), (DOUBLE,), 17, "runs-elsewhere"),
        (node("BiasGelu", "a b", "y", domain="com.microsoft"), (DOUBLE, DOUBLE), 17, "no-provider"),
        (node("BiasSoftmax", "a b", "y", domain="com.microsoft"), (FLOAT, FLOAT), 17, "no-provider"),
        (node("Mine", "a", "y", domain="com.example"), (FLOAT,), 17, "runs-elsewhere"),
        (node("Conv", "a b", "y", domain="com.microsoft.nchwc"), (FLOAT, FLOAT), 17, "runs-elsewhere"),
    ],
)
def test_what_neither_directml_nor_the_cpu_takes_is_an_error(
    made: Any, kinds: Sequence[int], opset: int, expected: str
) -> None:
    assert by_name(of_kind(made, *kinds, opset=opset)) == {"y": expected}


def untaken(made: Any, *kinds: int) -> tuple[str, str | None]:
    (one,) = found(of_kind(made, *kinds))
    assert isinstance(one.found, UnusableNode)
    assert one.found.is_error
    return one.found.reason, one.found.help


def test_a_node_that_no_provider_takes_says_why_and_what_to_do() -> None:
    double, help = untaken(node("Conv", "a b", "y"), DOUBLE, DOUBLE)
    assert double.endswith("1.24 does not take there, and the CPU takes FLOAT as input X, not DOUBLE")
    assert help is not None
    assert "cast to a type that one of them takes" in help
    groups, _ = untaken(node("SkipGroupNorm", "a", "y", domain="com.microsoft"), FLOAT)
    assert groups.endswith("does not register com.microsoft.SkipGroupNorm, and the CPU has no kernel for it")
    misspelt = untaken(node("SkipLayerNormalisation", "a", "y", domain="com.microsoft"), FLOAT)
    assert misspelt == (
        "ONNX Runtime 1.24 has no operator com.microsoft.SkipLayerNormalisation",
        "did you mean com.microsoft.SkipLayerNormalization?",
    )
    domain = untaken(node("SkipLayerNormalization", "a", "y", domain="com.microsft"), FLOAT)
    assert domain == (
        "ONNX Runtime 1.24 has no operators of the domain com.microsft, so that no provider takes it",
        "did you mean com.microsoft?",
    )


def test_an_operator_of_another_domain_runs_elsewhere() -> None:
    (one,) = found(of_kind(node("Mine", "a", "y", domain="com.example"), FLOAT))
    assert one.found == UnusableNode(
        "runs-elsewhere",
        "ONNX Runtime 1.24 has no operators of the domain com.example; the application must register a library of them",
    )


def test_a_part_of_a_function_that_no_provider_takes_is_named() -> None:
    told, _ = untaken(node("HardSwish", "a", "y"), DOUBLE)
    assert told.startswith("of HardSigmoid-6, which comes in its place: ")


def test_a_misspelt_operator_of_onnx_is_wrong_and_the_right_one_is_offered() -> None:
    (one,) = found(of_kind(node("Sofmax", "a", "y"), FLOAT))
    assert one.found == UnusableNode("onnx-syntax", "ONNX has no operator Sofmax; did you mean Softmax?")
    (one,) = found(of_kind(node("Gelu", "a", "y"), FLOAT))
    assert one.found == UnusableNode("onnx-syntax", "ONNX has no operator Gelu in opset 17, but from 20 on")


def test_constants_without_a_kernel_of_the_cpu_are_computed_by_directml() -> None:
    """Of FLOAT16 the CPU has no Mul; a Transpose it has."""
    halves = [weight("a", [4, 4], FLOAT16), weight("b", [4, 4], FLOAT16)]
    nodes = [node("Mul", "a b", "m", "product"), node("Transpose", "a", "t", "turned")]
    made = model(nodes, {}, {"m": [4, 4], "t": [4, 4]}, halves, kind=FLOAT16)
    assert by_name(made) == {"product": "ELEMENT_WISE_MULTIPLY", "turned": "runs-elsewhere"}


# ---- what the model declares


def declared(*infos: Any, outputs: Mapping[str, Sequence[Any]] | None = None) -> Any:
    nodes = [node("MatMul", "x w", "m", "product"), node("Relu", "m", "r", "relu"), node("MatMul", "r v", "y", "next")]
    weights = [weight("w", [8, 3]), weight("v", [3, 2])]
    return model(nodes, {"x": ["n", 8]}, outputs or {"y": ["n", 2]}, weights, infos=infos)


@pytest.mark.parametrize(
    ("info", "problem"),
    [
        (tensor("m", [5, 5]), "of the sizes [n, 3], and the model declares [5, 5]"),
        (tensor("m", ["n", 3, 1]), "of the sizes [n, 3], and the model declares [n, 3, 1]"),
        (tensor("m", [5, 3], INT64), "FLOAT, and the model declares INT64"),
        (tensor("m", ["n", 3], FLOAT16), "FLOAT, and the model declares FLOAT16"),
    ],
)
def test_a_declared_type_that_is_not_the_inferred_one_is_an_error_of_that_node(info: Any, problem: str) -> None:
    nodes = {one.name: one.found for one in found(declared(info), {"n": 4})}
    assert nodes["product"] == UnusableNode("onnx-syntax", f"its output m is {problem.replace('[n', '[4')}")
    assert not isinstance(nodes["relu"], UnusableNode)
    assert not isinstance(nodes["next"], UnusableNode)
    wrong = {one.name for one in found(declared(info)) if isinstance(one.found, UnusableNode) and one.found.is_error}
    assert wrong == {"product"}


@pytest.mark.parametrize("info", [tensor("m", ["n", 3]), tensor("m", [4, "k"]), tensor("m", ["", ""])])
def test_what_a_declared_type_leaves_open_is_no_contradiction(info: Any) -> None:
    assert not any(isinstance(one.found, UnusableNode) for one in found(declared(info), {"n": 4}))


def test_of_the_outputs_of_a_graph_the_types_must_be_right_and_not_the_sizes() -> None:
    made = declared(outputs={"y": [7, 7]})
    assert by_name(made, {"n": 4})["next"] == "GEMM"
    made.graph.output[0].type.tensor_type.elem_type = INT64
    assert reason(made, "next") == "its output y is FLOAT, and the model declares INT64"


def test_nodes_after_one_whose_sizes_onnx_infers_wrongly_are_right() -> None:
    """Half of the frequencies of 16 steps are 9, as ONNX's own test of STFT has it."""
    nodes = [node("STFT", "x s - l", "y", "stft"), node("MatMul", "c y", "z", "next")]
    made = model(nodes, {"x": [1, 128, 1], "c": [4, 9]}, {}, infos=[tensor("y", [1, 15, 9, 2])])
    made.graph.initializer.extend(helper.make_tensor(name, INT64, [], [size]) for name, size in (("s", 8), ("l", 16)))
    assert "onnx-syntax" not in by_name(made).values()
    made.graph.value_info[0].CopyFrom(tensor("y", [1, 15, 16, 2]))
    assert reason(made, "stft") == "its output y is of the sizes [1, 15, 9, 2], and the model declares [1, 15, 16, 2]"


# ---- where sizes that are not known begin


def roots(made: Any, sizes: Mapping[str, int] | None = None) -> dict[str, str]:
    return {one.name: one.found.root for one in found(made, sizes) if isinstance(one.found, UnusableNode)}


def test_unknown_sizes_have_a_root() -> None:
    nodes = [
        node("NonZero", "x", "places", "nonzero"),
        node("Shape", "places", "s", "shape"),
        node("Gather", "s one", "count", "count"),
        node("Unsqueeze", "count zero", "counts", "counts"),
        node("Expand", "value counts", "wide", "expand"),
        node("Relu", "wide", "r", "relu"),
        node("Reshape", "z target", "t", "reshape"),
        node("Abs", "t", "u", "abs"),
        node("Neg", "z", "known", "neg"),
    ]
    constants = [numbers("zero", [0]), helper.make_tensor("one", INT64, [], [1]), weight("value", [1])]
    made = model(nodes, {"x": [4], "z": ["n", 2]}, {}, constants)
    made.graph.input.append(tensor("target", ["d"], INT64))
    told = roots(made, {"n": 3, "d": 2})
    assert told.pop("expand") == told.pop("relu") == "the output of NonZero nonzero"
    assert told.pop("abs") == "the input target"
    assert set(told.values()) <= {""}
    assert roots(made)["neg"] == "the input z"


# ---- what a provider takes and refuses


def refusal(made: Any, inputs: Mapping[str, Any], outputs: Mapping[str, Any], constants: Any = (), **more: Any) -> str:
    """Return why a provider refuses the only node of a model, "" where it does not."""
    (one,) = found(model([made], inputs, outputs, constants, **more))
    is_refused = isinstance(one.found, UnusableNode) and one.found.rule == "provider-refuses"
    assert not is_refused or (one.found.is_error and one.found.help)
    return one.found.reason if is_refused else ""


def transposed(sizes: Sequence[int], window: Sequence[int], output: Any, **attributes: Any) -> str:
    made = node("ConvTranspose", "x w", "y", **attributes)
    return refusal(made, {"x": sizes}, {"y": output}, [weight("w", [sizes[1], 1, *window])])


@pytest.mark.parametrize(  # by OperatorHelper.cpp; ONNX Runtime 1.24.4 with DirectML 1.15.4 showed such, 2026-11-29
    ("sizes", "window", "attributes", "said"),
    [
        ([1, 8, 5], [3], {"output_padding": [1], "strides": [2]}, "of one dimension that has output_padding"),
        ([1, 8, 5], [3], {"output_padding": [0]}, "of one dimension that has output_padding"),
        ([1, 8, "frames"], [3], {"output_padding": [0]}, "of one dimension that has output_padding"),
        ([1, 8, 5], [3], {"strides": [2]}, ""),
        ([1, 8, 5, 5], [3, 3], {"output_padding": [1, 1], "strides": [2, 2]}, ""),
        ([1, 2, 3, 3], [3, 3], {"auto_pad": "SAME_UPPER", "strides": [2, 2]}, "the sizes [5, 5] for ConvTranspose"),
        ([1, 2, 4, 4], [3, 3], {"auto_pad": "SAME_LOWER", "strides": [2, 2]}, ""),
        (
            [1, 2, 3, 3],
            [3, 3],
            {"auto_pad": "SAME_UPPER", "strides": [2, 2], "output_padding": [1, 1]},
            "the sizes [6, 6] for ConvTranspose, where ONNX Runtime infers [7, 7], and refuses it",
        ),
        ([1, 2, 3, 3], [3, 3], {"auto_pad": "SAME_UPPER"}, ""),
        ([1, 2, 3, 3], [2, 2], {"auto_pad": "SAME_LOWER", "dilations": [2, 2]}, ""),
        ([1, 4, 5, 5], [3, 3], {"output_shape": [4, 4]}, "output_shape [4, 4] is smaller than its input, [5, 5]"),
        ([1, 4, 5, 5], [3, 3], {"output_shape": [7, 6]}, ""),
    ],
)
def test_transposed_convolutions_that_the_provider_refuses(
    sizes: Sequence[int], window: Sequence[int], attributes: dict[str, Any], said: str
) -> None:
    found = transposed(sizes, window, ["n", "c", *(f"size{index}" for index in window)], **attributes)
    assert (said in found) if said else not found


@pytest.mark.parametrize(
    ("shape", "allowzero", "is_refused"),
    [
        ([6, 5], 0, True),
        ([5, 5], 0, False),
        ([0, 5], 0, False),
        ([0, 5], 1, True),
        ([-1, 5], 0, False),
        ([25], 0, False),
        ([24], 0, True),
        ([0, 0, 1], 0, True),
        ([5, 0, 0], 0, False),
        ([-1, -1], 0, False),
    ],
)
def test_a_reshape_to_other_numbers_of_elements_is_refused(shape: list[int], allowzero: int, is_refused: bool) -> None:
    """25 elements; exporters write the size of their example where they should write that of the input."""
    made = node("Reshape", "x s", "y", allowzero=allowzero)
    said = refusal(made, {"x": [5, 1, 5]}, {"y": ["a"] * len(shape)}, [numbers("s", shape)])
    assert bool(said) == is_refused
    assert not said or said.startswith(f"no provider makes the sizes {shape} of the 25 elements of [5, 1, 5]")
    assert refusal(made, {"x": ["n", 1, 5]}, {"y": ["a"] * len(shape)}, [numbers("s", shape)]) == ""


@pytest.mark.parametrize(
    ("policy", "sizes", "is_refused"),
    [("not_larger", [7, 8], True), ("not_smaller", [7, 8], True), ("stretch", [7, 8], False),
     ("not_larger", [4, 8], False)],
)  # fmt: skip
def test_a_resize_whose_policy_makes_other_sizes_is_refused(policy: str, sizes: list[int], is_refused: bool) -> None:
    made = node("Resize", "x - - s", "y", axes=[2, 3], keep_aspect_ratio_policy=policy)
    said = refusal(made, {"x": [1, 1, 2, 4]}, {"y": [1, 1, "h", "w"]}, [numbers("s", sizes)], opset=18)
    assert said.startswith(f"the DirectML provider computes the sizes [1, 1, {sizes[0]}, 8] for Resize") == is_refused


@pytest.mark.parametrize("type", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize("layout", [0, 1])
def test_a_recurrence_whose_batch_comes_first_runs_nowhere(type: str, layout: int) -> None:
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[type]
    made = node(type, "x w r", "y", hidden_size=4, layout=layout)
    inputs, weights = {"x": [2, 5, 3]}, [weight("w", [1, gates * 4, 3]), weight("r", [1, gates * 4, 4])]
    said = refusal(made, inputs, {"y": ["a", "b", "c", 4]}, weights)
    assert said == (f"neither the DirectML provider nor the CPU computes {type} of layout 1" if layout else "")


@pytest.mark.parametrize(("indices", "is_refused"), [([2], True), ([1, 2], False), ([1], False)])
def test_a_gathered_scalar_is_refused(indices: list[int], is_refused: bool) -> None:
    made = model([node("GatherND", "x i", "y", "gather")], {"x": [2, 3]}, {"y": []})
    del made.graph.output[0].type.tensor_type.shape.dim[:]
    made.graph.output[0].type.tensor_type.ClearField("shape")
    made.graph.input.append(tensor("i", indices, INT64))
    assert (by_name(made) == {"gather": "provider-refuses"}) == is_refused


LOWEST, HIGHEST = -(2**63), 2**63 - 1


@pytest.mark.parametrize(  # of a dimension of 5; expected values by hand from SliceHelper
    ("start", "end", "step", "is_refused"),
    [
        (LOWEST, -1, 1, True),  # the end is taken as -1
        (-(2**31), -1, 1, True),
        (-(2**31) + 1, -1, 1, False),
        (LOWEST, 3, 1, False),
        (LOWEST, HIGHEST, 2, False),
        (-1, LOWEST, -1, False),
        (HIGHEST, LOWEST, -2, False),
        (-3, HIGHEST, 1, False),
        (4, 1, -2, False),
        (-1, -4, -1, False),
    ],
)
def test_a_slice_from_the_lowest_number_is_refused(start: int, end: int, step: int, is_refused: bool) -> None:
    constants = [numbers(name, [value]) for name, value in (("s", start), ("e", end), ("a", 0), ("t", step))]
    said = refusal(node("Slice", "x s e a t", "y"), {"x": [5]}, {"y": ["n"]}, constants)
    assert said.startswith("the DirectML provider computes the sizes [0] for Slice") == is_refused
    assert bool(said) == is_refused


@pytest.mark.parametrize(("count", "is_refused"), [(1, False), (4, True)])
def test_an_output_that_is_quantized_by_channel_is_refused(count: int, is_refused: bool) -> None:
    names = "x xs xz w ws wz ys yz"
    made = model([node("QLinearConv", names, "y", "conv")], {}, {"y": [1, 4, 6, 6]}, kind=2)
    made.graph.input.append(tensor("x", [1, 2, 8, 8], 2))
    kinds = {"xs": (1, 1), "xz": (2, 1), "w": (2, [4, 2, 3, 3]), "ws": (1, 1), "wz": (2, 1), "ys": (1, 1)}
    for name, (kind, sizes) in {**kinds, "yz": (2, count)}.items():
        made.graph.initializer.append(weight(name, sizes if isinstance(sizes, list) else [sizes], kind))
    assert (by_name(made) == {"conv": "provider-refuses"}) == is_refused


def test_a_refusal_inside_of_a_definition_is_that_of_the_node() -> None:
    """A node that the provider makes of others is refused where one of these is."""
    body = helper.make_function(
        "own", "Turn", ["x"], ["y"],
        [node("Constant", "", "s", value=numbers("", [1, -1])), node("Reshape", "x s", "y", allowzero=1)],
        [helper.make_opsetid("", 17)],
    )  # fmt: skip
    made = model([node("Turn", "x", "y", "turn", domain="own")], {"x": [2, 3]}, {"y": [1, 6]}, functions=[body])
    assert "provider-refuses" in by_name(made).values()


@pytest.mark.parametrize(("noop", "axes"), [(0, [0, 1]), (1, [])])
def test_axes_without_elements_are_known(noop: int, axes: list[int]) -> None:
    """ONNX Runtime 1.24.4 with DirectML 1.15.4, 2026-11-29: REDUCE along all dimensions, or along none."""
    sizes = [3, 2] if noop else [1, 1]
    made = model([node("ReduceSum", "x a", "y", noop_with_empty_axes=noop)], {"x": [3, 2]}, {"y": sizes})
    made.graph.input.append(tensor("a", [0], INT64))
    ((reduced,),) = (one.found for one in found(made))
    assert (reduced.operator, reduced.fields["Axes"]) == ("REDUCE", axes)


# ---- what the provider computes wrongly on any device


def deviation(
    made: Any, inputs: Mapping[str, Any], outputs: Mapping[str, Any], constants: Any = (), **more: Any
) -> str:
    (one,) = found(model([made], inputs, outputs, constants, **more))
    assert not isinstance(one.found, UnusableNode)
    return one.deviation


def test_a_product_with_a_vector_is_known_to_be_wrong() -> None:
    product = node("MatMul", "x v", "y")
    said = "a MatMul whose second factor is a vector multiplies all elements by its first"
    assert deviation(product, {"x": [2, 3], "v": [3]}, {"y": [2]}) == said
    alike = model([product, node("MatMul", "x v", "z")], {"x": [2, 3], "v": [3]}, {"y": [2], "z": [2]})
    assert [(one.name, one.deviation) for one in found(alike)] == [("y", said), ("z", said)]
    assert deviation(product, {"x": [2, 1], "v": [1]}, {"y": [2]}) == ""
    assert deviation(product, {"x": [3], "v": [3, 2]}, {"y": [2]}) == ""


@pytest.mark.parametrize(
    ("made", "sizes", "output", "numbers_of", "is_known"),
    [
        (node("Clip", "x a b", "y"), [4], [4], {"a": 3.0, "b": 1.0}, True),
        (node("Clip", "x a b", "y"), [4], [4], {"a": 1.0, "b": 3.0}, False),
        (node("Pad", "x p", "y", mode="reflect"), [3], [6], {"p": [3, 0]}, True),
        (node("Pad", "x p", "y", mode="reflect"), [3], [5], {"p": [2, 0]}, False),
        (node("Pad", "x p", "y", mode="wrap"), [3], [7], {"p": [0, 4]}, True),
        (node("Pad", "x p", "y", mode="wrap"), [3], [6], {"p": [0, 3]}, False),
        (node("Pad", "x p", "y"), [3], [9], {"p": [3, 3]}, False),
    ],
)
def test_numbers_that_the_provider_takes_wrongly_are_known(
    made: Any, sizes: list[int], output: list[int], numbers_of: dict[str, Any], *, is_known: bool
) -> None:
    constants = [
        numbers(name, value) if isinstance(value, list) else helper.make_tensor(name, FLOAT, [], [value])
        for name, value in numbers_of.items()
    ]
    assert bool(deviation(made, {"x": sizes}, {"y": output}, constants, opset=19)) == is_known


@pytest.mark.parametrize(
    ("attributes", "resized", "is_known"),
    [
        ({"mode": "linear", "coordinate_transformation_mode": "align_corners"}, 1, True),
        ({"mode": "linear", "coordinate_transformation_mode": "pytorch_half_pixel"}, 1, True),
        ({"mode": "linear", "coordinate_transformation_mode": "align_corners"}, 2, False),
        ({"mode": "linear", "antialias": 1}, 2, True),
        ({"mode": "linear", "antialias": 1}, 8, False),
        ({"mode": "nearest"}, 1, False),
    ],
)
def test_resizes_that_the_provider_computes_wrongly_are_known(
    attributes: dict[str, Any], resized: int, *, is_known: bool
) -> None:
    made = node("Resize", "x - - s", "y", **attributes)
    sizes = [numbers("s", [1, 1, resized])]
    assert bool(deviation(made, {"x": [1, 1, 4]}, {"y": [1, 1, resized]}, sizes, opset=19)) == is_known


@pytest.mark.parametrize(("size", "is_known"), [(5, True), (6, False)])
def test_a_pooled_window_in_the_padding_is_known_to_be_one_too_many(size: int, *, is_known: bool) -> None:
    made = node("MaxPool", "x", "y", kernel_shape=[3], strides=[3], pads=[1, 1], ceil_mode=1)
    assert bool(deviation(made, {"x": [1, 1, size]}, {"y": [1, 1, 3]})) == is_known


def test_nodes_that_are_alike_are_mapped_once_and_others_each(monkeypatch: pytest.MonkeyPatch) -> None:
    mapped = []
    right = model_nodes._visited_anew
    monkeypatch.setattr(model_nodes, "_visited_anew", lambda one, *more: mapped.append(one.name) or right(one, *more))
    nodes = [
        node("Relu", "x", "w", "of an input"),
        node("Relu", "w", "a", "one"),
        node("Relu", "a", "b", "alike"),
        node("LeakyRelu", "b", "c", "leaky", alpha=0.1),
        node("LeakyRelu", "c", "d", "steeper", alpha=0.2),
        node("Transpose", "d", "e", "turned"),
        node("Relu", "e", "f", "of other sizes"),
        node("Add", "f f", "g", "twice"),
        node("Add", "f g", "y", "of two"),
    ]
    made = {one.name: one for one in found(model(nodes, {"x": [2, 3]}, {"y": [3, 2]}))}
    assert mapped == [name for name in made if name != "alike"]
    assert list(made) == [one.name for one in nodes]
    assert made["alike"].found is made["one"].found
    assert made["of other sizes"].found is not made["one"].found


@pytest.mark.parametrize(("attributes", "is_refused"), [({"left_window_size": 2}, True), ({"is_causal": 1}, False)])
def test_attributes_that_a_later_onnx_has_are_refused(attributes: dict[str, int], is_refused: bool) -> None:
    """ONNX Runtime 1.24.4, 2026-11-29: Attention of opset 25 is that of 24, "Unrecognized attribute"."""
    sizes = {name: [1, 2, 4, 8] for name in "qkv"}
    made = model([node("Attention", "q k v", "y", **attributes)], sizes, {"y": [1, 2, 4, 8]})
    made.opset_import[0].version = 25
    assert ("provider-refuses" in by_name(made).values()) == is_refused


@pytest.mark.parametrize(("inverse", "onesided", "is_refused"), [(1, 1, True), (1, 0, False), (0, 1, False)])
def test_an_inverse_of_half_the_frequencies_is_refused(inverse: int, onesided: int, is_refused: bool) -> None:
    """ONNX Runtime 1.24.4, 2026-11-29, of test_dft_irfft of onnx: no sizes are inferred of it."""
    made = model([node("DFT", "x", "y", inverse=inverse, onesided=onesided)], {"x": [1, 8, 2]}, {"y": ["a", "b", "c"]})
    assert ("provider-refuses" in by_name(made).values()) == is_refused


def test_an_operator_that_only_trains_has_no_provider() -> None:
    """ONNX Runtime 1.24.4, 2026-11-29, of test_momentum of onnx: it is not a registered function or operator."""
    own = "ai.onnx.preview.training"
    sizes = {"r": [], "t": [], "x": [2], "g": [2], "v": [2]}
    made = model([node("Momentum", "r t x g v", "y w", domain=own)], sizes, {"y": [2]})
    made.opset_import.append(helper.make_opsetid(own, 1))
    assert by_name(made) == {"y": "no-provider"}
