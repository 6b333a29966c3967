"""`validate` of ONNX models: options, formats and exit codes."""

from __future__ import annotations

import json

import pytest
from commandline import GOOD, dmlcheck, write
from fused_patterns import layer_norm, whole
from whole_models import attention_layer, model, node, numbers, residual_block, save


def test_a_model_is_checked_with_the_sizes_that_are_given() -> None:
    save(residual_block())
    result = dmlcheck("validate", "model.onnx", "--dim", "batch=4")
    assert result.exit_code == 0
    assert "model.onnx needs DML_FEATURE_LEVEL_5_1 (DirectML 1.9.0), because of 1 node: softmax" in result.output


def test_a_model_that_the_release_does_not_load_is_an_error() -> None:
    save(model([node("Neg", "x", "y")], {"x": [4]}, {"y": [4]}, opset=26))
    result = dmlcheck("validate", "model.onnx")
    assert result.exit_code == 1
    assert "model.onnx: error: it asks for opset 26; ONNX Runtime 1.24 has opsets up to 25" in result.output


def test_json_has_the_nodes_and_the_model() -> None:
    save(residual_block())
    result = dmlcheck("validate", "model.onnx", "--dim", "batch=4", "--feature-level", "5_0", "--format", "json")
    assert result.exit_code == 1
    report = json.loads(result.output)
    assert (report["schema"], report["valid"]) == ("dmlcheck-validation/1", False)
    (entry,) = report["models"]
    assert entry == {
        "file": "model.onnx",
        "mapping": "the DirectML provider of ONNX Runtime 1.24",
        "refusal": None,
        "minimum_feature_level": "5_1",
        "fused_feature_level": "5_1",
        "at_least": False,
        "checked": 10,
        "no_provider": 0,
        "refused": 0,
        "elsewhere": 0,
        "unknown": 0,
        "unknown_roots": [],
        "unmapped": 0,
        "wrong": 0,
        "fusions": [],
        "possible_fusions": [],
    }
    softmax = report["descs"][-1]
    assert (softmax["node"], softmax["onnx_operator"]) == ("softmax", "Softmax-13")
    assert (softmax["operator"], softmax["valid"], softmax["minimum_feature_level"]) == (
        "DML_OPERATOR_ACTIVATION_SOFTMAX1",
        False,
        "5_1",
    )
    assert [problem["rule"] for problem in softmax["diagnostics"]] == ["operator-unavailable"]
    logits = {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 1000]}
    assert softmax["desc"] == {"InputTensor": logits, "OutputTensor": logits, "AxisCount": 1, "Axes": [3]}


def test_json_has_what_onnx_runtime_fuses() -> None:
    save(whole(layer_norm("x", "y")))
    (entry,) = json.loads(dmlcheck("validate", "model.onnx", "--format", "json").output)["models"]
    assert (entry["minimum_feature_level"], entry["fused_feature_level"]) == ("3_0", "6_3")
    assert entry["fusions"] == [
        {
            "onnx_operator": "LayerNormalization-1",
            "nodes": ["mean", "d", "square", "variance", "shifted", "deviation", "ratio", "scaled", "norm"],
            "operators": ["DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION2"],
            "minimum_feature_level": "6_3",
        }
    ]


def test_a_model_that_no_provider_takes_is_an_error() -> None:
    save(model([node("BiasSoftmax", "x x", "y", domain="com.microsoft")], {"x": [4, 4]}, {"y": [4, 4]}))
    result = dmlcheck("validate", "model.onnx", "--format", "json")
    assert result.exit_code == 1
    report = json.loads(result.output)
    assert (report["valid"], report["models"][0]["no_provider"], report["models"][0]["at_least"]) == (False, 1, True)
    (entry,) = report["descs"]
    assert (entry["valid"], entry["diagnostics"][0]["rule"]) == (False, "no-provider")


def test_a_model_that_a_provider_refuses_is_an_error_with_a_help() -> None:
    """onnxruntime#26826: exporters of PyTorch write allowzero, and the provider takes -1 as 4294967295."""
    reshape = node("Reshape", "x s", "y", "view", allowzero=1)
    save(model([reshape, node("Relu", "y", "z")], {"x": [2, "n"]}, {"z": ["m"]}, [numbers("s", [-1])]))
    result = dmlcheck("validate", "model.onnx", "--dim", "n=3", "--format", "json")
    assert result.exit_code == 1
    report = json.loads(result.output)
    assert (report["valid"], report["models"][0]["refused"], report["models"][0]["at_least"]) == (False, 1, True)
    (diagnostic,) = report["descs"][0]["diagnostics"]
    assert (diagnostic["rule"], diagnostic["severity"]) == ("provider-refuses", "error")
    assert "set allowzero to 0" in diagnostic["help"]
    text = dmlcheck("validate", "model.onnx", "--dim", "n=3").output
    assert "model.onnx::view: Reshape-14: error[provider-refuses]: the DirectML provider takes -1 " in text
    assert "1 node checked, 1 that a provider refuses" in text


