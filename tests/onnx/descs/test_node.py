"""One operator of an ONNX model: what it reads and gives, and what its attributes mean."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_nodes import node, zeros

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Unmapped, axes_of, axis_of, shortest


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


def test_an_output_may_be_left_out_at_the_end_and_between() -> None:
    y = zeros(2)
    three = node("LSTM", [y], y, None, y)
    assert [three.gives(index) for index in range(4)] == [True, False, True, False]


def test_outputs_beyond_those_of_the_counterpart_are_refused_if_they_are_asked_for() -> None:
    y = zeros(2)
    node("Dropout", [y], y, None).only_outputs(1)
    with pytest.raises(Unmapped, match=r"^DirectML has no counterpart to output 1 of Dropout$"):
        node("Dropout", [y], y, y).only_outputs(1)


def test_numbers_are_an_attribute_in_some_opsets_and_an_input_in_others() -> None:
    assert node("ReduceSum", [zeros(1)], axes=[0, -1]).numbers("axes", 1) == [0, -1]
    assert node("TopK", [zeros(1)], k=3).numbers("k", 1) == [3]
    assert node("ReduceSum", [zeros(1), np.array([[2], [1]])]).numbers("axes", 1) == [2, 1]
    assert node("ReduceSum", [zeros(1)]).numbers("axes", 1) is None


def test_axes_are_counted_from_the_start_and_are_there() -> None:
    assert axis_of(-1, 3) == 2
    assert axes_of([-1, 0], 3) == [0, 2]
    for axis in (3, -4):
        with pytest.raises(Unmapped, match=f"^axis {axis} is not one of 3 dimensions$"):
            axis_of(axis, 3)


def test_a_number_has_the_fewest_digits_that_its_type_needs() -> None:
    assert shortest(np.float32(0.1)) == 0.1
    assert repr(shortest(2.0)) == "2"
    assert repr(shortest(-0.0)) == "-0.0"
    assert repr(shortest(np.float16(0.1), np.float16)) == "0.1"
    assert repr(shortest(np.uint8(7), np.uint8)) == "7"


def test_what_is_no_number_is_refused() -> None:
    for value, shown in (("x", "'x'"), ([1.5], r"\[1.5\]")):
        with pytest.raises(Unmapped, match=f"^an attribute is {shown}, not a number$"):
            shortest(value)


def test_whole_numbers_are_attributes_of_that_type() -> None:
    one = node("Any", [], count=3, none=0, share=0.5)
    assert (one.whole("count"), one.whole("other", 7), one.positive("count")) == (3, 7, 3)
    with pytest.raises(Unmapped, match=r"^Any has no attribute other$"):
        one.whole("other")
    with pytest.raises(Unmapped, match=r"^the attribute share of Any is 0.5, not a whole number$"):
        one.whole("share")
    with pytest.raises(Unmapped, match=r"^the attribute none of Any is 0, not 1 or more$"):
        one.positive("none")
