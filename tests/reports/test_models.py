"""Checked ONNX models as text."""

from __future__ import annotations

import pytest
from dml_graphs import FLOAT32, add, gemm, graph, matmul_add, operator
from dml_graphs import save as save_graph
from dml_graphs import tensor as graph_tensor
from fused_patterns import attention_block, layer_norm, quick_gelu, whole
from whole_models import attention_layer, model, node, residual_block, save, tensor

from dmlcheck.models.graphs import validated_graph
from dmlcheck.models.legality import validated_model
from dmlcheck.reports.layout import PLAIN, printed
from dmlcheck.reports.models import graph_lines, model_lines
from dmlcheck.running.legality import LevelRequest

pytestmark = pytest.mark.usefixtures("folder")

SOFTMAX = (
    "model.onnx::softmax: Softmax-13 becomes DML_OPERATOR_ACTIVATION_SOFTMAX1, from DML_FEATURE_LEVEL_5_1 "
    "(DirectML 1.9.0)"
)
ACCEPTED = "ONNX Runtime accepts DirectML.dll 1.8.0 and later"


def lines(made: object, level: str | None = None, **sizes: int) -> list[str]:
    return [
        line.rstrip()
        for line in printed(model_lines(validated_model(save(made), LevelRequest(level), sizes), PLAIN), None)
    ]


def test_what_needs_most_comes_first_then_the_operators_and_the_level() -> None:
    said = [line for line in lines(residual_block(), batch=4) if "known-deviation" not in line]
    assert said == [
        SOFTMAX,
        "",
        "model.onnx, as the DirectML provider of ONNX Runtime 1.24 maps it:",
        "  ONNX operator          nodes  DirectML operators                  from",
        "  Add-14                 1      DML_OPERATOR_ELEMENT_WISE_ADD       1_0",
        "  BatchNormalization-15  1      DML_OPERATOR_BATCH_NORMALIZATION    1_0",
        "  Conv-11                2      DML_OPERATOR_CONVOLUTION            1_0",
        "  Flatten-13             1      DML_OPERATOR_ELEMENT_WISE_IDENTITY  1_0",
        "  Gemm-13                1      DML_OPERATOR_GEMM                   1_0",
        "  GlobalAveragePool-1    1      DML_OPERATOR_AVERAGE_POOLING        1_0",
        "  MaxPool-12             1      DML_OPERATOR_MAX_POOLING            1_0",
        "  Relu-14                1      DML_OPERATOR_ACTIVATION_RELU        1_0",
        "  Softmax-13             1      DML_OPERATOR_ACTIVATION_SOFTMAX1    5_1",
        "",
        "model.onnx needs DML_FEATURE_LEVEL_5_1 (DirectML 1.9.0), because of 1 node: softmax",
        f"{ACCEPTED}; with one older than 1.9.0, the session cannot be created or a run fails",
        "10 nodes checked",
    ]


def test_a_node_that_is_not_valid_says_what_it_becomes_and_why() -> None:
    said = lines(residual_block(), "5_0", batch=4)
    assert any(
        line.startswith("model.onnx::softmax: Softmax-13 becomes DML_OPERATOR_ACTIVATION_SOFTMAX1, which is not valid")
        for line in said
    )
    assert any("error[operator-unavailable]" in line for line in said)
    assert SOFTMAX not in said


def test_what_is_wrong_with_several_nodes_is_told_once() -> None:
    nodes = [node("Softmax", "x", "y", "one"), node("Softmax", "x", "z", "two")]
    said = lines(model(nodes, {"x": [4, 4]}, {"y": [4, 4], "z": [4, 4]}), "5_0")
    assert all(
        line.startswith(f"model.onnx::{name}: Softmax-13 becomes")
        for name, line in zip(("one", "two"), said, strict=False)
    )
    assert sum("error[" in line for line in said) == 1


def test_a_known_mistake_of_directml_names_the_nodes_that_it_is_about() -> None:
    said = [line for line in lines(residual_block(), batch=4) if "known-deviation" in line]
    assert all(line.startswith("model.onnx: note[known-deviation]: known of DirectML ") for line in said)
    assert [line.rpartition(", ")[2] for line in said] == ["1 node: norm1", "1 node: flatten"]