def test_a_name_of_no_size_is_answered_with_ten_that_are() -> None:
    names = [f"size{index:02}" for index in range(14)]
    save(model([node("Neg", "x", "y")], {"x": names}, {"y": names}))
    result = dmlcheck("validate", "model.onnx", "--dim", "other=3")
    assert result.exit_code == 2
    listed = (
        "the sizes without a number are size00, size01, size02, size03, size04, size05, size06, size07, size08, size09"
    )
    assert f"{listed} and 4 more" in result.output.replace("\n", " ")


def test_a_model_whose_sizes_are_all_open_has_nothing_checked() -> None:
    save(attention_layer())
    result = dmlcheck("validate", "model.onnx")
    assert (result.exit_code, "unknown-sizes" in result.output) == (5, True)


def test_a_broken_model_is_a_wrong_file() -> None:
    save(model([node("Relu", "z", "y", "bad"), node("Abs", "x", "w")], {"x": [4]}, {"w": [4]}))
    result = dmlcheck("validate", "model.onnx")
    assert result.exit_code == 2
    assert "error[onnx-syntax]: node bad (Relu-14): it reads 'z'" in result.output
    write("other.onnx", "no model")
    assert dmlcheck("validate", "other.onnx").exit_code == 2
    missing = dmlcheck("validate", "nowhere.onnx")
    assert (missing.exit_code, "error[file-not-found]" in missing.output) == (2, True)


@pytest.mark.parametrize("form", ["sarif", "github"])
def test_other_formats_have_the_errors_of_nodes(form: str) -> None:
    save(residual_block())
    result = dmlcheck("validate", "model.onnx", "--dim", "batch=4", "--feature-level", "5_0", "--format", form)
    assert (result.exit_code, "operator-unavailable" in result.output) == (1, True)


def test_a_hint_about_sizes_works_when_it_is_obeyed() -> None:
    save(model([node("Relu", "x", "y", "relu")], {"x": [None, 3, "?", "n"]}, {"y": [None, 3, "?", "n"]}))
    hint = "give the unknown sizes with --dim x:0=SIZE --dim x:2=SIZE --dim n=SIZE"
    assert hint in dmlcheck("validate", "model.onnx").output
    result = dmlcheck("validate", "model.onnx", "--dim", "x:0=2", "--dim", "x:2=4", "--dim", "n=5")
    assert (result.exit_code, "1 node checked" in result.output) == (0, True)
    wrong = dmlcheck("validate", "model.onnx", "--dim", "x:1=2")
    assert (wrong.exit_code, "--dim x:1: no size has that name" in wrong.output) == (2, True)


def test_a_size_that_no_model_names_is_refused() -> None:
    save(residual_block())
    assert "no size has that name; did you mean batch?" in dmlcheck("validate", "model.onnx", "--dim", "bacth=1").output
    other = dmlcheck("validate", "model.onnx", "--dim", "sequence=1")
    assert (other.exit_code, "the sizes without a number are batch" in other.output) == (2, True)


def test_names_are_printed_on_one_line() -> None:
    save(model([node("Det", "x", "y", "a\n::error::b")], {"x": [4, 4]}, {"y": []}))
    for form in ("text", "github"):
        lines = dmlcheck("validate", "model.onnx", "--format", form).output.splitlines()
        assert not any(line.startswith("::error") for line in lines)


def test_options_that_do_not_go_with_the_files_are_refused() -> None:
    write("a.yaml", GOOD)
    save(residual_block())
    assert "--dim is for ONNX models" in dmlcheck("validate", "a.yaml", "--dim", "batch=1").output
    assert "--all-levels is not for ONNX models" in dmlcheck("validate", "model.onnx", "--all-levels").output


def test_what_the_provider_computes_wrongly_is_a_note() -> None:
    save(model([node("MatMul", "x v", "y", "score")], {"x": [2, 3], "v": [3]}, {"y": [2]}))
    result = dmlcheck("validate", "model.onnx")
    assert result.exit_code == 0
    assert (
        "note[known-deviation]: known of ONNX Runtime's DirectML provider (1.24.4): a MatMul whose second factor is a "
        "vector multiplies all elements by its first (seen with DirectML 1.15.4, " in result.output
    )
    assert "1 node: score" in result.output
