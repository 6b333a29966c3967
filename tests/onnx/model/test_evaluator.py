"""Nodes computed by ONNX's own evaluator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from whole_models import node

from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.onnx.model.evaluator import evaluate_node

X = np.array([[1, 2, 3], [4, 5, 6]], np.float32)


def computed(made: Any, *inputs: Any, opset: int = 17) -> list[Any]:
    return evaluate_node(made, inputs, {"": opset})


def test_attributes_of_old_opsets_are_known() -> None:
    (y,) = computed(node("Clip", "x", "y", min=2.0, max=4.0), X, opset=6)
    assert y.tolist() == [[2, 2, 3], [4, 4, 4]]
    (y,) = computed(node("Unsqueeze", "x", "y", axes=[0]), X, opset=11)
    assert y.shape == (1, 2, 3)


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (node("Gadget", "x", "y"), "ONNX's evaluator does not compute it: No .* operator 'Gadget' and domain ''$"),
        (node("Gather", "x x", "y"), "ONNX's evaluator does not compute it"),  # indices that are no integers
        (node("Unsqueeze", "x", "y", axes=[9]), "axis 9 is out of bounds"),
    ],
)
def test_what_is_not_computed_is_refused(made: Any, reason: str) -> None:
    with pytest.raises(Unmapped, match=reason):
        computed(made, *([X] * len(made.input)))
