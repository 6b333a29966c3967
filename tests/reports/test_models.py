"""Checked ONNX models as text."""

from __future__ import annotations

from pathlib import Path

import pytest
from whole_models import attention_layer, model, node, residual_block, save

from dmlcheck.reports.layout import PLAIN, printed
from dmlcheck.reports.models import model_lines
from dmlcheck.running.legality import Asked
from dmlcheck.running.models import validated_model

SOFTMAX = (
    "model.onnx::softmax: Softmax-13 becomes DML_OPERATOR_ACTIVATION_SOFTMAX1, from DML_FEATURE_LEVEL_5_1 "
    "(DirectML 1.9.0)"
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def lines(made: object, level: str | None = None, **sizes: int) -> list[str]:
    return [
        line.rstrip() for line in printed(model_lines(validated_model(save(made), Asked(level), sizes), PLAIN), None)
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
        "10 nodes checked",
    ]


def test_a_node_that_is_not_valid_says_what_it_becomes_and_why() -> None:
    said = lines(residual_block(), "5_0", batch=4)
    assert any(
        line.startswith("model.onnx::softmax: Softmax-13 becomes DML_OPERATOR_ACTIVATION_SOFTMAX1, which is not valid")
        for line in said
    )
    assert any("error[operator-unavailable]" in line for line in said)


def test_a_reason_is_told_once_with_the_number_of_nodes() -> None:
    made = model([node("Det", "x", "y", "a"), node("Det", "x", "z", "b")], {"x": [4, 4]}, {"y": [], "z": []})
    assert lines(made)[0] == (
        "model.onnx::a: Det-11: note[runs-elsewhere]: the DirectML provider of ONNX Runtime 1.24 does not register Det "
        "(and 1 more node)"
    )


def test_open_sizes_are_asked_for() -> None:
    said = lines(attention_layer())
    assert said[-2:] == [
        "0 nodes checked, 6 runs elsewhere, 17 unknown sizes",
        "sizes that are open: --dim batch=SIZE --dim sequence=SIZE",
    ]


def test_a_desc_that_is_never_legal_makes_a_model_that_is_not() -> None:
    made = model([node("MatMul", "x x", "y", "product")], {"x": [2, 2, 2, 4, 4]}, {"y": [2, 2, 2, 4, 4]})
    said = lines(made)
    assert said[-2:] == ["model.onnx is valid at no level", "1 node checked"]
    assert any(line.split() == ["MatMul-13", "1", "DML_OPERATOR_GEMM", "never"] for line in said)