def test_a_reason_is_told_once_with_the_number_of_nodes() -> None:
    made = model([node("Det", "x", "y", "a"), node("Det", "x", "z", "b")], {"x": [4, 4]}, {"y": [], "z": []})
    assert lines(made)[0] == (
        "model.onnx::a: Det-11: note[runs-elsewhere]: the DirectML provider of ONNX Runtime 1.24 does not register Det "
        "(and 1 more node)"
    )


def test_ten_reasons_of_a_rule_are_told_and_ten_nodes_of_the_highest_level() -> None:
    each = [node("Relu", f"x{index}", f"y{index}", f"n{index}") for index in range(12)]
    said = lines(model(each, {f"x{index}": ["N"] for index in range(12)}, {}))
    label = "model.onnx::n9: Relu-14: note[unknown-sizes]"
    assert said[9] == f"{label}: the sizes of x9 are [N]; 1 node depends on the input x9"
    assert said[10] == "2 more nodes of unknown sizes; --format json lists all"
    chain = [node("Relu", f"x{index}", f"x{index + 1}", f"n{index}") for index in range(12)]
    chain += [node("Softmax", "x12", f"y{index}", f"s{index}") for index in range(11)]
    said = lines(model(chain, {"x0": [4]}, {"y0": [4]}))
    assert said[9].startswith("model.onnx::s9: Softmax-13 becomes")
    assert said[10] == "1 more node of that level"
    assert said[-3].endswith("because of 11 nodes: s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, ...")


def test_open_sizes_are_asked_for() -> None:
    said = lines(attention_layer())
    assert said[-2:] == [
        "0 nodes checked, 6 run elsewhere, 17 of unknown sizes",
        "give the unknown sizes with --dim batch=SIZE --dim sequence=SIZE",
    ]


def test_the_first_ten_open_sizes_are_asked_for() -> None:
    names = [f"n{index}" for index in range(12)]
    said = lines(model([node("Relu", "x", "y")], {"x": names}, {"y": names}))
    assert said[-1].endswith("--dim n8=SIZE --dim n9=SIZE and 2 more")


def test_nodes_of_unknown_sizes_are_told_with_the_root_of_that() -> None:
    nodes = [
        node("NonZero", "x", "found", "/mask/NonZero"),
        *(node("Abs", "found" if not index else f"r{index}", f"r{index + 1}", f"abs{index}") for index in range(9)),
        node("Neg", "z", "w", "other"),
    ]
    made = model(nodes, {"x": [4, 4], "z": ["n"]}, {})
    told = [line for line in lines(made) if "unknown-sizes" in line]
    assert told == [
        (
            "model.onnx::abs0: Abs-13: note[unknown-sizes]: the sizes of found are [2, ?]; "
            "9 nodes depend on the output of NonZero /mask/NonZero"
        ),
        "model.onnx::other: Neg-13: note[unknown-sizes]: the sizes of z are [n]; 1 node depends on the input z",
    ]


def test_there_is_no_table_where_nothing_was_checked() -> None:
    assert not any("ONNX operator" in line or "maps it" in line for line in lines(attention_layer()))


def test_one_node_runs_elsewhere_and_two_run_elsewhere() -> None:
    def last(*names: str) -> str:
        nodes = [node("Relu", "x", "r"), *(node("Det", "x", name) for name in names)]
        return lines(model(nodes, {"x": [4, 4]}, {"r": [4, 4], **{name: [] for name in names}}))[-1]

    assert last() == "1 node checked"
    assert last("y") == "1 node checked, 1 runs elsewhere"
    assert last("y", "z") == "1 node checked, 2 run elsewhere"


def test_a_model_of_the_level_of_the_device_runs_wherever_the_provider_does() -> None:
    made = model([node("Neg", "x", "y")], {"x": [4, 4]}, {"y": [4, 4]})  # a NEGATE, which came with 5_0
    assert lines(made)[-2] == f"{ACCEPTED}; each of these takes all nodes that were checked"


