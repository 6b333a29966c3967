"""Whole ONNX models checked: the level of each node, and of the model."""

from __future__ import annotations

from pathlib import Path

import pytest
from fused_patterns import ADDED, also, fast_gelu, gelu, layer_norm, then, vector, whole
from whole_models import INT64, attention_layer, mobile_block, model, node, numbers, residual_block, save, tensor

import dmlcheck
from dmlcheck.folders.export_folder import MissingRequirement
from dmlcheck.formats.registry import opened
from dmlcheck.models.legality import ModelResult, validated_file, validated_model
from dmlcheck.running.legality import LevelRequest

pytestmark = pytest.mark.usefixtures("folder")


def levels(result: ModelResult) -> dict[str, str | None]:
    return {desc.name: desc.minimum for desc in result.descs}


def test_a_model_needs_what_its_most_demanding_node_does() -> None:
    result = validated_model(save(residual_block()), LevelRequest(), {"batch": 4})
    assert levels(result)["conv1"] == "1_0"
    assert levels(result)["softmax"] == "5_1"  # DML_OPERATOR_ACTIVATION_SOFTMAX1 came with it
    assert (result.minimum, result.checked, result.noted("runs-elsewhere")) == ("5_1", 10, 0)
    (softmax,) = (desc for desc in result.descs if desc.name == "softmax")
    assert (softmax.onnx_operator, softmax.operator) == ("Softmax-13", "DML_OPERATOR_ACTIVATION_SOFTMAX1")


def test_at_a_lower_level_a_node_is_wrong() -> None:
    result = validated_model(save(residual_block()), LevelRequest("5_0"), {"batch": 4})
    wrong = [desc for desc in result.descs if desc.errors]
    assert [(desc.name, desc.diagnostics[0].rule) for desc in wrong] == [("softmax", "operator-unavailable")]
    assert not any(
        desc.errors for desc in validated_model(save(residual_block()), LevelRequest("5_1"), {"batch": 4}).descs
    )
    assert validated_model(save(mobile_block()), LevelRequest(), {}).minimum == "1_0"


def test_a_product_of_five_dimensions_is_legal_at_no_level() -> None:
    """A GEMM has 2 to 4 dimensions at any level; the provider makes one of 5 all the same (onnxruntime#26842)."""
    nodes = [node("MatMul", "x x", "z", "product"), node("Relu", "z", "y", "relu")]
    result = validated_model(save(model(nodes, {"x": [2, 2, 2, 4, 4]}, {"y": [2, 2, 2, 4, 4]})), LevelRequest(), {})
    assert levels(result) == {"product": None, "relu": "2_0"}
    assert (result.minimum, result.checked) == (None, 2)
    assert {problem.rule for problem in result.descs[0].diagnostics} == {"unsupported-dimension-count"}


def test_open_sizes_are_notes_and_break_nothing() -> None:
    result = validated_model(save(attention_layer()), LevelRequest(), {})
    assert result.symbols == ("batch", "sequence")
    assert result.noted("unknown-sizes") == 17
    assert (result.minimum, result.checked, result.is_wrong) == (None, 0, False)
    assert all(desc.is_valid for desc in result.descs)


@pytest.mark.parametrize(
    ("version", "noted"), [(None, True), ("1.10.1", False), ("1.11.0", True), ("1.12.0", True), ("1.12.1", False)]
)
def test_what_is_known_of_compiled_graphs_is_noted_of_the_nodes_of_a_model(version: str | None, noted: bool) -> None:
    """A CAST by itself is right in all of these versions."""
    nodes = [
        node("Cast", "x", "y", "cast", to=10),
        node("Cast", "y", "z", "back", to=1),
        node("Relu", "x", "w", "relu"),
    ]
    made = model(nodes, {"x": [4]}, {"z": [4], "w": [4]})
    result = validated_model(save(made), LevelRequest(directml_version=version), {})
    notes = {desc.name: [note.message for note in desc.notes] for desc in result.descs}
    assert notes["relu"] == []
    assert [text.partition("): ")[2][:39] for text in notes["cast"]] == [
        "Compiled graphs can give wrong values w"
    ] * noted
    cast = {name: {"DataType": "FLOAT32", "Sizes": [4]} for name in ("InputTensor", "OutputTensor")}
    assert dmlcheck.known_deviations("CAST", cast, version) == []


def test_no_model_and_a_broken_node_are_wrong() -> None:
    Path("a.onnx").write_bytes(b"no model")
    result = validated_model("a.onnx", LevelRequest(), {})
    assert (result.is_wrong, [desc.diagnostics[0].rule for desc in result.entries]) == (True, ["onnx-syntax"])
    broken = validated_model(save(model([node("Relu", "z", "y", "bad")], {"x": [4]}, {"y": [4]})), LevelRequest(), {})
    assert broken.is_wrong
    assert broken.descs[0].diagnostics[0].message.startswith("node bad (Relu-14): it reads 'z'")
    assert broken.descs[0].errors == 1


def test_equal_descs_of_different_nodes_are_all_listed() -> None:
    chain = [node("Relu", f"x{index}", f"x{index + 1}", f"r{index}") for index in range(2000)]
    result = validated_model(save(model(chain, {"x0": [1, 8]}, {"x2000": [1, 8]})), LevelRequest(), {})
    assert (result.checked, len(result.descs), result.minimum) == (2000, 2000, "1_0")


