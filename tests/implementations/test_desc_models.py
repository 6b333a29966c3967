"""Descs for an object that runs models alone."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the extra `onnx` is not installed")

from valid_descs import valid

from dmlcheck.implementations import Unsupported
from dmlcheck.implementations.desc_models import DescsAsModels

TWO = {"DataType": "FLOAT32", "Sizes": [2]}
ADD = valid("ELEMENT_WISE_ADD", ATensor=TWO, BTensor=TWO, OutputTensor=TWO)
JOIN = valid("JOIN", InputTensors=[TWO, TWO], OutputTensor={"DataType": "FLOAT32", "Sizes": [4]}, Axis=0)


class Evaluator:
    """ONNX's own evaluator; it runs no tensors of three elements."""

    device = "none"
    validates = True

    def unsupported(self, desc: Any) -> str | None:
        return "three elements" if desc["OutputTensor"].sizes == (3,) else None

    def run_model(self, model: bytes, inputs: dict[str, Any], keep: list[str]) -> dict[str, Any]:
        import onnx
        from onnx.reference import ReferenceEvaluator

        values = ReferenceEvaluator(onnx.load_from_string(model)).run(keep, inputs)
        return dict(zip(keep, values, strict=True))


def test_a_desc_is_run_as_a_model() -> None:
    runner = DescsAsModels(Evaluator())
    one, other = np.array([1, 2], np.float32), np.array([10, 20], np.float32)
    assert runner.run(ADD, {"ATensor": one, "BTensor": other})["OutputTensor"].tolist() == [11, 22]
    assert runner.run(JOIN, {"InputTensors": [one, other]})["OutputTensor"].tolist() == [1, 2, 10, 20]


def test_what_the_object_says_of_itself_is_kept() -> None:
    runner = DescsAsModels(Evaluator())
    assert (runner.name, runner.device) == ("Evaluator", "none")
    assert not runner.validates  # no desc that is not valid becomes a model


def test_why_a_desc_is_not_run_is_said_by_the_object_first_then_by_onnx(monkeypatch: pytest.MonkeyPatch) -> None:
    runner = DescsAsModels(Evaluator())
    three = {"DataType": "FLOAT32", "Sizes": [3]}
    uint = {"DataType": "UINT32", "Sizes": [2]}
    assert runner.unsupported(ADD) is None
    assert runner.unsupported(valid("ACTIVATION_RELU", InputTensor=three, OutputTensor=three)) == "three elements"
    bits = valid("ELEMENT_WISE_BIT_COUNT", InputTensor=uint, OutputTensor=uint)
    assert runner.unsupported(bits) == "ONNX has no operator for DML_OPERATOR_ELEMENT_WISE_BIT_COUNT"
    monkeypatch.setitem(sys.modules, "onnx", None)
    reason = DescsAsModels(Evaluator()).unsupported(ADD)
    assert reason == "a desc becomes an ONNX model with the package onnx, which is not installed"


def test_inputs_that_a_factor_before_the_operator_would_change_are_not_run() -> None:
    half = valid("ELEMENT_WISE_SIN", InputTensor=TWO, OutputTensor=TWO, ScaleBias={"Scale": 4, "Bias": 0})
    with pytest.raises(Unsupported, match="leaves the range"):
        DescsAsModels(Evaluator()).run(half, {"InputTensor": np.array([1, 3e38], np.float32)})
