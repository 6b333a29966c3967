"""One operator of an ONNX model: what it reads and gives, and what its attributes mean."""

from __future__ import annotations

import pytest
from onnx_nodes import node, zeros

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Unmapped, shortest


def test_inputs_may_be_left_out_at_the_end_and_between() -> None:
    x, y = TensorRef("FLOAT32", (1,)), TensorRef("FLOAT32", (2,))
    clip = node("Clip", [x, None, y])
    assert clip.input(0) is x
    assert clip.optional(1) is None
    assert clip.optional(2) is y
    assert (clip.has(1), clip.has(2), clip.has(3)) == (False, True, False)
    with pytest.raises(Unmapped, match=r"^Clip has no input 1$"):
        clip.input(1)
    with pytest.raises(Unmapped, match=r"^Clip has no input 3$"):
        clip.input(3)


def test_an_output_needs_values() -> None:
    y = TensorRef("FLOAT32", (2,))
    assert node("Neg", [y], y).output() is y
    with pytest.raises(Unmapped, match=r"^there are no values for output 1 of TopK$"):
        node("TopK", [y], y).output(1)


def test_outputs_beyond_those_of_the_counterpart_are_refused_if_they_are_asked_for() -> None:
    y = zeros(2)
    node("Dropout", [y], y, None).only_outputs(1)
    with pytest.raises(Unmapped, match=r"^DirectML has no counterpart to output 1 of Dropout$"):
        node("Dropout", [y], y, y).only_outputs(1)


def test_what_is_no_number_is_refused() -> None:
    for value, shown in (("x", "'x'"), ([1.5], r"\[1.5\]")):
        with pytest.raises(Unmapped, match=f"^an attribute is {shown}, not a number$"):
            shortest(value)
