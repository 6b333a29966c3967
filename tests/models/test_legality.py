"""Whole ONNX models checked: the level of each node, and of the model."""

from __future__ import annotations

from pathlib import Path

import pytest
from fused_patterns import layer_norm, whole
from whole_models import mobile_block, model, node, save

import dmlcheck
from dmlcheck.folders.export_folder import MissingRequirement
from dmlcheck.formats.registry import opened
from dmlcheck.models.legality import validated_file, validated_model
from dmlcheck.running.legality import LevelRequest

pytestmark = pytest.mark.usefixtures("folder")


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


def test_a_fusion_of_unknown_sizes_makes_the_level_one_at_least() -> None:
    result = validated_model(save(whole(layer_norm("x", "y"), sizes=["n", 8, 16])), LevelRequest(), {})
    assert (result.is_fused_partial, result.fused_minimum) == (True, None)


def test_what_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise MissingRequirement("onnx is not installed")

    monkeypatch.setattr("dmlcheck.models.legality.require", missing)
    found = validated_file(opened(save(mobile_block())), LevelRequest(), {})
    assert (found.unavailable, found.wholes) == ("onnx is not installed", ())