def test_what_is_known_of_directml_is_noted() -> None:
    made = validated_model(save(mobile_block()), LevelRequest(), {})
    notes = [note for desc in made.descs if desc.name == "depthwise" for note in desc.notes]
    assert any("GroupCount > 1" in note.message for note in notes)
    assert {note.severity for note in notes} == {"note"}


def test_reckoning_with_sizes_needs_no_level() -> None:
    nodes = [node("Shape", "x", "s", "shape"), node("Gather", "s i", "g", "gather"), node("Abs", "x", "y", "abs")]
    made = model(nodes, {"x": [4]}, {"y": [4]}, [numbers("i", [0])])
    made.graph.output.append(tensor("g", [1], INT64))
    result = validated_model(save(made), LevelRequest(), {})
    assert (result.checked, result.noted("runs-elsewhere"), result.minimum) == (1, 2, "1_0")


def test_of_too_many_nodes_that_are_not_valid_the_first_are_listed_and_all_are_counted() -> None:
    """Each is an error at 1_0; the last, which needs most, is not listed and counts for the model all the same."""
    nodes = [node("Softmax", "x", f"y{index}", axis=0) for index in range(1100)]
    found = validated_model(save(model(nodes, {"x": [4, 4]}, {"y0": [4, 4]})), LevelRequest("1_0"), {})
    assert (found.checked, found.minimum, len(found.descs)) == (1100, "5_1", 1100)
    *listed, last = found.entries
    assert len(listed) == 1001
    assert all(entry.errors == 1 for entry in listed)
    assert [(problem.rule, problem.severity) for problem in last.diagnostics] == [("too-many-problems", "warning")]
    assert not last.is_valid


def test_a_node_that_no_provider_takes_is_an_error_and_the_level_one_at_least() -> None:
    nodes = [
        node("SkipGroupNorm", "x", "y", "norm", groups=1, domain="com.microsoft"),
        node("Relu", "y", "z", "relu"),
        node("SkipGroupNorm", "z", "w", "other", groups=1, domain="com.microsoft"),
    ]
    result = validated_model(save(model(nodes, {"x": [1, 8, 8, 4]}, {"w": [1, 8, 8, 4]})), LevelRequest(), {})
    assert (result.checked, result.noted("no-provider"), result.is_wrong, result.is_partial) == (1, 2, False, True)
    (error,) = result.descs[0].diagnostics
    assert (error.severity, error.rule, result.descs[0].errors) == ("error", "no-provider", 1)
    assert error.help is not None
    assert not validated_model(save(model(nodes[1:2], {"y": [4]}, {"z": [4]})), LevelRequest(), {}).is_partial


def test_a_model_has_a_level_as_it_stands_and_one_as_it_is_fused() -> None:
    """A normalization of opset 14 needs Pow of two; fused, it is a MEAN_VARIANCE_NORMALIZATION2."""
    result = validated_model(save(whole(layer_norm("x", "y"))), LevelRequest(), {})
    assert (result.minimum, result.fused_minimum) == ("3_0", "6_3")
    (fusion,) = result.fusions
    assert (fusion.name, fusion.minimum, len(fusion.replaced)) == ("norm", "6_3", 9)
    assert fusion.made.operator == "LayerNormalization-1"


def test_nodes_that_are_fused_away_need_nothing() -> None:
    """From opset 20 on a Gelu runs on the CPU, so that its Erf no longer needs a level; a bias before it needs 1_0.

    Of GPT-2's Gelu and a Softmax the first becomes one operator, and the second stays as it is.
    """
    on_cpu = validated_model(save(whole(also(gelu("xb", "y"), vector("bias")), [ADDED], opset=20)), LevelRequest(), {})
    assert (on_cpu.minimum, on_cpu.fused_minimum) == ("2_0", "1_0")
    pattern = then(fast_gelu("x", "y0"), node("Softmax", "y0", "y"))
    result = validated_model(save(whole(pattern)), LevelRequest(), {})
    assert (result.minimum, result.fused_minimum) == ("5_1", "5_1")
    plain = validated_model(save(residual_block()), LevelRequest(), {"batch": 4})
    assert (plain.fusions, plain.fused_minimum) == ((), plain.minimum)


def test_a_fusion_of_unknown_sizes_makes_the_level_one_at_least() -> None:
    result = validated_model(save(whole(layer_norm("x", "y"), sizes=["n", 8, 16])), LevelRequest(), {})
    assert (result.is_fused_partial, result.fused_minimum) == (True, None)


def test_what_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise MissingRequirement("onnx is not installed")

    monkeypatch.setattr("dmlcheck.models.legality.require", missing)
    found = validated_file(opened(save(mobile_block())), LevelRequest(), {})
    assert (found.unavailable, found.wholes) == ("onnx is not installed", ())


def test_the_model_of_a_file_is_checked_as_a_whole_with_the_names_of_its_sizes() -> None:
    found = validated_file(opened(save(residual_block())), LevelRequest(), {})
    assert ([whole.file for whole in found.wholes], found.named, found.is_wrong) == (
        ["model.onnx"],
        frozenset({"batch"}),
        False,
    )


def test_nodes_that_are_alike_in_the_place_of_one_are_a_graph() -> None:
    """Two casts and two reductions of a group normalization have the very same descs."""
    made = model([node("GroupNormalization", "x s b", "y", "norm", num_groups=2)],
                 {"x": [1, 4, 3, 3], "s": [4], "b": [4]}, {"y": [1, 4, 3, 3]}, opset=21)  # fmt: skip
    result = validated_model(save(made), LevelRequest(), {})
    assert result.checked == 1
    assert len(result.descs) > 10
    assert not any(desc.diagnostics for desc in result.descs)