def test_a_desc_that_is_never_legal_makes_a_model_that_is_not() -> None:
    made = model([node("MatMul", "x x", "y", "product")], {"x": [2, 2, 2, 4, 4]}, {"y": [2, 2, 2, 4, 4]})
    said = lines(made)
    assert said[-2:] == ["model.onnx is valid at no level", "1 node checked"]
    assert any(line.split() == ["MatMul-13", "1", "DML_OPERATOR_GEMM", "never"] for line in said)


def test_a_model_of_an_opset_that_the_release_does_not_have_is_not_loaded() -> None:
    """ONNX Runtime 1.24 is built with onnx 1.20, whose newest opset is 25."""
    said = [lines(model([node("Neg", "x", "y")], {"x": [4]}, {"y": [4]}, opset=opset)) for opset in (25, 26)]
    refused = "model.onnx: error: it asks for opset 26; ONNX Runtime 1.24 has opsets up to 25, and does not load it"
    assert [refused in each for each in said] == [False, True]


def test_nodes_of_one_name_are_counted_one_by_one() -> None:
    made = model([node("Relu", "x", "y", "same"), node("Neg", "x", "z", "same")], {"x": [4]}, {"y": [4], "z": [4]})
    rows = [line.split() for line in lines(made) if line.startswith("  ")]
    assert [row[:2] for row in rows[1:]] == [["Neg-13", "1"], ["Relu-14", "1"]]


FORGED = "x\n::error::y\x1b[31m\u202e"


def test_no_name_of_a_model_is_printed_as_it_is() -> None:
    """An operator's in a note, in the line of a node that is not valid, and in that of one that needs most."""
    made = model(
        [node(FORGED, "x", "a" + FORGED, "n" + FORGED, domain="d" + FORGED), node("Softmax", "x", "s" + FORGED)],
        {"x": [4, "s" + FORGED]},
        {"y": [4]},
    )
    for printed_lines in (lines(made), lines(made, "1_0", **{"s" + FORGED: 4})):
        for line in printed_lines:
            assert line.isprintable()
            assert not line.startswith("::")
    shown = r"x\n::error::y\x1b[31m\u202e"
    assert f"model.onnx::n{shown}: d{shown}.{shown}-1: note[runs-elsewhere]: " in "\n".join(lines(made))


def test_of_too_many_wrong_nodes_the_first_are_told() -> None:
    made = model([node("Relu", "x", "x", f"n{index}") for index in range(1005)], {"x": [4]}, {"y": [4]})
    told = lines(made)
    assert sum("error[onnx-syntax]" in line for line in told) == 1001
    problem = "model.onnx has more than 1,000 problems; its other nodes are not listed"
    warning = f"model.onnx: warning[too-many-problems]: {problem}"
    assert told[1001] == warning
    assert told[-1] == "0 nodes checked, 1005 wrong"


def test_nodes_that_no_provider_takes_are_errors_told_once_before_all_others() -> None:
    nodes = [
        node("SkipGroupNorm", "x", "y", "norm", groups=1, domain="com.microsoft"),
        node("Relu", "y", "z", "relu"),
        node("SkipGroupNorm", "z", "w", "other", groups=1, domain="com.microsoft"),
    ]
    told = lines(model(nodes, {"x": [1, 8, 8, 4]}, {"w": [1, 8, 8, 4]}))
    assert told[0].startswith("model.onnx::norm: com.microsoft.SkipGroupNorm-1: error[no-provider]: the DirectML ")
    assert told[0].endswith(" (and 1 more node)")
    assert told[1].startswith("  help: ")
    assert "model.onnx needs at least DML_FEATURE_LEVEL_1_0" in "\n".join(told)
    assert told[-1] == "1 node checked, 2 that no provider takes"


def test_both_levels_are_told_with_what_onnx_runtime_fuses() -> None:
    text = "\n".join(lines(whole(layer_norm("x", "y"))))
    assert "unless its optimizations are turned off, ONNX Runtime fuses nodes to:\n" in text
    assert "  LayerNormalization-1  1      DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION2  6_3\n" in text
    assert "model.onnx needs DML_FEATURE_LEVEL_3_0 (DirectML 1.4.0), because of" in text
    assert (
        "as ONNX Runtime fuses it, it needs DML_FEATURE_LEVEL_6_3 (DirectML 1.14.0), because of 1 node: norm\n" in text
    )
    assert f"{ACCEPTED}; with one older than 1.14.0, the session cannot be created or a run fails" in text


def test_a_level_that_stays_the_same_is_told_so() -> None:
    text = "\n".join(lines(whole(quick_gelu("x", "y"))))
    assert "needs DML_FEATURE_LEVEL_1_0" in text
    assert "as ONNX Runtime fuses it, it needs the same level" in text
    assert "fuses" not in "\n".join(lines(residual_block(), batch=4))


def test_what_may_be_fused_is_named() -> None:
    made = whole(attention_block(), opset=17)
    made.graph.input.extend([tensor("ids", [2, 8], 7), tensor("mask", [2, 1, 1, 8])])
    (attention,) = (line for line in lines(made) if "com.microsoft.Attention-1" in line)
    assert attention.startswith(
        "ONNX Runtime may also fuse nodes to com.microsoft.Attention-1, which needs no higher level "
    )
    assert attention.endswith(": 1 node: attend")


# ---- checked DirectML graphs as text


PLACE = "Partition_0.bin: error[edge-mismatch]: nodes[3].desc.ATensor.TotalTensorSizeInBytes: "


def graph_lines_of(data: bytes, level: str | None = None) -> list[str]:
    made = graph_lines(validated_graph(save_graph(data), LevelRequest(level)), PLAIN)
    return [line.rstrip() for text in printed(made, None) for line in text.split("\n")]


def test_the_operators_then_the_level_and_the_nodes_that_ask_for_it() -> None:
    assert graph_lines_of(matmul_add()) == [
        "",
        "Partition_0.bin:",
        "  DirectML operator               nodes  from",
        "  DML_OPERATOR_ELEMENT_WISE_ADD1  1      2_0",
        "  DML_OPERATOR_GEMM               1      1_0",
        "",
        "Partition_0.bin is valid from DML_FEATURE_LEVEL_2_0 (DirectML 1.1.0), because of 1 node: add",
        "2 nodes checked, 2 constants",
    ]


def test_a_node_that_needs_a_higher_level_is_told_first() -> None:
    said = graph_lines_of(matmul_add(), "1_0")
    assert said[0] == (
        "Partition_0.bin::add: DML_OPERATOR_ELEMENT_WISE_ADD1 is not valid at DML_FEATURE_LEVEL_1_0, only from "
        "DML_FEATURE_LEVEL_2_0 (DirectML 1.1.0):"
    )
    assert said[1].startswith("Partition_0.bin: error[operator-unavailable]: ")


def test_an_edge_that_is_wrong_is_told_with_its_place() -> None:
    said = graph_lines_of(matmul_add(nodes=[gemm(), add(graph_tensor([1, 1, 1, 5], FLOAT32, 24))]))
    assert said[:3] == [
        "Partition_0.bin::add: DML_OPERATOR_ELEMENT_WISE_ADD1 is not valid in this graph:",
        PLACE + "ATensor of the node 'add' takes 24 bytes, and the node 'matmul' writes 20 to 'product'",
        "  help: what is written must have at least the bytes that are read",
    ]
    assert "Partition_0.bin is valid at no level" in said


def test_names_are_printed_on_one_line_and_not_all_of_them() -> None:
    nodes = [
        operator(
            f"n{index}\n\x1b[31m",
            "DML_OPERATOR_ACTIVATION_RELU",
            {"x": graph_tensor([1, 1, 1, 5])},
            {f"y{index}": graph_tensor([1, 1, 1, 5])},
        )
        for index in range(12)
    ]
    said = graph_lines_of(graph(nodes, ["x"], ["y0"]))
    assert said[-2].endswith(r"n9\n\x1b[31m, ...")
    assert r"because of 12 nodes: n0\n\x1b[31m, n1\n" in said[-2]


def test_a_file_that_is_no_graph_is_told_alone() -> None:
    assert graph_lines_of(b"")[0].startswith("Partition_0.bin: error[graph-syntax]: the file is no DirectML graph: ")
